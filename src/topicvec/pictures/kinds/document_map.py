"""The map of documents: those with similar topics are near each other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.errors import DataError
from topicvec.model import Topic, TopicVec
from topicvec.pictures.chart import ROW_SIZE, legend
from topicvec.pictures.layout import Box, Bubble, draw_labels, plane_places
from topicvec.pictures.palette import COLOURS, PAPER, colour_of, mix
from topicvec.pictures.seen import Texts, own_colours, shown_topics
from topicvec.pictures.svg import Element, Picture, element, number
from topicvec.represent import mixture_points, topic_kernel
from topicvec.text.counting import check_several

__all__ = ["document_map", "scatter_places"]

Floats = NDArray[np.floating]
Strings = NDArray[np.str_]

_N_LANDMARKS = 1000
_FEW = 12  # documents for which neighbourhoods mean little
_PERPLEXITY = 30.0
_N_NEAREST = 4
_SHARPNESS = 30  # of the landmarks' weights: similarities of neighbours are all near 1
_ROWS = 2048
_MARGIN = 14.0
_LIGHTER = 0.5  # part of the colour that stays in the next round
_OPACITY = 0.7
_AVOIDED = 500  # dots; among more of them a label finds no place beside all
_COMPACT = 0.12  # of the diagonal: topics that are spread wider have no place for a label


def document_map(
    model: TopicVec,
    texts: Texts,
    *,
    labels: Sequence[str] | None = None,
    width: float = 800,
    height: float = 600,
    title: str = "Map of documents",
) -> Picture:
    """Draw documents as dots, near each other if they have the same topics or topics alike.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents; tens of thousands are fine.
    labels : sequence of str, optional
        Classes to colour by, one for each document; by default the dot has the colour of the
        document's largest topic.
    width, height : float
        Size of the map; a legend of classes comes below.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Topics whose documents stand together have their first words there.

    Notes
    -----
    The layout is described at `scatter_places`.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> document_map(model, ["cat", "dog dog cat", "car"])
    Picture(800 x 600)
    """
    check_several(texts)
    texts = list(texts)
    if not texts or (labels is not None and len(labels) != len(texts)):
        found = f"{len(texts)} documents" + ("" if labels is None else f", {len(labels)} labels")
        raise DataError(f"a map needs documents, and a label for each if any; found {found}")
    topics = shown_topics(model, n_words=2)
    shown = [topic.index for topic in topics]
    mixtures = np.asarray(model.transform(texts))[:, shown]
    area = Box(0, 0, width, height)
    places = scatter_places(mixtures, topic_kernel(model)[np.ix_(shown, shown)])
    spots = _scaled(places, area.inset(_MARGIN))
    largest = np.array(own_colours(model, topics))[mixtures.argmax(axis=1)]
    colours, entries = (largest, []) if labels is None else _class_colours(labels)
    anchors = _anchors(topics, mixtures, spots)
    few = spots.tolist() if len(spots) <= _AVOIDED else []
    dots = [Bubble(x, y, _dot_size(len(spots)) / 2, "") for x, y in few]
    names = draw_labels(anchors, area.inset(2), ROW_SIZE, obstacles=dots)
    key, bottom = legend(entries, width, top=height)
    return Picture.of([*_dots(spots, colours), names, *key], width, bottom, title)


def scatter_places(proportions: ArrayLike, kernel: ArrayLike | None = None) -> Floats:
    """Lay out documents in a plane by their topic mixtures.

    Parameters
    ----------
    proportions : array, (D, K)
        Topic proportions of the documents.
    kernel : array, (K, K), optional
        How alike topics are, from `topicvec.represent.topic_kernel`; by default no topic is like
        another.

    Returns
    -------
    array, (D, 2)
        The same each time.

    Notes
    -----
    t-SNE of `topicvec.represent.mixture_points`, whose products say how alike two mixtures are,
    for up to 1,000 documents; others come to the most similar of those, which are taken evenly
    from the list. Fewer than a dozen different mixtures are laid out by their distances, as
    topics are.

    Examples
    --------
    >>> places = scatter_places([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    >>> bool(abs(places[0] - places[1]).max() < abs(places[0] - places[2]).max())
    True
    """
    mixtures = np.asarray(proportions, float)
    points = mixture_points(mixtures, np.eye(mixtures.shape[1]) if kernel is None else kernel)
    different, owners = np.unique(points.round(6), axis=0, return_inverse=True)
    if len(different) < _FEW:
        return plane_places(different)[owners.ravel()]
    rows = np.unique(np.linspace(0, len(points) - 1, _N_LANDMARKS).astype(int))
    landmarks = _neighbours_kept(points[rows])
    return np.vstack(
        [
            _by_landmarks(points[start : start + _ROWS] @ points[rows].T, landmarks)
            for start in range(0, len(points), _ROWS)
        ]
    )


def _neighbours_kept(points: Floats) -> Floats:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(_PERPLEXITY, (len(points) - 1) / 3)
    with threadpool_limits(1):  # sums in one order, so the same bits each time
        tsne = TSNE(init="pca", perplexity=perplexity, random_state=0)
        return np.asarray(tsne.fit_transform(points))


def _by_landmarks(similarity: Floats, landmarks: Floats) -> Floats:
    """Place points by the landmarks that are most similar to them."""
    n_nearest = min(_N_NEAREST, len(landmarks))
    nearest = np.argpartition(-similarity, n_nearest - 1, axis=1)[:, :n_nearest]
    weights = np.maximum(np.take_along_axis(similarity, nearest, 1), 1e-6)
    weights = (weights / weights.max(axis=1, keepdims=True)) ** _SHARPNESS
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray((landmarks[nearest] * weights[:, :, None]).sum(axis=1))


def _scaled(places: Floats, area: Box) -> Floats:
    """Turn and scale places to fill an area, keeping their shape within reason."""
    least, most = places.min(axis=0), places.max(axis=0)
    scale = np.array([area.width, area.height]) / np.maximum(most - least, 1e-6)
    scale = np.minimum(scale, 1.5 * scale.min())
    return np.asarray(area.middle + (places - (least + most) / 2) * scale)


def _class_colours(labels: Sequence[str]) -> tuple[Strings, list[tuple[str, str]]]:
    """Give each document its class's colour, and the legend; after twelve they are lighter."""
    classes, places = np.unique(np.asarray(labels, str), return_inverse=True)
    colours = [
        mix(colour_of(i), PAPER, _LIGHTER ** (i // len(COLOURS))) for i in range(len(classes))
    ]
    return np.array(colours)[places], list(zip(colours, classes.tolist(), strict=True))


def _anchors(topics: Sequence[Topic], mixtures: Floats, spots: Floats) -> list[Bubble]:
    """Find where topics' documents stand together; the most compact topics first."""
    diagonal = float(np.linalg.norm(np.ptp(spots, axis=0)))
    found = []
    for topic, shares in zip(topics, mixtures.T, strict=True):
        own = spots[shares >= max(0.3, float(shares.max()) / 2)]
        if not len(own) or topic.is_background:
            continue
        middle = np.median(own, axis=0)
        spread = float(np.median(np.linalg.norm(own - middle, axis=1)))
        if spread <= _COMPACT * diagonal:
            found.append((spread, Bubble(float(middle[0]), float(middle[1]), 1.0, topic.title)))
    return [bubble for _, bubble in sorted(found, key=lambda pair: pair[0])]


def _dot_size(n_dots: int) -> float:
    return float(np.clip(140 / np.sqrt(n_dots), 2.2, 8))


def _dots(spots: Floats, colours: Strings) -> list[Element]:
    """Draw all dots of a colour as one path, each place once: that keeps the file small."""
    return [
        element(
            "path",
            d=_path(spots[colours == colour]),
            stroke=str(colour),
            stroke_width=_dot_size(len(spots)),
            stroke_linecap="round",
            stroke_opacity=_OPACITY,
        )
        for colour in dict.fromkeys(colours.tolist())
    ]


def _path(spots: Floats) -> str:
    places = np.unique((2 * spots).round(), axis=0) / 2
    return "".join(f"M{number(x)} {number(y)}h0" for x, y in places)

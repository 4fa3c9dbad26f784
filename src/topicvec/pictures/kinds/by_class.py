"""Topics by class: a table of dots, sized by how much of a class is about a topic."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topicvec.model import TopicVec
from topicvec.pictures.chart import GRID, ROW_SIZE, across, named_rows
from topicvec.pictures.layout import Box
from topicvec.pictures.palette import GREY, HALO, INK
from topicvec.pictures.seen import Texts, own_colours, shown_topics
from topicvec.pictures.svg import Element, Picture, element, number, shorten, text, text_width
from topicvec.represent.topics import topics_per_class

__all__ = ["by_class"]

Floats = NDArray[np.float64]

_NAMES = 240.0
_ROW = 26.0
_HEADER = 170.0  # longest name of a class
_LEAST = 0.005  # smaller shares are not drawn
_SLOPE = 40  # degrees of the classes' names


def by_class(
    model: TopicVec,
    texts: Texts,
    *,
    labels: Sequence[str] | None = None,
    max_topics: int = 25,
    width: float = 800,
    title: str = "Topics by class",
) -> Picture:
    """Draw how much of each class is about each topic.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents.
    labels : sequence of str, optional
        Their classes; by default the documents' own.
    max_topics : int
        Only so many of the topics, those with the largest share of any class.
    width : float
        Width of the picture; its height follows the number of topics.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Areas of dots are mean proportions; topics are ordered by the class that has most of
        them.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> by_class(model, ["cat", "car"], labels=["a", "b"]).width
    800
    """
    names, _, means, _ = topics_per_class(model, texts, labels)
    found = shown_topics(model)
    shares = means[:, [topic.index for topic in found]].T  # topics × classes
    rows = _order(shares, max_topics)
    topics = [found[row] for row in rows]
    head, tail = _header_size(names)
    step = (width - _NAMES - 20 - tail) / len(names)
    area = Box(_NAMES + 14, head, step * len(names), _ROW * len(topics))
    middles = [area.y + _ROW * (row + 0.5) for row in range(len(topics))]
    parts = [
        element("path", d="".join(across(area, middle) for middle in middles), stroke=GRID),
        *_header(names, area, step),
        *named_rows(topics, middles, area.x - 8, _NAMES),
        *_dots(shares[rows], names, own_colours(model, topics), area, step),
    ]
    return Picture.of(parts, width, round(area.bottom + 8), title)


def _order(shares: Floats, max_topics: int) -> list[int]:
    """Keep the topics with the largest share of any class, in the order of these classes."""
    kept = np.argsort(-shares.max(axis=1), kind="stable")[:max_topics]
    return sorted(kept.tolist(), key=lambda row: (int(shares[row].argmax()), -shares[row].max()))


def _header_size(names: Sequence[str]) -> tuple[float, float]:
    """Give the height of the sloping names, and how far the last one sticks out."""
    angle = np.deg2rad(_SLOPE)
    lengths = [text_width(shorten(name, ROW_SIZE, _HEADER), ROW_SIZE) for name in names]
    return float(max(lengths) * np.sin(angle) + 22), float(lengths[-1] * np.cos(angle))


def _header(names: Sequence[str], area: Box, step: float) -> list[Element]:
    return [
        text(shorten(name, ROW_SIZE, _HEADER), 0, 0, ROW_SIZE, fill=INK,
             transform=f"translate({number(area.x + step * (place + 0.5))} {number(area.y - 8)}) "
                       f"rotate(-{_SLOPE})")
        for place, name in enumerate(names)
    ]  # fmt: skip


def _dots(
    shares: Floats, names: Sequence[str], colours: Sequence[str], area: Box, step: float
) -> list[Element]:
    largest = min(step, _ROW) / 2 - 1
    scale = largest / np.sqrt(max(float(shares.max()), 1e-9))
    parts = []
    for row, column in zip(*np.nonzero(shares >= _LEAST), strict=True):
        share, radius = float(shares[row, column]), float(scale * np.sqrt(shares[row, column]))
        x, y = area.x + step * (column + 0.5), area.y + _ROW * (row + 0.5)
        hover = element("title", [f"{names[column]}: {share:.1%}"])
        parts.append(element("circle", [hover], cx=x, cy=y, r=radius, fill=colours[row]))
        if step >= 44 and share >= 0.1:
            parts.append(text(f"{share:.0%}", x + radius + 3, y + 3.5, 10, fill=GREY, **HALO))
    return parts

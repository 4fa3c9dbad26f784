"""Topics and texts as pages show them: names, places on a map, clouds, headlines, parts."""

import re
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from topicvec.explore.records import Pairs, TextPart, TopicView
from topicvec.model import TopicVec, read_topics
from topicvec.model.reading import word_frequencies
from topicvec.pictures import topic_cloud
from topicvec.pictures.coloured import Piece
from topicvec.pictures.layout import Box, plane_places, spread_bubbles
from topicvec.pictures.palette import COLOURS, topic_colours

__all__ = [
    "cloud_of",
    "first_rows",
    "frequency_views",
    "headline",
    "opening",
    "place_topics",
    "text_part",
    "topic_views",
]

_FILLED = 0.46  # of the map's area, by bubbles: words stand inside them
_LEAST_RADIUS = 0.016
_UNITS = 1000  # that the map is wide for the layout, whose gaps are in pixels
_N_WORDS = 30  # of a topic
_BALANCES = np.linspace(0, 1, 21)  # positions of the slider from telling words to frequent ones
_MOST_TOPICS = 16  # of a cloud
_OPENING = 4_000  # characters to look for a headline in
# A quotation or the announcement of one, as in mails, or too few words to say something
_QUOTED = re.compile(r"[>|:]|.*:$|\S+( \S+)?$")
PAGE = 20_000  # characters of a text at a time: a browser colours them within a blink


def topic_views(model: TopicVec, height: float) -> tuple[TopicView, ...]:
    """Read a model's topics, the largest first and the null topic last.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    height : float
        Height of the map that they are laid out on.

    Returns
    -------
    tuple of TopicView
        Without topics that own no word.

    Examples
    --------
    >>> from topicvec import TopicVec
    >>> model = TopicVec(n_topics=2, random_state=0).fit(["Salt water. Sea salt, water."])
    >>> topic_views(model, 0.7)[-1].is_null
    True
    """
    live = read_topics(model.fitted_, n_words=_N_WORDS)
    colours = topic_colours(live)  # as in every picture of the model
    topics = [topic for topic in live if topic.words or topic.is_null]
    shown = [topic for topic in topics if not topic.is_null]
    rows = [topic.index for topic in shown]
    found = place_topics(model.fitted_.topics[rows], [topic.share for topic in shown], height)
    places = dict(zip(rows, map(tuple, found.round(4).tolist()), strict=True))
    return tuple(
        TopicView(
            index=topic.index,
            name=topic.title,
            share=topic.share,
            colour=colours[topic.index],
            sign=place // len(COLOURS),
            words=_rounded(topic.words),
            nearest=_rounded(topic.nearest),
            place=places.get(topic.index),
            class_=topic.class_,
            is_null=topic.is_null,
            is_background=topic.is_background,
        )
        for place, topic in enumerate(topics)
    )


def frequency_views(model: TopicVec) -> dict[int, tuple[tuple[str, float, float], ...]]:
    """Give of each topic the words that a slider from telling to frequent ones can bring up.

    Parameters
    ----------
    model : TopicVec
        A fitted model.

    Returns
    -------
    dict of int to tuple of (str, float, float)
        Words with log p(w|k) and log (p(w|k) / p(w)), see `word_frequencies`: all that are among
        the first for some λ log p(w|k) + (1 − λ) log (p(w|k) / p(w)), λ in steps of 1/20.

    Examples
    --------
    >>> from topicvec import TopicVec
    >>> model = TopicVec(n_topics=2, random_state=0).fit(["Salt water. Sea salt, water."])
    >>> sorted(frequency_views(model))
    [0, 1, 2]
    """
    inside, lift = (csc_array(table) for table in word_frequencies(model.fitted_))
    found = {}
    for topic in range(inside.shape[1]):
        column = slice(inside.indptr[topic], inside.indptr[topic + 1])
        logs = np.log(np.column_stack([inside.data[column], lift.data[column]]))
        mixtures = logs @ np.stack([_BALANCES, 1 - _BALANCES])  # (words, positions)
        rows = first_rows(mixtures, _N_WORDS)
        words = [model.vectors_.words[row] for row in inside.indices[column][rows]]
        pairs = logs[rows].round(4).tolist()
        found[topic] = tuple((word, *pair) for word, pair in zip(words, pairs, strict=True))
    return found


def first_rows(values: NDArray[np.floating], n: int) -> NDArray[np.integer]:
    """Give the rows that are among the n largest of a column; of equal ones those above.

    Examples
    --------
    >>> first_rows(np.array([[3, 0], [1, 1], [3, 9], [2, 9]]), 1)
    array([0, 2])
    """
    if len(values) <= n:
        return np.arange(len(values))
    least = np.partition(values, -n, axis=0)[-n]
    near = np.flatnonzero((values >= least).any(axis=1))  # so few that sorting them costs nothing
    return near[np.unique(np.argsort(-values[near], axis=0, kind="stable")[:n])]


def _rounded(pairs: Pairs) -> Pairs:
    return tuple((word, round(value, 3)) for word, value in pairs)


def place_topics(
    vectors: ArrayLike, shares: ArrayLike, height: float = 0.72
) -> NDArray[np.floating]:
    """Lay topics out on a map of width 1.

    Parameters
    ----------
    vectors : array, (K, N)
        Topic vectors.
    shares : array, (K,)
        The areas of the bubbles.
    height : float
        Of the map.

    Returns
    -------
    array, (K, 3)
        Centres and radii; the same input gives the same map.

    Examples
    --------
    >>> places = place_topics(np.eye(3), [0.5, 0.3, 0.2])
    >>> bool((places[:, :2] >= 0).all() and (places[:, 0] <= 1).all())
    True
    """
    parts = np.asarray(shares, float) / max(float(np.sum(shares)), 1e-300)
    if not len(parts):
        return np.zeros((0, 3))
    radii = np.clip(np.sqrt(parts * _FILLED * height / np.pi), _LEAST_RADIUS, 0.3 * height)
    area = Box(0, 0, _UNITS, _UNITS * height)
    middles = spread_bubbles(plane_places(vectors), (_UNITS * radii).tolist(), area)
    return np.column_stack([middles / _UNITS, radii])


@lru_cache(maxsize=256)
def cloud_of(topics: tuple[TopicView, ...]) -> str:
    """Draw the largest of the topics, or all words of one, as SVG.

    Examples
    --------
    >>> cloud_of((TopicView(1, "sea", 1.0, "#332288", (("sea", 2.0),)),))[:4]
    '<svg'
    """
    width, height, n_words = (330, 160, 30) if len(topics) == 1 else (1200, 640, 14)
    tell = [topic for topic in topics if not (topic.is_null or topic.is_background)]
    shown = [topic for topic in tell or topics if topic.words]
    colours = {topic.index: topic.colour for topic in shown}
    names = ", ".join(topic.name for topic in shown[:3])
    return topic_cloud(
        shown, width=width, height=height, max_topics=_MOST_TOPICS, n_words=n_words,
        colours=colours, title=f"Topic cloud: {names}",
    ).svg  # fmt: skip


def headline(text: str, most: int = 90) -> str:
    r"""Give the first line that says something of its own, shortened at a blank.

    Examples
    --------
    >>> headline("  \n--\nRain  at last.\nMore")
    'Rain at last.'
    >>> headline("Ann writes:\n> Rain?\nIt rains again.")
    'It rains again.'
    >>> headline("one two three", 8)
    'one two…'
    """
    lines = [" ".join(line.split()) for line in text[:_OPENING].splitlines()]
    telling = [line for line in lines if any(map(str.isalnum, line))]
    own = (line for line in telling if not _QUOTED.match(line))
    return _shortened(next(own, telling[0] if telling else ""), most)


def opening(text: str, most: int = 240) -> tuple[str, str]:
    r"""Give a headline and what follows it.

    Examples
    --------
    >>> opening("Rain at last.\nIt came at night.")
    ('Rain at last.', 'It came at night.')
    """
    title = headline(text)
    if not title:
        return "", ""
    flat = " ".join(text[:_OPENING].split())
    rest = flat.partition(title.removesuffix("…"))[2].lstrip(" .,;:")
    return title, _shortened(rest, most)


def _shortened(line: str, most: int) -> str:
    """Cut a line at a blank and say so."""
    if len(line) <= most:
        return line
    kept = line[: most + 1].rpartition(" ")[0] or line[:most]
    return kept.rstrip(" .,;:–-") + "…"


def text_part(pieces: Iterable[Piece], start: int = 0, length: int = PAGE) -> TextPart:
    """Take a part of a cut text, for texts too long to show at once.

    Parameters
    ----------
    pieces : iterable of Piece
        The whole text; read as far as needed.
    start, length : int
        The part, in characters; a token that reaches into the part is in it.

    Returns
    -------
    TextPart
        The part, and where the next one begins.

    Examples
    --------
    >>> text = [Piece("Rain", 1, 0.9), Piece(" at last")]
    >>> [piece.text for piece in text_part(text, 0, 7).spans], text_part(text, 0, 7).next
    (['Rain', ' at'], 7)
    >>> text_part(text, 7, 9)
    TextPart(spans=(Piece(text=' last', topic=None, probability=0.0),), next=None)
    """
    taken: list[Piece] = []
    at, stop = 0, start + length
    for piece in pieces:
        first, at = at, at + len(piece.text)
        if at <= start:
            continue
        if first >= stop:
            return TextPart(tuple(taken), first)
        if piece.topic is None:  # a token is never cut
            piece = piece._replace(text=piece.text[max(start - first, 0) : stop - first])
        taken.append(piece)
        if piece.topic is None and at > stop:
            return TextPart(tuple(taken), stop)
    return TextPart(tuple(taken), None)

"""Topics by class: a table of dots, sized by how much of a class is about a topic."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topicvec.explore.axes import GRID
from topicvec.explore.boxes import Box
from topicvec.explore.fonts import shorten, text_width
from topicvec.explore.groups import class_mixtures
from topicvec.explore.palette import GREY, HALO, INK, NULL_COLOUR, topic_colours
from topicvec.explore.picture import Picture, picture
from topicvec.explore.rows import ROW_SIZE, named_rows
from topicvec.explore.seen import shown_topics
from topicvec.explore.svg import Element, element, number, text
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["by_class"]

Floats = NDArray[np.floating]

_NAMES = 240.0
_ROW = 26.0
_HEADER = 170.0  # longest name of a class
_LEAST = 0.005  # smaller shares are not drawn
_SLOPE = 40  # degrees of the classes' names


def by_class(
    model: "TopicVec",
    texts: Iterable[str | Document],
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
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> by_class(model, ["cat", "car"], labels=["a", "b"]).width
    800
    """
    groups = class_mixtures(model, texts, labels)
    topics = shown_topics(model)
    shares = groups.proportions[:, [topic.index for topic in topics]].T  # topics × classes
    rows = _order(shares, max_topics)
    topics, shares = tuple(topics[row] for row in rows), shares[rows]
    head, tail = _header_size(groups.names)
    step = (width - _NAMES - 20 - tail) / len(groups.names)
    area = Box(_NAMES + 14, head, step * len(groups.names), _ROW * len(topics))
    middles = [area.y + _ROW * (row + 0.5) for row in range(len(topics))]
    colours = [topic_colours(model.topics_).get(topic.index, NULL_COLOUR) for topic in topics]
    parts = [
        *_grid(middles, area),
        *_header(groups.names, area, step),
        *named_rows(topics, middles, area.x - 8, _NAMES),
        *_dots(shares, groups.names, colours, area, step),
    ]
    return picture(parts, width, round(area.bottom + 8), title)


def _order(shares: Floats, max_topics: int) -> list[int]:
    """Keep the topics with the largest share of any class, in the order of these classes."""
    kept = np.argsort(-shares.max(axis=1), kind="stable")[:max_topics]
    return sorted(kept.tolist(), key=lambda row: (int(shares[row].argmax()), -shares[row].max()))


def _header_size(names: Sequence[str]) -> tuple[float, float]:
    """Give the height of the sloping names, and how far the last one sticks out."""
    angle = np.deg2rad(_SLOPE)
    longest = max(text_width(shorten(name, ROW_SIZE, _HEADER), ROW_SIZE) for name in names)
    last = text_width(shorten(names[-1], ROW_SIZE, _HEADER), ROW_SIZE)
    return float(longest * np.sin(angle) + 22), float(last * np.cos(angle))


def _header(names: Sequence[str], area: Box, step: float) -> list[Element]:
    return [
        text(shorten(name, ROW_SIZE, _HEADER), 0, 0, ROW_SIZE, fill=INK,
             transform=f"translate({number(area.x + step * (place + 0.5))} {number(area.y - 8)}) "
                       f"rotate(-{_SLOPE})")
        for place, name in enumerate(names)
    ]  # fmt: skip


def _grid(middles: Sequence[float], area: Box) -> list[Element]:
    lines = "".join(f"M{number(area.x)} {number(y)}H{number(area.right)}" for y in middles)
    return [element("path", d=lines, stroke=GRID)]


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

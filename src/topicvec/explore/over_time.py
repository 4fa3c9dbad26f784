"""Topics over time: a small chart for each topic, all on one scale."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topicvec.explore.axes import nice_ticks, polyline, x_ticks
from topicvec.explore.boxes import Box
from topicvec.explore.groups import Mixtures, time_mixtures
from topicvec.explore.palette import GREY, NULL_COLOUR, tint, topic_colours
from topicvec.explore.picture import Picture, picture
from topicvec.explore.rows import ROW_SIZE, named_rows
from topicvec.explore.seen import shown_topics
from topicvec.explore.svg import Element, element, number, text
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["over_time"]

Floats = NDArray[np.floating]

_NAMES = 230.0
_ROW = 44.0
_PEAK = 36.0  # height of the largest value


def over_time(
    model: "TopicVec",
    texts: Iterable[str | Document],
    *,
    times: Sequence[str] | None = None,
    n_bins: int | None = None,
    max_topics: int = 12,
    width: float = 800,
    title: str = "Topics over time",
) -> Picture:
    """Draw the topics' shares of the documents over time.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents.
    times : sequence of str, optional
        Their times: years, ISO dates or numbers; by default the documents' own.
    n_bins : int, optional
        Number of equal spans of time; by default 6 to 24, with about 20 documents each.
    max_topics : int
        Only so many of the topics, those with the largest value.
    width : float
        Width of the picture; its height follows the number of topics.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Spans without documents are left open.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> over_time(model, ["cat", "car"], times=["2001", "2002-05-01"]).width
    800
    """
    groups = time_mixtures(model, texts, times, n_bins=n_bins)
    found = shown_topics(model)
    shares = groups.proportions[:, [topic.index for topic in found]].T  # topics × spans
    rows = np.sort(np.argsort(-shares.max(axis=1), kind="stable")[:max_topics])
    topics = [found[row] for row in rows]
    area = Box(_NAMES + 14, 20, width - _NAMES - 14 - 52, _ROW * len(topics))
    feet = [area.y + _ROW * (row + 1) - 4 for row in range(len(topics))]
    colours = topic_colours(model.topics_)
    top = float(shares.max()) or 1.0
    parts = x_ticks(_time_ticks(groups.edges, area), area)
    parts.append(text("peak", area.right + 8, 16, ROW_SIZE, fill=GREY))
    parts += named_rows(topics, [foot - 12 for foot in feet], area.x - 8, _NAMES)
    for topic, row, foot in zip(topics, rows, feet, strict=True):
        colour = colours.get(topic.index, NULL_COLOUR)
        parts.append(_chart(shares[row] / top, groups, area, foot, colour))
        peak = f"{shares[row].max():.0%}"
        parts.append(text(peak, area.right + 8, foot - 12 + 0.36 * ROW_SIZE, ROW_SIZE, fill=GREY))
    return picture(parts, width, area.bottom + 30, title)


def _time_ticks(edges: Floats, area: Box) -> list[tuple[float, str]]:
    low, high = float(edges[0]), float(edges[-1])
    ticks = nice_ticks(low, high, 6)
    if high - low >= 3:
        ticks = [tick for tick in ticks if tick == int(tick)]
    return [(area.x + (t - low) / (high - low) * area.width, f"{t:g}") for t in ticks]


def _chart(values: Floats, groups: Mixtures, area: Box, foot: float, colour: str) -> Element:
    """Draw areas over the spans that have documents, and the foot line."""
    step = area.width / len(values)
    points = [(area.x + step * (i + 0.5), foot - _PEAK * float(v)) for i, v in enumerate(values)]
    parts = [element("path", d=f"M{number(area.x)} {number(foot)}H{number(area.right)}",
                     stroke=colour, stroke_opacity=0.5)]  # fmt: skip
    for run in _runs(groups.n_documents > 0):
        line = [points[i] for i in run]
        line = [(line[0][0] - step / 2, line[0][1]), *line, (line[-1][0] + step / 2, line[-1][1])]
        closed = [(line[0][0], foot), *line, (line[-1][0], foot)]
        parts.append(element("path", d=polyline(closed) + "Z", fill=tint(colour, 0.3)))
        parts.append(element("path", d=polyline(line), fill="none", stroke=colour,
                             stroke_width=1.8, stroke_linejoin="round"))  # fmt: skip
    return element("g", parts)


def _runs(filled: NDArray[np.bool_]) -> list[list[int]]:
    """Cut the numbers of filled spans where one is empty."""
    places = np.flatnonzero(filled)
    return [run.tolist() for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]

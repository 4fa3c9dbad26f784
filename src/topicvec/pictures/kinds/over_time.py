"""Topics over time: a small chart for each topic, all on one scale."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError
from topicvec.model import TopicVec
from topicvec.pictures.chart import ROW_SIZE, across, named_rows, nice_ticks, path, stroke, x_ticks
from topicvec.pictures.layout import Box
from topicvec.pictures.palette import GREY, tint
from topicvec.pictures.seen import Texts, mean_mixtures, own_colours, shown_topics, values_of
from topicvec.pictures.svg import Element, Picture, element, text

__all__ = ["over_time", "parse_time", "time_means"]

Floats = NDArray[np.float64]

_YEAR = 365.2425  # days
_NAMES = 230.0
_ROW = 44.0
_PEAK = 36.0  # height of the largest value


def over_time(
    model: TopicVec,
    texts: Texts,
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
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> over_time(model, ["cat", "car"], times=["2001", "2002-05-01"]).width
    800
    """
    edges, means, n_documents = time_means(model, texts, times, n_bins)
    found = shown_topics(model)
    shares = means[:, [topic.index for topic in found]].T  # topics × spans
    rows = np.sort(np.argsort(-shares.max(axis=1), kind="stable")[:max_topics])
    topics = [found[row] for row in rows]
    area = Box(_NAMES + 14, 20, width - _NAMES - 14 - 52, _ROW * len(topics))
    feet = [area.y + _ROW * (row + 1) - 4 for row in range(len(topics))]
    runs = _runs(n_documents > 0)
    top = float(shares.max()) or 1.0
    parts = x_ticks(_time_ticks(edges, area), area)
    parts.append(text("peak", area.right + 8, 16, ROW_SIZE, fill=GREY))
    parts += named_rows(topics, [foot - 12 for foot in feet], area.x - 8, _NAMES)
    for row, foot, colour in zip(rows, feet, own_colours(model, topics), strict=True):
        parts.append(_chart(shares[row] / top, runs, area, foot, colour))
        peak = f"{shares[row].max():.0%}"
        parts.append(text(peak, area.right + 8, foot - 12 + 0.36 * ROW_SIZE, ROW_SIZE, fill=GREY))
    return Picture.of(parts, width, area.bottom + 30, title)


def time_means(
    model: TopicVec, texts: Texts, times: Sequence[str] | None = None, n_bins: int | None = None
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Cut time into B equal spans; give their edges, mean mixtures and numbers of documents.

    Parameters
    ----------
    model, texts, times, n_bins
        As for `over_time`.

    Returns
    -------
    edges : array, (B + 1,)
        In years, or whatever the numbers mean.
    means : array, (B, K)
        Zero for a span without documents.
    n_documents : array, (B,)

    Examples
    --------
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> time_means(model, ["cat", "car"], ["2001", "2003"], n_bins=3)[2].tolist()
    [1, 0, 1]
    """
    if n_bins is not None and n_bins < 1:
        raise DataError(f"n_bins must be at least 1; found {n_bins}")
    texts = list(texts)
    moments = np.array([parse_time(time) for time in values_of(texts, "time", times)])
    n_bins = int(n_bins or np.clip(len(texts) // 20, 6, 24))
    low, high = moments.min(), moments.max()
    edges = np.linspace(low, high if high > low else low + 1, n_bins + 1)
    groups = np.clip(np.searchsorted(edges, moments, "right") - 1, 0, n_bins - 1)
    return edges, *mean_mixtures(model, texts, groups, n_bins)


def parse_time(time: str) -> float:
    """Read a year, an ISO date or a number; dates become years with a fraction.

    Examples
    --------
    >>> parse_time("2019"), parse_time("2019-07-02"), parse_time("1.5")
    (2019.0, 2019.498..., 1.5)
    """
    written = time.strip()
    if re.fullmatch(r"[-+]?\d+(\.\d*)?", written):
        return float(written)
    try:
        moment = datetime.fromisoformat(
            f"{written}-01" if re.fullmatch(r"\d{4}-\d{2}", written) else written
        )
    except ValueError as error:
        raise DataError(
            f"expected a year, an ISO date such as 2019-07-02 or a number, found {time!r}"
        ) from error
    seconds = 3600 * moment.hour + 60 * moment.minute + moment.second
    return moment.year + (moment.timetuple().tm_yday - 1 + seconds / 86400) / _YEAR


def _time_ticks(edges: Floats, area: Box) -> list[tuple[float, str]]:
    low, high = float(edges[0]), float(edges[-1])
    ticks = nice_ticks(low, high, 6)
    if high - low >= 3:
        ticks = [tick for tick in ticks if tick == int(tick)]
    return [(area.x + (t - low) / (high - low) * area.width, f"{t:g}") for t in ticks]


def _chart(
    values: Floats, runs: Iterable[Sequence[int]], area: Box, foot: float, colour: str
) -> Element:
    """Draw areas over the spans that have documents, and the foot line."""
    step = area.width / len(values)
    points = [(area.x + step * (i + 0.5), foot - _PEAK * float(v)) for i, v in enumerate(values)]
    parts = [element("path", d=across(area, foot), stroke=colour, stroke_opacity=0.5)]
    for run in runs:
        line = [points[i] for i in run]
        line = [(line[0][0] - step / 2, line[0][1]), *line, (line[-1][0] + step / 2, line[-1][1])]
        closed = [(line[0][0], foot), *line, (line[-1][0], foot)]
        parts.append(element("path", d=path(closed) + "Z", fill=tint(colour, 0.3)))
        parts.append(stroke(path(line), colour, 1.8))
    return element("g", parts)


def _runs(filled: NDArray[np.bool_]) -> list[list[int]]:
    """Cut the numbers of filled spans where one is empty."""
    places = np.flatnonzero(filled)
    return [run.tolist() for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]

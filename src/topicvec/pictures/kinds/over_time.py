"""Topics over time: a small chart for each topic, all on one scale, and the words that rise."""

from collections.abc import Iterable, Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError
from topicvec.model import TopicVec
from topicvec.pictures.chart import ROW_SIZE, across, named_rows, nice_ticks, path, stroke, x_ticks
from topicvec.pictures.layout import Box
from topicvec.pictures.palette import GREY, INK, tint
from topicvec.pictures.seen import Texts, own_colours
from topicvec.pictures.svg import Element, Picture, element, shorten, text, text_width
from topicvec.represent.over_time import Course, TimeSpan, topics_over_time, usual_bins
from topicvec.text.counting import check_several
from topicvec.text.document import values_of

__all__ = ["over_time"]

Floats = NDArray[np.float64]

_NAMES = 230.0
_DATE = 40.0  # half of the first date stands before a chart without names
_PEAK = 52.0  # width of the column at the right
_CHART, _CHART_ALONE = 44.0, 130.0
_MARK = 3.6  # radius of the sign of a birth or a death
_WORD_SIZE, _WORD_ROW = 10.5, 13.0
_SPAN, _WIDE_SPAN = 56.0, 84.0  # widths in which words have room, and all of most words
_WORDS, _WORDS_ALONE = 3, 8


def over_time(
    model: TopicVec,
    texts: Texts,
    *,
    times: Sequence[str] | None = None,
    n_bins: int | None = None,
    max_topics: int = 12,
    topic: int | None = None,
    n_words: int | None = None,
    width: float = 800,
    title: str = "Topics over time",
) -> Picture:
    """Draw the topics' shares of the documents over time, and how their words move.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents.
    times : sequence of str, optional
        Their times: years, ISO dates or numbers; by default the documents' own.
    n_bins : int, optional
        Number of equal spans of time; by default as for `topicvec.represent.topics_over_time`, but
        no more than leave room for most words.
    max_topics : int
        Only so many of the topics, those with the largest value.
    topic : int, optional
        Only this topic.
    n_words : int, optional
        Words of each span that rise there, see `topicvec.represent.over_time`; by default at most
        3, or 8 of a single topic, and none if the spans are too narrow for them.
    width : float
        Width of the picture; its height follows the number of topics.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Spans without documents are left open. A dot marks where a topic is born, a ring where it
        dies.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> over_time(model, ["cat", "car"], times=["2001", "2002-05-01"]).width
    800
    """
    check_several(texts)
    texts, alone = list(texts), topic is not None
    left = _DATE if alone else _NAMES + 14
    room = width - left - _PEAK
    n_words = _words_that_fit(n_words, n_bins, room, alone=alone)
    if n_bins is None and n_words:
        n_bins = usual_bins(values_of(texts, "time", times), int(room // _WIDE_SPAN))
    found = topics_over_time(model, texts, times=times, n_bins=n_bins, n_words=n_words)
    courses = _chosen(found, topic, max_topics)
    chart = _CHART_ALONE if alone else _CHART
    heights = [chart + _WORD_ROW * _most_words(course) for course in courses]
    area = Box(left, 20, room, sum(heights))
    feet = [area.y + sum(heights[:row]) + chart - 4 for row in range(len(courses))]
    parts = x_ticks(_time_ticks(courses, area, named=n_words > 0), area)
    parts += _names(courses, feet, area, alone=alone)
    parts += _rows(courses, feet, area, chart - 8, own_colours(model, [c.topic for c in courses]))
    signs = _legend(courses, area)
    return Picture.of([*parts, *signs], width, area.bottom + (48 if signs else 30), title)


def _words_that_fit(n_words: int | None, n_bins: int | None, room: float, *, alone: bool) -> int:
    """Say how many words to show: as many as asked for, or as usual if there is room."""
    fits = (n_bins or 6) * _SPAN <= room
    if n_words is None:
        return (_WORDS_ALONE if alone else _WORDS) if fits else 0
    if n_words and not fits:
        raise DataError(
            f"words need spans of {_SPAN:.0f} pixels, found {room / (n_bins or 6):.0f}: "
            "give fewer n_bins, a larger width, or n_words=0"
        )
    return n_words


def _chosen(courses: Sequence[Course], topic: int | None, max_topics: int) -> list[Course]:
    """Take one topic, or those with the largest shares in a span."""
    if topic is not None:
        chosen = [course for course in courses if course.topic.index == topic]
        if not chosen:
            numbers = ", ".join(str(course.topic.index) for course in courses)
            raise DataError(f"topic must be one of {numbers}; found {topic}")
        return chosen
    peaks = [-_peak(course) for course in courses]
    kept = sorted(np.argsort(peaks, kind="stable")[:max_topics].tolist())
    return [courses[place] for place in kept]


def _peak(course: Course) -> float:
    return max(span.share for span in course.spans)


def _most_words(course: Course) -> int:
    return max(len(span.words) for span in course.spans)


def _names(
    courses: Sequence[Course], feet: Sequence[float], area: Box, *, alone: bool
) -> list[Element]:
    """Write the topics' names before their rows, or one above the picture."""
    topics = [course.topic for course in courses]
    if alone:
        return named_rows(topics, [9.0], area.x, area.width, anchor="start")
    return named_rows(topics, [foot - 12 for foot in feet], area.x - 8, _NAMES)


def _rows(
    courses: Sequence[Course],
    feet: Sequence[float],
    area: Box,
    height: float,
    colours: Sequence[str],
) -> list[Element]:
    """Draw charts, words, signs and peaks, a row for each topic."""
    parts = [text("peak", area.right + 8, 14, ROW_SIZE, fill=GREY)]
    top = max(map(_peak, courses), default=1.0) or 1.0
    for course, foot, colour in zip(courses, feet, colours, strict=True):
        values = np.array([span.share for span in course.spans]) * height / top
        runs = _runs(np.array([span.n_documents > 0 for span in course.spans]))
        parts.append(_chart(values, runs, area, foot, colour))
        parts += [*_words(course.spans, area, foot, colour), *_marks(course, area, foot, colour)]
        y = foot - 12 + 0.36 * ROW_SIZE
        parts.append(text(f"{_peak(course):.0%}", area.right + 8, y, ROW_SIZE, fill=GREY))
    return parts


def _time_ticks(courses: Sequence[Course], area: Box, *, named: bool) -> list[tuple[float, str]]:
    """Mark where spans with words begin, as many by name as there is room for; or round numbers."""
    spans = courses[0].spans if courses else ()
    if named or not spans:
        room = area.width / max(len(spans), 1)
        every = max(
            (ceil((text_width(span.name, ROW_SIZE) + 6) / room) for span in spans), default=1
        )
        names = [span.name if row % every == 0 else "" for row, span in enumerate(spans)]
        return list(zip(_edges(len(spans), area), names, strict=False))
    low, high = spans[0].start, spans[-1].end
    ticks = nice_ticks(low, high, 6)
    if high - low >= 3:
        ticks = [tick for tick in ticks if tick == int(tick)]
    return [(area.x + (t - low) / (high - low) * area.width, f"{t:g}") for t in ticks]


def _edges(n_spans: int, area: Box) -> list[float]:
    return [area.x + area.width * place / max(n_spans, 1) for place in range(n_spans + 1)]


def _chart(
    heights: Floats, runs: Iterable[Sequence[int]], area: Box, foot: float, colour: str
) -> Element:
    """Draw areas over the spans that have documents, and the foot line."""
    step = area.width / len(heights)
    points = [(area.x + step * (i + 0.5), foot - float(h)) for i, h in enumerate(heights)]
    parts = [element("path", d=across(area, foot), stroke=colour, stroke_opacity=0.5)]
    for run in runs:
        line = [points[i] for i in run]
        line = [(line[0][0] - step / 2, line[0][1]), *line, (line[-1][0] + step / 2, line[-1][1])]
        closed = [(line[0][0], foot), *line, (line[-1][0], foot)]
        parts.append(element("path", d=path(closed) + "Z", fill=tint(colour, 0.3)))
        parts.append(stroke(path(line), colour, 1.8))
    return element("g", parts)


def _words(spans: Sequence[TimeSpan], area: Box, foot: float, colour: str) -> list[Element]:
    """Write the words that rise in each span below it."""
    step = area.width / len(spans)
    parts = []
    for left, span in zip(_edges(len(spans), area), spans, strict=False):
        for place, (word, n_tokens, ratio) in enumerate(span.words):
            y = foot + 2 + _WORD_ROW * (place + 1) - 0.2 * _WORD_SIZE
            hover = f"{word}, {span.name}: {n_tokens:.1f} tokens, {ratio:.1f} times as many"
            short = shorten(word, _WORD_SIZE, step - 6)
            drawn = text(short, left + step / 2, y, _WORD_SIZE, text_anchor="middle")
            parts.append(element("g", [element("title", [hover]), drawn], fill=colour))
    return parts


def _marks(course: Course, area: Box, foot: float, colour: str) -> list[Element]:
    """Mark the beginning of the span of a birth and the end of the span of a death."""
    edges = _edges(len(course.spans), area)
    parts = []
    if course.born is not None:
        said = f"born {course.spans[course.born].name}"
        parts.append(_mark(edges[course.born], foot, colour, colour, said))
    if course.died is not None:
        said = f"last seen {course.spans[course.died].name}"
        parts.append(_mark(edges[course.died + 1], foot, "#ffffff", colour, said))
    return parts


def _mark(x: float, y: float, fill: str, colour: str, said: str = "") -> Element:
    hover = [element("title", [said])] if said else []
    return element("circle", hover, cx=x, cy=y, r=_MARK, fill=fill, stroke=colour, stroke_width=1.8)


def _legend(courses: Sequence[Course], area: Box) -> list[Element]:
    """Say what the signs mean, if there are any."""
    parts, x, y = [], area.x + _MARK, area.bottom + 38
    for there, fill, said in (
        (any(course.born is not None for course in courses), INK, "born"),
        (any(course.died is not None for course in courses), "#ffffff", "dies"),
    ):
        if there:
            parts.append(_mark(x, y - 4, fill, INK))
            parts.append(text(said, x + 9, y, ROW_SIZE, fill=GREY))
            x += 60
    return parts


def _runs(filled: NDArray[np.bool_]) -> list[list[int]]:
    """Cut the numbers of filled spans where one is empty."""
    places = np.flatnonzero(filled)
    return [run.tolist() for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]

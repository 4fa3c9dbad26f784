"""Parts that charts share: scales with their ticks, legends, and rows with the topics' names."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10

from topicvec.model import Topic
from topicvec.pictures.layout import Box
from topicvec.pictures.palette import GREY, INK
from topicvec.pictures.svg import Element, element, number, shorten, text, text_width

__all__ = ["across", "legend", "named_rows", "nice_ticks", "path", "stroke", "x_ticks", "y_ticks"]

GRID = "#e3e3e3"
ROW_SIZE = 12.0  # of names, in rows and legends
_TICK_SIZE = 11.0
_LEGEND_ROW, _SWATCH = 19.0, 10.0
_GAP = 16.0  # between entries of a legend


def nice_ticks(low: float, high: float, n_ticks: int = 5) -> list[float]:
    """Give round numbers between two values, about so many.

    Examples
    --------
    >>> nice_ticks(0, 97), nice_ticks(-1.33, -1.27, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [-1.32, -1.3, -1.28])
    """
    rough = max(high - low, 1e-12) / max(n_ticks, 1)
    power = 10.0 ** floor(log10(rough))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda s: abs(s - rough))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    digits = max(0, 1 - floor(log10(step)))
    return [round(step * place, digits) for place in range(first, last + 1)]


def path(points: Iterable[tuple[float, float]]) -> str:
    """Write points as the data of a path.

    Examples
    --------
    >>> path([(0, 1), (2, 3.5)])
    'M0 1L2 3.5'
    """
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def across(area: Box, y: float) -> str:
    """Write a line from the left of an area to its right as the data of a path.

    Examples
    --------
    >>> across(Box(1, 0, 10, 10), 2.5)
    'M1 2.5H11'
    """
    return f"M{number(area.x)} {number(y)}H{number(area.right)}"


def stroke(line: str, colour: str, width: float) -> Element:
    """Draw the data of a path as a line of a colour and width.

    Examples
    --------
    >>> stroke("M0 1L2 3.5", "#222222", 2).render()
    '<path d="M0 1L2 3.5" fill="none" stroke="#222222" stroke-width="2" stroke-linejoin="round"/>'
    """
    return element(
        "path", d=line, fill="none", stroke=colour, stroke_width=width, stroke_linejoin="round"
    )


def x_ticks(ticks: Iterable[tuple[float, str]], area: Box) -> list[Element]:
    """Draw labels below an area, with a grid line each; ticks are (x, label)."""
    parts, y = [], area.bottom + 1.5 * _TICK_SIZE
    for x, label in ticks:
        line = f"M{number(x)} {number(area.y)}V{number(area.bottom)}"
        parts.append(element("path", d=line, stroke=GRID))
        parts.append(text(label, x, y, _TICK_SIZE, fill=GREY, text_anchor="middle"))
    return parts


def y_ticks(ticks: Iterable[tuple[float, str]], area: Box) -> list[Element]:
    """Draw labels left of an area, with a grid line each; ticks are (y, label)."""
    parts, x = [], area.x - 7
    for y, label in ticks:
        parts.append(element("path", d=across(area, y), stroke=GRID))
        middle = y + 0.36 * _TICK_SIZE
        parts.append(text(label, x, middle, _TICK_SIZE, fill=GREY, text_anchor="end"))
    return parts


def legend(
    entries: Sequence[tuple[str, str]], width: float, *, top: float = 0.0, left: float = 4.0
) -> tuple[list[Element], float]:
    """Draw a legend and give the place below it.

    Parameters
    ----------
    entries : sequence of (str, str)
        Colours with their names.
    width : float
        Room for a line, from the left edge of the picture.
    top, left : float
        Where it begins.

    Returns
    -------
    parts : list of Element
    bottom : float
        Equal to ``top`` if there are no entries.

    Examples
    --------
    >>> parts, bottom = legend([("#332288", "sea"), ("#813700", "tax")], 200)
    >>> len(parts), bottom
    (2, 19.0)
    """
    parts, x, y = [], left, top
    for colour, name in entries:
        name = shorten(name, ROW_SIZE, width - left - _SWATCH - 5)
        length = _SWATCH + 5 + text_width(name, ROW_SIZE)
        if x > left and x + length > width:
            x, y = left, y + _LEGEND_ROW
        middle = y + _LEGEND_ROW / 2
        swatch = element(
            "rect", x=x, y=middle - _SWATCH / 2, width=_SWATCH, height=_SWATCH, rx=2, fill=colour
        )
        words = text(name, x + _SWATCH + 5, middle + 0.36 * ROW_SIZE, ROW_SIZE, fill=INK)
        parts.append(element("g", [swatch, words]))
        x += length + _GAP
    return parts, y + _LEGEND_ROW if parts else top


def topic_name(topic: Topic, room: float, n_words: int = 4) -> str:
    """Name a topic by its label or its first words, as many as there is room for.

    Examples
    --------
    >>> topic_name(Topic(1, 0.5, 5.0, (("price", 1.9), ("drug", 1.2))), 200)
    'price, drug'
    """
    words = [topic.label] if topic.label else [word for word, _ in topic.words[:n_words]]
    while len(words) > 1 and shorten(", ".join(words), ROW_SIZE, room) != ", ".join(words):
        words.pop()
    return shorten(", ".join(words) or f"topic {topic.index}", ROW_SIZE, room)


def hover_text(topic: Topic) -> str:
    """Say all that is known of a topic, for the mouse.

    Examples
    --------
    >>> hover_text(Topic(1, 0.5, 5.0, (("price", 1.9), ("drug", 1.2))))
    'topic 1, 50.0%: price, drug'
    """
    return f"topic {topic.index}, {topic.share:.1%}: " + ", ".join(word for word, _ in topic.words)


def named_rows(
    topics: Sequence[Topic],
    middles: Sequence[float],
    x: float,
    room: float,
    *,
    anchor: str = "end",
    size: float = ROW_SIZE,
) -> list[Element]:
    """Draw the topics' names at some heights, with all words for the mouse."""
    parts = []
    for topic, middle in zip(topics, middles, strict=True):
        hover = element("title", [hover_text(topic)])
        name = text(topic_name(topic, room), x, middle + 0.36 * size, size, text_anchor=anchor)
        parts.append(element("g", [hover, name], fill=INK))
    return parts

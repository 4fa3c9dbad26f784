"""Colours that people with any kind of colour vision can read.

Every colour is dark enough on white, and on its own tint, for small text (WCAG AA). Any two of the
topics' colours can be told apart, and neighbours in the list easily, with usual eyes and with
protanopia, deuteranopia and tritanopia (`test_any_two_colours_can_be_told_apart_by_all_eyes`). No
picture tells things by colour alone.
"""

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["COLOURS", "colour_of", "contrast", "distinct_colours", "mix", "tint", "topic_colours"]

COLOURS = (
    "#332288", "#813700", "#4171a4", "#906603", "#064424", "#b12273",
    "#4d7732", "#520f5c", "#680110", "#3b4c9b", "#5d203f", "#0b7e48",
)  # fmt: skip
NULL_COLOUR = "#767676"
INK, GREY, PAPER = "#222222", "#5c5c5c", "#ffffff"
# Attributes of text that stands on lines or dots: a white edge
HALO = {"stroke": PAPER, "stroke_width": "3", "stroke_linejoin": "round", "paint_order": "stroke"}


def colour_of(place: int) -> str:
    """Give the colour of the topic at a place of a list; after twelve they come again.

    Examples
    --------
    >>> colour_of(0), colour_of(12) == colour_of(0)
    ('#332288', True)
    """
    return COLOURS[place % len(COLOURS)]


def topic_colours(topics: Iterable[Any]) -> dict[int, str]:
    """Give each topic's colour by its index: the same in every picture of a model.

    Parameters
    ----------
    topics : iterable of Topic
        Such as ``model.topics_``, the largest first; background and the null topic are grey.

    Examples
    --------
    >>> from topicvec.model import Topic
    >>> topic_colours([Topic(4, 0.9, 1.0, ()), Topic(0, 0.1, 0.0, (), is_null=True)])
    {4: '#332288', 0: '#767676'}
    """
    return {
        topic.index: NULL_COLOUR if topic.is_null or topic.is_background else colour_of(place)
        for place, topic in enumerate(topics)
    }


def distinct_colours(wanted: Sequence[str | None]) -> list[str]:
    """Give each part of a picture the colour it wants, or a free one if an earlier part has it.

    Parameters
    ----------
    wanted : sequence of str or None
        Colours, the most important part's first; None takes any.

    Examples
    --------
    >>> distinct_colours(["#332288", "#332288", "#813700"])
    ['#332288', '#4171a4', '#813700']
    """
    chosen: list[str] = []
    for place, colour in enumerate(wanted):
        if colour is None or colour in chosen:
            others = [other for other in COLOURS if other not in chosen]
            free = [other for other in others if other not in wanted[place:]]
            colour = next(iter(free or others), colour_of(place))
        chosen.append(colour)
    return chosen


def mix(colour: str, other: str, amount: float) -> str:
    """Mix two colours; ``amount`` is the part of the first, from 0 to 1.

    Examples
    --------
    >>> mix("#ff0000", "#0000ff", 0.5)
    '#800080'
    """
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(amount * a + (1 - amount) * b):02x}" for a, b in pairs)


def tint(colour: str, amount: float = 0.09) -> str:
    """Give a light background for text in a colour.

    Examples
    --------
    >>> tint("#000000", 0.2)
    '#cccccc'
    """
    return mix(colour, PAPER, amount)


def contrast(one: str, other: str) -> float:
    """Give the contrast ratio of two colours by WCAG, from 1 to 21.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    dark, light = sorted(_luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def _luminance(colour: str) -> float:
    linear = [_linear(channel / 255) for channel in _channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _linear(channel: float) -> float:
    return float(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)

"""Labels in or beside bubbles, none over another."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from topicvec.explore.boxes import Box
from topicvec.explore.fonts import text_width
from topicvec.explore.palette import HALO, INK
from topicvec.explore.svg import Element, element, text

__all__ = ["Bubble", "PlacedLabel", "draw_labels", "place_labels"]

_GAP = 3.0
_SMALLER = 0.8  # of the font size, in narrow bubbles
_DOT = 3.0  # a smaller bubble is a spot: its label may stand farther away
_LEADING = 1.15  # from line to line, of the font size


class Bubble(NamedTuple):
    """A circle with the label that it would like to have; lines are for the inside."""

    x: float
    y: float
    radius: float
    label: str
    lines: tuple[str, ...] = ()

    def touches(self, box: Box) -> bool:
        """Whether a box reaches into the circle."""
        right = max(box.x - self.x, 0.0, self.x - box.right)
        down = max(box.y - self.y, 0.0, self.y - box.bottom)
        return right**2 + down**2 < self.radius**2


class PlacedLabel(NamedTuple):
    """Lines of a label with the room they take; ``inside`` says it stands in its bubble."""

    lines: tuple[str, ...]
    size: float
    box: Box
    inside: bool


def place_labels(
    bubbles: Sequence[Bubble], area: Box, size: float, *, obstacles: Sequence[Bubble] = ()
) -> list[PlacedLabel | None]:
    """Find places for labels in or beside their bubbles.

    Parameters
    ----------
    bubbles : sequence of Bubble
        The most important first.
    area : Box
        Labels stay inside.
    size : float
        Font size.
    obstacles : sequence of Bubble
        Circles that no label beside a bubble may touch.

    Returns
    -------
    list of PlacedLabel or None
        None for a label that would overlap whatever its place.

    Examples
    --------
    >>> bubbles = [Bubble(50, 20, 5, "sea"), Bubble(50, 20, 5, "a very long label indeed")]
    >>> [label is not None for label in place_labels(bubbles, Box(0, 0, 100, 40), 10)]
    [True, False]
    """
    taken: list[Box] = []
    placed: list[PlacedLabel | None] = []
    for bubble in bubbles:
        found = (
            _inside(bubble, size)
            or _inside(bubble, _SMALLER * size)
            or _beside(bubble, area, size, taken, obstacles)
            or _inside(bubble, _SMALLER**2 * size)
        )
        placed.append(found)
        if found is not None:
            taken.append(found.box)
    return placed


def _inside(bubble: Bubble, size: float) -> PlacedLabel | None:
    """Set lines in a bubble: as many as fit, in larger type where there is room."""
    for n_lines in range(len(bubble.lines), 0, -1):
        lines = bubble.lines[:n_lines]
        width, height = max(text_width(line, 1.0) for line in lines), _LEADING * n_lines
        largest = 1.9 * bubble.radius / float(width**2 + height**2) ** 0.5
        if largest >= size:
            chosen = min(largest, size * min(max(bubble.radius / 45, 1.0), 1.5))
            return PlacedLabel(lines, chosen, _centred(bubble, width, height, chosen), True)
    return None


def _centred(bubble: Bubble, width: float, height: float, size: float) -> Box:
    width, height = width * size, height * size
    return Box(bubble.x - width / 2, bubble.y - height / 2, width, height)


def _beside(
    bubble: Bubble, area: Box, size: float, taken: Sequence[Box], obstacles: Sequence[Bubble]
) -> PlacedLabel | None:
    for box in _candidates(bubble, size):
        free = not any(box.overlaps(other) for other in taken)
        if free and area.contains(box) and not any(other.touches(box) for other in obstacles):
            return PlacedLabel((bubble.label,), size, box, False)
    return None


def _candidates(bubble: Bubble, size: float) -> Iterator[Box]:
    """Places around a bubble, the best first."""
    width, height = text_width(bubble.label, size) + 2, size * _LEADING
    centred = Box(bubble.x - width / 2, bubble.y - height / 2, width, height)
    side, above = bubble.radius + _GAP + width / 2, bubble.radius + height / 2 + 1
    slant = 0.75 * bubble.radius
    steps = (
        (0, above), (side, 0), (-side, 0), (0, -above),
        (width / 2 + slant, slant + height / 2), (-width / 2 - slant, slant + height / 2),
        (width / 2 + slant, -slant - height / 2), (-width / 2 - slant, -slant - height / 2),
        (width / 3, above), (-width / 3, above), (width / 3, -above), (-width / 3, -above),
    )  # fmt: skip
    for factor in (1.0, 1.6, 2.4) if bubble.radius < _DOT else (1.0,):
        for right, down in steps:
            yield centred.moved(factor * right, factor * down)


def draw_labels(labels: Sequence[PlacedLabel | None]) -> Element:
    """Draw the labels that have a place; those outside bubbles with a white edge."""
    inside = [line for one in labels if one and one.inside for line in _lines(one)]
    beside = [line for one in labels if one and not one.inside for line in _lines(one)]
    edged = element("g", beside, **HALO)
    return element("g", [*inside, edged], text_anchor="middle", fill=INK, pointer_events="none")


def _lines(label: PlacedLabel) -> Iterator[Element]:
    middle, step = label.box.x + label.box.width / 2, _LEADING * label.size
    for number, line in enumerate(label.lines):
        yield text(line, middle, label.box.y + number * step + 0.88 * label.size, label.size)

"""Cells in an area and words in a cell, none overlapping and all as large as will go."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.pictures.layout import Box
from topicvec.pictures.svg import extent, text_width

__all__ = ["PlacedWord", "pack_words", "treemap"]

Words = Sequence[tuple[str, float]]
Floats = NDArray[np.float64]

_COMFORT = 1.4  # the first word should be so much larger than the least size
_STEPS = 5  # halvings of the range of font sizes
_GRID = 2.0  # side of the squares that are free or taken
_GAP = 0.16  # of the font size, around each word


class PlacedWord(NamedTuple):
    """A word with its place: ``x`` is its middle, ``y`` its baseline, ``box`` all its room."""

    word: str
    size: float
    x: float
    y: float
    box: Box


def pack_words(
    words: Words,
    area: Box,
    *,
    reserved: Sequence[Box] = (),
    least: float = 10.0,
    largest: float = 60.0,
) -> list[PlacedWord]:
    """Place words in an area with font sizes proportional to their relevance.

    Parameters
    ----------
    words : sequence of (str, float)
        Words with their positive relevance, best first.
    area : Box
        Where they go.
    reserved : sequence of Box
        Parts of the area to leave free.
    least, largest : float
        Font sizes; a word that would be smaller than the least is set in that.

    Returns
    -------
    list of PlacedWord
        Best first. As many words as can be set well: in a small area fewer and larger ones.

    Examples
    --------
    >>> placed = pack_words([("sea", 2.0), ("salt", 1.0)], Box(0, 0, 200, 100))
    >>> [word.word for word in placed], placed[0].size / placed[1].size
    (['sea', 'salt'], 2.0)
    """
    fitting = [pair for pair in words if text_width(pair[0], least) <= area.width]
    field = _Field.of(area, reserved)
    best: list[PlacedWord] = []
    n_words = len(fitting)
    while n_words:  # all of them, then three quarters, and so on to one
        found = _largest_type(fitting[:n_words], area, field, least, largest)
        best = best or found
        if found and found[0].size >= min(_COMFORT * least, largest):
            best = found
            break
        n_words = n_words * 3 // 4
    return _centred(best, area, reserved)


def _largest_type(
    words: Words, area: Box, field: "_Field", least: float, largest: float
) -> list[PlacedWord]:
    """Find the largest type in which all words fit, by halving; empty if none does."""
    low, high = least, max(least, min(largest, _ceiling(words, area)))
    best = _place_all(words, low, least, field)
    for _ in range(_STEPS if best else 0):
        middle = (low + high) / 2
        found = _place_all(words, middle, least, field)
        best, low, high = (found, middle, high) if found else (best, low, middle)
    return best


def _ceiling(words: Words, area: Box) -> float:
    """Give a font size of the first word in which the words would more than fill the area."""
    filled = 0.0
    for word, relevance in words:
        width, ascent, descent = extent(word, 1.0)
        filled += (relevance / words[0][1]) ** 2 * width * (ascent + descent)
    return float(np.sqrt(area.area / max(filled, 1e-9)))  # a mark alone has no width


def _place_all(words: Words, top: float, least: float, field: "_Field") -> list[PlacedWord]:
    """Place words one after the other in their nearest free place; empty if one has none."""
    field = field._replace(taken=field.taken.copy())
    placed = []
    for word, relevance in words:
        size = max(least, top * relevance / words[0][1])
        width, ascent, descent = extent(word, size)
        height = ascent + descent
        box = field.take(width + _GAP * size, height + _GAP * size)
        if box is None:
            return []
        baseline = box.y + (box.height - height) / 2 + ascent
        placed.append(PlacedWord(word, size, box.x + box.width / 2, baseline, box))
    return placed


class _Field(NamedTuple):
    """An area cut into small squares, with those that are taken."""

    x: float
    y: float
    taken: NDArray[np.bool_]  # (rows, columns)

    @classmethod
    def of(cls, area: Box, reserved: Sequence[Box]) -> "_Field":
        n_columns, n_rows = int(area.width / _GRID), int(area.height / _GRID)
        x = area.x + (area.width - n_columns * _GRID) / 2
        y = area.y + (area.height - n_rows * _GRID) / 2
        taken = np.zeros((n_rows, n_columns), bool)
        for box in reserved:
            top, left = int(max(box.y - y, 0) / _GRID), int(max(box.x - x, 0) / _GRID)
            taken[top : ceil((box.bottom - y) / _GRID), left : ceil((box.right - x) / _GRID)] = True
        return cls(x, y, taken)

    def take(self, width: float, height: float) -> Box | None:
        """Take the free box of a size that is nearest to the middle, if there is one."""
        n_columns, n_rows = ceil(width / _GRID), ceil(height / _GRID)
        if n_rows > self.taken.shape[0] or n_columns > self.taken.shape[1]:
            return None
        distance = np.where(self._blocked(n_rows, n_columns), np.inf, self._far(n_rows, n_columns))
        top, left = divmod(int(distance.argmin()), distance.shape[1])
        if distance[top, left] == np.inf:
            return None
        self.taken[top : top + n_rows, left : left + n_columns] = True
        x, y = self.x + left * _GRID, self.y + top * _GRID
        return Box(x, y, n_columns * _GRID, n_rows * _GRID)

    def _blocked(self, n_rows: int, n_columns: int) -> NDArray[np.bool_]:
        """Whether a box with its corner at each square would touch a taken one."""
        sums = np.zeros([length + 1 for length in self.taken.shape], np.int32)
        inner = sums[1:, 1:]
        np.cumsum(self.taken, axis=0, out=inner).cumsum(axis=1, out=inner)
        columns = sums[:, n_columns:] - sums[:, :-n_columns]
        return np.asarray(columns[n_rows:] != columns[:-n_rows])

    def _far(self, n_rows: int, n_columns: int) -> Floats:
        """How far a box with its corner at each square is from the middle, for its area's shape."""
        rows, columns = (
            np.linspace(-1, 1, total + 1)[: total - used + 1] + used / total
            for total, used in zip(self.taken.shape, (n_rows, n_columns), strict=True)
        )
        return np.asarray(rows[:, None] ** 2 + columns**2)


def _centred(placed: list[PlacedWord], area: Box, reserved: Sequence[Box]) -> list[PlacedWord]:
    """Move all words together to the middle of the area, unless something is in the way."""
    if not placed:
        return placed
    boxes = [word.box for word in placed]
    left, right = min(box.x for box in boxes), max(box.right for box in boxes)
    top, bottom = min(box.y for box in boxes), max(box.bottom for box in boxes)
    by_x, by_y = area.middle[0] - (left + right) / 2, area.middle[1] - (top + bottom) / 2
    moved = [
        word._replace(x=word.x + by_x, y=word.y + by_y, box=word.box.moved(by_x, by_y))
        for word in placed
    ]
    clash = any(word.box.overlaps(box) for word in moved for box in reserved)
    return placed if clash else moved


def treemap(shares: Sequence[float], area: Box, *, aspect: float = 1.0) -> list[Box]:
    """Cut an area into boxes proportional to shares, each near to an aspect ratio.

    Parameters
    ----------
    shares : sequence of float
        Positive, the largest first.
    area : Box
        What is cut; the boxes fill it.
    aspect : float
        Width to height of a good box.

    Returns
    -------
    list of Box
        One for each share, in order.

    Examples
    --------
    >>> for box in treemap([2, 1, 1], Box(0.0, 0.0, 4.0, 2.0)):
    ...     print(*box)
    0.0 0.0 2.0 2.0
    2.0 0.0 2.0 1.0
    2.0 1.0 2.0 1.0
    """
    stretched = area._replace(y=area.y * aspect, height=area.height * aspect)
    unit = stretched.area / sum(shares)
    boxes, rest, sizes = [], stretched, [share * unit for share in shares]
    while sizes:
        n_row = _row_length(sizes, min(rest.width, rest.height))
        row, rest = _cut_row(sizes[:n_row], rest)
        boxes += row
        sizes = sizes[n_row:]
    return [Box(box.x, box.y / aspect, box.width, box.height / aspect) for box in boxes]


def _row_length(sizes: Sequence[float], side: float) -> int:
    """Say how many parts along a side make the best row: one more would be worse."""
    worst = [_worst_ratio(sizes[:n], side) for n in range(1, len(sizes) + 1)]
    return next((n for n in range(1, len(sizes)) if worst[n] > worst[n - 1]), len(sizes))


def _worst_ratio(sizes: Sequence[float], side: float) -> float:
    depth = sum(sizes) / side
    ratios = [size / depth**2 for size in sizes]
    return max(max(ratio, 1 / ratio) for ratio in ratios)


def _cut_row(sizes: Sequence[float], rest: Box) -> tuple[list[Box], Box]:
    """Cut a row off the left of a wide box or the top of a high one."""
    if rest.width < rest.height:
        row, left = _cut_row(sizes, rest.flipped)
        return [box.flipped for box in row], left.flipped
    depth, y, row = sum(sizes) / rest.height, rest.y, []
    for size in sizes:
        row.append(Box(rest.x, y, depth, size / depth))
        y += size / depth
    return row, Box(rest.x + depth, rest.y, max(rest.width - depth, 0.0), rest.height)

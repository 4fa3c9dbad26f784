"""Words in a box, none overlapping, the most important in the middle and as large as will go."""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.explore.boxes import Box
from topicvec.explore.fonts import extent

__all__ = ["PlacedWord", "pack_words"]

Floats = NDArray[np.floating]

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
    words: Sequence[tuple[str, float]],
    area: Box,
    *,
    reserved: Sequence[Box] = (),
    least: float = 10.0,
    largest: float = 60.0,
    bold: bool = False,
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
    bold : bool
        Whether they are set in bold.

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
    fitting = [pair for pair in words if extent(pair[0], least, bold=bold).width <= area.width]
    best: list[PlacedWord] = []
    for n_words in _counts(len(fitting)):
        found = _largest_type(fitting[:n_words], area, reserved, (least, largest), bold)
        best = best or found
        if found and found[0].size >= min(_COMFORT * least, largest):
            best = found
            break
    return _centred(best, area, reserved)


def _counts(n_words: int) -> list[int]:
    """Numbers of words to try: all of them, then three quarters, and so on to one."""
    counts = []
    while n_words > 0:
        counts.append(n_words)
        n_words = n_words * 3 // 4
    return counts


def _largest_type(
    words: Sequence[tuple[str, float]],
    area: Box,
    reserved: Sequence[Box],
    sizes: tuple[float, float],
    bold: bool,
) -> list[PlacedWord]:
    """Find the largest type in which all words fit, by halving; empty if none does."""
    field = _Field.of(area, reserved)
    low, high = sizes[0], max(sizes[0], min(sizes[1], _ceiling(words, area, bold)))
    best = _place_all(words, low, sizes[0], field, bold)
    for _ in range(_STEPS if best else 0):
        middle = (low + high) / 2
        found = _place_all(words, middle, sizes[0], field, bold)
        best, low, high = (found, middle, high) if found else (best, low, middle)
    return best


def _ceiling(words: Sequence[tuple[str, float]], area: Box, bold: bool) -> float:
    """Give a font size of the first word in which the words would more than fill the area."""
    rooms = [(extent(word, 1.0, bold=bold), relevance / words[0][1]) for word, relevance in words]
    filled = sum(part**2 * room.width * (room.ascent + room.descent) for room, part in rooms)
    return float(np.sqrt(area.area / filled))


def _place_all(
    words: Sequence[tuple[str, float]], top: float, least: float, field: "_Field", bold: bool
) -> list[PlacedWord]:
    """Place words one after the other in their nearest free place; empty if one has none."""
    field = field.copy()
    placed = []
    for word, relevance in words:
        size = max(least, top * relevance / words[0][1])
        room = extent(word, size, bold=bold)
        height = room.ascent + room.descent
        box = field.take(room.width + _GAP * size, height + _GAP * size)
        if box is None:
            return []
        baseline = box.y + (box.height - height) / 2 + room.ascent
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

    def copy(self) -> "_Field":
        return self._replace(taken=self.taken.copy())

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
        blocked: NDArray[np.bool_] = columns[n_rows:] != columns[:-n_rows]
        return blocked

    def _far(self, n_rows: int, n_columns: int) -> Floats:
        """How far a box with its corner at each square is from the middle, for its area's shape."""
        rows, columns = (
            _steps(total)[: total - used + 1] + used / total
            for total, used in zip(self.taken.shape, (n_rows, n_columns), strict=True)
        )
        far: Floats = rows[:, None] ** 2 + columns**2
        return far


@lru_cache(maxsize=256)
def _steps(total: int) -> Floats:
    steps = np.linspace(-1, 1, total + 1)
    steps.setflags(write=False)
    return steps


def _centred(placed: list[PlacedWord], area: Box, reserved: Sequence[Box]) -> list[PlacedWord]:
    """Move all words together to the middle of the area, unless something is in the way."""
    if not placed:
        return placed
    boxes = [word.box for word in placed]
    left, right = min(box.x for box in boxes), max(box.right for box in boxes)
    top, bottom = min(box.y for box in boxes), max(box.bottom for box in boxes)
    by_x = area.x + area.width / 2 - (left + right) / 2
    by_y = area.y + area.height / 2 - (top + bottom) / 2
    moved = [
        word._replace(x=word.x + by_x, y=word.y + by_y, box=word.box.moved(by_x, by_y))
        for word in placed
    ]
    clash = any(word.box.overlaps(box) for word in moved for box in reserved)
    return placed if clash else moved

"""Rectangles, and cutting one into parts with given areas."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Box", "treemap"]


class Box(NamedTuple):
    """A rectangle; y grows downwards.

    Examples
    --------
    >>> Box(0, 0, 10, 10).contains(Box(1, 1, 9, 9)), Box(0, 0, 5, 5).overlaps(Box(4, 4, 5, 5))
    (True, True)
    """

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    def inset(self, margin: float) -> "Box":
        """Give the box inside, at a distance from the edges."""
        width, height = self.width - 2 * margin, self.height - 2 * margin
        return Box(self.x + margin, self.y + margin, max(width, 0), max(height, 0))

    def moved(self, right: float, down: float) -> "Box":
        """Give the box at another place."""
        return self._replace(x=self.x + right, y=self.y + down)

    def overlaps(self, other: "Box", slack: float = 1e-6) -> bool:
        """Whether two boxes share more than an edge."""
        return (
            self.x < other.right - slack
            and other.x < self.right - slack
            and self.y < other.bottom - slack
            and other.y < self.bottom - slack
        )

    def contains(self, other: "Box", slack: float = 1e-6) -> bool:
        """Whether another box lies inside."""
        return (
            other.x >= self.x - slack
            and other.y >= self.y - slack
            and other.right <= self.right + slack
            and other.bottom <= self.bottom + slack
        )


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
        flipped, left = _cut_row(sizes, Box(rest.y, rest.x, rest.height, rest.width))
        return [Box(b.y, b.x, b.height, b.width) for b in flipped], Box(
            left.y, left.x, left.height, left.width
        )
    depth, y, row = sum(sizes) / rest.height, rest.y, []
    for size in sizes:
        row.append(Box(rest.x, y, depth, size / depth))
        y += size / depth
    return row, Box(rest.x + depth, rest.y, max(rest.width - depth, 0.0), rest.height)

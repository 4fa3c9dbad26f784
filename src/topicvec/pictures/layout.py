"""Where things stand in a plane: rectangles, points by their similarity, bubbles and labels."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.pictures.palette import HALO, INK
from topicvec.pictures.svg import Element, element, text, text_width

__all__ = ["Box", "Bubble", "cosines", "draw_labels", "plane_places", "spread_bubbles"]

Floats = NDArray[np.float64]

_MAX_STEPS = 300
_SETTLED = 1e-4
_GAP = 3.0  # between two bubbles, and between one and the label beside it
_SMALLER = 0.8  # of the font size, in narrow bubbles
_DOT = 3.0  # a smaller bubble is a spot: its label may stand farther away
_LEADING = 1.15  # from line to line, of the font size


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

    @property
    def middle(self) -> tuple[float, float]:
        """The point in the middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def flipped(self) -> "Box":
        """The box with right and down exchanged."""
        return Box(self.y, self.x, self.height, self.width)

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


def cosines(vectors: ArrayLike) -> Floats:
    """Give the cosines (K, K) of the rows of a matrix.

    Examples
    --------
    >>> cosines([[1, 0], [0, 2], [3, 0]]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    matrix = np.asarray(vectors, float)
    units = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return np.asarray(np.clip(units @ units.T, -1, 1))


def plane_places(vectors: ArrayLike) -> Floats:
    """Lay out vectors (K, N) in a plane so that distances are much like 1 − cosine.

    Parameters
    ----------
    vectors : array, (K, N)
        For example the topic vectors without the null topic's.

    Returns
    -------
    array, (K, 2)
        The middle is 0. The same each time: no random start.

    Notes
    -----
    Scaling by majorisation of the stress Σ (‖x_i − x_j‖ − d_ij)² / d_ij², which counts errors
    relative to the distance, from the principal axes as the start.

    Examples
    --------
    >>> places = plane_places([[1, 0, 0], [0.9, 0.1, 0], [0, 0, 1]])
    >>> bool(abs(places[0] - places[1]).max() < abs(places[0] - places[2]).max())
    True
    """
    apart = np.maximum(1 - cosines(vectors), 0.02)
    places = _principal_axes(apart)
    weights = 1 / apart**2
    np.fill_diagonal(weights, 0)
    inverse = np.linalg.pinv(_laplacian(weights))
    for _ in range(_MAX_STEPS):
        before = places
        places = inverse @ (_laplacian(weights * apart / _distances(places)) @ places)
        if np.abs(places - before).max() < _SETTLED:
            break
    return np.asarray(places - places.mean(axis=0))


def _principal_axes(apart: Floats) -> Floats:
    """Give classical scaling's two axes, each with its largest entry positive."""
    squares = apart**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, axes = np.linalg.eigh(-centred / 2)
    values, axes = np.append(values[:-3:-1], 0)[:2], axes[:, :-3:-1]
    if axes.shape[1] < 2:
        axes = np.hstack([axes, np.zeros_like(axes)])
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    return np.asarray(axes * np.sqrt(np.maximum(values, 1e-6)))


def _laplacian(weights: Floats) -> Floats:
    return np.diag(weights.sum(axis=1)) - weights


def _distances(places: Floats) -> Floats:
    between = places[:, None] - places
    return np.asarray(np.maximum(np.sqrt((between**2).sum(axis=2)), 1e-9))


def spread_bubbles(places: ArrayLike, radii: Sequence[float], area: Box) -> Floats:
    """Fit places into an area and push bubbles apart until none overlap.

    Parameters
    ----------
    places : array, (K, 2)
        Where the bubbles would like to be, on any scale.
    radii : sequence of K floats
        Their sizes in units of the area; together they must leave room.
    area : Box
        Where they go.

    Returns
    -------
    array, (K, 2)
        Middles of the bubbles.

    Examples
    --------
    >>> spread_bubbles([[0, 0], [0, 1]], [5, 5], Box(0, 0, 100, 40)).round().tolist()
    [[50.0, 5.0], [50.0, 35.0]]
    """
    sizes = np.asarray(radii, float)
    low = np.array([area.x, area.y]) + sizes[:, None]
    high = np.array([area.right, area.bottom]) - sizes[:, None]
    middles = _stretched(np.asarray(places, float), low, high)
    reach = sizes[:, None] + sizes + _GAP
    np.fill_diagonal(reach, 0)
    for _ in range(_MAX_STEPS):
        distances = _distances(middles)
        push = np.maximum(reach - distances, 0) / 2
        if push.max() < 0.05:
            break
        directions = _directions(middles, distances)
        middles = np.clip(middles + (push[:, :, None] * directions).sum(axis=1), low, high)
    return middles


def _stretched(places: Floats, low: Floats, high: Floats) -> Floats:
    """Stretch places over the area, each axis for itself."""
    least, most = places.min(axis=0), places.max(axis=0)
    spread = most - least
    relative = np.where(spread > 1e-6, (places - least) / np.maximum(spread, 1e-6), 0.5)
    return low + relative * (high - low)


def _directions(middles: Floats, distances: Floats) -> Floats:
    """Give unit vectors (K, K, 2) from the second to the first; at one place by their order."""
    between = middles[:, None] - middles
    order = np.arange(len(middles))
    fallback = np.sign(order[:, None] - order)[:, :, None] * np.array([0.6, 0.8])
    same = (distances < 1e-6)[:, :, None]
    return np.where(same, fallback, between / distances[:, :, None])


class Bubble(NamedTuple):
    """A circle with the label that it would like to have; lines are for the inside."""

    x: float
    y: float
    radius: float
    label: str
    lines: tuple[str, ...] = ()

    def room(self, width: float, height: float) -> Box:
        """Give the box of a size that has the same middle."""
        return Box(self.x - width / 2, self.y - height / 2, width, height)

    def touches(self, box: Box) -> bool:
        """Whether a box reaches into the circle."""
        right = max(box.x - self.x, 0.0, self.x - box.right)
        down = max(box.y - self.y, 0.0, self.y - box.bottom)
        return right**2 + down**2 < self.radius**2


Bubbles = Sequence[Bubble]


class PlacedLabel(NamedTuple):
    """Lines of a label with the room they take; ``inside`` says it stands in its bubble."""

    lines: tuple[str, ...]
    size: float
    box: Box
    inside: bool


def place_labels(
    bubbles: Bubbles, area: Box, size: float, *, obstacles: Bubbles = ()
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
            return PlacedLabel(lines, chosen, bubble.room(width * chosen, height * chosen), True)
    return None


def _beside(
    bubble: Bubble, area: Box, size: float, taken: Sequence[Box], obstacles: Bubbles
) -> PlacedLabel | None:
    for box in _candidates(bubble, size):
        free = not any(box.overlaps(other) for other in taken)
        if free and area.contains(box) and not any(other.touches(box) for other in obstacles):
            return PlacedLabel((bubble.label,), size, box, False)
    return None


def _candidates(bubble: Bubble, size: float) -> Iterator[Box]:
    """Places around a bubble, the best first."""
    width, height = text_width(bubble.label, size) + 2, size * _LEADING
    centred = bubble.room(width, height)
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


def draw_labels(bubbles: Bubbles, area: Box, size: float, *, obstacles: Bubbles = ()) -> Element:
    """Draw the labels that have a place, see `place_labels`; outside bubbles with a white edge."""
    labels = place_labels(bubbles, area, size, obstacles=obstacles)
    inside, beside = (
        [line for label in labels if label and label.inside == kind for line in _lines(label)]
        for kind in (True, False)
    )
    edged = element("g", beside, **HALO)
    return element("g", [*inside, edged], text_anchor="middle", fill=INK, pointer_events="none")


def _lines(label: PlacedLabel) -> Iterator[Element]:
    middle, step = label.box.middle[0], _LEADING * label.size
    for row, line in enumerate(label.lines):
        yield text(line, middle, label.box.y + row * step + 0.88 * label.size, label.size)

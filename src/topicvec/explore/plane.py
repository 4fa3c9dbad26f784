"""Topics as points of a plane: near where their vectors are, bubbles that do not overlap."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.explore.boxes import Box

__all__ = ["cosines", "plane_places", "spread_bubbles"]

Floats = NDArray[np.floating]

_MAX_STEPS = 300
_SETTLED = 1e-4


def cosines(vectors: ArrayLike) -> Floats:
    """Give the cosines (K, K) of the rows of a matrix.

    Examples
    --------
    >>> cosines([[1, 0], [0, 2], [3, 0]]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    matrix = np.asarray(vectors, float)
    units = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    found: Floats = np.clip(units @ units.T, -1, 1)
    return found


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
        moved = inverse @ (_laplacian(weights * apart / _distances(places)) @ places)
        done = float(np.abs(moved - places).max()) < _SETTLED
        places = moved
        if done:
            break
    centred: Floats = places - places.mean(axis=0)
    return centred


def _principal_axes(apart: Floats) -> Floats:
    """Give classical scaling's two axes, each with its largest entry positive."""
    squares = apart**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, axes = np.linalg.eigh(-centred / 2)
    values, axes = np.append(values[:-3:-1], 0)[:2], axes[:, :-3:-1]
    if axes.shape[1] < 2:
        axes = np.hstack([axes, np.zeros_like(axes)])
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    start: Floats = axes * np.sqrt(np.maximum(values, 1e-6))
    return start


def _laplacian(weights: Floats) -> Floats:
    laplacian: Floats = np.diag(weights.sum(axis=1)) - weights
    return laplacian


def _distances(places: Floats) -> Floats:
    between = places[:, None] - places
    distances: Floats = np.sqrt((between**2).sum(axis=2))
    return np.maximum(distances, 1e-9)


def spread_bubbles(
    places: ArrayLike, radii: Sequence[float], area: Box, *, gap: float = 3.0
) -> Floats:
    """Fit places into an area and push bubbles apart until none overlap.

    Parameters
    ----------
    places : array, (K, 2)
        Where the bubbles would like to be, on any scale.
    radii : sequence of K floats
        Their sizes in units of the area; together they must leave room.
    area : Box
        Where they go.
    gap : float
        Least space between two.

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
    middles = _fitted(np.asarray(places, float), low, high)
    reach = sizes[:, None] + sizes + gap
    np.fill_diagonal(reach, 0)
    for _ in range(_MAX_STEPS):
        distances = _distances(middles)
        push = np.maximum(reach - distances, 0) / 2
        if push.max() < 0.05:
            break
        directions = _directions(middles, distances)
        middles = np.clip(middles + (push[:, :, None] * directions).sum(axis=1), low, high)
    return middles


def _fitted(places: Floats, low: Floats, high: Floats) -> Floats:
    """Stretch places over the area, each axis for itself."""
    least, most = places.min(axis=0), places.max(axis=0)
    spread = most - least
    relative = np.where(spread > 1e-6, (places - least) / np.maximum(spread, 1e-6), 0.5)
    fitted: Floats = low + relative * (high - low)
    return fitted


def _directions(middles: Floats, distances: Floats) -> Floats:
    """Give unit vectors (K, K, 2) from the second to the first; at one place by their order."""
    between = middles[:, None] - middles
    order = np.arange(len(middles))
    fallback = np.sign(order[:, None] - order)[:, :, None] * np.array([0.6, 0.8])
    same = (distances < 1e-6)[:, :, None]
    directions: Floats = np.where(same, fallback, between / distances[:, :, None])
    return directions

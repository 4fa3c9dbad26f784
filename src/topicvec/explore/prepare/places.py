"""Where topics stand on a map: near ones are similar, bubbles do not overlap."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["place_topics"]

Floats = NDArray[np.floating]

_FILLED = 0.46  # of the map's area, by bubbles
_LEAST_RADIUS = 0.016
_GAP = 0.006
_ROUNDS = 400
_TEMPERATURE = 0.08  # of the cosines: a topic has some five near neighbours
_STEPS, _RATE, _EXAGGERATION = 500, 0.3, 4.0


def place_topics(similarity: Floats, shares: Floats, height: float = 0.72) -> Floats:
    """Lay topics out on a map of width 1.

    Parameters
    ----------
    similarity : array, (K, K)
        Cosines of the topics.
    shares : array, (K,)
        The areas of the bubbles.
    height : float
        Of the map.

    Returns
    -------
    array, (K, 3)
        Centres and radii; the same input gives the same map, to the bit.

    Examples
    --------
    >>> places = place_topics(np.eye(3), np.array([0.5, 0.3, 0.2]))
    >>> bool((places[:, :2] >= 0).all() and (places[:, 0] <= 1).all())
    True
    """
    radii = _radii(np.asarray(shares, float), height)
    box = np.array([1.0, height])
    points = _spread(_neighbours(np.asarray(similarity, float)), box)
    return np.column_stack([_apart(points, radii, box), radii])


def _radii(shares: Floats, height: float) -> Floats:
    parts = shares / max(float(shares.sum()), 1e-300)
    radii = np.sqrt(parts * _FILLED * height / np.pi)
    limited: Floats = np.clip(radii, _LEAST_RADIUS, 0.3 * height)
    return limited


def _neighbours(similarity: Floats) -> Floats:
    """Bring similar topics together: t-SNE's gradient, from principal coordinates, (K, 2)."""
    points = _principal(similarity)
    if len(points) < 3:  # no topic has a choice of neighbours
        return points
    points *= 1e-2 / max(float(points.std()), 1e-12)
    wanted = _affinities(similarity)
    speed = np.zeros_like(points)
    for step in range(_STEPS):
        pull = wanted * (_EXAGGERATION if step < _STEPS // 3 else 1.0)
        kernel = 1 / (1 + _distances(points) ** 2)
        np.fill_diagonal(kernel, 0)
        force = (pull - kernel / max(float(kernel.sum()), 1e-300)) * kernel
        speed = 0.8 * speed - _RATE * len(points) * _pushed(force, points)
        points = points + speed
    return points


def _affinities(similarity: Floats) -> Floats:
    """Turn cosines into probabilities of neighbourhood (K, K): symmetric, with sum 1."""
    logits = similarity / _TEMPERATURE
    np.fill_diagonal(logits, -np.inf)
    rows = np.exp(logits - logits.max(axis=1, keepdims=True))
    rows = rows / rows.sum(axis=1, keepdims=True)
    both: Floats = (rows + rows.T) / (2 * len(rows))
    return both


def _principal(similarity: Floats) -> Floats:
    """Give the two principal coordinates of points with these inner products (K, 2)."""
    centred = similarity - similarity.mean(0) - similarity.mean(1)[:, None] + similarity.mean()
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    points = np.zeros((len(similarity), 2))
    n_axes = min(2, len(similarity))
    axes = vectors[:, ::-1][:, :n_axes]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), range(n_axes)])  # eigh leaves signs open
    points[:, :n_axes] = axes * np.sqrt(np.maximum(values[::-1][:n_axes], 0))
    return points


def _spread(points: Floats, box: Floats) -> Floats:
    """Fill the map: the longer axis across, robust against a lonely point."""
    points = points[:, np.argsort(-np.ptp(points, axis=0), kind="stable")]
    low, high = points.min(0), points.max(0)
    filled: Floats = (points - low) / np.maximum(high - low, 1e-12) * box
    return np.where(high - low < 1e-12, box / 2, filled)


def _apart(points: Floats, radii: Floats, box: Floats) -> Floats:
    """Push overlapping bubbles apart and keep them on the map."""
    reach = radii[:, None] + radii + _GAP
    np.fill_diagonal(reach, 0)
    turns = np.arange(len(points)) * 2.4  # points at one place leave it in different directions
    points = points + 1e-6 * np.column_stack([np.cos(turns), np.sin(turns)])
    inner = radii[:, None] + _GAP
    for _ in range(_ROUNDS):
        lengths = np.maximum(_distances(points), 1e-9)
        overlap = np.maximum(reach - lengths, 0)
        points = points + _pushed(0.35 * overlap / lengths, points)
        points = np.clip(points, np.minimum(inner, box / 2), np.maximum(box - inner, box / 2))
        if overlap.max(initial=0) < _GAP / 2:
            break
    return points


def _distances(points: Floats) -> Floats:
    """Distances of all pairs (K, K)."""
    x, y = points.T
    lengths: Floats = np.hypot(x[:, None] - x, y[:, None] - y)
    return lengths


def _pushed(weights: Floats, points: Floats) -> Floats:
    """Sum the weighted steps from all points to each, Σ_j w_ij (x_i − x_j), (K, 2)."""
    sums: Floats = weights.sum(axis=1)[:, None] * points - weights @ points
    return sums

"""Where topics stand on the map of the pages: near ones are similar, bubbles do not overlap."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.explore.boxes import Box
from topicvec.explore.plane import plane_places, spread_bubbles

__all__ = ["place_topics"]

_FILLED = 0.46  # of the map's area, by bubbles: words stand inside them
_LEAST_RADIUS = 0.016
_UNITS = 1000  # that the map is wide for the layout, whose gaps are in pixels


def place_topics(
    vectors: ArrayLike, shares: ArrayLike, height: float = 0.72
) -> NDArray[np.floating]:
    """Lay topics out on a map of width 1.

    Parameters
    ----------
    vectors : array, (K, N)
        Topic vectors.
    shares : array, (K,)
        The areas of the bubbles.
    height : float
        Of the map.

    Returns
    -------
    array, (K, 3)
        Centres and radii; the same input gives the same map.

    Examples
    --------
    >>> places = place_topics(np.eye(3), [0.5, 0.3, 0.2])
    >>> bool((places[:, :2] >= 0).all() and (places[:, 0] <= 1).all())
    True
    """
    parts = np.asarray(shares, float) / max(float(np.sum(shares)), 1e-300)
    radii = np.clip(np.sqrt(parts * _FILLED * height / np.pi), _LEAST_RADIUS, 0.3 * height)
    area = Box(0, 0, _UNITS, _UNITS * height)
    middles = spread_bubbles(plane_places(vectors), (_UNITS * radii).tolist(), area)
    return np.column_stack([middles / _UNITS, radii])

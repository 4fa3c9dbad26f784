"""Documents as points of a plane: those with similar mixtures are near each other."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.explore.plane import plane_places

__all__ = ["scatter_places"]

Floats = NDArray[np.floating]

_N_LANDMARKS = 1000
_FEW = 12  # documents for which neighbourhoods mean little
_PERPLEXITY = 30.0
_N_NEAREST = 4
_SHARPNESS = 30  # of the landmarks' weights: similarities of neighbours are all near 1
_ROWS = 2048


def scatter_places(proportions: ArrayLike) -> Floats:
    """Lay out documents in a plane by their topic mixtures.

    Parameters
    ----------
    proportions : array, (D, K)
        Topic proportions of the documents.

    Returns
    -------
    array, (D, 2)
        The same each time.

    Notes
    -----
    t-SNE of square roots of the proportions, whose products say how much two mixtures share,
    for up to 1,000 documents; others come to the most similar of those, which are taken evenly
    from the list. Fewer than a dozen different mixtures are laid out by their distances, as
    topics are.

    Examples
    --------
    >>> places = scatter_places([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    >>> bool(abs(places[0] - places[1]).max() < abs(places[0] - places[2]).max())
    True
    """
    roots = np.sqrt(np.asarray(proportions, float))
    different, owners = np.unique(roots.round(6), axis=0, return_inverse=True)
    if len(different) < _FEW:
        return plane_places(different)[owners.ravel()]
    rows = np.unique(np.linspace(0, len(roots) - 1, _N_LANDMARKS).astype(int))
    landmarks = _neighbours_kept(roots[rows])
    return np.vstack(
        [
            _by_landmarks(roots[start : start + _ROWS] @ roots[rows].T, landmarks)
            for start in range(0, len(roots), _ROWS)
        ]
    )


def _neighbours_kept(points: Floats) -> Floats:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(_PERPLEXITY, (len(points) - 1) / 3)
    with threadpool_limits(1):  # sums in one order, so the same bits each time
        places: Floats = TSNE(init="pca", perplexity=perplexity, random_state=0).fit_transform(
            points
        )
    return places


def _by_landmarks(similarity: Floats, landmarks: Floats) -> Floats:
    """Place points by the landmarks that are most similar to them."""
    n_nearest = min(_N_NEAREST, len(landmarks))
    nearest = np.argpartition(-similarity, n_nearest - 1, axis=1)[:, :n_nearest]
    weights = np.maximum(np.take_along_axis(similarity, nearest, 1), 1e-6)
    weights = (weights / weights.max(axis=1, keepdims=True)) ** _SHARPNESS
    weights /= weights.sum(axis=1, keepdims=True)
    places: Floats = (landmarks[nearest] * weights[:, :, None]).sum(axis=1)
    return places

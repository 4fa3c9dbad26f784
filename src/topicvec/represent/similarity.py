"""How alike documents are by their topic mixtures."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.engine import one_blas_thread
from topicvec.errors import DataError

__all__ = [
    "cosine_similarity",
    "hellinger_distance",
    "kernel_root",
    "mixture_points",
]

Floats = NDArray[np.float64]

_SUMS_TO_ONE = 1e-4  # float32 mixtures are off by less


def cosine_similarity(first: ArrayLike, second: ArrayLike | None = None) -> Floats:
    """Give the cosine of each row of one table with each row of another.

    Parameters
    ----------
    first, second : arrays, (A, K) and (B, K)
        Documents in any form of `topicvec.represent.represent`; one document may be one row.
        Without ``second``, all pairs of ``first``.

    Returns
    -------
    array, (A, B)
        Between −1 and 1, and 0 where a row is zero.

    Examples
    --------
    >>> cosine_similarity([[1.0, 0.0], [1.0, 1.0]]).round(2)
    array([[1.  , 0.71], [0.71, 1.  ]])
    """
    a, b = tables(first, second)
    return np.clip(unit_rows(a) @ unit_rows(b).T, -1, 1)


def hellinger_distance(first: ArrayLike, second: ArrayLike | None = None) -> Floats:
    """Give √(1 − Σ_k √(p_k q_k)) for each pair of topic mixtures: 0 alike, 1 nothing in common.

    Parameters
    ----------
    first, second : arrays, (A, K) and (B, K)
        Topic proportions; rows sum to 1. Without ``second``, all pairs of ``first``.

    Returns
    -------
    array, (A, B)

    Examples
    --------
    >>> hellinger_distance([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])[0].round(2)
    array([0.  , 0.54, 1.  ])
    """
    a, b = (checked_mixtures(table) for table in tables(first, second))
    return np.asarray(np.sqrt(np.clip(1 - np.sqrt(a) @ np.sqrt(b).T, 0, 1)))


@one_blas_thread()
def mixture_points(proportions: ArrayLike, kernel: ArrayLike) -> Floats:
    """Give topic mixtures as points of length 1 whose products say how alike they are.

    Two mixtures are alike also if their topics are not the same but alike, as those are that were
    learned in different classes. The points may be clustered, drawn or compared by
    `cosine_similarity`.

    Parameters
    ----------
    proportions : array, (D, K)
        Topic proportions; rows need not sum to 1.
    kernel : array, (K, K)
        How alike topics are, from `topicvec.represent.topic_kernel`; of some topics only, take
        its rows and columns.

    Returns
    -------
    array, (D, K)
        Zero for a mixture that has only the null topic.

    Notes
    -----
    The similarity of mixtures p and q is √pᵀ S √q over the lengths √(√pᵀ S √p) and √(√qᵀ S √q).
    With S the identity it is the Hellinger affinity Σ_k √(p_k q_k).

    Examples
    --------
    >>> alike = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> cosine_similarity(mixture_points([[1, 0, 0], [0, 1, 0], [0, 0, 1]], alike))[0].round(2)
    array([1. , 0.9, 0. ])
    """
    table, square = np.atleast_2d(np.asarray(proportions, float)), np.asarray(kernel, float)
    if square.shape != (table.shape[1],) * 2:
        raise DataError(
            f"expected how alike the {table.shape[1]} topics are, a square table; found the shape "
            f"{square.shape}: use topic_kernel of the model that the mixtures are of"
        )
    return unit_rows(np.sqrt(table) @ kernel_root(square))


@one_blas_thread()
def kernel_root(kernel: Floats) -> Floats:
    """Give the symmetric square root (K, K) of a positive semidefinite table.

    Examples
    --------
    >>> kernel_root(np.array([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.], [0., 3.]])
    """
    values, vectors = np.linalg.eigh(kernel)
    # Rounding alone makes a value negative.
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def tables(first: ArrayLike, second: ArrayLike | None) -> tuple[Floats, Floats]:
    """Give tables (A, K) and (B, K) of the same width; without a second, the first twice."""
    a = np.atleast_2d(np.asarray(first, float))
    b = a if second is None else np.atleast_2d(np.asarray(second, float))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise DataError(
            "expected two tables with a row for each document and the same columns; "
            f"found shapes {np.shape(first)} and {b.shape}"
        )
    return a, b


def checked_mixtures(table: Floats) -> Floats:
    """Give the table (A, K) if its rows are proportions."""
    sums = table.sum(axis=1)
    worst = sums[np.abs(sums - 1).argmax()] if len(sums) else 1.0
    if (table < 0).any() or not abs(worst - 1) <= _SUMS_TO_ONE:  # NaN is neither
        raise DataError(
            "expected topic proportions, which are not negative and sum to 1; "
            f"found {table.min(initial=1.0):g} as smallest and a row with sum {worst:g}: "
            "use transform, or represent with form='proportions'"
        )
    return table


def unit_rows(table: Floats) -> Floats:
    """Scale each row to length 1; rows of zeros stay."""
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    return np.asarray(np.divide(table, norms, out=np.zeros_like(table), where=norms > 0))

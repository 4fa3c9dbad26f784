"""The topic mover's distance: the least work that turns one topic mixture into another.

A share of a topic is moved along the straight line to another topic's vector, so documents on
related topics are near even if they have no topic in common. The null topic is at the origin.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from topicvec.checks import check_choice, check_number, check_whole
from topicvec.engine import one_blas_thread
from topicvec.errors import DataError
from topicvec.model.topicvec import TopicVec
from topicvec.represent import kernels
from topicvec.represent.similarity import checked_mixtures, tables

__all__ = [
    "Method",
    "nearest_by_transport",
    "topic_distances",
    "transport_bounds",
    "transport_distance",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Method = Literal["exact", "entropic"]

_ROUNDING = 1e-9  # of the longest distance between topics
_LEAST_STRENGTH = 0.01  # below, exponentials vanish
_CLOSE = 1e-4  # mass that is still at a wrong place when Sinkhorn's iterations end
_MOST_ITERATIONS, _LOOKED_AT = 2000, 10  # every so many iterations


@one_blas_thread()
def transport_distance(
    model: TopicVec,
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    method: Method = "exact",
    keep: int | None = None,
    strength: float = 0.05,
) -> Floats:
    """Give the least work that turns one topic mixture into another, for each pair.

    Parameters
    ----------
    model : TopicVec
        The fitted model that the mixtures are of.
    first, second : arrays, (A, K) and (B, K)
        Topic proportions; rows sum to 1. Without ``second``, all pairs of ``first``.
    method : {"exact", "entropic"}
        "entropic" is the work of a plan that is found by products of matrices and spreads a little
        more than it should: never less than the exact work.
    keep : int, optional
        Look at so many of each mixture's topics only, the largest, as if they were all. The time
        of a pair grows with about the cube of their number, and documents have few topics that
        matter; 8 find documents of the same class as well as 16 do.
    strength : float
        Of the entropy, as a share of the longest distance between topics; at least 0.01. The less,
        the nearer to the exact work, and the slower.

    Returns
    -------
    array, (A, B)
        Wasserstein distances, in the units of the vectors.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> length = topic_distances(model)[0, 1]
    >>> (transport_distance(model, [[1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]) / length).round(2)
    array([[0.5, 1. ]])
    """
    check_choice("method", method, *get_args(Method))
    check_number("strength", strength, _LEAST_STRENGTH)
    costs = topic_distances(model)
    a, b = _mixtures(costs, first, second, keep)
    if method == "exact":
        return np.asarray(kernels.all_distances(a, b, costs))
    return np.reshape([_entropic(p, b, costs, strength) for p in a], (len(a), len(b)))


@one_blas_thread()
def transport_bounds(
    model: TopicVec,
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    keep: int | None = None,
) -> tuple[Floats, Floats]:
    """Give two numbers for each pair that the exact distance is never less than, and quick.

    Parameters
    ----------
    model, first, second, keep
        As for `transport_distance`.

    Returns
    -------
    centroid : array, (A, B)
        The distance between the mean topic vectors, ‖Σ_k p_k t_k − Σ_k q_k t_k‖.
    relaxed : array, (A, B)
        The work if each topic's surplus went to the nearest topics that lack some, up to what each
        lacks, without a look at what others bring there; of both directions the larger one.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> pair = [[1.0, 0.0], [0.5, 0.5]]
    >>> [bool((each <= transport_distance(model, pair) + 1e-9).all())
    ...  for each in transport_bounds(model, pair)]
    [True, True]
    """
    costs = topic_distances(model)
    a, b = _mixtures(costs, first, second, keep)
    topics = _topics(model)
    relaxed = kernels.all_bounds(a, b, costs, _nearest_topics(costs))
    return cdist(a @ topics, b @ topics), np.asarray(relaxed)


@one_blas_thread()
def nearest_by_transport(
    model: TopicVec,
    queries: ArrayLike,
    candidates: ArrayLike,
    n: int = 10,
    *,
    keep: int | None = None,
) -> tuple[Rows, Floats]:
    """Find the mixtures nearest to each query; bounds spare most of the work and change nothing.

    Parameters
    ----------
    model : TopicVec
        The fitted model that the mixtures are of.
    queries, candidates : arrays, (A, K) and (B, K)
        Topic proportions; rows sum to 1.
    n : int
        How many to find; at most B are there.
    keep : int, optional
        As for `transport_distance`.

    Returns
    -------
    rows : array, (A, n)
        Of the candidates, the nearest first; of equals the first one.
    distances : array, (A, n)
        As from `transport_distance`.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> nearest_by_transport(model, [[1.0, 0.0]], [[0.0, 1.0], [0.8, 0.2], [0.5, 0.5]], 2)[0]
    array([[1, 2]])
    """
    check_whole("n", n, 1)
    costs = topic_distances(model)
    a, b = _mixtures(costs, queries, candidates, keep)
    n_found, order, topics = min(n, len(b)), _nearest_topics(costs), _topics(model)
    slack = _ROUNDING * float(costs.max())
    rows, distances = np.empty((len(a), n_found), np.int64), np.empty((len(a), n_found))
    means = b @ topics
    for row, query in enumerate(a):
        centroid = cdist((query @ topics)[None], means)[0]
        rows[row], distances[row] = kernels.nearest(
            query, b, costs, order, centroid, n_found, slack
        )
    return rows, distances


def topic_distances(model: TopicVec) -> Floats:
    """Give Euclidean distances (K, K) between the topic vectors; the null topic is at 0.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> topic_distances(model).shape
    (3, 3)
    """
    return np.asarray(cdist(_topics(model), _topics(model)))


def _topics(model: TopicVec) -> Floats:
    return model.fitted_.topics.astype(float)


def _nearest_topics(costs: Floats) -> Rows:
    return np.argsort(costs, axis=1, kind="stable")


def _mixtures(
    costs: Floats, first: ArrayLike, second: ArrayLike | None, keep: int | None
) -> tuple[Floats, Floats]:
    """Check mixtures; give their largest topics, of sum 1."""
    if keep is not None:
        check_whole("keep", keep, 1)
    a, b = (checked_mixtures(table) for table in tables(first, second))
    if a.shape[1] != len(costs):
        raise DataError(
            f"expected mixtures of the model's {len(costs)} topics; found {a.shape[1]} columns: "
            "use what transform of the same model returns"
        )
    return _largest(a, keep), _largest(b, keep)


def _largest(table: Floats, keep: int | None) -> Floats:
    if keep is not None and keep < table.shape[1]:
        left_out = np.argsort(-table, axis=1, kind="stable")[:, keep:]
        table = table.copy()
        np.put_along_axis(table, left_out, 0.0, axis=1)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _entropic(mixture: Floats, others: Floats, costs: Floats, strength: float) -> Floats:
    """Give the work (B,) of Sinkhorn's plans from a mixture (K,) to others (B, K), all at once."""
    own = mixture > 0
    source, target, between = mixture[own, None], others.T, costs[own]
    longest = float(costs.max())
    if longest == 0:
        return np.zeros(len(others))
    spread = np.exp(-between / (strength * longest))
    right = np.ones(target.shape)
    for iteration in range(_MOST_ITERATIONS):
        left = source / (spread @ right)
        right = target / (spread.T @ left)
        if iteration % _LOOKED_AT == 0:
            wrong = np.abs(left * (spread @ right) - source).sum(axis=0)
            if wrong.max(initial=0.0) < _CLOSE:
                break
    return _work_of_plan(source, target, between, spread, left, right)


def _work_of_plan(
    source: Floats, target: Floats, between: Floats, spread: Floats, left: Floats, right: Floats
) -> Floats:
    """Give the work (B,) of plans left · spread · right that move what they should.

    Rows and columns that move too much are scaled down, and what is then missing is moved from
    everywhere to everywhere in proportion: a plan that is allowed, so never less than the least.
    """
    left = left * np.minimum(1, source / (left * (spread @ right)))
    reached = right * (spread.T @ left)
    right = right * np.minimum(1, np.divide(target, reached, where=reached > 0, out=reached.copy()))
    missing = np.maximum(source - left * (spread @ right), 0)
    lacking = np.maximum(target - right * (spread.T @ left), 0)
    total = np.maximum(missing.sum(axis=0), np.finfo(float).tiny)
    rest = (missing * (between @ lacking)).sum(axis=0) / total
    return np.asarray((left * ((spread * between) @ right)).sum(axis=0) + rest)

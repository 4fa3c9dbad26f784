"""Core words: weighted low-rank positive-semidefinite approximation.

    min_V  Σ_ij d_i² d_j² w̄_ij (ḡ_ij − v_i·v_j)²

by the iteration X ← the best rank-N PSD approximation of S = A0 + (1 − w̄)∘X, from X = G/2,
where A0 = sym(W∘G), w̄ = sym(W). The paper has d = 1; any other d costs nothing, as the best
approximation of S under weights d_i² d_j² comes from the eigenpairs of D S D. Off the support of
the counts S is a constant plus a multiple of X, so S is either a dense float32 matrix that is
refilled in place, or, where that does not fit, sparse plus low rank and never formed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.association import Association
from topicvec.embed.cooccurrence import Progress
from topicvec.embed.eigen import Eigenpairs, exact_eigenpairs, top_eigenpairs
from topicvec.embed.rows import Matrix, Rows
from topicvec.embed.surrogate import DenseSurrogate, SparseSurrogate, Surrogate, sampled
from topicvec.engine import Engine
from topicvec.errors import DataError

__all__ = ["Factorization", "factorize", "weighted_residual"]

N_EXTRA = 60  # vectors iterated on beyond those kept


@dataclass(frozen=True, eq=False)
class Factorization:
    """Vectors of the core words, V with V Vᵀ ≈ G.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n, n_dims)
        D⁻¹Q √λ, columns in decreasing order of λ.
    eigenvalues : ndarray of float64, shape (n_dims,)
    residual_norms : ndarray of float64, shape (n_dims,)
        ‖DSD q − λ q‖ in the last iteration.
    residual : float
        Root of the mean of (ḡ − v·v)² under the weights w̄.
    n_products : float
        Products of S with a block of n_dims vectors, and refills of S, which cost as much.
    """

    vectors: Matrix
    eigenvalues: NDArray[np.float64]
    residual_norms: NDArray[np.float64]
    residual: float
    n_products: float


def factorize(
    association: Association,
    n_dims: int,
    engine: Engine,
    *,
    n_iter: int = 4,
    tolerance: float = 0.02,
    memory_budget: int = 1 << 32,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Factorization:
    """Find V, n × n_dims, whose inner products fit the association under its weights.

    Parameters
    ----------
    association : Association
        Of n words.
    n_dims : int
        Fewer come back where fewer eigenvalues are positive.
    engine : Engine
        Of threads.
    n_iter : int
        T, iterations of the outer loop; iteration t keeps n_dims + T − t dimensions.
    tolerance : float
        Relative accuracy of the last iteration's eigenpairs, in the root mean square; those
        before need less.
    memory_budget : int
        Bytes for a dense S; beyond it S stays sparse plus low rank.
    rng : numpy.random.Generator, optional
        For the start of the solver.
    progress : callable, optional
        Called as ``progress("core words", t, n_iter)``.

    Returns
    -------
    Factorization

    Examples
    --------
    >>> from topicvec.engine import LocalEngine
    >>> G = np.array([[0, 1.0], [1.0, 0]], np.float32).ravel()
    >>> w = np.array([[0, 1.0], [1.0, 0]], np.float32).ravel()
    >>> support = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    >>> association = Association(*support, w * G, w, G, 0.0, -3.9, np.ones(2, np.float32))
    >>> V = factorize(association, 1, LocalEngine(1), n_iter=20).vectors
    >>> bool(abs(V[0, 0] * V[1, 0] - 1) < 0.01)
    True
    """
    n = association.n
    rows, rng = Rows(n, engine), rng or np.random.default_rng(0)
    S = _surrogate(association, rows, memory_budget, small=_is_small(n, n_dims))
    basis, n_products = None, 0.0
    for t in range(1, n_iter + 1):
        rank = min(n_dims + n_iter - t, n)
        accuracy = tolerance if t == n_iter else max(tolerance, 0.05)
        pairs = _solve(S, rank, rows, rng, basis, accuracy)
        V = _vectors(pairs, rank, association.importance)
        basis = pairs.vectors
        n_products += pairs.n_products + (0 if t == n_iter else 1)
        if t < n_iter:
            S.update(V)
        if progress:
            progress("core words", t, n_iter)
    kept = V.shape[1]
    return Factorization(
        vectors=V,
        eigenvalues=pairs.values[:kept],
        residual_norms=pairs.residuals[:kept],
        residual=weighted_residual(association, V, rows),
        n_products=n_products,
    )


def _is_small(n: int, n_dims: int) -> bool:
    return n <= max(600, 4 * (n_dims + N_EXTRA))


def _surrogate(
    association: Association, rows: Rows, memory_budget: int, *, small: bool
) -> Surrogate:
    if small or 4 * association.n**2 <= memory_budget:
        return DenseSurrogate(association, rows)
    return SparseSurrogate(association, rows)


def _solve(
    S: Surrogate,
    rank: int,
    rows: Rows,
    rng: np.random.Generator,
    basis: Matrix | None,
    tolerance: float,
) -> Eigenpairs:
    if isinstance(S, DenseSurrogate) and _is_small(rows.n, rank):
        d = S.association.importance
        return exact_eigenpairs(S.matrix * d * d[:, None], rank, rows)
    degree = 10 if basis is None else 3  # a warm start needs little
    return top_eigenpairs(
        S.product, rank, rows, rng,
        start=basis, n_extra=N_EXTRA, degree=degree, tolerance=tolerance,
    )  # fmt: skip


def _vectors(pairs: Eigenpairs, rank: int, d: NDArray[np.float32]) -> Matrix:
    """V = D⁻¹Q √λ over the positive ones of the first eigenvalues, signs fixed."""
    kept = int(np.count_nonzero(pairs.values[:rank] > 0))
    if not kept:
        raise DataError("no eigenvalue is positive: the counts say nothing; give more text")
    Q = pairs.vectors[:, :kept]
    signs = np.sign(Q[np.abs(Q).argmax(axis=0), np.arange(kept)])
    V = Q * (signs * np.sqrt(pairs.values[:kept])) / d[:, None]
    return np.ascontiguousarray(V, np.float32)


def weighted_residual(association: Association, V: Matrix, rows: Rows) -> float:
    """Root of the mean of (ḡ − v_i·v_j)² under all weights, unseen pairs included.

    Parameters
    ----------
    association : Association
        Of n words.
    V : ndarray of float32, shape (n, n_dims)
    rows : Rows

    Returns
    -------
    float
    """
    a, d2 = association, association.importance.astype(np.float64) ** 2
    x = sampled(a, V, rows)
    seen, mass, unseen, missing = rows.sum(lambda block: _seen_errors(a, x, d2, block))
    if a.unseen_weight > 0:
        # Over all pairs Σ d_i²d_j²(g−x)² = g²(Σd²)² − 2g‖Vᵀd²‖² + ‖VᵀD²V‖², less the support.
        w0, g0, U = a.unseen_weight, a.unseen_target, a.importance[:, None] * V
        sums = rows.sum(lambda block: d2[block] @ V[block].astype(np.float64))
        everywhere = g0**2 * np.sum(d2) ** 2 - 2 * g0 * np.sum(sums**2)
        everywhere += np.sum(rows.gram(U, U) ** 2)
        seen += w0 * max(everywhere - unseen, 0.0)
        mass += w0 * (np.sum(d2) ** 2 - missing)
    return float(np.sqrt(seen / max(mass, 1e-300)))


def _seen_errors(
    a: Association, x: NDArray[np.float32], d2: NDArray[np.float64], block: slice
) -> NDArray[np.float64]:
    """Sums over the support in some rows, under all weights and under the importance alone."""
    part = slice(a.indptr[block.start], a.indptr[block.stop])
    both = np.repeat(d2[block], np.diff(a.indptr[block.start : block.stop + 1]))
    both *= d2[a.indices[part]]
    products, w = x[part].astype(np.float64), a.weights[part].astype(np.float64)
    error = np.divide(a.weighted[part], w, out=products.copy(), where=w > 0) - products
    unseen = np.sum(both * (a.unseen_target - products) ** 2)
    return np.array([np.sum(both * w * error**2), np.sum(both * w), unseen, np.sum(both)])

"""Core words: weighted low-rank positive-semidefinite approximation.

    min_V  Σ_ij d_i² d_j² w̄_ij (ḡ_ij − v_i·v_j)²

by the iteration X ← the best rank-N PSD approximation of S = A0 + (1 − w̄)∘X, from X = G/2,
where A0 = sym(W∘G), w̄ = sym(W). The paper has d = 1; any other d costs nothing, as the best
approximation of S under weights d_i² d_j² comes from the eigenpairs of D S D. Off the support of
the counts S is a constant plus a multiple of X, so S is either a dense float32 matrix that is
refilled in place, or, where that does not fit, sparse plus low rank and never formed. Either is
known by its products, in the coordinates U = DV of the importance d: with D S D. It starts as
S₁ = sym(W∘G + (1−W)∘G/2) = (A0 + sym(G))/2.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topicvec.embed import kernels
from topicvec.embed.association import Association
from topicvec.embed.cooccurrence import Progress
from topicvec.embed.eigen import Eigenpairs, Floats, Matrix, Rows, exact_eigenpairs, top_eigenpairs
from topicvec.engine import Engine
from topicvec.errors import DataError

__all__ = ["DenseSurrogate", "Factorization", "SparseSurrogate", "factorize", "weighted_residual"]

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


def _start_constant(a: Association) -> float:
    return (a.unseen_weight + 1.0) * a.unseen_target / 2


class DenseSurrogate:
    """S as one dense float32 matrix, refilled in place.

    Parameters
    ----------
    association : Association
        Of n words.
    rows : Rows
    """

    def __init__(self, association: Association, rows: Rows) -> None:
        self.association, self.rows = association, rows
        n, constant = rows.n, _start_constant(association)

        def start(a: Association) -> Matrix:
            S = np.full((a.n, n), constant, np.float32)
            kernels.start_rows(S, a.indptr, a.indices, a.weighted, a.target)
            return S

        self.matrix = rows.fill(np.empty((n, n), np.float32), start, association)
        self.held: list[Matrix] = []

    def update(self, V: Matrix) -> None:
        """Set S to A0 + (1 − w̄)∘V Vᵀ."""
        transposed = np.ascontiguousarray(V.T)
        self.held = []  # the old blocks leave before new ones come

        def refill(a: Association, v: Matrix) -> Matrix:
            S = v @ transposed
            unseen = np.array([a.unseen_weight, a.unseen_target], np.float32)
            kernels.refill_rows(S, a.indptr, a.indices, a.weighted, a.weights, unseen)
            return np.asarray(S)

        self.rows.fill(self.matrix, refill, self.association, V)

    def product(self, Y: Matrix) -> Matrix:
        """D S D Y, shape (n, m)."""
        d, far = self.association.importance[:, None], _is_wide(Y)
        if far and not self.held:
            self.held = self.rows.hold(self.matrix)
        DY, S = d * Y, self.held if far else self.matrix
        return self.rows.fill(np.empty_like(Y), lambda s, d: (s @ DY) * d, S, d, far=far)


def _is_wide(Y: Matrix) -> bool:
    """Say whether a product is worth the way: with one column it is done before that is sent."""
    return bool(Y.shape[1] > 1)


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows of what a sparse S is made of."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    x: NDArray[np.float32]  # of the sparse matrix, on the support
    V: Matrix
    d: Matrix


class SparseSurrogate:
    """S as c·11ᵀ + (1 − w0) V Vᵀ + a sparse matrix on the support; never formed.

    Parameters
    ----------
    association : Association
        Of n words.
    rows : Rows
    """

    def __init__(self, association: Association, rows: Rows) -> None:
        self.association, self.rows = association, rows
        self.constant = _start_constant(association)
        half, constant = np.float32(2), np.float32(self.constant)
        self._take(
            rows.map(lambda a: (a.weighted + a.target) / half - constant, association),
            np.zeros((rows.n, 0), np.float32),
        )

    def update(self, V: Matrix) -> None:
        """Set S to A0 + (1 − w̄)∘V Vᵀ."""
        a = self.association
        self.constant = a.unseen_weight * a.unseen_target
        unseen_weight, constant = np.float32(a.unseen_weight), np.float32(self.constant)

        def refill(a: Association, v: Matrix) -> NDArray[np.float32]:
            x = kernels.sampled_products(v, V, a.indptr, a.indices)
            x *= unseen_weight - a.weights
            x += a.weighted
            x -= constant
            return x

        self._take(self.rows.map(refill, a, V), V)

    def _take(self, sparse: Iterable[NDArray[np.float32]], V: Matrix) -> None:
        """Take the sparse matrix, a piece for each block of rows, and V."""
        d, self.V = self.association.importance[:, None], V
        parts = zip(*map(self.rows.cut, (self.association, list(sparse), V, d)), strict=True)
        self.blocks = [_Block(a.indptr, a.indices, x, v, own) for a, x, v, own in parts]
        self.held: list[_Block] = []

    def product(self, Y: Matrix) -> Matrix:
        """D S D Y, shape (n, m)."""
        a, V, rows = self.association, self.V, self.rows
        d = a.importance[:, None]
        DY = d * Y
        sums = rows.sum(lambda y: y.sum(axis=0, dtype=np.float64), DY)
        everywhere = (self.constant * sums).astype(np.float32)
        inner = (rows.gram(V, DY) * (1.0 - a.unseen_weight)).astype(np.float32)

        def one(block: _Block) -> Matrix:
            out = block.V @ inner
            out += everywhere
            kernels.multiply_rows(block.indptr, block.indices, block.x, DY, out)
            out *= block.d
            return np.asarray(out)

        far = _is_wide(Y)
        if far and not self.held:
            self.held = rows.hold(self.blocks)
        return rows.fill(np.empty_like(Y), one, self.held if far else self.blocks, far=far)


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
        How work is spread; products with blocks of vectors go to its workers.
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
    dense = _is_small(n, n_dims) or 4 * n**2 <= memory_budget
    S = DenseSurrogate(association, rows) if dense else SparseSurrogate(association, rows)
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


def _solve(
    S: DenseSurrogate | SparseSurrogate,
    rank: int,
    rows: Rows,
    rng: np.random.Generator,
    basis: Matrix | None,
    tolerance: float,
) -> Eigenpairs:
    if isinstance(S, DenseSurrogate) and _is_small(rows.n, rank):
        d = S.association.importance
        return exact_eigenpairs(S.matrix * d * d[:, None], rank)
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
    errors = rows.sum(lambda a, v, own: _seen_errors(a, v, V, own, d2), a, V, d2)
    seen, mass, unseen, missing = errors
    if a.unseen_weight > 0:
        # Over all pairs Σ d_i²d_j²(g−x)² = g²(Σd²)² − 2g‖Vᵀd²‖² + ‖VᵀD²V‖², less the support.
        w0, g0, U = a.unseen_weight, a.unseen_target, a.importance[:, None] * V
        sums = rows.weigh(d2, V)
        everywhere = g0**2 * np.sum(d2) ** 2 - 2 * g0 * np.sum(sums**2)
        everywhere += np.sum(rows.gram(U, U) ** 2)
        seen += w0 * max(everywhere - unseen, 0.0)
        mass += w0 * (np.sum(d2) ** 2 - missing)
    return float(np.sqrt(seen / max(mass, 1e-300)))


def _seen_errors(a: Association, V_rows: Matrix, V: Matrix, own: Floats, d2: Floats) -> Floats:
    """Sums over the support in some rows, under all weights and under the importance alone."""
    both = np.repeat(own, np.diff(a.indptr))
    both *= d2[a.indices]
    products = kernels.sampled_products(V_rows, V, a.indptr, a.indices).astype(np.float64)
    w = a.weights.astype(np.float64)
    error = np.divide(a.weighted, w, out=products.copy(), where=w > 0) - products
    unseen = np.sum(both * (a.unseen_target - products) ** 2)
    return np.array([np.sum(both * w * error**2), np.sum(both * w), unseen, np.sum(both)])

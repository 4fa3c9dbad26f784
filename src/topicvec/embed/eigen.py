"""The largest eigenpairs of a symmetric matrix given only by its products, all in float32.

Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and Chelikowsky 2006): a polynomial that
is small on the unwanted part of the spectrum and grows fast above it is applied to a block of
vectors, which is made orthonormal and rotated to Ritz vectors; rounds repeat until residuals are
small. Nearly all work is matrix products with a tall block. A warm start from a similar matrix
saves most rounds.

Every product is cut into fixed blocks of rows, summed in order, with BLAS on one thread: results
are the same bits for any number of workers.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from topicvec.engine import Engine, hold, near, one_blas_thread
from topicvec.errors import DataError

__all__ = ["Eigenpairs", "Floats", "Matrix", "Rows", "exact_eigenpairs", "top_eigenpairs"]

log = logging.getLogger(__name__)

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]
Product = Callable[[Matrix], Matrix]
Result = TypeVar("Result")

BLOCK = 1024  # rows of a task


class Rows:
    """Maps over fixed blocks of the rows of tall matrices.

    What is mapped gets the block's rows of each matrix and returns its piece, so that a task
    needs no more than these, wherever it runs. Work stays near unless it is said to be worth the
    way: most of it is small next to the matrices that it takes.

    Parameters
    ----------
    n : int
        Number of rows.
    engine : Engine
        How work is spread.

    Examples
    --------
    >>> from topicvec.engine import LocalEngine
    >>> rows = Rows(3, LocalEngine(1))
    >>> rows.gram(np.ones((3, 1), np.float32), np.ones((3, 2), np.float32))
    array([[3., 3.]])
    """

    def __init__(self, n: int, engine: Engine) -> None:
        self.n, self.engine = n, engine
        self.blocks = [slice(begin, min(begin + BLOCK, n)) for begin in range(0, n, BLOCK)]

    def cut(self, whole: Any) -> list[Any]:
        """Cut a matrix into blocks; a list is cut already."""
        return whole if isinstance(whole, list) else [whole[block] for block in self.blocks]

    def hold(self, whole: Any) -> list[Any]:
        """Cut a matrix into blocks and bring them to where work that is far is done."""
        return list(hold(self.engine, self.cut(whole)))

    def map(
        self, function: Callable[..., Result], *tall: Any, far: bool = False
    ) -> Iterator[Result]:
        """Call the function on the rows of each block; if far, they may be held there."""
        engine = self.engine if far else near(self.engine)
        blocks = list(zip(*map(self.cut, tall), strict=True))
        return engine.map(lambda pieces: function(*pieces), blocks)

    def fill(
        self, out: Matrix, function: Callable[..., Matrix], *tall: Any, far: bool = False
    ) -> Matrix:
        """Put the function's results, block by block as they come, into a matrix."""
        for block, piece in zip(self.blocks, self.map(function, *tall, far=far), strict=True):
            out[block] = piece
        return out

    def sum(self, function: Callable[..., Floats], *tall: Any) -> Floats:
        """Add up the function's results over blocks, in order."""
        total: Floats | float = 0.0
        for part in self.map(function, *tall):
            total = total + part
        return np.asarray(total)

    def gram(self, A: Matrix, B: Matrix) -> Floats:
        """AᵀB in float64."""
        if A is B:
            return self.sum(_square, A)
        return self.sum(lambda a, b: a.astype(np.float64).T @ b.astype(np.float64), A, B)

    def weigh(self, weights: Floats, A: Matrix) -> Floats:
        """The sum of A's rows, each times its weight, in float64."""
        return self.sum(lambda w, a: w @ a.astype(np.float64), weights, A)

    def rotate(self, A: Matrix, U: Floats) -> Matrix:
        """AU in float32."""
        U32, out = np.ascontiguousarray(U, np.float32), np.empty((self.n, U.shape[1]), np.float32)
        return self.fill(out, lambda a: a @ U32, A)

    def take_away(self, Y: Matrix, A: Matrix, U: Matrix) -> Matrix:
        """Y − AU, in place of Y."""
        return self.fill(Y, lambda y, a: y - a @ U, Y, A)


def _square(A: Matrix) -> Floats:
    A64 = A.astype(np.float64)
    return np.asarray(A64.T @ A64)


class _Spectrum(NamedTuple):
    """What Lanczos shows: far negative vectors to take out, a bound for the rest, a density."""

    vectors: Matrix
    values: Floats
    low: float
    nodes: Floats  # in decreasing order
    n_above: Floats  # about how many eigenvalues lie above each node

    def quantile(self, m: int) -> float:
        """About the m-th largest eigenvalue."""
        return float(np.interp(m, self.n_above, self.nodes))

    def without(self, Y: Matrix, SY: Matrix, rows: Rows) -> Matrix:
        """(S − BΘBᵀ) Y, from S Y."""
        if not self.values.size:
            return SY
        B = self.vectors
        inner = (self.values[:, None] * rows.gram(B, Y)).astype(np.float32)
        return rows.take_away(SY, B, inner)


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Largest eigenvalues and what is known of their accuracy.

    Attributes
    ----------
    values : ndarray of float64, shape (k,)
        In decreasing order.
    vectors : ndarray of float32, shape (n, k)
        Orthonormal columns.
    residuals : ndarray of float64, shape (k,)
        Norms of S q − λ q.
    n_products : float
        Products of S with a block of k vectors that were needed; the products with single
        vectors that look at the spectrum (40, or 12 from a warm start) come on top.
    """

    values: Floats
    vectors: Matrix
    residuals: Floats
    n_products: float


def exact_eigenpairs(S: Matrix, k: int) -> Eigenpairs:
    """The k largest eigenpairs of a small dense matrix, by LAPACK in float64."""
    n = S.shape[0]
    S64 = S.astype(np.float64)
    low = max(n - k, 0)
    with one_blas_thread():
        values, vectors = eigh(S64, subset_by_index=(low, n - 1))
        values, vectors = values[::-1], vectors[:, ::-1]
        residuals = np.linalg.norm(S64 @ vectors - vectors * values, axis=0)
    return Eigenpairs(values, vectors.astype(np.float32), residuals, n / max(k, 1))


def top_eigenpairs(
    product: Product,
    k: int,
    rows: Rows,
    rng: np.random.Generator,
    *,
    start: Matrix | None = None,
    n_extra: int = 60,
    degree: int = 10,
    tolerance: float = 0.01,
    max_rounds: int = 6,
) -> Eigenpairs:
    """Find the k largest (algebraic) eigenpairs of a symmetric matrix, and some beyond.

    Parameters
    ----------
    product : callable
        From a float32 block Y of shape (n, m) to S Y.
    k : int
        How many are wanted; k + n_extra are iterated on and returned.
    rows : Rows
    rng : numpy.random.Generator
        For the start, and for the bound of the spectrum.
    start : ndarray of float32, shape (n, m), optional
        Orthonormal columns to start from.
    n_extra : int
        Vectors beyond those wanted; they speed up the last of these.
    degree : int
        Degree of the filter: products in a round.
    tolerance : float
        Stop when residual norms of the wanted positive pairs are below this times their
        eigenvalues, in the root mean square.
    max_rounds : int
        Stop after so many rounds in any case; a warning is logged if that is too early.

    Returns
    -------
    Eigenpairs
        The k + n_extra pairs; only the first k are meant to be accurate.

    Examples
    --------
    >>> from topicvec.engine import LocalEngine
    >>> S = np.diag(np.arange(200.0, dtype=np.float32))
    >>> rng = np.random.default_rng(0)
    >>> rows = Rows(200, LocalEngine(1))
    >>> pairs = top_eigenpairs(lambda Y: S @ Y, 2, rows, rng, n_extra=8, tolerance=1e-4)
    >>> pairs.values[:2].round(2).tolist()
    [199.0, 198.0]
    """
    m = k + n_extra
    Q, n_products = _begin(product, m, rows, rng, start)
    # Ritz values of a warm start are good enough to cut at; of a cold one they are far too low,
    # and a cut there would let hundreds of unwanted vectors grow: the density knows better.
    spectrum = _look(product, rows, rng, n_steps=40 if start is None else 12)
    estimate = spectrum.quantile(round(1.15 * m)) if start is None else -np.inf
    for n_rounds in range(max_rounds + 1):
        values, Q, SQ = _rayleigh_ritz(product, Q, rows)
        n_products += 1
        residuals = _residual_norms(values, Q, SQ, rows)
        accuracy = _relative(values[:k], residuals[:k])
        if n_rounds == max_rounds or (n_rounds > 0 and accuracy <= tolerance):
            break
        cut = max(values[-1], min(estimate, values[k - 1] if n_rounds else np.inf))
        Q = _orthonormal(_filtered(product, values, Q, SQ, spectrum, cut, degree, rows), rows)
        n_products += degree - 1
    if not accuracy <= tolerance:
        log.warning(
            "the eigenpairs have a relative residual of %.2g after %d rounds, not %.2g: the last "
            "dimensions are less accurate; lower n_dims, or raise n_iter, max_rounds or tolerance",
            accuracy, max_rounds, tolerance,
        )  # fmt: skip
    return Eigenpairs(values, Q, residuals, n_products * m / k)


def _begin(
    product: Product, m: int, rows: Rows, rng: np.random.Generator, start: Matrix | None
) -> tuple[Matrix, int]:
    n_given = 0 if start is None else min(start.shape[1], m)
    Q = rng.standard_normal((rows.n, m), dtype=np.float32)
    if start is not None:
        Q[:, :n_given] = start[:, :n_given] * np.float32(rows.n**0.5)
        return _orthonormal(Q, rows), 0
    for _ in range(2):  # power steps: from noise to the vectors of large |λ|
        Q = _orthonormal(product(_orthonormal(Q, rows)), rows)
    return Q, 2


def _relative(values: Floats, residuals: Floats) -> float:
    """Residuals of the positive pairs over their eigenvalues, in the root mean square."""
    wanted = values > 0
    if not wanted.any():
        return 0.0
    return float(np.sqrt(np.mean((residuals[wanted] / values[wanted]) ** 2)))


def _rayleigh_ritz(product: Product, Q: Matrix, rows: Rows) -> tuple[Floats, Matrix, Matrix]:
    SQ = product(Q)
    H = rows.gram(Q, SQ)
    with one_blas_thread():
        values, U = np.linalg.eigh((H + H.T) / 2)
    U = np.ascontiguousarray(U[:, ::-1])
    return values[::-1].copy(), rows.rotate(Q, U), rows.rotate(SQ, U)


def _residual_norms(values: Floats, Q: Matrix, SQ: Matrix, rows: Rows) -> Floats:
    scale = values.astype(np.float32)

    def squares(q: Matrix, sq: Matrix) -> Floats:
        R = sq - q * scale
        return np.asarray(np.einsum("ij,ij->j", R, R, dtype=np.float64))

    return np.asarray(np.sqrt(rows.sum(squares, Q, SQ)), np.float64)


def _filtered(
    product: Product,
    values: Floats,
    Q: Matrix,
    SQ: Matrix,
    spectrum: _Spectrum,
    cut: float,
    degree: int,
    rows: Rows,
) -> Matrix:
    """Apply the scaled Chebyshev polynomial of a degree to Ritz vectors Q.

    Rounding brings a trace of the leading vectors into every column, and the filter makes them
    grow fastest: at λ₁ = 20 λ_k and degree 8 by 10¹² more, far beyond float32. So after each
    product a column is cleared of Ritz vectors with much larger values than its own.
    """
    low = min(spectrum.low, cut - 1e-3 * abs(values[0]))
    center, half = (cut + low) / 2, max((cut - low) / 2, 1e-30)  # 0 where S is
    sigma = first = half / (max(values[0], cut + 1e-3 * half) - center)
    clear = _Clearing(np.maximum(values - low, half), Q, rows)
    start = spectrum.without(Q, SQ, rows)
    old, new = Q, _combine(start, Q, Q, sigma / half, -center * sigma / half, 0.0, rows)
    for _ in range(degree - 1):
        following = 1.0 / (2.0 / first - sigma)
        a = 2.0 * following / half
        step = spectrum.without(new, product(new), rows)
        Y = _combine(step, new, old, a, -a * center, -sigma * following, rows)
        clear(Y)
        old, new, sigma = new, Y, following
    return new


def _combine(A: Matrix, B: Matrix, C: Matrix, a: float, b: float, c: float, rows: Rows) -> Matrix:
    """The sum aA + bB + cC."""
    a32, b32, c32 = np.float32(a), np.float32(b), np.float32(c)

    def combined(A: Matrix, B: Matrix, C: Matrix) -> Matrix:
        out = A * a32
        out += b32 * B
        if c32:
            out += c32 * C
        return np.asarray(out)

    return rows.fill(np.empty_like(A), combined, A, B, C)


class _Clearing:
    """Takes out of each column the Ritz vectors whose values are more than twice its own."""

    def __init__(self, height: Floats, Q: Matrix, rows: Rows) -> None:
        larger = height[:, None] > 2.0 * height[None, :]
        n_leading = int(np.count_nonzero(larger.any(axis=1)))
        self.rows, self.larger = rows, larger[:n_leading]
        self.leading = np.ascontiguousarray(Q[:, :n_leading])

    def __call__(self, Y: Matrix) -> None:
        L = self.leading
        if not L.shape[1]:
            return
        traces = self.rows.sum(lambda a, y: (a.T @ y).astype(np.float64), L, Y)
        traces32 = np.where(self.larger, traces, 0.0).astype(np.float32)
        self.rows.take_away(Y, L, traces32)


def _orthonormal(Y: Matrix, rows: Rows) -> Matrix:
    """Orthonormal columns with the span of Y: Cholesky QR twice, the Gram matrix in float64."""
    for _ in range(2):
        G = rows.gram(Y, Y)
        scale = 1.0 / np.sqrt(np.maximum(np.diag(G), 1e-60))
        with one_blas_thread():
            inverse = _inverse_factor(G * scale[:, None] * scale)
        Y = rows.rotate(Y, scale[:, None] * inverse)
    return Y


def _inverse_factor(G: Floats) -> Floats:
    """R⁻¹ of G = RᵀR."""
    if not np.isfinite(G).all():  # no shift would ever help
        raise DataError(
            "the matrix to factorize has values that are not finite, or overflows float32: "
            "check the counts, and smoothing, frequency_power and subsample"
        )
    eye = np.eye(len(G))
    shift = 0.0
    while True:
        try:
            L = np.linalg.cholesky(G + shift * eye)
        except np.linalg.LinAlgError:  # columns depend on each other to rounding
            shift = max(10.0 * shift, 1e-12)
        else:
            return np.ascontiguousarray(solve_triangular(L, eye, lower=True).T)


def _look(product: Product, rows: Rows, rng: np.random.Generator, n_steps: int = 40) -> _Spectrum:
    """Find the far negative eigenpairs and the density of the others by Lanczos steps.

    A log ratio is a constant ln κ plus a sparse part, and that constant alone is an eigenvalue
    near n ln κ, far below all others; with it inside, the filter's interval would be twenty
    times too long. Such outliers are the first to converge in Lanczos.
    """
    n_steps = min(n_steps, rows.n)
    K = np.zeros((rows.n, n_steps + 1))
    K[:, 0] = rng.standard_normal(rows.n)
    K[:, 0] /= np.sqrt(np.sum(K[:, 0] ** 2))
    T = np.zeros((n_steps, n_steps))
    beta = 0.0
    for j in range(n_steps):
        r = product(K[:, j : j + 1].astype(np.float32))[:, 0].astype(np.float64)
        T[j, j] = np.sum(K[:, j] * r)
        with one_blas_thread():
            for _ in range(2):  # twice is enough (Kahan)
                r = r - K[:, : j + 1] @ (K[:, : j + 1].T @ r)
        beta = float(np.sqrt(np.sum(r * r)))
        if j + 1 == n_steps or beta <= 1e-6 * abs(T[0, 0]):  # both are 0 where S is
            break
        T[j, j + 1] = T[j + 1, j] = beta
        K[:, j + 1] = r / beta
    return _outliers(T[: j + 1, : j + 1], K[:, : j + 1], beta, rows)


def _outliers(T: Floats, K: Floats, beta: float, rows: Rows) -> _Spectrum:
    with one_blas_thread():
        values, U = np.linalg.eigh(T)
    errors = beta * np.abs(U[-1])
    known = (values < 0) & (errors < 1e-2 * np.abs(values))
    n_known = int(np.argmin(known)) if not known.all() else len(known)
    rest = slice(n_known, None)
    low = float(np.min(values[rest] - errors[rest], initial=0.0))
    with one_blas_thread():
        vectors = (K @ U[:, :n_known]).astype(np.float32)
    # Squared first components are the weights of a quadrature for the spectral density.
    shares = rows.n * U[0, ::-1] ** 2
    n_above = np.cumsum(shares) - shares / 2
    return _Spectrum(vectors, values[:n_known], low, values[::-1], n_above)

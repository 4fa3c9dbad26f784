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
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import eigh, solve_triangular

from topicvec.embed.rows import Floats, Matrix, Product, Rows
from topicvec.embed.spectrum import Spectrum, look
from topicvec.errors import DataError

__all__ = ["Eigenpairs", "exact_eigenpairs", "top_eigenpairs"]

log = logging.getLogger(__name__)


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


def exact_eigenpairs(S: Matrix, k: int, rows: Rows) -> Eigenpairs:
    """The k largest eigenpairs of a small dense matrix, by LAPACK in float64."""
    n = S.shape[0]
    S64 = S.astype(np.float64)
    low = max(n - k, 0)
    values, vectors = rows.once(lambda: eigh(S64, subset_by_index=(low, n - 1)))
    values, vectors = values[::-1], vectors[:, ::-1]
    residuals = rows.once(lambda: np.linalg.norm(S64 @ vectors - vectors * values, axis=0))
    return Eigenpairs(values, _signed(vectors).astype(np.float32), residuals, n / max(k, 1))


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
    spectrum = look(product, rows, rng, n_steps=40 if start is None else 12)
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
    product: Product,
    m: int,
    rows: Rows,
    rng: np.random.Generator,
    start: Matrix | None,
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
    values, U = rows.once(lambda: np.linalg.eigh((H + H.T) / 2))
    U = np.ascontiguousarray(U[:, ::-1])
    return values[::-1].copy(), rows.rotate(Q, U), rows.rotate(SQ, U)


def _residual_norms(values: Floats, Q: Matrix, SQ: Matrix, rows: Rows) -> Floats:
    scale = values.astype(np.float32)

    def squares(block: slice) -> Floats:
        R = SQ[block] - Q[block] * scale
        return np.asarray(np.einsum("ij,ij->j", R, R, dtype=np.float64))

    return np.asarray(np.sqrt(rows.sum(squares)), np.float64)


def _filtered(
    product: Product,
    values: Floats,
    Q: Matrix,
    SQ: Matrix,
    spectrum: Spectrum,
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
    out = np.empty_like(A)

    def one(block: slice) -> None:
        np.multiply(A[block], a32, out=out[block])
        out[block] += b32 * B[block]
        if c32:
            out[block] += c32 * C[block]

    rows.each(one)
    return out


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
        traces = self.rows.sum(lambda block: (L[block].T @ Y[block]).astype(np.float64))
        traces32 = np.where(self.larger, traces, 0.0).astype(np.float32)

        def one(block: slice) -> None:
            Y[block] -= L[block] @ traces32

        self.rows.each(one)


def _orthonormal(Y: Matrix, rows: Rows) -> Matrix:
    """Orthonormal columns with the span of Y: Cholesky QR twice, the Gram matrix in float64."""
    for _ in range(2):
        G = rows.gram(Y, Y)
        scale = 1.0 / np.sqrt(np.maximum(np.diag(G), 1e-60))
        inverse = rows.once(partial(_inverse_factor, G * scale[:, None] * scale))
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


def _signed(vectors: Floats) -> Floats:
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.asarray(vectors * np.where(signs == 0, 1.0, signs))

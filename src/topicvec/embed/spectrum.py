"""A first look at the spectrum of a large symmetric matrix, by Lanczos."""

from functools import partial
from typing import NamedTuple

import numpy as np

from topicvec.embed.rows import Floats, Matrix, Product, Rows

__all__ = ["Spectrum", "look"]


class Spectrum(NamedTuple):
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

        def one(block: slice) -> None:
            SY[block] -= B[block] @ inner

        rows.each(one)
        return SY


def look(product: Product, rows: Rows, rng: np.random.Generator, n_steps: int = 40) -> Spectrum:
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
        r = rows.once(partial(_orthogonal, r, K[:, : j + 1]))
        beta = float(np.sqrt(np.sum(r * r)))
        if j + 1 == n_steps or beta <= 1e-6 * abs(T[0, 0]):  # both are 0 where S is
            break
        T[j, j + 1] = T[j + 1, j] = beta
        K[:, j + 1] = r / beta
    return _outliers(T[: j + 1, : j + 1], K[:, : j + 1], beta, rows)


def _orthogonal(r: Floats, K: Floats) -> Floats:
    for _ in range(2):  # twice is enough (Kahan)
        r = r - K @ (K.T @ r)
    return r


def _outliers(T: Floats, K: Floats, beta: float, rows: Rows) -> Spectrum:
    values, U = rows.once(lambda: np.linalg.eigh(T))
    errors = beta * np.abs(U[-1])
    known = (values < 0) & (errors < 1e-2 * np.abs(values))
    n_known = int(np.argmin(known)) if not known.all() else len(known)
    rest = slice(n_known, None)
    low = float(np.min(values[rest] - errors[rest], initial=0.0))
    vectors = rows.once(lambda: (K @ U[:, :n_known]).astype(np.float32))
    # Squared first components are the weights of a quadrature for the spectral density.
    shares = rows.n * U[0, ::-1] ** 2
    n_above = np.cumsum(shares) - shares / 2
    return Spectrum(vectors, values[:n_known], low, values[::-1], n_above)

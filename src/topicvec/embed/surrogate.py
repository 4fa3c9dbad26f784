"""The matrix S = A0 + (1 − w̄)∘X of one iteration, dense or sparse plus low rank."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from topicvec.embed import kernels
from topicvec.embed.association import Association
from topicvec.embed.rows import Matrix, Rows

__all__ = ["DenseSurrogate", "SparseSurrogate", "Surrogate", "sampled"]


class Surrogate(Protocol):
    """The matrix S of one iteration, known by its products.

    All is in the coordinates U = DV of the importance d: the product is with D S D.
    It starts as S₁ = sym(W∘G + (1−W)∘G/2) = (A0 + sym(G))/2.
    """

    def product(self, Y: Matrix) -> Matrix:
        """D S D Y, shape (n, m)."""
        ...

    def update(self, V: Matrix) -> None:
        """Set S to A0 + (1 − w̄)∘V Vᵀ."""
        ...


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
        self.matrix: Matrix = np.empty((rows.n, rows.n), np.float32)
        a, S, constant = association, self.matrix, np.float32(_start_constant(association))

        def fill(block: slice) -> None:
            S[block] = constant
            kernels.start_rows(
                S, block.start, block.stop, a.indptr, a.indices, a.weighted, a.target
            )

        rows.each(fill)

    def update(self, V: Matrix) -> None:
        """Set S to A0 + (1 − w̄)∘V Vᵀ."""
        a, S = self.association, self.matrix
        unseen = np.array([a.unseen_weight, a.unseen_target], np.float32)
        transposed = np.ascontiguousarray(V.T)

        def fill(block: slice) -> None:
            np.matmul(V[block], transposed, out=S[block])
            kernels.refill_rows(
                S, block.start, block.stop, a.indptr, a.indices, a.weighted, a.weights, unseen
            )

        self.rows.each(fill)

    def product(self, Y: Matrix) -> Matrix:
        """D S D Y, shape (n, m)."""
        d = self.association.importance[:, None]
        Y, out = d * Y, np.empty_like(Y)

        def one(block: slice) -> None:
            np.matmul(self.matrix[block], Y, out=out[block])
            out[block] *= d[block]

        self.rows.each(one)
        return out


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
        a = association
        self.sparse = (a.weighted + a.target) / np.float32(2) - np.float32(self.constant)
        self.V: Matrix = np.zeros((rows.n, 0), np.float32)

    def update(self, V: Matrix) -> None:
        """Set S to A0 + (1 − w̄)∘V Vᵀ."""
        a = self.association
        self.constant = a.unseen_weight * a.unseen_target
        self.V = V
        x = sampled(a, V, self.rows)
        x *= np.float32(a.unseen_weight) - a.weights
        x += a.weighted
        x -= np.float32(self.constant)
        self.sparse = x

    def product(self, Y: Matrix) -> Matrix:
        """D S D Y, shape (n, m)."""
        a, V, rows = self.association, self.V, self.rows
        d = a.importance[:, None]
        Y = d * Y
        sums = rows.sum(lambda block: Y[block].sum(axis=0, dtype=np.float64))
        everywhere = (self.constant * sums).astype(np.float32)
        inner = rows.gram(V, Y) * (1.0 - a.unseen_weight)
        inner32 = inner.astype(np.float32)
        out = np.empty_like(Y)

        def one(block: slice) -> None:
            np.matmul(V[block], inner32, out=out[block])
            out[block] += everywhere
            kernels.multiply_rows(block.start, block.stop, a.indptr, a.indices, self.sparse, Y, out)
            out[block] *= d[block]

        rows.each(one)
        return out


def sampled(association: Association, V: Matrix, rows: Rows) -> NDArray[np.float32]:
    """Inner products of rows of V on the support, shape (nnz,)."""
    a = association
    out = np.empty(a.indices.size, np.float32)

    def one(block: slice) -> None:
        kernels.sampled_products(V, block.start, block.stop, a.indptr, a.indices, out)

    rows.each(one)
    return out

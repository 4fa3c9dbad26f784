"""Tall matrices cut into fixed blocks of rows: the same bits for any number of workers."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine

__all__ = ["Floats", "Matrix", "Product", "Rows"]

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]
Product = Callable[[Matrix], Matrix]
Result = TypeVar("Result")

BLOCK = 1024  # rows of a task


class Rows:
    """Maps over fixed blocks of rows, and runs small dense algebra on one thread.

    Parameters
    ----------
    n : int
        Number of rows.
    engine : Engine
        Of threads.
    """

    def __init__(self, n: int, engine: Engine) -> None:
        self.n, self.engine = n, engine
        self.blocks = [slice(begin, min(begin + BLOCK, n)) for begin in range(0, n, BLOCK)]

    def each(self, function: Callable[[slice], Any]) -> None:
        """Call the function on each block."""
        for _ in self.engine.map(function, self.blocks):
            pass

    def sum(self, function: Callable[[slice], Floats]) -> Floats:
        """Add up the function's results over blocks, in order."""
        total: Floats | float = 0.0
        for part in self.engine.map(function, self.blocks):
            total = total + part
        return np.asarray(total)

    def once(self, function: Callable[[], Result]) -> Result:
        """Call a function as one task, so that its BLAS calls run on one thread."""
        return next(iter(self.engine.map(lambda _: function(), [None])))

    def gram(self, A: Matrix, B: Matrix) -> Floats:
        """AᵀB in float64."""
        if A is B:
            return self.sum(lambda rows: _square(A[rows].astype(np.float64)))
        return self.sum(lambda rows: A[rows].astype(np.float64).T @ B[rows].astype(np.float64))

    def rotate(self, A: Matrix, U: Floats) -> Matrix:
        """AU in float32."""
        U32 = np.ascontiguousarray(U, np.float32)
        out = np.empty((self.n, U.shape[1]), np.float32)

        def one(rows: slice) -> None:
            np.matmul(A[rows], U32, out=out[rows])

        self.each(one)
        return out


def _square(A: Floats) -> Floats:
    return np.asarray(A.T @ A)

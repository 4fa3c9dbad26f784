"""Eight-bit word vectors: one step for all numbers, so that the file stays small."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.engine import LocalEngine
from topicvec.errors import DataError

__all__ = ["Quantized", "dequantize", "quantize"]

LARGEST_CODE = 127
BLOCK_ROWS = 4096


class Quantized(NamedTuple):
    """A matrix as small whole numbers times a step.

    Attributes
    ----------
    codes : ndarray of shape (n_words, n_dims), int8
        Between −127 and 127.
    step : ndarray of shape (), float32
        One step for all numbers.

    Examples
    --------
    >>> Quantized(np.array([[2]], np.int8), np.float32(0.5)).codes.dtype
    dtype('int8')
    """

    codes: NDArray[np.int8]
    step: NDArray[np.float32]


def quantize(matrix: ArrayLike, *, step: float | None = None) -> Quantized:
    """Round a matrix to whole multiples of a step.

    Parameters
    ----------
    matrix : array of shape (n_words, n_dims)
    step : float, optional
        Distance of two levels. Without it, the smallest that needs no code beyond ±127. A
        larger step makes a file that compresses better.

    Returns
    -------
    Quantized

    Notes
    -----
    Each number is off by at most half a step. At a given total error, one common step costs the
    fewest bits after compression for vectors in their eigenbasis: a dimension of low variance
    uses few levels, which deflate well. Steps per dimension would spend eight bits on all.

    Examples
    --------
    >>> codes, step = quantize([[1.0, -0.5], [0.26, 0.0]], step=0.25)
    >>> codes
    array([[ 4, -2],
           [ 1,  0]], dtype=int8)
    """
    values = np.asarray(matrix, dtype=np.float32)
    smallest = _smallest_step(values)
    chosen = smallest if step is None else _checked_step(step, float(smallest))
    codes = np.rint(values / chosen)
    return Quantized(codes.astype(np.int8), chosen)


def dequantize(quantized: Quantized) -> NDArray[np.float32]:
    """Return the matrix that the codes stand for.

    Parameters
    ----------
    quantized : Quantized

    Returns
    -------
    ndarray of shape (n_words, n_dims), float32

    Examples
    --------
    >>> dequantize(quantize([[1.0, -0.5], [0.26, 0.0]], step=0.25))
    array([[ 1.  , -0.5 ],
           [ 0.25,  0.  ]], dtype=float32)
    """
    codes, step = quantized
    matrix = np.empty(codes.shape, dtype=np.float32)

    def fill(start: int) -> None:
        block = np.ascontiguousarray(codes[start : start + BLOCK_ROWS])
        np.multiply(block, step, out=matrix[start : start + BLOCK_ROWS], dtype=np.float32)

    # Blocks are small enough for the cache; most of the time goes into fresh memory.
    for _ in LocalEngine().map(fill, range(0, len(codes), BLOCK_ROWS)):
        pass
    return matrix


def _smallest_step(values: NDArray[np.float32]) -> NDArray[np.float32]:
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise DataError(
            "quantize expects a non-empty matrix (words × dimensions) of finite numbers, "
            f"found shape {values.shape}"
        )
    largest = np.abs(values).max()
    tiny = np.finfo(np.float32).tiny  # a matrix of zeros has a step too
    return np.asarray(np.maximum(largest / LARGEST_CODE, tiny), dtype=np.float32)


def _checked_step(step: float, smallest: float) -> NDArray[np.float32]:
    if not (np.isfinite(step) and step >= smallest * (1 - 1e-6)):
        raise DataError(
            f"step must be at least {smallest:.6g}, the largest number of the matrix / "
            f"{LARGEST_CODE}, found {step!r}: give a larger step, or none"
        )
    return np.array(step, dtype=np.float32)

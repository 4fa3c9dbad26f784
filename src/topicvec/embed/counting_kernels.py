"""The compiled inner loops of counting; each has a readable NumPy twin in the tests.

Everything here runs without the interpreter lock on the rows it is given, so that an engine can
spread it over threads.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "add_rows",
    "assemble_rows",
    "compiled",
    "count_pairs",
    "merge_runs",
    "reduce_sorted",
    "united_sizes",
]

Array = NDArray[Any]
Triple = tuple[Array, Array, Array]  # indptr, indices, data
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function to machine code that runs without the interpreter lock."""
    return cast(Function, numba.njit(nogil=True, cache=True)(function))


@compiled
def count_pairs(
    stream: Array,
    position: int,
    rows: tuple[int, int],
    weights: Array,
    widths: Array,
    offsets: Array,
    dense: Array,
    keys: Array,
    n_keys: int,
    n_words: int,
    shift: int,
) -> tuple[int, int]:
    """Count the pairs (word, word to its right) of one range of rows in a stream of ids.

    Pairs of frequent words (column below the row's width) go straight to ``dense``; others go
    to ``keys`` as ``(row * n_words + column) << shift | distance``. Returns where it stopped,
    the end or a full buffer, and how many keys there are. Negative ids are gaps; the stream
    ends with at least a window of them.
    """
    first, last = rows
    window = weights.size - 1
    base = offsets[first]
    end = stream.size - window
    while position < end and n_keys + window <= keys.size:
        row = stream[position]
        if first <= row < last:
            width = widths[row]
            start = offsets[row] - base
            for distance in range(1, window + 1):
                column = stream[position + distance]
                if column < 0:
                    continue
                if column < width:
                    dense[start + column] += weights[distance]
                else:
                    pair = np.uint64(row) * np.uint64(n_words) + np.uint64(column)
                    keys[n_keys] = (pair << np.uint64(shift)) | np.uint64(distance)
                    n_keys += 1
        position += 1
    return position, n_keys


@compiled
def reduce_sorted(keys: Array, weights: Array, shift: int) -> tuple[Array, Array]:
    """Add up the weights of equal pairs in sorted keys as `count_pairs` writes them."""
    pairs = np.empty(keys.size, np.uint64)
    sums = np.empty(keys.size, np.int64)
    mask = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    n = 0
    for key in keys:
        pair = key >> np.uint64(shift)
        weight = weights[np.int64(key & mask)]
        if n and pairs[n - 1] == pair:
            sums[n - 1] += weight
        else:
            pairs[n] = pair
            sums[n] = weight
            n += 1
    return pairs[:n].copy(), sums[:n].copy()


@compiled
def merge_runs(keys_a: Array, sums_a: Array, keys_b: Array, sums_b: Array) -> tuple[Array, Array]:
    """Merge two sorted runs of pairs and their sums, adding where both have a pair."""
    keys = np.empty(keys_a.size + keys_b.size, np.uint64)
    sums = np.empty(keys.size, np.int64)
    a = b = n = 0
    while a < keys_a.size or b < keys_b.size:
        take_a = b == keys_b.size or (a < keys_a.size and keys_a[a] <= keys_b[b])
        take_b = a == keys_a.size or (b < keys_b.size and keys_b[b] <= keys_a[a])
        total = np.int64(0)
        if take_a:
            keys[n] = keys_a[a]
            total += sums_a[a]
        if take_b:
            keys[n] = keys_b[b]
            total += sums_b[b]
        sums[n] = total
        n += 1
        a += take_a
        b += take_b
    return keys[:n].copy(), sums[:n].copy()


@compiled
def assemble_rows(
    rows: tuple[int, int],
    widths: Array,
    offsets: Array,
    dense: Array,
    keys: Array,
    sums: Array,
    n_words: int,
) -> tuple[Array, Array, Array]:
    """Make the CSR rows of one range from its dense part and its merged run."""
    first, last = rows
    n = int(np.count_nonzero(dense)) + keys.size
    lengths = np.zeros(last - first, np.int64)
    indices = np.empty(n, np.int32)
    data = np.empty(n, np.int64)
    n = k = 0
    for row in range(first, last):
        begin = n
        start = offsets[row] - offsets[first]
        for column in range(widths[row]):
            if dense[start + column]:
                indices[n] = column
                data[n] = dense[start + column]
                n += 1
        bound = np.uint64(row + 1) * np.uint64(n_words)
        while k < keys.size and keys[k] < bound:
            indices[n] = np.int64(keys[k]) - row * n_words
            data[n] = sums[k]
            n += 1
            k += 1
        lengths[row - first] = n - begin
    return lengths, indices, data


@compiled
def united_sizes(begin: int, end: int, a: Triple, b: Triple) -> Array:
    """Count the columns that are set in each row of one CSR matrix or of another."""
    sizes = np.zeros(end - begin, np.int64)
    for i in range(begin, end):
        k, k_end = a[0][i], a[0][i + 1]
        m, m_end = b[0][i], b[0][i + 1]
        while k < k_end and m < m_end:
            column_a, column_b = a[1][k], b[1][m]
            k += column_a <= column_b
            m += column_b <= column_a
            sizes[i - begin] += 1
        sizes[i - begin] += k_end - k + m_end - m
    return sizes


@compiled
def add_rows(begin: int, end: int, a: Triple, b: Triple, out: Triple) -> None:
    """Add rows of two CSR matrices with sorted columns into the rows of a third."""
    far = np.int32(2147483647)
    for i in range(begin, end):
        k, k_end = a[0][i], a[0][i + 1]
        m, m_end = b[0][i], b[0][i + 1]
        for n in range(out[0][i], out[0][i + 1]):
            column_a = a[1][k] if k < k_end else far
            column_b = b[1][m] if m < m_end else far
            total = np.int64(0)
            if column_a <= column_b:
                total += a[2][k]
                k += 1
            if column_b <= column_a:
                total += b[2][m]
                m += 1
            out[1][n] = min(column_a, column_b)
            out[2][n] = total

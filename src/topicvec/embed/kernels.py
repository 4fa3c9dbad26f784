"""The compiled inner loops of stage 1; each has a readable NumPy twin in the tests.

Everything here runs without the interpreter lock on the rows it is given, so that an engine can
spread it over threads. First come the loops of counting, then those that make vectors; letters
are those of `factorize` and `association`.
"""

import ctypes
import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

__all__ = [
    "add_neighbours", "add_rows", "assemble_rows", "compiled", "count_near", "count_pairs",
    "gather_rows", "join_counts", "merge_runs", "multiply_rows", "project", "reduce_sorted",
    "refill_rows", "sampled_products", "solve_gram", "start_rows", "take_away", "unite_rows",
]  # fmt: skip

Array = NDArray[Any]
Triple = tuple[Array, Array, Array]  # indptr, indices, data of a CSR matrix
Function = TypeVar("Function", bound=Callable[..., Any])

FAR = np.int32(2147483647)  # beyond all columns


def compiled(function: Function) -> Function:
    """Compile a function to machine code that runs without the interpreter lock."""
    return cast(Function, numba.njit(nogil=True, cache=True)(function))


def _compiled_fast(function: Function) -> Function:
    # Sums in any order, so that they fill vector registers; the same order on each call.
    return cast(Function, numba.njit(nogil=True, cache=True, fastmath=True)(function))


def _compiled_here(function: Function) -> Function:
    # Addresses of BLAS routines hold for one process only, so this is never cached on disk.
    return cast(Function, numba.njit(nogil=True)(function))


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
def add_rows(a: Triple, b: Triple) -> Triple:
    """Add two CSR matrices with sorted columns; gives lengths of rows, columns and sums."""
    lengths = np.zeros(a[0].size - 1, np.int64)
    columns = np.empty(a[1].size + b[1].size, np.int32)
    sums = np.empty(columns.size, np.int64)
    n = 0
    for i in range(lengths.size):
        begin = n
        k, k_end = a[0][i], a[0][i + 1]
        m, m_end = b[0][i], b[0][i + 1]
        while k < k_end or m < m_end:
            column_a = a[1][k] if k < k_end else FAR
            column_b = b[1][m] if m < m_end else FAR
            total = np.int64(0)
            if column_a <= column_b:
                total += a[2][k]
                k += 1
            if column_b <= column_a:
                total += b[2][m]
                m += 1
            columns[n] = min(column_a, column_b)
            sums[n] = total
            n += 1
        lengths[i] = n - begin
    return lengths, columns[:n], sums[:n]


@compiled
def _log_ratio(x: float, row_total: float, unigram: float, smoothing: float, floor: float) -> float:
    """G_ij = ln((1−κ) x_ij / (x_i· u_j) + κ), not below the floor."""
    ratio = (1.0 - smoothing) * x / (row_total * unigram) + smoothing
    return max(math.log(ratio), floor)


@compiled
def _pair(
    x: float, i: Any, j: Any, keep: Array, totals: Array, u: Array, numbers: Array
) -> tuple[float, float]:
    """Weight and log ratio of one directed pair from its count (zero: never seen)."""
    scale, cut, smoothing, floor, w0, g0 = numbers
    if x == 0.0:
        return w0, g0
    x = x * scale * keep[i] * keep[j]
    weight = w0 + (1.0 - w0) * min(math.sqrt(x / cut), 1.0)
    return weight, _log_ratio(x, totals[i], u[j], smoothing, floor)


@compiled
def unite_rows(
    first: int, counts: Triple, counts_t: Triple, margins: tuple[Array, Array, Array, Array]
) -> tuple[Array, Array, Array, Array, Array]:
    """Make rows of sym(W∘G), sym(W) and sym(G) on the united support of x and its transpose.

    The rows are those from `first` on. The diagonal is always there, with weight 0. Gives
    lengths of rows, columns and the three.
    """
    indptr, indices, data = counts
    indptr_t, indices_t, data_t = counts_t
    keep, totals, u, numbers = margins
    lengths = np.zeros(indptr.size - 1, np.int64)
    most = indices.size + indices_t.size + lengths.size
    columns = np.empty(most, np.int32)
    A0, w, g = np.empty(most, np.float32), np.empty(most, np.float32), np.empty(most, np.float32)
    k = 0
    for row in range(lengths.size):
        i, begin = first + row, k
        a, a_end = indptr[row], indptr[row + 1]
        b, b_end = indptr_t[row], indptr_t[row + 1]
        diagonal = np.int32(i)
        while a < a_end or b < b_end or diagonal != FAR:
            column_a = indices[a] if a < a_end else FAR
            column_b = indices_t[b] if b < b_end else FAR
            j = min(column_a, column_b, diagonal)
            x = y = 0.0
            if column_a == j:
                x = float(data[a])
                a += 1
            if column_b == j:
                y = float(data_t[b])
                b += 1
            w_ij, g_ij = _pair(x, i, j, keep, totals, u, numbers)
            w_ji, g_ji = _pair(y, j, i, keep, totals, u, numbers)
            if i == j:
                w_ij = w_ji = 0.0
                diagonal = FAR
            columns[k] = j
            A0[k] = 0.5 * (w_ij * g_ij + w_ji * g_ji)
            w[k] = 0.5 * (w_ij + w_ji)
            g[k] = 0.5 * (g_ij + g_ji)
            k += 1
        lengths[row] = k - begin
    return lengths, columns[:k], A0[:k], w[:k], g[:k]


@compiled
def start_rows(S: Array, indptr: Array, indices: Array, A0: Array, g: Array) -> None:
    """Set rows of S₁ = (A0 + sym(G))/2 on the support."""
    for i in range(len(S)):
        for k in range(indptr[i], indptr[i + 1]):
            S[i, indices[k]] = np.float32(0.5) * (A0[k] + g[k])


@compiled
def refill_rows(
    S: Array, indptr: Array, indices: Array, A0: Array, w: Array, unseen: Array
) -> None:
    """Turn rows of X into rows of S = A0 + (1−w)∘X, with w0 g0 + (1−w0) x off the support."""
    w0, g0 = unseen
    one = np.float32(1.0)
    for i in range(len(S)):
        first, last = indptr[i], indptr[i + 1]
        row = S[i]
        kept = np.empty(last - first, np.float32)
        for k in range(first, last):
            kept[k - first] = A0[k] + (one - w[k]) * row[indices[k]]
        if w0 > 0:
            for j in range(row.size):
                row[j] = w0 * g0 + (one - w0) * row[j]
        for k in range(first, last):
            row[indices[k]] = kept[k - first]


@_compiled_fast
def _dot(a: Array, b: Array) -> np.float32:
    total = np.float32(0.0)
    for c in range(a.size):
        total += a[c] * b[c]
    return total


@compiled
def sampled_products(rows: Array, V: Array, indptr: Array, indices: Array) -> Array:
    """Inner products of rows with those of V on the support: a sampled dense-dense product."""
    out = np.empty(indices.size, np.float32)
    for i in range(len(rows)):
        for k in range(indptr[i], indptr[i + 1]):
            out[k] = _dot(rows[i], V[indices[k]])
    return out


@compiled
def multiply_rows(indptr: Array, indices: Array, data: Array, Y: Array, out: Array) -> None:
    """Add rows of a sparse matrix times a dense one, a strip of columns at a time."""
    strip = 64  # a strip of Y then stays in the cache
    for first in range(0, Y.shape[1], strip):
        last = min(first + strip, Y.shape[1])
        for i in range(len(out)):
            for k in range(indptr[i], indptr[i + 1]):
                x = data[k]
                row = indices[k]
                for c in range(first, last):
                    out[i, c] += x * Y[row, c]


@compiled
def join_counts(
    i: int,
    row: int,
    counts: Triple,
    counts_t: Triple,
    margins: tuple[Array, Array, Array, Array],
    position: Array,
    seen: Array,
    weight: Array,
    target: Array,
) -> int:
    """Collect what word i saw of the core, in both directions; returns how many words.

    Its counts are in a row of the matrices, which may have the rows of some words only. Fills the
    core positions, the weights above those of unseen pairs, and the weighted targets above theirs.
    """
    indptr, indices, data = counts
    indptr_t, indices_t, data_t = counts_t
    keep, totals, u, numbers = margins
    w0, g0 = numbers[4], numbers[5]
    a, a_end = indptr[row], indptr[row + 1]
    b, b_end = indptr_t[row], indptr_t[row + 1]
    n = 0
    while a < a_end or b < b_end:
        column_a = indices[a] if a < a_end else FAR
        column_b = indices_t[b] if b < b_end else FAR
        j = min(column_a, column_b)
        x = y = 0.0
        if column_a == j:
            x = float(data[a])
            a += 1
        if column_b == j:
            y = float(data_t[b])
            b += 1
        if position[j] < 0 or i == j:
            continue
        w_ij, g_ij = _pair(x, i, j, keep, totals, u, numbers)
        w_ji, g_ji = _pair(y, j, i, keep, totals, u, numbers)
        seen[n] = position[j]
        weight[n] = w_ij + w_ji - 2.0 * w0
        target[n] = w_ij * g_ij + w_ji * g_ji - 2.0 * w0 * g0
        n += 1
    return n


_pointer = ctypes.c_void_p
_ssyrk = ctypes.CFUNCTYPE(None, *[_pointer] * 10)(
    get_cython_function_address("scipy.linalg.cython_blas", "ssyrk")
)
_spotrf = ctypes.CFUNCTYPE(None, *[_pointer] * 5)(
    get_cython_function_address("scipy.linalg.cython_lapack", "spotrf")
)
_spotrs = ctypes.CFUNCTYPE(None, *[_pointer] * 8)(
    get_cython_function_address("scipy.linalg.cython_lapack", "spotrs")
)


@_compiled_here
def solve_gram(B: Array, transpose: bool, rhs: Array) -> int:
    """Solve (I + BᵀB) y = rhs, or (I + BBᵀ) y = rhs, in place; returns LAPACK's info.

    Row-major B is Fortran's transpose: its "N" product is ours with the transpose first.
    """
    n_rows, n_columns = B.shape
    size = n_columns if transpose else n_rows
    A = np.empty((size, size), np.float32)
    upper = np.array([85], np.uint8)  # "U"
    form = np.array([78 if transpose else 84], np.uint8)  # "N" or "T"
    n = np.array([size], np.int32)
    k = np.array([n_rows if transpose else n_columns], np.int32)
    stride = np.array([n_columns], np.int32)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    info, single = np.zeros(1, np.int32), np.ones(1, np.int32)
    _ssyrk(
        upper.ctypes, form.ctypes, n.ctypes, k.ctypes, one.ctypes,
        B.ctypes, stride.ctypes, zero.ctypes, A.ctypes, n.ctypes,
    )  # fmt: skip
    for i in range(size):
        A[i, i] += np.float32(1.0)
    _spotrf(upper.ctypes, n.ctypes, A.ctypes, n.ctypes, info.ctypes)
    if info[0] == 0:
        _spotrs(
            upper.ctypes, n.ctypes, single.ctypes, A.ctypes, n.ctypes,
            rhs.ctypes, n.ctypes, info.ctypes,
        )  # fmt: skip
    return int(info[0])


@compiled
def gather_rows(
    seen: Array, d: Array, q: Array, importance: Array, Z: Array, B: Array, y: Array
) -> None:
    """Fill B = √D Z_S and add Z_Sᵀ q to y, for what one word saw of the core."""
    for s in range(seen.size):
        z = Z[seen[s]]
        root, factor = np.float32(math.sqrt(d[s])), np.float32(q[s] * importance[seen[s]])
        for c in range(z.size):
            B[s, c] = root * z[c]
            y[c] += factor * z[c]


@compiled
def project(B: Array, y: Array) -> Array:
    """B y."""
    e = np.empty(len(B), np.float32)
    for s in range(len(B)):
        e[s] = _dot(B[s], y)
    return e


@compiled
def take_away(B: Array, e: Array, y: Array) -> None:
    """Set y to y − Bᵀ e."""
    for s in range(len(B)):
        for c in range(y.size):
            y[c] -= e[s] * B[s, c]


@compiled
def count_near(
    ids: Array, ends: Array, first: int, n_words: int, window: int, table: Array, totals: Array
) -> None:
    """Add up how often words stand near others of a document.

    Rows of ``table`` and ``totals`` are the words from ``first`` on; a column of the table is
    another word, and totals are of all. Numbers that are no word keep their place.
    """
    start, last = 0, first + len(totals)
    for d in range(ends.size):
        end = ends[d]
        for i in range(start, end):
            a = ids[i]
            if a < first or a >= last:
                continue
            for j in range(max(start, i - window), min(end, i + window + 1)):
                b = ids[j]
                if b >= 0 and b < n_words and b != a:
                    totals[a - first] += 1
                    if b < table.shape[1]:
                        table[a - first, b] += 1
        start = end


@compiled
def add_neighbours(
    ids: Array, ends: Array, numbers: Array, rows: Array, shares: Array, weights: Array,
    matrix: Array, window: int, sums: Array, totals: Array, times: Array,
) -> None:  # fmt: skip
    """Add up the rows of the neighbours of words, each by its share, and their weights.

    Of each word ``numbers`` has its row in the sums, −1 for none, and ``rows`` its row in the
    matrix; ``times`` counts the places that have a neighbour with a row.
    """
    start = 0
    for d in range(ends.size):
        end = ends[d]
        for i in range(start, end):
            k = numbers[ids[i]]
            if k < 0:
                continue
            found = 0
            for j in range(max(start, i - window), min(end, i + window + 1)):
                r = rows[ids[j]]
                if j != i and r >= 0:
                    found = 1
                    totals[k] += weights[ids[j]]
                    for c in range(sums.shape[1]):
                        sums[k, c] += shares[ids[j]] * matrix[r, c]
            times[k] += found
        start = end

"""The compiled inner loops of stage 1; each has a readable NumPy twin in the tests.

Everything here runs without the interpreter lock on the rows it is given, so that an engine can
spread it over threads. Letters are those of `factorize` and `association`.
"""

import ctypes
import math
from typing import Any, cast

import numba
import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

from topicvec.embed.counting_kernels import Function, compiled

__all__ = [
    "gather_rows",
    "join_counts",
    "multiply_rows",
    "project",
    "refill_rows",
    "sampled_products",
    "solve_gram",
    "start_rows",
    "take_away",
    "unite_rows",
    "unite_sizes",
]

Array = NDArray[Any]
Triple = tuple[Array, Array, Array]


def _compiled_fast(function: Function) -> Function:
    # Sums in any order, so that they fill vector registers; the same order on each call.
    return cast(Function, numba.njit(nogil=True, cache=True, fastmath=True)(function))


def _compiled_here(function: Function) -> Function:
    # Addresses of BLAS routines hold for one process only, so this is never cached on disk.
    return cast(Function, numba.njit(nogil=True)(function))


@compiled
def unite_sizes(
    begin: int, end: int, indptr: Array, indices: Array, indptr_t: Array, indices_t: Array
) -> Array:
    """Count the columns in which row i of a matrix or of its transpose, or i itself, is set."""
    sizes = np.zeros(end - begin, np.int64)
    for i in range(begin, end):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = indptr_t[i], indptr_t[i + 1]
        diagonal = 1
        while a < a_end or b < b_end:
            column_a = indices[a] if a < a_end else np.int32(2147483647)
            column_b = indices_t[b] if b < b_end else np.int32(2147483647)
            column = min(column_a, column_b)
            diagonal &= column != i
            a += column_a == column
            b += column_b == column
            sizes[i - begin] += 1
        sizes[i - begin] += diagonal
    return sizes


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
    begin: int,
    end: int,
    counts: tuple[Array, Array, Array],
    counts_t: tuple[Array, Array, Array],
    margins: tuple[Array, Array, Array, Array],
    out_indptr: Array,
    out: tuple[Array, Array, Array, Array],
) -> None:
    """Fill rows of sym(W∘G), sym(W) and sym(G) on the united support of x and its transpose.

    The diagonal is always there, with weight 0.
    """
    indptr, indices, data = counts
    indptr_t, indices_t, data_t = counts_t
    keep, totals, u, numbers = margins
    columns, A0, w, g = out
    far = np.int32(2147483647)
    for i in range(begin, end):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = indptr_t[i], indptr_t[i + 1]
        diagonal = np.int32(i)
        for k in range(out_indptr[i], out_indptr[i + 1]):
            column_a = indices[a] if a < a_end else far
            column_b = indices_t[b] if b < b_end else far
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
                diagonal = far
            columns[k] = j
            A0[k] = 0.5 * (w_ij * g_ij + w_ji * g_ji)
            w[k] = 0.5 * (w_ij + w_ji)
            g[k] = 0.5 * (g_ij + g_ji)


@compiled
def start_rows(
    S: Array, begin: int, end: int, indptr: Array, indices: Array, A0: Array, g: Array
) -> None:
    """Set rows of S₁ = (A0 + sym(G))/2 on the support."""
    for i in range(begin, end):
        for k in range(indptr[i], indptr[i + 1]):
            S[i, indices[k]] = np.float32(0.5) * (A0[k] + g[k])


@compiled
def refill_rows(
    S: Array,
    begin: int,
    end: int,
    indptr: Array,
    indices: Array,
    A0: Array,
    w: Array,
    unseen: Array,
) -> None:
    """Turn rows of X into rows of S = A0 + (1−w)∘X, with w0 g0 + (1−w0) x off the support."""
    w0, g0 = unseen
    one = np.float32(1.0)
    for i in range(begin, end):
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
def sampled_products(
    V: Array, begin: int, end: int, indptr: Array, indices: Array, out: Array
) -> None:
    """Inner products v_i·v_j on the support: a sampled dense-dense product."""
    for i in range(begin, end):
        for k in range(indptr[i], indptr[i + 1]):
            out[k] = _dot(V[i], V[indices[k]])


@compiled
def multiply_rows(
    begin: int, end: int, indptr: Array, indices: Array, data: Array, Y: Array, out: Array
) -> None:
    """Add rows of a sparse matrix times a dense one, a strip of columns at a time."""
    strip = 64  # a strip of Y then stays in the cache
    for first in range(0, Y.shape[1], strip):
        last = min(first + strip, Y.shape[1])
        for i in range(begin, end):
            for k in range(indptr[i], indptr[i + 1]):
                x = data[k]
                row = indices[k]
                for c in range(first, last):
                    out[i, c] += x * Y[row, c]


@compiled
def join_counts(
    i: int,
    counts: tuple[Array, Array, Array],
    counts_t: tuple[Array, Array, Array],
    margins: tuple[Array, Array, Array, Array],
    position: Array,
    seen: Array,
    weight: Array,
    target: Array,
) -> int:
    """Collect what word i saw of the core, in both directions; returns how many words.

    Fills the core positions, the weights above those of unseen pairs, and the weighted
    targets above theirs.
    """
    indptr, indices, data = counts
    indptr_t, indices_t, data_t = counts_t
    keep, totals, u, numbers = margins
    w0, g0 = numbers[4], numbers[5]
    far = np.int32(2147483647)
    a, a_end = indptr[i], indptr[i + 1]
    b, b_end = indptr_t[i], indptr_t[i + 1]
    n = 0
    while a < a_end or b < b_end:
        column_a = indices[a] if a < a_end else far
        column_b = indices_t[b] if b < b_end else far
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

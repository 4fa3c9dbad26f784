"""The hot loops, compiled: the fast twins of `estep.e_step` and `estep.word_mass`.

They have the same signatures, which are explained there, and
`tests/model/core/test_kernels.py` says that each agrees with its twin.
"""

import math

import numpy as np
from numba import njit

__all__ = ["e_step", "word_mass"]

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums may be vectorised; NaN and inf stay
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of √½
_LOG_2 = math.log(2.0)
_CHUNK = 64  # a multiple of four; such short sums run in the table's precision, not in double


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _exp_digamma(x: float) -> float:
    """Compute exp(ψ(x)) for x > 0: six steps of the recurrence, then the series at x + 5.5."""
    y = x * (x + 5.0)
    a, b = y + 4.0, y + 6.0
    drop = (2.0 * x + 5.0) * (a * b + y * (a + b)) / (y * a * b)  # Σ_{i<6} 1/(x+i)
    z = x + 5.5
    z2 = 1.0 / (z * z)
    series = 1.0 + z2 * (1 / 24 - z2 * (37 / 5760 - z2 * (10313 / 2903040)))
    return z * series * math.exp(-drop)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _log(x: float) -> float:
    """Compute log x for normal x > 0, so that a loop over it can be vectorised.

    x = 2^e m with m between √½ and √2; log m = 2 artanh s with s = (m - 1) / (m + 1). Of 0,
    infinity and NaN it makes some number: callers keep them away or do not use it.
    """
    bits = np.float64(x).view(np.int64)
    e = (bits - _ROOT_HALF) >> 52
    m = np.int64(bits - (e << 52)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 2 / 13 + z * (2 / 15 + z * (2 / 17 + z * (2 / 19)))
    series = 2 / 5 + z * (2 / 7 + z * (2 / 9 + z * (2 / 11 + z * series)))
    return e * _LOG_2 + (2.0 * s + s * z * (2 / 3 + z * series))


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _log_gamma(x: float) -> float:
    """Compute log Γ(x) for x > 0: six steps of the recurrence, then Stirling's series."""
    y = x * (x + 5.0)
    z = x + 6.0
    z2 = 1.0 / (z * z)
    series = (1 / 12 - z2 * (1 / 360 - z2 * (1 / 1260 - z2 * (1 / 1680)))) / z
    stirling = (z - 0.5) * _log(z) - z + 0.5 * math.log(2 * math.pi) + series
    return stirling - _log(y * (y + 4.0) * (y + 6.0))


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _responsibilities(words, counts, table, weight, ratio, part, mass):  # type: ignore[no-untyped-def]
    """Fill ratio_j = n_j / Σ_k weight_k table_jk, and mass_k = Σ_j n_j π_jk.

    Four words at a time read ``weight`` and ``part`` once; after the last word it is taken again,
    with weight zero.
    """
    n_topics, last, none = table.shape[1], words.size - 1, part.dtype.type(0.0)
    mass[:] = 0.0
    for start in range(0, words.size, _CHUNK):
        part[:] = 0.0
        for j in range(start, min(start + _CHUNK, words.size), 4):
            j1, j2, j3 = min(j + 1, last), min(j + 2, last), min(j + 3, last)
            row, row1 = table[words[j]], table[words[j1]]
            row2, row3 = table[words[j2]], table[words[j3]]
            p, p1 = row[0] * weight[0], row1[0] * weight[0]
            p2, p3 = row2[0] * weight[0], row3[0] * weight[0]
            for k in range(1, n_topics):
                p += row[k] * weight[k]
                p1 += row1[k] * weight[k]
                p2 += row2[k] * weight[k]
                p3 += row3[k] * weight[k]
            q, q1, q2, q3 = counts[j] / p, counts[j1] / p1, counts[j2] / p2, counts[j3] / p3
            ratio[j], ratio[j1], ratio[j2], ratio[j3] = q, q1, q2, q3
            q1, q2 = q1 if j < last else none, q2 if j + 1 < last else none
            q3 = q3 if j + 2 < last else none
            for k in range(n_topics):
                part[k] += q * row[k] + q1 * row1[k] + q2 * row2[k] + q3 * row3[k]
        for k in range(n_topics):
            mass[k] += part[k] * weight[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _mixture_weight(theta, floor, weight):  # type: ignore[no-untyped-def]
    """Fill weight_k = exp(E[log φ_k]), zero for topics that are not allowed."""
    total = _exp_digamma(theta.sum())
    for k in range(theta.size):
        weight[k] = max(_exp_digamma(theta[k]) / total, floor) if theta[k] > 0.0 else 0.0


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _document_bound(counts, ratio, weight, mass, alpha, start):  # type: ignore[no-untyped-def]
    """Give the bound of a document at π and θ = α + mass, without the table's row maxima.

    ``start`` is Σ_k log Γ(α_k).
    """
    words, topics, length, prior = 0.0, 0.0, 0.0, 0.0
    for j in range(counts.size):
        words += counts[j] * _log(np.float64(counts[j]) / ratio[j])
        length += counts[j]
    for k in range(alpha.size):
        allowed = alpha[k] > 0.0
        prior += alpha[k]
        gain = _log_gamma(alpha[k] + mass[k]) - mass[k] * _log(weight[k])
        topics += gain if allowed else 0.0
    return words + topics - start + _log_gamma(prior) - _log_gamma(prior + length)


@njit(cache=True, nogil=True, error_model="numpy")
def e_step(  # type: ignore[no-untyped-def]
    indptr, words, counts, table, alpha, group, theta, tol, max_passes, floor,
    new_theta, weight, ratio, mass,
):  # fmt: skip
    """Find the mixtures of a shard of documents, see `topicvec.model.estep.e_step`."""
    n_topics = table.shape[1]
    part = np.empty(n_topics, table.dtype)
    found, current = np.empty(n_topics), np.empty(n_topics)
    starts = np.zeros(alpha.shape[0])
    for g in range(alpha.shape[0]):
        for k in range(n_topics):
            starts[g] += _log_gamma(alpha[g, k]) if alpha[g, k] > 0.0 else 0.0
    bound, passes = 0.0, 0
    for d in range(indptr.size - 1):
        cells = slice(indptr[d], indptr[d + 1])
        prior = alpha[group[d]]
        current[:] = theta[d]
        length = counts[cells].sum()
        for _ in range(max_passes):
            passes += 1
            _mixture_weight(current, floor, weight[d])
            _responsibilities(
                words[cells], counts[cells], table, weight[d], ratio[cells], part, found
            )
            change = 0.0
            for k in range(n_topics):
                change += abs(prior[k] + found[k] - current[k])
                current[k] = prior[k] + found[k]
            if change <= 2.0 * tol * length:
                break
        new_theta[d] = current
        bound += _document_bound(
            counts[cells], ratio[cells], weight[d], found, prior, starts[group[d]]
        )
        mass += found
    return bound, passes


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def word_mass(indptr, documents, ratio, weight, table):  # type: ignore[no-untyped-def]
    """Sum the responsibilities of words, see `topicvec.model.estep.word_mass`."""
    n_topics, none = table.shape[1], ratio.dtype.type(0.0)
    C = np.zeros(table.shape, table.dtype)
    part = np.empty(n_topics, table.dtype)
    for w in range(indptr.size - 1):
        last = indptr[w + 1] - 1
        for start in range(indptr[w], indptr[w + 1], _CHUNK):
            part[:] = 0.0
            for j in range(start, min(start + _CHUNK, indptr[w + 1]), 4):
                j1, j2, j3 = min(j + 1, last), min(j + 2, last), min(j + 3, last)
                row, row1 = weight[documents[j]], weight[documents[j1]]
                row2, row3 = weight[documents[j2]], weight[documents[j3]]
                q, q1 = ratio[j], ratio[j1] if j < last else none
                q2 = ratio[j2] if j + 1 < last else none
                q3 = ratio[j3] if j + 2 < last else none
                for k in range(n_topics):
                    part[k] += q * row[k] + q1 * row1[k] + q2 * row2[k] + q3 * row3[k]
            for k in range(n_topics):
                C[w, k] += part[k] * table[w, k]
    return C

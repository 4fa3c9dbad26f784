"""The hot loop, compiled: the fast twin of `estep.e_step`.

It has the same signature, which is explained there, and `tests/model/core/test_kernels.py` says
that they agree. The first pass of a document, over all topics, takes most of the time: the others
are over the few topics that it has (six of a hundred in a newsgroup's post, two in a sentence).
"""

import math

import numpy as np
from numba import njit

__all__ = ["add_rows", "e_step"]

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums may be vectorised; NaN and inf stay
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of √½
_LOG_2 = math.log(2.0)
_FEW = 8  # topics among which one that is kept makes it worth a copy
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
def _all_topics(  # type: ignore[no-untyped-def]
    first, end, words, counts, table, weight, part, ratio, mass
):
    """Fill ratio_j = n_j / Σ_k weight_k table_jk and mass_k = Σ_j n_j π_jk of all topics.

    Four words at a time read ``weight`` and ``part`` once; after the last word it is taken again,
    with weight zero.
    """
    n_topics, last, none = weight.size, end - 1, part.dtype.type(0.0)
    mass[:] = 0.0
    for start in range(first, end, _CHUNK):
        part[:] = 0.0
        for j in range(start, min(start + _CHUNK, end), 4):
            j1, j2, j3 = min(j + 1, last), min(j + 2, last), min(j + 3, last)
            a, a1, a2, a3 = words[j], words[j1], words[j2], words[j3]
            p, p1, p2, p3 = none, none, none, none
            for k in range(n_topics):
                p += table[a, k] * weight[k]
                p1 += table[a1, k] * weight[k]
                p2 += table[a2, k] * weight[k]
                p3 += table[a3, k] * weight[k]
            q, q1, q2, q3 = counts[j] / p, counts[j1] / p1, counts[j2] / p2, counts[j3] / p3
            ratio[j - first], ratio[j1 - first] = q, q1
            ratio[j2 - first], ratio[j3 - first] = q2, q3
            q1, q2 = q1 if j < last else none, q2 if j + 1 < last else none
            q3 = q3 if j + 2 < last else none
            for k in range(n_topics):
                part[k] += (
                    q * table[a, k] + q1 * table[a1, k] + q2 * table[a2, k] + q3 * table[a3, k]
                )
        for k in range(n_topics):
            mass[k] += part[k] * weight[k]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _kept_topics(first, counts, n_words, n_kept, rows, weight, ratio, mass):  # type: ignore[no-untyped-def]
    """Fill ratio_j = n_j / Σ_s weight_s rows_sj, and mass_s, of the topics that are kept."""
    none = rows.dtype.type(0.0)
    for j in range(n_words):
        ratio[j] = none
    for s in range(n_kept):
        w, place = weight[s], s * n_words
        for j in range(n_words):
            ratio[j] += w * rows[place + j]
    for j in range(n_words):
        ratio[j] = counts[first + j] / ratio[j]
    for s in range(n_kept):
        total, place = 0.0, s * n_words
        for start in range(0, n_words, _CHUNK):
            part = none
            for j in range(start, min(start + _CHUNK, n_words)):
                part += ratio[j] * rows[place + j]
            total += part
        mass[s] = total * weight[s]


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _bound_of_words(first, counts, n_words, ratio):  # type: ignore[no-untyped-def]
    """Give Σ_j n_j log(n_j / ratio_j)."""
    bound = 0.0
    for j in range(n_words):
        n = np.float64(counts[first + j])
        bound += n * _log(n / np.float64(ratio[j]))
    return bound


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _add_all(first, end, words, places, table, weight, ratio, C):  # type: ignore[no-untyped-def]
    """Add n_j π_jk of all topics to the rows of C."""
    for j in range(first, end):
        a, to, q = words[j], places[j], ratio[j - first]
        for k in range(weight.size):
            C[to, k] += q * weight[k] * table[a, k]


@njit(cache=True, nogil=True, error_model="numpy")
def _add_kept(first, end, places, kept, n_kept, rows, weight, ratio, C):  # type: ignore[no-untyped-def]
    """Add n_j π_js of the topics that are kept to the rows of C."""
    n_words = end - first
    for j in range(n_words):
        to = places[first + j]
        for s in range(n_kept):
            C[to, kept[s]] += ratio[j] * weight[s] * rows[s * n_words + j]


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(C, rows, part):  # type: ignore[no-untyped-def]
    """Add rows to some rows of C: ``C[rows] += part`` without copies, no row twice."""
    for i in range(rows.size):
        to = rows[i]
        for k in range(part.shape[1]):
            C[to, k] += part[i, k]


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(  # type: ignore[no-untyped-def]
    first, end, words, counts, table, prior, kept, n_kept, scale, floor, enough, max_passes,
    rows, current, weight, part, ratio, found, mass,
):  # fmt: skip
    """Pass over a document until its topics have settled; give the number of passes.

    If they are few, over their columns of the table, which are copied to ``rows``; else, without
    rows, over all topics, where the others have weight zero.
    """
    n_words = end - first if rows.size else 0
    for j in range(n_words):
        a = words[first + j]
        for s in range(n_kept):
            rows[s * n_words + j] = table[a, kept[s]]
    weight[:] = 0.0
    passes = 0
    for _ in range(max_passes):
        passes += 1
        for s in range(n_kept):
            at = s if rows.size else kept[s]
            weight[at] = max(_exp_digamma(current[s]) * scale, floor)
        if rows.size:
            _kept_topics(first, counts, n_words, n_kept, rows, weight, ratio, mass)
        else:
            _all_topics(first, end, words, counts, table, weight, part, ratio, found)
        change = 0.0
        for s in range(n_kept):
            mass[s] = mass[s] if rows.size else found[kept[s]]
            change += abs(prior[kept[s]] + mass[s] - current[s])
            current[s] = prior[kept[s]] + mass[s]
        if change <= enough:
            break
    return passes


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(  # type: ignore[no-untyped-def]
    first, end, words, counts, table, theta, prior, below, base, least, scale, floor, several,
    kept, current, weight, part, ratio, found,
):  # fmt: skip
    """Pass over all topics of a document; fill those that it has, and give their number."""
    for k in range(theta.size):
        weight[k] = max(base[k] * scale, floor) if base[k] > 0.0 else 0.0
    for k in range(theta.size):
        if abs(theta[k] - below[k]) > least:
            weight[k] = max(_exp_digamma(np.float64(theta[k])) * scale, floor)
    _all_topics(first, end, words, counts, table, weight, part, ratio, found)
    n_kept = 0
    for k in range(theta.size):
        if found[k] > least:
            kept[n_kept] = k
            current[n_kept] = prior[k] + found[k] if several else theta[k]
            n_kept += 1
    return n_kept


@njit(cache=True, nogil=True, error_model="numpy")
def _priors(alpha):  # type: ignore[no-untyped-def]
    """Give exp(ψ(α)), log Γ(α), both 0 where α is, and the sums of α, of each group."""
    base, gammas, totals = np.zeros(alpha.shape), np.zeros(alpha.shape), np.zeros(alpha.shape[0])
    for g in range(alpha.shape[0]):
        for k in range(alpha.shape[1]):
            totals[g] += alpha[g, k]
            if alpha[g, k] > 0.0:
                base[g, k], gammas[g, k] = _exp_digamma(alpha[g, k]), _log_gamma(alpha[g, k])
    return base, gammas, totals


@njit(cache=True, nogil=True)
def _longest(indptr):  # type: ignore[no-untyped-def]
    longest = 0
    for d in range(indptr.size - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    return longest


@njit(cache=True, nogil=True, error_model="numpy")
def e_step(  # type: ignore[no-untyped-def]
    indptr, words, counts, table, alpha, group, theta, tol, max_passes, floor, places,
    new_theta, C, mass,
):  # fmt: skip
    """Find the mixtures of a shard of documents, see `topicvec.model.estep.e_step`."""
    n_topics = table.shape[1]
    part, weight = np.empty(n_topics, table.dtype), np.empty(n_topics, table.dtype)
    found, current, m = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    kept = np.empty(n_topics, np.int64)
    room, ratio = np.empty(0, table.dtype), np.empty(_longest(indptr), table.dtype)
    below = alpha.astype(theta.dtype)
    base, gammas, totals = _priors(alpha)
    bound, passes, several = 0.0, 0, max_passes > 1
    for d in range(indptr.size - 1):
        first, end, g = indptr[d], indptr[d + 1], group[d]
        n_words, length = end - first, 0.0
        for j in range(first, end):
            length += counts[j]
        least = min(tol, 0.5) * min(1.0, length / n_topics) if several else 0.0
        scale = 1.0 / _exp_digamma(totals[g] + length)
        n_kept = _choose(
            first, end, words, counts, table, theta[d], alpha[g], below[g], base[g], least, scale,
            floor, several, kept, current, weight, part, ratio, found,
        )  # fmt: skip
        passes += several
        few = n_kept * _FEW < n_topics
        if few and room.size < n_kept * n_words:
            room = np.empty(2 * n_kept * n_words, table.dtype)
        rows = room[: n_kept * n_words if few else 0]
        passes += _settle(
            first, end, words, counts, table, alpha[g], kept, n_kept, scale, floor,
            2.0 * tol * length, max_passes - several, rows, current, weight, part, ratio, found, m,
        )  # fmt: skip
        bound += _bound_of_words(first, counts, n_words, ratio)
        bound += _log_gamma(totals[g]) - _log_gamma(totals[g] + length)
        new_theta[d] = below[g]
        for s in range(n_kept):
            k = kept[s]
            bound -= gammas[g, k] + m[s] * _log(np.float64(weight[s if few else k]))
            bound += _log_gamma(current[s])
            new_theta[d, k] = current[s]
            mass[k] += m[s]
        if few:
            _add_kept(first, end, places, kept, n_kept, rows, weight, ratio, C)
        else:
            _add_all(first, end, words, places, table, weight, ratio, C)
    return bound, passes

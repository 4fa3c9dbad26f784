"""The hot loops, compiled; `twins` has their readable twins of the same signatures.

Two passes make an E-step. `e_step` walks over documents and finds their mixtures; what it leaves
behind (`weight` per document, `ratio` per cell) is enough for `word_mass`, which walks over words
and sums responsibilities. So no words × topics array is ever needed per worker, and cutting
documents or words into pieces never changes a bit of the result.

`tests/model/core/test_kernels.py` says that each twin agrees with its kernel.
"""

import math

import numpy as np
from numba import njit

__all__ = ["e_step", "word_mass"]

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums may be vectorised; NaN and inf stay exact
_CHUNK = 64  # short sums run in the table's precision, and are then added in double precision


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
def _log_gamma(x: float) -> float:
    """Compute log Γ(x) for x > 0: six steps of the recurrence, then Stirling's series."""
    y = x * (x + 5.0)
    z = x + 6.0
    z2 = 1.0 / (z * z)
    series = (1 / 12 - z2 * (1 / 360 - z2 * (1 / 1260 - z2 * (1 / 1680)))) / z
    stirling = (z - 0.5) * math.log(z) - z + 0.5 * math.log(2 * math.pi) + series
    return stirling - math.log(y * (y + 4.0) * (y + 6.0))


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def _responsibilities(words, counts, table, weight, ratio, part, mass):  # type: ignore[no-untyped-def]
    """Fill ratio_j = n_j / Σ_k weight_k table_jk, and mass_k = Σ_j n_j π_jk."""
    n_topics = table.shape[1]
    mass[:] = 0.0
    for start in range(0, words.size, _CHUNK):
        part[:] = 0.0
        for j in range(start, min(start + _CHUNK, words.size)):
            row = table[words[j]]
            p = row[0] * weight[0]
            for k in range(1, n_topics):
                p += row[k] * weight[k]
            q = counts[j] / p
            ratio[j] = q
            for k in range(n_topics):
                part[k] += q * row[k]
        for k in range(n_topics):
            mass[k] += part[k] * weight[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _mixture_weight(theta, floor, weight):  # type: ignore[no-untyped-def]
    """Fill weight_k = exp(E[log φ_k]), zero for topics that are not allowed."""
    total = _exp_digamma(theta.sum())
    for k in range(theta.size):
        weight[k] = max(_exp_digamma(theta[k]) / total, floor) if theta[k] > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _document_bound(counts, ratio, weight, mass, alpha, start):  # type: ignore[no-untyped-def]
    """Give the bound of a document at π and θ = α + mass, without the table's row maxima.

    ``start`` is Σ_k log Γ(α_k).
    """
    bound, length, prior = -start, 0.0, 0.0
    for j in range(counts.size):
        bound += counts[j] * math.log(counts[j] / ratio[j])
        length += counts[j]
    for k in range(alpha.size):
        if alpha[k] > 0.0:
            prior += alpha[k]
            bound += _log_gamma(alpha[k] + mass[k])
            bound -= mass[k] * math.log(weight[k])
    return bound + _log_gamma(prior) - _log_gamma(prior + length)


@njit(cache=True, nogil=True, error_model="numpy")
def e_step(  # type: ignore[no-untyped-def]
    indptr, words, counts, table, alpha, group, theta, tol, max_passes, floor,
    new_theta, weight, ratio, mass,
):  # fmt: skip
    """Find the mixtures of a shard of documents, warm-started from ``theta``.

    Parameters
    ----------
    indptr, words, counts : arrays
        CSR of the shard; ``words`` are rows of ``table``.
    table : array, (n_types, K)
        exp(logits), each row divided by its maximum.
    alpha : array, (n_groups, K)
        Prior of each group of documents; zero where a topic is not allowed.
    group : array, (D,)
        The group of each document.
    theta : array, (D, K)
        Dirichlet parameters to start from; zero where a topic is not allowed.
    tol : float
        A document is done when less than this share of its tokens changed topic.
    max_passes : int
        Limit of passes over a document.
    floor : float
        Smallest weight, see `topicvec.model.twins.weight_floor`.
    new_theta, weight, ratio, mass : arrays, (D, K), (D, K), (nnz,), (K,)
        Filled: θ (eq. 14), exp(E[log φ]), counts / p, and added: the topic mass.

    Returns
    -------
    tuple of float and int
        The bound of the shard without the row maxima, and the number of passes over documents.
    """
    n_topics = table.shape[1]
    part = np.empty(n_topics, table.dtype)
    found = np.empty(n_topics)
    starts = np.zeros(alpha.shape[0])
    for g in range(alpha.shape[0]):
        for k in range(n_topics):
            starts[g] += _log_gamma(alpha[g, k]) if alpha[g, k] > 0.0 else 0.0
    bound, passes = 0.0, 0
    for d in range(indptr.size - 1):
        cells = slice(indptr[d], indptr[d + 1])
        prior, current = alpha[group[d]], new_theta[d]
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
        bound += _document_bound(
            counts[cells], ratio[cells], weight[d], found, prior, starts[group[d]]
        )
        mass += found
    return bound, passes


@njit(cache=True, nogil=True, fastmath=_FAST, error_model="numpy")
def word_mass(indptr, documents, cells, ratio, weight, table):  # type: ignore[no-untyped-def]
    """Sum the responsibilities of each word of a block over all documents.

    Parameters
    ----------
    indptr, documents, cells : arrays
        The block by words: the documents with the word, and the position of that cell in the
        documents' CSR.
    ratio, weight : arrays, (nnz,), (D, K)
        As left by `e_step`.
    table : array, (n_block, K)
        The block's rows of the table of `e_step`.

    Returns
    -------
    array, (n_block, K)
        C_wk = Σ_d n_dw π_dwk.
    """
    n_topics = table.shape[1]
    C = np.zeros(table.shape, table.dtype)
    part = np.empty(n_topics, table.dtype)
    for w in range(indptr.size - 1):
        for start in range(indptr[w], indptr[w + 1], _CHUNK):
            part[:] = 0.0
            for j in range(start, min(start + _CHUNK, indptr[w + 1])):
                q = ratio[cells[j]]
                row = weight[documents[j]]
                for k in range(n_topics):
                    part[k] += q * row[k]
            for k in range(n_topics):
                C[w, k] += part[k] * table[w, k]
    return C

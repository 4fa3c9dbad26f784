"""Collapsed Gibbs sampling of Gaussian topics, compiled, beside its readable twin.

A topic's posterior is Normal-inverse-Wishart with κ, ν, mean μ and scale Ψ; the predictive
density of a vector is a multivariate Student t. With q = (v − μ)ᵀ Ψ⁻¹ (v − μ), M dimensions,

    log p(v) = log Γ((ν+1)/2) − log Γ((ν−M+1)/2) − M/2 log(π (κ+1)/κ) − ½ log |Ψ|
               − (ν+1)/2 log(1 + q κ/(κ+1)),

and when v is in the topic already, the density given the others needs no downdate: with
c = κ/(κ−1) and s = 1 − c q,

    log p(v) = log Γ(ν/2) − log Γ((ν−M)/2) − M/2 log(π c) − ½ log |Ψ| + (ν−1)/2 log s.

Factors are kept as upper triangles U with Uᵀ U = Ψ, so that the inner loops run along rows.
"""

import math
from itertools import pairwise

import numpy as np
from numba import njit
from scipy.stats import multivariate_t

from topicvec_bench.base import Floats, Ints
from topicvec_bench.gibbs import draw

__all__ = ["gaussian_sweep", "gaussian_sweep_reference", "log_densities", "posterior"]


def posterior(
    counts: Ints, sums: Floats, squares: Floats, kappa: float, scale: float
) -> tuple[Floats, Floats]:
    """Give the posterior means (K, M) and factors (K, M, M) of topics; the prior mean is 0.

    Parameters
    ----------
    counts : ndarray of shape (K,)
        Tokens of each topic.
    sums, squares : ndarray of shapes (K, M) and (K, M, M)
        Sums of their vectors, and of the outer products.
    kappa, scale : float
        The prior: weight of its mean, and Ψ = scale · I.

    Examples
    --------
    >>> posterior(np.array([1]), np.array([[3.0]]), np.array([[[9.0]]]), 1.0, 0.5)
    (array([[1.5]]), array([[[2.23606798]]]))
    """
    total = kappa + counts
    means = sums / total[:, None]
    spread = total[:, None, None] * means[:, :, None] * means[:, None, :]
    psi = scale * np.eye(sums.shape[1]) + squares - spread
    return means, np.ascontiguousarray(np.linalg.cholesky(psi).transpose(0, 2, 1))


def log_densities(
    vectors: Floats, counts: Ints, means: Floats, factors: Floats, kappa: float, nu: float
) -> Floats:
    """Give the log predictive density of vectors (n, M) in each topic: (n, K).

    Examples
    --------
    >>> log_densities(np.zeros((1, 1)), np.array([0]), np.zeros((1, 1)), np.ones((1, 1, 1)), 1.0, 1.0).round(4)
    array([[-1.4913]])
    """  # noqa: E501
    n_dims = vectors.shape[1]
    found = np.empty((len(vectors), len(counts)))
    for k, n in enumerate(counts):
        inverse = np.linalg.inv(factors[k])
        q = np.square((vectors - means[k]) @ inverse).sum(1)
        weight, freedom = kappa + n, nu + n
        constant = math.lgamma((freedom + 1) / 2) - math.lgamma((freedom - n_dims + 1) / 2)
        constant -= n_dims / 2 * math.log(math.pi * (weight + 1) / weight)
        constant -= np.log(np.diagonal(factors[k])).sum()
        found[:, k] = constant - (freedom + 1) / 2 * np.log1p(q * weight / (weight + 1))
    return found


@njit(cache=True, nogil=True)
def _distance(vector, mean, factor, buffer):  # type: ignore[no-untyped-def]
    """Compute (v − μ)ᵀ (Uᵀ U)⁻¹ (v − μ) by forward substitution."""
    n = mean.size
    for i in range(n):
        buffer[i] = vector[i] - mean[i]
    total = 0.0
    for k in range(n):
        y = buffer[k] / factor[k, k]
        total += y * y
        row = factor[k]
        for i in range(k + 1, n):
            buffer[i] -= y * row[i]
    return total


@njit(cache=True, nogil=True)
def _half_log_det(factor):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(factor.shape[0]):
        total += math.log(factor[k, k])
    return total


@njit(cache=True, nogil=True)
def _shift(vector, sign, weight, mean, factor, buffer):  # type: ignore[no-untyped-def]
    """Add a vector to a topic of weight κ, or take it away: rank-one change of factor and mean."""
    n = mean.size
    size = math.sqrt(weight / (weight + sign))
    for i in range(n):
        buffer[i] = size * (vector[i] - mean[i])
        mean[i] += sign * (vector[i] - mean[i]) / (weight + sign)
    for k in range(n):
        row = factor[k]
        # Rounding must not turn a downdate into the root of a negative number.
        r = math.sqrt(max(row[k] * row[k] + sign * buffer[k] * buffer[k], 1e-12))
        c, s = r / row[k], buffer[k] / row[k]
        row[k] = r
        for i in range(k + 1, n):
            row[i] = (row[i] + sign * s * buffer[i]) / c
            buffer[i] = c * buffer[i] - s * row[i]


@njit(cache=True, nogil=True)
def _density_without(vector, n, mean, factor, kappa, nu, buffer):  # type: ignore[no-untyped-def]
    """Give the log density of a token's vector in its own topic given the topic's others."""
    n_dims = mean.size
    weight, freedom = kappa + n, nu + n
    c = weight / (weight - 1)
    rest = max(1 - c * _distance(vector, mean, factor, buffer), 1e-12)
    constant = math.lgamma(freedom / 2) - math.lgamma((freedom - n_dims) / 2)
    constant -= n_dims / 2 * math.log(math.pi * c) + _half_log_det(factor)
    return constant + (freedom - 1) / 2 * math.log(rest)


@njit(cache=True, nogil=True)
def _density(vector, n, mean, factor, kappa, nu, buffer):  # type: ignore[no-untyped-def]
    """Give the log density of a vector in a topic that does not have it."""
    n_dims = mean.size
    weight, freedom = kappa + n, nu + n
    q = _distance(vector, mean, factor, buffer)
    constant = math.lgamma((freedom + 1) / 2) - math.lgamma((freedom - n_dims + 1) / 2)
    constant -= n_dims / 2 * math.log(math.pi * (weight + 1) / weight) + _half_log_det(factor)
    return constant - (freedom + 1) / 2 * math.log1p(q * weight / (weight + 1))


@njit(cache=True, nogil=True)
def gaussian_sweep(  # type: ignore[no-untyped-def]
    words, starts, topics, vectors, counts, means, factors, stale, kappa, nu, alpha, uniforms
):
    """Draw the topic of each token anew: propose by stale densities, accept by exact ones.

    Parameters
    ----------
    words, starts : arrays
        The tokens, see `Tokens`.
    topics : array, (n_tokens,)
        Topic of each token; changed.
    vectors : array, (W, M)
        Word vectors, with mean 0.
    counts, means, factors : arrays, (K,), (K, M), (K, M, M)
        Tokens and posterior of each topic; changed.
    stale : array, (W, K)
        Positive densities of the words at the start of the sweep; each row up to a factor.
    kappa, nu, alpha : float
        Prior of topics, see `posterior`, and of documents.
    uniforms : array, (n_tokens, 2)
        Random numbers in [0, 1): for the proposal and for its acceptance.

    Returns
    -------
    tuple of int
        How many tokens were to change topic, and how many did.
    """
    n_topics, n_dims = means.shape
    cumulative = np.empty(n_topics)
    in_document = np.empty(n_topics)
    buffer = np.empty(n_dims)
    proposed, accepted = 0, 0
    for d in range(starts.size - 1):
        in_document[:] = 0.0
        for i in range(starts[d], starts[d + 1]):
            in_document[topics[i]] += 1
        for i in range(starts[d], starts[d + 1]):
            old, vector, guess = topics[i], vectors[words[i]], stale[words[i]]
            in_document[old] -= 1
            total = 0.0
            for j in range(n_topics):
                total += (in_document[j] + alpha) * guess[j]
                cumulative[j] = total
            new = draw(cumulative, uniforms[i, 0])
            if new != old:
                proposed += 1
                ratio = _density(
                    vector, counts[new], means[new], factors[new], kappa, nu, buffer
                ) - _density_without(
                    vector, counts[old], means[old], factors[old], kappa, nu, buffer
                )
                ratio += math.log(guess[old] / guess[new])
                if uniforms[i, 1] < math.exp(min(ratio, 0.0)):
                    accepted += 1
                    _shift(vector, -1, kappa + counts[old], means[old], factors[old], buffer)
                    _shift(vector, 1, kappa + counts[new], means[new], factors[new], buffer)
                    counts[old] -= 1
                    counts[new] += 1
                    topics[i] = new
            in_document[topics[i]] += 1
    return proposed, accepted


def gaussian_sweep_reference(
    words: Ints, starts: Ints, topics: Ints, vectors: Floats, counts: Ints, means: Floats,
    factors: Floats, stale: Floats, kappa: float, nu: float, alpha: float, uniforms: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Do the same as `gaussian_sweep`, to be read: whole matrices, no factors."""
    psi = [factor.T @ factor for factor in factors]

    def shifted(v: Floats, k: int, sign: int) -> tuple[int, Floats, Floats]:
        weight, away = kappa + counts[k], v - means[k]
        change = sign * weight / (weight + sign) * np.outer(away, away)
        return counts[k] + sign, means[k] + sign * away / (weight + sign), psi[k] + change

    def density(v: Floats, n: int, mean: Floats, scatter: Floats) -> float:
        weight, freedom = kappa + n, nu + n - len(v) + 1
        shape = scatter * (weight + 1) / (weight * freedom)
        frozen = multivariate_t(mean, shape, df=freedom)  # type: ignore[arg-type]  # a float will do
        return float(frozen.logpdf(v))

    proposed, accepted = 0, 0
    for begin, end in pairwise(starts):
        for i in range(begin, end):
            old, v, guess = topics[i], vectors[words[i]], stale[words[i]]
            in_document = np.bincount(topics[begin:end], minlength=len(counts)) + alpha
            in_document[old] -= 1
            cumulative = np.cumsum(in_document * guess)
            new = np.searchsorted(cumulative, uniforms[i, 0] * cumulative[-1], side="right")
            proposed += new != old
            without = shifted(v, old, -1)
            ratio = density(v, counts[new], means[new], psi[new]) - density(v, *without)
            if new != old and uniforms[i, 1] < math.exp(ratio) * guess[old] / guess[new]:
                accepted += 1
                topics[i] = new
                counts[new], means[new], psi[new] = shifted(v, new, 1)
                counts[old], means[old], psi[old] = without
    factors[:] = [np.linalg.cholesky(matrix).T for matrix in psi]
    return proposed, accepted

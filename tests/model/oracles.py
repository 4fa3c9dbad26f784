"""The paper's equations in their long forms, which nothing runs: what the code is checked against.

Letters as in `topicvec.model.equations`; ``pi`` (J, K) are responsibilities of the J word types of
a document, ``V_d`` and ``u_d`` their vectors and unigram probabilities.
"""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, softmax, xlogy

from topicvec.model import equations as eq


def responsibilities(theta, logits_d):
    """π_jk ∝ exp(ψ(θ_k) + v_j·t_k + r_k), eq. 13."""
    return softmax(digamma(theta) + logits_d, axis=1)


def dirichlet(alpha, n, pi):
    """θ_k = Σ_j n_j π_jk + α_k, eq. 14."""
    return alpha + n @ pi


def moments(V_d, n, pi):
    """m̄_k = Σ_j n_j π_jk and S_k = Σ_j n_j π_jk v_j."""
    return n @ pi, (n[:, None] * pi).T @ V_d


def word_probabilities(V, u, T, r):
    """P(w|k) = u_w exp(v_w·t_k + r_k), eq. 3."""
    return u[:, None] * np.exp(V @ T.T + r)


def log_normalizer(alpha):
    """log Γ(Σ α_k) − Σ log Γ(α_k), part of C_0 in eq. 8."""
    return gammaln(alpha.sum()) - gammaln(alpha).sum()


def entropy(theta, n, pi):
    """H(q), eq. 18."""
    total = theta.sum()
    of_phi = -log_normalizer(theta) - np.sum((theta - 1) * digamma(theta))
    of_phi += (total - len(theta)) * digamma(total)
    return of_phi - n @ xlogy(pi, pi).sum(1)


def bound_long(V_d, u_d, T, r, alpha, theta, n, pi):
    """The bound at any q, eq. 12, with the constants that compare different K and α."""
    m, S = moments(V_d, n, pi)
    prior = np.sum((m + alpha - 1) * eq.expected_log_phi(theta)) + log_normalizer(alpha)
    words = np.sum(T * S) + r @ m + n @ np.log(u_d)
    return prior + words + entropy(theta, n, pi)


def kl_dirichlet(theta, alpha):
    """KL(Dir(θ) ‖ Dir(α))."""
    gap = log_normalizer(theta) - log_normalizer(alpha)
    return gap + np.sum((theta - alpha) * eq.expected_log_phi(theta))


def bound_short(logits_d, u_d, alpha, theta, n):
    """The bound at the best π for θ: Σ_j n_j log Σ_k exp(E[log φ_k] + logits) − KL."""
    words = logsumexp(eq.expected_log_phi(theta) + logits_d, axis=1) + np.log(u_d)
    return n @ words - kl_dirichlet(theta, alpha)


def hessian_product(V, P_k, m_k, x):
    """∂²L/∂t_k² x = −m̄_k Cov_{P(w|k)}[v] x: the problem is concave."""
    centred = V - P_k @ V
    return -m_k * ((P_k * (centred @ x)) @ centred)


def alpha_fixed_point(alpha, mean_log_phi):
    """ψ(α_k) ← ψ(Σ α) + mean_d E[log φ_dk] (Minka 2000, eq. 9)."""
    return eq.inverse_digamma(digamma(alpha.sum()) + mean_log_phi)


def in_context(V, u, T, r, A, word, context, k):
    """P(w | w_0 … w_{c−1}, k), eq. 2, one term after the other."""
    exponent = V[word] @ T[k] + r[k]
    for before in context:
        exponent += V[word] @ V[before] + A[before, word]
    return u[word] * np.exp(exponent)


def log_joint(alpha, log_phi, z, log_words):
    """log p(d, Z, φ | α, V, A, T), eq. 6, and a document's part of eq. 7 and 8.

    ``log_words`` (L, K) are logarithms of eq. 2 for the document's tokens in each topic.
    """
    prior = log_normalizer(alpha) + np.sum((alpha - 1) * log_phi)
    return prior + sum(log_phi[k] + log_words[j, k] for j, k in enumerate(z))


def log_evidence(alpha, log_words):
    """log p(d | T) of eq. 9 and 10, by adding up all K^L ways to deal topics to tokens."""
    n_tokens, n_topics = log_words.shape
    ways = []
    for z in product(range(n_topics), repeat=n_tokens):
        n = np.bincount(z, minlength=n_topics)
        of_z = log_normalizer(alpha) - log_normalizer(alpha + n)
        ways.append(of_z + sum(log_words[j, k] for j, k in enumerate(z)))
    return logsumexp(ways)


def paper_iterations(V, u, counts, T, alpha, *, rate, length, max_norm, n_passes, n_steps):
    """The paper's GEM from θ = 1, document by document: topics and θ after each iteration."""
    T, theta, step = T.copy(), np.ones((len(counts), len(T))), 0
    while True:
        r = -np.log(u @ np.exp(V @ T.T))
        m, S = np.zeros(len(T)), np.zeros_like(T)
        for d, row in enumerate(counts):
            words = np.flatnonzero(row)
            for _ in range(n_passes):
                pi = responsibilities(theta[d], V[words] @ T.T + r)
                theta[d] = dirichlet(alpha, row[words], pi)
            more, moment = moments(V[words], row[words], pi)
            m, S = m + more, S + moment
        for _ in range(n_steps):
            step += 1
            r = -np.log(u @ np.exp(V @ T.T))
            slope = S - m[:, None] * (word_probabilities(V, u, T, r).T @ V)
            slope[0] = 0  # the null topic stays
            T = T + length * rate / (step * max(counts.sum(), length)) * slope
            norm = np.linalg.norm(T, axis=1)
            T[norm > max_norm] *= max_norm / norm[norm > max_norm, None]
        yield T.copy(), theta.copy()

"""The paper's equations in their long forms, which nothing runs: what the code is checked against.

Letters as in `topicvec.model.equations`; ``pi`` (J, K) are responsibilities of the J word types of
a document, ``V_d`` and ``u_d`` their vectors and unigram probabilities.
"""

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

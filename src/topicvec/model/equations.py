"""The paper, equation by equation, in its own letters.

Generative Topic Embedding (Li, Chua, Zhu, Miao; ACL 2016). What costs time is not computed here:
`kernels`, `tables` and `solvers` find the same quantities fast, and the tests compare them. What
is cheap or done once (`project`, `learning_rate`, `inverse_digamma`, `residuals`) is used as it is.

=====  =========  ==========================================================
V      (W, N)     word vectors, one a row (the paper has columns)
u      (W,)       unigram probabilities, sum to 1
T      (K, N)     topics, row 0 is the null topic, all zero
r      (K,)       topic residuals, minus a log-partition, r_0 = 0
P      (W, K)     P(w|k), columns sum to 1
n      (J,)       counts of the J word types of one document
V_d    (J, N)     their vectors; likewise the rows of ``logits`` and ``pi``
pi     (J, K)     responsibilities, rows sum to 1
theta  (K,)       Dirichlet parameters of the document's mixture
alpha  (K,)       prior of the mixtures
m, S   (K,) (K,N) topic mass and topic moment
=====  =========  ==========================================================
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp, polygamma, softmax, xlogy

__all__ = [
    "alpha_fixed_point",
    "bound_long",
    "bound_short",
    "dirichlet",
    "entropy",
    "expected_log_phi",
    "gradient",
    "hessian_product",
    "inverse_digamma",
    "kl_dirichlet",
    "learning_rate",
    "log_normalizer",
    "logits",
    "mean_vectors",
    "moments",
    "project",
    "residuals",
    "responsibilities",
    "word_probabilities",
]

Floats = NDArray[np.floating]


def residuals(V: Floats, u: Floats, T: Floats, block: int | None = None) -> Floats:
    """Normalise the topics: r_k = −log Σ_s u_s exp(v_s·t_k), eq. 4 and 5.

    Examples
    --------
    >>> residuals(np.eye(2), np.array([0.5, 0.5]), np.zeros((1, 2)))
    array([0.])
    """
    size = block or len(V)
    parts = [
        logsumexp(V[i : i + size] @ T.T, b=u[i : i + size, None], axis=0)
        for i in range(0, len(V), size)
    ]
    return -logsumexp(parts, axis=0) + 0.0  # + 0.0: no negative zero


def logits(V: Floats, T: Floats, r: Floats) -> Floats:
    """Give log P(w|k) − log u_w = v_w·t_k + r_k, the exponent of eq. 3."""
    return V @ T.T + r


def word_probabilities(V: Floats, u: Floats, T: Floats, r: Floats) -> Floats:
    """Give P(w|k) = u_w exp(v_w·t_k + r_k), eq. 3."""
    return u[:, None] * np.exp(logits(V, T, r))


def expected_log_phi(theta: Floats) -> Floats:
    """Give E_q[log φ_k] = ψ(θ_k) − ψ(θ_0), with θ_0 = Σ_k θ_k."""
    return np.asarray(digamma(theta) - digamma(theta.sum(-1, keepdims=True)))


def responsibilities(theta: Floats, logits_d: Floats) -> Floats:
    """Give π_jk ∝ exp(ψ(θ_k) + v_j·t_k + r_k), eq. 13; equal for all tokens of a type."""
    return np.asarray(softmax(digamma(theta) + logits_d, axis=1))


def dirichlet(alpha: Floats, n: Floats, pi: Floats) -> Floats:
    """Give θ_k = Σ_j n_j π_jk + α_k, eq. 14."""
    return alpha + n @ pi


def moments(V_d: Floats, n: Floats, pi: Floats) -> tuple[Floats, Floats]:
    """Give the topic mass m̄_k = Σ_j n_j π_jk and the topic moment S_k = Σ_j n_j π_jk v_j."""
    return n @ pi, (n[:, None] * pi).T @ V_d


def log_normalizer(alpha: Floats) -> float:
    """Give the Dirichlet's log Γ(Σ α_k) − Σ log Γ(α_k), part of C_0 in eq. 8."""
    return float(gammaln(alpha.sum()) - gammaln(alpha).sum())


def entropy(theta: Floats, n: Floats, pi: Floats) -> float:
    """Give H(q), eq. 18."""
    total = theta.sum()
    of_phi = -log_normalizer(theta) - np.sum((theta - 1) * digamma(theta))
    of_phi += (total - len(theta)) * digamma(total)
    return float(of_phi - n @ xlogy(pi, pi).sum(1))


def bound_long(
    V_d: Floats, u_d: Floats, T: Floats, r: Floats, alpha: Floats,
    theta: Floats, n: Floats, pi: Floats,
) -> float:  # fmt: skip
    """Give the bound at any q, eq. 12, with the constants that compare different K and α.

    The original code added the trace of the whole corpus once for each document; the trace
    belongs to the document (test_bound_short_form_is_long_form).
    """
    m, S = moments(V_d, n, pi)
    prior = np.sum((m + alpha - 1) * expected_log_phi(theta)) + log_normalizer(alpha)
    words = np.sum(T * S) + r @ m + n @ np.log(u_d)
    return float(prior + words + entropy(theta, n, pi))


def kl_dirichlet(theta: Floats, alpha: Floats) -> float:
    """Give KL(Dir(θ) ‖ Dir(α))."""
    gap = log_normalizer(theta) - log_normalizer(alpha)
    return float(gap + np.sum((theta - alpha) * expected_log_phi(theta)))


def bound_short(logits_d: Floats, u_d: Floats, alpha: Floats, theta: Floats, n: Floats) -> float:
    """Give the bound at the best π for θ: Σ_j n_j log Σ_k exp(E[log φ_k] + logits) − KL."""
    words = logsumexp(expected_log_phi(theta) + logits_d, axis=1) + np.log(u_d)
    return float(n @ words - kl_dirichlet(theta, alpha))


def mean_vectors(V: Floats, P: Floats) -> Floats:
    """Give E_{P(w|k)}[v] = −∂r_k/∂t_k.

    Eq. 16 of the paper, e^{−r} E[e^{v·t} v], has a wrong sign and a wrong exponent
    (test_gradient_is_finite_differences).
    """
    return P.T @ V


def gradient(V: Floats, P: Floats, m: Floats, S: Floats) -> Floats:
    """Give ∂L/∂t_k = S_k − m̄_k E_{P(w|k)}[v], eq. 15: observed minus expected moment."""
    G = S - m[:, None] * mean_vectors(V, P)
    G[0] = 0  # the null topic stays at zero
    return G


def hessian_product(V: Floats, P_k: Floats, m_k: float, x: Floats) -> Floats:
    """Give ∂²L/∂t_k² x = −m̄_k Cov_{P(w|k)}[v] x: the problem is concave."""
    centred = V - P_k @ V
    return -m_k * ((P_k * (centred @ x)) @ centred)


def learning_rate(step: int, length: float, base: float, first: float) -> float:
    """Give the paper's λ(l, L) = L_0 λ_0 / (l max(L, L_0)).

    Examples
    --------
    >>> learning_rate(2, 1000.0, base=500.0, first=0.1)
    0.025
    """
    return base * first / (step * max(length, base))


def project(T: Floats, gamma: float) -> Floats:
    """Scale topics with ‖t_k‖ > γ back to the ball.

    Examples
    --------
    >>> project(np.array([[0.0, 0.0], [3.0, 4.0]]), 1.0)
    array([[0. , 0. ],
           [0.6, 0.8]])
    """
    norm = np.linalg.norm(T, axis=1, keepdims=True)
    return np.asarray(T * np.minimum(1, gamma / np.maximum(norm, 1e-30)))


def inverse_digamma(y: Floats) -> Floats:
    """Solve ψ(x) = y by Newton's method from Minka's starting point (Minka 2000, appendix C).

    Examples
    --------
    >>> inverse_digamma(digamma(np.array([0.25, 1.0, 4.0]))).round(6)
    array([0.25, 1.  , 4.  ])
    """
    x = np.where(y >= -2.22, np.exp(y) + 0.5, -1 / (np.minimum(y, -2.22) - digamma(1.0)))
    for _ in range(6):
        x = x - (digamma(x) - y) / polygamma(1, x)
    return x


def alpha_fixed_point(alpha: Floats, mean_log_phi: Floats) -> Floats:
    """Raise the bound in α: ψ(α_k) ← ψ(Σ α) + mean_d E[log φ_dk] (Minka 2000, eq. 9)."""
    return inverse_digamma(digamma(alpha.sum()) + mean_log_phi)

"""The paper, equation by equation, in its own letters; this is what runs.

Generative Topic Embedding (Li, Chua, Zhu, Miao; ACL 2016). The E-step of `estep` and the M-step of
`mstep` are made of these functions, always called as ``equations.name``: change one here, the link
function `logits` for example, and the topics of an article change with it
(test_another_link_function_gives_an_article_other_topics). The M-step counts on a link that is
linear in the topic, x_w·t_k + r_k: `logits` says what x_w is for the E-step and the normaliser,
`moment` for the gradient, and both must say the same for the bound to be the model's
(test_a_link_on_other_features_is_the_model_on_them). Of many documents the E-step is done by the
compiled twins in `kernels`, which follow the same equations.

=====  =========  ==========================================================
V      (W, N)     word vectors, one a row (the paper has columns)
u      (W,)       unigram probabilities, sum to 1
T      (K, N)     topics, row 0 is the null topic, all zero
r      (K,)       topic residuals, minus a log-partition, r_0 = 0
P      (W, K)     P(w|k), columns sum to 1
C      (W, K)     expected tokens of each word in each topic
n      (J,)       counts of the J word types of one document
L      (J, K)     their likelihoods exp(v_j·t_k + r_k), up to a factor for each word
theta  (K,)       Dirichlet parameters of the document's mixture
weight (K,)       exp(E[log φ_k]), zero for topics that the document may not use
alpha  (K,)       prior of the mixtures
m, S   (K,) (K,N) topic mass and topic moment
=====  =========  ==========================================================
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp, polygamma

__all__ = [
    "context_logits",
    "dirichlet",
    "document_bound",
    "evidence",
    "expected_log_phi",
    "gradient",
    "inverse_digamma",
    "learning_rate",
    "logits",
    "mixture_weight",
    "moment",
    "own_lift",
    "own_spread",
    "project",
    "pseudo_counts",
    "residuals",
    "responsibilities",
    "topic_mass",
    "word_probabilities",
]

Floats = NDArray[np.floating]

_LEAST_COUNT = 1e-30  # pseudo-tokens; a word that a topic finds impossible must not divide by zero


def logits(V: Floats, T: Floats, r: Floats | None = None) -> Floats:
    """Give the link log P(w|k) − log u_w = v_w·t_k + r_k, the exponent of eq. 3.

    Without r, for topics whose residuals are still to be found, only v_w·t_k.
    """
    dots = V @ T.T
    return dots if r is None else dots + r


def context_logits(V: Floats, V_c: Floats, A: Floats) -> Floats:
    """Give Σ_l (v_w·v_l + a_lw), what c words of context add to the link: the exponent of eq. 1.

    That of eq. 2 is the sum of this and `logits`. ``V_c`` (c, N) are the vectors of the context,
    ``A`` (c, W) its bigram residuals. Constant in the topics, so that learning them does without.

    Examples
    --------
    >>> context_logits(np.eye(2), np.array([[1.0, 0.0], [2.0, 1.0]]), np.zeros((2, 2)))
    array([3., 1.])
    """
    return np.asarray(V @ V_c.sum(axis=0) + A.sum(axis=0))


def residuals(V: Floats, u: Floats, T: Floats, block: int | None = None) -> Floats:
    """Normalise the topics: r_k = −log Σ_s u_s exp(v_s·t_k), eq. 4 and 5.

    Examples
    --------
    >>> residuals(np.eye(2), np.array([0.5, 0.5]), np.zeros((1, 2)))
    array([0.])
    """
    size = block or len(V)
    parts = [
        logsumexp(logits(V[i : i + size], T), b=u[i : i + size, None], axis=0)
        for i in range(0, len(V), size)
    ]
    return -logsumexp(parts, axis=0) + 0.0  # + 0.0: no negative zero


def word_probabilities(u: Floats, exponent: Floats, out: Floats | None = None) -> Floats:
    """Give P(w|k) = u_w exp(v_w·t_k + r_k), eq. 3, of the `logits`; ``out`` may be the same."""
    P = np.exp(exponent, out=out)
    P *= u[:, None]
    return P


def pseudo_counts(pseudo: Floats, u: Floats, exponent: Floats) -> Floats:
    """Give a_wk = m_k P(w|k), what the topic's vector says of a word, in tokens.

    φ_k ~ Dir(m_k P(·|t_k)): a topic's words are drawn around those of its vector.
    """
    return np.maximum(pseudo * word_probabilities(u, exponent), _LEAST_COUNT)


def own_lift(C: Floats, a: Floats) -> Floats:
    """Give x_wk = log(1 + C_wk / a_wk): how far a topic's own tokens lift a word.

    With it the link of the words of their own is log P~(w|k) − log u_w = v_w·t_k + r_k + x_wk
    − `own_spread`_k, where P~(w|k) = (C_wk + m_k P(w|k)) / (C_k + m_k).
    """
    return np.log1p(C / a)


def own_spread(m: Floats, pseudo: Floats) -> Floats:
    """Give log(1 + C_k / m_k), what all words of a topic pay for the lift of some."""
    return np.log1p(m / pseudo)


def expected_log_phi(theta: Floats) -> Floats:
    """Give E_q[log φ_k] = ψ(θ_k) − ψ(θ_0), with θ_0 = Σ_k θ_k; −∞ where θ_k = 0."""
    return np.asarray(digamma(theta) - digamma(theta.sum(-1, keepdims=True)))


def mixture_weight(theta: Floats, floor: float) -> Floats:
    """Give exp(E_q[log φ_k]), no less than ``floor``, and 0 for topics that are not allowed."""
    return np.where(theta > 0, np.maximum(np.exp(expected_log_phi(theta)), floor), 0)


def evidence(L: Floats, weight: Floats) -> Floats:
    """Give Σ_k L_jk weight_k, what the responsibilities of word j are divided by in eq. 13."""
    return L @ weight


def responsibilities(L: Floats, weight: Floats) -> Floats:
    """Give π_jk ∝ exp(ψ(θ_k) + v_j·t_k + r_k), eq. 13; equal for all tokens of a type."""
    pi = L * weight
    return np.asarray(pi / pi.sum(axis=1, keepdims=True))


def topic_mass(ratio: Floats, L: Floats, weight: Floats) -> Floats:
    """Give m_k = Σ_j n_j π_jk of eq. 14 without π, from ratio_j = n_j / `evidence`_j."""
    return (ratio @ L) * weight


def dirichlet(alpha: Floats, m: Floats) -> Floats:
    """Give θ_k = m_k + α_k, eq. 14."""
    return alpha + m


def document_bound(alpha: Floats, n: Floats, p: Floats, m: Floats, weight: Floats) -> float:
    """Give the bound of a document, eq. 12, at the π of ``weight`` and its best θ = α + m.

    With eq. 14 put in, the terms of E[log φ] cancel. ``p`` is the `evidence`. The original code
    added the trace of the whole corpus once for each document; the trace belongs to the document
    (test_the_bound_of_the_e_step_is_the_papers).
    """
    a, m, weight = alpha[alpha > 0], m[alpha > 0], weight[alpha > 0]
    words = n @ np.log(p) - m @ np.log(weight)
    prior = np.sum(gammaln(a + m) - gammaln(a)) + gammaln(a.sum()) - gammaln(a.sum() + n.sum())
    return float(words + prior)


def moment(V: Floats, C: Floats) -> Floats:
    """Give Σ_w C_wk v_w (K, N): the topic moment S of C, and E_{P(w|k)}[v] = −∂r_k/∂t_k of P.

    Eq. 16 of the paper, e^{−r} E[e^{v·t} v], has a wrong sign and a wrong exponent
    (test_gradient_is_finite_differences).
    """
    return C.T @ V


def gradient(m: Floats, S: Floats, mean: Floats) -> Floats:
    """Give ∂L/∂t_k = S_k − m_k E_{P(w|k)}[v], eq. 15: observed minus expected moment."""
    return S - m[:, None] * mean


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

import numpy as np
import oracles
import pytest
from scipy.special import digamma

from topicvec.model import equations as eq


@pytest.fixture
def setting():
    rng = np.random.default_rng(3)
    W, N, K, J = 40, 6, 4, 7
    V, u = rng.normal(size=(W, N)), rng.dirichlet(np.ones(W))
    T = np.vstack([np.zeros(N), rng.normal(size=(K - 1, N))])
    words = rng.choice(W, J, replace=False)
    return V, u, T, words, rng.integers(1, 5, J).astype(float), rng.uniform(0.05, 2, K)


def settled(V, u, T, words, n, alpha, n_rounds=3):
    r = eq.residuals(V, u, T)
    logits_d = eq.logits(V, T, r)[words]
    theta = alpha + n.sum() / len(alpha)
    for _ in range(n_rounds):
        pi = oracles.responsibilities(theta, logits_d)
        theta = oracles.dirichlet(alpha, n, pi)
    return r, logits_d, theta, pi


def test_word_probabilities_sum_to_one_and_the_null_residual_is_zero(setting):
    V, u, T, *_ = setting
    r = eq.residuals(V, u, T)
    np.testing.assert_allclose(oracles.word_probabilities(V, u, T, r).sum(0), 1)
    assert r[0] == pytest.approx(0, abs=1e-14)


def test_residuals_by_blocks_are_the_residuals(setting):
    V, u, T, *_ = setting
    np.testing.assert_allclose(eq.residuals(V, u, T, block=7), eq.residuals(V, u, T), atol=1e-12)


def test_residuals_do_not_overflow(setting):
    V, u, T, *_ = setting
    assert np.isfinite(eq.residuals(V * 100, u, T * 100)).all()


def test_types_give_the_same_as_tokens(setting):
    V, u, T, words, n, alpha = setting
    tokens = np.repeat(words, n.astype(int))
    ones = np.ones(len(tokens))
    r, _, theta, pi = settled(V, u, T, words, n, alpha)
    _, _, theta_tokens, pi_tokens = settled(V, u, T, tokens, ones, alpha)
    np.testing.assert_allclose(theta_tokens, theta)
    by_type = oracles.bound_long(V[words], u[words], T, r, alpha, theta, n, pi)
    by_token = oracles.bound_long(V[tokens], u[tokens], T, r, alpha, theta, ones, pi_tokens)
    assert by_token == pytest.approx(by_type)


def test_the_e_step_of_the_equations_is_the_papers(setting):
    V, u, T, words, n, alpha = setting
    r, logits_d, theta, _ = settled(V, u, T, words, n, alpha)
    L = np.exp(logits_d - logits_d.max(1, keepdims=True))  # a factor for each word cancels
    weight = eq.mixture_weight(theta, 0.0)
    pi = oracles.responsibilities(theta, logits_d)
    np.testing.assert_allclose(eq.responsibilities(L, weight), pi)
    ratio = n / eq.evidence(L, weight)
    m = eq.topic_mass(ratio, L, weight)
    np.testing.assert_allclose(eq.dirichlet(alpha, m), oracles.dirichlet(alpha, n, pi))
    p = eq.evidence(np.exp(logits_d) * u[words][:, None], weight)
    new = eq.dirichlet(alpha, m)
    expected = oracles.bound_long(V[words], u[words], T, r, alpha, new, n, pi)
    assert eq.document_bound(alpha, n, p, m, weight) == pytest.approx(expected)


def test_word_probabilities_are_those_of_the_link(setting):
    V, u, T, *_ = setting
    r = eq.residuals(V, u, T)
    expected = oracles.word_probabilities(V, u, T, r)
    np.testing.assert_allclose(eq.word_probabilities(u, eq.logits(V, T, r)), expected)
    np.testing.assert_allclose(eq.logits(V, T) + r, eq.logits(V, T, r))


def test_topics_that_are_not_allowed_have_no_weight():
    weight = eq.mixture_weight(np.array([1.0, 0.0, 1e-9]), 1e-18)
    assert weight[1] == 0
    assert weight[2] == 1e-18
    assert weight[0] == pytest.approx(1)


def test_bound_short_form_is_long_form(setting):
    V, u, T, words, n, alpha = setting
    r, logits_d, theta, _ = settled(V, u, T, words, n, alpha)
    best = oracles.responsibilities(theta, logits_d)
    long = oracles.bound_long(V[words], u[words], T, r, alpha, theta, n, best)
    assert oracles.bound_short(logits_d, u[words], alpha, theta, n) == pytest.approx(long)


def test_each_half_of_the_e_step_raises_the_bound(setting):
    V, u, T, words, n, alpha = setting
    r = eq.residuals(V, u, T)
    logits_d, theta, bounds = eq.logits(V, T, r)[words], np.ones(len(alpha)), []
    for _ in range(10):
        pi = oracles.responsibilities(theta, logits_d)
        bounds.append(oracles.bound_long(V[words], u[words], T, r, alpha, theta, n, pi))
        theta = oracles.dirichlet(alpha, n, pi)
        bounds.append(oracles.bound_long(V[words], u[words], T, r, alpha, theta, n, pi))
    assert np.diff(bounds).min() > -1e-12


def test_bound_is_below_the_likelihood(setting):
    V, u, T, words, n, alpha = setting
    _, logits_d, theta, _ = settled(V, u, T, words, n, alpha, 50)
    phi = np.random.default_rng(0).dirichlet(alpha, size=200_000)
    log_p = np.log(phi @ np.exp(logits_d).T * u[words]) @ n
    likelihood = np.log(np.mean(np.exp(log_p - log_p.max()))) + log_p.max()
    bound = oracles.bound_short(logits_d, u[words], alpha, theta, n)
    assert likelihood - 5 < bound < likelihood


def objective(V, u, T, words, n, pi):
    m, S = oracles.moments(V[words], n, pi)
    return np.sum(T * S) + eq.residuals(V, u, T) @ m


def test_gradient_is_finite_differences(setting):
    V, u, T, words, n, alpha = setting
    r, _, _, pi = settled(V, u, T, words, n, alpha)
    m, S = oracles.moments(V[words], n, pi)
    G = eq.gradient(m, S, eq.moment(V, oracles.word_probabilities(V, u, T, r)))
    for k, i in [(1, 0), (2, 3), (3, 5)]:
        step = np.zeros_like(T)
        step[k, i] = 1e-5
        rise = objective(V, u, T + step, words, n, pi) - objective(V, u, T - step, words, n, pi)
        assert G[k, i] == pytest.approx(rise / 2e-5, rel=1e-5, abs=1e-7)


def test_hessian_is_the_derivative_of_the_gradient_and_negative(setting):
    V, u, T, words, n, alpha = setting
    r, _, _, pi = settled(V, u, T, words, n, alpha)
    m, S = oracles.moments(V[words], n, pi)
    x = np.random.default_rng(1).normal(size=V.shape[1])

    def slope(h):
        moved = T.copy()
        moved[2] += h * x
        P = oracles.word_probabilities(V, u, moved, eq.residuals(V, u, moved))
        return eq.gradient(m, S, eq.moment(V, P))[2]

    P = oracles.word_probabilities(V, u, T, r)
    product = oracles.hessian_product(V, P[:, 2], m[2], x)
    np.testing.assert_allclose(product, (slope(1e-5) - slope(-1e-5)) / 2e-5, rtol=1e-5, atol=1e-7)
    assert x @ product < 0


def test_alpha_fixed_point_rests_at_the_optimum():
    alpha = np.array([0.1, 0.7, 3.0])
    mean_log_phi = digamma(alpha) - digamma(alpha.sum())
    np.testing.assert_allclose(oracles.alpha_fixed_point(alpha, mean_log_phi), alpha, rtol=1e-9)


def test_projection_keeps_what_is_inside(setting):
    T = setting[2]
    P = eq.project(T, 1.5)
    assert np.linalg.norm(P, axis=1).max() <= 1.5 * (1 + 1e-12)
    inside = np.linalg.norm(T, axis=1) <= 1.5
    np.testing.assert_array_equal(P[inside], T[inside])

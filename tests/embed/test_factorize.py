import numpy as np
import pytest
from psdvec_twins import counted, literal_factorization, literal_log_ratios, literal_weights
from scipy.linalg import eigh

from topicvec.embed import eigen
from topicvec.embed import factorize as module
from topicvec.embed.association import Association, associate, measure_margins
from topicvec.embed.eigen import Rows, exact_eigenpairs, top_eigenpairs
from topicvec.embed.factorize import DenseSurrogate, SparseSurrogate, factorize, weighted_residual
from topicvec.engine import LocalEngine
from topicvec.errors import DataError

ENGINE = LocalEngine(1)


def random_association(n=700, unseen_weight=0.0, density=0.1, seed=0, power=0.0):
    """A low-rank signal with noise on a random symmetric support, −4 elsewhere."""
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, 30)) * np.exp(-np.arange(30) / 10)
    G = F @ F.T + rng.standard_normal((n, n)) * 0.3
    G = (G + G.T) / 2
    support = rng.random((n, n)) < density / 2
    support |= support.T
    np.fill_diagonal(support, True)
    W = unseen_weight + (1 - unseen_weight) * rng.random((n, n))
    W = (W + W.T) / 2
    np.fill_diagonal(W, 0)
    rows, columns = np.nonzero(support)
    indptr = np.concatenate([[0], np.cumsum(support.sum(axis=1))])
    w, g = W[rows, columns].astype(np.float32), G[rows, columns].astype(np.float32)
    importance = (1.0 / np.arange(1, n + 1)) ** power
    importance = (importance / importance.mean()).astype(np.float32)
    return Association(
        indptr, columns.astype(np.int32), w * g, w, g, unseen_weight, -4.0, importance
    )


def full(association):
    """Dense G and W of an association with equal targets in both directions."""
    n = association.n
    G, W = np.full((n, n), association.unseen_target), np.full((n, n), association.unseen_weight)
    rows = np.repeat(np.arange(n), np.diff(association.indptr))
    G[rows, association.indices] = association.target
    W[rows, association.indices] = association.weights
    return G, W


@pytest.mark.parametrize("unseen_weight", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("frequency_power", [0.0, 0.2])
def test_small_problems_follow_the_literal_iteration(unseen_weight, frequency_power):
    counts = counted(window=4, direction="left", weighting="flat")
    margins = measure_margins(
        counts, saturated=0.05, unseen_weight=unseen_weight, frequency_power=frequency_power
    )
    n = counts.n_words
    found = factorize(associate(counts, margins, n, ENGINE), 8, ENGINE, n_iter=4)
    x = counts.counts.toarray().astype(float)
    G, W = literal_log_ratios(x, 0.02), literal_weights(x, 0.05, unseen_weight)
    np.fill_diagonal(W, 0)
    V, values = literal_factorization(G, W, 8, 4, margins.importance)
    np.testing.assert_allclose(found.eigenvalues, values, rtol=1e-4)
    np.testing.assert_allclose(found.vectors @ found.vectors.T, V @ V.T, atol=2e-4)


@pytest.mark.parametrize("unseen_weight", [0.0, 0.2])
def test_the_blocked_solver_follows_the_exact_iteration(unseen_weight):
    association = random_association(unseen_weight=unseen_weight, power=0.1)
    G, W = full(association)
    V, values = literal_factorization(G, W, 12, 3, association.importance.astype(float))
    assert not module._is_small(700, 12 + 2)  # the largest rank of three iterations
    found = factorize(association, 12, ENGINE, n_iter=3, tolerance=1e-4)
    np.testing.assert_allclose(found.eigenvalues, values, rtol=2e-3)
    X, Y = found.vectors @ found.vectors.T, V @ V.T
    assert np.linalg.norm(X - Y) < 0.02 * np.linalg.norm(Y)


@pytest.mark.parametrize("unseen_weight", [0.0, 0.2, 1.0])
def test_dense_and_sparse_forms_are_the_same_matrix(unseen_weight):
    association = random_association(n=300, unseen_weight=unseen_weight, power=0.2)
    rows, rng = Rows(300, ENGINE), np.random.default_rng(1)
    V = rng.standard_normal((300, 6), dtype=np.float32)
    Y = rng.standard_normal((300, 70), dtype=np.float32)
    dense, sparse = DenseSurrogate(association, rows), SparseSurrogate(association, rows)
    G, W = full(association)
    d = association.importance
    for S in (W * G + (1 - W) * G / 2, W * G + (1 - W) * (V @ V.T)):
        expected = d[:, None] * (S @ (d[:, None] * Y))
        np.testing.assert_allclose(dense.product(Y), expected, rtol=1e-3, atol=1e-2)
        np.testing.assert_allclose(sparse.product(Y), expected, rtol=1e-3, atol=1e-2)
        dense.update(V)
        sparse.update(V)


def test_a_spectrum_without_negative_values_ends_at_zero():
    rows = Rows(2, ENGINE)
    assert eigen._outliers(np.diag([3.0, 2.0]), np.eye(2), 0.0, rows).low == 0
    assert eigen._outliers(np.diag([3.0, -2.0]), np.eye(2), 4.0, rows).low == -6


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_the_filter_is_the_polynomial_of_chebyshev(degree):
    values = np.linspace(-1, 2, 50)
    rows, nothing = Rows(50, ENGINE), np.zeros((50, 0), np.float32)
    spectrum = eigen._Spectrum(nothing, np.zeros(0), -1.0, np.zeros(0), np.zeros(0))
    Q = np.full((50, 1), 50**-0.5, np.float32)
    S = values[:, None].astype(np.float32)
    found = eigen._filtered(
        lambda Y: S * Y, np.array([2.0]), Q, S * Q, spectrum, 1.0, degree, rows
    )  # fmt: skip
    polynomial = np.polynomial.chebyshev.Chebyshev.basis(degree)
    np.testing.assert_allclose(
        found[:, 0], polynomial(values) / polynomial(2.0) * Q[:, 0], atol=1e-5
    )


def test_a_table_that_just_fits_is_dense(monkeypatch):
    monkeypatch.setattr(module, "SparseSurrogate", None)
    factorize(random_association(n=700), 3, ENGINE, n_iter=1, memory_budget=4 * 700**2)
    with pytest.raises(TypeError, match="NoneType"):
        factorize(random_association(n=700), 3, ENGINE, n_iter=1, memory_budget=4 * 700**2 - 1)


def test_the_matrix_free_form_gives_the_same_vectors():
    association = random_association(n=900)
    dense = factorize(association, 10, ENGINE, n_iter=2, tolerance=1e-4)
    sparse = factorize(association, 10, ENGINE, n_iter=2, tolerance=1e-4, memory_budget=0)
    np.testing.assert_allclose(dense.eigenvalues, sparse.eigenvalues, rtol=1e-3)
    assert sparse.residual == pytest.approx(dense.residual, rel=1e-3)


@pytest.mark.parametrize("unseen_weight", [0.0, 0.2])
def test_the_residual_is_the_weighted_one(unseen_weight):
    association = random_association(n=200, unseen_weight=unseen_weight, power=0.2)
    V = np.random.default_rng(2).standard_normal((200, 5), dtype=np.float32)
    G, W = full(association)
    d = association.importance.astype(float)
    W = W * np.outer(d**2, d**2)
    expected = np.sqrt(np.sum(W * (G - V @ V.T) ** 2) / W.sum())
    found = weighted_residual(association, V, Rows(200, ENGINE))
    assert found == pytest.approx(expected, rel=1e-4)


def test_iterations_lower_the_residual():
    association = random_association()
    once, often = (factorize(association, 10, ENGINE, n_iter=n).residual for n in (1, 6))
    assert often < once


def spectrum_with_outliers(n=800):
    """Positive signal, bulk, and one eigenvalue far below all others, as ln κ·11ᵀ makes it."""
    rng = np.random.default_rng(3)
    values = np.concatenate([300.0 / np.arange(1, 41), rng.uniform(-6, 6, n - 42), [-90, -4000]])
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (Q * values @ Q.T).astype(np.float32), np.sort(values)[::-1]


def test_the_eigensolver_agrees_with_lapack_and_says_how_well():
    S, values = spectrum_with_outliers()
    rows, widths = Rows(len(S), ENGINE), []

    def product(Y):
        widths.append(Y.shape[1])
        return S @ Y

    pairs = top_eigenpairs(product, 30, rows, np.random.default_rng(0), n_extra=20, tolerance=1e-4)
    assert pairs.n_products == pytest.approx(sum(w for w in widths if w > 1) / 30)
    np.testing.assert_allclose(pairs.values[:30], values[:30], rtol=1e-4)
    Q = pairs.vectors[:, :30].astype(float)
    np.testing.assert_allclose(Q.T @ Q, np.eye(30), atol=1e-4)
    norms = np.linalg.norm(S.astype(float) @ Q - Q * pairs.values[:30], axis=0)
    np.testing.assert_allclose(pairs.residuals[:30], norms, atol=5e-3)
    assert norms.max() < 0.02 * values[29]
    exact = exact_eigenpairs(S, 30)
    np.testing.assert_allclose(exact.values, eigh(S.astype(float))[0][::-1][:30])


def test_clearing_keeps_a_steep_spectrum_accurate_in_float32(monkeypatch):
    rng = np.random.default_rng(5)
    values = np.concatenate([np.geomspace(1000, 10, 30), rng.uniform(-8, 8, 670)])
    Q = np.linalg.qr(rng.standard_normal((700, 700)))[0]
    S = (Q * values @ Q.T).astype(np.float32)

    def worst_error():
        rows, start = Rows(700, ENGINE), np.random.default_rng(0)
        pairs = top_eigenpairs(
            lambda Y: S @ Y, 30, rows, start, n_extra=20, max_rounds=2, tolerance=0.0
        )
        return np.abs(pairs.values[:30] / values[:30] - 1).max()

    assert worst_error() < 1e-3
    monkeypatch.setattr("topicvec.embed.eigen._Clearing.__call__", lambda self, Y: None)
    assert worst_error() > 0.1


def test_a_warm_start_needs_fewer_products():
    S, _ = spectrum_with_outliers()
    rows, rng = Rows(len(S), ENGINE), np.random.default_rng(0)
    cold = top_eigenpairs(lambda Y: S @ Y, 30, rows, rng, n_extra=20)
    T = S + np.float32(0.01) * np.outer(S[0], S[0])
    warm = top_eigenpairs(lambda Y: T @ Y, 30, rows, rng, n_extra=20, start=cold.vectors)
    assert warm.n_products < cold.n_products
    np.testing.assert_allclose(warm.values[:30], eigh(T)[0][::-1][:30], rtol=1e-2)


def test_only_positive_eigenvalues_are_kept():
    w = g = np.array([0, -1, -1, 0], np.float32)
    support = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    association = Association(*support, -w * g, -w, g, 0.0, -1.0, np.ones(2, np.float32))
    assert factorize(association, 2, ENGINE, n_iter=1).vectors.shape == (2, 1)


def test_a_matrix_without_positive_eigenvalues_is_refused():
    zero = np.zeros(4, np.float32)
    support = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    association = Association(*support, zero, zero, zero, 0.0, 0.0, np.ones(2, np.float32))
    with pytest.raises(DataError, match="positive"):
        factorize(association, 1, ENGINE)


@pytest.mark.parametrize("memory_budget", [0, 1 << 32])
def test_any_number_of_workers_gives_the_same_bits(memory_budget, monkeypatch):
    monkeypatch.setattr("topicvec.embed.eigen.BLOCK", 100)
    association = random_association()
    found = [
        factorize(association, 10, LocalEngine(n), n_iter=2, memory_budget=memory_budget)
        for n in (1, 2, 3)
    ]
    for other in found[1:]:
        assert found[0].vectors.tobytes() == other.vectors.tobytes()
        assert found[0].residual == other.residual


def test_progress_is_reported_by_iterations():
    calls = []
    factorize(random_association(100), 5, ENGINE, n_iter=3, progress=lambda *c: calls.append(c))
    assert calls == [("core words", t, 3) for t in (1, 2, 3)]


def test_a_large_matrix_without_positive_eigenvalues_is_refused_too():
    zero, n = np.zeros(700, np.float32), 700
    support = np.arange(n + 1), np.arange(n, dtype=np.int32)
    association = Association(*support, zero, zero, zero, 0.0, 0.0, np.ones(n, np.float32))
    with pytest.raises(DataError, match="positive"):
        factorize(association, 5, ENGINE)


def test_values_that_are_not_finite_are_refused():
    S = np.full((700, 700), np.nan, np.float32)
    with pytest.raises(DataError, match="not finite"):
        top_eigenpairs(lambda Y: S @ Y, 5, Rows(700, ENGINE), np.random.default_rng(0))


def test_a_tolerance_that_is_not_reached_is_logged(caplog):
    S, _ = spectrum_with_outliers()
    settings = {"n_extra": 20, "max_rounds": 1, "tolerance": 1e-9}
    rng = np.random.default_rng(0)
    top_eigenpairs(lambda Y: S @ Y, 30, Rows(len(S), ENGINE), rng, **settings)
    assert "relative residual" in caplog.text
    assert "not 1e-09" in caplog.text
    caplog.clear()
    settings |= {"max_rounds": 6, "tolerance": 0.01}
    top_eigenpairs(lambda Y: S @ Y, 30, Rows(len(S), ENGINE), rng, **settings)
    assert not caplog.text

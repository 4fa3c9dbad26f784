from dataclasses import replace

import numpy as np
import pytest
from psdvec_twins import counted, literal_log_ratios, literal_regression

from topicvec.embed import PSDVec
from topicvec.embed.association import measure_margins
from topicvec.embed.regress import LEAST_UNSEEN_WEIGHT, regress
from topicvec.engine import LocalEngine
from topicvec.errors import DataError

ENGINE = LocalEngine(1)
N_CORE = 40


def setting(direction="left", **options):
    counts = counted(window=4, direction=direction, weighting="flat")
    margins = measure_margins(counts, n_core=N_CORE, saturated=0.05, **options)
    others = np.arange(N_CORE, counts.n_words)
    return counts, margins, others


def core_vectors(n_dims, seed=0):
    return np.random.default_rng(seed).standard_normal((N_CORE, n_dims), dtype=np.float32)


def literal(counts, margins, V, core, i, mu):
    x = counts.counts.toarray() / counts.unit
    G = literal_log_ratios(x, margins.smoothing)
    w0 = max(margins.unseen_weight, LEAST_UNSEEN_WEIGHT)
    g0 = margins.unseen_target if margins.unseen_weight > 0 else 0.0
    W = w0 + (1 - w0) * np.minimum(np.sqrt(x / margins.cut), 1.0)
    G = np.where(x > 0, G, g0)
    d = margins.importance[core]
    return literal_regression(V, d, W[core, i], W[i, core], G[core, i], G[i, core], mu)


@pytest.mark.parametrize("direction", ["left", "both"])
@pytest.mark.parametrize("n_dims", [3, 60])  # the normal equations, and the kernel form
@pytest.mark.parametrize(
    "options",
    [{}, {"unseen_weight": 0.1}, {"unseen_weight": 1.0, "frequency_power": 0.2}],
)
def test_words_are_solved_as_the_formula_says(direction, n_dims, options):
    counts, margins, others = setting(direction, **options)
    V, core = core_vectors(n_dims), np.arange(N_CORE)
    ridge = np.full(others.size, 1.5)
    found = regress(counts, margins, core, V, others, ridge, ENGINE)
    expected = [literal(counts, margins, V, core, i, 1.5) for i in others]
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


def test_unseen_core_words_have_target_zero():
    counts, margins, others = setting()
    V, core = core_vectors(60), np.arange(N_CORE)
    ridge = np.full(others.size, 1e-3)
    found = regress(counts, margins, core, V, others, ridge, ENGINE)
    seen = (counts.counts + counts.counts.T).toarray()[others][:, core] > 0
    assert np.abs((found @ V.T)[~seen]).mean() < 0.5
    pulled = replace(margins, unseen_weight=0.5)
    found = regress(counts, pulled, core, V, others, ridge, ENGINE)
    assert (found @ V.T)[~seen].mean() < -2


def test_each_word_has_its_own_ridge():
    counts, margins, others = setting()
    V, core = core_vectors(10), np.arange(N_CORE)
    mixed = np.where(np.arange(others.size) % 2, 0.5, 5.0)
    found = regress(counts, margins, core, V, others, mixed, ENGINE)
    for mu in (0.5, 5.0):
        alone = regress(counts, margins, core, V, others, np.full(others.size, mu), ENGINE)
        np.testing.assert_allclose(found[mixed == mu], alone[mixed == mu], rtol=1e-4, atol=1e-6)


def test_core_words_come_in_any_order_and_words_being_solved_are_no_evidence():
    counts, margins, _ = setting()
    core, V = np.arange(N_CORE), core_vectors(10)
    words = np.array([5, 12, 50])
    found = regress(counts, margins, core, V, words, np.ones(3), ENGINE)
    order = np.random.default_rng(0).permutation(np.setdiff1d(core, words))
    again = regress(counts, margins, order, V[order], words, np.ones(3), ENGINE)
    np.testing.assert_allclose(found, again, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("frequency_power", [0.0, PSDVec().frequency_power])
def test_a_word_that_saw_no_core_word_gets_the_zero_vector(frequency_power):
    counts = counted([["a", "b"] * 5, ["c"]], window=1)
    margins = measure_margins(counts, frequency_power=frequency_power)
    V = np.ones((2, 3), np.float32)
    found = regress(counts, margins, np.arange(2), V, np.array([2]), np.ones(1), ENGINE)
    np.testing.assert_array_equal(found, np.zeros((1, 3)))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_any_number_of_workers_gives_the_same_bits(n_jobs, monkeypatch):
    monkeypatch.setattr("topicvec.embed.regress.WORDS", 3)
    counts, margins, others = setting()
    arguments = counts, margins, np.arange(N_CORE), core_vectors(20), others, np.ones(others.size)
    one, several = (regress(*arguments, LocalEngine(n)) for n in (1, n_jobs))
    assert one.tobytes() == several.tobytes()


def test_a_ridge_of_zero_is_refused():
    counts, margins, others = setting()
    with pytest.raises(DataError, match="ridge"):
        regress(counts, margins, np.arange(N_CORE), core_vectors(3), others, 0.0 * others, ENGINE)

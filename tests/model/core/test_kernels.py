import numpy as np
import oracles
import pytest
from numba import njit
from scipy.special import digamma, gammaln

from topicvec.model import equations as eq
from topicvec.model import estep, kernels


def arguments(world, dtype, mask=False, tol=1e-3, max_passes=6):
    n_topics = len(world.T)
    corpus = world.corpus(n_topics, dtype=dtype)
    logits = eq.logits(world.V, world.T, eq.residuals(world.V, world.u, world.T))[corpus.types]
    table = np.exp(logits - logits.max(1, keepdims=True)).astype(dtype)
    alpha = np.vstack([np.linspace(0.05, 0.5, n_topics)] * 2)
    group = np.arange(corpus.n_documents) % 2
    lengths = np.add.reduceat(corpus.shards[0].counts, corpus.shards[0].indptr[:-1])
    if mask:
        alpha[1, 2] = alpha[0, 3] = 0
    theta = np.where(alpha[group] > 0, alpha[group] + lengths[:, None] / n_topics, 0)
    inputs = (
        corpus.shards[0].indptr,
        corpus.shards[0].words,
        corpus.shards[0].counts,
        table,
        alpha,
        group,
        theta,
    )
    return corpus, (*inputs, tol, max_passes, estep.LEAST_WEIGHT[np.dtype(dtype).char])


def outputs(corpus, args):
    shape, dtype = args[6].shape, args[3].dtype
    return (
        np.empty(shape), np.empty(shape, dtype), np.empty(len(corpus.shards[0].counts), dtype),
        np.zeros(shape[1]),
    )  # fmt: skip


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-4), (np.float64, 1e-8)])
def test_the_e_step_agrees_with_its_twin(world, mask, dtype, rtol):
    corpus, args = arguments(world, dtype, mask)
    fast, slow = outputs(corpus, args), outputs(corpus, args)
    bound, passes = kernels.e_step(*args, *fast)
    bound_slow, passes_slow = estep.e_step(*args, *slow)
    assert bound == pytest.approx(bound_slow, rel=1e-6)
    assert abs(passes - passes_slow) <= 2
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
    if mask:
        assert not fast[0][0::2, 3].any()
        assert not fast[0][1::2, 2].any()


def test_word_mass_agrees_with_its_twin_and_with_the_topic_mass(world):
    corpus, args = arguments(world, np.float64)
    _, weight, ratio, mass = out = outputs(corpus, args)
    kernels.e_step(*args, *out)
    where = (
        corpus.shards[0].word_indptr,
        corpus.shards[0].documents,
        ratio[corpus.shards[0].cells],
        weight,
        args[3],
    )
    C = kernels.word_mass(*where)
    np.testing.assert_allclose(C, estep.word_mass(*where))
    np.testing.assert_allclose(C.sum(0), mass)
    np.testing.assert_allclose(C.sum(1), corpus.type_counts)
    assert mass.sum() == pytest.approx(corpus.type_counts.sum())


def test_the_bound_of_the_e_step_is_the_papers(world):
    corpus, args = arguments(world, np.float64)
    theta, weight, ratio, _ = out = outputs(corpus, args)
    bound, _ = kernels.e_step(*args, *out)
    r = eq.residuals(world.V, world.u, world.T)
    logits = eq.logits(world.V, world.T, r)[corpus.types]
    expected = -corpus.type_counts @ logits.max(1)
    for d in range(corpus.n_documents):
        cells = slice(corpus.shards[0].indptr[d], corpus.shards[0].indptr[d + 1])
        n, words = corpus.shards[0].counts[cells], corpus.types[corpus.shards[0].words[cells]]
        pi = (ratio[cells] / n)[:, None] * args[3][corpus.shards[0].words[cells]] * weight[d]
        u = np.ones(len(n))
        expected += oracles.bound_long(world.V[words], u, world.T, r, args[4][0], theta[d], n, pi)
    assert bound == pytest.approx(expected)


def test_the_special_functions_are_accurate_everywhere():
    x = np.concatenate([np.geomspace(1e-2, 1e6, 400), [1.0, 2.0]])
    found = np.array([kernels._exp_digamma(v) for v in x])
    np.testing.assert_allclose(found, np.exp(digamma(x)), rtol=1e-8)
    logs = np.array([kernels._log_gamma(v) for v in x])
    np.testing.assert_allclose(logs, gammaln(x), rtol=1e-9, atol=1e-9)


def test_an_empty_document_gets_the_prior(world):
    _, args = arguments(world, np.float64)
    empty = np.zeros(2, np.int64)
    prior, table = args[4], args[3]
    theta, weight = np.empty((1, len(world.T))), np.empty((1, len(world.T)))
    bound, _ = kernels.e_step(
        empty, args[1][:0], args[2][:0], table, prior, np.zeros(1, int), prior[:1],
        1e-3, 5, 1e-140, theta, weight, np.empty(0), np.zeros(len(world.T)),
    )  # fmt: skip
    np.testing.assert_allclose(theta, prior[:1])
    assert bound == pytest.approx(0, abs=1e-9)


def test_the_logarithm_is_accurate_everywhere():
    @njit(fastmath=kernels._FAST, error_model="numpy")
    def logarithms(x):  # in a loop that is vectorised, as the kernel's
        found = np.empty(x.size)
        for i in range(x.size):
            found[i] = kernels._log(x[i])
        return found

    x = np.concatenate([np.geomspace(1e-300, 1e300, 601), np.linspace(0.5, 2, 301)])
    np.testing.assert_allclose(logarithms(x), np.log(x), rtol=1e-15, atol=3e-16)


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5, 63, 64, 65, 66])
def test_words_are_taken_by_four_to_the_last(n_words):
    counts = np.arange(1.0, n_words + 1)
    args = (
        np.array([0, n_words]), np.arange(n_words), counts,
        np.random.default_rng(0).random((n_words, 7)) + 0.1, np.full((1, 7), 0.3),
        np.zeros(1, int), np.full((1, 7), 0.3 + counts.sum() / 7), 1e-6, 1, 1e-100,
    )  # fmt: skip
    fast = (np.empty((1, 7)), np.empty((1, 7)), np.empty(n_words), np.zeros(7))
    slow = tuple(map(np.copy, fast))
    assert kernels.e_step(*args, *fast)[0] == pytest.approx(estep.e_step(*args, *slow)[0])
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8)
    # the same word in as many documents
    weight = np.random.default_rng(1).random((n_words, 7))
    where = (np.array([0, n_words]), np.arange(n_words), counts, weight)
    C = kernels.word_mass(*where, np.ones((1, 7)))
    np.testing.assert_allclose(C[0], counts @ weight)

import subprocess
import sys

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
    floor = estep.LEAST_WEIGHT[np.dtype(dtype).char]
    return corpus, (*inputs, tol, max_passes, floor, corpus.shards[0].places)


def outputs(corpus, args):
    shape, dtype = args[6].shape, args[3].dtype
    n_here = len(corpus.shards[0].types)
    return np.empty(shape), np.zeros((n_here, shape[1]), dtype), np.zeros(shape[1])


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


@pytest.mark.parametrize("max_passes", [1, 2, 6])
def test_the_words_of_the_e_step_have_all_tokens(world, max_passes):
    corpus, args = arguments(world, np.float64, max_passes=max_passes)
    _, C, mass = out = outputs(corpus, args)
    kernels.e_step(*args, *out)
    np.testing.assert_allclose(C.sum(0), mass)
    np.testing.assert_allclose(C.sum(1), corpus.type_counts)
    assert mass.sum() == pytest.approx(corpus.type_counts.sum())


def test_the_bound_of_the_e_step_is_the_papers(world):
    corpus, args = arguments(world, np.float64)
    shard, r = corpus.shards[0], eq.residuals(world.V, world.u, world.T)
    logits = eq.logits(world.V, world.T, r)[corpus.types]
    for d in range(corpus.n_documents):  # one alone: C is its n π then
        cells = slice(shard.indptr[d], shard.indptr[d + 1])
        n, types = shard.counts[cells], shard.words[cells]
        theta, C, mass = np.empty((1, len(world.T))), np.zeros(logits.shape), np.zeros(len(world.T))
        bound, _ = kernels.e_step(
            np.array([0, len(n)]), types, n, args[3], args[4], args[5][d : d + 1],
            args[6][d : d + 1], *args[7:10], types, theta, C, mass,
        )  # fmt: skip
        pi, u, words = C[types] / n[:, None], np.ones(len(n)), corpus.types[types]
        expected = oracles.bound_long(world.V[words], u, world.T, r, args[4][0], theta[0], n, pi)
        assert bound + n @ logits.max(1)[types] == pytest.approx(expected)


def test_what_is_left_out_is_no_more_than_what_a_pass_may_leave_unsettled(world):
    corpus, args = arguments(world, np.float64, tol=0.05, max_passes=50)
    theta, *_ = out = outputs(corpus, args)
    kernels.e_step(*args, *out)
    whole = outputs(corpus, args)
    kernels.e_step(*args[:7], 0.0, 200, *args[9:], *whole)
    kept = theta > args[4][0]
    assert kept.mean() < 1
    lengths = np.add.reduceat(corpus.shards[0].counts, corpus.shards[0].indptr[:-1])
    assert (np.where(kept, 0, whole[0] - args[4][0]).sum(1) < 0.05 * lengths).all()


def test_the_special_functions_are_accurate_everywhere():
    x = np.concatenate([np.geomspace(1e-2, 1e6, 400), [1.0, 2.0]])
    found = np.array([kernels._exp_digamma(v) for v in x])
    np.testing.assert_allclose(found, np.exp(digamma(x)), rtol=1e-8)
    logs = np.array([kernels._log_gamma(v) for v in x])
    np.testing.assert_allclose(logs, gammaln(x), rtol=1e-9, atol=1e-9)


def test_an_empty_document_gets_the_prior(world):
    _, args = arguments(world, np.float64)
    prior, table, none = args[4], args[3], args[1][:0]
    theta = np.empty((1, len(world.T)))
    bound, _ = kernels.e_step(
        np.zeros(2, np.int64), none, args[2][:0], table, prior, np.zeros(1, int), prior[:1],
        1e-3, 5, 1e-140, none, theta, np.zeros((0, len(world.T))), np.zeros(len(world.T)),
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
        np.zeros(1, int), np.full((1, 7), 0.3 + counts.sum() / 7), 1e-6, 2, 1e-100,
        np.arange(n_words)[::-1].copy(),
    )  # fmt: skip
    fast = (np.empty((1, 7)), np.zeros((n_words, 7)), np.zeros(7))
    slow = tuple(map(np.copy, fast))
    assert kernels.e_step(*args, *fast)[0] == pytest.approx(estep.e_step(*args, *slow)[0])
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8)


@pytest.mark.parametrize("n_words", [5, 64, 65, 200])
@pytest.mark.parametrize("others", [1.0, 1e-6])
def test_documents_of_few_topics_and_of_many_are_as_with_the_twin(n_words, others):
    rng, n_topics = np.random.default_rng(n_words), 60
    counts = rng.integers(1, 4, n_words).astype(float)
    table = rng.random((n_words, n_topics)) * np.where(np.arange(n_topics) < 2, 1, others)
    prior = np.full((1, n_topics), 0.1)
    args = (
        np.array([0, n_words]), np.arange(n_words), counts, table, prior, np.zeros(1, int),
        prior + counts.sum() / n_topics, 1e-2, 2, 1e-100, np.arange(n_words),
    )  # fmt: skip
    fast = (np.empty((1, n_topics)), np.zeros((n_words, n_topics)), np.zeros(n_topics))
    slow = tuple(map(np.copy, fast))
    assert kernels.e_step(*args, *fast)[0] == pytest.approx(estep.e_step(*args, *slow)[0])
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-12)
    few = (fast[2] > 0).sum() * kernels._FEW < n_topics
    assert few == (others < 1)


def test_one_pass_keeps_all_topics_and_starts_where_it_is_told(world):
    corpus, args = arguments(world, np.float64, max_passes=1)
    theta, *_ = out = outputs(corpus, args)
    assert kernels.e_step(*args, *out)[1] == corpus.n_documents
    shard = corpus.shards[0]
    for d in range(corpus.n_documents):
        cells = slice(shard.indptr[d], shard.indptr[d + 1])
        n, L = shard.counts[cells], args[3][shard.words[cells]]
        pi = eq.responsibilities(L, eq.mixture_weight(args[6][d], 1e-140))
        np.testing.assert_allclose(theta[d], args[4][d % 2] + n @ pi)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_added_to_the_bits_of_numpy(dtype):
    rng = np.random.default_rng(0)
    C, part = rng.random((9, 5)).astype(dtype), rng.random((3, 5)).astype(dtype)
    rows = np.array([7, 0, 4], np.int32)
    expected = C.copy()
    expected[rows] += part
    kernels.add_rows(C, rows, part)
    assert (expected == C).all()


EVERYWHERE = """
import sys, warnings
from pathlib import Path
import numpy as np
from topicvec import TopicVec, WordVectors
from topicvec.model import kernels
from topicvec.text import prepare

warnings.simplefilter("ignore")  # that they did not converge
folder, rng = Path(sys.argv[1]), np.random.default_rng(0)
words = [a + b + c for a in "abcdefghij" for b in "klmno" for c in "pqrst"]
vectors = WordVectors(words, rng.normal(size=(250, 8)), np.ones(250))
texts = [list(rng.choice(words, 40)) for _ in range(60)]
given = {"n_topics": 4, "vectors": vectors, "random_state": 0}
model = TopicVec(max_iter=3, **given).fit(texts, checkpoint=folder / "state")
TopicVec(max_iter=6, **given).fit(texts, checkpoint=folder / "state")
TopicVec(max_iter=3, **given).fit(prepare(texts, folder / "corpus"))
TopicVec(max_iter=3, **given, share="class").fit(texts, ["a", "b"] * 30)
TopicVec(max_iter=3, **given, solver="paper").fit(texts)
model.transform(texts)
model.partial_fit(texts).partial_fit(texts)
print(len(kernels.e_step.signatures))
"""


def test_the_loop_is_compiled_for_one_kind_of_arrays_which_takes_seconds(tmp_path):
    run = [sys.executable, "-c", EVERYWHERE, str(tmp_path)]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == "1\n"

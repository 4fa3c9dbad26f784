import numpy as np
from scipy.stats import multivariate_t

from topicvec_bench.gaussian_kernels import (
    gaussian_sweep,
    gaussian_sweep_reference,
    log_densities,
    posterior,
)
from topicvec_bench.gaussian_lda import GaussianLDA

KAPPA, NU, SCALE = 0.3, 3.0, 0.8


def make(seed=0, n_words=9, n_topics=3, lengths=(4, 0, 8, 1)):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_words, 3))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.integers(n_words, size=starts[-1])
    topics = rng.integers(n_topics, size=starts[-1])
    return rng, vectors, words, starts, topics


def refit(vectors, words, topics, n_topics=3):
    inside = [vectors[words[topics == k]] for k in range(n_topics)]
    counts = np.array([len(points) for points in inside])
    sums = np.array([points.sum(0) for points in inside])
    squares = np.array([points.T @ points for points in inside])
    return counts, *posterior(counts, sums, squares, KAPPA, SCALE)


def test_the_compiled_sweep_is_its_twin_and_keeps_the_posterior():
    rng, vectors, words, starts, topics = make()
    moved = 0
    for _ in range(10):
        state = refit(vectors, words, topics)
        twin = [array.copy() for array in (topics, *state)]
        stale = rng.random((9, 3)) + 0.1
        rest = (stale, KAPPA, NU, 0.1, rng.random((len(words), 2)))
        found = gaussian_sweep(words, starts, topics, vectors, *state, *rest)
        expected = gaussian_sweep_reference(words, starts, twin[0], vectors, *twin[1:], *rest)
        assert found == expected
        for one, other in zip((topics, *state), twin, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
        for one, other in zip(state, refit(vectors, words, topics), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
        moved += found[1]
    assert moved > 0


def test_exact_proposals_of_a_single_token_are_always_accepted():
    rng, vectors, words, _, topics = make()
    for i in range(len(words)):
        others = np.arange(len(words)) != i
        without = refit(vectors, words[others], topics[others])
        exact = np.exp(log_densities(vectors, *without, KAPPA, NU))
        state = refit(vectors, words, topics)
        starts = np.zeros(len(words) + 1, int)  # all documents are empty but that of token i
        starts[:] = i
        starts[-1] = i + 1
        uniforms = np.full((len(words), 2), rng.random())
        uniforms[:, 1] = 1 - 1e-9
        proposed, accepted = gaussian_sweep(
            words, starts, topics, vectors, *state, exact, KAPPA, NU, 0.5, uniforms
        )
        assert proposed == accepted


def test_log_densities_are_those_of_a_students_t():
    _, vectors, words, _, topics = make()
    counts, means, factors = refit(vectors, words, topics)
    found = log_densities(vectors, counts, means, factors, KAPPA, NU)
    for k, n in enumerate(counts):
        freedom = NU + n - 3 + 1
        shape = factors[k].T @ factors[k] * (KAPPA + n + 1) / ((KAPPA + n) * freedom)
        expected = multivariate_t.logpdf(vectors, means[k], shape, df=freedom)
        np.testing.assert_allclose(found[:, k], expected)


def test_a_word_that_is_new_counts_by_its_vector(planted):
    model = GaussianLDA(n_topics=3, vectors=planted.vectors, n_iter=10).fit(planted.documents)
    assert "g0new" not in model.words_
    new, old, other = model.transform([["g0new"] * 5, ["g0w1"] * 5, ["g1w1"] * 5]).argmax(1)
    assert new == old
    assert new != other


def test_only_the_main_directions_are_used_if_asked(planted):
    model = GaussianLDA(n_topics=3, vectors=planted.vectors, n_dims=2, n_iter=5)
    assert model.fit(planted.documents).means_.shape == (3, 2)

import numpy as np
import pytest

from topicvec_bench import twe_pairs
from topicvec_bench.tokens import Tokens
from topicvec_bench.twe_pairs import TWE2, TWE3, number_pairs, tune

KINDS = (TWE2, TWE3)
PARAMS = {"n_topics": 3, "n_dims": 8, "min_count": 1, "n_iter": 40, "n_epochs": 5}


@pytest.mark.parametrize("n_parts", [1, 2])
def test_the_compiled_skip_gram_is_its_twin(n_parts):
    rng = np.random.default_rng(0)
    starts = np.array([0, 4, 4, 5, 30])
    pairs, parts = rng.integers(6, size=30), rng.integers(5, size=(6, n_parts))
    parts[:, 0] += 5 * (n_parts > 1)  # a pair's rows are of different kinds
    vectors = rng.normal(size=(2, 10, 7)).astype(np.float32)
    noise = rng.integers(6, size=50)  # too few: it goes round
    rest = (rng.integers(1, 4, size=30), noise, 5, np.float32(0.3), np.float32(0.1))
    found, twin = vectors.copy(), vectors.copy()
    twe_pairs.pair_skip_gram(pairs, starts, parts, *found, *rest)
    twe_pairs.pair_skip_gram_reference(pairs, starts, parts, *twin, *rest)
    np.testing.assert_allclose(found, twin, rtol=1e-3, atol=1e-4)
    assert np.abs(found - vectors).max() > 0.1


def test_a_step_is_the_gradient_of_skip_grams_objective():
    # One context and one noise pair of two parts: the change is rate times finite differences.
    rng = np.random.default_rng(1)
    parts = np.array([[0, 3], [1, 4], [2, 3]])
    inputs, outputs = rng.normal(size=(2, 5, 4)).astype(np.float32)
    rate, before = np.float32(1e-3), inputs.copy()

    def objective(own):
        def score(pair):
            return np.sum(own[parts[0]] * outputs_before[parts[pair]])

        return -np.logaddexp(0, -score(1)) - np.logaddexp(0, score(2))

    outputs_before = outputs.copy()
    rest = (np.array([1, 0]), np.array([2]), 1, rate, rate)  # the second token has no context
    twe_pairs.pair_skip_gram(np.array([0, 1]), np.array([0, 2]), parts, inputs, outputs, *rest)
    expected = np.zeros_like(before)
    for row, n in np.ndindex(*before.shape):
        moved = before.astype(float)
        moved[row, n] += 1e-5
        expected[row, n] = (objective(moved) - objective(before.astype(float))) / 1e-5
    np.testing.assert_allclose((inputs - before) / rate, expected, atol=2e-3)
    assert np.abs(expected).max() > 0.1


def test_a_word_of_two_topics_has_two_vectors():
    # "bank" stands with money words in topic 0 and with river words in topic 1.
    rng = np.random.default_rng(0)
    words, topics = [], []
    for _ in range(300):
        topic = int(rng.integers(2))
        words += [0, *(1 + 5 * topic + rng.integers(5, size=7))]
        topics += [topic] * 8
    tokens = Tokens(np.array(words, np.int32), np.arange(0, 2401, 8))
    pairs = number_pairs(tokens, np.array(topics), 2)
    start = rng.normal(scale=0.1, size=(2, len(pairs.words), 6))
    rows = np.arange(len(pairs.words))[:, None]
    found = tune(pairs, rows, *start, 5, 20, rng)
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    banks = unit[pairs.words == 0]
    means = [unit[(pairs.words > 0) & (pairs.topics == topic)].mean(0) for topic in (0, 1)]
    nearer = banks @ np.array(means).T
    assert nearer[0, 0] > nearer[0, 1] + 0.3
    assert nearer[1, 1] > nearer[1, 0] + 0.3


@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_a_planted_group_lie_together(planted, kind):
    pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
    model = kind(**PARAMS).fit(planted.documents)
    own, new = (model.transform(part) for part in (planted.documents, planted.new_documents))
    assert own.shape[1] == (8 if kind is TWE2 else 16)
    labels = np.array(planted.labels)
    centres = np.array([own[labels == group].mean(0) for group in range(3)])
    nearest = ((new[:, None] - centres) ** 2).sum(2).argmin(1)
    np.testing.assert_array_equal(nearest, planted.new_labels)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_bits_and_another_one_others(planted, kind):
    pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
    first, second, other = (
        kind(**PARAMS, random_state=seed)
        .fit(planted.documents)
        .transform(planted.new_documents)
        .tobytes()
        for seed in (0, 0, 1)
    )
    assert first == second != other


def test_tuning_moves_the_vectors_of_twe_3_from_those_of_twe_1(planted):
    pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
    start, tuned = (TWE3(**PARAMS, n_tuning=n).fit(planted.documents) for n in (0, 5))
    assert not np.allclose(start.topic_vectors_, tuned.topic_vectors_, atol=0.01)
    assert not np.allclose(start.word_vectors_, tuned.word_vectors_, atol=0.01)


def test_a_pair_that_was_not_seen_has_the_vector_of_its_word(planted):
    pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
    model = TWE2(**PARAMS).fit(planted.documents)
    unseen = np.argwhere(model.pair_rows_ < len(model.words_))
    assert len(unseen)
    np.testing.assert_array_equal(model.pair_rows_[tuple(unseen.T)], unseen[:, 0])

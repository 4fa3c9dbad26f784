"""Word vectors of several models as one space, against sums that are written out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from topicvec import WordVectors
from topicvec.model import FittedTopics, spaces
from topicvec.model.spaces import one_space

RNG = np.random.default_rng(0)


def fitted(words, matrix, counts, unigram=None):
    """A model whose only topic is the first dimension."""
    vectors = WordVectors(words, matrix, np.ones(len(words)) if unigram is None else unigram)
    bare = FittedTopics.bare(vectors, np.eye(2, 2, -1), max_norm=7.0)
    counts = np.asarray(counts, float)
    return replace(bare, word_counts=counts, mass=np.array([0.0, counts.sum()]))


def test_vectors_are_averaged_by_how_often_each_model_has_seen_the_word():
    rows = [np.array([0, 2]), np.array([2, 1])]
    blocks = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])]
    counts = np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 3.0]])
    found = spaces._averaged(rows, blocks, counts)
    expected = [[1, 2], [7, 8], [(3 + 3 * 5) / 4, (4 + 3 * 6) / 4]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_word_without_a_vector_in_a_model_counts_nothing_there():
    models = [SimpleNamespace(word_counts=np.array(each)) for each in ([3.0, 0.0], [5.0])]
    found = spaces._counts(models, [np.array([0, 2]), np.array([2])], 4)
    np.testing.assert_allclose(found, [[3, 0, 1e-6, 0], [0, 0, 5, 0]], rtol=1e-6)
    assert found[0, 2] > 0  # which has a vector, though it was not seen


def test_shares_and_unigrams_are_those_of_the_tokens():
    one = fitted(["a", "b"], np.eye(2), [30, 10], unigram=np.array([3.0, 1.0]))
    two = fitted(["b", "c"], np.eye(2), [60, 60], unigram=np.array([1.0, 1.0]))
    np.testing.assert_allclose(spaces._tokens([one, two]), [0.25, 0.75])
    found = spaces._unigram([one, two], [np.array([0, 1]), np.array([1, 2])], 3)
    np.testing.assert_allclose(found, [0.25 * 0.75, 0.25 * 0.25 + 0.75 * 0.5, 0.75 * 0.5])


@pytest.mark.parametrize("n_words", [5, 9])
def test_residuals_keep_the_averaged_inner_products(n_words):
    turn = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    block = RNG.normal(size=(n_words, 3))
    rows = [np.arange(n_words), np.arange(n_words)]
    counts = RNG.uniform(1, 9, (2, n_words))
    V = spaces._residuals([block, block @ turn], rows, counts)[0]
    assert V.shape == (n_words, 3)
    shares = counts / counts.sum(axis=0)
    expected = sum(np.sqrt(np.outer(share, share)) * (block @ block.T) for share in shares)
    own = spaces._residuals([block], rows[:1], np.ones((1, n_words)))[0]
    # no other vectors of three dimensions are nearer to these products
    values = np.linalg.eigvalsh(expected)[::-1]
    error = np.linalg.norm(V @ V.T - expected)
    assert error == pytest.approx(np.sqrt((values[3:] ** 2).sum()), rel=1e-3, abs=1e-4)
    assert np.linalg.norm(own @ own.T - block @ block.T) < 1e-4


def test_one_model_keeps_its_residuals_up_to_a_turn():
    block = RNG.normal(size=(6, 3))
    V, [turn] = spaces._residuals([block], [np.arange(6)], np.ones((1, 6)))
    np.testing.assert_allclose(V @ V.T, block @ block.T, atol=1e-5)
    np.testing.assert_allclose(block @ turn, V, atol=1e-5)
    assert np.all(V[:, 0] @ V[:, 1:] == pytest.approx(0, abs=1e-4))


def test_residuals_of_nothing_have_no_dimension():
    V, turns = spaces._residuals([np.zeros((4, 2))], [np.arange(4)], np.ones((1, 4)))
    assert V.shape == (4, 0)
    assert turns[0].shape == (2, 0)


def test_maps_of_axes_stand_below_each_other():
    found = spaces._turn(np.full((2, 1), 3.0), np.full((1, 2), 5.0))
    np.testing.assert_array_equal(found, [[3, 0, 0], [3, 0, 0], [0, 5, 5]])


@pytest.mark.parametrize(("times", "length"), [(2.0, 2.0), (10.0, 7.0)])
def test_topics_that_are_moved_stay_in_their_ball(times, length):
    model = fitted(["a", "b", "c"], RNG.normal(size=(3, 2)), [1, 2, 3])
    moved = spaces._moved(model, model.vectors, np.arange(3), times * np.eye(2))
    np.testing.assert_allclose(np.linalg.norm(moved.topics, axis=1), [0, length], rtol=1e-6)


def test_models_on_equal_vectors_share_them_and_others_are_moved():
    matrix = RNG.normal(size=(3, 2))
    same = [fitted(["a", "b", "c"], matrix.copy(), [1, 2, 3]) for _ in range(2)]
    first, second = one_space(same)
    assert first.vectors is second.vectors
    other = fitted(["b", "c", "d"], np.vstack([matrix[1:], [[1.0, 1.0]]]), [6, 3, 4])
    first, second = one_space([same[0], other])
    assert first.vectors.words == ("a", "b", "c", "d")
    np.testing.assert_allclose(first.vectors.matrix[:3], matrix, atol=1e-6)
    np.testing.assert_allclose(first.word_counts, [1, 2, 3, 0])
    np.testing.assert_allclose(second.word_counts, [0, 6, 3, 4])

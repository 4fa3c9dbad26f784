from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from topicvec.errors import DataError
from topicvec_bench.replicated_softmax import ReplicatedSoftmax, Weights, sample_words

STATES = np.array(list(product([0.0, 1.0], repeat=2)))  # of two hidden units


def some_weights(rng, n_words=3):
    return Weights(*(rng.normal(size=shape) for shape in ((n_words, 2), n_words, 2)))


def minus_energy(weights, counts, states):
    """Equation 4 of its paper, for counts (W,) and states (F,)."""
    pairs = counts @ weights.pairs @ states
    return pairs + counts @ weights.words + counts.sum() * weights.hidden @ states


def log_likelihood(weights, counts):
    """The exact log-probability of counts (W,) among all documents of their length."""
    length = counts.sum()
    orders = gammaln(length + 1) - gammaln(counts + 1).sum()
    own = logsumexp([minus_energy(weights, counts, states) for states in STATES])
    # given the hidden units, words are independent: their sum is a power
    every = length * (logsumexp(weights.logits(STATES), axis=1) + STATES @ weights.hidden)
    return orders + own - logsumexp(every)


def test_probabilities_of_documents_of_a_length_sum_to_one():
    weights = some_weights(np.random.default_rng(0))
    bags = [bag for bag in product(range(5), repeat=3) if sum(bag) == 4]
    total = logsumexp([log_likelihood(weights, np.array(bag)) for bag in bags])
    assert total == pytest.approx(0)


def test_hidden_units_and_words_follow_from_the_energy():
    weights, counts = some_weights(np.random.default_rng(1)), np.array([2, 0, 3])
    joint = np.exp([minus_energy(weights, counts, states) for states in STATES])
    expected = joint @ STATES / joint.sum()
    np.testing.assert_allclose(weights.describe(csr_array([counts]))[0], expected)
    words = [minus_energy(weights, one, STATES[2]) for one in np.eye(3)]
    logits = weights.logits(STATES[2:3])[0]
    np.testing.assert_allclose(np.diff(words), np.diff(logits))


def test_the_gradient_of_minus_the_energy_is_that_of_finite_differences():
    weights, counts = some_weights(np.random.default_rng(2)), np.array([2.0, 0.0, 3.0])
    states = np.array([0.3, 0.9])
    found = weights.gradient(csr_array([counts]), states[None])
    for array, slopes in zip(weights, found, strict=True):
        for place in np.ndindex(array.shape):
            array[place] += 1
            higher = minus_energy(weights, counts, states)  # linear: a long step is exact
            array[place] -= 1
            slope = higher - minus_energy(weights, counts, states)
            assert slopes[place] == pytest.approx(slope, abs=1e-9)


def test_words_are_drawn_by_their_probabilities():
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    with np.errstate(divide="ignore"):
        drawn = sample_words(
            np.log(weights), np.array([20_000, 1000]), np.random.default_rng(0)
        ).toarray()
    np.testing.assert_allclose(drawn[0] / 20_000, weights[0], atol=0.015)
    assert drawn[1].sum() == 1000
    assert drawn[1, 2] == 0


@pytest.mark.parametrize("n_steps", [1, 3])
def test_learning_makes_planted_documents_likely(planted, n_steps):
    model = ReplicatedSoftmax(2, n_epochs=1, n_steps=n_steps, batch_size=10)
    before, after = (
        np.mean([
            log_likelihood(each.weights_, row)
            for row in each._counts(planted.new_documents).toarray().astype(float)
        ])
        for each in (
            model.fit(planted.documents),
            clone(model).set_params(n_epochs=60).fit(planted.documents),
        )
    )  # fmt: skip
    assert after > before + 5  # nats a document of 25 words; 25 log 3 = 27 for a known group


def test_new_documents_lie_nearest_to_those_of_their_group(planted):
    model = ReplicatedSoftmax(6, n_epochs=60, batch_size=10).fit(planted.documents)
    known, new = model.transform(planted.documents), model.transform(planted.new_documents)
    assert new.min() >= 0
    assert new.max() <= 1
    distance = np.linalg.norm(new[:, None] - known, axis=2)  # (new, known)
    same = np.equal.outer(planted.new_labels, planted.labels)
    assert np.all(same[np.arange(len(new)), distance.argmin(1)])
    assert distance[same].mean() < 0.7 * distance[~same].mean()
    assert model.errors_[-1] < model.errors_[0] - 0.1


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(planted):
    model = ReplicatedSoftmax(3, n_epochs=5)
    first, second = (clone(model).fit_transform(planted.documents) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = clone(model).set_params(random_state=1).fit_transform(planted.documents)
    assert np.any(other != first)


def test_rare_words_are_left_out_and_a_document_without_a_known_word_tells_nothing(planted):
    model = ReplicatedSoftmax(3, n_words=10, n_epochs=3).fit([*planted.documents, []])
    assert len(model.words_) == 10
    np.testing.assert_array_equal(model.transform([["unheard", "of"], []]), 0.5)


@pytest.mark.parametrize(
    "params", [{"n_hidden": 0}, {"n_words": 0}, {"n_steps": 0}, {"momentum": 2}]
)
def test_parameters_out_of_range_are_refused(planted, params):
    with pytest.raises(DataError, match=f"{next(iter(params))} must be"):
        ReplicatedSoftmax(3).set_params(**params).fit(planted.documents)


def test_transform_before_fit_is_refused(planted):
    with pytest.raises(NotFittedError):
        ReplicatedSoftmax(3).transform(planted.documents)

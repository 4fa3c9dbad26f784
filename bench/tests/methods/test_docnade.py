import numpy as np
import pytest
from scipy.special import log_expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from topicvec.errors import DataError
from topicvec_bench.docnade import (
    DocNADE,
    Network,
    Tree,
    learn_document,
    learn_document_reference,
    shuffled,
)
from topicvec_bench.tokens import Tokens

DOCUMENT = np.array([2, 0, 5, 2, 6], np.int32)  # one word twice


def a_network(rng, n_words=7, n_hidden=3):
    """A tree, and weights large enough to matter, float64."""
    sizes = Network.random(n_words, n_hidden, rng)
    return Tree.random(n_words, rng), [rng.normal(size=each.shape) for each in sizes]


def log_probability(words, tree, W, c, V, b):
    """Foretell one word after the other, as the paper's equations say."""
    total = 0.0
    for i, word in enumerate(words):
        hidden = 1 / (1 + np.exp(-c - W[words[:i]].sum(0)))
        for node, turn in zip(tree.nodes[word], tree.turns[word], strict=True):
            if node >= 0:
                score = b[node] + V[node] @ hidden
                total += log_expit(score if turn else -score)
    return total


@pytest.mark.parametrize("n_words", [2, 3, 7, 8, 100])
def test_the_tree_gives_each_word_a_probability_and_all_sum_to_one(n_words):
    tree, network = a_network(np.random.default_rng(n_words), n_words)
    chances = [np.exp(log_probability([word], tree, *network)) for word in range(n_words)]
    assert sum(chances) == pytest.approx(1)
    lengths = (tree.nodes >= 0).sum(1)
    assert lengths.max() - lengths.min() <= 1
    assert set(tree.nodes[tree.nodes >= 0]) == set(range(n_words - 1))


@pytest.mark.parametrize("learn", [learn_document, learn_document_reference])
def test_a_step_goes_along_the_gradient_of_finite_differences(learn):
    tree, network = a_network(np.random.default_rng(0))
    moved = [each.copy() for each in network]
    learn(DOCUMENT, *tree, *moved, 1.0)
    for before, after in zip(network, moved, strict=True):
        for place in np.ndindex(before.shape):
            values = []
            for change in (1e-5, -1e-5):
                before[place] += change
                values.append(log_probability(DOCUMENT, tree, *network))
                before[place] -= change
            slope = (values[0] - values[1]) / 2e-5 / len(DOCUMENT)
            assert after[place] - before[place] == pytest.approx(slope, abs=1e-8)


def test_the_compiled_step_is_its_twin_and_tells_the_likelihood():
    tree, network = a_network(np.random.default_rng(1))
    one, other = ([each.copy() for each in network] for _ in range(2))
    expected = log_probability(DOCUMENT, tree, *network)
    assert learn_document(DOCUMENT, *tree, *one, 0.3) == pytest.approx(expected)
    assert learn_document_reference(DOCUMENT, *tree, *other, 0.3) == pytest.approx(expected)
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, theirs)


def test_words_are_shuffled_inside_their_documents():
    tokens = Tokens(np.arange(40, dtype=np.int32), np.array([0, 10, 10, 40]))
    found = shuffled(tokens, np.random.default_rng(0))
    assert sorted(found[:10]) == list(range(10))
    assert sorted(found[10:]) == list(range(10, 40))
    assert found[:10].tolist() != list(range(10))


def fit(planted, **params):
    return DocNADE(8, **{"n_epochs": 60, "learning_rate": 0.5, **params}).fit(planted.documents)


def test_planted_documents_become_likely(planted):
    found = fit(planted).likelihoods_
    assert found[0] < -0.95 * np.log(36)  # each word alike at the start
    # 36 words, of which a document has 12: knowing its group is worth almost log 3
    assert found[-1] > found[0] + 0.4


def test_new_documents_lie_nearest_to_those_of_their_group(planted):
    model = fit(planted)
    known, new = model.transform(planted.documents), model.transform(planted.new_documents)
    distance = np.linalg.norm(new[:, None] - known, axis=2)  # (new, known)
    same = np.equal.outer(planted.new_labels, planted.labels)
    assert np.all(same[np.arange(len(new)), distance.argmin(1)])
    assert distance[same].mean() < 0.7 * distance[~same].mean()


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(planted):
    model = DocNADE(5, n_epochs=3)
    first, second = (clone(model).fit_transform(planted.documents) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = clone(model).set_params(random_state=1).fit_transform(planted.documents)
    assert np.any(other != first)


def test_rare_words_are_left_out_and_documents_may_be_empty(planted):
    model = DocNADE(5, n_words=10, n_epochs=3).fit([*planted.documents, []])
    assert len(model.words_) == 10
    first, second = model.transform([["unheard", "of"], []])
    np.testing.assert_array_equal(first, second)
    assert np.isfinite(first).all()


def test_one_word_alone_is_certain():
    assert DocNADE(2, n_epochs=2).fit([["cat"], ["cat", "cat"]]).likelihoods_ == [0, 0]


@pytest.mark.parametrize(
    "params", [{"n_hidden": 0}, {"n_words": 0}, {"n_epochs": 0}, {"learning_rate": 0}]
)
def test_parameters_out_of_range_are_refused(planted, params):
    with pytest.raises(DataError, match=f"{next(iter(params))} must be"):
        DocNADE(3).set_params(**params).fit(planted.documents)


def test_transform_before_fit_is_refused(planted):
    with pytest.raises(NotFittedError):
        DocNADE(3).transform(planted.documents)

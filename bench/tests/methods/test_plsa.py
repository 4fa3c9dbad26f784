import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from topicvec.errors import DataError
from topicvec_bench.plsa import PLSA, em_pass, em_pass_reference
from topicvec_bench.tokens import number_tokens


def some_tables(rng):
    """Counts of 5 documents, the fourth empty, and proportions and topics for them."""
    documents = [list("aabc"), list("dddde"), list("abcdef"), [], list("f")]
    counts = number_tokens(documents, {word: i for i, word in enumerate("abcdef")}).counts(6)
    theta, phi = rng.dirichlet(np.ones(3), size=5), rng.dirichlet(np.ones(6), size=3).T.copy()
    return counts, theta, phi


@pytest.mark.parametrize("learns", [True, False])
def test_the_compiled_pass_is_its_twin(learns):
    counts, theta, phi = some_tables(np.random.default_rng(0))
    found = []
    for work in (em_pass, em_pass_reference):
        new_theta, new_phi = np.zeros((5, 3)), np.zeros((6, 3) if learns else (0, 0))
        objective = work(counts.indices, counts.data, counts.indptr, theta, phi, new_theta, new_phi)
        found.append((objective, new_theta, new_phi))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(found[0][1].sum(1), counts.sum(1))
    np.testing.assert_allclose(found[0][0], np.sum(counts.toarray() * np.log(theta @ phi.T)))


@pytest.mark.parametrize("temper", [1.0, 0.7])
def test_no_pass_lowers_the_objective(planted, temper):
    model = PLSA(5, temper=temper, n_iter=60, tol=0).fit(planted.documents)
    rises = np.diff(model.objectives_)
    assert rises.min() > -1e-12
    assert model.objectives_[-1] > model.objectives_[0] + 0.3


def test_with_power_one_the_objective_is_the_likelihood(planted):
    model = PLSA(3, temper=1.0, n_iter=300, tol=1e-9, n_fold=300).fit(planted.documents)
    ids = {word: i for i, word in enumerate(model.words_)}
    # of folded-in training documents: both climb to the same proportions
    likely = model.transform(planted.documents) @ model.topic_word_
    pairs = enumerate(planted.documents)
    mean = np.mean([np.log(likely[d, ids[word]]) for d, words in pairs for word in words])
    assert mean == pytest.approx(model.objectives_[-1], abs=1e-3)


def test_planted_topics_are_found(planted):
    model = PLSA(3).fit(planted.documents)
    groups = [{planted.group(word) for word in words} for words in model.topic_words(8)]
    assert sorted(map(sorted, groups)) == [[0], [1], [2]]
    np.testing.assert_allclose(model.topic_word_.sum(1), 1)


def test_new_documents_are_folded_in_at_their_topic(planted):
    model = PLSA(3).fit(planted.documents)
    new = model.transform(planted.new_documents)
    pairs = {(int(a), b) for a, b in zip(new.argmax(1), planted.new_labels, strict=True)}
    assert len(pairs) == 3
    np.testing.assert_allclose(new.sum(1), 1)
    alone = [model.transform([document])[0] for document in planted.new_documents]
    np.testing.assert_array_equal(new, alone)


def test_a_lower_power_gives_flatter_proportions(planted):
    sharp, flat = (
        PLSA(6, temper=temper).fit_transform(planted.documents).max(1).mean()
        for temper in (1.0, 0.6)
    )
    assert flat < sharp - 0.05


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(planted):
    model = PLSA(3, n_iter=20)
    first, second = (clone(model).fit_transform(planted.documents) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = clone(model).set_params(random_state=1).fit_transform(planted.documents)
    assert np.any(other != first)


def test_a_document_without_a_known_word_has_even_proportions(planted):
    model = PLSA(3).fit([*planted.documents, []])
    np.testing.assert_allclose(model.transform([["unheard", "of"], []]), 1 / 3)


@pytest.mark.parametrize("params", [{"n_topics": 0}, {"temper": 0}, {"n_iter": 0}, {"tol": -1}])
def test_parameters_out_of_range_are_refused(planted, params):
    with pytest.raises(DataError, match=f"{next(iter(params))} must be"):
        PLSA(3).set_params(**params).fit(planted.documents)


def test_transform_before_fit_is_refused(planted):
    with pytest.raises(NotFittedError):
        PLSA(3).transform(planted.documents)

"""What holds for every compared topic model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from topicvec.errors import DataError
from topicvec.evaluate.baselines.gaussian_lda import GaussianLDA
from topicvec.evaluate.baselines.lftm import LFTM
from topicvec.evaluate.baselines.slda import SLDA
from topicvec.evaluate.baselines.twe import TWE


def make(kind, planted, **params):
    if kind is TWE:
        pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
        params = {"n_dims": 8, "n_iter": 60, "min_count": 1, **params}
    if kind in (LFTM, SLDA):
        params = {"n_initial": 60, "n_iter": 10, **params}
    if kind in (LFTM, GaussianLDA):
        params = {"vectors": planted.vectors, **params}
    if kind is GaussianLDA:
        params = {"n_iter": 10, **params}
    return kind(n_topics=3, **params)


every_model = pytest.mark.parametrize("kind", [LFTM, SLDA, TWE, GaussianLDA])


@every_model
def test_planted_topics_are_found(kind, planted):
    model = make(kind, planted).fit(planted.documents, planted.labels)
    groups = [{planted.group(word) for word in words} for words in model.topic_words(8)]
    assert sorted(map(sorted, groups)) == [[0], [1], [2]]
    assert [len(words) for words in model.topic_words(3)] == [3, 3, 3]


@every_model
def test_features_of_new_documents_tell_their_groups(kind, planted):
    model = make(kind, planted).fit(planted.documents, planted.labels)
    known, new = model.transform(planted.documents), model.transform(planted.new_documents)
    assert new.shape == (15, 16 if kind is TWE else 3)
    assert LinearSVC().fit(known, planted.labels).score(new, planted.new_labels) == 1
    if kind is not TWE:
        np.testing.assert_allclose(new.sum(1), 1)
        assert (
            len({(int(a), b) for a, b in zip(new.argmax(1), planted.new_labels, strict=True)}) == 3
        )


@every_model
def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(kind, planted):
    model = make(kind, planted)
    first, second = (
        clone(model).fit_transform(planted.documents, planted.labels) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    other = clone(model).set_params(random_state=1)
    assert np.any(other.fit_transform(planted.documents, planted.labels) != first)


@every_model
def test_a_document_has_the_same_features_alone_and_beside_others(kind, planted):
    model = make(kind, planted).fit(planted.documents, planted.labels)
    together = model.transform(planted.new_documents)
    alone = [model.transform([document])[0] for document in planted.new_documents]
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-8)


@every_model
def test_a_document_without_a_known_word_has_the_features_of_no_evidence(kind, planted):
    model = make(kind, planted).fit([*planted.documents, []], [*planted.labels, 0])
    found = model.transform([["unheard", "of"], []])
    np.testing.assert_allclose(found, 0 if kind is TWE else 1 / 3)


@every_model
def test_transform_before_fit_and_texts_for_token_lists_are_refused(kind, planted):
    with pytest.raises(NotFittedError):
        make(kind, planted).transform(planted.documents)
    with pytest.raises(NotFittedError):
        make(kind, planted).topic_words()
    with pytest.raises(DataError, match="expected token lists; found str in row 1"):
        make(kind, planted).fit([["a"], "a text"], [0, 1])


@every_model
@pytest.mark.parametrize("params", [{"n_topics": 0}, {"alpha": 0}, {"n_iter": 0}])
def test_parameters_out_of_range_are_refused(kind, params, planted):
    model = make(kind, planted).set_params(**params)
    with pytest.raises(DataError, match=f"{next(iter(params))} must be"):
        model.fit(planted.documents, planted.labels)

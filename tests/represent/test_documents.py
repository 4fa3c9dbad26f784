import numpy as np
import pytest

from topicvec.engine import LocalEngine
from topicvec.errors import DataError, OutOfVocabularyWarning
from topicvec.represent.documents import (
    FORMS,
    SHARPNESS,
    count_words,
    feature_names,
    represent,
    represent_training,
)
from topicvec.represent.own_words import own_word_features, unseen_features


def test_proportions_are_what_transform_gives(model, documents):
    found = represent(model, documents, "proportions")
    np.testing.assert_allclose(found, model.transform(documents), rtol=0, atol=1e-15)


def test_roots_have_length_one(model, documents):
    found = represent(model, documents)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    np.testing.assert_allclose(found**2, model.transform(documents))


@pytest.mark.parametrize("prior", [True, False])
def test_counts_and_roots_agree_with_the_model_with_and_without_a_prior(model, documents, prior):
    some = documents[:9]
    np.testing.assert_allclose(
        represent(model, some, "counts", prior=prior), model.expected_counts(some, prior=prior)
    )
    np.testing.assert_allclose(
        represent(model, some, "sqrt", prior=prior), model.sqrt_proportions(some, prior=prior)
    )


def test_the_topic_mean_is_the_mixture_of_topic_vectors(model, documents):
    expected = model.transform(documents[:3]) @ model.topic_vectors_
    np.testing.assert_allclose(
        represent(model, documents[:3], "topic-mean"), expected, rtol=1e-5, atol=1e-6
    )


def test_the_word_mean_counts_each_token_and_no_stop_word(model, vectors):
    expected = (2 * vectors["moon"] + vectors["bread"]) / 3
    found = represent(model, ["The moon, the moon and bread"], "word-mean")
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)


def test_both_is_roots_and_word_mean_side_by_side(model, documents):
    some = documents[:4]
    parts = [represent(model, some, form) for form in ("sqrt", "word-mean")]
    np.testing.assert_array_equal(represent(model, some, "both"), np.hstack(parts))


@pytest.mark.parametrize("form", FORMS)
def test_every_column_has_a_name(model, documents, form):
    names = feature_names(model, form)
    assert len(names) == len(set(names)) == represent(model, documents[:2], form).shape[1]


@pytest.mark.parametrize("prior", [True, False])
def test_a_document_without_known_words_has_the_prior_mixture_and_no_mean(model, prior):
    with pytest.warns(OutOfVocabularyWarning):
        mixture = represent(model, ["zzzq"], "proportions", prior=prior)
    np.testing.assert_allclose(mixture[0], model.alpha_ / model.alpha_.sum())
    with pytest.warns(OutOfVocabularyWarning):
        assert not represent(model, ["zzzq"], "word-mean").any()


def test_a_wrong_form_is_refused_with_the_right_ones(model):
    with pytest.raises(DataError, match="proportions, sqrt"):
        represent(model, ["moon"], "nonsense")


@pytest.mark.parametrize("sharpness", [None, 0.3])
@pytest.mark.parametrize("form", ["own-words", "own-both"])
def test_training_and_other_documents_are_shared_equally_sharply(model, documents, form, sharpness):
    used = SHARPNESS[form] if sharpness is None else sharpness
    counts, fitted, engine = count_words(model, documents), model.fitted_, LocalEngine(1)
    found = represent(model, documents, form, sharpness=sharpness)
    own = represent_training(model, documents, None, form, sharpness=sharpness)
    expected = own_word_features(fitted, counts, engine, sharpness=used)
    np.testing.assert_array_equal(found[:, : fitted.n_topics], expected)
    expected = unseen_features(fitted, counts, engine, sharpness=used)
    np.testing.assert_array_equal(own[:, : fitted.n_topics], expected)

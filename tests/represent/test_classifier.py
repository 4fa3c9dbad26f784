import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array, lil_array
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from topicvec import TopicVec
from topicvec.errors import DataError, FormatError
from topicvec.represent import TopicClassifier, represent, represent_training
from topicvec.represent.classifier import TellingWords, default_topics
from topicvec.represent.documents import SHARPNESS


@pytest.fixture(scope="module")
def halves(documents):
    chosen = ("astronomy", "computing", "cooking", "music")
    some = [document for document in documents if document.label in chosen]
    return some[::2], some[1::2]


@pytest.fixture(scope="module")
def classifier(halves, vectors):
    topics = TopicVec(3, vectors, random_state=0)
    return TopicClassifier(topics).fit(halves[0], [document.label for document in halves[0]])


def test_other_documents_are_put_into_the_right_class(classifier, halves):
    assert classifier.score(halves[1], [document.label for document in halves[1]]) > 0.75


def test_probabilities_are_probabilities_and_the_largest_is_the_class(classifier, halves):
    table = classifier.predict_proba(halves[1])
    np.testing.assert_allclose(table.sum(axis=1), 1)
    for row, found in zip(table, classifier.classify(halves[1]), strict=True):
        assert found.probability == row.max()
        assert found.label == classifier.classes_[row.argmax()]


def test_probabilities_are_those_of_the_regression_for_two_classes(documents, vectors):
    from sklearn.linear_model import LogisticRegression

    two = [document for document in documents if document.label in ("cooking", "music")]
    labels = [document.label for document in two]
    topics = TopicVec(2, vectors, random_state=0)
    found = TopicClassifier(topics, form="own-words", strength=1.0).fit(two, labels)
    features = represent_training(found.model_, two, labels, "own-words")
    regression = LogisticRegression(C=1.0, max_iter=1000).fit(features / features.std(), labels)
    expected = regression.predict_proba(represent(found.model_, two, "own-words") / features.std())
    np.testing.assert_allclose(found.predict_proba(two), expected, atol=1e-9)


def test_a_saved_classifier_predicts_the_same_and_is_a_model_too(classifier, halves, tmp_path):
    path = tmp_path / "a.classifier"
    classifier.save(path)
    again = TopicClassifier.load(path)
    np.testing.assert_array_equal(
        again.predict_proba(halves[1]), classifier.predict_proba(halves[1])
    )
    assert again.classes_.tolist() == classifier.classes_.tolist()
    model = TopicVec.load(path)
    np.testing.assert_array_equal(model.topic_vectors_, classifier.model_.topic_vectors_)


def test_a_model_without_a_classifier_is_refused(model, tmp_path):
    model.save(tmp_path / "a.topicvec")
    with pytest.raises(FormatError, match="classify train"):
        TopicClassifier.load(tmp_path / "a.topicvec")


def test_a_saved_classifier_outlives_a_change_of_defaults(
    classifier, halves, tmp_path, monkeypatch
):
    classifier.save(tmp_path / "a.classifier")
    expected = classifier.predict_proba(halves[1])
    monkeypatch.setitem(SHARPNESS, classifier.form, 0.1)
    again = TopicClassifier.load(tmp_path / "a.classifier")
    np.testing.assert_array_equal(again.predict_proba(halves[1]), expected)
    assert not np.array_equal(classifier.predict_proba(halves[1]), expected)


def test_one_class_or_a_wrong_form_is_refused(documents):
    with pytest.raises(DataError, match="two classes"):
        TopicClassifier().fit(documents[:3], ["a", "a", "a"])
    with pytest.raises(DataError, match="form must be"):
        TopicClassifier(form="nonsense").fit(documents[:2], ["a", "b"])


def test_a_classifier_that_has_learned_nothing_says_so(documents, tmp_path):
    with pytest.raises(NotFittedError, match="no classes yet: call fit first"):
        TopicClassifier().predict(documents)
    with pytest.raises(NotFittedError, match="call fit first"):
        TopicClassifier().save(tmp_path / "a")


def test_the_regularisation_is_shared_by_all_documents(documents, vectors):
    labels = [document.label for document in documents]
    topics = TopicVec(2, vectors, random_state=0)
    default = TopicClassifier(topics, form="own-words").fit(documents, labels)
    strength = 300 / len(documents)
    given = TopicClassifier(topics, form="own-words", strength=strength).fit(documents, labels)
    assert np.array_equal(default.coef_, given.coef_)
    assert default.predict_proba(documents).max(axis=1).mean() > 0.5


@pytest.mark.filterwarnings("ignore::topicvec.errors.OutOfVocabularyWarning")
def test_a_document_without_a_known_word_does_no_harm(vectors):
    texts, labels = ["sea salt water", "zzz qqq", "sky rain", "moon rain"], ["a", "a", "b", "b"]
    found = TopicClassifier(TopicVec(1, vectors, random_state=0)).fit(texts, labels)
    assert found.predict(["salt", "rain", "zzz"])[:2].tolist() == ["a", "b"]


@pytest.mark.parametrize("times", [1, 300])
def test_few_and_many_labels_have_the_words_beside_the_topics(vectors, times):
    texts, labels = ["sea salt water", "sky rain"] * times, ["a", "b"] * times
    found = TopicClassifier(TopicVec(2, vectors, random_state=0)).fit(texts, labels)
    assert found.predict(["salt", "rain"]).tolist() == ["a", "b"]
    n_beside = found.coef_.shape[1] - found.model_.fitted_.n_topics - found.model_.vectors_.n_dims
    assert n_beside == 5  # words of the texts


def test_a_margin_of_one_is_odds_of_e_to_the_fourth(documents, vectors):
    from sklearn.svm import LinearSVC

    two = [document for document in documents if document.label in ("cooking", "music")]
    labels = [document.label for document in two]
    found = TopicClassifier(TopicVec(2, vectors, random_state=0)).fit(two, labels)
    features = found._with_words(
        represent_training(found.model_, two, labels, "own-directions"), two
    )
    machine = LinearSVC(C=0.3, random_state=0).fit(features, labels)
    seen = found._with_words(represent(found.model_, two, "own-directions"), two)
    odds = np.exp(4 * machine.decision_function(seen))
    np.testing.assert_allclose(found.predict_proba(two)[:, 1], odds / (1 + odds), atol=1e-9)


def test_counts_with_long_indices_are_learned_from(vectors):
    counts = lil_array((4, len(vectors)), dtype=int)
    for row, word in enumerate(["salt", "rain", "water", "sky"]):
        counts[row, vectors.ids[word]] = 3
    counts = counts.tocsr()
    counts.indices, counts.indptr = counts.indices.astype("int64"), counts.indptr.astype("int64")
    labels = ["a", "b", "a", "b"]
    found = TopicClassifier(TopicVec(1, vectors, random_state=0)).fit(counts, labels)
    assert found.predict(counts).tolist() == labels


def test_other_forms_are_without_the_words(vectors):
    topics = TopicVec(2, vectors, random_state=0)
    found = TopicClassifier(topics, form="sqrt").fit(["sea salt water", "sky rain"], ["a", "b"])
    assert found.coef_.shape == (2, found.model_.fitted_.n_topics)


def test_few_documents_of_a_class_have_few_topics():
    assert [default_topics(["a"] * n).n_topics for n in (1, 25, 60, 1000)] == [1, 2, 6, 14]
    assert default_topics(["a"], n_topics=7).n_topics == 7


def test_a_saved_classifier_keeps_its_form(documents, vectors, tmp_path):
    some = documents[::4]
    found = TopicClassifier(TopicVec(1, vectors, random_state=0), form="own-words")
    found.fit(some, [document.label for document in some]).save(tmp_path / "a.classifier")
    again = TopicClassifier.load(tmp_path / "a.classifier")
    assert again.form == "own-words"
    np.testing.assert_array_equal(again.predict_proba(some), found.predict_proba(some))


def test_parts_of_own_directions_have_length_one(classifier, documents):
    n_topics = classifier.model_.fitted_.n_topics
    features = represent(classifier.model_, documents, "own-directions")
    for part in (features[:, :n_topics], features[:, n_topics:]):
        np.testing.assert_allclose(np.linalg.norm(part, axis=1), 1)


def test_documents_may_be_an_iterator(classifier, documents):
    assert (classifier.predict(iter(documents[:5])) == classifier.predict(documents[:5])).all()
    assert len(classifier.classify(iter(documents[:2]))) == 2


def test_fractional_weights_of_words_are_never_negative():
    words = TellingWords.of(csr_array([[2.0, 0.5], [0.0, 1.0]]))
    rows = words.weighted(csr_array([[0.1, 0.2], [3.0, 1.0]]))
    assert (rows.data >= 0).all()


def test_labels_may_be_numbers(documents, vectors):
    labels = [0] * 6 + [1] * 6
    found = TopicClassifier(TopicVec(1, vectors, random_state=0)).fit(documents[6:18], labels)
    assert found.score(documents[6:18], labels) > 0.9
    assert found.predict(documents[6:18]).tolist() == labels
    assert found.classes_.tolist() == [0, 1]


def test_numbers_as_labels_are_in_their_own_order_and_outlive_a_file(documents, vectors, tmp_path):
    labels = [10] * 6 + [9] * 6 + [100] * 6
    found = TopicClassifier(TopicVec(1, vectors, random_state=0)).fit(documents[:18], labels)
    assert found.classes_.tolist() == [9, 10, 100]
    assert found.model_.fitted_.classes == (None, "10", "100", "9")
    found.save(tmp_path / "a.classifier")
    again = TopicClassifier.load(tmp_path / "a.classifier")
    assert again.predict(documents[:18]).tolist() == found.predict(documents[:18]).tolist()
    assert again.classify(documents[:1])[0].label == 10


def test_labels_may_be_truth_values_or_a_series(documents, vectors):
    labels = pandas.Series([True] * 6 + [False] * 6)
    found = TopicClassifier(TopicVec(1, vectors, random_state=0)).fit(documents[6:18], labels)
    assert found.predict(documents[6:18]).dtype == bool


def test_it_is_a_classifier_of_scikit_learn(documents, vectors):
    few = [each for each in documents if each.label in ("cooking", "music", "computing")]
    labels = [each.label for each in few]
    classifier = TopicClassifier(TopicVec(1, vectors, random_state=0))
    assert is_classifier(classifier)
    assert isinstance(classifier, ClassifierMixin)
    assert cross_val_score(classifier, few, labels, cv=2).mean() > 0.6
    search = GridSearchCV(classifier, {"model__n_topics": [1, 2]}, cv=2, scoring="f1_macro")
    assert search.fit(few, labels).best_params_["model__n_topics"] in (1, 2)

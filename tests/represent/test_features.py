import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from topicvec import TopicVec, WordVectors
from topicvec.represent import TopicFeatures, represent


@pytest.fixture
def labels(documents):
    return [document.label for document in documents]


def test_a_pipeline_learns_classes_from_topics(documents, labels, vectors):
    topics = TopicVec(2, vectors, share="class", random_state=0)
    pipeline = make_pipeline(TopicFeatures(topics), LogisticRegression(max_iter=500))
    train, test = slice(None, None, 2), slice(1, None, 2)
    score = pipeline.fit(documents[train], labels[train]).score(documents[test], labels[test])
    assert score > 0.7
    assert pipeline[0].model_.fitted_.classes[1] == "astronomy"
    assert not hasattr(topics, "topic_vectors_")


def test_features_are_those_of_represent_and_have_names(documents, vectors):
    features = TopicFeatures(TopicVec(3, vectors, random_state=0), form="both")
    table = features.fit(documents).transform(documents[:5])
    expected = represent(features.model_, documents[:5], "both", prior=False)
    np.testing.assert_array_equal(table, expected)
    assert len(features.get_feature_names_out()) == table.shape[1]


def test_parameters_of_the_model_can_be_searched(documents, labels, vectors):
    topics = TopicVec(1, vectors, random_state=0, max_iter=100)
    pipeline = make_pipeline(TopicFeatures(topics), LogisticRegression(max_iter=500))
    search = GridSearchCV(pipeline, {"topicfeatures__model__n_topics": [2, 3]}, cv=2)
    few = [row for row, label in enumerate(labels) if label in ("cooking", "music")]
    search.fit([documents[row] for row in few], [labels[row] for row in few])
    assert search.best_estimator_[0].model.n_topics in (2, 3)


def test_clones_share_nothing_that_was_learned(documents, vectors):
    features = TopicFeatures(TopicVec(2, vectors, random_state=0)).fit(documents)
    assert not hasattr(clone(features), "model_")
    with pytest.raises(NotFittedError):
        clone(features).transform(documents)


def test_training_documents_are_described_without_their_own_words(documents, labels, vectors):
    features = TopicFeatures(TopicVec(2, vectors, share="class", random_state=0), form="own-both")
    training = features.fit_transform(iter(documents), labels)
    known = features.transform(documents)
    assert training.shape == known.shape == (len(documents), len(features.get_feature_names_out()))
    own = np.array([str(name) for name in features.model_.fitted_.classes])
    mine = np.array(labels)[:, None] == own
    n_topics = len(own)
    assert training[:, :n_topics][mine].sum() < 0.95 * known[:, :n_topics][mine].sum()
    np.testing.assert_array_equal(training[:, n_topics:], known[:, n_topics:])


def test_own_words_tell_classes_apart_better_than_poor_vectors_alone(documents, labels, vectors):
    train, test = slice(None, None, 2), slice(1, None, 2)
    poor = WordVectors(vectors.words, vectors.matrix[:, :6], vectors.unigram)  # good ones suffice

    def score(form):
        topics = TopicVec(2, poor, share="class", random_state=0)
        classifier = LogisticRegression(C=100, max_iter=2000)
        pipeline = make_pipeline(TopicFeatures(topics, form=form), classifier)
        return pipeline.fit(documents[train], labels[train]).score(documents[test], labels[test])

    assert score("own-words") > score("sqrt")


def test_topics_of_the_whole_corpus_have_own_words_too(documents, vectors):
    features = TopicFeatures(TopicVec(2, vectors, random_state=0), form="own-words")
    assert features.fit_transform(documents).shape == (len(documents), 3)

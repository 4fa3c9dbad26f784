"""The controls: the formula of own-words without topics."""

import numpy as np
import pytest

from topicvec.errors import DataError
from topicvec_bench.controls import ClassCounts, RandomGroups
from topicvec_bench.registry import make


def test_class_counts_tell_planted_classes(planted):
    model = ClassCounts().fit(planted.documents, planted.labels)
    found = model.transform(planted.new_documents)[:, 1:].argmax(axis=1)
    assert found.tolist() == planted.new_labels


def test_groups_of_a_class_tell_it(planted):
    model = RandomGroups(5).fit(planted.documents, planted.labels)
    found = model.transform(planted.new_documents)[:, 1:]
    assert found.shape[1] == 3 * 4
    assert (found.argmax(axis=1) // 4).tolist() == planted.new_labels


def test_features_are_the_formula_written_out(planted):
    model = ClassCounts(sharpness=0.6).fit(planted.documents, planted.labels)
    words, labels = list(model.words_), np.array(planted.labels)
    counts = np.array([[d.count(word) for word in words] for d in planted.documents], float)
    masses = np.array([np.zeros(len(words)), *(counts[labels == c].sum(0) for c in range(3))])
    unigram = counts.sum(0) / counts.sum()
    P = (masses + 1000 * unigram) / (masses.sum(1, keepdims=True) + 1000)
    shares = P**0.6 / (P**0.6).sum(0)
    document = np.log1p([planted.new_documents[0].count(word) for word in words])
    wanted = shares @ document / np.linalg.norm(document)
    assert np.allclose(model.transform(planted.new_documents[:1])[0], wanted)


def test_training_documents_are_described_without_their_own_words(planted):
    rare = [[*tokens, f"only{row}"] for row, tokens in enumerate(planted.documents)]
    model = ClassCounts()
    unseen, seen = model.fit_transform(rare, planted.labels), model.transform(rare)
    own = 1 + np.array(planted.labels)
    rows = np.arange(len(rare))
    assert unseen[rows, own].mean() < seen[rows, own].mean()


def test_the_same_seed_gives_the_same_groups_and_another_one_others(planted):
    one, same, other = (
        RandomGroups(5, random_state=seed).fit_transform(planted.documents, planted.labels)
        for seed in (0, 0, 1)
    )
    assert one.tobytes() == same.tobytes()
    assert not np.allclose(one, other)


@pytest.mark.parametrize(
    ("control", "row"),
    [("random groups", "own-words"), ("random groups, likelihoods", "TopicVec, likelihoods")],
)
def test_random_groups_have_as_many_features_as_topics(planted, control, row):
    groups, topics = (
        make(name, corpus="reuters", vectors=planted.vectors, n_topics=3).fit_transform(
            planted.documents, planted.labels
        )
        for name in (control, row)
    )
    assert groups.shape == topics.shape


@pytest.mark.parametrize("corpus", ["20news", "reuters"])
def test_the_control_has_the_settings_of_its_row(corpus):
    groups, topics = (make(name, corpus=corpus) for name in ("random groups", "own-words"))
    assert (groups.n_topics, groups.sharpness) == (topics.n_topics, topics.sharpness)


def test_groups_need_classes(planted):
    with pytest.raises(DataError, match="a class for each"):
        RandomGroups().fit(planted.documents)

"""Topics whose words are tilted towards their class."""

import numpy as np
import pytest

from topicvec.errors import DataError
from topicvec_bench.registry import make
from topicvec_bench.supervised import SupervisedTopics, tilted

ROWS = ("TopicVec, supervised", "random groups, supervised")


@pytest.fixture(params=("topics", "random"))
def supervised(request, planted):
    return lambda **given: SupervisedTopics(3, planted.vectors, groups=request.param, **given)


def test_shares_and_scores_tell_planted_classes(planted, supervised):
    found = supervised().fit(planted.documents, planted.labels).transform(planted.new_documents)
    shares, scores = found[:, 1:-3], found[:, -3:]
    assert (shares.argmax(axis=1) // 2).tolist() == planted.new_labels
    assert scores.argmax(axis=1).tolist() == planted.new_labels


def test_parts_have_their_lengths_and_proportions_no_minus(planted, supervised):
    found = supervised(weight=0.5).fit_transform(planted.documents, planted.labels)
    assert np.allclose(np.linalg.norm(found[:, :-3], axis=1), 1)
    assert np.allclose(np.linalg.norm(found[:, -3:], axis=1), 0.5)
    assert (found[:, :-3] >= 0).all()


def test_a_tilt_moves_documents_to_topics_of_their_class(planted, supervised):
    def own(tilt):
        model = supervised(tilt=tilt).fit(planted.documents, planted.labels)
        shares = model.transform(planted.new_documents)[:, 1:-3]
        shares = shares / shares.sum(axis=1, keepdims=True)
        rows = np.arange(len(shares))
        return shares.reshape(len(shares), 3, 2).sum(axis=2)[rows, planted.new_labels].mean()

    assert own(0.3) > own(0.0)


def test_training_documents_are_described_without_their_own_words(planted, supervised):
    rare = [[*tokens, *planted.documents[row][:1]] for row, tokens in enumerate(planted.documents)]
    model = supervised()
    unseen, seen = model.fit_transform(rare, planted.labels), model.transform(rare)
    assert unseen.shape == seen.shape
    assert not np.allclose(unseen, seen)


def test_the_same_seed_gives_the_same_bits(planted, supervised):
    one, same = (supervised().fit_transform(planted.documents, planted.labels) for _ in range(2))
    assert one.tobytes() == same.tobytes()


def test_no_tilt_leaves_shares_as_they_are():
    shares = np.array([[0.2, 0.3, 0.5]])
    assert np.allclose(tilted(shares, np.zeros((1, 2)), np.array([-1, 0, 1])), shares)


@pytest.mark.parametrize("corpus", ["20news", "reuters"])
def test_the_control_differs_in_its_groups_alone(corpus):
    ours, control = (make(name, corpus=corpus).get_params() for name in ROWS)
    assert {key for key in ours if ours[key] != control[key]} == {"groups"}


def test_classes_are_needed(planted, supervised):
    with pytest.raises(DataError, match="a class for each"):
        supervised().fit(planted.documents)

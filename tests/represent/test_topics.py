import numpy as np
import pytest

from topicvec import TopicVec
from topicvec.errors import DataError
from topicvec.represent import nearest_topics, topic_hierarchy, topic_similarity


def test_cosines_of_topics_and_none_with_the_null_topic(model):
    cosines = topic_similarity(model)
    assert not cosines[0].any()
    np.testing.assert_allclose(cosines.diagonal()[1:], 1)
    a, b = model.topic_vectors_[1], model.topic_vectors_[2]
    assert cosines[1, 2] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-6)


def test_nearest_topics_come_best_first_without_itself_and_the_null_topic(model):
    found = nearest_topics(model, 3, n=100)
    assert {index for index, _ in found} == set(range(1, 12)) - {3}
    cosines = [cosine for _, cosine in found]
    assert cosines == sorted(cosines, reverse=True)


def test_the_null_topic_has_no_neighbours(model):
    assert nearest_topics(model, 0) == []


@pytest.mark.parametrize("topic", [-1, 12])
def test_a_topic_that_is_not_there_is_refused(model, topic):
    with pytest.raises(DataError, match="between 0 and 11"):
        nearest_topics(model, topic)


@pytest.mark.parametrize("method", ["average", "complete", "single"])
def test_the_hierarchy_joins_every_topic_once(model, method):
    tree = topic_hierarchy(model, method)
    assert len(tree) == 10
    assert sorted(tree[-1].topics) == list(range(1, 12))
    parts = [part for merge in tree for part in (merge.left, merge.right)]
    assert len(parts) == len(set(parts))
    distances = [merge.distance for merge in tree]
    assert distances == sorted(distances)


def test_the_closest_pair_is_joined_first(model):
    cosines = topic_similarity(model)[1:, 1:] - 2 * np.eye(11)
    first = topic_hierarchy(model)[0]
    closest = np.unravel_index(cosines.argmax(), cosines.shape)
    assert {first.left, first.right} == {int(place) + 1 for place in closest}
    assert first.distance == pytest.approx(1 - cosines.max())


def test_one_topic_is_no_tree(documents, vectors):
    assert topic_hierarchy(TopicVec(1, vectors, random_state=0).fit(documents[:20])) == ()


def test_an_unknown_method_is_refused(model):
    with pytest.raises(DataError, match="average"):
        topic_hierarchy(model, "ward")

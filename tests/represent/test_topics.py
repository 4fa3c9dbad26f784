import numpy as np
import pytest

from topicvec import TopicVec, WordVectors
from topicvec.errors import DataError
from topicvec.represent import branch_words, nearest_topics, topic_hierarchy, topic_similarity
from topicvec.represent.topics import _apart


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


def test_every_branch_has_a_name_of_its_topics_words(model):
    counts = model.fitted_.word_mass
    for merge in topic_hierarchy(model):
        words = merge.name.split(", ")
        assert len(words) == 3
        for word in words:
            row = counts[[model.vectors_.ids[word]]].toarray()[0]
            assert row[list(merge.topics)].sum() > 0


def test_a_branch_is_named_by_what_its_topics_share():
    """Two kinds of sport share the team; the sky has a word as frequent as it."""
    words = ("team", "puck", "ball", "star", "moon")
    matrix = [[3, 0, 0], [3, 1, 0], [3, -1, 0], [0, 0, 3], [0, 1, 3]]
    vectors = WordVectors(words, np.array(matrix, np.float32), np.full(5, 0.2))
    start = np.array([[0, 0, 0], [2, 2, 0], [2, -2, 0], [0, 0, 2]], np.float32)
    texts = ["team puck puck puck"] * 9 + ["team ball ball ball"] * 9 + ["star moon star"] * 9
    model = TopicVec(3, vectors, init=start, own_words=False, random_state=0).fit(texts)
    assert branch_words(model, [(1, 2), (1, 3)], 1)[0] == ("team",)
    assert branch_words(model, [(3,)], 2) == [("star", "moon")]


def test_no_word_of_a_name_begins_another():
    assert _apart(["price", "prices", "price war", "oil", "pr"]) == ("price", "oil")


def test_one_topic_is_no_tree(documents, vectors):
    assert topic_hierarchy(TopicVec(1, vectors, random_state=0).fit(documents[:20])) == ()


def test_an_unknown_method_is_refused(model):
    with pytest.raises(DataError, match="average"):
        topic_hierarchy(model, "ward")

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from topicvec.errors import DataError
from topicvec.measure.clusters import cluster_score, dominant_topics, kmeans_clusters


def test_purity_by_hand():
    clusters = [0, 0, 0, 1, 1, 2]
    classes = ["a", "a", "b", "b", "b", "a"]
    found = cluster_score(clusters, classes)
    assert found.purity == pytest.approx(5 / 6)
    assert found.n_clusters == 3


@pytest.mark.parametrize("seed", range(3))
def test_mutual_information_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 5, 200)
    classes = np.where(rng.random(200) < 0.5, clusters % 3, rng.integers(0, 3, 200))
    expected = normalized_mutual_info_score(classes, clusters)
    assert cluster_score(clusters, classes).nmi == pytest.approx(expected)


@pytest.mark.parametrize(
    ("clusters", "classes", "nmi"),
    [([0, 0], ["a", "a"], 1.0), ([0, 0], ["a", "b"], 0.0), ([0, 1], ["a", "a"], 0.0)],
)
def test_one_cluster_or_one_class_gives_a_number(clusters, classes, nmi):
    assert cluster_score(clusters, classes).nmi == pytest.approx(nmi)


def test_the_dominant_topic_is_the_cluster():
    proportions = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.4, 0.0], [0.9, 0.1, 0.0]]
    found = dominant_topics(proportions, ["a", "b", "a", "b"])
    assert (found.purity, found.n_clusters) == (0.75, 2)


def test_kmeans_finds_separated_groups_whatever_the_dominant_topic():
    rng = np.random.default_rng(0)
    centres = np.array([[0.8, 0.2, 0.0], [0.8, 0.0, 0.2]])  # same largest topic
    classes = np.repeat([0, 1], 20)
    proportions = centres[classes] + 0.01 * rng.random((40, 3))
    assert dominant_topics(proportions, classes).nmi == 0
    assert kmeans_clusters(proportions, classes).nmi == pytest.approx(1)
    assert kmeans_clusters(proportions, classes, n_clusters=4).n_clusters == 4


def test_bad_arguments_are_refused():
    with pytest.raises(DataError, match="found 2 clusters and 1 classes"):
        cluster_score([0, 1], ["a"])
    with pytest.raises(DataError, match="found the shape"):
        dominant_topics([0.5, 0.5], ["a", "b"])
    with pytest.raises(DataError, match="n_clusters must be between 1 and 2"):
        kmeans_clusters([[1.0], [0.0]], ["a", "b"], n_clusters=3)


def test_topics_that_are_alike_do_not_part_clusters():
    proportions = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 4
    classes = ["cat", "cat", "car"] * 4
    alike = [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]
    assert kmeans_clusters(proportions, classes, kernel=alike).nmi == pytest.approx(1)

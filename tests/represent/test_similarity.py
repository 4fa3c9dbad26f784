import numpy as np
import pytest

from topicvec import TopicVec, WordVectors
from topicvec.errors import DataError
from topicvec.represent import (
    cosine_similarity,
    hellinger_distance,
    mixture_points,
    topic_kernel,
    topic_similarity,
)


@pytest.fixture
def mixtures(model, documents):
    return model.transform(documents)


def test_cosines_and_distances_of_known_mixtures():
    p, q = [0.36, 0.64], [1.0, 0.0]
    assert cosine_similarity(p, q).item() == pytest.approx(0.36 / np.hypot(0.36, 0.64))
    assert hellinger_distance(p, q).item() == pytest.approx(np.sqrt(1 - 0.6))


def test_a_row_of_zeros_is_like_nothing():
    assert cosine_similarity([[0.0, 0.0]], [[1.0, 0.0]]).item() == 0


def test_documents_of_one_class_are_nearer_than_others(mixtures, documents):
    labels = np.array([document.label for document in documents])
    same = labels[:, None] == labels
    np.fill_diagonal(same, False)
    distances = hellinger_distance(mixtures)
    assert distances[same].mean() < distances[~same].mean() - 0.1
    np.testing.assert_allclose(distances, distances.T)
    assert (np.diag(distances) < 1e-7).all()


@pytest.mark.parametrize("wrong", [[[0.5, 0.6]], [[-0.5, 1.5]]])
def test_what_is_no_mixture_is_refused(wrong):
    with pytest.raises(DataError, match="sum to 1"):
        hellinger_distance(wrong)


def test_tables_of_other_width_are_refused():
    with pytest.raises(DataError, match="same columns"):
        cosine_similarity([[1.0, 0.0]], [[1.0, 0.0, 0.0]])


@pytest.fixture(scope="module")
def two_classes():
    """Two classes write of cats; each has a topic of its own for them."""
    vectors = WordVectors(
        ["cat", "dog", "kitten", "car", "bus"], np.eye(3)[[0, 0, 0, 1, 2]] * 3, np.ones(5)
    )
    texts = ["cat dog kitten cat", "car car", "kitten dog cat dog", "bus bus"] * 4
    classes = ["a", "a", "b", "b"] * 4
    return TopicVec(3, vectors, random_state=0, own_words=False, share="class").fit(texts, classes)


def test_the_kernel_of_topics_is_positive_semidefinite(model, two_classes):
    for fitted in (model, two_classes):
        kernel = topic_kernel(fitted)
        np.testing.assert_allclose(kernel, kernel.T)
        assert np.linalg.eigvalsh(kernel).min() > -1e-10
        assert (kernel[0] == 0).all()


def test_topics_of_two_classes_that_are_alike_make_documents_alike(two_classes):
    cosines = topic_similarity(two_classes)
    classes = np.array([str(name) for name in two_classes.fitted_.classes])
    pairs = np.where((classes[:, None] == "a") & (classes == "b"), cosines, -1)
    first, second = np.unravel_index(pairs.argmax(), pairs.shape)
    assert pairs[first, second] > 0.95
    pure = np.eye(len(cosines))[[first, second]]
    assert hellinger_distance(pure)[0, 1] == 1
    assert cosine_similarity(mixture_points(pure, topic_kernel(two_classes)))[0, 1] > 0.85


def test_products_of_points_are_the_kernel_between_roots_of_mixtures(model, mixtures):
    kernel, roots = topic_kernel(model), np.sqrt(mixtures[:6])
    products = roots @ kernel @ roots.T
    lengths = np.sqrt(np.diag(products))
    points = mixture_points(mixtures[:6], kernel)
    np.testing.assert_allclose(points @ points.T, products / np.outer(lengths, lengths))


def test_without_likeness_of_topics_points_are_roots_of_mixtures(mixtures):
    points = mixture_points(mixtures, np.eye(mixtures.shape[1]))
    np.testing.assert_allclose(points, np.sqrt(mixtures), atol=1e-6)


def test_a_kernel_of_another_model_is_refused(mixtures):
    with pytest.raises(DataError, match="use topic_kernel of the model"):
        mixture_points(mixtures, np.eye(3))

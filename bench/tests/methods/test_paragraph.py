import numpy as np
import pytest
from scipy.optimize import minimize

from topicvec import TopicVec
from topicvec.embed import WordVectors
from topicvec.errors import DataError
from topicvec_bench import paragraph
from topicvec_bench.paragraph import DocumentTopics, Lexicon, fit_document_topics, mean_word
from topicvec_bench.registry import find_method


def random_problem(n_words=60, n_dims=5, n_documents=12, length=100):
    rng = np.random.default_rng(0)
    matrix, weight = rng.normal(size=(n_words, n_dims)), rng.dirichlet(np.full(n_words, 5.0))
    own = rng.normal(scale=0.5, size=(n_documents, n_dims))
    chance = weight * np.exp(own @ matrix.T)
    counts = np.array([rng.multinomial(length, row / row.sum()) for row in chance])
    return matrix, weight, counts / length @ matrix


def solve(observed, matrix, weight, max_norm):
    """Maximise by scipy with the ball as a constraint, one document at a time."""

    def loss(t):
        logits = matrix @ t + np.log(weight)
        chance = np.exp(logits - np.logaddexp.reduce(logits))
        return np.logaddexp.reduce(logits) - observed @ t, chance @ matrix - observed

    ball = {"type": "ineq", "fun": lambda t: max_norm**2 - t @ t, "jac": lambda t: -2 * t}
    start = np.zeros(matrix.shape[1])
    options = {"ftol": 1e-12, "maxiter": 500}
    found = minimize(loss, start, jac=True, method="SLSQP", constraints=ball, options=options)
    return found.x


@pytest.mark.parametrize("max_norm", [0.8, 7.0])
def test_the_topic_of_a_document_is_the_exact_maximum(max_norm):
    matrix, weight, observed = random_problem()
    found = fit_document_topics(observed, Lexicon.of(matrix, weight), max_norm)
    expected = np.array([solve(row, matrix, weight, max_norm) for row in observed])
    np.testing.assert_allclose(found, expected, atol=0.01)
    on_border = np.isclose(np.linalg.norm(found, axis=1), max_norm, rtol=1e-4)
    assert on_border.any() == (max_norm < 1)  # the ball matters in one case only


def test_the_mean_word_is_the_gradient_of_the_normaliser():
    matrix, weight, _ = random_problem()
    topic, lexicon = np.full((1, 5), 0.3), Lexicon.of(matrix, weight)
    moved = topic + 1e-3 * np.vstack([np.eye(5), -np.eye(5)])
    values = mean_word(moved, lexicon)[0]
    slopes = (values[:5] - values[5:]) / 2e-3
    np.testing.assert_allclose(mean_word(topic, lexicon)[1][0], slopes, atol=2e-3)


def test_it_is_topicvec_with_one_topic_of_one_document():
    # The package's own fit of one document, whose prior leaves the null topic (almost) no room.
    matrix, weight, _ = random_problem(n_words=30)
    rng = np.random.default_rng(1)
    words = [f"w{number}" for number in range(30)]
    chance = weight * np.exp(matrix @ np.full(5, 0.6))
    document = list(rng.choice(words, size=400, p=chance / chance.sum()))
    vectors = WordVectors(words, matrix, weight)
    model = TopicVec(
        1, vectors, own_words=False, stop_words=None, max_norm=7.0, alpha=[1e-6, 1.0], tol=1e-9,
        max_iter=500, random_state=0,
    ).fit([document])  # fmt: skip
    counts = np.array([document.count(word) for word in words])
    found = fit_document_topics((counts / 400 @ matrix)[None], Lexicon.of(matrix, weight))[0]
    theirs = model.topic_vectors_[1]
    np.testing.assert_allclose(found, theirs, atol=0.02)
    assert np.linalg.norm(theirs) > 1


def test_documents_lie_as_the_planted_topics_that_made_them():
    rng = np.random.default_rng(0)
    matrix, weight = rng.normal(size=(400, 6)), rng.dirichlet(np.full(400, 5.0))
    topics = rng.normal(size=(40, 6))
    topics *= 1.5 / np.linalg.norm(topics, axis=1, keepdims=True)
    chance = weight * np.exp(topics @ matrix.T)
    counts = np.array([rng.multinomial(300, row / row.sum()) for row in chance])
    found = fit_document_topics(counts / 300 @ matrix, Lexicon.of(matrix, weight))
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (topics, found)]
    cosines = [(each @ each.T)[np.triu_indices(40, 1)] for each in unit]
    assert np.corrcoef(*cosines)[0, 1] > 0.97
    assert np.sum(unit[0] * unit[1], axis=1).min() > 0.9


def test_documents_of_a_planted_group_lie_together(planted):
    model = DocumentTopics(planted.vectors).fit(planted.documents)
    own, new = (model.transform(part) for part in (planted.documents, planted.new_documents))
    assert own.dtype == np.float32
    assert np.linalg.norm(own, axis=1).max() < 7.001
    centres = np.array([own[np.array(planted.labels) == group].mean(0) for group in range(3)])
    np.testing.assert_array_equal((new @ centres.T).argmax(1), planted.new_labels)


def test_a_document_has_the_same_topic_whatever_is_beside_it(planted, monkeypatch):
    model = DocumentTopics(planted.vectors).fit(planted.documents)
    together = model.transform(planted.documents)
    assert together.tobytes() == model.transform(planted.documents).tobytes()
    monkeypatch.setattr(paragraph, "_BLOCK", 7)
    np.testing.assert_allclose(model.transform(planted.documents), together, atol=0.02)


def test_only_the_most_frequent_words_are_kept(planted):
    model = DocumentTopics(planted.vectors, n_words=10).fit(planted.documents)
    assert len(model.words_) == 10
    with pytest.raises(DataError, match="min_count=10000"):
        DocumentTopics(planted.vectors, min_count=10_000).fit(planted.documents)


def test_the_registry_knows_it_by_a_name_with_a_comma():
    assert find_method("TopicVec, K = 1").load() is DocumentTopics

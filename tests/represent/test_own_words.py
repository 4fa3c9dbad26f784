import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec import TopicVec, WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.model.equations import logits
from topicvec.represent.own_words import damped, own_word_features, topics_of_words, unseen_features

ENGINE = LocalEngine(1)
N_WORDS = 300


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(N_WORDS)]
    return WordVectors(words, rng.normal(size=(N_WORDS, 8)), np.ones(N_WORDS))


def noise(n_documents, rng):
    """Documents that say nothing of their class."""
    return csr_array(rng.poisson(0.04, size=(n_documents, N_WORDS)))


@pytest.fixture(scope="module")
def learned(vectors):
    rng = np.random.default_rng(1)
    counts = noise(60, rng)
    labels = np.array(["a", "b"] * 30)
    # words of their own already in the fit would know these documents before any feature does
    model = TopicVec(2, vectors, own_words=False, tol=1e-2, share="class", random_state=0, n_jobs=1)
    fitted = model.fit(counts, labels).fitted_
    classes = np.array([str(name) for name in fitted.classes])
    allowed = (classes == "None") | (labels[:, None] == classes)
    return fitted, counts, labels, allowed


def own_share(fitted, features, labels):
    classes = np.array([str(name) for name in fitted.classes])
    own = np.where(labels[:, None] == classes, features, 0).sum()
    return own / features[:, 1:].sum()


def test_words_that_no_document_had_are_shared_as_the_vectors_say(learned, vectors):
    fitted = learned[0]
    unseen = np.flatnonzero(fitted.word_counts == 0)
    everything = np.exp(logits(vectors.matrix.astype(float), fitted.topics, fitted.residuals))
    totals = np.asarray(fitted.word_mass.sum(axis=0)) + 50
    expected = everything[unseen] / totals
    expected /= expected.sum(axis=1, keepdims=True)
    found = topics_of_words(fitted, unseen, ENGINE, pseudo_tokens=50)
    assert len(unseen) > 0
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_word_goes_to_the_topics_whose_documents_had_it(learned):
    fitted = learned[0]
    masses = fitted.word_mass.toarray()
    word, topic = np.unravel_index(masses[:, 1:].argmax(), masses[:, 1:].shape)
    shares = [
        topics_of_words(fitted, np.array([word]), ENGINE, pseudo_tokens=m)[0, topic + 1]
        for m in (1, 100, 1e6)
    ]
    assert shares[0] > 0.9
    assert shares[0] > shares[1] > shares[2]


def test_many_pseudo_tokens_leave_only_the_vectors(learned, vectors):
    fitted = learned[0]
    types = np.arange(N_WORDS)
    found = topics_of_words(fitted, types, ENGINE, pseudo_tokens=1e12)
    table = np.exp(logits(vectors.matrix.astype(float), fitted.topics, fitted.residuals))
    np.testing.assert_allclose(found, table / table.sum(axis=1, keepdims=True), rtol=1e-5)


def test_less_sharp_shares_are_powers(learned):
    fitted, types = learned[0], np.arange(N_WORDS)
    full = topics_of_words(fitted, types, ENGINE)
    half = topics_of_words(fitted, types, ENGINE, sharpness=0.5)
    expected = np.sqrt(full) / np.sqrt(full).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(half, expected)


def test_training_documents_look_like_new_ones(learned):
    fitted, counts, labels, allowed = learned
    new = noise(200, np.random.default_rng(2))
    fair = own_word_features(fitted, new, ENGINE, pseudo_tokens=10.0)
    known = own_word_features(fitted, counts, ENGINE, pseudo_tokens=10.0)
    unseen = unseen_features(fitted, counts, ENGINE, allowed=allowed, pseudo_tokens=10.0)
    vectors_alone = own_word_features(fitted, counts, ENGINE, pseudo_tokens=1e12)
    # The topics themselves were learned from these documents: that much they do know.
    learned_share = own_share(fitted, vectors_alone, labels)
    assert own_share(fitted, fair, np.array(["a", "b"] * 100)) == pytest.approx(0.5, abs=0.03)
    assert own_share(fitted, known, labels) > learned_share + 0.02
    assert own_share(fitted, unseen, labels) < learned_share + 0.01


def test_features_are_the_same_for_any_number_of_workers_and_any_company(learned):
    fitted, counts, _, allowed = learned
    alone = own_word_features(fitted, counts[:1], ENGINE)
    together = own_word_features(fitted, counts, LocalEngine(3))
    np.testing.assert_array_equal(alone[0], together[0])
    one, three = (
        unseen_features(fitted, counts, LocalEngine(n), allowed=allowed, n_folds=3) for n in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


def test_repeated_words_count_less_and_empty_documents_stay_empty():
    rows = damped(csr_array([[1, 8], [0, 0], [3, 0]])).toarray()
    assert rows[0, 1] / rows[0, 0] == pytest.approx(np.log(9) / np.log(2))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1])


def test_a_document_without_known_words_has_zeros(learned):
    fitted = learned[0]
    assert not own_word_features(fitted, csr_array((2, N_WORDS)), ENGINE).any()


def test_senseless_settings_are_refused(learned):
    fitted, counts, _, _ = learned
    with pytest.raises(DataError, match="pseudo_tokens must be more than 0; found 0"):
        own_word_features(fitted, counts, ENGINE, pseudo_tokens=0)
    with pytest.raises(DataError, match="sharpness must be more than 0 and finite; found 0"):
        own_word_features(fitted, counts, ENGINE, sharpness=0)
    with pytest.raises(DataError, match="n_folds must be at least 2; found 1"):
        unseen_features(fitted, counts, ENGINE, n_folds=1)


def test_a_single_training_document_is_described_by_the_vectors_alone(learned):
    fitted, counts, _, _ = learned
    alone = unseen_features(fitted, counts[:1], ENGINE, pseudo_tokens=7.0)
    plain = own_word_features(fitted, counts[:1], ENGINE, pseudo_tokens=1e15)
    np.testing.assert_allclose(alone, plain, rtol=1e-6)

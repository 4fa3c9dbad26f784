import numpy as np
import pytest

from topicvec.errors import DataError
from topicvec_bench.lftm import LFTM, fit_topic_vectors, softmax_words


def test_topic_vectors_are_a_maximum_a_posteriori_of_each_topic():
    rng = np.random.default_rng(0)
    matrix, counts = rng.normal(size=(30, 4)), rng.poisson(2, size=(30, 3))
    found = fit_topic_vectors(np.zeros((3, 4)), counts, matrix, l2=0.3, n_steps=500)
    expected = softmax_words(found, matrix).T @ matrix * counts.sum(0)[:, None]
    gradient = counts.T @ matrix - expected - 2 * 0.3 * found
    np.testing.assert_allclose(gradient, 0, atol=1e-2)


def test_a_topic_without_tokens_keeps_to_its_prior():
    matrix = np.random.default_rng(0).normal(size=(30, 4))
    found = fit_topic_vectors(np.ones((1, 4)), np.zeros((30, 1), int), matrix, 0.01, 500)
    np.testing.assert_allclose(found, 0, atol=1e-3)


def test_word_vectors_lend_probability_to_a_rare_word(planted):
    documents = [*planted.documents, [*["g0w1", "g0w2", "g0w3"] * 5, "g0new"]]
    params = {"n_topics": 3, "vectors": planted.vectors, "n_initial": 60, "n_iter": 10}
    shares = []
    for share in (0.0, 0.6):
        model = LFTM(share=share, **params).fit(documents)
        topic = model.transform([["g0w1", "g0w2", "g0w3"]]).argmax()
        shares.append(model.topic_word_[topic, model.words_.index("g0new")])
        np.testing.assert_allclose(model.topic_word_.sum(1), 1, rtol=1e-5)
    assert shares[1] > 2 * shares[0]


def test_a_share_above_one_is_refused(planted):
    with pytest.raises(DataError, match="share must be a number between 0 and 1"):
        LFTM(share=1.5, vectors=planted.vectors).fit(planted.documents)

import sys

import numpy as np
import pytest
from scipy.special import expit

from topicvec.errors import MissingExtra
from topicvec_bench import twe
from topicvec_bench.twe import TWE


def test_the_compiled_context_counts_are_their_twin():
    rng = np.random.default_rng(0)
    starts = np.array([0, 4, 4, 5, 20])
    arguments = (rng.integers(6, size=20), starts, rng.integers(3, size=20), 6, 3, 4)
    found = twe.context_counts(*arguments)
    np.testing.assert_allclose(found, twe.context_counts_reference(*arguments))
    assert found.sum() > 0


def test_topic_vectors_are_a_maximum_of_skip_grams_objective():
    rng = np.random.default_rng(0)
    contexts, outputs = rng.random((3, 40)), rng.normal(size=(40, 5))
    frequency = rng.integers(1, 9, size=40)
    found = twe.fit_skip_gram_topics(np.zeros((3, 5)), contexts, outputs, frequency)
    weight = contexts / contexts.sum(1, keepdims=True)
    noise = 5 * frequency**0.75 / np.sum(frequency**0.75)
    scores = found @ outputs.T
    gradient = (weight * expit(-scores) - noise * expit(scores)) @ outputs
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


def test_a_topic_without_tokens_stays_where_it_starts():
    outputs = np.random.default_rng(0).normal(size=(40, 5))
    found = twe.fit_skip_gram_topics(np.ones((1, 5)), np.zeros((1, 40)), outputs, np.ones(40, int))
    np.testing.assert_array_equal(found, np.ones((1, 5)))


def test_a_topic_vector_expects_the_words_of_its_topic(planted):
    pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
    model = TWE(n_topics=3, n_dims=8, min_count=1, n_iter=60).fit(planted.documents)
    features = model.transform(planted.new_documents)
    words, topics = features[:, :8], features[:, 8:]
    assert words.any()
    own = np.array([planted.group(word) for word in model.words_])
    by_group = np.array([model.topic_word_[:, own == group].sum(1) for group in range(3)])
    nearest = ((topics[:, None] - model.topic_vectors_) ** 2).sum(2).argmin(1)
    np.testing.assert_array_equal(by_group.argmax(0)[nearest], planted.new_labels)


def test_rare_words_are_left_out(planted):
    pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
    documents = [*planted.documents, ["once"]]
    model = TWE(n_topics=3, n_dims=8, min_count=2, n_iter=5).fit(documents)
    assert "once" not in model.words_


def test_without_gensim_the_hint_says_what_to_install(planted, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtra, match=r"TWE needs gensim: pip install \./bench"):
        TWE(n_topics=3, n_iter=1).fit(planted.documents)

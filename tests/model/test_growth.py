"""Streams: one batch in the memory, and topics that enter later."""

import weakref

import numpy as np
import pytest

from conftest import plant
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.model.inference import word_distributions
from topicvec.model.topicvec import TopicVec


@pytest.fixture(scope="module")
def later():
    """Documents of three blocks, then also of a fourth."""
    planted = plant(240)
    old = [t for t, b in zip(planted.documents, planted.blocks, strict=True) if b < 3]
    return planted, old[:90], [*planted.documents[120:180]], [*planted.documents[180:]]


def learn(planted, batches, n_topics="auto"):
    model = TopicVec(n_topics, planted.vectors, random_state=0)
    for batch in batches:
        model.partial_fit(batch)
    return model


def test_a_new_theme_gets_its_topic_and_old_topics_keep_their_words(later):
    planted, *batches = later
    before, after = learn(planted, batches[:1]), learn(planted, batches)
    assert (before.n_topics_, after.n_topics_) == (3, 4)
    tables = [word_distributions(model.fitted_, LocalEngine(1)) for model in (before, after)]
    alike = (np.sqrt(tables[0]) * np.sqrt(tables[1][:, :4])).sum(axis=0)
    assert alike.min() > 0.95
    new = {word for word, _ in next(t for t in after.topics_ if t.index == 4).words[:10]}
    assert {word[0] for word in new} == {"d"}
    fixed = learn(planted, batches, 3)  # the control: a number is a number
    assert fixed.n_topics_ == 3
    assert after.score(batches[-1]) > fixed.score(batches[-1]) + 0.1


def test_batches_of_old_themes_bring_no_topic(later):
    planted, first, *_ = later
    assert learn(planted, [first[:45], first[45:], first[:45]]).n_topics_ == 3


def test_the_same_seed_gives_the_same_bits(later):
    planted, *batches = later
    one, other = (learn(planted, batches) for _ in range(2))
    np.testing.assert_array_equal(one.topic_vectors_, other.topic_vectors_)


def test_a_stream_is_learned_as_its_batches_are(later):
    planted, *batches = later
    texts = [text for batch in batches for text in batch]
    model = TopicVec(vectors=planted.vectors, random_state=0).fit(iter(texts), batch_size=90)
    same = TopicVec(vectors=planted.vectors, random_state=0).fit(texts[:90])
    for start in range(90, len(texts), 90):
        same.partial_fit(texts[start : start + 90])
    np.testing.assert_array_equal(model.topic_vectors_, same.topic_vectors_)
    assert model.n_topics_ == 4
    assert model.fitted_.n_documents == len(texts)
    assert not hasattr(model, "doc_topic_")


def test_one_batch_is_a_plain_fit(later):
    planted, texts, *_ = later
    one = TopicVec(3, planted.vectors, random_state=0).fit(iter(texts), batch_size=1000)
    whole = TopicVec(3, planted.vectors, random_state=0).fit(texts)
    np.testing.assert_array_equal(one.topic_vectors_, whole.topic_vectors_)
    np.testing.assert_array_equal(one.doc_topic_, whole.doc_topic_)


class Text(str):
    """A text that can be watched."""


def test_a_stream_is_never_in_the_memory_as_a_whole(later):
    planted, texts, *_ = later
    alive, most = weakref.WeakSet(), 0

    def stream():
        nonlocal most
        for tokens in texts * 4:
            text = Text(" ".join(tokens))
            alive.add(text)
            most = max(most, len(alive))
            yield text

    TopicVec(3, planted.vectors, random_state=0).fit(stream(), batch_size=40)
    assert 40 <= most <= 2 * 40 + 2  # the batch at hand and the next one


def test_new_words_enter_from_a_stream():
    texts = ["rain wind storm cloud snow"] * 30 + ["rain zorblax wind zorblax storm"] * 5
    model = TopicVec(2, random_state=0).fit(iter(texts), batch_size=30)
    assert "zorblax" in model.vectors_


def test_a_matrix_is_cut_into_batches_too(later):
    planted, texts, *_ = later
    counts = np.zeros((len(texts), len(planted.vectors)), int)
    for row, tokens in enumerate(texts):
        np.add.at(counts[row], planted.vectors.find(tokens), 1)
    model = TopicVec(3, planted.vectors, random_state=0).fit(counts, batch_size=50)
    assert model.fitted_.n_documents == len(texts)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"batch_size": 0}, "whole number"),
        ({"batch_size": 5, "y": ["a"] * 3}, "no y"),
        ({"batch_size": 5, "checkpoint": "x"}, "no checkpoint"),
    ],
)
def test_what_needs_all_documents_is_refused(later, more, message):
    planted, texts, *_ = later
    with pytest.raises(DataError, match=message):
        TopicVec(3, planted.vectors).fit(texts[:3], **more)


def test_an_empty_stream_is_refused():
    with pytest.raises(DataError, match="at least one document"):
        TopicVec(3).fit(iter([]), batch_size=5)

"""How much words tell: figures that chance explains, and words known by their spelling."""

import numpy as np
import pytest

from topicvec.datasets import sample_corpus
from topicvec.embed.load import load_vectors
from topicvec.embed.telling import FILLER, is_filler, residual_idf
from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.model.counts import read_corpus
from topicvec.model.topicvec import TopicVec
from topicvec.model.words import text_vectors

FILLERS = ["make", "early", "announced", "year", "several"]
TELLING = ["church", "reservoir", "telescope", "violin", "inflation"]


def test_tokens_that_fall_by_chance_have_about_nothing():
    """Throw the tokens of words into documents of very different lengths, many times."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 400, 300).astype(float)
    tokens = np.array([3.0, 30.0, 300.0, 3000.0])
    reached = np.zeros(4)
    for _ in range(200):
        for word, count in enumerate(tokens):
            where = rng.choice(300, int(count), p=lengths / lengths.sum())
            reached[word] += len(np.unique(where)) / 200
    assert residual_idf(tokens, reached, lengths) == pytest.approx(np.zeros(4), abs=0.02)


def test_words_that_keep_to_few_documents_have_the_log_of_how_many_they_leave_out():
    rng = np.random.default_rng(1)
    lengths = rng.integers(50, 100, 200).astype(float)
    by_chance = np.mean(
        [len(np.unique(rng.choice(200, 80, p=lengths / lengths.sum()))) for _ in range(500)]
    )
    found = residual_idf(np.array([80.0, 80.0]), np.array([10.0, 40.0]), lengths)
    assert found == pytest.approx(np.log(by_chance / np.array([10, 40])), abs=0.02)


def test_the_default_vectors_have_fillers_among_them():
    general = load_vectors()
    found = is_filler(general)
    assert found.shape == (len(general),)
    assert found[[general.ids[word] for word in FILLERS]].all()
    assert not found[[general.ids[word] for word in TELLING]].any()
    assert 0 < found.mean() < 0.2


def test_words_are_known_by_spelling_in_any_vectors():
    words = ["zorblax", *TELLING, *FILLERS, "gatto"]
    foreign = WordVectors(words, np.eye(len(words)), np.ones(len(words)))
    assert is_filler(foreign).tolist() == [word in FILLERS for word in words]


def test_vectors_that_learned_words_have_the_same_fillers_and_new_words_tell():
    text = "zorblax said that the church of zorblax had made a reservoir early this year. " * 3
    vectors = TopicVec(1, random_state=0).fit([text]).vectors_
    general = load_vectors()
    assert len(vectors) > len(general)
    found = is_filler(vectors)
    assert np.array_equal(found[: len(general)], is_filler(general))
    assert not found[len(general) :].any()


def test_adapted_vectors_have_the_same_fillers():
    texts = [document.text for document in sample_corpus()] * 3
    reading = read_corpus(texts, None, "english", None, phrases=False, cut=True)
    vectors = text_vectors(None, reading, LocalEngine(1))
    general = load_vectors()
    assert vectors.n_dims > general.n_dims  # adapted, that is
    assert np.array_equal(is_filler(vectors)[: len(general)], is_filler(general))


def test_a_subset_in_another_order_has_the_same_fillers():
    few = load_vectors().subset([*TELLING, *FILLERS])
    assert is_filler(few).tolist() == [word in FILLERS for word in few.words]


def test_no_words_are_no_fillers():
    nothing = load_vectors().subset(["church"])
    assert is_filler(nothing).tolist() == [False]
    assert 0 < FILLER < 1

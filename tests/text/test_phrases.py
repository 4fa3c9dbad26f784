"""Collocations become words of their own, and nothing else does."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec.text import Phrases, Tokenizer, find_phrases, stop_words
from topicvec.text.phrases import add_ngrams, choose_phrases, count_ngrams

FEW_WORDS = st.lists(st.sampled_from("abcdef"), max_size=30)
SOME_PHRASES = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=2, max_size=3).map(" ".join), max_size=8
)


def planted(n_documents=400, seed=0):
    """Random words and stop words, with two collocations here and there."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(200)] + ["the", "of"] * 60)
    documents = []
    for number in range(n_documents):
        tokens = rng.choice(words, 40).tolist()
        tokens[5:5] = ["hedge", "fund"] if number % 3 == 0 else ["fund"]
        tokens[20:20] = ["new", "york", "city"] if number % 5 == 0 else ["new"]
        documents.append(tokens)
    return documents


def kept(word):
    return word not in {"the", "of"}


def test_planted_collocations_are_found_and_random_neighbours_are_not():
    found = find_phrases(planted(), keep=kept)
    assert dict(found.phrases) == {
        "hedge fund": 134, "new york": 80, "new york city": 80, "york city": 80
    }  # fmt: skip


def test_phrases_of_one_subject_without_an_order_are_none():
    either_way = [["x", "cell", "blood", "y"], ["x", "blood", "cell", "y"]] * 50
    padding = [[f"p{number}", f"q{number}"] for number in range(500)]
    assert not any("cell" in phrase for phrase in find_phrases(either_way + padding).phrases)


def test_no_phrase_has_a_stop_word_or_one_word_twice():
    documents = [["bank", "of", "england"], ["very", "very", "good"], ["knock", "knock"]] * 30
    assert not find_phrases(documents, keep=lambda word: word != "of").phrases.keys() & {
        "bank of", "of england", "bank of england", "very very", "knock knock", "bank england"
    }  # fmt: skip


def test_neighbours_across_documents_are_none():
    assert not find_phrases([["hedge"], ["fund"]] * 50)


def test_a_phrase_of_one_document_alone_is_its_authors_signature():
    documents = [["bill", "bailey"] * 50, *planted(200)]
    assert "bill bailey" not in find_phrases(documents, keep=kept)


@pytest.mark.parametrize("size", [1, 7, 100, 400])
def test_any_cutting_of_the_corpus_gives_the_same_phrases(size):
    documents = planted()
    chunks = [documents[start : start + size] for start in range(0, len(documents), size)]
    counts = add_ngrams(count_ngrams(chunk, kept) for chunk in chunks)
    whole = find_phrases(documents, keep=kept)
    assert list(choose_phrases(counts).phrases.items()) == list(whole.phrases.items())


def test_a_corpus_without_neighbours_has_no_phrases():
    for documents in ([], [[]], [["alone"]] * 9, [["the", "of"]] * 9):
        assert len(find_phrases(documents, keep=kept)) == 0


def test_the_longest_phrase_wins_from_left_to_right():
    phrases = Phrases(["new york", "new york city", "city hall"])
    tokens = ["new", "york", "city", "hall", "new", "york", "hall"]
    assert phrases.join(tokens) == ["new york city", "hall", "new york", "hall"]
    assert phrases.ranges(tokens) == [(0, 3), (3, 4), (4, 6), (6, 7)]


@given(FEW_WORDS, SOME_PHRASES)
def test_joined_tokens_taken_apart_at_blanks_are_the_tokens(tokens, several):
    phrases = Phrases(several)
    joined = phrases.join(tokens)
    assert " ".join(joined).split() == tokens
    assert phrases.join(joined) == joined
    assert [" ".join(tokens[start:end]) for start, end in phrases.ranges(tokens)] == joined


def test_without_phrases_tokens_stay_as_they_are():
    assert Phrases().join(("a", "b")) == ["a", "b"]


def test_phrases_are_plain_data_and_come_back_from_json_and_pickle():
    phrases = Phrases({"new york": 7})
    assert Phrases(json.loads(json.dumps(dict(phrases.phrases)))) == phrases
    assert pickle.loads(pickle.dumps(phrases)).join(["new", "york"]) == ["new york"]


def test_tokens_with_blanks_of_their_own_are_left_alone():
    assert not find_phrases([["new york", "city"]] * 20)


def test_prose_has_its_phrases():
    texts = ["He lives in New York.", "The hedge fund of New York and a fund", "a new fund"] * 9
    stop = stop_words()
    found = find_phrases(map(Tokenizer(), texts), keep=lambda word: word not in stop)
    assert "new york" in found

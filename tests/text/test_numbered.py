"""Texts in numbers: the same phrases, joined in the same places, as of lists of words."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicvec.engine import InPlace, LocalEngine
from topicvec.text import Phrases, find_phrases, numbered
from topicvec.text.numbered import Joiner, find_numbered_phrases, kept_table, number_tokens

WORDS = ["the", "of", "new", "york", "city", "hall", "fund", "hedge", "a b"]
LISTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=8)


def blocks_of(token_lists, size):
    """Number all lists alike, and put so many in a block."""
    told = number_tokens(token_lists)
    ids, lengths = told.blocks[0].take()
    edges = [*range(0, len(lengths), size), len(lengths)]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    cut = [numbered.Tokens(ids[ends[a] : ends[b]], lengths[a:b]) for a, b in pairwise(edges)]
    return told.words, told.times, cut


def corpus(n_documents=400, seed=0):
    """Documents of words by chance, with phrases of two and three words, some of them turned."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_documents):
        tokens = [f"w{i}" for i in rng.zipf(1.6, 25) if i < 200]
        for phrase, share in (("hedge fund", 0.4), ("new york city", 0.3), ("new york", 0.3)):
            if rng.random() < share:
                place = int(rng.integers(0, len(tokens) + 1))
                tokens[place:place] = phrase.split()
        tokens += ["up", "down"] if rng.random() < 0.5 else ["down", "up"]
        found.append(tokens)
    return found


@pytest.mark.parametrize("size", [1, 37, 1000])
@pytest.mark.parametrize("engine", [InPlace(), LocalEngine(2)])
def test_phrases_are_those_of_the_words(monkeypatch, size, engine):
    monkeypatch.setattr(numbered, "_PENDING", 50)
    token_lists = corpus()

    def keep(word):
        return word not in ("w1", "w2")

    words, times, blocks = blocks_of(token_lists, size)
    found = find_numbered_phrases(
        blocks, words, times, kept_table(words, keep), len(token_lists), engine
    )
    expected = find_phrases(token_lists, keep=keep)
    assert list(found.phrases.items()) == list(expected.phrases.items())
    assert {"hedge fund", "new york", "new york city"} <= set(found.phrases)
    assert "up down" not in found


def test_pairs_that_share_a_bucket_are_told_apart(monkeypatch):
    monkeypatch.setattr(numbered, "_BUCKETS", 2)
    token_lists = corpus()
    words, times, blocks = blocks_of(token_lists, 50)
    kept = np.ones(len(words), bool)
    found = find_numbered_phrases(blocks, words, times, kept, len(token_lists), InPlace())
    assert found.phrases == find_phrases(token_lists).phrases


@settings(deadline=None)
@given(
    LISTS,
    st.lists(
        st.sampled_from(["new york", "new york city", "york city", "a b", "the of new york", "x y"])
    ),
    st.integers(1, 9),
)
def test_phrases_are_joined_as_in_lists_of_words(token_lists, phrases, size):
    known = Phrases(phrases)
    words, _, blocks = blocks_of(token_lists, size)
    joiner = Joiner.of(words, known)
    found = []
    for ids, lengths in map(joiner.join, blocks):
        tokens = [joiner.words[number] for number in ids.tolist()]
        edges = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        found += [tokens[a:b] for a, b in pairwise(edges)]
    assert found == [known.join(tokens) for tokens in token_lists]

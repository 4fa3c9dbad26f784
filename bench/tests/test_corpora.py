"""The corpora as every method gets them; needs the folder that TOPICVEC_DATA names."""

import os
from collections import Counter

import pytest

from topicvec import Tokenizer, load_vectors
from topicvec.datasets import load_20newsgroups, load_reuters
from topicvec_bench.corpora import known_tokens

real = pytest.mark.skipif("TOPICVEC_DATA" not in os.environ, reason="TOPICVEC_DATA is not set")


@real
@pytest.mark.parametrize(
    ("load", "subset", "n_documents", "n_tokens"),
    [
        (load_20newsgroups, "train", 11_285, None),
        (load_20newsgroups, "test", 7_506, 807_427),
        (load_reuters, "train", 5_771, 367_339),
        (load_reuters, "test", 2_255, 130_293),
    ],
)
def test_as_many_words_are_kept_as_in_the_paper(load, subset, n_documents, n_tokens):
    kept = known_tokens(load(subset), load_vectors())
    assert abs(len(kept.documents) - n_documents) <= 3
    if n_tokens is not None:  # another tokenizer and another 80,000 words: not the same to a token
        assert kept.n_tokens == pytest.approx(n_tokens, rel=0.1)


@real
def test_each_newsgroup_keeps_as_many_posts_as_in_the_paper():
    posts = load_20newsgroups("test")
    kept = known_tokens(posts, load_vectors(), tokenizer=Tokenizer("original"))
    found = Counter(kept.labels.tolist())
    assert [found[name] for name in posts.names] == [
        318, 388, 391, 392, 382, 390, 384, 396, 398, 396,
        399, 396, 393, 394, 393, 398, 364, 376, 309, 249,
    ]  # fmt: skip

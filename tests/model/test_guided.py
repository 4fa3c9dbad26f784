"""Seed words and fixed topics."""

import numpy as np
import pytest

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, OutOfVocabularyWarning, VocabularyMismatch
from topicvec.model.topicvec import TopicVec


def quick(*args, **params):
    """A model with a coarse tolerance."""
    return TopicVec(*args, **{"tol": 1e-3, **params})


def block_topics(planted, model):
    """The block of the words of each topic but the null topic."""
    scores = planted.vectors.matrix @ model.topic_vectors_[1:].T
    return [planted.block_of(planted.vectors.words[row]) for row in scores.argmax(axis=0)]


def test_seed_words_say_which_topic_is_which(planted):
    seeds = {"third": ["caxy", "cbxy"], "first": ["aaxy", "abxy"]}
    model = quick(4, planted.vectors, seed_words=seeds, random_state=0).fit(planted.documents)
    assert model.fitted_.labels == (None, "third", "first", None, None)
    assert block_topics(planted, model)[:2] == [2, 0]
    assert model.doc_topic_.shape == (60, 5)
    assert model.fitted_.n_documents == 60
    assert model.fitted_.word_counts.sum() == sum(map(len, planted.documents))


def test_seed_words_hold_a_topic_that_the_documents_hardly_have(planted):
    documents = [
        tokens for tokens, block in zip(planted.documents, planted.blocks, strict=True) if block
    ]
    model = quick(3, planted.vectors, seed_words=[["aaxy", "abxy"]], random_state=0)
    assert block_topics(planted, model.fit(documents))[0] == 0


def test_seeds_may_have_unknown_words(planted):
    with pytest.warns(OutOfVocabularyWarning, match="left out: unheard"):
        quick(2, planted.vectors, seed_words=[["aaxy", "unheard"]], random_state=0).fit(
            planted.documents
        )


def test_fixed_topics_stay_and_new_ones_are_found_beside_them(planted):
    half = [t for t, block in zip(planted.documents, planted.blocks, strict=True) if block < 2]
    old = quick(2, planted.vectors, random_state=0).fit(half).relabel({1: "old"})
    new = quick(4, planted.vectors, fixed_topics=old, random_state=0).fit(planted.documents)
    assert np.array_equal(new.topic_vectors_[1:3], old.topic_vectors_[1:])
    assert new.fitted_.labels == (None, "old", None, None, None)
    assert sorted(block_topics(planted, new)) == [0, 1, 2, 3]


def test_fixed_topics_may_be_an_array(planted):
    fixed = planted.vectors.matrix[:1]
    model = quick(2, planted.vectors, fixed_topics=fixed, random_state=0).fit(planted.documents)
    assert np.array_equal(model.topic_vectors_[1], fixed[0])


def test_guided_fits_give_the_same_bits_for_any_number_of_workers(planted):
    def fit(n_jobs):
        return quick(
            4, planted.vectors, seed_words=[["aaxy"]], fixed_topics=planted.vectors.matrix[20:21],
            random_state=0, n_jobs=n_jobs,
        ).fit(planted.documents)  # fmt: skip

    assert np.array_equal(fit(1).topic_vectors_, fit(4).topic_vectors_)


BAD = {
    "a str": ({"seed_words": ["aaxy"]}, DataError, "must be a list of words"),
    "unknown": ({"seed_words": [["unheard"]]}, DataError, "needs a word with a vector"),
    "too many": ({"seed_words": [["aaxy"], ["baxy"], ["caxy"]]}, DataError, "use at least 3"),
    "other space": ({"fixed_topics": np.ones((1, 3))}, DataError, "rows of 12 numbers"),
    "wrong init": ({"init": np.ones((3, 12))}, DataError, "the first of them zero"),
    "full": (
        {"init": np.zeros((3, 12)), "seed_words": [["aaxy"]]}, DataError, "leaves no room",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_guidance_is_refused(planted, case):
    parameters, error, message = BAD[case]
    with pytest.raises(error, match=message):
        quick(2, planted.vectors, **parameters).fit(planted.documents)


def test_topics_of_other_vectors_are_refused(planted):
    vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    other = quick(1, vectors, random_state=0).fit(["cat dog car"])
    with pytest.raises(VocabularyMismatch, match="live among"):
        quick(2, planted.vectors, fixed_topics=other).fit(planted.documents)

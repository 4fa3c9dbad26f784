import numpy as np
import pytest

from topicvec.embed import WordVectors
from topicvec.errors import DataError, OutOfVocabularyWarning
from topicvec.measure.diversity import (
    embedding_coherence,
    inverted_rbo,
    rank_biased_overlap,
    topic_diversity,
)


def test_diversity_is_the_share_of_distinct_words_among_the_first():
    topics = [["a", "b", "c"], ["a", "d", "b"], ["e", "f", "c"]]
    assert topic_diversity(topics) == 6 / 9
    assert topic_diversity(topics, n_words=1) == 2 / 3
    assert topic_diversity([["a", "b"], ["c"]]) == 1


def test_diversity_of_nothing_is_refused():
    with pytest.raises(DataError, match="all lists are empty"):
        topic_diversity([[], []])
    with pytest.raises(DataError, match="n_words must be at least 1"):
        topic_diversity([["a"]], 0)


def long_overlap(first, second, p, depth=2000):
    """RBO by its definition, agreement beyond the end going on as it was there."""
    total = 0.0
    for d in range(1, depth + 1):
        k = min(d, len(first))
        total += (1 - p) * p ** (d - 1) * len({*first[:k]} & {*second[:k]}) / k
    return total


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_overlap_of_equally_long_lists_is_the_definition_carried_on(p):
    first, second = list("abcdefgh"), list("bazyedxw")
    found = rank_biased_overlap(first, second, p)
    assert found == pytest.approx(long_overlap(first, second, p))
    assert found == pytest.approx(rank_biased_overlap(second, first, p))


def test_overlap_of_lists_of_different_length_by_hand():
    # X = 1, 1, 2 with S = ab (s = 2), L = acb; equation 32 with p = 1/2:
    # sum X_d/d p^d = 1/2 + 1/8 + 1/12; sum X_s (d−s)/(s d) p^d = 1·1/(2·3)/8 = 1/48
    # (1−p)/p = 1; last = ((2 − 1)/3 + 1/2)/8
    expected = 1 / 2 + 1 / 8 + 1 / 12 + 1 / 48 + (1 / 3 + 1 / 2) / 8
    assert rank_biased_overlap(["a", "b"], ["a", "c", "b"], 0.5) == pytest.approx(expected)


def test_overlap_is_one_for_equal_lists_and_zero_without_common_words():
    assert rank_biased_overlap(list("abc"), list("abc")) == pytest.approx(1)
    assert rank_biased_overlap(list("abc"), list("xyz")) == 0
    assert rank_biased_overlap([], list("xyz")) == 0
    assert rank_biased_overlap([], []) == 1
    with pytest.raises(DataError, match="persistence must be between 0 and 1"):
        rank_biased_overlap(["a"], ["a"], 1.0)


def test_inverted_overlap_is_one_minus_the_mean_over_pairs():
    topics = [["a", "b"], ["a", "c"], ["x", "y"]]
    assert inverted_rbo(topics, persistence=0.5) == pytest.approx(1 - 0.75 / 3)
    assert inverted_rbo(topics, n_words=1) == pytest.approx(1 - 1 / 3)
    with pytest.raises(DataError, match="at least two topics"):
        inverted_rbo([["a", "b"]])


def vectors():
    return WordVectors(["a", "b", "c", "z"], [[2, 0], [3, 4], [0, 1], [0, 0]], [1] * 4)


def test_embedding_coherence_is_the_mean_cosine_of_pairs():
    found = embedding_coherence([["a", "b", "c"], ["b", "a"]], vectors())
    assert found.values == pytest.approx(((0.6 + 0 + 0.8) / 3, 0.6))
    assert embedding_coherence([["a", "b", "c"]], vectors(), 2).value == pytest.approx(0.6)


def test_words_without_a_vector_count_zero_and_are_named():
    with pytest.warns(OutOfVocabularyWarning, match="1 topic words are not in the word vectors"):
        found = embedding_coherence([["a", "b", "yak"]], vectors())
    assert found.values == pytest.approx((0.2,))
    assert found.unseen == ("yak",)
    assert np.isfinite(embedding_coherence([["a", "z"]], vectors()).value)

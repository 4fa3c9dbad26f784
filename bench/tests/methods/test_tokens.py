import numpy as np
import pytest

from topicvec.errors import DataError, VocabularyMismatch
from topicvec_bench.tokens import learn_words, number_tokens


def test_counting_leaves_the_tokens_in_their_order():
    tokens = number_tokens([["c", "a", "c", "b"], ["b"]], {"a": 0, "b": 1, "c": 2})
    np.testing.assert_array_equal(tokens.counts(3).toarray(), [[1, 1, 2], [0, 1, 0]])
    assert tokens.words.tolist() == [2, 0, 2, 1, 1]


def test_words_without_a_vector_are_left_out(planted):
    documents = [["g1w1", "unheard", "g0w3", "g0w3"]]
    assert learn_words(documents, vectors=planted.vectors) == ("g0w3", "g1w1")
    with pytest.raises(VocabularyMismatch):
        learn_words([["unheard"]], vectors=planted.vectors)


def test_a_corpus_without_words_is_refused():
    with pytest.raises(DataError):
        learn_words([[], []])

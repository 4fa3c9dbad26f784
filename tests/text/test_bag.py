"""Bags of words: the counts are right, nothing is lost in silence, any n_jobs gives the same."""

import logging
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from topicvec.errors import DataError, EngineError, OutOfVocabularyWarning
from topicvec.text import BagOfWords, Document, Vocabulary, bag_of_words, counting, weigh

vocabulary = Vocabulary(["a", "b", "c"], [3, 2, 1])
documents = st.lists(st.sampled_from("abcxyz"), min_size=1).map(lambda tokens: [*tokens, "a"])
TEXTS = ["The cat purrs, the cat sleeps.", "A dog barks at the cat!", "Dogs and cats: don't ask."]


@given(st.lists(documents, min_size=1), st.integers(1, 4))
def test_counts_agree_with_a_counter_whatever_the_chunks(corpus, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_CHUNK_DOCUMENTS", size)
        bag = bag_of_words(iter(corpus), vocabulary)
    expected = [[Counter(tokens)[word] for word in vocabulary.words] for tokens in corpus]
    assert_array_equal(bag.counts.toarray(), expected)
    everything = Counter(token for tokens in corpus for token in tokens)
    unknown = {word: n for word, n in everything.items() if word not in vocabulary}
    assert bag.unknown == unknown
    assert (bag.n_tokens, bag.n_unknown) == (everything.total(), sum(unknown.values()))


def test_the_matrix_is_canonical_csr_of_int32():
    counts = bag_of_words([["c", "a", "c", "b"], ["a"]], vocabulary).counts
    assert isinstance(counts, csr_array)
    assert counts.has_canonical_format
    assert (counts.dtype, counts.indices.dtype) == (np.int32, np.int32)
    assert_array_equal(counts.indices, [0, 1, 2, 0])


def test_documents_without_a_known_word_are_zero_rows_and_reported():
    with pytest.warns(OutOfVocabularyWarning, match="2 of 3 documents .* row 0, row 2") as caught:
        bag = bag_of_words([["x"], ["a"], []], vocabulary)
    assert caught[0].filename == __file__
    assert_array_equal(bag.counts.toarray(), [[0, 0, 0], [1, 0, 0], [0, 0, 0]])
    assert_array_equal(bag.empty_rows, [0, 2])


def test_the_message_says_what_becomes_of_empty_documents():
    with pytest.warns(OutOfVocabularyWarning):
        report = bag_of_words([["x"], ["a"]], vocabulary).report
    assert report.empty_message() == (
        "1 of 2 documents have no known word and are kept as all-zero rows: row 0"
    )
    assert "and are given the prior mean: row 0" in report.empty_message("given the prior mean")


def test_only_the_first_empty_documents_are_named():
    empty = [Document(f"doc{number}", "...") for number in range(9)]
    with pytest.warns(OutOfVocabularyWarning, match="9 of 10 .*: doc0, .*, doc4, …") as caught:
        BagOfWords().fit_transform([*empty, Document("full", "cat")])
    assert caught[0].filename == __file__


def test_long_documents_make_short_chunks(monkeypatch):
    monkeypatch.setattr(counting, "_CHUNK_SIZE", 10)
    items = ["x" * 4, Document("", "x" * 7), "x" * 20, "x"]
    assert [len(chunk) for chunk in counting.chunked(items)] == [2, 1, 1]


def test_the_account_of_unknown_words_has_a_limit():
    corpus = [["a", f"rare{number}", "often"] for number in range(6_000)]
    bag = bag_of_words(corpus, vocabulary, max_unknown=10)
    assert len(bag.unknown) == 10
    assert bag.unknown["often"] == 6_000
    assert bag.n_unknown == 12_000


def test_a_matrix_too_large_for_int32_gets_int64_indices(monkeypatch):
    from topicvec.text import bag

    monkeypatch.setattr(bag, "_INT32_MAX", 2)
    counts = bag_of_words([["a", "b"], ["a", "c"]], vocabulary).counts
    assert_array_equal(counts.toarray(), [[1, 1, 0], [1, 0, 1]])


def test_the_transformer_agrees_with_scikit_learn():
    ours = BagOfWords(stop_words=None, tokenizer=CountVectorizer().build_analyzer())
    theirs = CountVectorizer()
    expected = theirs.fit_transform(TEXTS)
    columns = [theirs.vocabulary_[word] for word in ours.fit(TEXTS).get_feature_names_out()]
    assert_array_equal(ours.transform(TEXTS).toarray(), expected[:, columns].toarray())
    weighted = BagOfWords(**ours.get_params() | {"term_weights": "idf"}).fit_transform(TEXTS)
    expected = TfidfTransformer(norm=None).fit_transform(expected)
    np.testing.assert_allclose(weighted.toarray(), expected[:, columns].toarray())


@pytest.mark.parametrize("term_weights", [None, "idf", {"cat": 2.0}])
@pytest.mark.parametrize("words", [None, ["dog", "cat", "yak"], Vocabulary(["cat", "dog"], [1, 1])])
def test_fit_transform_is_fit_and_then_transform(term_weights, words):
    texts = TEXTS[:2]
    together = BagOfWords(words, term_weights=term_weights)
    apart = clone(together).fit(iter(texts))
    assert_array_equal(
        together.fit_transform(iter(texts)).toarray(), apart.transform(iter(texts)).toarray()
    )
    assert together.vocabulary_ == apart.vocabulary_
    assert str(together.report_) == str(apart.report_)


@pytest.mark.slow
def test_any_number_of_processes_gives_the_same(monkeypatch):
    monkeypatch.setattr("topicvec.text.counting._FEW_CHUNKS", 1)
    corpus = [Document(str(n), TEXTS[n % 2] + f" number{n % 50}") for n in range(5_000)]
    one, many = BagOfWords(), BagOfWords(n_jobs=2)
    expected, found = one.fit_transform(corpus), many.fit_transform(corpus)
    assert many.vocabulary_ == one.vocabulary_
    assert_array_equal(found.data, expected.data)
    assert_array_equal(found.indices, expected.indices)
    assert_array_equal(found.indptr, expected.indptr)


def test_stop_words_are_neither_known_nor_unknown():
    transformer = BagOfWords(["cat", "the"]).fit(TEXTS[:1])
    assert transformer.vocabulary_.counts.tolist() == [2, 0]
    assert_array_equal(transformer.transform(TEXTS[:1]).toarray(), [[2, 0]])
    assert transformer.report_.unknown == {"purrs": 1, "sleeps": 1}


def test_words_cut_by_the_limits_are_counted_as_unknown(caplog):
    with caplog.at_level(logging.INFO, "topicvec"):
        transformer = BagOfWords(max_words=1)
        transformer.fit_transform(["cat cat dog", "cat"])
    assert (transformer.report_.n_tokens, transformer.report_.n_unknown) == (4, 1)
    assert "2 documents, 4 words, 1 of them (25.0%) unknown: dog 1" in caplog.text


def test_texts_documents_and_token_lists_can_be_mixed():
    counts = BagOfWords().fit_transform(["Cat", Document("1", "cat"), ["cat"], ("cat", "cat")])
    assert_array_equal(counts.toarray().ravel(), [1, 1, 1, 2])


def test_limits_reach_the_vocabulary():
    corpus = ["a cat", "a cat and dog", "cat dog cow"]
    transformer = BagOfWords(min_count=2, max_doc_frequency=0.9, stop_words="none")
    assert transformer.fit(corpus).vocabulary_.words == ("a", "dog")
    assert BagOfWords(min_doc_frequency=3).fit(corpus).vocabulary_.words == ("cat",)


def test_it_works_in_a_pipeline_and_clones():
    pipeline = make_pipeline(BagOfWords(["cat", "dog"]), TfidfTransformer())
    assert clone(pipeline).fit_transform(TEXTS[:2]).shape == (2, 2)


def test_weights_multiply_rows_and_columns():
    counts = csr_array([[1, 2], [0, 3]])
    weighted = weigh(counts, term_weights=[1, 10], document_weights=[2, 0.5])
    assert_array_equal(weighted.toarray(), [[2, 40], [0, 15]])
    weighted.data[:] = 0
    weighted.indices[:] = 0
    assert_array_equal(counts.toarray(), [[1, 2], [0, 3]])


@pytest.mark.parametrize(
    ("weights", "part"),
    [
        ({"term_weights": [1]}, r"term_weights must have shape \(2,\); found \(1,\)"),
        ({"document_weights": [[1]]}, r"document_weights must have shape \(1,\)"),
        ({"term_weights": [1, np.nan]}, "finite and not negative"),
        ({"document_weights": [-1]}, "finite and not negative"),
    ],
)
def test_senseless_weights_are_refused(weights, part):
    with pytest.raises(DataError, match=part):
        weigh(csr_array([[1, 2]]), **weights)


@pytest.mark.parametrize(
    ("corpus", "part"),
    [
        ([], "the corpus is empty"),
        ("one text", "found one str"),
        (Document("1", "one text"), "found one Document"),
        (["cat", None], "found NoneType in row 1"),
        ([b"cat"], "found bytes in row 0"),
        (["...", "the"], "no word is left"),
    ],
)
def test_what_is_no_corpus_is_refused(corpus, part):
    for method in (BagOfWords().fit, BagOfWords().fit_transform):
        with pytest.raises(DataError, match=part):
            method(corpus)


def test_an_empty_corpus_has_no_bag():
    with pytest.raises(DataError, match="the corpus is empty"):
        bag_of_words([], vocabulary)


def test_a_vocabulary_of_which_nothing_occurs_is_refused():
    with pytest.raises(DataError, match="not all 0"):
        BagOfWords(["yak"]).fit(TEXTS)


def test_unknown_term_weights_are_refused():
    with pytest.raises(DataError, match="'idf', a mapping, an array or None; found 'tfidf'"):
        BagOfWords(term_weights="tfidf").fit(TEXTS)


def test_transform_before_fit_is_refused():
    with pytest.raises(NotFittedError):
        BagOfWords().transform(TEXTS)
    with pytest.raises(NotFittedError):
        BagOfWords().get_feature_names_out()


def test_any_callable_is_a_tokenizer_also_in_processes(monkeypatch):
    monkeypatch.setattr("topicvec.text.counting._FEW_CHUNKS", 1)
    one, two = (
        BagOfWords(tokenizer=lambda text: text.split(), n_jobs=n).fit(TEXTS) for n in (1, 2)
    )
    assert one.vocabulary_ == two.vocabulary_


def test_a_few_texts_start_no_processes(monkeypatch):
    monkeypatch.setattr("topicvec.engine.local.LocalEngine._map_pool", None)
    assert len(BagOfWords(n_jobs=2).fit(TEXTS).vocabulary_)


def test_a_tokenizer_that_does_not_travel_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr("topicvec.text.counting._FEW_CHUNKS", 1)
    lock = threading.Lock()
    with pytest.raises(EngineError, match="n_jobs=1"):
        BagOfWords(tokenizer=lambda text: [text, repr(lock)], n_jobs=2).fit(TEXTS)

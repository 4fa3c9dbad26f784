"""The vocabulary: order, limits, files, and what it refuses."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec.errors import DataError, FormatError
from topicvec.text import Vocabulary

words = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]))
counted = st.dictionaries(words, st.integers(1, 10**12), min_size=1)
corpora = st.lists(st.lists(st.sampled_from("abcdefg")), min_size=1).filter(any)


@given(counted)
def test_words_come_by_decreasing_count_and_then_by_word(counts):
    vocabulary = Vocabulary.from_counts(counts)
    assert list(vocabulary.words) == sorted(counts, key=lambda word: (-counts[word], word))
    assert [counts[word] for word in vocabulary.words] == vocabulary.counts.tolist()


@given(counted)
def test_ids_and_words_are_inverse_and_probabilities_sum_to_one(counts):
    vocabulary = Vocabulary.from_counts(counts)
    assert [vocabulary.id(word) for word in vocabulary.words] == list(range(len(vocabulary)))
    assert vocabulary.unigram.sum() == pytest.approx(1)
    assert vocabulary.unigram.dtype == np.float64


@given(counted)
def test_a_saved_vocabulary_loads_exactly(tmp_path_factory, counts):
    path = tmp_path_factory.mktemp("vocabulary") / "words.tsv"
    vocabulary = Vocabulary.from_counts(counts)
    vocabulary.save(path)
    assert Vocabulary.load(path) == vocabulary
    assert [entry.name for entry in path.parent.iterdir()] == ["words.tsv"]


@given(corpora)
def test_counting_documents_agrees_with_a_counter(corpus):
    expected = Counter(word for document in corpus for word in document)
    assert Vocabulary.from_documents(iter(corpus)) == Vocabulary.from_counts(expected)


@given(corpora, st.integers(1, 4), st.floats(0.3, 1), st.integers(1, 3))
def test_limits_keep_exactly_the_words_within(corpus, low, high, min_count):
    counts = Counter(word for document in corpus for word in document)
    frequencies = Counter(word for document in corpus for word in set(document))
    expected = {
        word
        for word in counts
        if counts[word] >= min_count and low <= frequencies[word] <= high * len(corpus)
    }
    limits = {"min_count": min_count, "min_doc_frequency": low, "max_doc_frequency": high}
    if expected:
        assert set(Vocabulary.from_documents(corpus, **limits).words) == expected
    else:
        with pytest.raises(DataError, match="no word is left"):
            Vocabulary.from_documents(corpus, **limits)


def test_counts_over_many_chunks_add_up():
    vocabulary = Vocabulary.from_documents([f"w{number % 7}", "the"] for number in range(7_000))
    assert vocabulary.words[0] == "the"
    assert vocabulary.counts.tolist() == [7_000] + [1_000] * 7


def test_max_words_keeps_the_most_frequent():
    assert Vocabulary.from_counts({"a": 1, "b": 3, "c": 2}, max_words=2).words == ("b", "c")


def test_restrict_keeps_order_and_counts():
    vocabulary = Vocabulary.from_counts({"a": 3, "b": 2, "c": 1})
    assert vocabulary.restrict(iter(["c", "a", "a", "x"])) == Vocabulary(["a", "c"], [3, 1])
    with pytest.raises(DataError, match="none of the words given"):
        vocabulary.restrict(["x"])


def test_it_is_frozen_and_its_arrays_are_read_only():
    vocabulary = Vocabulary(["a"], [1])
    with pytest.raises(AttributeError):
        vocabulary.words = ("b",)
    with pytest.raises(ValueError, match="read-only"):
        vocabulary.counts[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        vocabulary.unigram[0] = 2
    with pytest.raises(TypeError):
        vocabulary.ids["b"] = 1


def test_the_counts_given_are_copied():
    counts = np.array([1, 2])
    vocabulary = Vocabulary(["a", "b"], counts)
    counts[0] = 7
    assert vocabulary.counts.tolist() == [1, 2]


def test_it_pickles_also_after_use_and_hashes_by_its_words():
    vocabulary = Vocabulary(["a", "b", "c", "d"], [4, 3, 2, 1])
    assert "a" in vocabulary
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert copy == vocabulary
    assert hash(copy) == hash(vocabulary)
    assert vocabulary != "a"
    assert repr(copy) == "Vocabulary(4 words: a, b, c, …)"


@pytest.mark.parametrize(
    ("words", "counts", "message"),
    [
        (["a", "b", "a"], [1, 1, 1], "'a' repeats"),
        ([], [], "needs words"),
        (["a"], [1, 2], "1 words and counts of shape"),
        (["a"], [0], "not all 0"),
        (["a"], [-1], "at least 0"),
        (["a"], [1.5], "whole numbers"),
        (["a", None], [1, 1], "words must be str; found None"),
    ],
)
def test_what_is_no_vocabulary_is_refused(words, counts, message):
    with pytest.raises(DataError, match=message):
        Vocabulary(words, counts)


def test_counts_that_are_no_whole_numbers_are_not_rounded():
    with pytest.raises(DataError, match="whole numbers"):
        Vocabulary.from_counts({"a": 1.5})


@pytest.mark.parametrize("counts", [[2**63], [2**64 - 1, 1], [2**64], [2**62, 2**62]])
def test_counts_too_large_are_refused_and_do_not_wrap(tmp_path, counts):
    words = ["a", "b"][: len(counts)]
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{w}\t{c}\n" for w, c in zip(words, counts, strict=True)))
    makers = (
        lambda: Vocabulary(words, counts),
        lambda: Vocabulary.from_counts(dict(zip(words, counts, strict=True))),
        lambda: Vocabulary.load(path),
    )
    for make in makers:
        with pytest.raises(DataError, match=r"add to less than 2\*\*63"):
            make()


def test_the_largest_counts_give_true_probabilities():
    assert Vocabulary(["a", "b"], [2**62, 2**61]).unigram == pytest.approx([2 / 3, 1 / 3])


def test_an_interrupted_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "words.tsv"
    path.write_text("precious")

    def stop(part, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", stop)
    with pytest.raises(KeyboardInterrupt):
        Vocabulary(["a"], [1]).save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["words.tsv"]
    assert path.read_text() == "precious"


def test_a_vocabulary_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "folder", tmp_path / "missing" / "w.tsv", tmp_path / "file" / "w.tsv"):
        with pytest.raises(DataError, match=r"cannot write|no such folder"):
            Vocabulary(["a"], [1]).save(path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


def test_an_unknown_word_is_named():
    with pytest.raises(DataError, match="'Dog' is not among the 1 words"):
        Vocabulary(["dog"], [1]).id("Dog")


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "\ud800"])
def test_a_word_that_breaks_the_file_is_not_written(tmp_path, word):
    with pytest.raises(DataError, match="tab, line end or surrogate"):
        Vocabulary([word], [1]).save(tmp_path / "words.tsv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\t1\nb\n", "line 2: expected a word, a tab and a count"),
        (b"a\tmany\n", "line 1"),
        (b"a\t-1\n", "line 1"),
        (b"", "line 1"),
        (b"\xff\t1\n", "UTF-8"),
    ],
)
def test_a_damaged_file_names_its_line(tmp_path, content, message):
    path = tmp_path / "words.tsv"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        Vocabulary.load(path)


def test_a_repeated_word_in_a_file_is_refused(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("a\t1\r\na\t2\r\n")
    with pytest.raises(DataError, match="'a' repeats"):
        Vocabulary.load(path)


@pytest.mark.parametrize(
    "limits",
    [
        {"min_count": 0},
        {"min_count": 1.5},
        {"max_words": 0},
        {"min_doc_frequency": -1},
        {"max_doc_frequency": 1.5},
    ],
)
def test_senseless_limits_are_refused(limits):
    with pytest.raises(DataError, match=f"{next(iter(limits))} must be"):
        Vocabulary.from_documents([["a"]], **limits)


def test_an_empty_corpus_is_refused():
    with pytest.raises(DataError, match="the corpus is empty"):
        Vocabulary.from_documents([])


def test_texts_instead_of_tokens_are_refused():
    with pytest.raises(DataError, match="lists of tokens; found a str"):
        Vocabulary.from_documents(["the cat"])
    with pytest.raises(DataError, match="found one str"):
        Vocabulary.from_documents("the cat")

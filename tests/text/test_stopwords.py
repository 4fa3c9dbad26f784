"""Stop words by name, from a file, or as given."""

import sys

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from topicvec.datasets import sample_corpus
from topicvec.errors import DataError, MissingExtra
from topicvec.text import Tokenizer, corpus_stop_words, stop_words
from topicvec.text.stopwords import LANGUAGES


def test_the_papers_list_is_that_of_the_original():
    paper = stop_words("paper")
    assert len(paper) == 199
    assert {"the", "pp", "thorough", "ll", "s"} <= paper
    assert paper.isdisjoint({"i", "us", "very", "now", "two", "mr", "like", "don't"})


def test_english_adds_contractions_as_the_tokenizer_cuts_them_and_what_says_nothing():
    english = stop_words("english")
    assert stop_words("paper") < english
    assert stop_words() == stop_words("en") == stop_words("english-extended") == english
    assert set(Tokenizer()("I don't, you’re very; it isn't us; use used using")) <= english
    assert all(Tokenizer()(word) == [word] for word in english)
    assert english.isdisjoint({"new", "york", "second", "system", "people", "time", "bill", "fire"})


def test_the_list_of_scikit_learn_goes_by_name():
    assert stop_words("sklearn") == ENGLISH_STOP_WORDS


@pytest.mark.parametrize("nothing", [None, "none", []])
def test_no_stop_words_are_possible(nothing):
    assert stop_words(nothing) == frozenset()


def test_a_file_has_one_word_a_line_with_comments(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("\ufeff# mine\n\nfoo \r\nbär\n", encoding="utf-8")
    assert stop_words(path) == stop_words(str(path)) == {"foo", "bär"}


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match=r"english, paper, sklearn, none.*italian.*'klingon'"):
        stop_words("klingon")


@pytest.mark.parametrize(("name", "code"), [("italian", "it"), ("german", "de"), ("russian", "ru")])
def test_a_language_goes_by_its_name_or_code(name, code):
    words = stop_words(name)
    assert words == stop_words(code)
    assert words & {"anche", "aber", "если"}


def test_there_are_lists_for_twenty_languages_and_more():
    assert len(LANGUAGES) >= 20
    assert all(len(stop_words(name)) > 20 for name in LANGUAGES.values())


def test_a_missing_package_of_lists_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "stop_words", None)
    with pytest.raises(MissingExtra, match=r'italian.*pip install "topicvec\[languages\]"'):
        stop_words("italian")


def mixed(n_documents, length, seed=0):
    """Documents of two subjects, a third of whose words are the same function words."""
    rng = np.random.default_rng(seed)
    subjects = [[f"{name}{number}" for number in range(150)] for name in ("sea", "law")]
    common = ["di", "che", "la", "il", "un"]
    for number in range(n_documents):
        own = rng.choice(subjects[number % 2], length, p=zipf(150))
        yield [*own, *rng.choice(common, length // 2)]


def zipf(n):
    weights = 1 / np.arange(1, n + 1)
    return weights / weights.sum()


@pytest.mark.parametrize(("n_documents", "length"), [(1000, 8), (300, 100), (60, 500)])
def test_the_stop_words_of_a_corpus_are_its_function_words(n_documents, length):
    assert corpus_stop_words(mixed(n_documents, length)) == {"di", "che", "la", "il", "un"}


def test_a_corpus_without_stop_words_has_none():
    documents = [[word for word in tokens if word[-1].isdigit()] for tokens in mixed(1000, 8)]
    assert corpus_stop_words(documents) == frozenset()


def test_the_sample_corpus_has_function_words_and_no_topical_ones():
    found = corpus_stop_words(Tokenizer()(document.text) for document in sample_corpus())
    assert {"the", "and", "of", "is", "with"} <= found
    assert len(found - stop_words()) <= 2


def test_one_article_has_no_stop_words_of_a_corpus():
    with pytest.raises(DataError, match=r"at least 50 documents.*found 1: name a language"):
        corpus_stop_words([["a", "b"]])
    with pytest.raises(DataError, match="see corpus_stop_words"):
        stop_words("corpus")

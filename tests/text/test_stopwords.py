"""Stop words by name, from a file, or as given."""

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from topicvec.errors import DataError
from topicvec.text import Tokenizer, stop_words


def test_english_is_the_list_of_the_original():
    english = stop_words("english")
    assert len(english) == 199
    assert {"the", "pp", "thorough", "ll", "s"} <= english
    assert english.isdisjoint({"i", "us", "very", "now", "two", "mr", "like", "don't"})
    assert stop_words() == english


def test_the_extended_list_adds_contractions_as_the_tokenizer_cuts_them():
    extended = stop_words("english-extended")
    assert stop_words("english") < extended
    assert set(Tokenizer()("I don't, you’re very; it isn't us")) <= extended
    assert all(Tokenizer()(word) == [word] for word in extended)


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
    with pytest.raises(DataError, match=r"english, english-extended, sklearn, none.*'klingon'"):
        stop_words("klingon")

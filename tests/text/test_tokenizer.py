"""The tokenizer, by example and by property."""

import pickle
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topicvec.errors import DataError
from topicvec.text import Tokenizer

tokenize = Tokenizer()
original = Tokenizer(rules="original")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World", ["hello", "world"]),
        ("don't DON’T donʼt", ["don't"] * 3),
        ("Alice's the boss' 'quoted' ''twice''", ["alice", "the", "boss", "quoted", "twice"]),
        ("it's John’s's", ["it", "john"]),
        ("state-of-the-art snake_case", ["state", "of", "the", "art", "snake", "case"]),
        ("1984 3.14 1,000 ½ ²", []),
        ("covid19 x86 3d 1990s", ["covid19", "x86", "3d", "1990s"]),
        ("naïve Ünïcode ΟΔΟΣ Москва", ["naïve", "ünïcode", "οδος", "москва"]),
        ("cafe\u0301", ["café"]),
        ("हिन्दी", ["हिन्दी"]),
        ("İstanbul", ["i̇stanbul"]),
        ("em—dash “quoted” …", ["em", "dash", "quoted"]),
        ("co\u00adoperate zero\u200bwidth \ufeffmark", ["cooperate", "zero", "width", "mark"]),
        ("❤\ufe0fword", ["word"]),
        ("half \ud800surrogate", ["half", "surrogate"]),
        ("", []),
    ],
)
def test_default_rules_cut(text, words):
    assert tokenize(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "see https://a.org/b?c=d#e now",
        "see HTTP://A.ORG now",
        "see www.a.org/b now",
        "see git+ssh://host/path now",
        "see first.last+tag@mail.a.org now",
        "see <http://a.org> now",
        "see (me@a.org) now",
    ],
)
def test_web_and_mail_addresses_are_removed(text):
    assert tokenize(text) == ["see", "now"]


def test_text_around_a_link_stays():
    assert tokenize('<a href="http://a.org/b">name</a> @someone') == [
        "a", "href", "name", "a", "someone",
    ]  # fmt: skip


@given(st.text())
@example("\u0301'a's's ''b\u00ad\u0301")
@example("a@b.c@d.e://www.x")
def test_tokenizing_its_own_output_changes_nothing(text):
    words = tokenize(text)
    assert tokenize(" ".join(words)) == words


@given(st.text())
def test_words_are_lower_case_with_a_letter_and_no_blank(text):
    for word in tokenize(text):
        assert word == word.lower()
        assert any(character.isalpha() for character in word)
        assert not any(character.isspace() for character in word)
        assert not word.startswith("'")
        assert not word.endswith("'")


@given(st.text())
def test_lower_casing_first_changes_nothing(text):
    assert tokenize(text.lower()) == tokenize(text)


@given(st.text(string.printable + "äöüéßñжя"))
def test_upper_case_gives_the_same_words_where_it_has_a_way_back(text):
    if text.upper().lower() == text.lower():
        assert tokenize(text.upper()) == tokenize(text)


@given(st.lists(st.text(string.ascii_letters, min_size=1)))
def test_plain_words_come_out_lower_cased_and_complete(words):
    assert tokenize(" ".join(words)) == [word.lower() for word in words]


@given(st.text(), st.text())
def test_a_line_end_separates(left, right):
    assert tokenize(f"{left}\n{right}") == tokenize(left) + tokenize(right)


@pytest.mark.parametrize("tokenizer", [tokenize, original])
@pytest.mark.parametrize("unit", ["a", "a@", "a.", "'", "http://", "w", "a\u0301", "-"])
def test_a_long_text_without_blanks_takes_no_more_than_moments(tokenizer, unit):
    start = time.process_time()
    tokenizer(unit * (200_000 // len(unit)) + " @ :// www.")
    assert time.process_time() - start < 10


def test_a_tokenizer_pickles_and_compares_by_its_rules():
    assert pickle.loads(pickle.dumps(original)) == original
    assert original != tokenize


def test_unknown_rules_are_refused():
    with pytest.raises(DataError, match="'default' or 'original'; found 'nltk'"):
        Tokenizer(rules="nltk")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("isn’t Turing’s", ["isnt", "turings"]),
        ("don't Turing's 'quoted'", ["don't", "turing", "quoted"]),
        ("one—two", ["onetwo"]),
        ("see http://ab.org/c, me@a.org or end.next", ["see", "or"]),
        ("End.Next", ["end.next"]),  # the suffix of an address is lower-case
        ("well-known and/or this -- that", ["well", "known", "and", "or", "this", "that"]),
        ("first... second. Third.", ["first", "second", "third"]),
        ("1984 (C++) a+b +c", ["1984", "c++", "a+b", "c"]),
        ("é à", []),  # no ASCII letter or digit in the sentence
        ("café", ["café"]),
    ],
)
def test_original_rules_cut(text, words):
    assert original(text) == words


@given(st.text())
def test_original_rules_give_no_empty_word_and_no_blank(text):
    assert all(word and not any(map(str.isspace, word)) for word in original(text))

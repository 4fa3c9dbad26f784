"""The tokenizer, by example and by property."""

import importlib
import pickle
import re
import string
import time
import unicodedata
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topicvec.errors import DataError, MissingExtra
from topicvec.text import Tokenizer, TokenSpan
from topicvec.text.tokenizer import _UNSPACED, _segmenter

tokenize = Tokenizer()
# Segmenters of scripts without blanks go by what is around a word; they have tests of their own.
spaced = partial(re.compile(f"[{_UNSPACED.pattern[1:-2]}]").sub, "")
some_text = st.text().map(spaced)
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


@given(some_text)
@example("\u0301'a's's ''b\u00ad\u0301")
@example("a@b.c@d.e://www.x")
def test_tokenizing_its_own_output_changes_nothing(text):
    words = tokenize(text)
    assert tokenize(" ".join(words)) == words


@given(some_text)
def test_words_are_lower_case_with_a_letter_and_no_blank(text):
    for word in tokenize(text):
        assert word == word.lower()
        assert any(character.isalpha() for character in word)
        assert not any(character.isspace() for character in word)
        assert not word.startswith("'")
        assert not word.endswith("'")


@given(some_text)
def test_lower_casing_first_changes_nothing(text):
    assert tokenize(text.lower()) == tokenize(text)


@given(st.text(string.printable + "äöüéßñжя"))
def test_upper_case_gives_the_same_words_where_it_has_a_way_back(text):
    if text.upper().lower() == text.lower():
        assert tokenize(text.upper()) == tokenize(text)


@given(st.lists(st.text(string.ascii_letters, min_size=1)))
def test_plain_words_come_out_lower_cased_and_complete(words):
    assert tokenize(" ".join(words)) == [word.lower() for word in words]


@given(some_text, some_text)
def test_a_line_end_separates(left, right):
    assert tokenize(f"{left}\n{right}") == tokenize(left) + tokenize(right)


@pytest.mark.parametrize("tokenizer", [tokenize, original])
@pytest.mark.parametrize("unit", ["a", "a@", "a.", "'", "http://", "w", "a\u0301", "-", "a's"])
def test_a_long_text_without_blanks_takes_no_more_than_moments(tokenizer, unit):
    text = unit * (200_000 // len(unit)) + " @ :// www."
    for method in (tokenizer, tokenizer.spans):
        start = time.process_time()
        method(text)
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


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Ford's well-known GUIDE", ["Ford", "well", "known", "GUIDE"]),
        ("Don’t 'quote' rock ’n’ roll", ["Don’t", "quote", "rock", "n", "roll"]),
        ("Cafe\u0301 re\u0301sume\u0301.", ["Cafe\u0301", "re\u0301sume\u0301"]),
        ("q\u0301\u0323x!", ["q\u0301\u0323x"]),  # the normal form swaps the marks
        ("İİ, DİYARBAKIR", ["İİ", "DİYARBAKIR"]),  # lower case is longer
        ("\ufb01ne \u212bngström", ["\ufb01ne", "\u212bngström"]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8 x", ["\u1112\u1161\u11ab\u1100\u116e\u11a8", "x"]),
        ("co\u00adoperate\u00ad's", ["co\u00adoperate"]),
        ("İ x@a.org, http://İ.org or me", ["İ", "or", "me"]),
        ("é <http://a.org/b>name", ["é", "name"]),
    ],
)
def test_a_span_is_where_the_word_stands(text, spans):
    assert [text[start:end] for _, start, end in tokenize.spans(text)] == spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Turing’s 'test' isn't over-rated", ["Turing’s", "test", "isn't", "over", "rated"]),
        ("(“one—two”) don't's (C++) +c", ["one—two", "don't", "C++", "c"]),
        ("see turing.org, café's", ["see", "café"]),
        ("x.yéab.org/é-z", ["x.yéab.org/é", "z"]),  # a link is cut out of a word
    ],
)
def test_a_span_of_the_original_rules_is_where_the_word_stands(text, spans):
    assert [text[start:end] for _, start, end in original.spans(text)] == spans


def test_a_span_is_a_named_tuple():
    assert tokenize.spans("A Yak's") == [TokenSpan("a", 0, 1), TokenSpan("yak", 2, 5)]
    assert tokenize.spans("") == original.spans("") == []


# What lower-casing, normal forms and the rules treat in a way of its own, more often than chance.
hard = st.text(
    st.characters()
    | st.sampled_from("''sSaAeÉéßẞΣσςİIıﬁŉKÅΩ가각か<=>.-@:/_ \n’ʼ“—²1")
    | st.sampled_from(
        "\u0301\u0323\u0338\u0307\u0345\u3099\u00ad\u200b\u200d\u1100\u1161\u11a8"
        "\u09c7\u09be\u0f71\u0f73\u0958\u0344\u2000\u037e\ud800\ufe0f"
    )
).map(spaced)


def check_places(text, spans):
    ends = [0, *(span.end for span in spans)]
    for before, span in zip(ends, spans, strict=False):
        assert before <= span.start < span.end <= len(text)


@given(hard)
@example("a\u0315\u0301b")
@example("ΟΔΟΣ'Α ΟΔΟΣ's")
def test_spans_are_the_words_and_their_places(text):
    spans = tokenize.spans(text)
    assert [span.token for span in spans] == tokenize(text)
    check_places(text, spans)
    for token, start, end in spans:
        again = tokenize(text[start:end])
        # a final sigma is one by what follows, which is cut off here
        assert [word.replace("ς", "σ") for word in again] == [token.replace("ς", "σ")]


@given(hard | st.text("ab.'s@:/- wéorg—“"))
@example("xéab.cd/é ab.cdehttp://xx.org")
def test_spans_of_the_original_rules_are_the_words_and_their_places(text):
    spans = original.spans(text)
    assert [span.token for span in spans] == original(text)
    check_places(text, spans)
    for token, start, end in spans:
        # lower-cased, without what is cut out inside: punctuation outside ASCII, and links
        cut, left = text[start:end].lower().replace("ς", "σ"), token.replace("ς", "σ")
        assert (cut[0], cut[-1]) == (left[0], left[-1])
        rest = iter(cut)
        assert all(character in rest for character in left)
        if len(cut) > len(left):
            foreign = [c for c in cut if c > "\x7f" and unicodedata.category(c)[0] == "P"]
            assert foreign or "." in cut


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "机器学习很有趣。2024年的GPU模型",
            ["机器", "学习", "很", "有趣", "年", "的", "gpu", "模型"],
        ),
        ("東京は日本の首都です。", ["東京", "は", "日本", "の", "首都", "です"]),
        ("カ\u3099イトの本", ["ガイト", "の", "本"]),
        ("ฉันรักภาษาไทย 2567", ["ฉัน", "รัก", "ภาษาไทย"]),
        ("机器\u200d学习很有趣", ["机器", "学习", "很", "有趣"]),
    ],
)
def test_a_script_without_blanks_is_cut_by_a_segmenter(text, words):
    spans = tokenize.spans(text)
    assert tokenize(text) == [span.token for span in spans] == words
    check_places(text, spans)
    for token, start, end in spans:
        place = unicodedata.normalize("NFC", text[start:end].lower())
        assert place.replace("\u200d", "") == token


@given(st.text("机器学习很有趣。年的 a2東京はにカタ\u3099\u200d、ー"))
def test_spans_of_a_segmented_text_are_its_words(text):
    spans = tokenize.spans(text)
    assert [span.token for span in spans] == tokenize(text)
    check_places(text, spans)


def test_a_name_in_another_script_needs_no_segmenter():
    assert tokenize("Beijing, 北京大学 in Chinese") == ["beijing", "北京大学", "in", "chinese"]


@pytest.mark.parametrize(
    ("text", "extra"),
    [("机器学习", "chinese"), ("首都です", "japanese"), ("ภาษาไทย", "thai")],
)
def test_without_the_segmenter_the_command_to_install_it_is_said(text, extra, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    _segmenter.cache_clear()
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtra, match=rf'no blanks.*pip install "topicvec\[{extra}\]"'):
        tokenize(text)


def test_a_script_without_a_segmenter_asks_for_a_tokenizer():
    with pytest.raises(DataError, match=r"Khmer.*tokenizer="):
        tokenize("ភាសាខ្មែរ")


@pytest.mark.parametrize("rules", ["default", "original"])
@pytest.mark.parametrize("sign", [" ", "\t", "-", ".", "'", "@", "a", "a.", "www.", "://", "%"])
def test_no_run_of_signs_takes_long(rules, sign):
    text = "sea " + sign * (200_000 // len(sign)) + " sun"
    start = time.process_time()
    Tokenizer(rules)(text)
    assert time.process_time() - start < 10  # blanks once took the square of their number

import re
import unicodedata
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec import TopicVec, WordVectors
from topicvec.pictures.coloured import PlacedToken, cut_text, locate, read_text
from topicvec.represent import DocumentIndex

VECTORS = WordVectors(
    ["café", "crème", "sea", "salt", "the"], np.vstack([2 * np.eye(4), np.ones(4)]), [1] * 5
)
TEXT = "Crème at the café, the sea and salt: a café by the sea, crème and salt."


def fitted(tokenizer=None):
    return TopicVec(2, VECTORS, tokenizer=tokenizer, random_state=0).fit([TEXT] * 2)


class Found(NamedTuple):
    token: str
    start: int
    end: int


class Stems:
    """A tokenizer of a user's own that says where its tokens stand."""

    def __call__(self, text):
        return [found.token for found in self.spans(text)]

    def spans(self, text):
        words = re.finditer(r"\w+", text)
        return [Found(word[0].lower()[:4], word.start(), word.end()) for word in words]


def test_a_tokenizer_that_gives_places_is_believed():
    text = "Salty seas: SALTS"
    read = read_text(fitted(Stems()), text)
    found = [(each.token, text[each.start : each.end]) for each in read.tokens]
    assert found == [("salt", "Salty"), ("salt", "SALTS")]


def test_tokens_of_another_callable_are_searched_for():
    text = "Sea, SALT and sea"
    read = read_text(fitted(lambda text: re.findall(r"\w+", text.lower())), text)
    assert [text[each.start : each.end] for each in read.tokens] == ["Sea", "SALT", "sea"]


def test_a_token_that_is_not_found_has_a_topic_but_no_place():
    model = fitted(lambda text: re.findall(r"\w+", text.lower().replace("nacl", "salt")))
    read = read_text(model, "NaCl")
    assert (read.n_known, read.tokens) == (1, ())


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_words_with_accents_have_their_places_however_they_are_written(form):
    text = unicodedata.normalize(form, TEXT)
    read = read_text(fitted(), text)
    found = [unicodedata.normalize("NFC", text[each.start : each.end]) for each in read.tokens]
    assert [each.lower() for each in found] == [each.token for each in read.tokens]
    assert (read.n_known, len(found)) == (8, 8)


def test_topics_and_mixture_are_those_of_the_model(model, documents):
    text = documents[0].text
    read = read_text(model, text)
    known = [each for each in model.responsibilities(text) if each.topic is not None]
    assert [(each.token, each.topic) for each in known] == [
        (each.token, each.topic) for each in read.tokens
    ]
    np.testing.assert_array_equal(
        [each.probability for each in known], [each.probability for each in read.tokens]
    )
    proportions = model.transform([text])[0]
    assert read.mixture == tuple(
        (k, share) for k, share in sorted(enumerate(proportions), key=lambda pair: -pair[1])
        if share >= 0.005
    )  # fmt: skip


def test_a_text_without_a_known_word_is_no_reason_to_warn(model):
    read = read_text(model, "qqqzzz")  # warnings are errors here
    assert (read.n_known, read.tokens) == (0, ())
    assert read_text(model, "").n_known == 0


def test_tokens_that_overlap_do_not_double_the_text():
    tokens = [PlacedToken("a", 1, 0.9, 0, 3), PlacedToken("b", 1, 0.9, 2, 4)]
    assert "".join(piece.text for piece in cut_text("abcdef", tokens)) == "abcdef"


def test_tokens_are_found_as_words_whatever_their_case():
    text = "Rain! Training; the RAIN’s over, rain"
    places = locate(text, ["rain", "rain", "rain"])
    assert [text[a:b] for a, b in places] == ["Rain", "RAIN", "rain"]


def test_letters_that_grow_in_lower_case_do_not_shift_places():
    text = "İİİ Istanbul rain"
    (place,) = locate(text, ["rain"])
    assert text[slice(*place)] == "rain"


@given(st.lists(st.sampled_from(["sea", "SALT", "Fish’s", "…", "42"]), max_size=20))
def test_every_word_of_a_text_is_located(pieces):
    text = " ".join(pieces)
    places = locate(text, [p.lower() for p in pieces if p in ("sea", "SALT")])
    assert None not in places
    assert all(a < b for a, b in places)


def test_the_spans_of_a_text_are_the_whole_text(model):
    text = "Violins, <b>WATER</b> & more music…"
    pieces = list(cut_text(text, read_text(model, text).tokens))
    assert "".join(piece.text for piece in pieces) == text
    assert {piece.text for piece in pieces if piece.topic is not None} >= {"WATER", "music"}


@pytest.mark.parametrize("tokenizer", [None, lambda text: text.lower().split()])
def test_a_phrase_is_one_token_with_its_place(tokenizer):
    vectors = WordVectors(["hedge fund", "city", "fund"], np.diag([2.0, 2, 2]), [1, 1, 1])
    model = TopicVec(1, vectors, tokenizer=tokenizer, random_state=0)
    model.fit([["hedge fund", "fund"], ["city", "city"]])
    learned = {**model.fitted_.settings, "phrases": {"hedge fund": 2}}
    model._adopt(replace(model.fitted_, settings=learned))
    text = "Fund A Hedge\n Fund in the CITY"
    found = read_text(model, text).tokens
    assert [each.token for each in found] == ["fund", "hedge fund", "city"]
    assert [text[each.start : each.end] for each in found] == ["Fund", "Hedge\n Fund", "CITY"]
    assert [each.token for each in model.responsibilities("a hedge fund")] == ["a", "hedge fund"]
    index = DocumentIndex.build(model, ["A hedge fund", "A fund", "The city"])
    assert "hedge fund" in index.words.ids
    assert index.search("hedge fund")[0].index == 0

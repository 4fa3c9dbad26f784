import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec import TopicVec, load_vectors
from topicvec.datasets import sample_article
from topicvec.errors import DataError
from topicvec.represent import split_sentences, summarize
from topicvec.text import Document


def cut(text):
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. It pours!", ["It rains.", "It pours!"]),
        ("Mr. J. R. Smith met Dr. Who. He left.", ["Mr. J. R. Smith met Dr. Who.", "He left."]),
        ("The U.S. Army left. So did we.", ["The U.S. Army left.", "So did we."]),
        ("He lives in the U.S. The house is big.", ["He lives in the U.S.", "The house is big."]),
        (
            "See No. 5 and Fig. 3. He said no. Then?",
            ["See No. 5 and Fig. 3.", "He said no.", "Then?"],
        ),
        ("It cost 3.5 million, e.g. for Acme Inc. shares.", None),
        ('"Stop!" he said. "Why?" She ran.', ['"Stop!" he said.', '"Why?"', "She ran."]),
        ("So ... and so on. Wait… What?", ["So ... and so on.", "Wait…", "What?"]),
        ("A heading\n\nA sentence\nover lines.", ["A heading", "A sentence\nover lines."]),
        ("One\r\n\r\nTwo", ["One", "Two"]),
        ("雨が降る。風が吹く！", ["雨が降る。", "風が吹く！"]),
        ("no end", None),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_are_cut_where_a_reader_would(text, expected):
    assert cut(text) == ([text] if expected is None else expected)


@given(st.text(alphabet='aB .!?\n"…。5', max_size=60))
def test_nothing_but_blanks_is_lost_between_sentences(text):
    end = 0
    for span in split_sentences(text):
        assert text[end : span.start].strip() == ""
        assert text[span.start : span.end] == text[span.start : span.end].strip() != ""
        end = span.end
    assert text[end:].strip() == ""


def test_a_summary_is_sentences_of_the_text_in_their_order(model):
    article = sample_article()
    found = summarize(model, article, 4)
    assert len(found) == 4
    assert [article[s.start : s.end] for s in found] == [s.text for s in found]
    assert [s.start for s in found] == sorted(s.start for s in found)


def test_a_summary_covers_both_subjects_of_a_text(model, documents):
    by_label = {document.label: document.text for document in documents}
    text = f"{by_label['astronomy']}\n\n{by_label['cooking']}"
    border = len(by_label["astronomy"])
    found = summarize(model, text, 2)
    assert [s.start < border for s in found] == [True, False]


def test_repeated_sentences_are_not_repeated_in_the_summary(model):
    same = "The telescope shows the planets and the stars at night."
    other = "Bake the bread in a hot oven until the crust is brown."
    found = summarize(model, f"{same} {same} {same} {other}", 2)
    assert {s.text for s in found} == {same, other}


def test_a_short_text_is_its_own_summary(model):
    assert [s.text for s in summarize(model, "Stars shine. Moons too.", 5)] == [
        "Stars shine.",
        "Moons too.",
    ]


def test_short_sentences_stay_out_if_there_are_others(model):
    text = "Bread! Bake the bread in a hot oven until the crust is brown and crisp. Salt!"
    assert len(summarize(model, text, 3)) == 1


@pytest.mark.parametrize("text", ["", "  ", "123 456.", "zzzq zzzy."])
def test_a_text_without_known_words_has_no_summary(model, text):
    assert summarize(model, text) == []


def test_documents_are_texts_too(model, documents):
    assert summarize(model, documents[0]) == summarize(model, documents[0].text)


def test_wrong_arguments_are_refused(model):
    with pytest.raises(DataError, match="at least 1"):
        summarize(model, "Stars shine.", 0)
    with pytest.raises(DataError, match="one text"):
        summarize(model, [Document("a", "Stars shine.")])


FILLER = "early several announced made year"
MUSIC = "violin flute orchestra music"


@pytest.fixture(scope="module")
def with_background():
    """A topic of filler, and one of music."""
    vectors = load_vectors().subset([*FILLER.split(), *MUSIC.split()])
    topics = np.zeros((3, vectors.n_dims), np.float32)
    topics[1], topics[2] = (
        vectors.matrix[[vectors.ids[word] for word in words.split()]].mean(axis=0) - vectors.mean
        for words in (FILLER, MUSIC)
    )
    model = TopicVec(2, vectors, init=topics, stop_words=None, random_state=0)
    return model.fit([f"{FILLER} {FILLER} {MUSIC}"])


def test_background_says_nothing_of_what_a_text_is_about(with_background):
    about = "The flute, the violin and the orchestra played music."
    around = "Several were made early and announced that year."
    text = f"{around} {around} {around} {about}"
    assert [t.is_background for t in with_background.topics_] == [False, True, False]
    assert [s.text for s in summarize(with_background, text, 1)] == [about]
    scores = {s.text: s.score for s in summarize(with_background, text, 4)}
    assert scores[about] > scores[around]


def test_a_text_of_nothing_but_background_has_a_summary(with_background):
    around = "Several were made early and announced that year."
    assert [s.text for s in summarize(with_background, around, 1)] == [around]


@pytest.mark.parametrize("sign", ["!", "!)", "…", "\n", "\n ", " ", "'", "a.", "。」", "Mr. "])
def test_no_run_of_signs_takes_long(sign):
    text = "The sea. Sun " + sign * (200_000 // len(sign)) + "x sun. Moon."
    start = time.process_time()
    split_sentences(text)
    assert time.process_time() - start < 10  # exclamation marks once took the square

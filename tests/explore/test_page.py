import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec import TopicVec
from topicvec.explore import prepare, write_page
from topicvec.explore.page import render_page
from topicvec.explore.prepare import DocumentView, PageData, Span, TopicView, locate
from topicvec.text import Document


@pytest.fixture(scope="module")
def model():
    texts = ["The violin and the flute played music.", "Salt water fills the sea and the harbour."]
    return TopicVec(n_topics=4, random_state=0).fit(texts * 3)


def test_tokens_are_found_as_words_whatever_their_case():
    text = "Rain! Training; the RAIN’s over, rain"
    places = locate(text, ["rain", "rain", "rain"])
    assert [text[a:b] for a, b in places] == ["Rain", "RAIN", "rain"]


def test_letters_that_grow_in_lower_case_do_not_shift_places():
    text = "İİİ Istanbul rain"
    (place,) = locate(text, ["rain"])
    assert text[slice(*place)] == "rain"


@given(st.lists(st.sampled_from(["sea", "SALT", "Fish’s", "…", "42"]), max_size=20))
def test_spans_put_together_are_the_text(pieces):
    text = " ".join(pieces)
    places = locate(text, [p.lower() for p in pieces if p in ("sea", "SALT")])
    assert None not in places
    assert all(a < b for a, b in places)


def test_the_spans_of_a_document_are_its_whole_text(model):
    document = Document("one", "Violins, <b>WATER</b> & more music…")
    data = prepare(model, [document])
    (view,) = data.documents
    assert "".join(span.text for span in view.spans) == document.text
    assert any(span.topic is not None for span in view.spans)


def test_text_is_escaped_and_nothing_is_fetched():
    bad = '<script>alert("x")</script>'
    topic = TopicView(1, bad, 1.0, "#332288", ((bad, 1.0),))
    document = DocumentView(bad, bad, ((1, 1.0),), (Span(bad, 1, 0.5), Span(bad)))
    page = render_page(PageData(bad, (topic,), (document,), 1))
    assert "<script" not in page
    assert not re.search(r"https?://|src=|@import|url\(", page)


def test_the_page_is_written_where_asked(model, tmp_path):
    path = write_page(tmp_path / "new" / "page.html", prepare(model, ["Fish in the sea."]))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")

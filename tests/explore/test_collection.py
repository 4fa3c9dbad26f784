import dataclasses
import json
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec import TopicVec
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.explore import Collection
from topicvec.explore.records import Missing
from topicvec.explore.views import first_rows, headline, place_topics, text_part
from topicvec.model import read_topics
from topicvec.pictures.coloured import Piece
from topicvec.represent import DocumentIndex
from topicvec.text import Document


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=9), st.none() | st.just(3)), max_size=12),
    st.integers(1, 15),
)
def test_the_pages_of_a_text_put_together_are_the_text(pieces, length):
    whole = [Piece(text, topic) for text, topic in pieces]
    start, read = 0, []
    while start is not None:
        part = text_part(whole, start, length)
        start = part.next
        read += part.spans
    assert "".join(piece.text for piece in read) == "".join(text for text, _ in pieces)
    assert [p.text for p in read if p.topic == 3] == [t for t, topic in pieces if topic == 3]


@pytest.mark.parametrize("balance", [0.0, 0.35, 1.0])
def test_a_page_has_the_words_that_any_mixture_of_frequent_and_telling_ranks_first(
    balance, model, collection
):
    (topic, *_) = read_topics(model.fitted_, n_words=30, n_nearest=0, relevance=balance)
    found = {word: logs for word, *logs in collection.topic(topic.index).frequencies}
    for word, relevance in topic.words:
        mixture = balance * found[word][0] + (1 - balance) * found[word][1]
        assert mixture == pytest.approx(np.log(relevance), abs=1e-3)


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=30),
    st.integers(1, 9),
)
def test_the_first_rows_are_those_of_a_stable_sort_of_all(rows, n):
    values = np.array(rows, float)
    expected = np.unique(np.argsort(-values, axis=0, kind="stable")[:n])
    assert first_rows(values, n).tolist() == expected.tolist()


def test_a_headline_passes_over_quotations():
    assert headline("> old\nBob wrote:\nHere is my answer.") == "Here is my answer."
    assert headline("> only a quotation") == "> only a quotation"


def test_topics_on_the_map_are_apart_and_inside():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 10))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    x, y, radius = place_topics(vectors, rng.dirichlet(np.ones(40)), 0.7).T
    distance = np.hypot(x[:, None] - x, y[:, None] - y) + 9 * np.eye(40)
    assert (distance > radius[:, None] + radius - 1e-3).all()
    assert (x >= radius).all()
    assert (y >= radius).all()
    assert (x <= 1 - radius + 1e-9).all()
    assert (y <= 0.7 - radius + 1e-9).all()


def test_similar_topics_are_neighbours_on_the_map():
    vectors = np.hstack([np.repeat(np.eye(4), 5, axis=0), 0.5 * np.eye(20)])
    points = place_topics(vectors, np.ones(20))[:, :2]
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    same = vectors @ vectors.T > 0.5
    assert distance[same].mean() < 0.5 * distance[~same].mean()


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_a_map_of_few_topics_is_drawn_as_well(n_topics):
    places = place_topics(np.eye(n_topics), np.ones(n_topics))
    assert np.isfinite(places).all()


def test_the_same_topics_give_the_same_map(model):
    first, second = (
        [view.place for view in Collection.build(model, ["music"]).topics] for _ in range(2)
    )
    assert first == second


def test_a_topic_page_lists_its_documents_the_largest_part_first(collection):
    index = collection.topics[0].index
    found = collection.topic(index)
    parts = [dict(card.proportions)[index] for card in found.documents]
    assert parts == sorted(parts, reverse=True)
    assert parts[0] > 0.3
    assert found.similar[0][1] == max(cosine for _, cosine in found.similar)
    assert index not in dict(found.similar)
    assert found.labels


def test_documents_are_found_by_query_topic_and_class(collection):
    hits = collection.find("telescopes and comets", n=5)
    assert hits.documents[0].label == "astronomy"
    assert len(hits.documents) == 5
    topic = hits.documents[0].proportions[0][0]
    assert collection.find(topic=topic, label="astronomy").total > 3
    assert all(card.label == "music" for card in collection.find(label="music").documents)
    later = collection.find(label="music", offset=3, n=2)
    assert later.documents == collection.find(label="music").documents[3:5]


def test_similar_documents_are_of_the_same_kind(collection):
    similar = collection.document(0).similar
    assert [card.label for card in similar].count(collection.documents[0].label) >= 4


def test_a_pasted_text_is_described_like_a_document(collection):
    document = collection.documents[5]
    stored, pasted = collection.document(5), collection.analyse(document.text)
    assert pasted.view.spans == stored.view.spans
    assert dict(pasted.view.proportions) == pytest.approx(dict(stored.view.proportions), abs=0.01)
    assert pasted.similar[0].index == 5


def test_a_long_document_comes_in_parts(collection, odd):
    found = collection.document(odd["long"])
    assert found.view.next is not None
    shown = "".join(span.text for span in found.view.spans)
    assert 19_900 <= len(shown) <= 20_100
    rest = collection.text(odd["long"], found.view.next)
    whole = collection.documents[odd["long"]].text
    assert whole.startswith(shown + "".join(span.text for span in rest.spans))
    assert found.summary


@pytest.mark.parametrize("name", ["unknown", "empty"])
def test_a_text_without_known_words_has_no_topics_and_no_error(name, collection, odd):
    text = collection.documents[odd[name]].text
    assert collection.analyse(text).view.proportions == ()
    assert collection.document(odd[name]).view.id == name


def test_answers_at_the_same_time_are_the_same_and_leave_warnings_alone(collection, odd):
    texts = [document.text for document in collection.documents[:6]] + ["qqqzzz", "music"] * 2
    alone = [collection.analyse(text) for text in texts]
    collection._read.cache_clear()
    filters = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(collection.analyse, texts)
        assert warnings.filters == filters  # those of the process, so no thread may change them
        assert list(found) == alone


def test_every_record_can_be_written_as_json(collection, odd):
    for index in (0, *odd.values()):
        json.dumps(dataclasses.asdict(collection.document(index)), allow_nan=False)
    json.dumps(dataclasses.asdict(collection.overview), allow_nan=False)


def test_what_is_not_there_is_missing(collection):
    for ask in (collection.document, collection.topic, collection.text, collection.topic_view):
        with pytest.raises(Missing, match="10000"):
            ask(10_000)
    with pytest.raises(Missing):
        collection.document(-1)


def test_no_documents_are_an_error(model):
    with pytest.raises(DataError, match="at least one document"):
        Collection.build(model, [])


def test_one_article_can_be_shown():
    text = "Salt water fills the sea. The sea is salt. Violins play music."
    model = TopicVec(n_topics=2, random_state=0).fit([text])
    collection = Collection.build(model, [Document("a", text)], "One")
    assert collection.document(0).similar == ()
    assert collection.overview.n_documents == 1


def test_a_page_of_a_thousand_words_is_made_at_once(collection):
    text = " ".join(document.text for document in collection.documents[:14])
    collection.analyse("music")
    start = time.perf_counter()
    collection.analyse(text)
    assert time.perf_counter() - start < 2  # far above what it takes: machines differ


def test_an_index_that_is_kept_takes_the_place_of_reading_the_texts(
    model, collection, tmp_path, monkeypatch
):
    path, documents = tmp_path / "kept.index", collection.documents
    first = Collection.build(model, documents, "Test", path)
    monkeypatch.setattr(DocumentIndex, "build", None)
    again = Collection.build(model, documents, "Test", path)
    assert again.find("music") == first.find("music") == collection.find("music")
    assert again.document(3) == first.document(3)


def test_an_index_of_other_documents_or_another_model_is_refused(model, collection, tmp_path):
    path, documents = tmp_path / "kept.index", collection.documents
    Collection.build(model, documents, index=path)
    changed = [*documents[:-1], replace(documents[-1], text=documents[-1].text + " Music.")]
    for others in (changed, documents[:-1], documents[::-1]):
        with pytest.raises(DataError, match=r"index of other documents.*: delete it"):
            Collection.build(model, others, index=path)
    other = TopicVec(n_topics=2, random_state=0).fit([documents[0]])
    with pytest.raises(VocabularyMismatch, match="built with another model"):
        Collection.build(other, documents, index=path)

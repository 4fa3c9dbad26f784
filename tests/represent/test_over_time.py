import numpy as np
import pytest

from topicvec import TopicVec, WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.model.inference import infer
from topicvec.represent.documents import counter_of
from topicvec.represent.over_time import _squares, parse_time, topics_over_time
from topicvec.text import Document

# Two themes: transport moves from horses to trains, music stays as it is.
WORDS = ("road", "horse", "train", "song", "harp", "lute")
MATRIX = [[3, 0, 0], [3, 1, 0], [3, -1, 0], [0, 0, 3], [0, 1, 3], [0, -1, 3]]
OLD, NEW, MUSIC = "road road horse horse", "road road train train", "song harp lute song"
YEARS = [str(year) for year in range(1800, 1860)]


@pytest.fixture(scope="module")
def small():
    """A model of two topics, transport and music."""
    vectors = WordVectors(WORDS, np.array(MATRIX, np.float32), np.full(6, 1 / 6))
    start = np.array([[0, 0, 0], [2, 0, 0], [0, 0, 2]], np.float32)
    model = TopicVec(2, vectors, init=start, own_words=False, random_state=0)
    return model.fit([OLD, NEW, MUSIC] * 20)


def course_of(courses, word):
    return next(each for each in courses if word in dict(each.topic.words))


def rising(course):
    return [[rise.word for rise in span.words] for span in course.spans]


def test_words_that_a_topic_has_more_of_rise_in_their_span(small):
    texts = [OLD, MUSIC] * 15 + [NEW, MUSIC] * 15
    courses = topics_over_time(small, texts, times=YEARS, n_bins=2)
    assert rising(course_of(courses, "road")) == [["horse"], ["train"]]
    assert rising(course_of(courses, "song")) == [[], []]
    (rise,) = course_of(courses, "road").spans[0].words
    assert rise.n_tokens == pytest.approx(30, abs=1)
    assert rise.ratio == pytest.approx(2, abs=0.1)


def test_a_word_that_one_document_repeats_does_not_rise(small):
    before = ["road road"] * 30
    one = [*before, *["road road"] * 29, "road " + "horse " * 16]
    several = [*before, *["road road"] * 14, *["road horse"] * 16]
    found = [topics_over_time(small, texts, times=YEARS, n_bins=2) for texts in (one, several)]
    assert [rising(course_of(each, "road")) for each in found] == [[[], []], [[], ["horse"]]]


def test_documents_in_any_order_have_neither_words_that_rise_nor_births_and_deaths(
    model, documents
):
    times = np.random.default_rng(0).permutation([str(2000 + i) for i in range(len(documents))])
    courses = topics_over_time(model, documents, times=times.tolist(), n_bins=6)
    assert sum(map(len, (words for course in courses for words in rising(course)))) <= 1
    assert {(course.born, course.died) for course in courses} == {(None, None)}


def test_squares_are_those_of_the_documents_tokens(small):
    bag = counter_of(small).count(["road road horse", "song road"], small.vectors_)
    inferred = infer(small.fitted_, bag.counts, LocalEngine(1))
    expected = np.zeros((6, 3))
    for document, row in enumerate(bag.counts.toarray()):
        words = np.flatnonzero(row)
        tokens = row[words, None] * inferred.responsibilities(document, words)
        expected[words] += tokens**2
    found = _squares(inferred, 6).toarray()
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_a_topic_is_born_and_dies(small):
    texts = [MUSIC] * 20 + [OLD] * 20 + [MUSIC] * 20
    courses = topics_over_time(small, texts, times=YEARS, n_bins=6)
    road, song = course_of(courses, "road"), course_of(courses, "song")
    assert (road.born, road.died) == (2, 3)
    assert (song.born, song.died) == (None, None)
    assert [round(span.share) for span in road.spans] == [0, 0, 1, 1, 0, 0]


def test_few_documents_at_an_end_are_no_birth_or_death(small):
    texts = [MUSIC] + [OLD, MUSIC] * 29 + [MUSIC]
    courses = topics_over_time(small, texts, times=YEARS, n_bins=60)
    assert {(each.born, each.died) for each in courses} == {(None, None)}


def test_a_topic_that_is_nowhere_is_neither_born_nor_dead(small):
    road = course_of(topics_over_time(small, [MUSIC] * 60, times=YEARS), "road")
    assert (road.born, road.died) == (None, None)
    assert max(span.share for span in road.spans) < 0.01


def test_shares_add_up_to_one_and_no_document_is_left_out(model, documents):
    courses = topics_over_time(model, documents, n_bins=5)
    sizes = [span.n_documents for span in courses[0].spans]
    assert sum(sizes) == len(documents)
    total = np.sum([[span.share for span in course.spans] for course in courses], axis=0)
    assert (total <= 1 + 1e-6).all()
    assert (total > 0.9).all()  # the rest is the null topic's


def test_spans_without_known_words_are_empty(small):
    texts = [OLD, "zzz", NEW]
    (first, *_) = topics_over_time(small, texts, times=["1", "2", "3"], n_bins=3)
    assert [span.n_documents for span in first.spans] == [1, 0, 1]
    assert first.spans[1].share == 0
    assert first.spans[1].words == ()


@pytest.mark.parametrize(
    ("times", "names"),
    [
        (["1990", "2009"], ["1990", "2000"]),
        (["1990", "2010"], ["1990", "2001"]),
        (["1990-01-01", "2010-01-01"], ["1990", "2000"]),
        (["2019-01-01", "2019-07-03"], ["2019-01", "2019-04"]),
        (["2019-01-01", "2019-01-11"], ["2019-01-01", "2019-01-06"]),
        (["0", "1.5"], ["0", "0.75"]),
    ],
)
def test_spans_are_named_as_exactly_as_they_are_long(times, names, small):
    (first, *_) = topics_over_time(small, [OLD, MUSIC], times=times, n_bins=2)
    assert [span.name for span in first.spans] == names


def test_years_are_not_cut_by_default(small):
    (first, *_) = topics_over_time(small, [OLD, MUSIC, NEW], times=["1901", "1902", "1904"])
    assert [span.name for span in first.spans] == ["1901", "1902", "1903", "1904"]
    assert [span.n_documents for span in first.spans] == [1, 1, 0, 1]


def test_spans_between_two_crowded_years_are_empty(small):
    times = ["1990"] * 200 + ["2020"] * 200
    (first, *_) = topics_over_time(small, [OLD, MUSIC] * 200, times=times)
    n_documents = [span.n_documents for span in first.spans]
    assert n_documents == [200, *[0] * (len(n_documents) - 2), 200]
    assert 0 in n_documents


def test_documents_bring_their_times(small):
    texts = [Document("a", OLD, time="1800"), Document("b", MUSIC, time="1801-06")]
    (first, *_) = topics_over_time(small, texts, n_bins=1)
    assert (first.spans[0].start, first.spans[0].n_documents) == (1800, 2)


@pytest.mark.parametrize(
    ("time", "expected"),
    [("1999", 1999), ("1999-01", 1999), ("1999-01-01", 1999), ("2000-07-01T12:00:00", 2000.5)],
)
def test_times_are_read(time, expected):
    assert parse_time(time) == pytest.approx(expected, abs=0.003)


def test_what_is_no_time_is_refused(small):
    with pytest.raises(DataError, match="found 'soon'"):
        parse_time("soon")
    with pytest.raises(DataError, match="a time for each document, found 0 for 1"):
        topics_over_time(small, [OLD])
    with pytest.raises(DataError, match="n_bins must be between 1 and 500; found 0"):
        topics_over_time(small, [OLD], times=["1"], n_bins=0)

import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicvec import TopicVec, load_vectors
from topicvec.errors import DataError
from topicvec.model import Topic
from topicvec.pictures.kinds.cloud import cloud, cloud_layout, topic_cloud
from topicvec.pictures.layout import Box
from topicvec.pictures.packing import pack_words, treemap
from topicvec.pictures.palette import NULL_COLOUR, topic_colours
from topicvec.pictures.svg import extent
from topicvec.text import Document

LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"))
WORDS = st.text(
    st.one_of(st.sampled_from("abdgijlmnopqstwWQyÅéß"), LETTERS), min_size=1, max_size=25
)
PAIRS = st.lists(st.tuples(WORDS, st.floats(0.05, 3)), min_size=1, max_size=15)


@st.composite
def clouds(draw):
    shares = draw(st.lists(st.floats(0.001, 1), min_size=1, max_size=14))
    topics = []
    for index, share in enumerate(sorted(shares, reverse=True)):
        words = sorted(draw(PAIRS), key=lambda pair: -pair[1])
        label = draw(st.none() | WORDS)
        topics.append(Topic(index + 1, share / sum(shares), 1.0, tuple(words), label=label))
    area = Box(0, 0, draw(st.integers(120, 900)), draw(st.integers(80, 900)))
    return topics, area


def ink(word):
    """Where the letters are, at worst."""
    width, ascent, descent = extent(word.word, word.size)
    return Box(word.x - width / 2, word.y - ascent, width, ascent + descent)


@settings(max_examples=40, deadline=None)
@given(clouds())
def test_no_word_overlaps_another_and_all_lie_inside_their_cell(given_cloud):
    topics, area = given_cloud
    for cell in cloud_layout(topics, area):
        boxes = [word.box for word in cell.words]
        if cell.heading:
            boxes.append(cell.heading_box)
        assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
        assert all(cell.box.contains(box) for box in boxes)
        assert all(word.box.contains(ink(word)) for word in cell.words)


@settings(max_examples=40, deadline=None)
@given(clouds())
def test_cells_fill_the_area_in_proportion_to_the_shares(given_cloud):
    topics, area = given_cloud
    cells = cloud_layout(topics, area, n_words=1)
    assert [cell.topic for cell in cells] == topics
    assert all(area.contains(cell.room) for cell in cells)
    rooms = [cell.room for cell in cells]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(rooms, 2))
    for cell in cells:
        assert cell.room.area / area.area == pytest.approx(cell.topic.share, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(PAIRS)
def test_font_sizes_are_proportional_to_relevance_down_to_the_least(words):
    words = sorted(words, key=lambda pair: -pair[1])
    placed = pack_words(words, Box(0, 0, 500, 300), least=9)
    fitting = dict(reversed(words))
    top = placed[0].size
    for word in placed:
        assert word.size >= 9
        assert word.word in fitting
    sizes = [word.size for word in placed]
    assert sizes == sorted(sizes, reverse=True)
    known = [pair for pair in words if pair[0] in {word.word for word in placed}]
    for word, (_, relevance) in zip(placed, known, strict=False):
        assert word.size == pytest.approx(max(9, top * relevance / known[0][1]))


def test_a_treemap_of_equal_parts_has_no_strips():
    boxes = treemap([1.0] * 12, Box(0, 0, 800, 500), aspect=1.5)
    assert all(0.75 < box.width / box.height < 3 for box in boxes)


def test_a_cloud_is_valid_svg_whatever_the_words():
    bad = '<script>alert("&")</script>\x00\ud800'
    drawn = topic_cloud([Topic(1, 0.7, 1.0, ((bad, 1.0), ("sea", 0.5)), label=bad)])
    root = ET.fromstring(drawn.svg)
    assert not [part for part in root.iter() if part.tag.endswith("script")]
    assert root.attrib["viewBox"] == f"0 0 {drawn.width} {drawn.height}"


def test_topics_too_small_for_a_word_are_left_out_and_the_cloud_says_so():
    topics = [Topic(1, 0.9, 1.0, (("sea", 1.0),)), Topic(2, 1e-6, 1.0, (("tax", 1.0),))]
    assert "1 of 2 topics, 90% of the words" in topic_cloud(topics).svg


def test_the_largest_topics_are_shown():
    topics = [Topic(i, 0.1 + i / 100, 1.0, ((f"word{i}", 1.0),)) for i in range(1, 6)]
    drawn = topic_cloud(topics, max_topics=2).svg
    assert "word5<" in drawn
    assert "word4<" in drawn
    assert "word3<" not in drawn


def test_a_cloud_of_nothing_is_refused():
    with pytest.raises(DataError, match="found 0 such topics"):
        topic_cloud([Topic(1, 0.0, 1.0, (("sea", 1.0),)), Topic(2, 0.5, 1.0, ())])


@pytest.fixture(scope="module")
def documents():
    music = "The violin and the flute played music to the orchestra."
    sea = "Salt water fills the sea and the harbour where fish swim."
    return [Document(str(i), text, label) for i in range(3)
            for text, label in ((music, "music"), (sea, "sea"))]  # fmt: skip


@pytest.fixture(scope="module")
def model(documents, small_vectors):
    return TopicVec(n_topics=3, vectors=small_vectors, random_state=0).fit(documents)


def test_the_cloud_of_a_document_has_only_its_words(model, documents):
    drawn = cloud(model, [documents[0]]).svg
    assert "violin<" in drawn
    assert "harbour" not in drawn


def test_the_cloud_of_a_class_has_only_its_words(model, documents):
    assert cloud(model, documents, label="sea") == cloud(
        model, [d for d in documents if d.label == "sea"]
    )
    with pytest.raises(DataError, match="found music, sea"):
        cloud(model, documents, label="tax")


def test_the_cloud_of_a_class_of_a_model_with_classes(documents, small_vectors):
    model = TopicVec(n_topics=2, vectors=small_vectors, share="class", random_state=0)
    model.fit(documents, [d.label for d in documents])
    drawn = cloud(model, label="sea").svg
    assert "water<" in drawn
    assert "violin" not in drawn
    with pytest.raises(DataError, match="found music, sea"):
        cloud(model, label="tax")


def test_a_cloud_is_the_same_each_time(model):
    assert cloud(model) == cloud(model)


FILLER = "early several announced made year"
MUSIC = "violin flute orchestra music"


@pytest.fixture(scope="module")
def with_background():
    """A topic of filler, the larger one, and one of music."""
    vectors = load_vectors().subset([*FILLER.split(), *MUSIC.split()])
    topics = np.zeros((3, vectors.n_dims), np.float32)
    topics[1], topics[2] = (
        vectors.matrix[[vectors.ids[word] for word in words.split()]].mean(axis=0) - vectors.mean
        for words in (FILLER, MUSIC)
    )
    model = TopicVec(2, vectors, init=topics, stop_words=None, random_state=0)
    return model.fit([f"{FILLER} {FILLER} {MUSIC}"])


def test_background_is_grey_and_no_part_of_a_cloud(with_background):
    music, filler, _ = with_background.topics_
    assert filler.is_background
    assert filler.share > music.share
    assert not music.is_background
    colours = topic_colours(with_background.topics_)
    assert colours[filler.index] == colours[0] == NULL_COLOUR
    assert colours[music.index] != NULL_COLOUR
    drawn = cloud(with_background).svg
    assert "violin<" in drawn
    assert "early<" not in drawn
    assert f"{filler.share:.1%}" not in drawn  # no cell of its own


def test_a_topic_is_background_in_the_cloud_of_any_text(with_background):
    drawn = cloud(with_background, [f"{MUSIC} {MUSIC} early made"]).svg
    assert "early<" not in drawn
    assert "violin<" in drawn


def test_a_cloud_of_nothing_but_background_shows_it(with_background):
    assert "several<" in cloud(with_background, [FILLER]).svg

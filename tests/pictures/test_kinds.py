import inspect
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicvec import TopicVec, pictures
from topicvec.errors import DataError
from topicvec.model import Topic
from topicvec.pictures.coloured import Piece
from topicvec.pictures.kinds.document_map import scatter_places
from topicvec.pictures.kinds.hierarchy import _forks, _free_name, _lines, topic_tree
from topicvec.pictures.kinds.tokens import set_lines
from topicvec.pictures.kinds.topic_map import map_topics
from topicvec.pictures.layout import (
    Box,
    Bubble,
    cosines,
    place_labels,
    plane_places,
    spread_bubbles,
)
from topicvec.pictures.palette import COLOURS, distinct_colours
from topicvec.pictures.seen import shown_topics
from topicvec.represent import branch_words, topics_per_class
from topicvec.text import Document

DOCS = Path(__file__).resolve().parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


def all_pictures(model, documents):
    return {kind: pictures.draw(kind, model, documents) for kind in pictures.KINDS}


@pytest.fixture(scope="module")
def drawn(model, documents):
    return all_pictures(model, documents)


def test_every_picture_is_one_self_contained_document(drawn):
    for name, picture in drawn.items():
        root = ET.fromstring(picture.svg)
        assert root.tag == f"{SVG}svg", name
        assert root[0].tag == f"{SVG}title", name
        fetched = re.search(r"href|url\(|<script|<style|<image|@import", picture.svg)
        assert not fetched, (name, fetched)
        assert "nan" not in picture.svg.replace("finance", ""), name


def test_every_picture_is_the_same_each_time(drawn, model, documents):
    assert all_pictures(model, documents) == drawn


def test_every_text_stands_inside_its_picture(drawn):
    from topicvec.pictures.svg import text_width

    for name, picture in drawn.items():
        root = ET.fromstring(picture.svg)
        anchors = {child: parent for parent in root.iter() for child in parent}
        for line in root.iter(f"{SVG}text"):
            if "transform" in line.attrib:
                continue
            for part in list(line):
                part.remove(part[0])  # what the mouse shows
            words = "".join(line.itertext())
            x, size = float(line.attrib["x"]), float(line.attrib["font-size"])
            anchor = line.get("text-anchor") or _inherited(line, anchors, "text-anchor")
            length = text_width(words, size)
            left = x - {"middle": length / 2, "end": length}.get(anchor, 0)
            assert left >= -0.5, (name, words)
            assert left + length <= picture.width + 0.5, (name, words)
            assert 0 < float(line.attrib["y"]) < picture.height, (name, words)


def _inherited(part, parents, attribute):
    while part in parents:
        part = parents[part]
        if attribute in part.attrib:
            return part.attrib[attribute]
    return "start"


def test_a_kind_is_drawn_by_the_function_of_its_name(drawn, model, documents):
    labels = [document.label for document in documents]
    assert drawn["document-map"] == pictures.document_map(model, documents, labels=labels)
    assert drawn["by-class"] == pictures.by_class(model, documents)
    assert drawn["tokens"] == pictures.tokens(model, documents[0])
    assert drawn["heatmap"] == pictures.heatmap(model)
    unlabelled = [Document(d.id, d.text) for d in documents]
    assert pictures.draw("document-map", model, unlabelled) == pictures.document_map(
        model, unlabelled
    )


@pytest.mark.parametrize("kind", pictures.KINDS)
def test_the_table_says_what_a_kind_takes(kind):
    entry = pictures.KINDS[kind]
    parameters = inspect.signature(getattr(pictures, kind.replace("-", "_"))).parameters
    limits = {"max_topics", "n_bins", "n_words", "topic"} & set(parameters)
    taken = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert taken[0] == "model"
    needed = [name for name in taken[1:] if parameters[name].default is inspect.Parameter.empty]
    assert needed == ({"": [], "one document": ["document"]}.get(entry.needs, ["texts"]))
    assert set(entry.limits) <= limits
    assert ("labels" in entry.needs) == ("labels" in parameters)
    assert ("times" in entry.needs) == ("times" in parameters)


def test_the_documentation_has_the_table(drawn):
    how_to = (DOCS / "how-to" / "pictures.md").read_text(encoding="utf-8")
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for name, kind in pictures.KINDS.items():
        row = f"| `{name.replace('-', '_')}` | {kind.shows} | {kind.needs} |"
        assert row.replace("|  |", "| |") in how_to
        assert f"pictures.{name.replace('-', '_')}(" in gallery


def test_pictures_can_be_reached_from_where_they_were():
    from topicvec import explore

    assert explore.pictures is pictures
    with pytest.raises(AttributeError, match="no_such_kind"):
        _ = pictures.no_such_kind


def test_the_table_is_read_without_a_model():
    code = (
        "import sys; from topicvec.pictures import KINDS; from topicvec.pictures.palette import "
        "COLOURS; assert not {'numpy', 'scipy', 'topicvec.model'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(0, 1000))
def test_bubbles_do_not_overlap_and_stay_inside(n_topics, seed):
    rng = np.random.default_rng(seed)
    topics = [
        Topic(i, float(s), 1.0, (("sea", 1.0),))
        for i, s in enumerate(rng.dirichlet(np.ones(n_topics)))
    ]
    placed = map_topics(topics, rng.normal(size=(n_topics, 5)))
    for i, one in enumerate(placed):
        assert one.radius <= one.x <= 800 - one.radius
        assert one.radius <= one.y <= 560 - one.radius
        for other in placed[:i]:
            distance = np.hypot(one.x - other.x, one.y - other.y)
            assert distance >= one.radius + other.radius - 0.5


def test_areas_of_bubbles_are_proportional_to_shares():
    topics = [Topic(0, 0.6, 1.0, ()), Topic(1, 0.15, 1.0, ())]
    large, small = map_topics(topics, np.eye(2))
    assert large.radius == pytest.approx(2 * small.radius)


def test_similar_topics_are_near_each_other_on_the_map():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 20))
    vectors = np.repeat(centres, 5, axis=0) + 0.1 * rng.normal(size=(15, 20))
    places = plane_places(vectors)
    group = np.repeat(np.arange(3), 5)
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    same = group[:, None] == group
    assert distances[same].max() < distances[~same].min()


def test_topics_at_one_place_are_pushed_apart():
    places = spread_bubbles(np.zeros((5, 2)), [10.0] * 5, Box(0, 0, 200, 100))
    distances = np.linalg.norm(places[:, None] - places, axis=2) + 1000 * np.eye(5)
    assert distances.min() > 20


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.builds(
            Bubble,
            st.floats(0, 400),
            st.floats(0, 300),
            st.floats(1, 30),
            st.text("abcdef ", min_size=1, max_size=30),
            st.lists(st.text("abcgy", min_size=1, max_size=12), max_size=3).map(tuple),
        ),
        max_size=12,
    )
)
def test_labels_beside_bubbles_overlap_nothing(bubbles):
    area = Box(0, 0, 400, 300)
    labels = place_labels(bubbles, area, 11, obstacles=bubbles)
    beside = [label.box for label in labels if label and not label.inside]
    for i, box in enumerate(beside):
        assert area.contains(box)
        assert not any(box.overlaps(other) for other in beside[:i])
        assert not any(bubble.touches(box) for bubble in bubbles)
    for bubble, label in zip(bubbles, labels, strict=True):
        if label and label.inside:
            corner = np.hypot(label.box.width / 2, label.box.height / 2)
            assert corner <= bubble.radius


def test_documents_of_one_kind_stand_together():
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(3), 30)
    mixtures = rng.dirichlet(np.ones(3) * 0.2, size=90) * 0.2 + 0.8 * np.eye(3)[kinds]
    places = scatter_places(mixtures)
    distances = np.linalg.norm(places[:, None] - places, axis=2) + 1e9 * np.eye(90)
    assert (kinds[distances.argmin(axis=1)] == kinds).mean() > 0.95


def test_documents_on_topics_that_are_alike_stand_together():
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(4), 30)
    mixtures = rng.dirichlet(np.ones(4) * 0.2, size=120) * 0.2 + 0.8 * np.eye(4)[kinds]
    kernel = np.eye(4)
    kernel[0, 1] = kernel[1, 0] = 0.95
    places = scatter_places(mixtures, kernel)
    middles = np.array([places[kinds == kind].mean(axis=0) for kind in range(4)])
    distances = np.linalg.norm(middles - middles[0], axis=1)
    assert distances[1] < distances[2:].min() / 3


@pytest.mark.parametrize("n_documents", [1, 2, 11, 12, 13])
def test_few_or_equal_documents_have_places(n_documents):
    rng = np.random.default_rng(0)
    for mixtures in (
        rng.dirichlet(np.ones(4), size=n_documents),
        np.full((n_documents, 4), 0.25),
    ):
        places = scatter_places(mixtures)
        assert places.shape == (n_documents, 2)
        assert np.isfinite(places).all()


def test_a_map_of_twenty_thousand_documents_is_a_small_file():
    from topicvec.pictures.kinds.document_map import _dots

    spots = np.random.default_rng(0).uniform(0, 800, size=(20_000, 2))
    dots = _dots(spots, np.array(COLOURS)[np.arange(20_000) % 12])
    assert sum(len(part.render()) for part in dots) < 400_000


def test_a_map_needs_a_label_for_each_document(model, documents):
    with pytest.raises(DataError, match="1 labels"):
        pictures.document_map(model, documents, labels=["one"])
    with pytest.raises(DataError, match="0 documents"):
        pictures.document_map(model, [])


def test_the_tree_merges_the_most_similar_first_and_its_branches_do_not_cross():
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0.99, 0.1, 0], [0, 0.9, 0.2], [0, 0, 1.0]])
    order, merges = topic_tree(vectors)
    assert {merges[0][:2], merges[1][:2]} == {(0, 2), (1, 3)}
    place = {leaf: i for i, leaf in enumerate(order)}
    assert abs(place[0] - place[2]) == 1
    assert abs(place[1] - place[3]) == 1
    assert merges[0][2] == pytest.approx(1 - cosines(vectors)[0, 2])
    assert [m[2] for m in merges] == sorted(m[2] for m in merges)


def test_branches_of_the_hierarchy_are_named_and_no_name_stands_on_a_line(model):
    found = [topic.index for topic in shown_topics(model)]
    order, merges = topic_tree(model.fitted_.topics[found])
    forks = _forks(order, merges, Box(16, 8, 458, 21 * len(order)), 1.2)
    names = branch_words(model, [[found[leaf] for leaf in fork.leaves] for fork in forks[:-1]])
    drawn = pictures.hierarchy(model).svg
    assert all(f"<title>{', '.join(words)}</title>" in drawn for words in names)
    taken = [box for fork in forks for box in _lines(fork)]
    placed = [_free_name(fork, words, taken) for fork, words in zip(forks, names, strict=False)]
    assert sum(bool(said) for _, said in placed) >= len(placed) - 2
    assert not any(box.overlaps(line) for box, _ in placed for line in taken)


def test_mixtures_of_classes_are_the_means_of_their_documents(model, documents):
    proportions, found = model.transform(documents), topics_per_class(model, documents)
    for name, row, count in zip(found.names, found.shares, found.n_documents, strict=True):
        own = [i for i, document in enumerate(documents) if document.label == name]
        assert len(own) == count
        np.testing.assert_allclose(row, proportions[own].mean(axis=0))


def test_documents_of_one_moment_have_one_span(model):
    assert pictures.over_time(model, ["Salt water."] * 3, times=["2020"] * 3).width == 800


def test_words_and_signs_of_births_and_deaths_are_drawn_over_time(model):
    rain, music = "Rain clouds and wind. " * 3, "The violin and the orchestra. " * 3
    texts, times = [rain] * 40 + [music] * 40, [str(1900 + i) for i in range(80)]
    drawn = pictures.over_time(model, texts, times=times, n_bins=4)
    assert "born 1940" in drawn.svg
    assert "last seen 1920" in drawn.svg
    assert {">born<", ">dies<"} <= set(re.findall(">born<|>dies<", drawn.svg))


def test_words_of_one_topic_stand_below_their_spans(model):
    texts = ["Bread and butter."] * 30 + ["Bread and oven."] * 30
    times = [str(1900 + i) for i in range(60)]
    given = {"times": times, "n_bins": 2, "topic": int(model.transform(["bread"])[0].argmax())}
    drawn = pictures.over_time(model, texts, **given)
    assert "butter, 1900: " in drawn.svg
    assert "oven, 1930: " in drawn.svg
    without = pictures.over_time(model, texts, **given, n_words=0)
    assert "oven, 1930: " not in without.svg
    assert without.height < drawn.height


def test_words_are_left_out_where_spans_are_narrow_and_refused_if_asked_for(model, documents):
    assert "times as many" not in pictures.over_time(model, documents, n_bins=20).svg
    with pytest.raises(DataError, match="words need spans of 56 pixels, found 25"):
        pictures.over_time(model, documents, n_bins=20, n_words=2)


def test_a_topic_that_is_not_there_cannot_be_drawn_over_time(model, documents):
    with pytest.raises(DataError, match="found 99"):
        pictures.over_time(model, documents, topic=99)


def test_documents_without_times_or_labels_are_refused(model):
    with pytest.raises(DataError, match="a time for each document, found 0 for 1"):
        pictures.over_time(model, ["Salt water."])
    with pytest.raises(DataError, match="a label for each document"):
        pictures.by_class(model, ["Salt water."])


@given(
    st.lists(st.builds(Piece, st.text("abc \n.W", max_size=30), st.none() | st.integers(1, 3)),
             max_size=12),
    st.floats(30, 300),
)  # fmt: skip
def test_lines_hold_all_words_in_order_within_their_room(pieces, room):
    from topicvec.pictures.svg import text_width

    lines = ["".join(piece.text for piece in line) for line in set_lines(pieces, room, 12)]
    before = "".join(piece.text for piece in pieces)
    assert "".join("".join(lines).split()) == "".join(before.split())
    assert all(
        text_width(line.rstrip(), 12) <= room + 1e-6 for line in lines
    )  # blanks may stick out


def test_a_long_document_is_cut_and_says_so(model):
    drawn = pictures.tokens(model, "Salt water. " * 2000, max_lines=5)
    assert "The first 5 lines of the document." in drawn.svg
    assert drawn.height < 300


def test_hostile_text_is_shown_as_text(model):
    bad = '<script>alert("x")</script> שלום 🙂 \x00 water'
    drawn = pictures.tokens(model, Document(bad, bad, bad))
    assert not list(ET.fromstring(drawn.svg).iter(f"{SVG}script"))
    by_class = pictures.by_class(model, ["water"], labels=[bad])
    assert not list(ET.fromstring(by_class.svg).iter(f"{SVG}script"))


def test_a_document_without_text_is_refused(model):
    with pytest.raises(DataError, match="needs text"):
        pictures.tokens(model, "  \n ")


def test_a_bound_without_history_is_refused():
    with pytest.raises(DataError, match="no history"):
        pictures.bound_chart([])
    assert pictures.bound_chart([-5.0]).width == 640
    assert pictures.bound_chart([-5.0, -5.0]).width == 640


def test_colours_are_distinct_while_there_are_enough():
    assert len(set(distinct_colours([COLOURS[0]] * 12))) == 12
    assert distinct_colours(list(COLOURS)) == list(COLOURS)
    assert len(distinct_colours([None] * 30)) == 30


def test_a_model_with_one_topic_can_be_drawn(small_vectors):
    model = TopicVec(n_topics=1, vectors=small_vectors, random_state=0).fit(
        ["The sea is salt water."] * 2
    )
    for draw in (pictures.cloud, pictures.topic_map, pictures.hierarchy, pictures.heatmap):
        assert draw(model).height > 0


def test_a_heat_map_of_many_topics_shows_the_largest_and_says_so(model):
    assert "3 of " in pictures.heatmap(model, max_topics=3).svg
    with pytest.raises(DataError, match="max_topics=0"):
        pictures.heatmap(model, max_topics=0)


def test_topics_seen_in_documents_alike_come_by_share_background_last(model, documents):
    """A topic that all documents of a class have is spread evenly over these, not over all."""
    alike = [document for document in documents if document.label == "astronomy"] * 10
    assert len(alike) >= 20
    places = [(topic.is_background, -topic.share) for topic in shown_topics(model, alike)]
    assert places == sorted(places)
    known = {topic.index: topic for topic in model.topics_}
    for topic in shown_topics(model, alike):
        assert topic.label == known[topic.index].label
        assert topic.is_background == known[topic.index].is_background

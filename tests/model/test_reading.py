from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.model import reading
from topicvec.model.fitted import FittedTopics
from topicvec.model.reading import Topic, document_topics, read_topics

# Two themes of three words, a word that both share, and one that never occurs.
WORDS = ("cat", "dog", "cow", "car", "bus", "van", "go", "yak")
ANIMAL, CAR = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
MATRIX = np.array(
    [[3, 0, 0], [2, 0, 1], [2, 0, -1], [0, 3, 0], [0, 2, 1], [0, 2, -1], [1, 1, 0], [2.5, 0, 0]],
    np.float32,
)
UNIGRAM = np.array([4, 3, 1, 4, 3, 1, 8, 1]) / 25
#                  null animal car  dead
MASS = [
    [0.0, 9.0, 1.0, 0.0],
    [0.0, 4.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 20.0, 0.0],
    [0.0, 0.0, 5.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
    [16.0, 2.0, 22.0, 0.1],
    [0.0, 0.0, 0.0, 0.0],
]
# documents that have each word, and sums of the topics' proportions in them
DOCUMENTS = [4.0, 3.0, 1.0, 4.0, 3.0, 1.0, 5.0, 0.0]
HELD = [
    [0.2, 3.0, 0.8, 0.0],
    [0.1, 2.5, 0.4, 0.0],
    [0.1, 0.8, 0.1, 0.0],
    [0.2, 0.6, 3.2, 0.0],
    [0.2, 0.3, 2.5, 0.0],
    [0.0, 0.2, 0.8, 0.0],
    [0.7, 1.5, 2.7, 0.1],
    [0.0, 0.0, 0.0, 0.0],
]


def cosines(direction):
    centred = MATRIX - UNIGRAM @ MATRIX
    return centred @ direction / np.linalg.norm(centred, axis=1)


def model(matrix=MATRIX, mass=MASS):
    table = np.array(mass, np.float32)
    vectors = WordVectors(WORDS, matrix, UNIGRAM)
    topics = np.array([[0, 0, 0], ANIMAL, CAR, [0, 0, 1]], np.float32) * 5
    bare = FittedTopics.bare(vectors, topics, max_norm=7.0)
    return replace(
        bare,
        mass=table.sum(axis=0).astype(float),
        word_counts=table.sum(axis=1).astype(float),
        word_mass=csr_array(table),
        word_documents=np.array(DOCUMENTS),
        document_mass=csr_array(np.where(table > 0, HELD, 0).astype(np.float32)),
        representative=((), ((4, 0.9),), (), ()),
        labels=(None, "animals", None, None),
        classes=(None, "zoo", None, None),
        n_documents=5,
    )


def words_of(topic):
    return [word for word, _ in topic.words]


def test_topics_come_by_share_with_the_null_topic_last_and_dead_ones_left_out():
    topics = read_topics(model())
    assert [topic.index for topic in topics] == [2, 1, 0]
    assert [topic.is_null for topic in topics] == [False, False, True]
    assert topics[0].share == pytest.approx(49 / 81.1)


def test_dead_topics_are_read_on_request():
    assert [topic.index for topic in read_topics(model(), min_mass=0)] == [2, 1, 3, 0]


def test_a_record_has_norm_label_class_and_documents():
    topic = read_topics(model())[1]
    assert (topic.norm, topic.label, topic.class_) == (5.0, "animals", "zoo")
    assert topic.documents == ((4, 0.9),)


def test_words_stand_under_the_topic_that_owns_them():
    cars, animals, null = read_topics(model(), n_words=3)
    assert words_of(cars) == ["car", "bus", "van"]
    assert words_of(animals) == ["cat", "dog", "cow"]
    assert words_of(null) == ["go"]


def test_the_formula_is_the_documented_one():
    """Tokens and documents that the topic owns: 9 of 10 and 3 of 4 for "cat"."""
    topic = read_topics(model())[1]
    expected = cosines(ANIMAL)[0] * 9 / np.sqrt(10) * 3 / np.sqrt(4)
    assert dict(topic.words)["cat"] == pytest.approx(expected, rel=1e-5)
    assert topic == read_topics(model(), relevance="joint")[1]


@pytest.mark.parametrize("relevance", ["joint", "documents"])
def test_relevance_by_documents_is_the_formula_written_out_for_each_word(relevance):
    topics = read_topics(model(), relevance=relevance)[:2]
    for topic, direction in zip(topics, (CAR, ANIMAL), strict=True):
        expected = {}
        for word, cosine, masses, held, n_documents in zip(
            WORDS, cosines(direction), MASS, HELD, DOCUMENTS, strict=True
        ):
            mass, held = masses[topic.index], held[topic.index]
            if mass and cosine > 0 and relevance == "joint":
                expected[word] = cosine * mass / sum(masses) ** 0.5 * held / n_documents**0.5
            elif mass and cosine > 0:
                expected[word] = cosine * held**2 / n_documents
        assert dict(topic.words) == pytest.approx(expected, rel=1e-5)
        assert words_of(topic) == sorted(expected, key=expected.get, reverse=True)


def test_relevance_by_documents_does_not_ask_for_tables_with_the_same_entries():
    table = model().document_mass.toarray()
    table[0, 1] = 0  # as where a batch of documents has faded
    faded = replace(model(), document_mass=csr_array(table))
    words = dict(read_topics(faded)[1].words)
    assert "cat" not in words
    assert words["dog"] == dict(read_topics(model())[1].words)["dog"]


def test_cosine_relevance_is_the_cosine_times_the_damped_mass_that_the_topic_owns():
    topic = read_topics(model(), relevance="cosine")[1]
    expected = cosines(ANIMAL)[0] * np.sqrt(9) * 9 / 10
    assert dict(topic.words)["cat"] == pytest.approx(expected, rel=1e-5)


def test_mass_relevance_is_the_cosine_times_the_mass_that_the_topic_owns():
    animals = read_topics(model(), relevance="mass")[1]
    near = cosines(ANIMAL)
    expected = {"cat": 9 * 0.9**2 * near[0], "dog": 4 * near[1], "cow": near[2]}
    assert words_of(animals)[:3] == ["cat", "dog", "cow"]
    found = dict(animals.words)
    assert [found[word] for word in expected] == pytest.approx(list(expected.values()), rel=1e-5)


def test_posterior_relevance_is_that_of_the_original_code():
    cars = read_topics(model(), relevance="posterior")[0]
    assert dict(cars.words)["go"] == pytest.approx(22 / np.sqrt(40.1), rel=1e-5)


@pytest.mark.parametrize("balance", [0, 0.0, 0.6, 1.0])
def test_a_number_trades_frequent_words_for_telling_ones_as_ldavis_does(balance):
    cars = read_topics(model(), relevance=balance)[0]
    inside, general = 22 / 49, 40.1 / 81.1
    expected = balance * np.log(inside) + (1 - balance) * np.log(inside / general)
    assert np.log(dict(cars.words)["go"]) == pytest.approx(expected, rel=1e-5)
    assert words_of(cars)[0] == ("go" if balance == 1 else "car")


def test_words_that_do_not_occur_are_nearest_but_never_relevant():
    animals = read_topics(model())[1]
    assert "yak" not in words_of(animals)
    assert "yak" in dict(animals.nearest)


def test_words_that_point_away_from_a_topic_are_not_listed():
    mass = [row[:] for row in MASS]
    mass[3] = [0.0, 1.0, 19.0, 0.0]
    assert "car" not in words_of(read_topics(model(mass=mass))[1])


def test_relevance_ignores_a_shift_of_all_vectors():
    plain = read_topics(model())
    shifted = read_topics(model(MATRIX + np.array([5, -2, 1], np.float32)))
    for a, b in zip(plain, shifted, strict=True):
        assert words_of(a) == words_of(b)
        assert [score for _, score in a.words] == pytest.approx([s for _, s in b.words], rel=1e-4)
        assert sorted(dict(a.nearest)) == sorted(dict(b.nearest))


def test_cutting_the_vocabulary_into_blocks_changes_nothing(monkeypatch):
    whole = read_topics(model(), n_nearest=4)
    monkeypatch.setattr(reading, "_ROWS", 3)
    cut = read_topics(model(), n_nearest=4)
    assert [words_of(t) for t in whole] == [words_of(t) for t in cut]
    assert [[w for w, _ in t.nearest] for t in whole] == [[w for w, _ in t.nearest] for t in cut]


def test_nearest_words_have_falling_cosines_below_one():
    for topic in read_topics(model(), n_nearest=8)[:-1]:
        scores = [score for _, score in topic.nearest]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == 8
        assert max(np.abs(scores)) <= 1


def test_a_model_without_documents_is_read_by_its_nearest_words():
    vectors = WordVectors(WORDS, MATRIX, UNIGRAM)
    bare = FittedTopics.bare(vectors, np.array([[0, 0, 0], CAR], np.float32), max_norm=7.0)
    car, null = read_topics(bare, n_nearest=1)
    assert (car.words, car.share, car.title) == ((), 0.0, "car, bus, van")
    assert [word for word, _ in car.nearest] == ["car"]
    assert (null.words, null.nearest, null.title) == ((), (), "null topic")


def test_no_words_are_listed_when_none_are_asked_for():
    assert all(not t.words and not t.nearest for t in read_topics(model(), n_words=0, n_nearest=0))


def test_a_repr_shows_share_label_class_and_words():
    assert repr(read_topics(model())[1]).startswith('Topic 1 "animals" [zoo] (19.7%): cat dog cow')


def test_a_topic_with_nothing_to_show_has_a_title_all_the_same():
    assert Topic(7, 0.0, 1.0, ()).title == "topic 7"
    assert repr(Topic(7, 0.0, 1.0, ())) == "Topic 7 (0.0%): no words"


@pytest.mark.parametrize(
    "wrong", [{"n_words": -1}, {"n_nearest": -2}, {"relevance": "tfidf"}, {"relevance": 1.5}]
)
def test_a_wrong_argument_is_named(wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        read_topics(model(), **wrong)


def test_topics_of_a_document_are_sorted_and_small_ones_left_out():
    assert document_topics(np.array([0.3, 0.005, 0.695])) == ((2, 0.695), (0, 0.3))
    assert document_topics([0.5, 0.5], min_share=0.6) == ()


def test_topics_of_several_documents_at_once_are_refused():
    with pytest.raises(DataError, match="one row"):
        document_topics([[0.5, 0.5]])


def test_ten_words_and_ten_nearest_are_listed_unless_others_are_asked_for():
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(30)]
    vectors = WordVectors(words, rng.normal(size=(30, 3)), np.ones(30))
    bare = FittedTopics.bare(vectors, np.array([[0, 0, 0], ANIMAL], np.float32), max_norm=7.0)
    mass = np.ones((30, 2), np.float32)
    fitted = replace(
        bare, mass=mass.sum(axis=0).astype(float), word_mass=csr_array(mass),
        word_counts=np.full(30, 2.0), word_documents=np.ones(30), document_mass=csr_array(mass / 2),
        n_documents=1,
    )  # fmt: skip
    topic = next(each for each in read_topics(fitted) if not each.is_null)
    assert (len(topic.words), len(topic.nearest)) == (10, 10)

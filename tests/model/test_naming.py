"""Names of topics, background among them, and names by a function of the user's."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec import datasets
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.model.fitted import FittedTopics
from topicvec.model.naming import background, name_topics
from topicvec.model.reading import read_topics
from topicvec.model.topicvec import TopicVec


def named(*topics, given=None):
    return name_topics(topics, given or [None] * len(topics))


def pairs(text):
    """Words with falling relevance."""
    words = text.split()
    return tuple((word, 10.0 - 0.5 * place) for place, word in enumerate(words))


@pytest.fixture(scope="module")
def article():
    return TopicVec(12, random_state=0).fit([datasets.sample_article()])


@pytest.fixture(scope="module")
def corpus():
    return TopicVec(12, random_state=0).fit(datasets.sample_corpus())


# names


def test_names_are_the_most_relevant_words():
    assert named(pairs("sea wave boat"), pairs("tax bank loan")) == [
        "sea, wave, boat",
        "tax, bank, loan",
    ]


def test_words_that_siblings_share_are_worse_names():
    first, second = named(pairs("water sea wave boat"), pairs("water pipe pump valve"))
    assert first.split(", ")[0] == "sea"
    assert second.split(", ")[0] == "pipe"


@pytest.mark.parametrize("word", ["cats", "cat", "catlike"])
def test_words_that_look_like_one_in_the_name_are_passed_over(word):
    topic = (("cat", 9.0), (word if word != "cat" else "cats", 8.9), ("dog", 8.0), ("fur", 7.0))
    assert named(topic) == ["cat, dog, fur"]


def test_phrases_that_share_a_word_are_passed_over():
    topic = (("new york", 9.0), ("york", 8.0), ("new jersey", 7.9), ("harbour", 7.0))
    assert named(topic) == ["new york, harbour"]


def test_names_have_at_most_four_words_with_those_of_phrases():
    topic = (("prime minister", 9.0), ("central bank", 8.9), ("tax", 8.8), ("loan", 8.7))
    assert named(topic) == ["prime minister, central bank"]


def test_words_that_are_much_less_relevant_are_no_part_of_a_name():
    assert named((("sea", 9.0), ("boat", 1.0), ("tax", 0.9))) == ["sea"]


def test_all_names_differ_with_more_words_or_numbers():
    same = pairs("sea wave boat salt")
    names = named(*[same] * 5)
    assert len(set(names)) == 5
    assert all(name.startswith("sea, wave, ") for name in names)
    assert names[1] == "sea, wave, salt"
    assert all(len(name.replace(",", " ").split()) <= 4 for name in names)
    assert named(pairs("sea"), pairs("sea"), pairs("sea")) == ["sea", "sea 2", "sea 3"]


def test_names_of_the_user_stay_and_no_other_topic_gets_them():
    sea = (("sea", 9.0),)
    assert named(sea, sea, given=["sea", None]) == ["sea", "sea 2"]
    assert named(sea, sea, given=[None, "sea"]) == ["sea 2", "sea"]
    assert named(sea, sea, given=["water", "water"]) == ["water", "water"]


def test_a_topic_without_words_has_no_name_of_its_words():
    assert named((), pairs("sea")) == ["", "sea"]


def test_every_topic_of_a_model_has_a_name_of_its_own(article, corpus):
    for model in (article, corpus):
        names = [topic.label for topic in read_topics(model.fitted_, min_mass=0)]
        assert all(names)
        assert len(set(names)) == len(names)
        assert sum(len(name.replace(",", "").split()) <= 4 for name in names) >= len(names) - 1
        assert names[-1] == "null topic"


def test_names_are_made_of_the_words_of_the_topic(article):
    for topic in read_topics(article.fitted_, n_words=20):
        if not topic.is_null:
            assert set(topic.label.split(", ")) <= {word for word, _ in topic.words}


def test_names_are_the_same_whatever_is_listed(article):
    plain = {topic.index: topic.label for topic in read_topics(article.fitted_, min_mass=0)}
    relevances = ("joint", "documents", "cosine", "mass", "posterior")
    for relevance, n_words, min_mass in product(relevances, (0, 3, 30), (0.0, 20.0)):
        options = {"relevance": relevance, "n_words": n_words, "min_mass": min_mass}
        for topic in read_topics(article.fitted_, n_nearest=0, **options):
            assert topic.label == plain[topic.index]


def test_names_given_later_are_kept_and_can_be_taken_back(article):
    first = article.topics_[0]
    renamed = article.relabel({first.index: "the first"})
    assert renamed.topics_[0].label == renamed.topics_[0].title == "the first"
    assert renamed.relabel({first.index: None}).topics_[0].label == first.label


def test_names_of_seeds_are_kept(planted):
    seeds = {"third": ["caxy", "cbxy"], "first": ["aaxy", "abxy"]}
    model = TopicVec(4, planted.vectors, seed_words=seeds, random_state=0, tol=1e-2)
    labels = {topic.index: topic.label for topic in model.fit(planted.documents).topics_}
    assert (labels[1], labels[2]) == ("third", "first")
    assert labels[3] not in (None, "", "third", "first")


# background

WORDS = ["early", "announced", "several", "church", "altar", "priest", "goal", "ball"]


def spread(masses, n_documents=1, having=None, held=None):
    """A model of topics with these expected tokens (W, K) of words, without a null topic's."""
    table = np.hstack([np.zeros((len(WORDS), 1)), np.array(masses, float)]).astype(np.float32)
    vectors = WordVectors(WORDS, np.eye(len(WORDS)), np.ones(len(WORDS)))
    topics = np.eye(table.shape[1], len(WORDS), -1, dtype=np.float32)
    held = table if held is None else np.hstack([np.zeros((len(WORDS), 1)), held])
    return replace(
        FittedTopics.bare(vectors, topics, max_norm=7.0),
        mass=table.sum(axis=0).astype(float),
        word_counts=table.sum(axis=1).astype(float),
        word_mass=csr_array(table),
        word_documents=np.ones(len(WORDS)) if having is None else np.asarray(having, float),
        document_mass=csr_array(held.astype(np.float32)),
        n_documents=n_documents,
    )


FILLER_AND_CHURCH = [[9, 0], [8, 0], [5, 1], [2, 9], [0, 5], [0, 5], [0, 0], [0, 0]]


def test_a_topic_of_filler_is_background_and_a_telling_one_is_not():
    fitted = spread(FILLER_AND_CHURCH)
    assert background(fitted).tolist() == [False, True, False]
    assert [topic.is_background for topic in read_topics(fitted)] == [False, True, False]


def test_half_of_the_tokens_make_background():
    assert background(spread([[5], [0], [0], [5], [0], [0], [0], [0]]))[1]
    assert not background(spread([[5], [0], [0], [6], [0], [0], [0], [0]]))[1]


def test_background_comes_behind_smaller_topics_and_before_the_null_topic():
    topics = read_topics(spread(FILLER_AND_CHURCH))
    assert [topic.index for topic in topics] == [2, 1, 0]
    assert topics[1].share > 0.5
    assert repr(topics[1]).startswith('Topic 1 "early" background (54.5%): early')


def even(n_documents):
    """Two topics of telling words: one the same part of all documents, one whole in its own."""
    masses = np.zeros((8, 2))
    masses[3:6, 0], masses[6:, 1] = n_documents / 3, n_documents / 2
    held = np.zeros((8, 2))
    held[3:6, 0] = 0.5 * n_documents  # half of each document
    held[6:, 1] = 0.95 * n_documents / 2
    having = [0, 0, 0, *[n_documents] * 3, *[n_documents / 2] * 2]
    return spread(masses, n_documents, having, held)


def test_a_topic_that_is_spread_evenly_over_many_documents_is_background():
    assert background(even(20)).tolist() == [False, True, False]
    assert background(even(200)).tolist() == [False, True, False]


def test_few_documents_show_no_spread():
    assert not background(even(19)).any()


def test_a_model_without_documents_has_no_background():
    vectors = WordVectors(WORDS, np.eye(8), np.ones(8))
    bare = FittedTopics.bare(vectors, np.eye(4, 8, -1), max_norm=7.0)
    assert not background(bare).any()
    assert not any(topic.is_background for topic in read_topics(bare))


def test_the_null_topic_is_never_background():
    table = np.zeros((8, 2), np.float32)
    table[:3, 0] = 9  # nothing but filler
    fitted = replace(spread([[0]] * 8), word_mass=csr_array(table), mass=table.sum(axis=0))
    assert background(fitted).tolist() == [False, False]


def test_topics_of_an_article_keep_filler_apart(article):
    behind = [topic for topic in article.topics_ if topic.is_background]
    assert 1 <= len(behind) < article.n_topics_ / 2
    places = [topic.is_background for topic in article.topics_[:-1]]
    assert places == sorted(places)
    shares = [topic.share for topic in article.topics_[:-1] if not topic.is_background]
    assert shares == sorted(shares, reverse=True)


def test_planted_topics_are_no_background(planted):
    model = TopicVec(4, planted.vectors, random_state=0, tol=1e-2).fit(planted.documents)
    assert not any(topic.is_background for topic in model.topics_)


# names by a function of the user's


def labelled(planted, labeller, **params):
    return TopicVec(4, planted.vectors, labeller=labeller, random_state=0, tol=1e-2, **params)


def shout(topics):
    return [topic.words[0][0].upper() for topic in topics]


def test_a_labeller_is_given_the_topics_and_names_them(planted):
    heard = []

    def labeller(topics):
        heard.extend(topics)
        return shout(topics)

    model = labelled(planted, labeller).fit(planted.documents)
    assert len(heard) == 4
    assert not any(topic.is_null for topic in heard)
    assert all(topic.words and topic.label for topic in heard)
    by_index = {topic.index: topic.words[0][0].upper() for topic in heard}
    assert {t.index: t.label for t in model.topics_ if not t.is_null} == by_index
    assert model.topics_[-1].label == "null topic"


@pytest.mark.parametrize("names", [["one"], ["a"] * 5, "abcd", ()])
def test_a_labeller_that_gives_another_number_of_names_does_not_lose_the_fit(planted, names):
    with pytest.warns(UserWarning, match="labeller failed.*must give 4 names, one a topic; found"):
        model = labelled(planted, lambda topics: names).fit(planted.documents)
    plain = labelled(planted, None).fit(planted.documents)
    assert [t.label for t in model.topics_] == [t.label for t in plain.topics_]


def test_a_labeller_that_gives_no_text_or_raises_does_not_lose_the_fit(planted):
    with pytest.warns(UserWarning, match="labeller failed.*must give 4 names"):
        labelled(planted, lambda topics: [1, 2, 3, 4]).fit(planted.documents)
    with pytest.warns(UserWarning, match="labeller failed.*ZeroDivisionError"):
        labelled(planted, lambda topics: 1 / 0).fit(planted.documents)


def test_a_labeller_that_is_no_function_is_refused_before_the_fit(planted):
    with pytest.raises(DataError, match="labeller must be a function or None; found 'llm'"):
        labelled(planted, "llm").fit(planted.documents)


def test_a_labeller_does_not_rename_seeded_topics(planted):
    seeds = {"mine": planted.documents[0][:2]}
    model = labelled(planted, lambda topics: ["x"] * len(topics))
    labels = [t.label for t in model.set_params(seed_words=seeds).fit(planted.documents).topics_]
    assert labels.count("mine") == 1


def test_a_topic_that_is_nearly_all_there_is_is_not_background():
    texts = ["cat dog"] * 30 + ["car bus"] * 12
    vectors = WordVectors(["cat", "dog", "car", "bus"], 3 * np.eye(4)[[0, 0, 1, 1]], np.ones(4))
    for number in (1, 2):
        model = TopicVec(number, vectors, random_state=0).fit(texts)
        assert not any(topic.is_background for topic in model.topics_)


def test_dropping_topics_makes_no_other_one_background():
    model = TopicVec(random_state=0).fit(datasets.sample_corpus())
    telling = [t.index for t in model.topics_ if not (t.is_background or t.is_null)]
    for kept in telling:
        alone = model.drop([row for row in range(1, model.n_topics_ + 1) if row != kept])
        assert not alone.topics_[0].is_background


def test_a_labeller_may_leave_a_name_to_the_words(planted):
    plain = labelled(planted, None).fit(planted.documents)
    model = labelled(planted, lambda topics: ["mine", *[None] * 3]).fit(planted.documents)
    assert [t.label for t in model.topics_] == ["mine", *(t.label for t in plain.topics_[1:])]


def test_names_of_a_labeller_are_saved_and_the_labeller_is_not(planted, tmp_path):
    model = labelled(planted, shout).fit(planted.documents)
    model.save(tmp_path / "a.topicvec")
    loaded = TopicVec.load(tmp_path / "a.topicvec")
    assert loaded.labeller is None
    assert [t.label for t in loaded.topics_] == [t.label for t in model.topics_]


def test_a_labeller_changes_names_and_nothing_else(planted):
    plain = labelled(planted, None).fit(planted.documents)
    model = labelled(planted, shout).fit(planted.documents)
    assert np.array_equal(model.topic_vectors_, plain.topic_vectors_)
    assert np.array_equal(model.doc_topic_, plain.doc_topic_)
    assert model.bounds_ == plain.bounds_


def test_a_labeller_names_topics_of_classes_and_batches(planted):
    model = labelled(planted, shout).set_params(share="class")
    model.fit(planted.documents, planted.classes)
    assert all(t.label.isupper() for t in model.topics_ if not t.is_null)
    online = labelled(planted, shout).partial_fit(planted.documents)
    assert all(t.label.isupper() for t in online.topics_ if not t.is_null)


def test_a_topic_without_words_and_direction_is_named_by_its_number():
    documents = datasets.sample_corpus()[:30]
    mask = np.ones((30, 5), bool)
    mask[:, 3] = False  # nobody may use it
    model = TopicVec(random_state=0).fit(documents, mask=mask)
    labels = {topic.index: topic.label for topic in read_topics(model.fitted_, min_mass=0)}
    assert len(set(labels.values())) == 5
    flat = WordVectors(["cat", "dog", "bus"], np.ones((3, 2)), np.ones(3))
    found = TopicVec(1, flat, random_state=0).fit(["cat dog bus"])
    assert read_topics(found.fitted_, min_mass=0)[0].label


def test_topics_of_small_weights_live():
    model = TopicVec(4, random_state=0)
    model.fit(datasets.sample_corpus()[:30], document_weights=np.full(30, 1e-4))
    assert len(model.topics_) == 5

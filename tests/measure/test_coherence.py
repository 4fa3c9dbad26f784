import warnings
from itertools import combinations

import numpy as np
import pytest

from topicvec.engine import LocalEngine
from topicvec.errors import DataError, OutOfVocabularyWarning
from topicvec.measure import windows as module
from topicvec.measure.coherence import EPSILON, TopicScores, c_v, npmi, u_mass
from topicvec.measure.windows import count_windows

WORDS = [f"w{i}" for i in range(12)]


def random_documents(n=30, longest=40, seed=0, vocabulary=40):
    rng = np.random.default_rng(seed)
    return [
        [f"w{i}" for i in rng.zipf(1.4, rng.integers(0, longest)) % vocabulary] for _ in range(n)
    ]


def windows_of(document, size):
    if size is None or len(document) <= size:
        return [set(document)]
    return [set(document[i : i + size]) for i in range(len(document) - size + 1)]


@pytest.mark.parametrize("size", [1, 2, 5, 17, 110, None])
def test_counts_are_those_of_walking_through_every_window(size):
    documents = random_documents()
    found = count_windows(documents, [WORDS], windows=[size])
    walked = [window for document in documents for window in windows_of(document, size)]
    counts = found.windows[size]
    assert counts.n_windows == len(walked)
    assert counts.singles.tolist() == [sum(word in window for window in walked) for word in WORDS]
    joint = found.joint(WORDS, size) * len(walked)
    for i, j in combinations(range(len(WORDS)), 2):
        together = sum({WORDS[i], WORDS[j]} <= window for window in walked)
        assert joint[i, j] == joint[j, i] == pytest.approx(together)


def test_several_sizes_in_one_pass_are_the_same_as_one_by_one():
    documents = random_documents()
    together = count_windows(iter(documents), [WORDS], windows=[3, None])
    for size in (3, None):
        alone = count_windows(documents, [WORDS], windows=[size])
        assert np.array_equal(alone.joint(WORDS, size), together.joint(WORDS, size))


def test_any_number_of_workers_counts_the_same(monkeypatch):
    monkeypatch.setattr("topicvec.embed.encode.CHUNK_SIZE", 300)
    texts = [" ".join(document) for document in random_documents()]
    found = [
        count_windows(texts, [WORDS], n_jobs=n_jobs)
        for n_jobs in (1, 2, LocalEngine(2, kind="thread"))
    ]
    for each in found[1:]:
        for size, counts in each.windows.items():
            assert np.array_equal(counts.singles, found[0].windows[size].singles)
            assert np.array_equal(counts.pairs.data, found[0].windows[size].pairs.data)


def test_only_pairs_within_a_topic_are_counted():
    found = count_windows([["a", "b", "c"]], [["a", "b"], ["c", "a"]], windows=[None])
    assert found.windows[None].pairs.nnz == 2
    with pytest.raises(DataError, match="'b' and 'c' were not counted together"):
        found.joint(["b", "c"], None)
    with pytest.raises(DataError, match="'d' was not counted"):
        found.joint(["a", "d"], None)
    with pytest.raises(DataError, match="windows of size 10 were not counted, only None"):
        npmi([["a", "b"]], found)


def test_npmi_by_hand():
    # windows of 2: ab bc | ab | cd; P(a)=2/4, P(b)=3/4, P(ab)=2/4
    documents = [["a", "b", "c"], ["a", "b"], ["c", "d"]]
    expected = np.log(0.5 / (0.5 * 0.75)) / -np.log(0.5)
    found = npmi([["a", "b"], ["a", "d"]], documents, window=2, epsilon=0)
    assert found.values == pytest.approx((expected, -1.0))
    assert found.value == pytest.approx((expected - 1) / 2)
    smoothed = np.log(EPSILON / (0.5 * 0.25)) / -np.log(EPSILON)
    assert npmi([["a", "d"]], documents, window=2).values == pytest.approx((smoothed,))


def test_c_v_by_hand():
    documents = [["a", "b"], ["a", "b"], ["c", "a"], ["d"]]
    # P(a)=3/4, P(b)=1/2, P(ab)=1/2; NPMI(a,b) = log(4/3)/log 2, of a word with itself 1
    both = np.log(4 / 3) / np.log(2)
    first, second = np.array([1, both]), np.array([both, 1])
    total = first + second
    cosine = first @ total / np.linalg.norm(first) / np.linalg.norm(total)
    assert c_v([["a", "b"]], documents).values == pytest.approx((cosine,))


def test_u_mass_by_hand_looks_from_the_later_word_to_the_earlier():
    documents = [["a", "b"], ["a", "b"], ["a", "c"], ["d"]]
    found = u_mass([["a", "b"], ["b", "a"], ["a", "b", "c"]], documents)
    unseen = np.log(EPSILON / 0.5)
    triple = (np.log(2 / 3) + np.log(1 / 3) + unseen) / 3
    assert found.values == pytest.approx((np.log(2 / 3), 0.0, triple), abs=1e-9)


def distinct_documents(n=60, seed=3):
    """Documents without repeated words, which gensim counts right too."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 61)
    return [
        [f"w{i}" for i in rng.choice(60, rng.integers(3, 40), False, weights / weights.sum())]
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("name", "ours", "size"),
    [("c_npmi", npmi, 10), ("c_v", c_v, 110), ("c_v", c_v, 5), ("u_mass", u_mass, None)],
)
def test_coherence_is_what_gensim_finds(name, ours, size):
    gensim = pytest.importorskip("gensim.models.coherencemodel")
    from gensim.corpora import Dictionary

    documents = distinct_documents()
    topics = [[f"w{i}" for i in range(k, 40, 4)] for k in range(4)]
    dictionary = Dictionary(documents)
    theirs = gensim.CoherenceModel(
        topics=topics,
        texts=documents,
        corpus=[dictionary.doc2bow(document) for document in documents],
        dictionary=dictionary,
        coherence=name,
        window_size=size,
        processes=1,
    ).get_coherence_per_topic()
    assert ours(topics, documents, window=size).values == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize(
    ("measure", "worst"), [(npmi, -1.0), (c_v, 0.0), (u_mass, np.log(EPSILON))]
)
def test_words_that_the_reference_lacks_are_named_and_count_as_the_worst(measure, worst):
    with pytest.warns(OutOfVocabularyWarning, match="2 topic words .* as the worst: yak, gnu"):
        found = measure([["yak", "gnu"], ["a", "b"]], [["a", "b"], ["c"]])
    assert found.unseen == ("yak", "gnu")
    assert found.values[0] == pytest.approx(worst)
    assert found.values[1] > worst


def test_one_unseen_word_leaves_the_other_pairs_as_they_are():
    documents = random_documents()
    clean = npmi([["w1", "w2"]], documents).value
    with pytest.warns(OutOfVocabularyWarning):
        found = npmi([["w1", "w2", "yak"]], documents).value
    assert found == pytest.approx((clean - 2) / 3)


@pytest.mark.parametrize(
    ("measure", "worst"), [(npmi, -1.0), (c_v, 0.0), (u_mass, np.log(EPSILON))]
)
@pytest.mark.parametrize("words", [[], ["a"], ["a", "a"]])
def test_a_topic_without_a_pair_has_the_worst_value_and_a_warning(measure, worst, words):
    with pytest.warns(UserWarning, match="1 topics have fewer than two words"):
        found = measure([words, ["a", "b"]], [["a", "b"]])
    assert found.values[0] == pytest.approx(worst)


@pytest.mark.parametrize("measure", [npmi, c_v, u_mass])
def test_words_in_every_window_and_words_never_together_give_numbers(measure):
    documents = [["a", "b", "c"], ["a", "b", "d"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = measure([["a", "b"], ["c", "d"], ["a", "c"]], documents)
    assert np.isfinite(found.values).all()
    assert found.values[0] == pytest.approx(0.0 if measure is u_mass else 1.0, abs=1e-9)


def test_bad_arguments_are_refused():
    with pytest.raises(DataError, match="found a str"):
        npmi(["cat dog"], [["a"]])
    with pytest.raises(DataError, match="at least one topic"):
        npmi([], [["a"]])
    with pytest.raises(DataError, match="found no word"):
        count_windows([["a"]], [[]])
    with pytest.raises(DataError, match="the corpus is empty"):
        npmi([["a", "b"]], [])
    with pytest.raises(DataError, match="windows must be at least 1"):
        count_windows([["a"]], [["a"]], windows=[0])
    with pytest.raises(DataError, match="epsilon must be more than 0"):
        u_mass([["a", "b"]], [["a"]], epsilon=0)


def test_the_record_is_plain_data_with_its_mean():
    record = TopicScores("npmi", (0.25, 0.75), ("yak",)).as_dict()
    assert record == {"name": "npmi", "values": (0.25, 0.75), "unseen": ("yak",), "value": 0.5}


def test_the_usual_windows_are_counted_by_default():
    assert list(count_windows([["a"]], [["a"]]).windows) == list(module.WINDOWS) == [10, 110, None]


def test_a_phrase_among_the_words_of_a_topic_is_counted_and_so_are_its_words():
    documents = ["A hedge fund lost money", "Money for the fund"]
    topics = [["hedge fund", "money"], ["fund", "money"]]
    statistics = count_windows(documents, topics, windows=[None])
    assert statistics.unseen(["hedge fund", "fund", "money"]) == []
    assert statistics.joint(topics[0], None).tolist() == [[0.5, 0.5], [0.5, 1.0]]
    assert statistics.joint(topics[1], None).tolist() == [[1.0, 1.0], [1.0, 1.0]]

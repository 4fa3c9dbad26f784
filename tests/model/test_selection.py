"""How many topics documents support, and what "auto" means beside other parameters."""

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

from topicvec import datasets
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, OutOfVocabularyWarning
from topicvec.model import count_topics, selection
from topicvec.model.counts import DocumentCounter
from topicvec.model.topicvec import TopicVec

N_WORDS = 40  # of a group


def grouped(n_groups, n_each=30, n_tokens=30, seed=0):
    """Vectors, and counts of documents that draw nine of ten tokens from their group's words."""
    rng = np.random.default_rng(seed)
    n_words = N_WORDS * n_groups
    centres = np.repeat(3 * np.eye(n_groups, 12), N_WORDS, axis=0)
    matrix = centres + rng.normal(0, 0.5, centres.shape)
    vectors = WordVectors([f"w{row}" for row in range(n_words)], matrix, np.ones(n_words))
    counts = np.zeros((n_groups * n_each, n_words), int)
    for row, group in enumerate(np.repeat(range(n_groups), n_each)):
        own = N_WORDS * group + rng.integers(0, N_WORDS, n_tokens)
        other = rng.integers(0, n_words, n_tokens // 10)
        np.add.at(counts[row], np.concatenate([own, other]), 1)
    return vectors, csr_array(counts)


def count_in(texts):
    vectors = load_vectors()
    return count_topics(vectors, DocumentCounter().count(texts, vectors).counts)


@pytest.mark.parametrize(("n_groups", "tolerance"), [(2, 0), (3, 1), (8, 2)])
@pytest.mark.parametrize("seed", [0, 1])
def test_groups_of_documents_are_counted(n_groups, tolerance, seed):
    assert abs(count_topics(*grouped(n_groups, seed=seed)) - n_groups) <= tolerance


def test_twenty_documents_are_enough_to_show_groups():
    vectors, counts = grouped(2, n_each=10)
    assert count_topics(vectors, counts) == 2
    assert count_topics(vectors, counts[1:]) > 2  # by length


def test_documents_without_groups_have_a_number_by_their_length():
    vectors, counts = grouped(4)
    rng = np.random.default_rng(0)
    alike = csr_array(rng.multinomial(30, np.full(counts.shape[1], 1 / counts.shape[1]), size=120))
    assert count_topics(vectors, alike) == 12
    few, more = (count_topics(vectors, alike[:n]) for n in (19, 20))
    assert few <= more <= few + 1


def test_a_sentence_has_one_or_two_topics():
    sentence = "The company raised the price of the drug that hospitals give to patients."
    assert count_in([sentence]) in (1, 2)


def test_an_article_has_a_handful():
    assert 5 <= count_in([datasets.sample_article()]) <= 12


def test_the_sample_corpus_has_about_as_many_as_subjects():
    assert 5 <= count_in(datasets.sample_corpus()) <= 12


def test_few_documents_have_at_most_twelve_and_no_more_than_words():
    vectors, counts = grouped(4)
    assert count_topics(vectors, csr_array(vstack([50 * counts[:5]]))) == 12
    words = WordVectors(["cat", "dog"], np.eye(2), [1, 1])
    assert count_topics(words, csr_array([[900, 900]])) == 2


def test_the_number_is_the_same_for_the_same_documents_again():
    vectors, counts = grouped(3)
    assert len({count_topics(vectors, counts) for _ in range(3)}) == 1


def test_the_order_of_documents_changes_the_number_little():
    vectors, counts = grouped(8)
    order = np.random.default_rng(1).permutation(counts.shape[0])
    assert abs(count_topics(vectors, counts) - count_topics(vectors, counts[order])) <= 2


def test_words_that_no_document_has_change_nothing():
    vectors, counts = grouped(3)
    rng = np.random.default_rng(1)
    more = [*vectors.words, *(f"z{row}" for row in range(50))]
    matrix = np.concatenate([vectors.matrix, rng.normal(size=(50, 12))])
    unigram = np.append(vectors.unigram, np.full(50, 1e-12))  # so that the mean stays
    padded = csr_array((counts.data, counts.indices, counts.indptr), (counts.shape[0], len(more)))
    assert count_topics(WordVectors(more, matrix, unigram), padded) == count_topics(vectors, counts)


def test_the_number_is_the_same_whatever_the_seed_and_the_number_of_workers(planted):
    found = [
        TopicVec(vectors=planted.vectors, random_state=seed, n_jobs=n_jobs, tol=1e-2)
        .fit(planted.documents)
        .n_topics_
        for seed, n_jobs in ((0, 1), (1, 1), (2, 4))
    ]
    assert len(set(found)) == 1


def rows(*dense):
    return csr_array(np.array(dense))


VECTORS = WordVectors(["cat", "dog", "car", "bus"], np.eye(4) + 0.1, [1, 1, 1, 1])
EVERY_DAY = {
    "identical": rows(*[[1, 2, 0, 1]] * 40),
    "of one word": rows(*np.eye(4, dtype=int)[np.arange(40) % 4]),
    "of one word of two": rows(*np.eye(4, dtype=int)[np.arange(200) % 2]),
    "of the same word": rows(*[[1, 0, 0, 0]] * 40),
    "empty but one": rows([1, 1, 0, 0], *[[0, 0, 0, 0]] * 40),
    "of the same word or empty": rows(*[[1, 0, 0, 0], [0, 0, 0, 0]] * 30),
    "empty but some": rows(*[[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1]] * 20),
    "all different": rows(*np.random.default_rng(0).integers(0, 4, (30, 4))),
}


@pytest.mark.filterwarnings("ignore::topicvec.errors.OutOfVocabularyWarning")
@pytest.mark.parametrize("documents", EVERY_DAY)
def test_documents_that_say_little_are_no_failure(documents):
    counts = EVERY_DAY[documents]
    assert 1 <= count_topics(VECTORS, counts) <= len(np.unique(counts.indices))
    model = TopicVec(vectors=VECTORS, random_state=0, tol=1e-2).fit(counts)
    assert np.isfinite(model.topic_vectors_).all()


def test_documents_without_any_known_word_are_refused_not_counted():
    with (
        pytest.warns(OutOfVocabularyWarning),
        pytest.raises(DataError, match="no document has a word with a vector"),
    ):
        TopicVec(vectors=VECTORS).fit(["yak gnu"] * 30)


def auto(planted, **params):
    return TopicVec("auto", planted.vectors, random_state=0, tol=1e-2, **params)


def test_auto_is_the_default_and_finds_the_planted_topics(planted):
    assert TopicVec().n_topics == "auto"
    model = auto(planted).fit(planted.documents)
    assert model.n_topics == "auto"
    assert 3 <= model.n_topics_ <= 6
    assert model.topic_vectors_.shape[0] == model.n_topics_ + 1


def test_auto_takes_the_number_from_a_mask_a_prior_or_given_topics(planted):
    mask = np.ones((60, 7), bool)
    assert auto(planted).fit(planted.documents, mask=mask).n_topics_ == 6
    assert auto(planted, alpha=[0.3, 0.1, 0.1]).fit(planted.documents).n_topics_ == 2
    start = TopicVec(5, planted.vectors, random_state=0, tol=1e-2).fit(planted.documents)
    for init in (start, start.topic_vectors_):
        assert auto(planted, init=init).fit(planted.documents).n_topics_ == 5


def test_a_prior_and_a_mask_that_do_not_agree_are_refused(planted):
    with pytest.raises(DataError, match=r"mask must be bool with shape \(60, 3\)"):
        auto(planted, alpha=[0.3, 0.1, 0.1]).fit(planted.documents, mask=np.ones((60, 7), bool))


def test_auto_has_room_for_guided_topics_and_one_more(planted):
    seeds = [[word] for word in planted.vectors.words[:60:6]]
    assert auto(planted, seed_words=seeds).fit(planted.documents).n_topics_ == 11
    fixed = planted.vectors.matrix[:60:5]
    assert auto(planted, fixed_topics=fixed).fit(planted.documents).n_topics_ == 13
    few = auto(planted, seed_words=[["aaxy"]]).fit(planted.documents)
    assert few.n_topics_ == auto(planted).fit(planted.documents).n_topics_


def test_auto_counts_for_each_class(planted):
    model = auto(planted, share="class").fit(planted.documents, planted.classes)
    each = [model.fitted_.classes.count(name) for name in model.classes_]
    assert len(each) == 4
    assert min(each) >= 1
    alone = [t for t, b in zip(planted.documents, planted.blocks, strict=True) if b == 2]
    assert each[2] == auto(planted).fit(alone).n_topics_


def test_auto_counts_in_the_first_batch(planted):
    model = auto(planted).partial_fit(planted.documents)
    number = model.n_topics_
    assert number == auto(planted).fit(planted.documents).n_topics_
    assert model.partial_fit(planted.documents[:3]).n_topics_ == number


def test_auto_is_saved_with_the_number_found(planted, tmp_path):
    model = auto(planted).fit(planted.documents)
    model.save(tmp_path / "a.topicvec")
    loaded = TopicVec.load(tmp_path / "a.topicvec")
    assert loaded.n_topics == "auto"
    assert loaded.n_topics_ == model.n_topics_


@pytest.mark.parametrize("number", ["many", 0, -3, 2.5, None, True])
def test_what_is_no_number_of_topics_is_refused(planted, number):
    with pytest.raises(DataError, match="n_topics must be a whole number"):
        TopicVec(number, planted.vectors).fit(planted.documents)


def test_too_large_a_number_is_lowered_with_a_warning_that_names_both():
    model = TopicVec(50, VECTORS, random_state=0)
    with pytest.warns(UserWarning, match="has 2 distinct words, so it gets 2 topics, not 50"):
        model.fit(["cat dog cat"])
    assert (model.n_topics, model.n_topics_) == (50, 2)


def test_too_large_a_number_for_a_class_names_the_class():
    model = TopicVec(3, VECTORS, share="class", random_state=0)
    with pytest.warns(UserWarning, match="class 'a' has 1 distinct word, so it gets one topic"):
        model.fit(["cat cat", "cat dog car bus"], ["a", "b"])
    assert model.fitted_.classes == (None, "a", "b", "b", "b")


@pytest.mark.parametrize("seed", range(4))
def test_words_are_held_out_of_documents_with_enough_of_them(seed):
    rng = np.random.default_rng(seed)
    known, held = selection._split(csr_array([[5, 0, 9], [1, 7, 1]]), 0.3, rng)
    np.testing.assert_array_equal((known + held).toarray(), [[5, 0, 9], [1, 7, 1]])
    assert min(known.data.min(), held.data.min()) > 0  # nothing stands where there is nothing
    with pytest.raises(DataError, match="too short to hold out words"):
        selection._split(csr_array([[0, 1, 0]]), 0.5, rng)

"""What may be given as documents, and what is said about bad ones."""

import warnings

import numpy as np
import pandas
import polars
import pytest
from scipy.sparse import csr_array, csr_matrix

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, OutOfVocabularyWarning, VocabularyMismatch
from topicvec.model.counts import (
    DocumentCounter,
    learn_vectors,
    read_corpus,
    report_unknown,
    weighted,
)
from topicvec.model.state import Solver
from topicvec.model.topicvec import TopicVec
from topicvec.text.document import Document
from topicvec.text.phrases import Phrases
from topicvec.text.vocabulary import Vocabulary

VECTORS = WordVectors(["cat", "dog", "car"], np.eye(3), [3, 2, 1])


def counts(documents, **options):
    return DocumentCounter(**options).count(documents, VECTORS).counts.toarray().tolist()


def test_texts_documents_and_token_lists_are_counted_alike():
    same = [[1, 2, 0]]
    assert counts(["A cat, a dog and a DOG!"]) == same
    assert counts([Document("one", "cat dog dog")]) == same
    assert counts([["cat", "dog", "dog"]]) == same
    assert counts(("cat", "dog", "dog") for _ in range(1)) == same
    assert counts(np.array(["cat dog dog"])) == same


def test_columns_of_a_matrix_are_found_by_their_words():
    matrix = csr_matrix([[1, 2, 3, 4]])
    found = DocumentCounter(vocabulary=["dog", "yak", "cat", "dog"]).count(matrix, VECTORS)
    assert found.counts.toarray().tolist() == [[3, 5, 0]]
    assert dict(found.report.unknown) == {"yak": 2}
    assert (found.report.n_tokens, found.report.n_unknown) == (10, 2)


def test_a_matrix_as_wide_as_the_vectors_needs_no_words():
    assert counts(csr_array([[0, 1, 2]])) == [[0, 1, 2]]
    assert counts(np.array([[0.0, 1.0, 2.0]])) == [[0, 1, 2]]


def test_a_vocabulary_limits_the_words_of_texts():
    assert counts(["cat dog car"], vocabulary=Vocabulary(["cat", "car"], [1, 1])) == [[1, 0, 1]]


def test_stop_words_are_left_out():
    assert counts(["cat dog"], stop_words=["cat"]) == [[0, 1, 0]]


def test_unknown_words_are_counted_without_a_warning():
    model = TopicVec(1, VECTORS, random_state=0).fit(["cat yak dog", "gnu yak car dog cat cat"])
    assert model.unknown_words_ == {"yak": 2, "gnu": 1}


def test_documents_without_a_known_word_are_reported():
    with pytest.warns(OutOfVocabularyWarning, match=r"1 of 2 documents .* prior mean: lost"):
        report_unknown(
            DocumentCounter()
            .count([Document("a", "cat dog"), Document("lost", "yak")], VECTORS)
            .report
        )


ITALIAN = """Il gatto dorme accanto alla finestra mentre la pioggia cade sui tetti della vecchia
città. Ogni mattina il pescatore prepara le reti, saluta i vicini e cammina verso il porto, dove
le barche aspettano la marea. Cat!"""


def test_italian_on_english_vectors_is_said_with_what_helps():
    hint = r"9\d\.\d% of the words .*: il, la, .*vectors=\"corpus\" \(--vectors corpus\).*language"
    with pytest.warns(OutOfVocabularyWarning, match=hint):
        report_unknown(DocumentCounter().count([ITALIAN], VECTORS))


@pytest.mark.parametrize(("n_unknown", "warns"), [(9, False), (10, False), (11, True)])
def test_a_tenth_of_the_words_may_be_unknown(n_unknown, warns):
    bag = DocumentCounter().count([["cat"] * (100 - n_unknown) + ["yak"] * n_unknown], VECTORS)
    with warnings.catch_warnings(record=True, action="always") as caught:
        report_unknown(bag)
    assert bool(caught) == warns


def test_a_name_or_two_in_a_short_text_is_no_reason_to_warn():
    report_unknown(DocumentCounter().count(["cat yak gnu"], VECTORS).report)


PHRASES = Phrases(["cat dog"])
JOINED = WordVectors(["cat", "dog", "cat dog"], np.eye(3), [1, 1, 1])


def test_phrases_are_counted_as_words_before_stop_words_are_left_out():
    counter = DocumentCounter(stop_words=["dog", "the"], phrases=PHRASES)
    documents = ["The cat, dog!", ["dog", "cat"], Document("a", "Cat\ndog cat the dog")]
    found = counter.count(documents, JOINED).counts.toarray().tolist()
    assert found == [[0, 0, 1], [1, 0, 0], [1, 0, 1]]
    assert counter.tokens("a cat dog") == ["a", "cat dog"]


def test_a_vocabulary_without_the_phrase_keeps_its_words():
    counter = DocumentCounter(vocabulary=["cat", "dog"], phrases=PHRASES)
    assert counter.count(["cat dog"], JOINED).counts.toarray().tolist() == [[1, 1, 0]]


def test_phrases_are_looked_for_in_corpora_not_in_one_article():
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(200)]
    some = [
        " ".join(["the", *rng.choice(words, 4), "of", *rng.choice(words, 3)]) for _ in range(800)
    ]
    corpus = [f"{text} a {name} " for text in some for name in ("hedge fund", "hedge fund", "fund")]
    reading = read_corpus(iter(corpus), phrases=True)
    assert "hedge fund" in reading.counter.phrases
    assert reading.documents == corpus
    assert reading.token_lists[0][-2:] == ["a", "hedge fund"]
    assert [*map(len, reading.token_lists)][:3] == [11, 11, 11]
    for few in (corpus[:30], ["".join(corpus)]):
        assert not read_corpus(few).counter.phrases
    assert not read_corpus(corpus, phrases=False).counter.phrases


def test_texts_stripped_of_stop_words_have_no_phrases():
    rng = np.random.default_rng(1)
    fillers = [f"w{number}" for number in range(300)]
    stripped = [["neural", "network", *rng.choice(fillers, 10)] for _ in range(2000)]
    with_stop_words = [[*tokens, "the", "of"] for tokens in stripped]
    assert "neural network" in read_corpus(with_stop_words).counter.phrases
    assert not read_corpus(stripped).counter.phrases


def test_stop_words_of_the_corpus_are_found_before_phrases():
    rng = np.random.default_rng(0)
    words = [[f"{name}{number}" for number in range(60)] for name in ("sea", "law")]
    corpus = [[*rng.choice(words[n % 2], 30), *rng.choice(["di", "la"], 15)] for n in range(600)]
    reading = read_corpus(corpus, stop_words="corpus")
    assert reading.counter.stop_words == {"di", "la"}
    assert not any({"di", "la"} & set(each.split()) for each in reading.counter.phrases.phrases)


def test_a_matrix_has_neither_phrases_nor_stop_words():
    matrix = csr_array([[0, 1, 2]])
    reading = read_corpus(matrix, stop_words="corpus")
    assert reading.documents is matrix
    assert reading.counter.count(matrix, VECTORS).counts.sum() == 3


def test_document_weights_multiply_counts():
    counted = weighted(DocumentCounter().count(["cat cat", "dog"], VECTORS), [0.5, 3])
    assert counted.counts.toarray().tolist() == [[1, 0, 0], [0, 3, 0]]


def test_fractional_counts_are_weights():
    assert counts(csr_array([[0.5, 1, 0]])) == [[0.5, 1, 0]]


BAD = {
    "one str": ("cat dog", DataError, "put it in a list"),
    "no documents": ([], DataError, "corpus is empty"),
    "no rows": (csr_array((0, 3)), DataError, "corpus is empty"),
    "no text": ([None], DataError, "found NoneType in row 0"),
    "a number": (3, DataError, "found one int"),
    "negative": (csr_array([[1, 0, 0], [0, -2, 1]]), DataError, "negative; found -2 in row 1"),
    "NaN": (csr_array([[1, np.nan, 0]]), DataError, "finite; found nan in row 0"),
    "infinite": (np.array([[1, np.inf, 0]]), DataError, "finite; found inf in row 0"),
    "complex": (np.array([[1, 1j, 0]]), DataError, "numbers; found a matrix of complex128"),
    "other width": (csr_array([[1, 2]]), VocabularyMismatch, "2 columns .* found no vocabulary"),
}


@pytest.mark.parametrize(("documents", "error", "message"), BAD.values(), ids=BAD.keys())
def test_bad_documents_are_refused_with_one_clear_message(documents, error, message):
    with pytest.raises(error, match=message):
        TopicVec(1, VECTORS).fit(documents)


def test_a_vocabulary_of_another_length_is_refused():
    with pytest.raises(VocabularyMismatch, match=r"3 columns needs .* 3 words.* found 2 words"):
        TopicVec(1, VECTORS, vocabulary=["cat", "dog"]).fit(csr_array([[1, 2, 3]]))


def test_a_corpus_without_any_known_word_is_refused():
    with (
        pytest.warns(OutOfVocabularyWarning),
        pytest.raises(DataError, match="no document has a word with a vector"),
    ):
        TopicVec(1, VECTORS).fit(["yak gnu"])


def test_more_topics_than_distinct_words_are_lowered_with_a_warning():
    model = TopicVec(4, VECTORS, random_state=0)
    with pytest.warns(UserWarning, match="has 3 distinct words, so it gets 3 topics, not 4"):
        model.fit(["cat dog car"])
    assert model.n_topics_ == 3
    assert model.n_topics == 4  # what was asked for stays
    assert model.transform(["cat dog"]).shape == (1, 4)


BAD_PARAMETERS = {
    "n_topics": (0, "n_topics must be a whole number of at least 1"),
    "max_iter": (0, "max_iter must be a whole number of at least 1"),
    "alpha": (-1, "alpha must be positive"),
    "max_norm": (np.inf, "max_norm must be positive and finite"),
    "tol": (-1, "tol must be a number of at least 0"),
    "solver": ("magic", "solver must be"),
    "init": ("magic", "init must be"),
    "share": ("magic", "share must be"),
    "n_jobs": (0, "n_jobs must be"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_refused_at_fit(name):
    value, message = BAD_PARAMETERS[name]
    with pytest.raises(DataError, match=message):
        TopicVec(**{"n_topics": 1, "vectors": VECTORS, name: value}).fit(["cat dog car"])


@pytest.mark.parametrize("alpha", [[0.1, 0.2, 0.3], "magic", np.nan])
def test_alpha_must_fit_the_topics(alpha):
    with pytest.raises(DataError, match="alpha must be"):
        TopicVec(1, VECTORS, alpha=alpha).fit(["cat dog car"])


def test_learning_unknown_words_needs_texts():
    with pytest.raises(DataError, match="learned from texts or token lists"):
        learn_vectors(VECTORS, csr_array([[1, 2, 3]]))


BAD_SOLVERS = {
    "n_normalizer_words": (0.5, "n_normalizer_words must be a whole number of at least 1"),
    "max_passes": (0, "max_passes must be a whole number of at least 1"),
    "inner_tol": (np.nan, "inner_tol must be a number"),
}


@pytest.mark.parametrize("name", BAD_SOLVERS)
def test_a_bad_solver_is_refused(name):
    value, message = BAD_SOLVERS[name]
    with pytest.raises(DataError, match=message):
        Solver(**{name: value})


@pytest.mark.slow
def test_vectors_are_learned_for_frequent_unknown_words(planted):
    documents = [
        [token for known in tokens for token in (known, "newword")] if block == 0 else tokens
        for tokens, block in zip(planted.documents, planted.blocks, strict=True)
    ]
    documents[0].append("seldom")
    vectors = learn_vectors(planted.vectors, documents)
    model = TopicVec(4, vectors, random_state=0).fit(documents)
    assert model.vocabulary_[:-1] == planted.vectors.words
    assert model.vocabulary_[-1] == "newword"
    assert model.unknown_words_ == {"seldom": 1}
    cosines = planted.vectors.normalized().matrix @ model.vectors_["newword"]
    by_block = cosines[:60].reshape(4, 15).mean(axis=1)
    assert by_block.argmax() == 0
    assert model.transform(documents).shape == (60, 5)


def test_a_given_matrix_stays_as_it_is_and_may_be_read_only():
    given = csr_array(
        (np.array([1, 0, 2, 1, 3]), np.array([2, 0, 1, 1, 0]), np.array([0, 2, 5])), shape=(2, 3)
    )
    before = [given.data.copy(), given.indices.copy(), given.indptr.copy()]
    for array in (given.data, given.indices, given.indptr):
        array.flags.writeable = False
    model = TopicVec(1, VECTORS, random_state=0).fit(given)
    assert model.fitted_.word_counts.tolist() == [3, 3, 1]
    assert model.transform(given).shape == (2, 2)
    after = [given.data, given.indices, given.indptr]
    assert all(np.array_equal(old, new) for old, new in zip(before, after, strict=True))


def test_a_matrix_of_stored_zeros_is_refused():
    zeros = csr_array((np.zeros(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 3))
    with (
        pytest.warns(OutOfVocabularyWarning),
        pytest.raises(DataError, match="no document has a word with a vector"),
    ):
        TopicVec(1, VECTORS).fit(zeros)


def test_documents_of_weight_zero_have_no_words():
    model = TopicVec(1, VECTORS, random_state=0)
    model.fit(["cat dog", "car car"], document_weights=[1, 0])
    assert model.fitted_.word_counts.tolist() == [1, 1, 0]
    with pytest.raises(DataError, match="document_weights are zero for all documents"):
        model.fit(["cat dog", "car"], document_weights=[0, 0])


def test_a_data_frame_of_counts_is_a_matrix():
    assert counts(pandas.DataFrame([[0, 1, 2]])) == [[0, 1, 2]]


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_the_columns_of_a_data_frame_are_words(make):
    assert counts(make({"car": [3, 0], "yak": [1, 1], "cat": [0, 2]})) == [[0, 0, 3], [2, 0, 0]]


def test_a_data_frame_of_texts_is_refused_with_what_to_do():
    table = pandas.DataFrame({"id": [1, 2], "text": ["a cat" * 1000, "a dog"]})
    with pytest.raises(DataError, match=r"for texts give one column, such as table\[") as caught:
        TopicVec(1, VECTORS).fit(table)
    assert len(str(caught.value)) < 200  # not the whole text


def test_a_column_of_a_data_frame_is_a_list_of_texts():
    texts = ["cat dog", "car car"]
    expected = TopicVec(1, VECTORS, random_state=0).fit(texts).topic_vectors_
    for series in (pandas.Series(texts, index=[7, 3]), polars.Series(texts), np.array(texts)):
        found = TopicVec(1, VECTORS, random_state=0).fit(series)
        assert np.array_equal(found.topic_vectors_, expected)


def test_lists_of_numbers_are_counts():
    assert counts([[0, 1, 2]]) == [[0, 1, 2]]
    with pytest.raises(DataError, match="Reshape your data"):
        TopicVec(1, VECTORS).fit(np.array([1.0, 2.0]))


def test_numbers_of_numpy_are_numbers():
    model = TopicVec(
        np.int64(2), VECTORS, max_norm=np.float32(5), tol=np.float64(0.01),
        solver=Solver(n_normalizer_words=np.int64(2)), n_jobs=np.int64(1), random_state=0,
    ).fit(["cat dog car", "car cat"])  # fmt: skip
    assert type(model.fitted_.settings["n_normalizer_words"]) is int


@pytest.mark.parametrize("given", [{"max_norm": 3.0}, {"learn_alpha": True}])
def test_what_a_solver_does_not_decide_is_refused(given):
    with pytest.raises(DataError, match="give them there"):
        TopicVec(1, VECTORS, solver=Solver(**given)).fit(["cat dog car"])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_weights_beyond_the_arithmetic_are_refused(scale):
    with pytest.raises(DataError, match="scale them to numbers of words"):
        TopicVec(1, VECTORS).fit(csr_array([[1.0, 2.0, 3.0]]) * scale)


def many_texts():
    """Texts of 25 words, some of them in pairs that are phrases."""
    rng = np.random.default_rng(0)
    words = [f"w{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}" for n in range(100)]
    lines = [" ".join(rng.choice(words, 12)) for _ in range(6000)]
    return [f"the {line} of a hedge fund {n % 7 * 'Yak '}" for n, line in enumerate(lines)]


@pytest.mark.parametrize("learns", [True, False])
def test_any_number_of_processes_reads_the_same(monkeypatch, learns):
    monkeypatch.setattr("topicvec.text.counting._FEW_CHUNKS", 2)
    texts, found = many_texts(), []
    vectors = WordVectors(["hedge fund", "wak", "yak"], np.eye(3), [1, 1, 1])
    for n_jobs in (1, 2):
        stream = (Document(f"id{n}", text) for n, text in enumerate([*texts, "?"]))
        reading = read_corpus(stream, phrases=learns, cut=learns, n_jobs=n_jobs)
        found.append((reading, reading.bag(vectors)))
    (one, bag), (two, same) = found
    assert one.token_lists == two.token_lists
    assert one.counter.phrases == two.counter.phrases
    assert ("hedge fund" in two.counter.phrases) == learns
    np.testing.assert_array_equal(bag.counts.toarray(), same.counts.toarray())
    assert list(bag.unknown.items()) == list(same.unknown.items())
    assert (bag.n_tokens, bag.n_unknown, bag.empty_ids) == (
        same.n_tokens, same.n_unknown, same.empty_ids
    )  # fmt: skip


def test_the_words_of_a_reading_are_each_once_in_the_memory():
    first, second = read_corpus(["a wild yak", "the wild yak"]).token_lists
    assert first[1] is second[1]


def test_a_tokenizer_of_the_users_own_stays_in_this_process(monkeypatch):
    monkeypatch.setattr("topicvec.text.counting._FEW_CHUNKS", 1)
    seen = []
    read_corpus(["a wild yak", "a cow"], lambda text: seen.append(text) or text.split(), n_jobs=2)
    assert seen == ["a wild yak", "a cow"]


def test_a_text_is_no_longer_kept_than_its_chunk_when_a_stream_is_counted(monkeypatch):
    monkeypatch.setattr("topicvec.text.counting._CHUNK_DOCUMENTS", 5)
    alive = []

    class Counted(Document):
        __slots__ = ()

        def __del__(self):
            alive.append(-1)

    def stream():
        for n in range(400):
            alive.append(1)
            assert sum(alive) <= 60
            yield Counted(str(n), "cat")

    assert DocumentCounter().count(stream(), VECTORS).n_documents == 400

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from topicvec.embed import WordVectors, ZipfWarning, load_vectors
from topicvec.embed.load import _default
from topicvec.errors import (
    DataError,
    FormatError,
    MissingExtra,
    OutOfVocabularyWarning,
    VocabularyMismatch,
)
from topicvec.text.vocabulary import Vocabulary

WORDS = ["man", "king", "woman", "queen", "car"]
MATRIX = [[1, 0, 1], [1, 1, 1], [1, 0, -1], [1, 1, -1], [-1, 0, 0]]


@pytest.fixture
def royal():
    return WordVectors(WORDS, MATRIX, [5, 2, 4, 1, 3], {"corpus": "made up"})


def make(n_words=300, n_dims=20, seed=0):
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(n_words)]
    return WordVectors(words, rng.normal(size=(n_words, n_dims)), rng.random(n_words) + 0.01)


def test_the_record_holds_words_float32_vectors_and_probabilities_that_sum_to_one(royal):
    assert royal.words == tuple(WORDS)
    assert royal.matrix.dtype == np.float32
    assert royal.unigram.tolist() == [v / 15 for v in [5, 2, 4, 1, 3]]
    assert (len(royal), royal.n_dims, list(royal)) == (5, 3, WORDS)
    assert royal.metadata == {"corpus": "made up"}
    assert royal.with_metadata(year="2015").metadata == {"corpus": "made up", "year": "2015"}


def test_nothing_in_the_record_can_be_changed(royal):
    with pytest.raises(AttributeError):
        royal.words = ()
    for array in (royal.matrix, royal.unigram, royal["king"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        royal.metadata["corpus"] = "another"


def test_making_a_record_leaves_the_callers_array_writable():
    matrix = np.ones((1, 2), np.float32)
    vectors = WordVectors(["cat"], matrix, [1])
    assert np.shares_memory(vectors.matrix, matrix)
    matrix[0, 0] = 2


@pytest.mark.parametrize(
    ("words", "matrix", "unigram", "metadata", "message"),
    [
        ([], np.empty((0, 2)), [], {}, "at least one word"),
        (["a", "a"], [[1], [2]], [1, 1], {}, "'a' 2 times"),
        (["a", 7], [[1], [2]], [1, 1], {}, "found 7"),
        (["a"], [[1], [2]], [1], {}, r"1 rows.*found shape \(2, 1\)"),
        (["a"], [1], [1], {}, r"found shape \(1,\)"),
        (["a"], np.empty((1, 0)), [1], {}, r"found shape \(1, 0\)"),
        (["a", "b"], [[1], [np.nan]], [1, 1], {}, "nan or infinity in the vector of 'b'"),
        (["a", "b"], [[np.inf], [1]], [1, 1], {}, "nan or infinity in the vector of 'a'"),
        (["a"], [[1]], [1, 1], {}, r"found shape \(2,\)"),
        (["a", "b"], [[1], [2]], [1, 0], {}, "found 0.0 for 'b'"),
        (["a", "b"], [[1], [2]], [1, -1], {}, "found -1.0 for 'b'"),
        (["a", "b"], [[1], [2]], [1, np.nan], {}, "found nan for 'b'"),
        (["a"], [[1]], [1], {"year": 2015}, "'year': 2015"),
    ],
)
def test_a_bad_record_is_refused_with_its_reason(words, matrix, unigram, metadata, message):
    with pytest.raises(DataError, match=message):
        WordVectors(words, matrix, unigram, metadata)


def test_an_unknown_word_is_refused_with_words_like_it(royal):
    assert "queens" not in royal
    with pytest.raises(VocabularyMismatch, match="'queens' among 5 words: did you mean 'queen'"):
        royal["queens"]
    with pytest.raises(VocabularyMismatch, match="check spelling and letter case"):
        royal["zebra"]


def test_nearest_agrees_with_all_cosines_sorted():
    vectors = make()
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    cosines = unit @ unit[7]
    order = [i for i in np.argsort(-cosines) if i != 7][:5]
    found = vectors.nearest("w7", 5)
    assert [word for word, _ in found] == [f"w{i}" for i in order]
    np.testing.assert_allclose([cosine for _, cosine in found], cosines[order], rtol=1e-5)
    assert vectors.similarity("w7", found[0][0]) == pytest.approx(found[0][1], abs=1e-6)


def test_nearest_to_a_vector_keeps_the_word_itself(royal):
    assert royal.nearest(2 * royal["king"], 1) == [("king", pytest.approx(1))]
    assert len(royal.nearest("king", 100)) == 4


def test_nearest_can_be_restricted_to_the_most_frequent_words(royal):
    assert {word for word, _ in royal.nearest("queen", restrict=3)} == {"man", "woman", "car"}


def test_equal_cosines_come_in_the_order_of_the_words():
    vectors = WordVectors("abcd", [[1], [2], [3], [4]], [1] * 4)
    assert [word for word, _ in vectors.nearest("b", 2)] == ["a", "c"]


def test_a_vector_of_zeros_has_cosine_zero_with_everything():
    vectors = WordVectors("ab", [[0, 0], [1, 1]], [1, 1])
    assert vectors.nearest("b") == [("a", 0.0)]
    assert vectors.similarity("a", "b") == 0.0
    assert vectors.normalized()["a"].tolist() == [0, 0]


@pytest.mark.parametrize("query", [[1, 2], [[1, 2, 3]], [1, 2, np.nan]])
def test_a_query_of_the_wrong_shape_is_refused(royal, query):
    with pytest.raises(DataError, match="a vector of 3 finite numbers"):
        royal.nearest(query)


def test_asking_for_no_neighbours_is_refused(royal):
    with pytest.raises(DataError, match="n must be at least 1"):
        royal.nearest("king", 0)


@pytest.mark.parametrize("method", ["add", "mul"])
def test_analogies_are_solved_and_never_by_a_word_of_the_question(royal, method):
    found = royal.analogy("man", "king", "woman", n=9, method=method)
    assert [word for word, _ in found] == ["queen", "car"]


def test_an_analogy_score_follows_its_formula(royal):
    a, b, c = (royal.similarity("queen", word) for word in ("man", "king", "woman"))
    [(_, add)] = royal.analogy("man", "king", "woman")
    [(_, mul)] = royal.analogy("man", "king", "woman", method="mul")
    assert add == pytest.approx(b - a + c, rel=1e-5)
    assert mul == pytest.approx((b + 1) * (c + 1) / (a + 1.001), rel=1e-5)


def test_an_unknown_analogy_method_is_refused(royal):
    with pytest.raises(DataError, match="found 'div'"):
        royal.analogy("man", "king", "woman", method="div")


def test_a_subset_keeps_vectors_and_scales_probabilities(royal):
    some = royal.subset(["car", "man"])
    assert some.words == ("car", "man")
    assert some.matrix.tolist() == [[-1, 0, 0], [1, 0, 1]]
    assert some.unigram.tolist() == [3 / 8, 5 / 8]
    assert some.metadata == royal.metadata
    assert royal.subset(3).words == ("man", "woman", "car")
    with pytest.raises(VocabularyMismatch, match="'cow'"):
        royal.subset(["cow"])


def test_align_follows_a_vocabulary_and_names_the_missing_words(royal):
    vocabulary = Vocabulary.from_counts({"queen": 3, "cow": 2, "man": 1})
    vectors, kept, missing = royal.align(vocabulary)
    assert vectors.words == ("queen", "man")
    assert kept.tolist() == [0, 2]
    assert missing == ("cow",)
    with pytest.raises(VocabularyMismatch, match="none of the 1 words"):
        royal.align(["cow"])


def test_centred_vectors_have_a_weighted_mean_of_zero():
    centred = make().centred()
    np.testing.assert_allclose(centred.unigram @ centred.matrix, 0, atol=1e-6)


def test_normalized_vectors_have_length_one_even_if_tiny_or_huge():
    vectors = WordVectors("ab", [[1e-30, 1e-30], [1e30, 1e30]], [1, 1]).normalized()
    np.testing.assert_allclose(vectors.matrix, np.sqrt(0.5), rtol=1e-6)


def test_records_are_equal_by_content():
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(seed=1)
    assert make().with_metadata(a="b") == make()
    assert make() != "vectors"
    joined = WordVectors(["ab", "c"], [[1], [2]], [1, 1])
    assert joined != WordVectors(["a", "bc"], [[1], [2]], [1, 1])


def test_a_pickled_record_comes_back_equal_and_read_only(royal):
    copy = pickle.loads(pickle.dumps(royal))
    assert copy == royal
    assert copy.metadata == royal.metadata
    assert not copy.matrix.flags.writeable


def test_vectors_that_are_loaded_come_back_as_they_are(royal):
    assert load_vectors(royal) is royal
    assert load_vectors(royal, max_words=2).words == ("man", "king")
    again = load_vectors(royal, frequencies=dict.fromkeys(WORDS, 1))
    assert again.unigram.tolist() == [0.2] * 5


@pytest.fixture
def no_default():
    _default.cache_clear()
    yield
    _default.cache_clear()


@pytest.mark.usefixtures("no_default")
def test_the_default_vectors_load_or_say_that_they_are_missing(monkeypatch, tmp_path, royal):
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    with pytest.raises(FormatError, match="lacks its default vectors"):
        load_vectors()
    (tmp_path / "data").mkdir()
    royal.save(tmp_path / "data" / "default.safetensors")
    assert load_vectors() == load_vectors("default") == royal
    assert load_vectors(max_words=2).words == ("man", "king")


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "tiny.txt"
    path.write_text("cat 1 2\ndog 3 4\ncow 5 6\n")
    return path


def test_without_frequencies_zipfs_law_is_used_and_said(text):
    with pytest.warns(ZipfWarning, match="frequencies= .*corpus= ") as caught:
        vectors = load_vectors(text)
    np.testing.assert_allclose(vectors.unigram * 11 / 6, [1, 1 / 2, 1 / 3])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("separator", ["\t", " "])
def test_frequencies_come_from_a_file(text, tmp_path, separator):
    counts = tmp_path / "counts.txt"
    lines = [("dog", 1), ("cat", 2), ("bird", 8), ("cow", 1)]
    counts.write_text("".join(f"{word}{separator}{count}\n" for word, count in lines) + "\n")
    assert load_vectors(text, frequencies=counts).unigram.tolist() == [0.5, 0.25, 0.25]


def test_frequencies_come_from_a_corpus_or_a_vocabulary(text):
    corpus = [["cat", "dog"], ["cow", "cat", "sat"]]
    vocabulary = Vocabulary.from_documents(corpus)
    for source in (corpus, iter(corpus), vocabulary):
        assert load_vectors(text, corpus=source).unigram.tolist() == [0.5, 0.25, 0.25]


def test_words_without_frequency_get_half_of_the_smallest_and_are_reported(text):
    with pytest.warns(OutOfVocabularyWarning, match="2 of 3 words.*'dog', 'cow'.*counts 2,"):
        vectors = load_vectors(text, frequencies={"cat": 4, "cow": 0})
    assert vectors.unigram.tolist() == [0.5, 0.25, 0.25]


def test_given_frequencies_replace_those_of_the_file(royal, tmp_path):
    royal.save(tmp_path / "v.safetensors")
    vectors = load_vectors(tmp_path / "v.safetensors", frequencies=dict.fromkeys(WORDS, 1))
    assert vectors.unigram.tolist() == [0.2] * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frequencies": {"cat": 1}, "corpus": [["cat"]]}, "exclude each other"),
        ({"frequencies": {"cat": -1}}, "found -1 for 'cat'"),
        ({"frequencies": {"cat": float("nan")}}, "found nan for 'cat'"),
        ({"frequencies": {"Katze": 1}}, "none of the 3 words"),
        ({"corpus": ["the cat sat"]}, "found a text"),
        ({"max_words": 0}, "max_words must be at least 1"),
    ],
)
def test_bad_frequency_options_are_refused(text, options, message):
    with pytest.raises(DataError, match=message):
        load_vectors(text, **options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"cat 1\ndog\n", "line 2: expected word and count"),
        (b"cat 1\ndog many\n", "line 2: expected word and count"),
        (b"cat 1\ncat 2\n", "line 2: the word 'cat' stands there twice"),
        (b"cat 1\ncaf\xe9 2\n", "line 2: .*not utf-8"),
        (b"", "empty"),
    ],
)
def test_a_bad_frequency_file_is_refused_with_its_line(text, tmp_path, content, message):
    path = tmp_path / "counts.txt"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        load_vectors(text, frequencies=path)


def test_gensim_vectors_are_taken_over_with_their_counts(royal):
    pytest.importorskip("gensim")
    keyed = royal.to_gensim()
    assert keyed.index_to_key == WORDS
    assert keyed.get_vecattr("man", "count") == round(1e12 / 3)
    again = WordVectors.from_gensim(keyed)
    assert again.matrix.tobytes() == royal.matrix.tobytes()
    np.testing.assert_allclose(again.unigram, royal.unigram, atol=1e-11)


def test_counts_that_gensim_made_up_are_not_believed(royal, tmp_path):
    models = pytest.importorskip("gensim.models")
    royal.save(tmp_path / "v.bin")
    keyed = models.KeyedVectors.load_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    assert keyed.get_vecattr("man", "count") == 5
    with pytest.warns(ZipfWarning):
        WordVectors.from_gensim(keyed)


def test_gensim_vectors_without_counts_or_with_bad_numbers_are_noticed():
    keyed = SimpleNamespace(index_to_key=["cat"], vectors=[[np.nan]], expandos={})
    with pytest.raises(DataError, match="the vector of 'cat'"):
        WordVectors.from_gensim(keyed, frequencies={"cat": 1})
    keyed.vectors = [[1.0]]
    with pytest.warns(ZipfWarning):
        WordVectors.from_gensim(keyed)


def test_something_else_than_gensim_vectors_is_refused():
    with pytest.raises(FormatError, match="found SimpleNamespace"):
        WordVectors.from_gensim(SimpleNamespace())
    for half in ({"index_to_key": ["cat"]}, {"vectors": [[1.0]]}):
        with pytest.raises(FormatError, match="found SimpleNamespace"):
            WordVectors.from_gensim(SimpleNamespace(**half))


def test_without_gensim_the_message_says_how_to_install_it(royal, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with pytest.raises(MissingExtra, match=r'pip install "topicvec\[gensim\]"'):
        royal.to_gensim()


def test_the_mean_does_not_depend_on_the_threads_of_the_first_who_asks():
    rng = np.random.default_rng(0)
    table, counts = rng.normal(size=(20_000, 50)), rng.integers(1, 100, 20_000)
    words = [f"w{row}" for row in range(20_000)]
    with threadpool_limits(2, "blas"):
        first = WordVectors(words, table, counts).mean
    with threadpool_limits(1, "blas"):
        second = WordVectors(words, table, counts).mean
    assert np.array_equal(first, second)
    assert not first.flags.writeable

"""Vectors of other programs are brought to the scale that the link function means."""

from types import SimpleNamespace

import numpy as np
import pytest
from gensim.models import FastText, Word2Vec

from topicvec import PSDVec, TopicVec, WordVectors, load_vectors
from topicvec.embed.scale import spread_of, to_scale
from topicvec.errors import DataError

N_BLOCKS, N_WORDS, N_DIMS = 6, 100, 40


@pytest.fixture(scope="module")
def vectors():
    """Words of six subjects, on the scale of log ratios."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_BLOCKS, N_DIMS)) / np.sqrt(N_DIMS)
    matrix = np.repeat(centres, N_WORDS, axis=0) + 0.1 * rng.normal(size=(600, N_DIMS))
    plain = WordVectors([f"word{row}" for row in range(600)], matrix, np.ones(600))
    return WordVectors(plain.words, matrix * 0.26 / spread_of(plain), plain.unigram)


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(1)
    own = [N_WORDS * (row % N_BLOCKS) + rng.integers(0, N_WORDS, 30) for row in range(120)]
    other = rng.integers(0, 600, (120, 10))
    return [[f"word{word}" for word in [*a, *b]] for a, b in zip(own, other.tolist(), strict=True)]


def stretched(vectors, factor):
    return WordVectors(vectors.words, factor * vectors.matrix, vectors.unigram)


def shares_of(vectors, documents):
    model = TopicVec(6, vectors, own_words=False, random_state=0).fit(documents)
    return sorted((topic.share for topic in model.topics_), reverse=True)


@pytest.mark.parametrize("factor", [0.01, 5, 300])
def test_vectors_of_any_length_give_the_same_topics(vectors, documents, factor):
    expected = shares_of(vectors, documents)
    assert expected[0] < 0.3
    found = shares_of(stretched(vectors, factor), documents)
    assert found == pytest.approx(expected, abs=0.02)


def test_vectors_of_the_right_scale_are_left_as_they_are(vectors):
    assert to_scale(vectors) is vectors
    for factor in (0.6, 1.9):
        assert to_scale(given := stretched(vectors, factor)) is given
    assert to_scale(load_vectors()) is load_vectors()
    assert spread_of(load_vectors()) == pytest.approx(0.26, abs=0.01)


def test_scaling_says_what_it_did_and_is_done_once(vectors, caplog):
    with caplog.at_level("INFO", "topicvec"):
        scaled = to_scale(stretched(vectors, 10))
    assert "multiplied by 0.1" in caplog.text
    assert scaled.metadata["scaled"] == "0.1"
    assert to_scale(scaled) is scaled
    np.testing.assert_allclose(scaled.matrix, vectors.matrix, rtol=1e-3)


def test_vectors_that_all_point_one_way_are_told(vectors, documents):
    pull = 10 * np.abs(vectors.matrix).max() * np.ones(N_DIMS)
    collapsed = WordVectors(vectors.words, vectors.matrix + pull, vectors.unigram)
    with pytest.warns(UserWarning, match=r"nearly all the same way \(mean cosine 1\.00\), as"):
        TopicVec(2, collapsed, random_state=0).fit(documents)


def test_few_words_and_vectors_of_psdvec_are_left_as_they_are(vectors):
    few = stretched(vectors, 100).subset(499)
    assert to_scale(few) is few
    own = stretched(vectors, 100).with_metadata(method="PSDVec")
    assert to_scale(own) is own
    trained = PSDVec(2, min_count=1).fit(["cat dog", "car bus"] * 5).vectors_
    assert "PSDVec" in trained.metadata["method"]


def test_a_model_saved_without_its_vectors_takes_them_as_they_were_given(
    vectors, documents, tmp_path
):
    long = stretched(vectors, 20)
    model = TopicVec(6, long, random_state=0).fit(documents)
    model.save(tmp_path / "a.topicvec", embed_vectors=False)
    again = TopicVec.load(tmp_path / "a.topicvec", vectors=long)
    assert np.array_equal(again.transform(documents), model.transform(documents))


@pytest.fixture(scope="module")
def sentences(documents):
    return documents * 4


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [Word2Vec, FastText])
@pytest.mark.parametrize("sg", [0, 1])
def test_vectors_of_gensim_give_no_giant_topic(sentences, documents, kind, sg):
    more = {"bucket": 1000} if kind is FastText else {}
    trained = kind(
        sentences, vector_size=30, min_count=1, sg=sg, epochs=20, workers=1, seed=1, **more
    )
    for given in (trained, trained.wv):
        model = TopicVec(6, given, random_state=0).fit(documents)
        assert max(topic.share for topic in model.topics_) < 0.4


def glove(documents, n_dims=30, n_steps=150):
    """Train GloVe's vectors by AdaGrad on all pairs of words at once; give word plus context."""
    words = sorted({word for document in documents for word in document})
    place = {word: row for row, word in enumerate(words)}
    counts = np.zeros((len(words), len(words)))
    for document in documents:
        rows = [place[word] for word in document]
        for number, row in enumerate(rows):
            for distance, other in enumerate(rows[number + 1 : number + 6], 1):
                counts[[row, other], [other, row]] += 1 / distance
    seen = counts > 0
    logs, weights = np.log(np.where(seen, counts, 1)), seen * np.minimum(1, counts / 10) ** 0.75
    rng = np.random.default_rng(0)
    sides = [rng.uniform(-0.5, 0.5, (len(words), n_dims + 2)) / n_dims for _ in range(2)]
    sides[0][:, -1] = sides[1][:, -2] = 1  # beside the bias of the other side
    squares = [np.ones_like(side) for side in sides]
    for _ in range(n_steps):
        wrong = weights * (sides[0] @ sides[1].T - logs)
        slopes = [wrong @ sides[1], wrong.T @ sides[0]]
        slopes[0][:, -1] = slopes[1][:, -2] = 0
        for side, square, slope in zip(sides, squares, slopes, strict=True):
            square += slope**2
            side -= 0.5 * slope / np.sqrt(square)
    return words, sides[0][:, :n_dims] + sides[1][:, :n_dims]


@pytest.mark.filterwarnings("ignore:.*come without word frequencies")
@pytest.mark.parametrize("factor", [1, 10])
def test_vectors_of_glove_in_a_file_of_theirs_give_no_giant_topic(documents, tmp_path, factor):
    words, matrix = glove(documents)
    path = tmp_path / "glove.txt"
    lines = (
        f"{word} {' '.join(map(str, row))}\n"
        for word, row in zip(words, factor * matrix.round(5), strict=True)
    )
    path.write_text("".join(lines))
    model = TopicVec(6, str(path), random_state=0).fit(documents)
    assert max(topic.share for topic in model.topics_) < 0.4


def test_a_mapping_of_words_is_vectors(vectors, documents):
    mapping = {word: vectors[word] for word in vectors}
    frequencies = dict.fromkeys(mapping, 1)
    assert load_vectors(mapping, frequencies=frequencies) == vectors
    with pytest.warns(UserWarning, match="come without word frequencies"):
        model = TopicVec(6, mapping, random_state=0).fit(documents)
    assert model.vectors_.words == vectors.words
    with pytest.raises(DataError, match=r"vectors of one length; found shapes \(1,\), \(2,\)"):
        load_vectors({"cat": [1.0], "dog": [1.0, 2.0]})
    with pytest.raises(DataError, match="found shapes no word"):
        load_vectors({})


def test_what_holds_no_vectors_is_told(vectors):
    with pytest.raises(DataError, match="a mapping of words to vectors; found int"):
        TopicVec(2, vectors=3).fit(["a text"])


class Vocab:
    """What is used of a vocabulary of spaCy, which is too large to install for one test."""

    def __init__(self):
        self.strings = {}
        self.vectors = SimpleNamespace(key2row={}, data=np.empty((0, N_DIMS), np.float32))

    def set_vector(self, word, vector):
        self.strings[hash(word)] = word
        self.vectors.key2row[hash(word)] = len(self.vectors.data)
        self.vectors.data = np.vstack([self.vectors.data, vector])


def blank(kind):
    if kind == "stand-in":
        return SimpleNamespace(vocab=Vocab())
    return pytest.importorskip("spacy").blank("en")


@pytest.mark.parametrize("kind", ["stand-in", "spacy"])
def test_vectors_of_spacy_are_taken_over(vectors, documents, kind):
    nlp = blank(kind)
    with pytest.raises(DataError, match="has no word vectors: load one that has"):
        load_vectors(nlp)
    for word in vectors:
        nlp.vocab.set_vector(word, vectors[word])
    frequencies = dict.fromkeys(vectors.words, 1)
    for given in (nlp, nlp.vocab):
        found = load_vectors(given, frequencies=frequencies)
        assert set(found.words) == set(vectors.words)
        assert np.array_equal(found["word7"], vectors["word7"])

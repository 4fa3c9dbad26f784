"""The words of the text at hand: vectors that learn from it, and none of its words is lost."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec.datasets import sample_corpus
from topicvec.embed import adapt
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError, FormatError, OutOfVocabularyWarning
from topicvec.model import choose_n_topics
from topicvec.model.counts import read_corpus
from topicvec.model.topicvec import TopicVec
from topicvec.model.words import CORPUS_TOKENS, text_vectors

ENGINE = LocalEngine(1)
SUBJECTS = [
    "gatto cane coniglio criceto veterinario zampa",
    "mare spiaggia onda vela scoglio marea",
    "treno binario stazione biglietto vagone ritardo",
]
FILLER = "molto sempre anche ancora"
NEW = "zorblax", "quixelor", "vantrel", "mupidon"
ARTICLE = (
    "The drug Daraprim treats toxoplasmosis, an infection that patients with weak immunity get. "
    "Shkreli raised the price of Daraprim; the company of Shkreli bought the drug from a rival. "
    "Doctors prescribe Daraprim to patients, and hospitals pay the price that Shkreli asks. "
    "Investors and the stock market watched the company, its shares and its debt."
)


def texts(n_each=40, seed=0):
    """Documents of a subject each, in a language that the general vectors do not know."""
    rng = np.random.default_rng(seed)
    subjects = [subject.split() for subject in SUBJECTS]
    found = [
        " ".join(rng.permutation([*rng.choice(words, 8), *rng.choice(FILLER.split(), 3)]))
        for words in subjects
        for _ in range(n_each)
    ]
    return found, np.repeat(range(len(SUBJECTS)), n_each)


def fit(**params):
    documents, subjects = texts()
    model = TopicVec(3, "corpus", random_state=0, **params).fit(iter(documents))
    return model, documents, subjects


# vectors from the documents alone


def test_topics_of_another_language_are_found():
    model, _, subjects = fit()
    main = model.doc_topic_[:, 1:].argmax(axis=1)
    for subject in range(3):
        assert len(set(main[subjects == subject])) == 1
    assert len(set(main)) == 3
    assert set(model.vocabulary_) == {*" ".join(SUBJECTS).split(), *FILLER.split()}
    assert not model.unknown_words_


def test_the_same_bits_for_any_number_of_workers():
    first, other = fit(n_jobs=1)[0], fit(n_jobs=2)[0]
    assert first.vectors_ == other.vectors_
    assert np.array_equal(first.topic_vectors_, other.topic_vectors_)


def test_a_saved_model_brings_its_vectors(tmp_path):
    model, documents, _ = fit()
    model.save(tmp_path / "model.topicvec")
    loaded = TopicVec.load(tmp_path / "model.topicvec")
    assert loaded.vectors_ == model.vectors_
    assert loaded.vectors == "corpus"
    assert np.array_equal(loaded.transform(documents), model.transform(documents))


def test_later_batches_keep_the_vectors_of_the_first():
    documents, _ = texts()
    model = TopicVec(3, "corpus", random_state=0).partial_fit(documents[::2])
    vectors = model.vectors_
    assert model.partial_fit(documents[1::2]).vectors_ is vectors


def test_numbers_of_topics_are_tried_on_the_same_vectors():
    documents, _ = texts()
    choice = choose_n_topics(
        documents, [1, 3], model=TopicVec(vectors="corpus", tol=1e-2), random_state=0
    )
    assert choice.best == 3


def test_stop_words_get_no_vector():
    documents, _ = texts()
    found = text_vectors("corpus", read_corpus(documents, stop_words=FILLER.split()), ENGINE)
    assert set(found.words) == set(" ".join(SUBJECTS).split())


def test_words_of_a_subject_are_neighbours():
    documents, _ = texts()
    found = text_vectors("corpus", read_corpus(documents), ENGINE)
    for subject in SUBJECTS:
        first, *others = subject.split()
        assert {word for word, _ in found.nearest(first, 5)} == set(others)


def test_too_little_text_is_refused_with_advice():
    with pytest.raises(DataError, match=r"found 0: use vectors='general'"):
        TopicVec(2, "corpus").fit(["one short article about rain"])


@pytest.fixture(scope="module")
def blocks():
    """Counts of 40 words in four blocks; each document has words of one block."""
    rng = np.random.default_rng(0)
    rates = np.kron(np.eye(4), np.ones((15, 10)))
    return rng.poisson(1.5 * rates + 0.02)


def test_vectors_are_learned_from_counts_of_any_language(blocks):
    words = [f"parola{number}" for number in range(40)]
    model = TopicVec(4, "corpus", vocabulary=words, random_state=0).fit(blocks)
    assert model.vectors_.words == tuple(words)
    found = [{words.index(word) // 10 for word, _ in t.words[:8]} for t in model.topics_[:4]]
    assert sorted(map(sorted, found)) == [[0], [1], [2], [3]]


def test_columns_without_words_are_numbered_with_a_warning(blocks, tmp_path):
    with pytest.warns(UserWarning, match="the 40 columns have no words, so they are called x0"):
        model = TopicVec(4, random_state=0).fit(csr_array(blocks))
    assert model.vectors_.words[:2] == ("x0", "x1")
    main = model.transform(blocks).argmax(axis=1).reshape(4, 15)
    assert (main == main[:, :1]).all()
    assert len(set(main[:, 0])) == 4
    model.save(tmp_path / "a.topicvec")
    again = TopicVec.load(tmp_path / "a.topicvec").transform(blocks)
    assert np.array_equal(again, model.transform(blocks))


def test_one_column_has_nothing_to_stand_beside():
    with pytest.raises(DataError, match="two columns or more"):
        TopicVec(2, "corpus").fit(csr_array([[1], [2]]))


# what may be given


def test_a_text_without_new_words_has_the_general_vectors():
    general, default = (TopicVec(1, vectors, random_state=0) for vectors in ("general", None))
    text = ["rain and wind and snow and sun"]
    assert general.fit(text).vectors_ is default.fit(text).vectors_ is load_vectors()


def test_general_vectors_stay_as_they_are_for_any_text():
    reading = read_corpus([ARTICLE])
    assert text_vectors("general", reading, ENGINE) is load_vectors()
    model = TopicVec(2, "general", random_state=0).fit([ARTICLE])
    assert {"daraprim", "shkreli"} <= set(model.unknown_words_)


def test_vectors_that_are_given_are_used_as_they_are(tmp_path):
    given = WordVectors(["rain", "wind", "bank"], np.diag([2.0, 2, 2]), [3, 2, 1])
    given.save(tmp_path / "some.safetensors")
    keyed = SimpleNamespace(
        index_to_key=list(given.words),
        vectors=given.matrix,
        expandos={"count": None},
        get_vecattr=lambda word, _: {"rain": 300, "wind": 200, "bank": 100}[word],
    )
    for vectors in (
        given,
        tmp_path / "some.safetensors",
        str(tmp_path / "some.safetensors"),
        keyed,
    ):
        model = TopicVec(1, vectors, random_state=0).fit(["rain wind rain", "bank bank daraprim"])
        assert model.vectors_ == given
        assert model.unknown_words_ == {"daraprim": 1}
        assert not model.phrases_


def test_a_matrix_of_counts_has_general_vectors():
    words = ["rain", "wind", "bank", "money"]
    counts = csr_array([[3, 2, 0, 0], [0, 0, 2, 3]])
    model = TopicVec(1, vocabulary=words, random_state=0).fit(counts)
    assert model.vectors_ is load_vectors()


# a short text


@pytest.fixture(scope="module")
def article():
    return TopicVec(3, random_state=0).fit([ARTICLE])


def test_no_word_of_an_article_is_lost(article):
    assert not article.unknown_words_
    assert {"daraprim", "shkreli"} <= set(article.vocabulary_)
    general, n = load_vectors(), len(load_vectors())
    assert article.vocabulary_[:n] == general.words
    assert np.array_equal(article.vectors_.matrix[:n], general.matrix)
    assert article.vectors_.unigram.sum() == pytest.approx(1)


def test_new_words_are_among_the_words_of_topics(article):
    readable = {word for topic in article.topics_ for word, _ in topic.words}
    assert {"daraprim", "shkreli"} <= readable


def test_numbers_and_signs_get_no_vector():
    model = TopicVec(1, random_state=0, tokenizer=str.split)
    model.fit(["rain wind snow 12345678 rain wind storm zorblax"])
    assert set(model.unknown_words_) == {"12345678"}


def test_a_saved_article_is_small_and_the_same(article, tmp_path):
    path = tmp_path / "article.topicvec"
    article.save(path)
    assert path.stat().st_size < 5e6
    loaded = TopicVec.load(path)
    assert loaded.vectors_ == article.vectors_
    assert loaded.vectors is None
    assert np.array_equal(loaded.transform([ARTICLE]), article.transform([ARTICLE]))


# a corpus


def corpus(n_tokens=12_000, seed=0, length=40):
    """Documents of general words in four subjects of their own making, with a new word each."""
    rng = np.random.default_rng(seed)
    general = [word for word in load_vectors().words[400:1400] if word.isalpha()]
    subjects = [general[number::4][:120] for number in range(4)]
    return [
        [*rng.choice(subjects[number % 4], length - 1).tolist(), NEW[number % 4]]
        for number in range(n_tokens // length)
    ]


@pytest.fixture(scope="module")
def large():
    return TopicVec(4, stop_words=None, random_state=0).fit(corpus())


@pytest.mark.parametrize(("n_tokens", "adapted"), [(CORPUS_TOKENS - 1, 0), (CORPUS_TOKENS, 1)])
def test_a_corpus_of_ten_thousand_words_adapts_the_vectors(n_tokens, adapted):
    tokens = [token for document in corpus(12_000) for token in document][:n_tokens]
    documents = [[*tokens[start : start + 50], "of", "the"] for start in range(0, n_tokens, 50)]
    found = text_vectors(None, read_corpus(documents, stop_words=["of", "the"]), ENGINE)
    assert (found.n_dims > load_vectors().n_dims) == bool(adapted)
    assert "zorblax" in found


def test_one_long_text_is_no_corpus():
    tokens = [token for document in corpus() for token in document]
    found = text_vectors(None, read_corpus([tokens], stop_words=None), ENGINE)
    assert found.n_dims == load_vectors().n_dims


def test_probabilities_are_those_of_the_corpus(large):
    vectors, documents = large.vectors_, corpus()
    tokens = [token for document in documents for token in document]
    words, times = np.unique(tokens, return_counts=True)
    shares = vectors.unigram[[vectors.ids[word] for word in words]]
    assert vectors.unigram.sum() == pytest.approx(1)
    assert (vectors.unigram > 0).all()
    np.testing.assert_allclose(shares / shares.sum(), times / len(tokens), rtol=1e-9)
    left = max((times == 1).sum(), 1) / len(tokens)  # Good and Turing
    assert shares.sum() == pytest.approx(1 - left)
    assert large.topic_word_.sum(axis=0) == pytest.approx(1, rel=1e-5)


def test_new_words_of_a_corpus_lie_in_their_subject(large):
    assert not large.unknown_words_
    main = large.doc_topic_.argmax(axis=1)
    for number, word in enumerate(NEW):
        right = np.bincount(main[number::4]).argmax()
        assert large.topic_word_[large.vectors_.ids[word]].argmax() == right


def test_adapted_vectors_are_general_ones_beside_what_the_corpus_adds(large):
    general, n = load_vectors(), len(load_vectors())
    scale = float(large.vectors_.metadata["scale"])
    part = large.vectors_.matrix[:n:97, : general.n_dims]
    centred = general.matrix[::97] - general.mean
    np.testing.assert_allclose(part, np.float32(scale) * centred, atol=1e-5)
    assert np.sqrt(0.1) - 1e-6 <= scale / float(adapt._SCALE) <= 1 + 1e-6


def test_a_saved_corpus_holds_what_it_learned_and_not_the_general_vectors(large, tmp_path):
    path = tmp_path / "model.topicvec"
    large.save(path)
    assert path.stat().st_size < load_vectors().matrix.nbytes / 20
    loaded, documents = TopicVec.load(path), corpus(2_000, seed=5)
    assert loaded.vectors_ == large.vectors_
    assert np.array_equal(loaded.topic_word_, large.topic_word_)
    assert np.array_equal(loaded.transform(documents), large.transform(documents))
    again = TopicVec.load(path)
    for each in (loaded, again):
        each.partial_fit([*documents, ["brontiqua"] * 3])
    assert "brontiqua" in loaded.vectors_
    assert np.array_equal(loaded.topic_vectors_, again.topic_vectors_)


def test_words_that_never_stand_beside_another_do_no_harm(tmp_path):
    alone = [[word] for word in load_vectors().words[3000:3060]] * 2
    model = TopicVec(4, stop_words=None, random_state=0).fit([*corpus(10_000), *alone])
    model.save(tmp_path / "model.topicvec")
    assert TopicVec.load(tmp_path / "model.topicvec").vectors_ == model.vectors_


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("places", lambda places: places + 200_000),
        ("places", lambda places: places - places.max() - 1),
        ("places", lambda places: places[:-1]),
        ("places", lambda places: places.astype(np.float32)),
        ("rows", lambda rows: rows[:, 1:]),
        ("mean", lambda mean: mean[1:]),
    ],
)
def test_a_damaged_part_of_the_vectors_is_refused(large, tmp_path, name, damage, craft):
    path = tmp_path / "model.topicvec"
    large.save(path)
    craft(path, **{f"vectors__{name}": damage})
    with pytest.raises(FormatError, match=r"vectors\.\w+: expected"):
        TopicVec.load(path)


def test_the_corpus_gives_the_same_bits_for_any_number_of_workers(large):
    other = TopicVec(4, stop_words=None, random_state=0, n_jobs=1).fit(corpus())
    assert other.vectors_ == large.vectors_
    assert np.array_equal(other.topic_vectors_, large.topic_vectors_)


# later batches


def test_new_words_of_a_batch_come_in_and_old_vectors_stay():
    documents = corpus()
    model = TopicVec(4, stop_words=None, random_state=0).partial_fit(documents)
    old, mass = model.vectors_, model.fitted_.mass.sum()
    batch = [[*tokens, "brontiqua", "brontiqua"] for tokens in documents[:40:4]]
    model.partial_fit([*batch, ["seenonce", "zorblax"]])
    assert model.vectors_.words == (*old.words, "brontiqua")
    assert np.array_equal(model.vectors_.matrix[: len(old)], old.matrix)
    assert set(model.unknown_words_) == {"seenonce"}
    assert model.fitted_.mass.sum() > mass
    assert model.topic_word_.sum(axis=0) == pytest.approx(1, rel=1e-5)
    main = model.transform(documents[:40:4]).sum(axis=0).argmax()
    assert model.topic_word_[-1].argmax() == main


def test_each_batch_gives_new_words_vectors_when_the_first_had_none(tmp_path):
    first = ["rain wind snow sun storm cloud weather", "bank money credit loan interest market"]
    model = TopicVec(2, random_state=0).partial_fit(first)
    assert model.vectors_ is load_vectors()
    model.partial_fit(["rain zorblax wind zorblax storm cloud"])
    model.save(tmp_path / "model.topicvec")
    assert (tmp_path / "model.topicvec").stat().st_size < 5e6
    for each in (model, TopicVec.load(tmp_path / "model.topicvec")):
        each.partial_fit(["bank quixelor money quixelor credit loan"])
        assert each.vocabulary_[-2:] == ("zorblax", "quixelor")
        assert np.linalg.norm(each.vectors_.matrix[-2:], axis=1).min() > 0.5
        near = [word for word, _ in each.vectors_.nearest("quixelor", 50)]
        assert {"bank", "money", "credit", "loan"} & set(near)


# phrases and stop words


def running(n_documents=700, seed=0):
    """Texts with stop words, in which hedge fund is a phrase."""
    rng = np.random.default_rng(seed)
    general = [word for word in load_vectors().words[400:1400] if word.isalpha()]
    ends = "of a hedge fund and the", "of the fund and a"
    return [
        f"the {' '.join(rng.choice(general[n % 2 :: 2], 25))} {ends[n % 5 == 4]}"
        for n in range(n_documents)
    ]


def test_phrases_are_words_of_the_model_and_of_the_saved_one(tmp_path):
    model = TopicVec(3, random_state=0, tol=1e-2).fit(running())
    assert "hedge fund" in model.phrases_
    assert "hedge fund" in model.vectors_
    model.save(tmp_path / "model.topicvec")
    loaded = TopicVec.load(tmp_path / "model.topicvec")
    assert loaded.phrases_ == model.phrases_
    for each in (model, loaded):
        assert "hedge fund" in [record.token for record in each.responsibilities("a hedge fund")]
    batch = ["a hedge fund of zorblax and the zorblax"]
    row = model.vectors_.ids["hedge fund"]
    before = loaded.fitted_.word_counts[row]
    assert loaded.partial_fit(batch).fitted_.word_counts[row] == before + 1


def test_a_second_fit_reads_texts_without_the_phrases_of_the_first():
    model = TopicVec(3, random_state=0, tol=1e-2).fit(running())
    assert "hedge fund" in [record.token for record in model.responsibilities("a hedge fund")]
    model.set_params(phrases=False).fit(running())
    assert "hedge fund" not in [record.token for record in model.responsibilities("a hedge fund")]


def test_phrases_can_be_switched_off():
    model = TopicVec(3, phrases=False, random_state=0, tol=1e-2).fit(running())
    assert not model.phrases_
    assert "hedge fund" not in model.vectors_


def test_stop_words_of_the_corpus_are_saved_and_used_after_loading(tmp_path):
    documents, _ = texts(n_each=400)
    model = TopicVec(3, "corpus", stop_words="corpus", random_state=0).fit(documents)
    assert set(FILLER.split()) == set(model.fitted_.settings["stop_words"])
    assert not set(FILLER.split()) & set(model.vocabulary_)
    model.save(tmp_path / "model.topicvec")
    loaded = TopicVec.load(tmp_path / "model.topicvec")
    assert loaded.stop_words == "corpus"
    assert np.array_equal(loaded.transform(documents[:9]), model.transform(documents[:9]))
    loaded.partial_fit(["molto molto gatto cane", "molto sempre mare onda"])
    assert "molto" not in loaded.vectors_


# what a text cannot tell


def test_a_corpus_of_one_word_adapts_nothing():
    reading = read_corpus(["cat"] * CORPUS_TOKENS)
    assert text_vectors(None, reading, ENGINE) is load_vectors()


def test_a_corpus_in_which_no_word_comes_again_keeps_them_all():
    tokens = np.array([f"w{number}" for number in range(CORPUS_TOKENS)]).reshape(100, -1)
    with pytest.warns(OutOfVocabularyWarning, match="not in the general vectors"):
        vectors = text_vectors(None, read_corpus(tokens.tolist()), ENGINE)
    assert "w7" in vectors


def test_another_language_is_said_although_its_words_get_vectors():
    documents, _ = texts(4)
    hint = r"% of the words are not in the general vectors.*--vectors corpus.*--stop-words"
    with pytest.warns(OutOfVocabularyWarning, match=hint):
        model = TopicVec(2, random_state=0).fit(documents)
    assert not model.unknown_words_


def test_names_of_an_english_article_are_no_other_language():
    assert "daraprim" in text_vectors(None, read_corpus([ARTICLE]), ENGINE)


@pytest.mark.parametrize(("given", "found"), [("corpus", "occurs twice"), ("general", "default")])
def test_the_hint_does_not_name_what_is_in_use(given, found):
    seldom = [f"seldomly{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"]
    documents = [" ".join(["cat dog", *texts(4)[0], *seldom])]
    with pytest.warns(OutOfVocabularyWarning, match=f"unknown, most often: .*; .*{found}"):
        TopicVec(2, given, random_state=0).fit(documents)


@pytest.mark.parametrize("given", [None, "general"])
def test_a_pickle_has_only_what_was_learned_beside_the_embedded_vectors(given):
    model = TopicVec(4, given, random_state=0).fit(sample_corpus())
    assert len(model.topic_word_) == len(model.vectors_)  # is made again, not written
    written = pickle.dumps(model)
    assert len(written) < 4_000_000  # beside the 160 MB of the vectors
    again = pickle.loads(written)
    assert again.vectors_ == model.vectors_
    assert again.vectors_.metadata == model.vectors_.metadata
    assert np.array_equal(
        again.transform(["rain on the sea"]), model.transform(["rain on the sea"])
    )
    assert copy.deepcopy(model).vectors_ is model.vectors_


def test_a_pickle_that_rests_on_other_embedded_vectors_is_refused():
    restored, (_, learned) = load_vectors().__reduce__()
    with pytest.raises(FormatError, match="of another version of topicvec"):
        restored("another hash", learned)


def test_a_part_of_the_embedded_vectors_is_pickled_itself():
    few = load_vectors().subset(["rain", "sea"])
    assert pickle.loads(pickle.dumps(few)) == few

"""A fit of a prepared corpus leaves it in its files, and finds the topics of texts to the bit."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import numpy as np
import pytest

from topicvec import TopicVec, datasets, load_vectors
from topicvec.engine import InPlace, LocalEngine
from topicvec.errors import DataError, EngineError, FormatError
from topicvec.model import choose_n_topics, state, stored, streamed
from topicvec.model.start import document_points, used_words
from topicvec.model.state import Corpus, cut_growing
from topicvec.text import Document, PreparedCorpus, prepare, prepared

pytestmark = pytest.mark.filterwarnings("ignore:not converged", "ignore:.*words are unknown")

PHRASES = ["a hedge fund", "the grumble shire railway"]
GIVEN = {"n_topics": 6, "random_state": 0, "max_iter": 12, "tol": 0}


def texts():
    """Each document of the sample corpus, and halves of two put together; the last has no word."""
    own = datasets.sample_corpus()
    mixed = [
        Document(
            f"mixed-{i}", f"{one.text[:400]} a {PHRASES[i % 2]}. {other.text[-300:]}", one.label
        )
        for i, (one, other) in enumerate(zip(own, own[7:] + own[:7], strict=True))
    ]
    return [*own, *mixed, Document("empty", "1984", "music")]


FAULTS = pytest.mark.filterwarnings("ignore:.*no known word")


@pytest.fixture(scope="module")
def documents():
    return texts()


@pytest.fixture(scope="module")
def corpus(documents, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "_DOCUMENTS", 40)
        return prepare(documents, tmp_path_factory.mktemp("corpus") / "corpus", n_jobs=1)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """So that few documents make many shards, and several groups of them."""
    monkeypatch.setattr(state, "_LEAST_COST", 600.0)
    monkeypatch.setattr(state, "_GROUP_COST", 2500.0)


def bits(model):
    fitted = model.fitted_
    arrays = [fitted.topics, fitted.residuals, fitted.alpha, fitted.mass, fitted.pseudo]
    arrays += [fitted.word_counts, fitted.word_documents, fitted.vectors.matrix]
    for table in (fitted.word_mass, fitted.document_mass):
        arrays += [table.data, table.indices, table.indptr]
    found = [np.ascontiguousarray(array).tobytes() for array in arrays]
    told = fitted.vectors.words, fitted.representative, model.bounds_, fitted.n_documents
    return found, told, model.unknown_words_, model.phrases_, [t.title for t in model.topics_]


CASES = {
    "defaults": {},
    "auto": {"n_topics": "auto"},
    "corpus": {"vectors": "corpus"},
    "general": {"vectors": "general"},
    "no own words": {"own_words": False, "vectors": "general"},
    "learned prior": {"alpha": "learn", "vectors": "general"},
    "paper": {"solver": "paper", "max_iter": 3, "vectors": "general"},
    "stop words": {"stop_words": "corpus"},
    "documents": {"init": "documents", "vectors": "general"},
    "fixed": {"fixed_topics": load_vectors().matrix[:2], "vectors": "general"},
    "some words": {"vocabulary": ["water", "planet", "star", "music"], "vectors": "general"},
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*distinct words", "ignore:.*no known word")
@pytest.mark.parametrize("case", CASES)
def test_topics_are_those_of_the_texts_to_the_bit(documents, corpus, case):
    given = {**GIVEN, **CASES[case]}
    expected = TopicVec(**given, n_jobs=1).fit(documents)
    found = TopicVec(**given, n_jobs=2).fit(corpus)
    assert bits(found) == bits(expected)
    assert not hasattr(found, "doc_topic_")
    assert [path.name for path in corpus.folder.iterdir() if path.name.startswith(".")] == []
    if case == "defaults":
        assert set(found.phrases_) == {
            "hedge fund",
            "grumble shire railway",
            "grumble shire",
            "shire railway",
        }
        np.testing.assert_array_equal(found.transform(corpus), expected.transform(documents))


@FAULTS
def test_the_folder_s_path_will_do_and_a_second_fit_forgets_the_first(documents, corpus):
    model = TopicVec(**GIVEN, vectors="general").fit(documents)
    model.fit(Path(corpus.folder))
    assert model.fitted_.n_documents == len(documents)
    assert not hasattr(model, "doc_topic_")


def test_a_memory_that_is_no_size_is_told_before_that_texts_cannot_keep_one(documents):
    for memory, message in (("much", "much"), ("2GB", "prepare the documents")):
        with pytest.raises(DataError, match=message):
            TopicVec(2, "general").fit(documents, memory=memory)


def test_phrases_count_as_a_few_more_new_words():
    known = load_vectors()
    words = [*known.words[:500], *(f"zqx{number}" for number in range(1_000))]
    corpus = SimpleNamespace(words=words, n_repeated=1_500)
    n_words, _, learns = streamed._table_size(corpus, None)
    assert (n_words, learns) == (len(known) + 1_030, True)


def test_what_a_fit_needs_of_memory_is_the_sum_of_its_tables():
    sizes = {"n_documents": 10**6, "n_words": 2 * 10**6, "n_repeated": 250_000}

    def needed(n_jobs=2, learns=False, n_topics=100, **more):
        corpus = SimpleNamespace(**{**sizes, **more})
        return streamed.needed_memory(corpus, 300_000, 200, learns, n_topics, n_jobs)

    fixed = 400_000_000 + 220 * 2_300_000 + 24 * 10**6  # the program, words as text, documents
    vectors = 4 * 200 * 300_000
    tables = 4 * 100 * (2 * 300_000 + 7 * 250_000)
    a_shard = 30_000_000 + 4 * 100 * 60_000
    assert needed() == fixed + vectors + tables + 5 * a_shard
    assert needed(3) - needed() == 2 * a_shard
    assert needed(n_documents=10**6 + 1) - needed() == 24
    # types are no more than there are vectors
    assert needed(n_repeated=400_000) - needed() == 4 * 100 * 7 * 50_000
    # with few topics it is learning that needs most
    learning = vectors + 4 * 100 * 250_000 + 4 * 200 * 200_000 + 3 * 200_000_000
    assert needed(3, learns=True, n_topics=2) == fixed + learning
    assert needed(learns=True) == max(needed(), fixed + learning - 200_000_000)


@FAULTS
@pytest.mark.parametrize("memory", ["2GB", 10**12])
def test_memory_that_is_left_holds_documents_and_changes_no_bit(
    documents, corpus, memory, monkeypatch
):
    kept, write = [], stored.write_arrays

    def watched(path, arrays):
        if "table" in arrays:
            kept.append(path)
        return write(path, arrays)

    monkeypatch.setattr(stored, "write_arrays", watched)
    given = {**GIVEN, "vectors": "general", "n_jobs": 1}
    found = TopicVec(**given).fit(corpus, memory=memory)
    assert bits(found) == bits(TopicVec(**given).fit(documents))
    assert not kept


@FAULTS
def test_some_shards_may_be_in_memory_and_others_in_files(documents, corpus, monkeypatch):
    monkeypatch.setattr(streamed, "room_for", lambda *_: 60_000)
    from topicvec.model import topicvec

    monkeypatch.setattr(topicvec, "room_for", lambda *_: 60_000)
    counts = []
    keep = stored.StoredCounts.corpus

    def seen(self, n_topics):
        counts.append(self)
        return keep(self, n_topics)

    monkeypatch.setattr(stored.StoredCounts, "corpus", seen)
    given = {**GIVEN, "vectors": "general", "n_jobs": 2}
    found = TopicVec(**given).fit(corpus, memory="2GB")
    n_files = sum(isinstance(shard, stored.FiledShard) for shard in counts[0].shards)
    assert 0 < n_files < len(counts[0].shards)
    assert len(counts[0].corpus(6).groups) > 2
    assert bits(found) == bits(TopicVec(**given).fit(documents))


def test_memory_that_cannot_be_enough_is_refused_before_the_start(corpus, monkeypatch):
    monkeypatch.setattr(streamed, "read_stored", None)  # nothing is read
    with pytest.raises(DataError, match=r"memory=500MB cannot be kept: 6 topics of 193 documents"):
        TopicVec(6).fit(corpus, memory="500MB")
    for wrong in ("much", "-3GB", "0", True, "3 tons"):
        with pytest.raises(DataError, match="memory must be a size"):
            TopicVec(6).fit(corpus, memory=wrong)
    with pytest.raises(DataError, match="memory is kept by a fit of a prepared corpus"):
        TopicVec(6).fit(["a text"], memory="3GB")
    with pytest.raises(DataError, match="memory is kept by a fit of a prepared corpus"):
        TopicVec(6, share="class").fit(corpus, ["a"] * 193, memory="3GB")


@FAULTS
def test_classes_weights_and_seeds_of_a_prepared_corpus_are_fitted_in_memory(documents, corpus):
    given = {**GIVEN, "n_topics": 2, "vectors": "general", "max_iter": 5}
    y = corpus.values("labels")
    assert y == [document.label for document in documents]
    weights = np.linspace(1, 2, len(documents))
    for share, more in (("class", {"y": y}), ("corpus", {"document_weights": weights})):
        found = TopicVec(**given, share=share).fit(corpus, **more)
        assert bits(found) == bits(TopicVec(**given, share=share).fit(documents, **more))
        assert found.doc_topic_.shape[0] == len(documents)
    seeds = {"seed_words": {"sky": ["planet", "star"]}}
    found, expected = (TopicVec(**given, **seeds).fit(X) for X in (corpus, documents))
    assert bits(found) == bits(expected)


@FAULTS
def test_batches_and_a_choice_of_topics_take_a_prepared_corpus(documents, corpus):
    given = {"n_topics": 4, "random_state": 0, "vectors": "general", "max_iter": 4}
    one, other = (TopicVec(**given).fit(X, batch_size=100) for X in (corpus, documents))
    np.testing.assert_array_equal(one.topic_vectors_, other.topic_vectors_)
    template = TopicVec(**given)
    choices = [
        choose_n_topics(X, [2, 3], model=template, random_state=0) for X in (corpus, documents)
    ]
    assert choices[0] == choices[1]


def test_another_tokenizer_is_refused(corpus):
    with pytest.raises(DataError, match=r"str\.split"):
        TopicVec(6, tokenizer=str.split).fit(corpus)
    model = TopicVec(2, vectors="general", max_iter=2).fit(["a planet and a star"])
    with pytest.raises(DataError, match=r"str\.split"):
        model.set_params(tokenizer=str.split).transform(corpus)


class CopyingEngine:
    """Sends functions and items as bytes, as one does that works on other machines."""

    def map(self, function, items):
        for item in items:
            copied, own = cloudpickle.loads(cloudpickle.dumps((function, item)))
            yield copied(own)


@FAULTS
@pytest.mark.parametrize("vectors", ["general", "corpus"])
def test_an_engine_that_copies_gives_the_same_bits(documents, corpus, vectors):
    given = {**GIVEN, "max_iter": 3, "vectors": vectors}
    found = TopicVec(**given, n_jobs=CopyingEngine()).fit(corpus, memory="2GB")
    assert bits(found) == bits(TopicVec(**given, n_jobs=1).fit(documents))


def reading(corpus, engine=None):
    return streamed.read_stored(
        corpus, None, "english", None, phrases=False, engine=engine or InPlace()
    )


def test_counts_in_files_are_those_in_memory(corpus):
    vectors = load_vectors()
    known = reading(corpus)
    here, there = known.bag(vectors).counts, known.stored_bag(vectors).counts
    assert there.shape == here.shape
    assert there.nnz == here.nnz
    assert there.sum() == here.sum()
    np.testing.assert_array_equal(there.sum(axis=0), here.sum(axis=0))
    np.testing.assert_array_equal(there.indptr, here.indptr)
    rows = np.random.default_rng(0).permutation(len(corpus))[:90]
    assert (there[rows] != here[rows]).nnz == 0
    assert there[rows].dtype == here.dtype
    (types, narrow), (expected, own) = used_words(there), used_words(here)
    np.testing.assert_array_equal(types, expected)
    assert (narrow[rows] != own[rows]).nnz == 0
    for one, other in zip(document_points(vectors.matrix[types], narrow, np.random.default_rng(1)),
                          document_points(vectors.matrix[types], own, np.random.default_rng(1)),
                          strict=True):  # fmt: skip
        np.testing.assert_array_equal(one, other)
    arrays = b"".join(np.asarray(a, "<i8").tobytes() for a in there.arrays())
    parts = here.indptr, here.indices, here.data
    assert arrays == b"".join(np.asarray(a, "<i8").tobytes() for a in parts)


def test_shards_in_files_are_those_in_memory(corpus):
    vectors = load_vectors()
    known = reading(corpus, LocalEngine(2))
    here = Corpus.of(known.bag(vectors).counts, 5)
    there = known.stored_bag(vectors).counts.corpus(5)
    assert len(there.shards) == len(here.shards) > 8
    for one, other in zip(map(state.loaded, there.shards), here.shards, strict=True):
        assert (one.rows, one.place) == (other.rows, other.place)
        for name in (
            "indptr",
            "words",
            "counts",
            "group",
            "types",
            "places",
        ):
            found, expected = getattr(one, name), getattr(other, name)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    for name in ("types", "type_counts", "type_documents", "sizes", "allowed"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert there.blocks == here.blocks


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_stream_is_cut_as_one_that_is_known(size):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 90, 200)
    lengths[7] = 3000
    n = int(lengths.sum())
    words, counts = rng.integers(0, 30, n), rng.integers(1, 5, n)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    pieces = (
        (lengths[a : a + size], words[ends[a] : ends[min(a + size, 200)]],
         counts[ends[a] : ends[min(a + size, 200)]])
        for a in range(0, 200, size)
    )  # fmt: skip
    found = list(stored._cut(pieces))
    assert tuple(shard.rows for shard in found) == cut_growing(lengths + 4.0)
    np.testing.assert_array_equal(np.concatenate([shard.words for shard in found]), words)


class KilledError(Exception):
    pass


def kill_after(n_iterations):
    def callback(progress):
        if progress.iteration == n_iterations:
            raise KilledError

    return callback


@pytest.fixture(scope="module")
def undisturbed(documents):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "_LEAST_COST", 600.0)
        patch.setattr(state, "_GROUP_COST", 2500.0)
        return bits(long_fit(documents))


def long_fit(X, **more):
    model = TopicVec(6, vectors="general", random_state=0, max_iter=25, tol=0)
    return model.fit(X, **more)


@FAULTS
def test_a_fit_that_was_killed_goes_on_to_the_same_bits(corpus, documents, tmp_path, undisturbed):
    path = tmp_path / "state"
    with pytest.raises(KilledError):
        long_fit(corpus, checkpoint=path, callback=kill_after(13))
    assert bits(long_fit(corpus, checkpoint=path)) == undisturbed
    finished = path.read_bytes()
    assert bits(long_fit(corpus, checkpoint=path)) == undisturbed  # nothing is left to do
    other = tmp_path / "of texts"
    long_fit(documents, checkpoint=other)
    assert other.read_bytes() == finished  # each can go on with the other's


@FAULTS
def test_a_full_disk_names_the_file_and_the_checkpoint_from_which_a_fit_goes_on(
    corpus, tmp_path, undisturbed, monkeypatch
):
    path, done, write = tmp_path / "state", [], Path.open

    def full(self, *given, **more):
        if done and done[-1] >= 12 and self.suffix == ".bin":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(self, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(
            EngineError, match=r"cannot write .*\.bin: No space left.*state"
        ) as told:
            long_fit(corpus, checkpoint=path, callback=lambda news: done.append(news.iteration))
    assert "goes on" in str(told.value)
    assert bits(long_fit(corpus, checkpoint=path)) == undisturbed


@FAULTS
def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(
    corpus, tmp_path, undisturbed, monkeypatch
):
    from topicvec.model import fit

    path, write, calls = tmp_path / "state", fit.write_tensors, []

    def no_room(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(*given):
        calls.append(1)
        if len(calls) > 1:
            patch.setattr(os, "fsync", no_room)
        write(*given)

    with monkeypatch.context() as patch:
        patch.setattr(fit, "write_tensors", full)
        with pytest.raises(
            EngineError, match=r"no checkpoint could.*No space left.*the last checkpoint is"
        ):
            long_fit(corpus, checkpoint=path)
    assert bits(long_fit(corpus, checkpoint=path)) == undisturbed


@FAULTS
@pytest.mark.parametrize(
    "damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"x")]
)
def test_a_lost_file_of_a_fit_is_named_with_the_checkpoint(corpus, tmp_path, undisturbed, damage):
    path = tmp_path / "state"

    def lose(news):
        if news.iteration == 12:
            for file in corpus.folder.glob(".fit-*/*.bin"):
                damage(file)

    with pytest.raises(
        EngineError, match=r"\.bin, which this fit wrote.*last checkpoint is .*state"
    ):
        long_fit(corpus, checkpoint=path, callback=lose)
    assert bits(long_fit(corpus, checkpoint=path)) == undisturbed


def test_a_lost_shard_is_named(documents, tmp_path):
    corpus = prepare(documents, tmp_path / "corpus", n_jobs=1)
    corpus.shards[-1].path.unlink()
    with pytest.raises(FormatError, match=r"shard-00000.*prepare.*again"):
        TopicVec(**GIVEN).fit(PreparedCorpus.open(corpus.folder))


def test_what_a_killed_process_left_is_swept(corpus):
    left, fresh = corpus.folder / ".fit-left", corpus.folder / ".fit-fresh"
    for folder in (left, fresh):
        folder.mkdir()
    (left / "lock").touch()
    (left / "0.bin").write_bytes(b"mixtures")
    lives = stored.Store(corpus.folder)
    store = stored.Store(corpus.folder)
    assert [left.exists(), lives.folder.exists(), fresh.exists()] == [False, True, True]
    own = store.folder
    del store
    assert not own.exists()
    fresh.rmdir()


def test_a_folder_that_cannot_be_written_is_refused(documents, tmp_path, monkeypatch):
    corpus = prepare(documents, tmp_path / "corpus", n_jobs=1)

    def refused(**_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(stored.tempfile, "mkdtemp", refused)
    with pytest.raises(DataError, match=r"cannot write into .*corpus .*copy the corpus"):
        TopicVec(**GIVEN).fit(corpus)

import numpy as np
import pytest
from psdvec_twins import Copying, counted, literal_left_counts, vocabulary_of, zipf_corpus

from topicvec.embed import counting, spill
from topicvec.embed.cooccurrence import LAYOUT, Cooccurrence, WindowSettings
from topicvec.embed.counting import count_cooccurrences, count_corpus
from topicvec.embed.spill import Checkpoint, Corner
from topicvec.errors import DataError, FormatError
from topicvec.stored import read_tensors, write_tensors
from topicvec.text import Document, Vocabulary, prepare, prepared

DOCUMENTS = zipf_corpus()
VOCABULARY = vocabulary_of(DOCUMENTS, without=("w003", "w020"))


@pytest.mark.parametrize("weighting", ["flat", "harmonic", "linear"])
@pytest.mark.parametrize("window", [1, 4])
def test_counts_are_those_of_the_definition(weighting, window):
    left = literal_left_counts(DOCUMENTS, VOCABULARY.words, window, weighting)
    for direction, expected in (("left", left), ("right", left.T), ("both", left + left.T)):
        counts = count_cooccurrences(
            DOCUMENTS, VOCABULARY, window=window, direction=direction, weighting=weighting
        )
        assert counts.words == VOCABULARY.words
        np.testing.assert_allclose(counts.counts.toarray() / counts.unit, expected)
        np.testing.assert_array_equal(counts.unigram_counts, VOCABULARY.counts)


def test_words_outside_the_vocabulary_keep_their_place_in_the_window():
    vocabulary = Vocabulary.from_counts({"a": 1, "b": 1})
    near = count_cooccurrences([["a", "b"]], vocabulary, window=1)
    far = count_cooccurrences([["a", "unknown", "b"]], vocabulary, window=1)
    assert near.counts.nnz == 2
    assert far.counts.nnz == 0


def test_windows_do_not_cross_documents():
    vocabulary = Vocabulary.from_counts({"a": 1, "b": 1})
    assert count_cooccurrences([["a"], ["b"]], vocabulary, window=5).counts.nnz == 0


def test_documents_below_min_tokens_are_left_out():
    counts = count_cooccurrences(DOCUMENTS, VOCABULARY, window=3, min_tokens=10)
    long = [tokens for tokens in DOCUMENTS if len(tokens) >= 10]
    expected = count_cooccurrences(long, VOCABULARY, window=3)
    np.testing.assert_array_equal(counts.counts.toarray(), expected.counts.toarray())
    np.testing.assert_array_equal(counts.unigram_counts, expected.unigram_counts)


@pytest.mark.parametrize("weighting", ["flat", "harmonic", "linear"])
def test_counts_of_two_corpora_add_up_to_those_of_the_joined_corpus(weighting):
    settings = {"window": 7, "weighting": weighting}
    parts = [DOCUMENTS[:40], DOCUMENTS[40:90], DOCUMENTS[90:]]
    a, b, c = (count_cooccurrences(part, VOCABULARY, **settings) for part in parts)
    joined = count_cooccurrences(DOCUMENTS, VOCABULARY, **settings)
    for total in (a + b + c, c + a + b, a + (c + b)):
        assert total == joined
        assert total.n_documents == len(DOCUMENTS)


def test_counts_over_different_words_add_up_over_all_of_them():
    a = counted([["x", "y"], ["x"]], window=1, weighting="flat")
    b = counted([["y", "z", "z"]], window=1, weighting="flat")
    total = a + b
    assert total.words == ("x", "y", "z")
    assert total.unigram_counts.tolist() == [2, 2, 2]
    assert total.counts.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 2]]
    assert total == b + a


def test_counts_with_other_windows_do_not_add():
    with pytest.raises(DataError, match="same window"):
        counted(window=2) + counted(window=3)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("budget", [1 << 20, 1 << 31])
def test_workers_and_budget_change_nothing(n_jobs, budget):
    texts = [" ".join(tokens) for tokens in DOCUMENTS]
    counts = count_cooccurrences(
        texts, VOCABULARY, window=3, tokenizer=str.split, n_jobs=n_jobs, memory_budget=budget
    )
    assert counts == count_cooccurrences(DOCUMENTS, VOCABULARY, window=3)


def test_texts_and_documents_count_like_their_tokens():
    texts = ["The cat sat.", "A dog ran, the cat sat!"]
    documents = [Document(str(i), text) for i, text in enumerate(texts)]
    tokens = [["the", "cat", "sat"], ["a", "dog", "ran", "the", "cat", "sat"]]
    settings = WindowSettings(2)
    assert count_corpus(texts, settings) == count_corpus(tokens, settings)
    assert count_corpus(documents, settings) == count_corpus(iter(tokens), settings)


def test_many_chunks_go_through_worker_processes_in_order(monkeypatch):
    monkeypatch.setattr("topicvec.embed.encode.CHUNK_SIZE", 500)
    texts = [" ".join(tokens) for tokens in DOCUMENTS]
    settings = WindowSettings(3)
    several = count_corpus(texts, settings, tokenizer=str.split, n_jobs=2)
    assert several == count_corpus(DOCUMENTS, settings)


def test_pairs_that_outgrow_the_budget_are_spilled_and_merged(monkeypatch, tmp_path):
    rng = np.random.default_rng(1)
    documents = [[f"w{i}" for i in rng.integers(0, 900, 3000)] for _ in range(4)]
    vocabulary = vocabulary_of(documents)
    expected = count_cooccurrences(documents, vocabulary, window=6)
    written = []
    write_run = spill.write_run
    monkeypatch.setattr(
        spill, "write_run", lambda path, runs: written.append(write_run(path, runs))
    )
    monkeypatch.setattr(spill, "SLICE", 1000)
    monkeypatch.setattr(spill, "MANY_RUNS", 2)
    monkeypatch.setattr("topicvec.embed.counting.BATCH", 1000)
    small = count_cooccurrences(documents, vocabulary, window=6, memory_budget=1 << 20)
    assert written
    assert small == expected


def test_a_saved_record_comes_back_the_same(tmp_path):
    counts = counted(window=3)
    counts.save(tmp_path / "counts.safetensors")
    assert Cooccurrence.load(tmp_path / "counts.safetensors") == counts


def test_counts_that_are_not_those_of_their_digest_are_refused(tmp_path):
    path = tmp_path / "counts.safetensors"
    counted(window=3).save(path)
    stored = read_tensors(path, LAYOUT)
    arrays = {**stored.tensors, "data": stored.tensors["data"] + 1}
    write_tensors(path, arrays, stored.metadata)  # with a right checksum of the file
    with pytest.raises(FormatError, match="its contents do not match their digest"):
        Cooccurrence.load(path)


@pytest.mark.parametrize("harm", ["cut", "flip", "text", "other"])
def test_a_damaged_file_is_refused(tmp_path, harm):
    path = tmp_path / "counts.safetensors"
    counted(window=3).save(path)
    data = bytearray(path.read_bytes())
    if harm == "cut":
        data = data[:-20]
    elif harm == "flip":
        data[-9] ^= 1
    elif harm == "text":
        data = bytearray(b"no tensors here")
    else:
        from safetensors.numpy import save

        data = save({"a": np.zeros(3)})
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"counts\.safetensors"):
        Cooccurrence.load(path)


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(DataError, match="nothing-here"):
        Cooccurrence.load(tmp_path / "nothing-here")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, "window"),
        ({"window": 2.5}, "window"),
        ({"window": 30, "weighting": "harmonic"}, "window up to 22"),
        ({"direction": "up"}, "direction"),
        ({"weighting": "gauss"}, "weighting"),
        ({"memory_budget": 5}, "memory_budget"),
        ({"commit_every": 0}, "commit_every"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, message):
    with pytest.raises(DataError, match=message):
        count_cooccurrences(DOCUMENTS, VOCABULARY, **settings)


@pytest.mark.parametrize("documents", ["one text", [1, 2], [[1, 2]], [None], []])
def test_what_is_no_corpus_is_refused(documents):
    with pytest.raises(DataError):
        count_cooccurrences(documents, VOCABULARY, window=2)


def test_any_callable_is_a_tokenizer_also_in_processes(monkeypatch):
    monkeypatch.setattr("topicvec.embed.encode.CHUNK_SIZE", 10)
    texts = [" ".join(tokens) for tokens in DOCUMENTS]
    one, two = (
        count_cooccurrences(texts, VOCABULARY, tokenizer=lambda text: text.split(), n_jobs=n)
        for n in (1, 2)
    )
    assert (one.counts != two.counts).nnz == 0


def test_progress_is_reported_by_documents():
    calls = []
    count_corpus(DOCUMENTS, WindowSettings(2), progress=lambda *call: calls.append(call))
    assert calls == [("reading", 120, None), ("counting", 120, None)]


def test_arrays_of_the_record_are_read_only():
    counts = counted(window=2)
    with pytest.raises(ValueError, match="read-only"):
        counts.unigram_counts[0] = 5


def test_all_tokens_are_counted_also_those_outside_the_vocabulary(tmp_path):
    counts = count_cooccurrences(DOCUMENTS, VOCABULARY, window=2)
    n_tokens = sum(map(len, DOCUMENTS))
    assert counts.n_tokens == n_tokens > counts.unigram_counts.sum()
    assert (counts + counts).n_tokens == 2 * n_tokens
    assert counts.top(5).n_tokens == n_tokens
    counts.save(tmp_path / "counts.safetensors")
    assert Cooccurrence.load(tmp_path / "counts.safetensors").n_tokens == n_tokens
    long = count_cooccurrences(DOCUMENTS, VOCABULARY, window=2, min_tokens=10)
    assert long.n_tokens == sum(len(tokens) for tokens in DOCUMENTS if len(tokens) >= 10)


def test_counts_are_saved_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "counts.safetensors"
    counted(window=3).save(path)
    before = path.read_bytes()

    def fail(number):
        raise OSError("disk full")

    monkeypatch.setattr("topicvec.files.os.fsync", fail)
    with pytest.raises(DataError, match="safetensors: disk full"):
        counted(window=2).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(DataError, match="no such folder"):
        counted(window=2).save(tmp_path / "nowhere" / "counts.safetensors")


def test_run_files_go_when_they_are_merged(monkeypatch, tmp_path):
    monkeypatch.setattr(spill, "MANY_RUNS", 2)
    corner, weights = spill.Corner.within(50, 0), np.array([0, 1, 1])
    rows = spill.RowRange((0, 50), corner, 50, weights, 1 << 16)
    rng = np.random.default_rng(0)
    for number in range(8):
        rows.add(rng.integers(0, 50, 300).astype(np.int32), tmp_path, f"{number}-0")
        rows.spill(tmp_path, f"{number}-1")
        if number == 3:
            rows.committed = frozenset(rows.files)
    assert rows.committed < set(tmp_path.iterdir()) == rows.committed | set(rows.files)


@pytest.mark.parametrize("n_words", [1, 4, 10, 30])
def test_the_corner_is_the_widest_that_has_room(n_words):
    ranks = np.arange(1, n_words + 1)
    sizes = [np.minimum(b // ranks, n_words).sum() for b in range(n_words**2 + 1)]
    for n_cells in (0, 1, 8, 57, 10_000):
        corner = Corner.within(n_words, n_cells)
        assert corner.offsets[-1] == max(size for size in sizes if size <= n_cells)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(prepared, "_DOCUMENTS", 30)
    return prepare(DOCUMENTS, tmp_path / "corpus", n_jobs=1)


@pytest.mark.parametrize("engine", [1, 2, Copying()])
def test_a_prepared_corpus_is_counted_as_its_texts(corpus, engine, tmp_path):
    settings = WindowSettings(3, "left", min_tokens=20)
    expected = count_corpus(DOCUMENTS, settings, min_count=3, n_jobs=1)
    for folder in (None, tmp_path / "work"):
        given = {"min_count": 3, "n_jobs": engine, "folder": folder}
        assert count_corpus(corpus, settings, **given) == expected


@pytest.mark.parametrize(("engine", "is_far"), [(1, False), (Copying(), True)])
def test_shards_are_read_again_only_by_workers_elsewhere(corpus, engine, is_far, monkeypatch):
    read, take = [], prepared.ShardFile.take
    monkeypatch.setattr(prepared.ShardFile, "take", lambda file: (read.append(1), take(file))[1])
    count_corpus(corpus, WindowSettings(3), n_jobs=engine)
    n_here = 2 * len(corpus.shards)  # once for the vocabulary, and once to count
    assert len(read) > n_here if is_far else len(read) == n_here


def test_workers_elsewhere_are_given_full_batches_though_a_folder_is_kept(tmp_path, monkeypatch):
    batches, commits, commit = [], [], Checkpoint.commit

    class Watching(Copying):
        def map(self, function, items):
            if getattr(function, "func", None) is counting._count_elsewhere:
                batches.append(sum(stream.tokens.ids.size for stream in function.args[0]))
            return super().map(function, items)

    spy = lambda own, mark, *more: (commits.append(mark), commit(own, mark, *more))  # noqa: E731
    monkeypatch.setattr(Checkpoint, "commit", spy)
    monkeypatch.setattr(counting, "FAR_BATCH", 500)
    given = {"folder": tmp_path, "commit_every": 2, "n_jobs": Watching()}
    counts = count_cooccurrences(DOCUMENTS, VOCABULARY, **given)
    *full, _ = batches
    assert min(full) >= 500
    assert len(commits) == len(full) > 1
    assert counts == count_cooccurrences(DOCUMENTS, VOCABULARY)
    assert counts == count_cooccurrences(DOCUMENTS, VOCABULARY, **given)  # from the last on


def test_sums_that_come_back_from_elsewhere_are_spilled_too(monkeypatch, tmp_path):
    monkeypatch.setattr("topicvec.embed.counting.FAR_BATCH", 2000)
    rng = np.random.default_rng(1)
    documents = [[f"w{i}" for i in rng.integers(0, 900, 3000)] for _ in range(4)]
    vocabulary = vocabulary_of(documents)
    expected = count_cooccurrences(documents, vocabulary, window=6)
    spilled, spill_ = [], spill.RowRange.spill
    spy = lambda rows, *where: (spilled.append(where), spill_(rows, *where))  # noqa: E731
    monkeypatch.setattr(spill.RowRange, "spill", spy)
    given = {"window": 6, "n_jobs": Copying(), "memory_budget": 1 << 20}
    monkeypatch.setattr("topicvec.embed.encode.CHUNK_SIZE", 3000)
    assert count_cooccurrences(documents, vocabulary, **given) == expected
    assert any("far" in stem for _, stem in spilled)

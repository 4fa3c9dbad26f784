"""Word vectors on a real cluster: worker processes of this machine, some of which are killed."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("distributed")

import cloudpickle
from distributed import Client, LocalCluster

from topicvec import PSDVec
from topicvec.cli.main import call
from topicvec.embed import load_vectors
from topicvec.embed.association import measure_margins
from topicvec.embed.cooccurrence import WindowSettings
from topicvec.embed.counting import count_corpus
from topicvec.embed.eigen import Rows
from topicvec.embed.regress import regress
from topicvec.engine.dask import DaskEngine
from topicvec.errors import EngineError
from topicvec.text import prepare, prepared

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of those killed

ALONE = """
from distributed import LocalCluster
with LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address=":0") as cluster:
    print(cluster.scheduler_address, flush=True)
    input()
"""

N_DOCUMENTS, N_WORDS = 1500, 1400
SETTINGS = {"n_dims": 12, "n_core": 900, "min_count": 1, "window": 3}
LETTERS = str.maketrans("0123456789", "abcdefghij")
KINDS = {
    "dense": {"unseen_weight": 0.3, "n_iter": 2},
    "sparse": {"unseen_weight": 0.0, "n_iter": 2, "memory_budget": 1 << 20},
    "left": {"direction": "left"},
}


@contextmanager
def cluster(n_workers):
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=n_workers, **options) as workers, Client(workers) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def small_pieces():
    """Blocks and batches so small that there are several of each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("topicvec.embed.eigen.BLOCK", 300)
        patch.setattr("topicvec.embed.encode.CHUNK_SIZE", 30_000)
        patch.setattr("topicvec.embed.counting.FAR_BATCH", 30_000)
        patch.setattr(prepared, "_DOCUMENTS", 400)
        yield


@pytest.fixture(scope="module")
def two():
    """Two workers, which live as long as these tests."""
    with cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    words = np.array([f"qx{number}".translate(LETTERS) for number in range(N_WORDS)])
    p = 1 / np.arange(3, N_WORDS + 3)
    found = rng.choice(words, (N_DOCUMENTS, 40), p=p / p.sum())
    return [" ".join(row) for row in found] + [" ".join(words)]


@pytest.fixture(scope="module")
def corpus(texts, tmp_path_factory):
    return prepare(texts, tmp_path_factory.mktemp("prepared") / "corpus", n_jobs=1)


@pytest.fixture(scope="module")
def one_thread(texts):
    return {kind: bits(fitted(texts, 1, kind)) for kind in KINDS}


def fitted(X, n_jobs, kind="dense", **more):
    return PSDVec(**SETTINGS, **KINDS[kind], n_jobs=n_jobs, **more).fit(X)


def bits(model):
    counts = model.counts_
    arrays = [counts.counts.data, counts.counts.indices, counts.counts.indptr.astype(np.int64)]
    arrays += [counts.unigram_counts, model.eigenvalues_, model.vectors_.matrix]
    return counts.words, [array.tobytes() for array in arrays], model.residual_


class Watched(DaskEngine):
    """Tells which functions were mapped, and disturbs one of them, by default when sent thrice."""

    def __init__(self, client, disturbed="nothing", event=None, is_time=None):
        super().__init__(client)
        self.disturbed, self.event, self.mapped = disturbed, event, []
        self.is_time = is_time or (lambda: self.mapped.count(self.name) == 3)

    def map(self, function, items):
        self.name = getattr(function, "func", function).__qualname__
        return super().map(function, items)

    def _send(self, shared, item):
        self.mapped.append(self.name)
        if self.disturbed in self.name and self.is_time():
            self.event()
        return super()._send(shared, item)


class Weighed(DaskEngine):
    """Counts the bytes that go once to each worker, those of tasks, and those that are held."""

    def __init__(self, client):
        super().__init__(client)
        self.shared, self.sent, self.held = [], [], []

    def _ask(self, function, *arguments, **options):
        if function.__name__ == "scatter":
            kept = self.shared if options.get("broadcast") else self.held
            kept.append(n_bytes(arguments[0]))
        elif function.__name__ == "submit":
            self.sent.append(n_bytes(arguments[2]))
        return super()._ask(function, *arguments, **options)


def n_bytes(value):
    return len(cloudpickle.dumps(value))


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_bits_of_one_thread(texts, corpus, one_thread, n_workers):
    with cluster(n_workers) as client:
        for kind, expected in one_thread.items():
            assert bits(fitted(texts, client, kind)) == expected
        assert bits(fitted(corpus, client)) == one_thread["dense"]


def test_workers_cut_count_multiply_and_solve(two, texts):
    engine = Watched(two)
    fitted(texts, engine)
    parts = ["_encode", "_count_elsewhere", "Rows.map", "_solver"]
    assert all(any(part in name for name in engine.mapped) for part in parts)
    assert len(set(engine.mapped)) == len(parts)  # and nothing else


@pytest.mark.parametrize("what", ["_encode", "_count_elsewhere", "Rows.map", "_solver"])
def test_a_worker_that_is_killed_on_the_way_changes_no_bit(texts, one_thread, what):
    with cluster(2) as client:
        first = next(iter(client.run(os.getpid).values()))
        engine = Watched(client, what, lambda: os.kill(first, signal.SIGKILL))
        assert bits(fitted(texts, engine)) == one_thread["dense"]
        assert first not in client.run(os.getpid).values()


SMALL = 6_000  # names, code and headers


def test_a_product_sends_its_vectors_and_the_blocks_of_the_core_are_held(two):
    n, m, engine = 900, 72, Weighed(two)
    S = np.random.default_rng(0).standard_normal((n, n), dtype=np.float32)
    rows = Rows(n, engine)
    held, Y = rows.hold(S + S.T), S[:, :m].copy()
    for _ in range(3):
        rows.fill(np.empty_like(Y), lambda s: s @ Y, held, far=True)
    assert sum(engine.held) <= 4 * n * n + SMALL  # once for the three
    assert max(engine.shared) <= 4 * n * m + SMALL
    assert max(engine.sent) <= SMALL


def test_counts_of_words_that_are_solved_go_once_and_the_core_vectors_with_them(two, texts):
    counts = count_corpus(texts, WindowSettings(3), n_jobs=1)
    core = np.random.default_rng(0).standard_normal((900, 12), dtype=np.float32)
    others, engine = np.arange(900, counts.n_words), Weighed(two)
    arguments = counts, measure_margins(counts, n_core=900), np.arange(900), core, others
    regress(*arguments, np.ones(len(others)), engine)
    of_each = counts.n_words * (3 * 8 + 8 + 8)  # margins of all words, and places in the core
    assert max(engine.shared) <= core.nbytes + of_each + SMALL
    n_pairs = counts.counts[others].nnz
    assert sum(engine.sent) <= 16 * n_pairs + SMALL * len(engine.sent)
    assert not engine.held


def test_shards_of_a_prepared_corpus_are_read_by_workers(two, corpus, one_thread):
    engine = Weighed(two)
    counts = count_corpus(corpus, WindowSettings(3), n_jobs=engine)
    assert counts.words == one_thread["dense"][0]
    assert sum(engine.shared + engine.sent) < corpus.n_tokens  # not one byte for each token
    assert counts == count_corpus(corpus, WindowSettings(3), n_jobs=1)


def test_a_folder_counts_on_after_the_scheduler_was_lost(texts, tmp_path, monkeypatch):
    monkeypatch.setattr("topicvec.embed.counting.COMMIT_EVERY", 400)
    monkeypatch.setattr("topicvec.embed.counting.FAR_BATCH", 400 * 40)
    given = {"settings": WindowSettings(3), "folder": tmp_path / "work"}
    with subprocess.Popen(
        [sys.executable, "-c", ALONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as alone:
        client = Client(alone.stdout.readline().strip(), timeout=20)
        try:
            committed = (tmp_path / "work" / "manifest.json").exists
            engine = Watched(client, "_count_elsewhere", alone.kill, committed)
            with pytest.raises(EngineError, match=r"scheduler.*counts of [48]00 doc.*work: with"):
                count_corpus(texts, n_jobs=engine, **given)
        finally:
            alone.kill()
            client.close(timeout=1)
    read = []
    found = count_corpus(texts, n_jobs=1, progress=lambda *news: read.append(news), **given)
    assert read[0][1] > 400
    assert found == count_corpus(texts, WindowSettings(3), n_jobs=1)


def test_the_command_line_trains_and_extends_on_a_cluster(texts, corpus, tmp_path, capsys):
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    how = ["--dims", "12", "--core", "900", "--min-count", "1", "--window", "3"]
    lines = [str(tmp_path / "texts.txt"), "--format", "lines"]
    runs = {
        "one": [*lines, "--jobs", "1"],
        "two": [*lines, "--engine", "dask", "--jobs", "2"],
        "prepared": [str(corpus.folder), "--engine", "dask", "--jobs", "2"],
    }
    for name, more in runs.items():
        file = tmp_path / f"{name}.safetensors"
        assert call(["vectors", "train", *more, "-o", str(file), *how]) == 0
        assert load_vectors(file) == load_vectors(tmp_path / "one.safetensors")
    assert capsys.readouterr().err.count("dashboard: ") == 2
    added = ["vectors", "add", str(tmp_path / "one.safetensors"), *lines, "--min-count", "1"]
    added += ["--word", "qxb", "--word", "qxbcde", "-o"]
    assert call([*added, str(tmp_path / "a.safetensors"), "--jobs", "1"]) == 0
    assert call([*added, str(tmp_path / "b.safetensors"), "--engine", "dask", "--jobs", "2"]) == 0
    a, b = (load_vectors(tmp_path / f"{name}.safetensors") for name in "ab")
    assert a == b != load_vectors(tmp_path / "one.safetensors")

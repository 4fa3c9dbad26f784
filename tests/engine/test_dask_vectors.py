"""Word vectors on a real cluster: worker processes of this machine, some of which are killed."""

import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("distributed")

import cloudpickle
from distributed import Client, LocalCluster

from topicvec import PSDVec
from topicvec.cli.main import call
from topicvec.embed import load_vectors
from topicvec.embed.cooccurrence import WindowSettings
from topicvec.embed.counting import count_corpus
from topicvec.engine.dask import DaskEngine
from topicvec.errors import EngineError, FormatError
from topicvec.text import PreparedCorpus, prepare, prepared

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of those killed

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
    """Tells which functions were mapped and how many bytes went, and may disturb one of them."""

    def __init__(self, client, disturbed="", event=lambda: None):
        super().__init__(client)
        self.disturbed, self.event, self.mapped, self.n_bytes = disturbed, event, [], {}

    def _send(self, shared, item):
        name = shared.function.__qualname__ if hasattr(shared.function, "__qualname__") else ""
        name = name or getattr(shared.function, "func", shared.function).__qualname__
        self.mapped.append(name)
        self.n_bytes[name] = self.n_bytes.get(name, 0) + len(cloudpickle.dumps(item))
        if self.disturbed in name and self.mapped.count(name) == 3:
            self.event()
        return super()._send(shared, item)


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
    assert len({name for name in engine.mapped}) == len(parts)  # and nothing else


@pytest.mark.parametrize("what", ["_encode", "_count_elsewhere", "Rows.map", "_solver"])
def test_a_worker_that_is_killed_on_the_way_changes_no_bit(texts, one_thread, what):
    with cluster(2) as client:
        first = next(iter(client.run(os.getpid).values()))
        engine = Watched(client, what, lambda: os.kill(first, signal.SIGKILL))
        assert bits(fitted(texts, engine)) == one_thread["dense"]
        assert first not in client.run(os.getpid).values()

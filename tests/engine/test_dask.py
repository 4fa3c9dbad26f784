"""A real cluster: worker processes of this machine, some of which are killed."""

import os
import pickle
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed")

import cloudpickle
import dask
import dask.array
import dask.bag
import distributed
from distributed import Client, LocalCluster
from sklearn.base import clone

from topicvec import TopicVec, WordVectors
from topicvec.cli.main import call
from topicvec.dask import DaskTopicVec
from topicvec.engine import dask as engines
from topicvec.engine import resolve_engine
from topicvec.engine.dask import DaskEngine, connect
from topicvec.errors import EngineError
from topicvec.model import fit, gem, state
from topicvec.model.state import Corpus
from topicvec.text import prepare, prepared

pytestmark = [
    pytest.mark.filterwarnings("ignore:not converged"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of those that were killed
]

N_DOCUMENTS, N_WORDS, N_DIMS, N_TOPICS = 1500, 800, 20, 10
LETTERS = str.maketrans("0123456789", "abcdefghij")
ALONE = """
from distributed import LocalCluster
with LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address=":0") as cluster:
    print(cluster.scheduler_address, flush=True)
    input()
"""


@contextmanager
def cluster(n_workers):
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=n_workers, **options) as workers, Client(workers) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def small_groups():
    """So that few documents make several groups of shards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "_LEAST_COST", 6_000.0)
        patch.setattr(state, "_GROUP_COST", 14_000.0)
        yield


@pytest.fixture(scope="module")
def two():
    """Two workers, which live as long as these tests."""
    with cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    words = [f"qx{number}".translate(LETTERS) for number in range(N_WORDS)]
    return WordVectors(words, rng.normal(0, 0.5, (N_WORDS, N_DIMS)), np.ones(N_WORDS))


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(N_WORDS, 0.05), N_TOPICS)
    rows = [rng.multinomial(60, topics[i % N_TOPICS]) for i in range(N_DOCUMENTS)]
    return csr_array(np.array(rows))


@pytest.fixture(scope="module")
def texts(vectors, counts):
    words = np.array(vectors.words)
    return [" ".join(np.repeat(words, row)) for row in counts[:200].toarray()]


def params(vectors, **more):
    given = {"n_topics": N_TOPICS, "vectors": vectors, "random_state": 0}
    return {**given, "max_iter": 12, "tol": 0, **more}


def bits(model):
    fitted = model.fitted_
    arrays = [fitted.topics, fitted.residuals, fitted.alpha, fitted.mass, fitted.pseudo]
    arrays += [fitted.word_mass.data, fitted.document_mass.data, model.doc_topic_]
    return [array.tobytes() for array in arrays], model.bounds_


@pytest.fixture(scope="module")
def one_thread(vectors, counts):
    fits = (TopicVec(**params(vectors, own_words=own, n_jobs=1)) for own in (False, True))
    return [bits(model.fit(counts)) for model in fits]


class Disturbed(DaskEngine):
    """Something happens when a group of documents is sent on its way."""

    def __init__(self, client, number, event):
        super().__init__(client)
        self.number, self.event = number, event

    def _send_group(self, *arguments, **options):
        self.number -= 1
        if self.number == 0:
            self.event()
        return super()._send_group(*arguments, **options)


class Counted(DaskEngine):
    """Bytes that go to the workers, to all or to one, and those that they give, are counted."""

    def __init__(self, client):
        super().__init__(client)
        self.brought = self.to_all = 0

    def _ask(self, function, *arguments, **options):
        if function.__name__ == "scatter" and options.get("broadcast"):
            self.to_all += n_bytes(arguments[0]) * len(self.client.nthreads())
        elif function.__name__ == "scatter":
            self.brought += n_bytes(arguments[0])
        return super()._ask(function, *arguments, **options)

    @property
    def moved(self):
        """What went to all, and what workers gave to each other and to this process."""
        given = self.client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
        return self.to_all + sum(given.values())


def n_bytes(value):
    return len(cloudpickle.dumps(value))


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_bits_of_one_thread(vectors, counts, one_thread, n_workers):
    with cluster(n_workers) as client:
        for own, expected in zip((False, True), one_thread, strict=True):
            model = TopicVec(**params(vectors, own_words=own, n_jobs=client))
            assert bits(model.fit(counts)) == expected


def test_classes_have_the_same_bits(two, vectors, counts):
    y = ["a", "b", "c"] * (N_DOCUMENTS // 3)
    few = params(vectors, n_topics=2, max_iter=3, share="class")
    fits = [TopicVec(**few, n_jobs=n_jobs).fit(counts, y) for n_jobs in (1, two)]
    assert bits(fits[0]) == bits(fits[1])


def test_results_come_in_order_and_a_long_stream_is_not_read_ahead(two):
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    results = resolve_engine(two).map(lambda x: x * x, items())
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    assert len(taken) < 20
    results.close()


def test_an_error_in_a_worker_reaches_the_caller(two):
    with pytest.raises(ZeroDivisionError):
        list(resolve_engine(two).map(lambda x: 1 // x, [1, 0, 1]))


def each_iteration(client, vectors, counts, own):
    """Fit, and give the bytes that each iteration moves."""
    engine, moved = Counted(client), []
    model = TopicVec(**params(vectors, own_words=own, n_jobs=engine))
    model.fit(counts, callback=lambda _: moved.append(engine.moved))
    return engine, np.diff(moved)


SMALL = 2_500  # bytes for each worker and group: names of functions, masses of topics, headers


def test_an_iteration_moves_the_topics_to_each_worker_and_one_sum_back(two, vectors, counts):
    _, moved = each_iteration(two, vectors, counts, own=False)
    n_groups = len(Corpus.of(counts, N_TOPICS + 1).groups)
    assert n_groups > 3
    goal = 2 * 4 * (N_TOPICS + 1) * N_DIMS * 2  # twice K × N numbers for each of two workers
    assert goal / 2 < moved.min() <= moved.max() <= goal + SMALL * (2 + n_groups)


def test_words_of_their_own_add_the_table_to_each_worker_and_one_sum_back(two, vectors, counts):
    engine, moved = each_iteration(two, vectors, counts, own=True)
    shards = Corpus.of(counts, N_TOPICS + 1).shards
    table = 4 * (N_TOPICS + 1) * len(np.unique(counts.indices))
    mixtures = 4 * (N_TOPICS + 1) * N_DOCUMENTS  # fetched when tables weigh more than they
    small = SMALL * (2 + len(Corpus.of(counts, 2).groups))
    assert np.median(moved) <= 2 * 2 * table + small
    assert moved.max() <= 2 * 2 * table + mixtures + small
    # the documents and where their mixtures start went once
    whole = sum(map(n_bytes, shards)) + mixtures
    assert 0.99 * whole <= engine.brought <= 1.01 * whole


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("number", [1, 14, 40])
def test_a_worker_that_is_killed_in_mid_iteration_changes_no_bit(
    vectors, counts, one_thread, own, number
):
    with cluster(2) as client:
        first = next(iter(client.run(os.getpid).values()))
        engine = Disturbed(client, number, lambda: os.kill(first, signal.SIGKILL))
        model = TopicVec(**params(vectors, own_words=own, n_jobs=engine)).fit(counts)
        assert bits(model) == one_thread[own]
        assert engine.number <= 0
        assert first not in client.run(os.getpid).values()


@pytest.mark.parametrize("own", [False, True])
def test_all_workers_may_die_after_a_rehearsal_and_when_all_is_summed_up(
    vectors, counts, own, monkeypatch
):
    # A rehearsal has other words than the iterations, and the end has none at all.
    many = [f"rare{number}".translate(LETTERS) for number in range(3 * N_WORDS)]
    rng = np.random.default_rng(2)
    wide = WordVectors(
        [*vectors.words, *many],
        np.vstack([vectors.matrix, rng.normal(0, 0.5, (len(many), N_DIMS))]),
        np.concatenate([np.full(N_WORDS, 9.0), np.ones(len(many))]),
    )
    few = csr_array((counts.data, counts.indices, counts.indptr), (N_DOCUMENTS, len(wide)))
    monkeypatch.setattr(gem, "N_FREQUENT", 300)
    monkeypatch.setattr(Corpus, "n_cells", 1)  # so that it is worth a rehearsal
    rehearsed = []
    rehearse = fit.rehearse

    def seen(*given):
        rehearsed.append(rehearse(*given))
        return rehearsed[-1]

    monkeypatch.setattr(fit, "rehearse", seen)
    given = params(wide, own_words=own, max_iter=3)
    expected = bits(TopicVec(**given, n_jobs=1).fit(few))
    with cluster(2) as client:

        def killed(news):
            if news.iteration in (1, 3):
                for number in client.run(os.getpid).values():
                    os.kill(number, signal.SIGKILL)

        assert bits(TopicVec(**given, n_jobs=client).fit(few, callback=killed)) == expected
    assert len(rehearsed) == 2


def test_mixtures_that_died_with_their_worker_are_made_again_for_the_checkpoint(
    vectors, counts, one_thread, tmp_path
):
    path = tmp_path / "state.safetensors"
    given = params(vectors, own_words=False)

    def killed(news):
        if news.iteration == 10:  # whose state is saved next
            os.kill(first, signal.SIGKILL)

    with cluster(2) as client:
        first = next(iter(client.run(os.getpid).values()))
        model = TopicVec(**given, n_jobs=client).fit(counts, checkpoint=path, callback=killed)
        assert bits(model) == one_thread[0]
    other = tmp_path / "other.safetensors"
    TopicVec(**given, n_jobs=1).fit(counts, checkpoint=other)
    assert path.read_bytes() == other.read_bytes()


def test_without_its_scheduler_a_fit_ends_and_goes_on_from_its_checkpoint(
    vectors, counts, one_thread, tmp_path
):
    path = tmp_path / "state.safetensors"
    with subprocess.Popen(
        [sys.executable, "-c", ALONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as alone:
        client = Client(alone.stdout.readline().strip(), timeout=20)
        try:
            engine = Disturbed(client, 14, alone.kill)
            with pytest.raises(EngineError, match=r"scheduler.*state\.safetensors"):
                TopicVec(**params(vectors, n_jobs=engine)).fit(counts, checkpoint=path)
        finally:
            alone.kill()
            client.close(timeout=1)
    heard = []
    resumed = TopicVec(**params(vectors, n_jobs=1))
    resumed.fit(counts, checkpoint=path, callback=heard.append)
    assert heard[0].iteration > 1
    assert bits(resumed) == one_thread[1]


def test_a_client_is_not_pickled_or_saved_and_a_clone_shares_it(two, vectors, counts, tmp_path):
    model = TopicVec(**params(vectors, max_iter=2, n_jobs=two)).fit(counts)
    again = pickle.loads(pickle.dumps(model))
    assert again.n_jobs is None
    assert model.n_jobs is clone(model).n_jobs is two
    assert np.array_equal(again.transform(counts[:9]), model.transform(counts[:9]))
    model.save(tmp_path / "a.topicvec")
    assert TopicVec.load(tmp_path / "a.topicvec").n_jobs is None
    both = DaskTopicVec(two, **params(vectors, max_iter=2)).fit(counts)
    assert pickle.loads(pickle.dumps(both)).client is None
    assert clone(both).client is two
    both.save(tmp_path / "b.topicvec")
    assert np.array_equal(
        TopicVec.load(tmp_path / "b.topicvec").topic_vectors_, model.topic_vectors_
    )


def test_a_bag_of_texts_has_the_topics_of_the_texts(two, vectors, texts):
    bag = dask.bag.from_sequence(texts, npartitions=3)
    local = TopicVec(**params(vectors, n_jobs=1)).fit(texts)
    model = DaskTopicVec(two, **params(vectors)).fit(bag)
    assert model.client_ is two
    assert bits(model) == bits(local) == bits(model.to_local())
    assert type(model.to_local()) is TopicVec
    lazy = model.transform(bag)
    assert isinstance(lazy, dask.array.Array)
    assert lazy.npartitions == bag.npartitions > 2
    assert np.array_equal(lazy.compute(), local.transform(texts))
    assert model.score(bag) == local.score(texts)


@pytest.mark.parametrize("kind", ["dense", "sparse", "delayed", "delayed list"])
def test_blocks_of_counts_have_the_topics_of_the_counts(two, vectors, counts, kind):
    table = counts.toarray()
    blocks = [dask.delayed(counts[:900]), dask.delayed(table[900:])]
    given = {
        "dense": dask.array.from_array(table, chunks=(700, 500)),
        "sparse": dask.array.from_array(table, chunks=(700, -1)).map_blocks(csr_array),
        "delayed": dask.delayed(counts),
        "delayed list": blocks,
    }[kind]
    local = TopicVec(**params(vectors, max_iter=3, n_jobs=1)).fit(counts)
    model = DaskTopicVec(two, **params(vectors, max_iter=3))
    found = model.fit_transform(given)
    assert bits(model) == bits(local)
    assert np.array_equal(found.compute(), local.transform(counts))


def test_the_latest_client_is_the_default_and_none_is_an_error(two, vectors, monkeypatch):
    assert isinstance(DaskTopicVec(n_topics=2).client_, Client)

    def none():
        raise ValueError

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(EngineError, match="client="):
        DaskTopicVec(**params(vectors)).fit(["a text"])


def test_the_command_line_takes_a_scheduler(two, vectors, texts, tmp_path, capsys):
    vectors.save(tmp_path / "v.safetensors")
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    start = ["fit", str(tmp_path / "texts.txt"), "--format", "lines", "-k", "5"]
    start += ["--vectors", str(tmp_path / "v.safetensors"), "-o"]
    assert call([*start, str(tmp_path / "a"), "--jobs", "1"]) == 0
    assert call([*start, str(tmp_path / "b"), "--engine", two.scheduler.address]) == 0
    assert "dashboard: " in capsys.readouterr().err
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_command_line_says_in_a_sentence_what_is_missing(tmp_path, capsys, monkeypatch):
    (tmp_path / "text.txt").write_text("A text.", encoding="utf-8")
    start = ["fit", str(tmp_path / "text.txt"), "-o", str(tmp_path / "a"), "--engine"]
    monkeypatch.setattr(engines, "_WAIT", 0.2)
    assert call([*start, "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in capsys.readouterr().err
    assert call([*start, "threads"]) == 2
    assert "an engine is dask or the address" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert call([*start, "dask"]) == 2
    assert 'pip install "topicvec[dask]"' in capsys.readouterr().err


def test_processes_of_this_machine_end_with_their_client():
    with connect("dask", 1) as client:
        assert list(resolve_engine(client).map(abs, [-1, -2])) == [1, 2]
    assert client.status == "closed"


@pytest.fixture(scope="module")
def prepared_corpus(vectors, counts, tmp_path_factory):
    words = np.array(vectors.words)
    token_lists = (np.repeat(words, row).tolist() for row in counts.toarray())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "_DOCUMENTS", 400)
        return prepare(token_lists, tmp_path_factory.mktemp("prepared") / "corpus", n_jobs=1)


def results(model):
    """The bits but for the mixtures of documents, which a prepared corpus keeps in files."""
    fitted = model.fitted_
    arrays = [fitted.topics, fitted.residuals, fitted.alpha, fitted.mass, fitted.pseudo]
    arrays += [fitted.word_mass.data, fitted.document_mass.data]
    return [array.tobytes() for array in arrays], model.bounds_, fitted.representative


@pytest.fixture(scope="module")
def of_one_thread(vectors, counts):
    return results(TopicVec(**params(vectors, n_jobs=1)).fit(counts))


def test_workers_read_a_prepared_corpus_themselves_and_find_the_same_bits(
    two, vectors, prepared_corpus, of_one_thread
):
    engine = Counted(two)
    model = TopicVec(**params(vectors, n_jobs=engine)).fit(prepared_corpus)
    assert results(model) == of_one_thread
    assert engine.brought < 40_000  # names of files, those of mixtures in each iteration
    for given in (str(prepared_corpus.folder), prepared_corpus):
        found = DaskTopicVec(two, **params(vectors)).fit(given)
        assert results(found) == of_one_thread
        assert type(found.to_local()) is TopicVec
    assert not list(prepared_corpus.folder.glob(".fit-*"))


@pytest.mark.parametrize("n_workers", [1, 4])
def test_any_number_of_workers_reads_a_prepared_corpus(
    vectors, prepared_corpus, of_one_thread, n_workers
):
    with cluster(n_workers) as client:
        model = TopicVec(**params(vectors, n_jobs=client)).fit(prepared_corpus, memory="4GB")
        assert results(model) == of_one_thread


def test_a_worker_that_is_killed_at_a_prepared_corpus_changes_no_bit(
    vectors, prepared_corpus, of_one_thread
):
    with cluster(2) as client:
        first = next(iter(client.run(os.getpid).values()))
        engine = Disturbed(client, 20, lambda: os.kill(first, signal.SIGKILL))
        model = TopicVec(**params(vectors, n_jobs=engine)).fit(prepared_corpus)
        assert results(model) == of_one_thread
        assert engine.number <= 0


def test_a_file_that_is_lost_while_workers_read_it_is_named_with_the_checkpoint(
    two, vectors, prepared_corpus, of_one_thread, tmp_path
):
    path = tmp_path / "state"

    def lose(news):
        if news.iteration == 11:
            for file in prepared_corpus.folder.glob(".fit-*/*.bin"):
                file.unlink()

    given = params(vectors, n_jobs=two)
    with pytest.raises(EngineError, match=r"\.bin, which this fit wrote.*checkpoint is .*state"):
        TopicVec(**given).fit(prepared_corpus, checkpoint=path, callback=lose)
    assert results(TopicVec(**given).fit(prepared_corpus, checkpoint=path)) == of_one_thread


def test_the_command_line_fits_a_prepared_corpus_on_a_cluster(vectors, prepared_corpus, tmp_path):
    vectors.save(tmp_path / "vectors.safetensors")
    words = ["--vectors", str(tmp_path / "vectors.safetensors"), "--stop-words", "none"]
    how = ["-k", "4", "--set", "max_iter=3", *words]
    for name, more in (("one", ["--jobs", "1"]), ("two", ["--engine", "dask", "--jobs", "2"])):
        model = tmp_path / f"{name}.topicvec"
        assert call(["fit", str(prepared_corpus.folder), "-o", str(model), *how, *more]) == 0
    one, two = (TopicVec.load(tmp_path / f"{name}.topicvec") for name in ("one", "two"))
    assert one.topic_vectors_.tobytes() == two.topic_vectors_.tobytes()

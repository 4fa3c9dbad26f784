"""Any engine that keeps the contract gives the same bits; what only looks like one is refused."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import numpy as np
import pytest

from topicvec.embed import PSDVec, WordVectors
from topicvec.engine import InPlace, LocalEngine
from topicvec.errors import EngineError
from topicvec.model.topicvec import TopicVec


class CopyingEngine:
    """Sends functions, items and results as bytes, as one does that works on other machines."""

    def __init__(self):
        self.largest = 0

    def map(self, function, items):
        for item in items:
            sent = cloudpickle.dumps((function, item))
            self.largest = max(self.largest, len(sent))
            copied, own = cloudpickle.loads(sent)
            yield cloudpickle.loads(cloudpickle.dumps(copied(own)))


CASES = {
    "corpus": ({"n_topics": 4}, {}),
    "paper": ({"n_topics": 4, "solver": "paper", "max_iter": 5}, {}),
    "learned prior": ({"n_topics": 4, "alpha": "learn"}, {}),
    "classes": ({"n_topics": 2, "share": "class"}, {"y": "classes"}),
    "seeds": ({"n_topics": 4, "seed_words": [["aaxy"]]}, {}),
}


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("case", CASES)
def test_an_engine_that_copies_gives_the_same_bits_as_one_thread(planted, case):
    parameters, given = CASES[case]
    y = planted.classes if given else None
    found = []
    for engine in (LocalEngine(1), CopyingEngine(), LocalEngine(3)):
        model = TopicVec(vectors=planted.vectors, random_state=0, n_jobs=engine, **parameters)
        model.fit(planted.documents, y)
        found.append((model, model.transform(planted.texts)))
    for other, proportions in found[1:]:
        first = found[0][0]
        assert np.array_equal(first.topic_vectors_, other.topic_vectors_)
        assert np.array_equal(first.topic_residuals_, other.topic_residuals_)
        assert np.array_equal(first.doc_topic_, other.doc_topic_)
        assert np.array_equal(first.fitted_.word_mass.data, other.fitted_.word_mass.data)
        assert first.bounds_ == other.bounds_
        assert np.array_equal(found[0][1], proportions)


def test_the_next_batch_too(planted):
    found = []
    for engine in (LocalEngine(1), CopyingEngine()):
        model = TopicVec(4, planted.vectors, random_state=0, n_jobs=engine)
        model.partial_fit(planted.documents[:30]).partial_fit(planted.documents[30:])
        found.append(model)
    assert np.array_equal(found[0].topic_vectors_, found[1].topic_vectors_)
    assert np.array_equal(found[0].doc_topic_, found[1].doc_topic_)


def test_the_pieces_that_are_sent_are_small():
    rng = np.random.default_rng(0)
    n_words, n_dims, n_topics, n_documents = 40_000, 50, 4, 300
    matrix = rng.normal(size=(n_words, n_dims)).astype(np.float32) / 4
    vectors = WordVectors([f"w{i}" for i in range(n_words)], matrix, rng.integers(1, 50, n_words))
    texts = [[f"w{i}" for i in rng.integers(0, n_words, 40)] for _ in range(n_documents)]
    engine = CopyingEngine()
    TopicVec(n_topics, vectors, random_state=0, tol=1.0, n_jobs=engine).fit(texts)
    block = 2048 * n_dims * 4  # of word vectors
    tables = 4 * (300 * 40 * (n_topics + 3) + n_documents * (n_topics + 1))
    assert engine.largest < 1.5 * (block + tables)
    assert engine.largest < matrix.nbytes / 5


def test_pools_that_wait_for_their_results_are_engines(planted):
    with ThreadPoolExecutor(2) as pool:
        model = TopicVec(4, planted.vectors, random_state=0, n_jobs=pool).fit(planted.documents)
    same = TopicVec(4, planted.vectors, random_state=0, n_jobs=InPlace()).fit(planted.documents)
    assert np.array_equal(model.topic_vectors_, same.topic_vectors_)


@pytest.mark.slow
def test_processes_give_the_same_bits(planted):
    found = [
        TopicVec(3, planted.vectors, random_state=0, tol=1e-2, n_jobs=engine)
        .fit(planted.documents)
        .topic_vectors_
        for engine in (LocalEngine(1), LocalEngine(2, kind="process"))
    ]
    assert np.array_equal(*found)


class LosingEngine:
    """Loses the last result of longer work."""

    def map(self, function, items):
        results = [function(item) for item in items]
        return results[:-1] if len(results) > 3 else results


def test_an_engine_that_loses_a_result_is_an_error():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(9_000, 5)).astype(np.float32)
    vectors = WordVectors([f"w{i}" for i in range(9_000)], matrix, np.ones(9_000))
    texts = [[f"w{i}" for i in rng.integers(0, 9_000, 30)] for _ in range(20)]
    with pytest.raises(EngineError, match=r"LosingEngine.*: 4 results of 5 items"):
        TopicVec(2, vectors, random_state=0, n_jobs=LosingEngine()).fit(texts)


@pytest.mark.slow
def test_plain_pools_of_processes_are_engines(planted):
    model = TopicVec(3, planted.vectors, random_state=0, tol=1e-2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = model.set_params(n_jobs=pool).fit(planted.documents).topic_vectors_
    same = model.set_params(n_jobs=1).fit(planted.documents).topic_vectors_
    assert np.array_equal(found, same)


class Client:
    """Has a map like that of a Dask client: it gives futures."""

    def __init__(self, pool):
        self.pool = pool

    def map(self, function, items):
        return [self.pool.submit(function, item) for item in items]


class Silent:
    def map(self, function, items):
        return []


class Shuffling:
    def map(self, function, items):
        return [function(item) for item in reversed(items)]


class Broken:
    def map(self, function):
        return [function]


LOOKALIKES = {
    "futures": (Client, "gave Future.*wrap it"),
    "nothing": (Silent, "gave nothing"),
    "another order": (Shuffling, "in the order of the items"),
    "other arguments": (Broken, "the map of this Broken failed"),
}


@pytest.mark.parametrize("case", LOOKALIKES)
def test_what_only_looks_like_an_engine_is_refused(planted, case):
    kind, message = LOOKALIKES[case]
    with ThreadPoolExecutor(1) as pool:
        model = TopicVec(2, planted.vectors, n_jobs=kind(pool) if kind is Client else kind())
        with pytest.raises(EngineError, match=message):
            model.fit(planted.documents)


@pytest.mark.parametrize("case", LOOKALIKES)
def test_word_vectors_refuse_it_too(case):
    kind, message = LOOKALIKES[case]
    with ThreadPoolExecutor(1) as pool:
        psdvec = PSDVec(2, min_count=1, n_jobs=kind(pool) if kind is Client else kind())
        with pytest.raises(EngineError, match=message):
            psdvec.fit(["the cat sat on the mat"] * 3)


@pytest.mark.parametrize("engine", ["two", LocalEngine, {"jobs": 2}])
def test_what_has_no_map_is_refused(planted, engine):
    with pytest.raises(EngineError, match="needs a map method"):
        TopicVec(2, planted.vectors, n_jobs=engine).fit(planted.documents)

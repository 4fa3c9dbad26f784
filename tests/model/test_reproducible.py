"""The same bits whatever the machine does at the same time; nearly the same on other processors."""

import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from topicvec import TopicVec, datasets, load_vectors

pytestmark = pytest.mark.filterwarnings("ignore:not converged")
PROPORTIONS, TOP_WORDS = 0.01, 9  # what may differ between processors; see trust.md

SCRIPT = """
import hashlib, json, sys
import numpy as np
from topicvec import TopicVec, datasets

n_jobs, batch, checkpoint = json.loads(sys.argv[1])
documents = datasets.sample_corpus()[::2]
model = TopicVec(6, random_state=0, n_jobs=n_jobs, max_iter=12, tol=0)
def kill(info):
    if info.iteration == 11:
        raise MemoryError
if checkpoint:
    try:
        model.fit(documents, checkpoint=checkpoint, callback=kill)
    except MemoryError:
        pass
model.fit(documents, checkpoint=checkpoint)
parts = [model.transform(documents[i : i + batch]) for i in range(0, len(documents), batch)]
arrays = [model.topic_vectors_, model.topic_residuals_, model.alpha_, model.doc_topic_]
arrays += [np.vstack(parts), np.array(model.bounds_)]
words = [[word for word, _ in topic.words[:10]] for topic in model.topics_]
digest = hashlib.sha256(json.dumps(words).encode())
for array in arrays:
    digest.update(np.ascontiguousarray(array).tobytes())
print(json.dumps([digest.hexdigest(), model.doc_topic_.tolist(), words]))
"""


def _run(n_jobs=1, batch=1000, checkpoint=None, **environment):
    given = json.dumps([n_jobs, batch, checkpoint])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, given],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@cache
def _golden():
    return _run()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"n_jobs": 3, "OPENBLAS_NUM_THREADS": "4", "NUMBA_NUM_THREADS": "2"},
        {"n_jobs": 2, "batch": 5, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "3"},
        {"batch": 1, "checkpoint": "checkpoint"},
    ],
    ids=["workers and threads", "batches and hash seed", "resumed, one by one"],
)
def test_the_same_bits_however_the_work_is_cut(how, tmp_path):
    if "checkpoint" in how:
        how = {**how, "checkpoint": str(tmp_path / how["checkpoint"])}
    assert _run(**how)[0] == _golden()


def _core_types():
    """Kinds of processors whose kernels this one can run, by OpenBLAS's names."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return []
    path = Path("/proc/cpuinfo")
    flags = path.read_text(encoding="utf-8") if path.exists() else ""
    newer = [("Haswell", "avx2"), ("SkylakeX", "avx512bw")]
    return ["Nehalem", *(name for name, flag in newer if flag in flags)]


@pytest.mark.slow
@pytest.mark.skipif(len(_core_types()) < 2, reason="only one kind of processor can be tried here")
def test_other_processors_give_nearly_the_same():
    found = [_run(OPENBLAS_CORETYPE=name) for name in _core_types()]
    assert len({digest for digest, *_ in found}) > 1  # the kinds do differ
    _, proportions, words = found[0]
    for _, others, other_words in found[1:]:
        assert np.abs(np.subtract(proportions, others)).max() <= PROPORTIONS
        for mine, theirs in zip(words, other_words, strict=True):
            assert len(set(mine) & set(theirs)) >= min(TOP_WORDS, len(set(mine)))


# What scikit-learn's checks do not ask with texts: order, subsets, again, read-only memory.

DOCUMENTS = [document.text for document in datasets.sample_corpus()[:40]]


@pytest.fixture(scope="module")
def model():
    return TopicVec(5, random_state=0, max_iter=10).fit(DOCUMENTS)


def test_documents_are_described_alike_in_any_order(model):
    order = np.random.default_rng(0).permutation(len(DOCUMENTS))
    shuffled = model.transform([DOCUMENTS[place] for place in order])
    np.testing.assert_array_equal(shuffled, model.transform(DOCUMENTS)[order])


@pytest.mark.parametrize("size", [1, 3, 39])
def test_documents_are_described_alike_in_any_subset(model, size):
    whole = model.transform(DOCUMENTS)
    for start in range(0, 40 - size, 7):
        part = model.transform(DOCUMENTS[start : start + size])
        np.testing.assert_array_equal(part, whole[start : start + size])


def test_fitting_again_gives_the_same_bits():
    model = TopicVec(5, random_state=0, max_iter=10)
    first = model.fit(DOCUMENTS)
    bits = [np.array(getattr(first, name)) for name in ("topic_vectors_", "doc_topic_", "bounds_")]
    again = model.fit(DOCUMENTS[:20]).fit(DOCUMENTS)  # what was learned in between leaves no trace
    for name, array in zip(("topic_vectors_", "doc_topic_", "bounds_"), bits, strict=True):
        np.testing.assert_array_equal(getattr(again, name), array)


def test_the_start_of_a_fit_may_depend_on_the_order_but_not_the_topics_found(planted):
    order = np.random.default_rng(0).permutation(len(planted.documents))
    given = {"random_state": 0, "own_words": False}
    first = TopicVec(4, planted.vectors, **given).fit(planted.documents)
    other = TopicVec(4, planted.vectors, **given).fit([planted.documents[i] for i in order])
    mine, theirs = first.doc_topic_[order][:, 1:], other.doc_topic_[:, 1:]
    pairs = mine.T @ theirs  # the same topics, perhaps in another order
    place = pairs.argmax(axis=1)
    assert sorted(place) == [0, 1, 2, 3]
    assert np.abs(mine - theirs[:, place]).mean() < 0.02


def test_memory_maps_that_cannot_be_written_are_read(tmp_path, planted):
    counts = np.random.default_rng(0).poisson(0.3, (30, len(planted.vectors))).astype(float)
    vectors = planted.vectors
    model = TopicVec(3, vectors, random_state=0, max_iter=5, own_words=False)
    np.save(tmp_path / "counts.npy", counts)
    mapped = np.load(tmp_path / "counts.npy", mmap_mode="r")
    assert not mapped.flags.writeable
    expected = model.fit(counts).transform(counts)
    np.testing.assert_array_equal(model.fit(mapped).transform(mapped), expected)
    np.testing.assert_array_equal(mapped, counts)


def test_vectors_of_a_memory_map_give_the_same_bits(tmp_path, planted):
    planted.vectors.save(tmp_path / "v.safetensors")
    found = [
        TopicVec(3, load_vectors(tmp_path / "v.safetensors", mmap=mmap), random_state=0, max_iter=5)
        .fit(planted.documents)
        .topic_vectors_
        for mmap in (False, True)
    ]
    np.testing.assert_array_equal(*found)

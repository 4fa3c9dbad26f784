import errno
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from psdvec_twins import vocabulary_of, zipf_corpus

from topicvec.embed import counting
from topicvec.embed.cooccurrence import WindowSettings
from topicvec.embed.counting import count_cooccurrences, count_corpus
from topicvec.errors import DataError, FormatError
from topicvec.text import prepare, prepared

DOCUMENTS = zipf_corpus()
VOCABULARY = vocabulary_of(DOCUMENTS)
EXPECTED = count_cooccurrences(DOCUMENTS, VOCABULARY, window=3)


class StoppedError(Exception):
    pass


def stopping_after(n):
    yield from DOCUMENTS[:n]
    raise StoppedError


def count(documents, folder, **settings):
    settings = {"window": 3, "commit_every": 10, **settings}
    return count_cooccurrences(documents, VOCABULARY, folder=folder, **settings)


@pytest.mark.parametrize("stops", [[5], [10], [37], [12, 55, 119]])
def test_a_stopped_run_goes_on_and_gives_the_same_counts(tmp_path, stops):
    for n in stops:
        with pytest.raises(StoppedError):
            count(stopping_after(n), tmp_path)
    assert count(DOCUMENTS, tmp_path) == EXPECTED


def test_only_what_was_not_committed_is_counted_again(tmp_path, monkeypatch):
    with pytest.raises(StoppedError):
        count(stopping_after(37), tmp_path)
    assert json.loads((tmp_path / "manifest.json").read_text())["n_documents"] == 30
    counted = []
    count(DOCUMENTS, tmp_path, progress=lambda _, n, __: counted.append(n))
    assert min(counted) == 40


def test_a_finished_run_is_read_back_and_can_be_continued(tmp_path):
    first = count(DOCUMENTS[:100], tmp_path)
    assert count(DOCUMENTS[:100], tmp_path) == first
    assert count(DOCUMENTS, tmp_path) == EXPECTED


def test_a_run_that_spills_resumes_too(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    documents = [[f"w{i}" for i in rng.integers(0, 900, 600)] for _ in range(30)]
    vocabulary = vocabulary_of(documents)
    expected = count_cooccurrences(documents, vocabulary, window=6)
    monkeypatch.setattr("topicvec.embed.spill.MANY_RUNS", 2)
    settings = {"window": 6, "memory_budget": 1 << 20, "commit_every": 3, "folder": tmp_path}
    for n in (7, 17, 29):
        count_cooccurrences(documents[:n], vocabulary, **settings)
    assert count_cooccurrences(documents, vocabulary, **settings) == expected


def test_other_documents_are_refused(tmp_path):
    count(DOCUMENTS[:50], tmp_path)
    with pytest.raises(DataError, match="other documents"):
        count(DOCUMENTS[1:], tmp_path)
    with pytest.raises(DataError, match="other documents"):
        count(DOCUMENTS[:20], tmp_path)


@pytest.mark.parametrize("changed", [{"window": 4}, {"weighting": "flat"}, {"min_tokens": 9}])
def test_other_settings_are_refused(tmp_path, changed):
    count(DOCUMENTS[:50], tmp_path)
    with pytest.raises(DataError, match="another folder"):
        count(DOCUMENTS, tmp_path, **changed)


def test_another_vocabulary_is_refused(tmp_path):
    count(DOCUMENTS[:50], tmp_path)
    smaller = vocabulary_of(DOCUMENTS, without=["w001"])
    with pytest.raises(DataError, match="other words"):
        count_cooccurrences(DOCUMENTS, smaller, window=3, folder=tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path):
    for name in ("thesis.txt", "run-of-luck.bin"):
        path = tmp_path / name
        path.write_text("mine")
        with pytest.raises(DataError, match="other files"):
            count(DOCUMENTS, tmp_path)
        assert path.exists()
        path.unlink()


@pytest.mark.parametrize("harm", ["manifest", "state", "missing", "fields"])
def test_a_damaged_folder_is_refused(tmp_path, harm):
    count(DOCUMENTS[:50], tmp_path)
    manifest = tmp_path / "manifest.json"
    state = next(tmp_path.glob("state-*"))
    if harm == "manifest":
        manifest.write_text(manifest.read_text()[:40])
    elif harm == "fields":
        manifest.write_text('{"version": 1}')
    elif harm == "state":
        state.write_bytes(state.read_bytes()[:-8])
    else:
        state.unlink()
    with pytest.raises(FormatError, match="damaged"):
        count(DOCUMENTS, tmp_path)


def test_a_corpus_that_can_be_read_once_only_cannot_use_a_folder(tmp_path):
    with pytest.raises(DataError, match="read twice"):
        count_corpus(iter(DOCUMENTS), WindowSettings(3), folder=tmp_path)
    assert count_corpus(DOCUMENTS, WindowSettings(3), folder=tmp_path) == EXPECTED


def test_a_killed_process_leaves_a_folder_that_resumes(tmp_path):
    script = textwrap.dedent(
        """
        import sys, time
        from test_cooccurrence_resume import DOCUMENTS, count
        def slowly():
            for document in DOCUMENTS:
                time.sleep(0.02)
                yield document
        count(slowly(), sys.argv[1])
        """
    )
    folder = tmp_path / "run"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script, str(folder)], env=environment)
    try:
        deadline = time.monotonic() + 60
        while not (folder / "manifest.json").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert json.loads((folder / "manifest.json").read_text())["n_documents"] < len(DOCUMENTS)
    assert count(DOCUMENTS, folder) == EXPECTED


def test_tokens_are_counted_across_a_restart(tmp_path):
    with pytest.raises(StoppedError):
        count(stopping_after(37), tmp_path)
    assert count(DOCUMENTS, tmp_path).n_tokens == EXPECTED.n_tokens


def test_long_documents_are_committed_by_their_tokens(tmp_path, monkeypatch):
    monkeypatch.setattr("topicvec.embed.encode.CHUNK_SIZE", 100)
    monkeypatch.setattr("topicvec.embed.counting.COMMIT_TOKENS", 50)
    with pytest.raises(StoppedError):
        count(stopping_after(37), tmp_path, commit_every=1000)
    assert 0 < json.loads((tmp_path / "manifest.json").read_text())["n_documents"] <= 37
    assert count(DOCUMENTS, tmp_path, commit_every=1000) == EXPECTED


def stages_of(documents, folder, **settings):
    stages = []
    counts = count_corpus(
        documents,
        WindowSettings(3),
        folder=folder,
        progress=lambda stage, *_: stages.append(stage),
        **settings,
    )
    assert counts == count_corpus(documents, WindowSettings(3), **settings)
    return set(stages)


def test_a_restarted_run_does_not_read_the_vocabulary_again(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr("topicvec.embed.counting._Tally", stop)
        with pytest.raises(StoppedError):
            stages_of(DOCUMENTS, tmp_path, min_count=2)
    assert (tmp_path / "vocabulary.json").exists()
    assert stages_of(DOCUMENTS, tmp_path, min_count=2) == {"counting"}


@pytest.mark.parametrize("changed", [{"min_count": 3}, {"max_words": 9}, {"tokenizer": str.split}])
def test_a_vocabulary_of_other_settings_is_refused(tmp_path, changed):
    assert stages_of(DOCUMENTS, tmp_path, min_count=2) == {"reading", "counting"}
    with pytest.raises(DataError, match="another folder"):
        stages_of(DOCUMENTS, tmp_path, **{"min_count": 2, **changed})


@pytest.mark.parametrize("others", [DOCUMENTS[:-1], [*DOCUMENTS, ["w001"]], DOCUMENTS[::-1]])
def test_a_vocabulary_of_other_documents_is_refused(tmp_path, others):
    stages_of(DOCUMENTS, tmp_path)
    with pytest.raises(DataError, match="other documents"):
        stages_of(others, tmp_path)
    assert stages_of(DOCUMENTS, tmp_path) == {"counting"}


def test_a_damaged_vocabulary_is_refused(tmp_path):
    stages_of(DOCUMENTS, tmp_path)
    (tmp_path / "vocabulary.json").write_text('{"version": 1}')
    with pytest.raises(FormatError, match="damaged"):
        stages_of(DOCUMENTS, tmp_path)


def test_a_full_disk_names_the_folder_and_the_same_call_goes_on(tmp_path, monkeypatch):
    sync, left = os.fsync, [6]

    def fsync(number):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(number)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(DataError, match=r"No space left.*counts of [1-9]\d documents are kept in"):
        count(DOCUMENTS, tmp_path)
    left[0] = 1000
    assert count(DOCUMENTS, tmp_path) == EXPECTED


def test_a_damaged_shard_names_the_folder_and_counting_goes_on_when_it_is_repaired(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(prepared, "_DOCUMENTS", 30)
    corpus = prepare(DOCUMENTS, tmp_path / "corpus", n_jobs=1)
    assert corpus.words  # read before
    shard = corpus.shards[2].path
    data = shard.read_bytes()
    shard.write_bytes(data[:-1])
    given = {"folder": tmp_path / "work", "commit_every": 30, "window": 3}
    with pytest.raises(FormatError, match=r"shard-00002.*is damaged.*counts of 60 documents"):
        count_cooccurrences(corpus, VOCABULARY, **given)
    shard.write_bytes(data)
    told = []
    given["progress"] = lambda _, n, __: told.append(n)
    assert count_cooccurrences(corpus, VOCABULARY, **given) == EXPECTED
    assert told == [90, 120]


def test_a_folder_of_another_prepared_corpus_is_refused(tmp_path):
    given = {"folder": tmp_path / "work", "window": 3}
    count_cooccurrences(prepare(DOCUMENTS, tmp_path / "a"), VOCABULARY, commit_every=1, **given)
    other = prepare(DOCUMENTS[::-1], tmp_path / "b")
    with pytest.raises(DataError, match="other documents"):
        count_cooccurrences(other, VOCABULARY, **given)


class Full(io.BytesIO):
    def write(self, _):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_temporary_disk_says_what_to_do(monkeypatch):
    monkeypatch.setattr(counting, "TemporaryFile", lambda **_: Full())
    with pytest.raises(DataError, match=r"No space left on device: let TMPDIR name .*work folder"):
        count_corpus(DOCUMENTS, WindowSettings(3), n_jobs=1)

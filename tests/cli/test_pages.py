import json
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest

from topicvec import TopicVec, datasets
from topicvec.cli.main import call


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths of a model and of its corpus."""
    folder = tmp_path_factory.mktemp("pages")
    documents = datasets.sample_corpus()
    rows = [json.dumps({"id": d.id, "text": d.text, "label": d.label}) for d in documents]
    (folder / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    TopicVec(n_topics=5, random_state=0, max_iter=200).fit(documents).save(folder / "m.topicvec")
    return str(folder / "m.topicvec"), str(folder / "corpus.jsonl")


@pytest.mark.parametrize("command", ["report", "explore"])
def test_help_teaches_with_an_example(command, capsys):
    assert call([command, "--help"]) == 0
    assert f"Example: topicvec {command}" in " ".join(capsys.readouterr().out.split())


def test_a_report_is_written(files, tmp_path, capsys):
    output = tmp_path / "report.html"
    assert call(["report", *files, "-o", str(output), "--title", "My corpus"]) == 0
    assert "<title>My corpus" in output.read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""


def test_a_report_from_an_index_that_was_kept_is_the_same(files, tmp_path, capsys):
    kept = ["--index", str(tmp_path / "kept.index"), "--title", "T"]
    for name in ("first", "again"):
        assert call(["report", *files, "-o", str(tmp_path / name), *kept]) == 0
    assert (tmp_path / "first").read_bytes() == (tmp_path / "again").read_bytes()
    lines = tmp_path / "other.txt"
    lines.write_text("Another text.", encoding="utf-8")
    assert call(["report", files[0], str(lines), "-o", str(tmp_path / "a"), *kept]) == 2
    assert "is an index of other documents" in capsys.readouterr().err


def test_a_report_is_refused_before_the_work_if_it_cannot_be_written(tmp_path, capsys):
    missing = tmp_path / "no" / "report.html"
    assert call(["report", "no.topicvec", "no.jsonl", "-o", str(missing)]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_the_explorer_answers_until_it_is_interrupted(files):
    command = [sys.executable, "-m", "topicvec", "explore", *files, "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        address = process.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}api/overview", timeout=20) as answer:
            assert json.load(answer)["n_documents"] == 96
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert b"Traceback" not in process.stderr.read()


def test_a_port_in_use_is_one_line_and_exit_code_2(files, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert call(["explore", *files, "--port", port, "--no-browser"]) == 2
    assert "choose another --port" in " ".join(capsys.readouterr().err.split())


def test_a_bar_counts_what_is_prepared_and_written(files, tmp_path, monkeypatch):
    seen = {}

    @contextmanager
    def progress_bar():
        yield lambda stage, done, total=None, *_: seen.setdefault(stage, []).append((done, total))

    monkeypatch.setattr("topicvec.cli.render.progress_bar", progress_bar)
    out = tmp_path / "r.html"
    assert call(["report", *files, "-o", str(out), "--documents", "5"]) == 0
    assert seen["writing"] == [(done, 5) for done in range(1, 6)]
    assert seen["preparing"][-1][0] == seen["preparing"][-1][1] == seen["reading"][-1][0] > 5

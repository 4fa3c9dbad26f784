import json
import os
import signal
import subprocess
import sys

import pytest

from topicvec import TopicVec
from topicvec.cli import fitting
from topicvec.cli.main import call
from topicvec.model import PaperSolver, progress


def test_fit_writes_a_model_and_tells_so(corpus, vectors, tmp_path, capsys):
    output = tmp_path / "a.topicvec"
    options = ["-k", "5", "--vectors", str(vectors), "--seed", "3"]
    assert call(["fit", str(corpus), "-o", str(output), *options]) == 0
    shown = capsys.readouterr()
    assert shown.err.splitlines()[0].endswith("corpus.jsonl: JSON lines, utf-8")
    assert "5 topics of 96 documents" in shown.err
    for topic in TopicVec.load(output).topics_[:-1]:  # it ends with the table that topics prints
        assert topic.title in " ".join(shown.out.split())
    assert TopicVec.load(output).fitted_.n_documents == 96


def test_the_same_seed_gives_the_same_model(corpus, vectors, model, tmp_path):
    output = tmp_path / "again.topicvec"
    options = ["-k", "9", "--vectors", str(vectors), "--jobs", "1", "-q"]
    assert call(["fit", str(corpus), "-o", str(output), *options]) == 0
    assert output.read_bytes() == model.read_bytes()


def test_options_reach_the_model(corpus, vectors, tmp_path):
    output = tmp_path / "a.topicvec"
    options = ["--set", "alpha=learn", "--set", "max_norm=5", "--stop-words", "english-extended"]
    options += ["--set", "max_iter=90", "--checkpoint", str(tmp_path / "c"), "-q"]
    assert (
        call(
            ["fit", str(corpus), "-o", str(output), "-k", "4", "--vectors", str(vectors), *options]
        )
        == 0
    )
    found = TopicVec.load(output)
    assert (found.alpha, found.max_norm, found.stop_words) == ("learn", 5, "english-extended")
    assert found.max_iter == 90
    assert (tmp_path / "c").exists()


def test_the_papers_solver_is_said_on_the_command_line(corpus, vectors, tmp_path):
    output, said = tmp_path / "a.topicvec", []
    for each in (
        "solver=paper",
        "learning_rate=0.05",
        "length=2500",
        "n_passes=2",
        "n_steps=5",
        "start=even",
    ):
        said += ["--set", each]
    options = ["-k", "4", "--vectors", str(vectors), "--set", "max_iter=3", "--set", "tol=10", "-q"]
    assert call(["fit", str(corpus), "-o", str(output), *options, *said]) == 0
    assert TopicVec.load(output).solver == PaperSolver(
        0.05, 2500, n_passes=2, n_steps=5, start="even"
    )


def test_topics_takes_settings_too(article, capsys):
    arguments = ["topics", str(article), "-k", "3", "--json", "-q"]
    shown = []
    for more in ([], ["--set", "solver=paper", "--set", "max_iter=3", "--set", "tol=10"]):
        assert call([*arguments, *more]) == 0
        shown.append(json.loads(capsys.readouterr().out)["topics"])
    assert shown[0] != shown[1]


def test_topics_of_each_class_from_a_label_column(corpus, vectors, tmp_path):
    output = tmp_path / "a.topicvec"
    options = ["--by-class", "-k", "1", "--vectors", str(vectors), "-q"]
    assert call(["fit", str(corpus), "-o", str(output), *options]) == 0
    assert set(TopicVec.load(output).fitted_.classes) > {None, "astronomy", "cooking"}


def test_topics_of_each_class_from_sub_folders(vectors, tmp_path):
    for label, text in (("sky", "moon stars planet sky"), ("food", "bread oven flour salt")):
        (tmp_path / "texts" / label).mkdir(parents=True)
        (tmp_path / "texts" / label / "1.txt").write_text(text)
    output = tmp_path / "a.topicvec"
    options = ["--by-class", "-k", "1", "--vectors", str(vectors), "-q"]
    assert call(["fit", str(tmp_path / "texts"), "-o", str(output), *options]) == 0
    assert TopicVec.load(output).fitted_.classes == (None, "food", "sky")


def test_verbose_tells_each_iteration_and_quiet_nothing(corpus, vectors, tmp_path, capsys):
    arguments = ["fit", str(corpus), "-k", "3", "--vectors", str(vectors)]
    assert call([*arguments, "-o", str(tmp_path / "a"), "-v"]) == 0
    assert "iteration 2: bound" in capsys.readouterr().err
    assert call([*arguments, "-o", str(tmp_path / "a"), "-q"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("default:interrupted after")
def test_an_interrupted_fit_keeps_the_model_so_far(corpus, vectors, tmp_path, monkeypatch, capsys):
    def interrupt(watch, news):
        if news.iteration == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(fitting.Watch, "__call__", interrupt)
    output = tmp_path / "a.topicvec"
    arguments = ["fit", str(corpus), "-o", str(output), "-k", "4", "--vectors", str(vectors)]
    assert call(arguments) == 130
    assert TopicVec.load(output).n_iter_ == 3
    assert "interrupted after 3 iterations" in capsys.readouterr().err


@pytest.mark.filterwarnings("default:interrupted after")
def test_interrupted_topics_are_shown_as_far_as_they_are(article, vectors, monkeypatch, capsys):
    def interrupt(watch, news):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.Watch, "__call__", interrupt)
    arguments = ["topics", str(article), "-k", "3", "--vectors", str(vectors), "--json"]
    assert call(arguments) == 130
    assert len(json.loads(capsys.readouterr().out)["documents"]) == 1


def heed_interrupts():
    """What runs in the background of a shell ignores Ctrl-C, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_real_fit_with_130_and_a_model(corpus, tmp_path):
    output = tmp_path / "a.topicvec"
    command = [sys.executable, "-m", "topicvec", "fit", str(corpus), "-o", str(output), "-v"]
    command += ["-k", "59"]  # with the default vectors, so that there is time to interrupt
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    ) as process:
        for line in process.stderr:
            if "iteration 1: bound" in line:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
    assert process.returncode == 130, rest
    assert TopicVec.load(output).fitted_.settings["interrupted"]


def test_an_interrupt_before_the_first_iteration_is_130_too(corpus, tmp_path, monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("topicvec.model.topicvec.TopicVec.fit", interrupt)
    assert call(["fit", str(corpus), "-o", str(tmp_path / "a")]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "topicvec: interrupted"
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-o", "{folder}"], "is a folder"),
        (["-o", "{folder}/no/such/a"], "no such folder"),
        (["-o", "{folder}/a", "--set", "alpha=big"], "--set takes alpha=NUMBER|learn, max_norm="),
        (["-o", "{folder}/a", "--set", "n_topics=5"], "init=auto|spread|documents|random, learn"),
        (["-o", "{folder}/a", "--set", "n_topics="], "found 'n_topics='"),
        (["-o", "{folder}/a", "--set", "length=9"], "add --set solver=paper"),
        (["-o", "{folder}/a", "--set", "max_norm"], "max_norm=NUMBER"),
        (["-o", "{folder}/a", "--set", "max_iter=2.5"], "found 'max_iter=2.5'"),
        (["-o", "{folder}/a", "--set", "solver=NUMBER"], "found 'solver=NUMBER'"),
        (["-o", "{folder}/a", "--set", "max_norm=-1"], "max_norm must be"),
        (["-o", "{folder}/a", "--format", "csv,heading"], "--format takes header, no-header,"),
        (["-o", "{folder}/a", "--format", "csv,delimiter=ab"], "found 'delimiter=ab'"),
        (["-o", "{folder}/a", "--vectors", "nowhere.txt"], "nowhere.txt"),
        (["-o", "{folder}/a", "--by-class", "--format", "lines"], "have no class"),
        (["-o", "{folder}/a", "-k", "0"], "n_topics"),
    ],
)
def test_bad_input_is_found_and_told_in_one_line(options, expected, corpus, tmp_path, capsys):
    arguments = [option.format(folder=tmp_path) for option in options]
    assert call(["fit", str(corpus), *arguments]) == 2
    shown = capsys.readouterr().err
    *read, error = shown.splitlines()
    assert error.startswith("topicvec: ")
    assert expected in error
    assert all("utf-8" in line for line in read)
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
def test_a_bar_with_the_bound_is_shown_to_a_person_only(article, vectors, tmp_path, capsys):
    import pty

    ours, theirs = pty.openpty()
    arguments = ["fit", str(article), "-o", str(tmp_path / "a"), "--vectors", str(vectors)]
    command = [sys.executable, "-m", "topicvec", *arguments]
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stderr=theirs, env=terminal) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
    os.close(ours)
    assert process.returncode == 0
    assert b"learning topics" in shown
    assert b"bound" in shown
    assert call(arguments) == 0
    assert "learning topics" not in capsys.readouterr().err


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""


def test_the_time_left_is_guessed_from_how_changes_shrink():
    assert progress.iterations_left([0.8, 0.4, 0.2, 0.1], 0.0125) == 4
    assert progress.iterations_left([0.1, 0.0005], 0.001) == 1
    assert progress.iterations_left([float("inf")], 0.001) > 1000
    assert progress.iterations_left([0.1, 0.2], 0.001) > 1000
    assert progress.iterations_left([0.8, 0.4], 0) > 1000


def test_what_can_be_set_are_parameters_of_the_model_without_an_option_of_their_own():
    from typing import get_args

    from topicvec.cli.options import _SETTABLE
    from topicvec.model.start import Start

    params = TopicVec().get_params()
    assert set(_SETTABLE) <= set(params)
    assert not set(_SETTABLE) & {"n_topics", "vectors", "stop_words", "share", "random_state"}
    assert _SETTABLE["init"].split("|") == list(get_args(Start))


@pytest.mark.parametrize(
    ("format", "lines"),
    [
        ("csv,no-header", ["a,moon and stars", "b,bread and salt"]),
        ("csv,no-header,delimiter=semicolon", ["a;moon, stars", "b;bread, salt"]),
        ("csv,no-header,delimiter=|", ["a|moon, stars", "b|bread, salt"]),
        ("tsv,no-header", ["a\tmoon and stars", "b\tbread and salt"]),
        ("csv,no-header,no-quoting", ['a,"moon" stars', 'b,bread "and salt']),
        ("tsv,no-header,quoting", ['a\t"moon\tand stars"', "b\tbread and salt"]),
    ],
)
def test_how_a_table_is_written_is_said_behind_its_format(format, lines, vectors, tmp_path, capsys):
    table = tmp_path / "table.txt"
    table.write_text("\n".join(lines))
    options = ["--format", format, "--id-column", "0", "--text-column", "1", "-k", "1", "--json"]
    assert call(["topics", str(table), "--vectors", str(vectors), *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [document["id"] for document in found["documents"]] == ["a", "b"]
    words = {word["word"] for topic in found["topics"] for word in topic["words"]}
    assert words == {"moon", "stars", "bread", "salt"}


def test_words_without_a_vector_are_learned_unless_vectors_are_given(vectors, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("Rain and wind make a zorblax sing in the night. " * 8)
    for given in ([], ["--vectors", str(vectors)], ["--vectors", "general"]):
        output = tmp_path / "a.topicvec"
        assert call(["fit", str(text), "-o", str(output), "-k", "1", "-q", *given]) == 0
        found = TopicVec.load(output)
        assert ("zorblax" in found.vocabulary_) != bool(given)
        assert ("zorblax" in found.unknown_words_) == bool(given)


@pytest.mark.parametrize("command", ["fit", "topics"])
def test_vectors_may_come_from_the_texts_alone(command, tmp_path, capsys):
    lines = ["gatto cane coniglio gatto cane topo", "mare onda vela mare spiaggia onda"] * 20
    text = tmp_path / "lines.txt"
    text.write_text("\n".join(lines))
    options = ["--format", "lines", "-k", "2", "--vectors", "corpus", "-q"]
    output = ["-o", str(tmp_path / "model")] if command == "fit" else []
    assert call([command, str(text), *options, *output]) == 0
    if command == "fit":
        assert "coniglio" in TopicVec.load(tmp_path / "model").vocabulary_
    else:
        assert "coniglio" in capsys.readouterr().out


def test_too_little_text_for_vectors_of_its_own_is_one_line(tmp_path, capsys):
    text = tmp_path / "short.txt"
    text.write_text("only one sentence")
    assert call(["topics", str(text), "--vectors", "corpus", "-q"]) == 2
    assert "use vectors='general'" in capsys.readouterr().err

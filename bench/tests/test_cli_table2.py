import json
from contextlib import contextmanager

import pytest

from topicvec import datasets
from topicvec.datasets import LabelledTexts
from topicvec.errors import DataError
from topicvec_bench.cli import call
from topicvec_bench.corpora import CORPORA


@pytest.fixture(autouse=True)
def corpora(monkeypatch):
    """Let the bundled corpus stand for both corpora."""

    def load(subset):
        documents = datasets.sample_corpus()
        own = [each for row, each in enumerate(documents) if (row % 3 == 0) == (subset == "test")]
        return LabelledTexts(tuple(own), tuple(sorted({str(each.label) for each in documents})))

    for name in CORPORA:
        monkeypatch.setitem(CORPORA, name, load)


def test_the_table_has_our_numbers_and_the_papers(capsys, tmp_path):
    file = tmp_path / "table2.json"
    options = ["--corpus", "reuters", "--methods", "BOW,meanwv", "-o", str(file)]
    assert call(["table2", *options]) == 0
    shown = capsys.readouterr()
    assert "91.1" in shown.out  # the paper's BOW
    assert "reuters MeanWV seed 0: F1" in shown.err
    assert len(json.loads(file.read_text())["rows"]) == 2


def test_the_table_as_json_has_what_scripts_rely_on(capsys):
    assert call(["table2", "--methods", "BOW", "--json", "-q"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)["rows"]
    assert [each["corpus"] for each in found] == ["20news", "reuters"]
    assert {"method", "n_features", "f1", "strong_f1", "paper_f1"} <= set(found[0])
    assert found[0]["f1"]["n"] == 1
    assert shown.err == ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--corpus", "imdb"], "imdb"),
        (["--methods", "BOW,nothing"], "nothing"),
        (["--seeds", "0"], "n_seeds"),
        (["-o", "no-such-folder/table2.json"], "no-such-folder"),
        (["--vectors", "no-such-file.txt"], "no-such-file.txt"),
    ],
)
def test_wrong_options_are_one_line_and_exit_code_2(options, expected, capsys):
    assert call(["table2", *options]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("topicvec: ")
    assert expected in shown.err


def test_no_arguments_show_the_help_and_a_wrong_option_is_one_line(capsys):
    assert call([]) == 2
    shown = capsys.readouterr()
    assert "table2" in shown.out
    assert shown.err == ""
    assert call(["topics", "--nonsense"]) == 2
    assert capsys.readouterr().err.startswith("topicvec: No such option: --nonsense")


def test_an_error_can_be_debugged():
    with pytest.raises(DataError, match="n_seeds"):
        call(["table2", "--seeds", "0", "--debug"])


def test_a_corpus_can_be_named_in_place_of_a_file(capsys):
    options = ["20news", "-k", "4", "--model", "TopicVec", "--min-documents", "2", "-q", "--json"]
    assert call(["topics", *options]) == 0
    (found,) = json.loads(capsys.readouterr().out)["models"]
    assert found["n_topics"] == 4
    assert found["purity"] > 0  # classes are known


def test_the_table_says_how_many_rows_are_done(monkeypatch):
    seen = []

    @contextmanager
    def progress():
        yield lambda *step: seen.append(step)

    monkeypatch.setattr("topicvec_bench.cli.progress_bar", progress)
    assert call(["table2", "--methods", "BOW", "-q"]) == 0
    assert seen == [("rows", 0, 2, "20news BOW"), ("rows", 1, 2, "reuters BOW")]

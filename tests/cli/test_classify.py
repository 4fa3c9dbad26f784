import csv
import json

import pytest

from topicvec import TopicVec, datasets
from topicvec.cli import fitting
from topicvec.cli.main import call
from topicvec.represent.classifier import default_topics

DOCUMENTS = [
    document
    for document in datasets.sample_corpus()
    if document.label in ("astronomy", "cooking", "music")
]
COLUMNS = ["--id-column", "name", "--label-column", "class", "--text-column", "body"]


@pytest.fixture(scope="module")
def three(folder):
    """Three classes of the bundled three, as a table."""
    path = folder / "three.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "class", "body"])
        writer.writerows([document.id, document.label, document.text] for document in DOCUMENTS)
    return path


@pytest.fixture(scope="module")
def classifier(folder, three, vectors):
    path = folder / "a.classifier"
    options = ["-k", "2", "--vectors", str(vectors), "--held-out", "0", "-q", *COLUMNS]
    assert call(["classify", "train", str(three), "-o", str(path), *options]) == 0
    return path


def test_training_reports_a_held_out_score(three, vectors, tmp_path, capsys):
    output = tmp_path / "a.classifier"
    options = ["-k", "2", "--vectors", str(vectors), "--held-out", "0.25", "--json", *COLUMNS]
    assert call(["classify", "train", str(three), "-o", str(output), *options]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert 0.6 < facts["held_out_macro_f1"] <= 1
    assert facts["classes"] == ["astronomy", "cooking", "music"]
    assert TopicVec.load(output).fitted_.n_documents == 36


def test_predictions_as_json_with_a_score_if_classes_are_known(classifier, three, capsys):
    assert call(["classify", "predict", str(classifier), str(three), "--json", *COLUMNS]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["macro_f1"] > 0.9
    assert found["documents"][0]["label"] == "astronomy"
    assert 0 < found["documents"][0]["probability"] <= 1


def test_predictions_of_a_text_without_a_class_as_a_table(classifier, tmp_path, capsys):
    text = tmp_path / "a.txt"
    text.write_text("Knead the dough, wait an hour and bake the bread in a hot oven.")
    assert call(["classify", "predict", str(classifier), str(text)]) == 0
    shown = capsys.readouterr()
    assert "cooking" in shown.out
    assert "F1" not in shown.err


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_predictions_to_a_file(classifier, three, tmp_path, suffix, capsys):
    output = tmp_path / f"a{suffix}"
    arguments = ["classify", "predict", str(classifier), str(three), "-o", str(output)]
    assert call([*arguments, *COLUMNS]) == 0
    assert capsys.readouterr().out == ""
    if suffix == ".csv":
        with output.open(newline="") as file:
            rows = list(csv.DictReader(file))
    elif suffix == ".jsonl":
        rows = [json.loads(line) for line in output.read_text().splitlines()]
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(output).to_pylist()
    assert [row["id"] for row in rows] == [document.id for document in DOCUMENTS]
    assert set(rows[0]) == {"id", "label", "probability"}


def test_what_is_not_said_is_as_in_the_class(three, vectors, tmp_path, capsys):
    output = tmp_path / "a.classifier"
    options = ["--vectors", str(vectors), "--held-out", "0", "--set", "tol=1", *COLUMNS]
    assert call(["classify", "train", str(three), "-o", str(output), *options]) == 0
    found, expected = TopicVec.load(output).get_params(), default_topics().get_params()
    given = {"vectors", "tol", "n_topics"}
    assert found["n_topics"] == 1  # a class has a dozen documents
    assert {k: v for k, v in found.items() if k not in given} == {
        k: v for k, v in expected.items() if k not in given
    }
    assert call(["classify", "train", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"1 to {expected['n_topics']}" in shown


@pytest.mark.filterwarnings("default:interrupted after")
def test_an_interrupted_training_keeps_what_it_has(three, vectors, tmp_path, monkeypatch, capsys):
    def interrupt(watch, news):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.Watch, "__call__", interrupt)
    output = tmp_path / "a.classifier"
    arguments = ["classify", "train", str(three), "-o", str(output), "-k", "1"]
    arguments += ["--vectors", str(vectors), *COLUMNS]
    assert call(arguments) == 130
    assert not output.exists()  # broken off while it was only tested
    assert call([*arguments, "--held-out", "0"]) == 130
    assert call(["classify", "predict", str(output), str(three), "-q", *COLUMNS]) == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["train", "{bare}", "-o", "{folder}/a"], "have no class"),
        (["train", "{three}", "-o", "{folder}/a", "--held-out", "1"], "--held-out"),
        (["train", "{three}", "-o", "{folder}/a", "--held-out", "0.01"], "too few documents"),
        (["train", "{one}", "-o", "{folder}/a", "--held-out", "0"], "two classes"),
        (["predict", "{model}", "{three}"], "without a classifier"),
        (["predict", "{model}", "{three}", "-o", "{folder}/a.npy"], "classes are words"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, expected, model, three, tmp_path, capsys):
    one = tmp_path / "one.csv"
    one.write_text("text,label\nmoon stars,sky\nplanet moon,sky\n")
    bare = tmp_path / "bare.txt"
    bare.write_text("moon stars")
    names = {"model": model, "three": three, "folder": tmp_path, "one": one, "bare": bare}
    given = [argument.format(**names) for argument in arguments]
    assert call(["classify", *given, *(COLUMNS if "{three}" in arguments else [])]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert expected in shown.err
    *read, error = shown.err.splitlines()
    assert error.startswith("topicvec: ")
    assert all("utf-8" in line for line in read)

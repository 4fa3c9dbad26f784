import json

import pytest

from topicvec.datasets import sample_corpus
from topicvec_bench.cli import call


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    rows = [{"text": d.text, "group": d.label} for d in sample_corpus()]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def arguments(corpus, *more):
    models = ["--model", "topicvec", "--model", "NMF scikit-learn"]
    return ["topics", str(corpus), "--min-documents", "2", "-k", "8", *models, *more]


def test_models_are_measured_side_by_side_with_a_reference(corpus, capsys):
    more = ["--label-column", "group", "--reference", str(corpus), "--json"]
    assert call(arguments(corpus, *more)) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in found["models"]] == ["TopicVec", "NMF (scikit-learn)"]
    for row in found["models"]:
        assert -1 <= row["npmi"] <= 1
        assert -1 <= row["reference_npmi"] <= 1
        assert row["purity"] > 1 / 8
        assert len(row["topics"]) == row["n_found"] <= 8
    assert found["skipped"] == []


def test_a_table_has_no_columns_for_what_is_not_known(corpus, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert call(arguments(corpus, "--words", "3")) == 0
    shown = capsys.readouterr().out
    assert "NPMI" in shown
    assert "purity" not in shown
    assert "NMF (scikit-learn), 8 topics" in shown


def test_an_unknown_model_is_one_line(corpus, capsys):
    assert call(["topics", str(corpus), "--model", "LSA"]) == 2
    assert "unknown method 'LSA': expected one of TopicVec; LDA (gensim)" in capsys.readouterr().err

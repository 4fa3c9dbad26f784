import json

from topicvec import TopicVec
from topicvec.cli.main import call


def test_combine_writes_a_model_and_says_where_topics_come_from(model, tmp_path, capsys):
    output = tmp_path / "both.topicvec"
    assert call(["combine", str(model), str(model), "-o", str(output), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["topics"]
    one, both = TopicVec.load(model), TopicVec.load(output)
    assert both.n_topics_ == one.n_topics_
    assert both.fitted_.n_documents == 2 * one.fitted_.n_documents
    assert all(row["from"].count(model.name) == 2 for row in rows)
    assert call(["combine", str(model), "-o", str(output)]) == 0
    assert "from" in capsys.readouterr().out


def test_combine_of_what_is_no_model_is_one_line(tmp_path, capsys):
    assert call(["combine", "nothing.topicvec", "-o", str(tmp_path / "x")]) == 2
    assert "no such file" in capsys.readouterr().err

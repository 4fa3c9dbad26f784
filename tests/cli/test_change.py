"""Commands that list, change and choose topics: topics MODEL, relabel, merge, choose, by-class."""

import csv
import io
import json

import numpy as np
import pytest

from topicvec import TopicVec, datasets
from topicvec.cli.main import call
from topicvec.model import bundle


@pytest.fixture(scope="module")
def classes(folder, corpus, vectors):
    """A model with topics of each class."""
    path = folder / "classes.model"
    options = ["--by-class", "-k", "1", "--vectors", str(vectors), "-q"]
    assert call(["fit", str(corpus), "-o", str(path), *options]) == 0
    return path


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_the_topics_of_a_saved_model_are_listed_whatever_its_name(model, tmp_path, capsys):
    path = tmp_path / "my topics.txt"
    path.write_bytes(model.read_bytes())
    assert call(["topics", str(path)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    for topic in TopicVec.load(model).topics_[:-1]:
        assert topic.title in " ".join(shown.out.replace("│", " ").split())
        assert f"{topic.share:.1%}" in shown.out


def test_json_and_csv_have_labels_shares_and_words(model, capsys):
    topics = TopicVec.load(model).topics_
    assert call(["topics", str(model), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["topics"]
    assert [each["index"] for each in found] == [topic.index for topic in topics]
    assert [each["share"] for each in found] == [topic.share for topic in topics]
    assert call(["topics", str(model), "--csv", "--words", "3"]) == 0
    rows = read_csv(capsys.readouterr().out)
    assert [row["label"] for row in rows] == [topic.title for topic in topics]
    assert [row["words"] for row in rows][:2] == [
        " ".join(word for word, _ in topic.words[:3]) for topic in topics[:2]
    ]


def test_topics_of_classes_are_listed_class_by_class(classes, capsys):
    assert call(["topics", str(classes), "--csv"]) == 0
    found = [row["class"] for row in read_csv(capsys.readouterr().out)]
    labels = sorted({document.label for document in datasets.sample_corpus()})
    assert found == [*labels, ""]
    assert call(["topics", str(classes)]) == 0
    assert "astronomy" in capsys.readouterr().out


def test_a_model_is_seen_in_a_text(model, article, capsys):
    assert call(["topics", str(article), "--model", str(model), "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    [document] = found["documents"]
    expected = TopicVec.load(model).transform([datasets.sample_article()])[0]
    np.testing.assert_allclose(document["proportions"], expected)
    assert sum(each["share"] for each in found["topics"]) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["topics", "{model}", "-k", "3"], "-k is for topics that are learned"),
        (["topics", "{text}", "-m", "{model}", "--no-phrases"], "--phrases is for topics that are"),
        (["explain", "{text}", "-m", "{model}", "--set", "tol=1"], "--set is for topics that are"),
        (["summarize", "{text}", "-m", "{model}", "--seed", "2"], "--seed is for topics that are"),
        (["cloud", "-m", "{model}", "--by-class", "-o", "{folder}/a.svg"], "--by-class is for"),
        (["topics", "{model}", "{text}"], "is a saved model: list its topics alone"),
        (["topics", "{model}", "--page", "a.html"], "--page needs texts"),
        (["relabel", "{model}", "first", "-o", "{folder}/b"], "NUMBER=NAME"),
        (["relabel", "{model}", "99=x", "-o", "{folder}/b"], "99"),
        (["merge", "{model}", "1", "-o", "{folder}/b"], "as their numbers, 3,5; found '1'"),
        (["merge", "{model}", "1,x", "-o", "{folder}/b"], "found '1,x'"),
        (["merge", "{model}", "1,99", "-o", "{folder}/b"], "99"),
        (["choose", "{text}", "-k", "auto"], "-k takes the numbers to try"),
        (["by-class", "{model}", "{text}"], "1 of 1 documents have no class"),
        (["trends", "{model}"], "now called topicvec over-time"),
    ],
)
def test_what_does_not_go_together_is_said(arguments, expected, model, article, tmp_path, capsys):
    names = {"model": model, "text": article, "folder": tmp_path}
    assert call([argument.format(**names) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert expected in shown.err.splitlines()[-1]
    assert not list(tmp_path.glob("[ab]*.svg")) + list(tmp_path.glob("b"))


def test_topics_get_other_names_and_lose_them(model, tmp_path, capsys):
    named, bare = tmp_path / "named", tmp_path / "bare"
    assert call(["relabel", str(model), "1=sea trade", "2=a = b", "-o", str(named)]) == 0
    assert "sea trade" in capsys.readouterr().out
    titles = {topic.index: topic.title for topic in TopicVec.load(named).topics_}
    assert (titles[1], titles[2]) == ("sea trade", "a = b")
    assert bundle.read(named).extra == bundle.read(model).extra
    assert call(["relabel", str(named), "1=", "2=", "-o", str(bare)]) == 0
    assert bundle.read(bare).fitted.labels == bundle.read(model).fitted.labels


def test_topics_are_joined(model, tmp_path, capsys):
    path = tmp_path / "fewer"
    assert call(["merge", str(model), "1,2", "3,4,5", "-o", str(path)]) == 0
    assert f"{path}: 6 topics" in capsys.readouterr().err
    expected = TopicVec.load(model).merge([[1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(TopicVec.load(path).topic_vectors_, expected.topic_vectors_)
    assert call(["show", str(path), "1", "--json"]) == 0  # the names of documents are kept
    assert json.loads(capsys.readouterr().out)["documents"][0]["id"].count("-") == 1


def test_a_number_of_topics_is_chosen_by_held_out_words(corpus, vectors, capsys):
    command = ["choose", str(corpus), "-k", "2,8", "--vectors", str(vectors), "-q"]
    assert call([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"] == 8
    assert found["scores"]["8"] > found["scores"]["2"]
    assert call([*command, "--csv"]) == 0
    assert [row["topics"] for row in read_csv(capsys.readouterr().out)] == ["2", "8"]
    assert call(command) == 0
    assert "best" in capsys.readouterr().out


def test_classes_are_tables_of_topics(model, corpus, capsys):
    assert call(["by-class", str(model), str(corpus), "--csv"]) == 0
    rows = read_csv(capsys.readouterr().out)
    assert len(rows) == 8 * 9
    assert {row["documents"] for row in rows} == {"12"}
    shares = TopicVec.load(model).transform(datasets.sample_corpus())
    of_class = [document.label == "cooking" for document in datasets.sample_corpus()]
    cooking = {row["topic"]: float(row["share"]) for row in rows if row["class"] == "cooking"}
    best = max(cooking, key=lambda topic: cooking[topic])
    assert shares[of_class].mean(axis=0).argmax() == int(best)
    assert call(["by-class", str(model), str(corpus), "--json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)["classes"]
    assert [each["class"] for each in found] == sorted({row["class"] for row in rows})
    assert call(["by-class", str(model), str(corpus), "-n", "1"]) == 0
    assert "cooking" in capsys.readouterr().out


def test_shares_go_to_standard_output(model, article, capsys):
    assert call(["transform", str(model), str(article), "-o", "-", "-q"]) == 0
    shown = capsys.readouterr()
    [row] = read_csv(shown.out)
    expected = TopicVec.load(model).transform([datasets.sample_article()])[0]
    assert [float(row[f"topic{k}"]) for k in range(10)] == pytest.approx(expected, rel=1e-7)
    assert shown.err == ""


def test_documents_like_a_text_are_found_and_shown_from_an_index_alone(
    model, corpus, tmp_path, capsys
):
    index = ["--index", str(tmp_path / "corpus.index")]
    assert call(["search", str(model), "bread", str(corpus), *index, "--json", "-q"]) == 0
    first = json.loads(capsys.readouterr().out)
    text = "The moon and the planets are bright in the night sky."
    assert call(["similar", str(model), "--to", text, *index, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["text"] == text
    assert found["hits"][0]["id"].startswith("astronomy")
    texts = {document.id: document.text for document in datasets.sample_corpus()}
    for hit in [*first["hits"], *found["hits"]]:
        assert " ".join(texts[hit["id"]].split()).startswith(hit["text"].removesuffix(" …"))
        assert len(hit["text"]) > 40
    assert call(["search", str(model), "bread", *index, "-n", "1"]) == 0
    assert first["hits"][0]["text"][:30] in capsys.readouterr().out


LEARNING = {"-k", "--by-class", "--seed", "--set", "--jobs", "--engine", "--vectors",
            "--stop-words", "--own-words", "--phrases", "--format", "--encoding", "--errors",
            "--text-column", "--id-column", "--label-column", "--time-column"}  # fmt: skip


@pytest.mark.parametrize("command", ["topics", "cloud", "explain", "summarize"])
def test_commands_that_learn_have_the_options_of_fit(command):
    from typer.main import get_command

    from topicvec.cli.main import make_app

    commands = get_command(make_app()).commands
    names = {
        name: {option for parameter in commands[name].params for option in parameter.opts}
        for name in ("fit", command)
    }
    assert names["fit"] >= LEARNING
    only = {"--output", "-o", "--checkpoint", "--memory"}  # of what fit alone does
    assert names["fit"] - names[command] == only - names[command]
    assert "--model" in names[command]

"""Commands that use a model: transform, show, over-time, explain, search, similar and more."""

import contextlib
import csv
import json
import os
import subprocess
import sys
import unicodedata

import numpy as np
import pytest

from topicvec import TopicVec, WordVectors, datasets
from topicvec.cli.main import call
from topicvec.cli.transform import FormName
from topicvec.represent.documents import FORMS, represent


def read_json(capsys):
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def expected(model):
    return TopicVec.load(model).transform(datasets.sample_corpus())


def test_transform_to_csv(model, corpus, expected, tmp_path):
    output = tmp_path / "a.csv"
    assert call(["transform", str(model), str(corpus), "-o", str(output), "-q"]) == 0
    with output.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [d.id for d in datasets.sample_corpus()]
    assert rows[0]["label"] == "astronomy"
    table = [[float(row[f"topic{k}"]) for k in range(10)] for row in rows]
    np.testing.assert_allclose(table, expected, rtol=1e-7)


def test_transform_to_json_lines(model, corpus, expected, tmp_path):
    output = tmp_path / "a.jsonl"
    assert call(["transform", str(model), str(corpus), "-o", str(output), "-q"]) == 0
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert rows[4]["topic3"] == pytest.approx(expected[4, 3], rel=1e-7)


def test_transform_to_parquet_and_numpy_is_exact(model, corpus, expected, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("a.parquet", "a.npy"):
        assert call(["transform", str(model), str(corpus), "-o", str(tmp_path / name), "-q"]) == 0
    table = parquet.read_table(tmp_path / "a.parquet").to_pydict()
    assert table["topic2"] == expected[:, 2].tolist()
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), expected)


def test_batches_do_not_change_the_result(model, corpus, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("topicvec.cli.transform._BATCH", 7)
    output = tmp_path / "a.npy"
    assert call(["transform", str(model), str(corpus), "-o", str(output), "-q"]) == 0
    np.testing.assert_array_equal(np.load(output), expected)


@pytest.mark.parametrize("form", FormName)
def test_every_form_can_be_written(form, model, article, tmp_path):
    output = tmp_path / "a.npy"
    options = ["--form", form.value, "--no-prior", "-q"]
    assert call(["transform", str(model), str(article), "-o", str(output), *options]) == 0
    texts = [datasets.sample_article()]
    found = represent(TopicVec.load(model), texts, form.value, prior=False)
    np.testing.assert_allclose(np.load(output), found)


def test_the_forms_are_those_of_the_library():
    assert tuple(form.value for form in FormName) == FORMS


def test_info_tells_what_is_in_a_model(model, capsys):
    assert call(["info", str(model), "--json"]) == 0
    facts = read_json(capsys)
    assert (facts["topics"], facts["documents"], facts["converged"]) == (9, 96, True)
    assert facts["parameters"]["random_state"] == 0
    assert call(["info", str(model)]) == 0
    assert "96" in capsys.readouterr().out


def test_show_looks_at_a_topic_from_all_sides(model, corpus, capsys):
    assert call(["show", str(model), "2", "--json", "-n", "4"]) == 0
    facts = read_json(capsys)
    assert len(facts["words"]) == len(facts["nearest_words"]) == len(facts["similar_topics"]) == 4
    ids = {document.id for document in datasets.sample_corpus()}
    assert {document["id"] for document in facts["documents"]} <= ids
    assert call(["show", str(model), "2", str(corpus), "--json", "-n", "4"]) == 0
    again = read_json(capsys)["documents"]
    assert again[0]["id"] in {document["id"] for document in facts["documents"]}
    assert call(["show", str(model), "2"]) == 0
    shown = capsys.readouterr().out
    assert "Similar topics" in shown
    rows = [row.split("│") for row in shown.partition("Documents")[2].splitlines() if "%" in row]
    shares = [float(row[2].strip().rstrip("%")) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] >= 1  # others have nothing of it


def test_a_title_is_one_line_however_narrow_its_table(model, corpus, vectors, capsys):
    options = ["-k", "2,9", "--vectors", str(vectors), "--set", "tol=1", "--no-phrases"]
    assert call(["choose", str(corpus), *options]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "Held-out words by number of topics"
    assert "the best is at the edge of what was tried: try more topics too" in shown.err


@pytest.fixture(scope="module")
def timed(folder):
    """Texts on cooking, and then on stars."""
    path = folder / "timed.jsonl"
    texts = ["Bread and butter from the oven."] * 40 + ["A telescope shows planets and stars."] * 40
    rows = [{"text": text, "time": str(1900 + place)} for place, text in enumerate(texts)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return [str(path), "--time-column", "time"]


def test_topics_are_followed_through_time(model, timed, capsys):
    assert call(["over-time", str(model), *timed, "--bins", "8", "--json"]) == 0
    topics = read_json(capsys)["topics"]
    assert {topic["index"] for topic in topics} <= set(range(1, 10))
    assert all(len(topic["spans"]) == 8 for topic in topics)
    assert "1940" in {topic["born"] for topic in topics}
    assert "1930" in {topic["died"] for topic in topics}
    assert call(["over-time", str(model), *timed, "--bins", "8"]) == 0
    assert "▁" in capsys.readouterr().out


def test_one_topic_over_time_lists_the_words_of_each_span(model, timed, capsys):
    command = ["over-time", str(model), *timed, "--bins", "2", "--topic", "3"]
    assert call(command) == 0
    assert "words that rise" in capsys.readouterr().out
    assert call([*command, "--json", "--words", "1"]) == 0
    (topic,) = read_json(capsys)["topics"]
    assert topic["index"] == 3
    assert all(len(span["words"]) <= 1 for span in topic["spans"])


def test_the_null_topic_can_be_shown(model, capsys):
    assert call(["show", str(model), "0", "--json"]) == 0
    assert read_json(capsys)["similar_topics"] == []


def test_explain_without_colours_writes_topics_in_brackets(model, article, capsys):
    assert call(["explain", str(article), "--model", str(model), "-q"]) == 0
    shown = capsys.readouterr().out
    assert "orchestra[" in shown
    assert "tokens" in shown


def test_explain_calls_a_topic_by_the_name_that_it_was_given(model, article, tmp_path, capsys):
    named = tmp_path / "named.topicvec"
    numbers = [f"{number}=sea trade {number}" for number in range(1, 10)]
    assert call(["relabel", str(model), *numbers, "-o", str(named)]) == 0
    capsys.readouterr()
    assert call(["explain", str(article), "--model", str(named)]) == 0
    assert "sea trade" in capsys.readouterr().out


def test_explain_gives_places_of_words_and_mixtures_as_json(model, article, capsys):
    assert call(["explain", str(article), "-m", str(model), "--json"]) == 0
    (document,) = read_json(capsys)["documents"]
    text = datasets.sample_article()
    for token in document["tokens"]:
        assert text[token["start"] : token["end"]].lower().replace("’", "'") == token["token"]
    assert sum(document["proportions"]) == pytest.approx(1)


def test_explain_finds_the_topics_of_the_text_itself_without_a_model(article, vectors, capsys):
    arguments = ["explain", str(article), "-k", "4", "--vectors", str(vectors), "--json"]
    assert call(arguments) == 0
    assert len(read_json(capsys)["documents"][0]["proportions"]) == 5


def test_explain_finds_words_with_decomposed_accents(tmp_path, capsys):
    words = ["café", "résumé", "rain", "wind"]
    WordVectors(words, np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1]).save(tmp_path / "few.safetensors")
    text = tmp_path / "accents.txt"
    content = unicodedata.normalize("NFD", "Café rain, résumé wind and café")
    text.write_text(content, encoding="utf-8")
    options = ["--vectors", str(tmp_path / "few.safetensors"), "-k", "1", "--json", "-q"]
    assert call(["explain", str(text), *options]) == 0
    (document,) = read_json(capsys)["documents"]
    found = document["tokens"]
    assert [each["token"] for each in found] == ["café", "rain", "résumé", "wind", "café"]
    for each in found:
        part = content[each["start"] : each["end"]]
        assert unicodedata.normalize("NFC", part).lower() == each["token"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
def test_explain_colours_words_in_a_terminal(model, tmp_path):
    import pty

    text = tmp_path / "a.txt"
    text.write_text("The moon and [bold]bread[/bold].")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "topicvec", "explain", str(text), "-m", str(model)]
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdout=theirs, env=environment) as process:
        os.close(theirs)
        process.wait()
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "\x1b[38;2;255;255;255;48;2;" in shown
    assert "[bold]" in shown


def test_search_finds_documents_and_tells_their_beginnings(model, corpus, capsys):
    arguments = ["search", str(model), "the night sky in a telescope", str(corpus), "-n", "3"]
    assert call([*arguments, "--json"]) == 0
    found = read_json(capsys)
    assert found["query"] == "the night sky in a telescope"
    assert {hit["id"].split("-")[0] for hit in found["hits"]} == {"astronomy"}
    texts = [" ".join(each.text.split()) for each in datasets.sample_corpus()]
    for hit in found["hits"]:  # whole words
        assert hit["text"].endswith(" …")
        assert len(hit["text"]) <= 80
        assert any(each.startswith(hit["text"][:-1]) for each in texts)
    assert call(arguments) == 0
    assert "text" in capsys.readouterr().out


def test_an_index_is_kept_and_used_again(model, corpus, tmp_path, capsys):
    index = ["--index", str(tmp_path / "a.index"), "--json"]
    assert call(["search", str(model), "bread", str(corpus), *index]) == 0
    first = read_json(capsys)
    assert call(["search", str(model), "bread", *index]) == 0
    assert read_json(capsys) == first
    assert call(["similar", str(model), "--to", first["hits"][0]["id"], *index]) == 0
    assert first["hits"][0]["id"] not in [hit["id"] for hit in read_json(capsys)["hits"]]


def test_similar_takes_an_id_or_a_place(model, corpus, capsys):
    for name in ("astronomy-03", "2"):
        assert call(["similar", str(model), str(corpus), "--to", name, "-n", "2", "--json"]) == 0
    first, second = capsys.readouterr().out.split("}\n{")
    assert json.loads(first + "}") == json.loads("{" + second)


def test_documents_are_reranked_by_transport_if_asked(model, corpus, capsys):
    found = {}
    for command in (["search", str(model), "bread and salt"], ["similar", str(model), "--to", "2"]):
        for rerank in ([], ["--rerank"]):
            assert call([*command, str(corpus), "-n", "3", "--json", *rerank]) == 0
            found[command[0], bool(rerank)] = read_json(capsys)["hits"]
        assert found[command[0], True] != found[command[0], False]
        assert len(found[command[0], True]) == 3


def test_nothing_found_is_exit_code_1(model, corpus, capsys):
    assert call(["search", str(model), "qqqzzz", str(corpus)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "nothing found" in shown.err
    assert call(["search", str(model), "qqqzzz", str(corpus), "--json"]) == 1
    assert read_json(capsys)["hits"] == []


def test_summaries_with_and_without_a_model(model, corpus, article, vectors, capsys):
    assert call(["summarize", str(article), "-n", "2", "--vectors", str(vectors), "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    text = " ".join(datasets.sample_article().split())
    assert all(line in text for line in lines)
    assert call(["summarize", str(corpus), "-n", "1", "-m", str(model), "--json"]) == 0
    documents = read_json(capsys)["documents"]
    assert [len(document["sentences"]) for document in documents] == [1] * 96


def test_a_text_without_known_words_has_no_summary_and_exit_code_1(model, tmp_path, capsys):
    text = tmp_path / "a.txt"
    text.write_text("zzzq zzzy. Zzzz!")
    assert call(["summarize", str(text), "-m", str(model), "-q"]) == 1
    assert capsys.readouterr().out == ""


def test_a_text_of_a_few_words_has_a_summary(vectors, tmp_path, capsys):
    text = tmp_path / "a.txt"
    text.write_text("Moon and bread.")
    assert call(["summarize", str(text), "--vectors", str(vectors), "-q"]) == 0
    assert capsys.readouterr().out == "Moon and bread.\n"


def test_pipes_work_at_both_ends(model, article, tmp_path):
    run = [sys.executable, "-m", "topicvec"]
    with article.open("rb") as stdin:
        shares = [*run, "transform", str(model), "-", "-o", str(tmp_path / "a.jsonl")]
        subprocess.run(shares, stdin=stdin, check=True, capture_output=True)
    assert json.loads((tmp_path / "a.jsonl").read_text())["id"] == "stdin"
    with article.open("rb") as stdin:
        explain = [*run, "explain", "-", "-m", str(model)]
        process = subprocess.Popen(explain, stdin=stdin, stdout=subprocess.PIPE)
        process.stdout.close()  # as head does when it has seen enough
        assert process.wait() == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["transform", "{model}", "{corpus}", "-o", "{folder}/a.xls"], ".csv"),
        (["transform", "{corpus}", "{corpus}", "-o", "{folder}/a.csv"], "model file"),
        (["transform", "nowhere", "{corpus}", "-o", "{folder}/a.csv"], "no such file"),
        (["transform", "{model}", "nowhere", "-o", "{folder}/a.csv"], "nowhere"),
        (["transform", "{model}", "{corpus}", "-o", "{folder}/no/a.csv"], "no such folder"),
        (["info", "{corpus}"], "corpus.jsonl: this is no model file: check the name"),
        (
            ["explain", "{corpus}", "-m", "{model}", "--least", "2"],
            "for '--least': ",  # the rest is typer's, by its version
        ),
        (["show", "{model}", "10"], "topics 0 to 9"),
        (["over-time", "{model}", "{corpus}"], "(--time-column)"),
        (["topics", "{model}", "--text-column", "body"], "--text-column is for reading texts"),
        (["show", "{model}", "1", "--format", "csv"], "--format is for reading texts"),
        (["topics", "{model}", "--stop-words", "italian"], "--stop-words is for topics that"),
        (["topics", "{model}", "--no-phrases"], "--phrases is for topics that"),
        (["topics", "{model}", "--json", "--csv"], "--json and --csv are two forms of one table"),
        (["search", "{model}", "bread"], "nothing to look in"),
        (["search", "{model}", "bread", "--index", "nowhere"], "nowhere"),
        (["search", "{model}", "bread", "--index", "{model}"], "expected a document index"),
        (["search", "{model}", "bread", "{corpus}", "-n", "0"], "at least 1"),
        (["similar", "{model}", "{corpus}", "--to", "nobody"], "nobody"),
        (["summarize", "{corpus}", "-m", "{model}", "-n", "0"], "at least 1"),
        (["explain", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments, expected, model, corpus, tmp_path, capsys
):
    names = {"model": model, "corpus": corpus, "folder": tmp_path}
    assert call([argument.format(**names) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    *read, error = shown.err.splitlines()
    assert error.startswith("topicvec: ")
    assert expected in error
    assert all(": JSON lines, utf-8" in line for line in read)


def test_a_wrong_form_is_refused_with_the_choices(model, corpus, tmp_path, capsys):
    arguments = ["transform", str(model), str(corpus), "-o", str(tmp_path / "a.csv")]
    assert call([*arguments, "--form", "nonsense"]) == 2
    assert "word-mean" in capsys.readouterr().err


def test_the_shell_completes_commands_and_choices(monkeypatch, capsys):
    monkeypatch.setenv("_TOPICVEC_COMPLETE", "complete_bash")
    for words, expected in (
        ("topicvec su", {"summarize"}),
        ("topicvec transform --form w", {"word-mean"}),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        with contextlib.suppress(SystemExit):  # how completion leaves differs between versions
            call([])
        assert set(capsys.readouterr().out.split()) == expected

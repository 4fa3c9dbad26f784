import json

import pytest
from typer.testing import CliRunner

from topicvec import Tokenizer, TopicVec, datasets, load_vectors
from topicvec.cli.main import make_app
from topicvec.cli.pictures import Kind
from topicvec.errors import DataError
from topicvec.text import read_documents

run, app = CliRunner().invoke, make_app()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    documents = datasets.sample_corpus()[::6]
    for document in documents:
        path = folder / "texts" / document.label / f"{document.id}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, encoding="utf-8")
    lines = ["text,time", *(f'"{d.text[:200]}",{d.time}' for d in documents if '"' not in d.text)]
    (folder / "timed.csv").write_text("\n".join(lines), encoding="utf-8")
    words = {word for d in documents for word in Tokenizer()(d.text)}
    known = load_vectors()
    vectors = known.subset(sorted(word for word in words if word in known))
    vectors.save(folder / "v.safetensors")
    model = TopicVec(n_topics=4, vectors=vectors, random_state=0).fit(documents)
    model.save(folder / "m.topicvec")
    return folder


def test_the_cloud_of_a_file_is_written(folder, tmp_path):
    texts, vectors = str(folder / "texts"), str(folder / "v.safetensors")
    out = str(tmp_path / "c.svg")
    result = run(app, ["cloud", texts, "-k", "4", "--vectors", vectors, "-o", out])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "c.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_cloud_of_a_model_and_of_a_class(folder, tmp_path):
    model, out = str(folder / "m.topicvec"), tmp_path / "c.svg"
    assert run(app, ["cloud", "--model", model, "-o", str(out)]).exit_code == 0
    whole = out.read_text(encoding="utf-8")
    texts = str(folder / "texts")
    result = run(app, ["cloud", texts, "--model", model, "--label", "music", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_text(encoding="utf-8") != whole


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_of_picture_is_written(kind, folder, tmp_path):
    sources = {
        Kind.DOCUMENT_MAP: [str(folder / "texts")],
        Kind.BY_CLASS: [str(folder / "texts")],
        Kind.TOKENS: [str(folder / "texts")],
        Kind.OVER_TIME: [str(folder / "timed.csv"), "--time-column", "time"],
    }.get(kind, [])
    out = tmp_path / "p.svg"
    result = run(app, ["picture", kind, str(folder / "m.topicvec"), *sources, "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert out.stat().st_size > 500


def drawn(folder, tmp_path, *arguments):
    out = tmp_path / "p.svg"
    given = [str(folder / part) if (folder / part).exists() else part for part in arguments]
    result = run(app, [*given, "-o", str(out)])
    assert result.exit_code == 0, result.output
    return out.read_text(encoding="utf-8")


def test_one_document_is_chosen_by_its_place_or_its_id(folder, tmp_path):
    ids = [document.id for document in read_documents([str(folder / "texts")])]
    for arguments in (("picture", "tokens", "m.topicvec", "texts"),
                      ("cloud", "texts", "--model", str(folder / "m.topicvec"))):  # fmt: skip
        whole = drawn(folder, tmp_path, *arguments)
        by_place = drawn(folder, tmp_path, *arguments, "--document", "3")
        assert by_place != whole
        assert drawn(folder, tmp_path, *arguments, "--document", ids[3]) == by_place


def test_an_id_that_looks_like_a_place_is_an_id(folder, tmp_path):
    rows = [{"id": "1", "text": "The orchestra played."}, {"id": "0", "text": "Rain on the sea."}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    source = (str(tmp_path / "a.jsonl"), "--id-column", "id")
    assert "orchestra" in drawn(folder, tmp_path, "picture", "tokens", "m.topicvec", *source)
    given = ("picture", "tokens", "m.topicvec", *source, "--document", "0")
    assert "orchestra" not in drawn(folder, tmp_path, *given)


def test_one_class_is_chosen(folder, tmp_path):
    command = ("picture", "by-class", "m.topicvec", "texts")
    assert ">cooking<" in drawn(folder, tmp_path, *command)
    assert ">cooking<" not in drawn(folder, tmp_path, *command, "--label", "music")


def test_spans_of_time_and_topics_are_counted_out(folder, tmp_path):
    command = ("picture", "over-time", "m.topicvec", "timed.csv", "--time-column", "time")
    some, more = (drawn(folder, tmp_path, *command, "--bins", n) for n in ("2", "9"))
    assert len(more) > len(some)
    few = drawn(folder, tmp_path, *command, "--topics", "1")
    assert few.count("%<") == 1
    one = drawn(folder, tmp_path, *command, "--topic", "1", "--words", "2")
    assert one.count("%<") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cloud"], "needs text to read or --model"),
        (["cloud", "a.txt", "-o", "a.gif"], "saved as .svg or .png"),
        (["cloud", "a.txt", "-o", "none/a.svg"], "no such folder: none"),
        (["picture", "by-class", "m.topicvec"], "by-class needs documents"),
        (["picture", "heatmap", "m.topicvec", "a.txt"], "heatmap takes no documents"),
        (["picture", "bound", "m.topicvec", "--bins", "3"], "--bins is for the kinds over-time"),
        (
            ["picture", "heatmap", "m.topicvec", "--topic", "1"],
            "--topic is for the kinds over-time",
        ),
        (["picture", "bound", "m.topicvec", "--label", "a"], "--label is for the kinds by-class"),
        (["picture", "topic-map", "m.topicvec", "--document", "1"], "for the kinds tokens"),
        (["cloud", "--model", "m.topicvec", "--document", "1"], "--document needs files"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_the_work(arguments, message):
    with pytest.raises(DataError, match=message):
        run(app, arguments, catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--document", "none.txt"], "no document has the id 'none.txt', and there are 16, from 0"),
        (["--document", "16"], "no document has the id '16'"),
        (["--label", "opera"], "no document has the label 'opera'; found astronomy,"),
        (["--label", "music", "--document", "1"], "--document takes no --label"),
    ],
)
def test_a_choice_that_is_not_there_is_named(arguments, message, folder):
    command = ["picture", "tokens", str(folder / "m.topicvec"), str(folder / "texts")]
    with pytest.raises(DataError, match=message):
        run(app, [*command, *arguments], catch_exceptions=False)


def test_a_cloud_of_a_document_without_known_words_is_refused(folder, tmp_path):
    file = tmp_path / "two.jsonl"
    file.write_text('{"id": "a", "text": "The sea is salt."}\n{"id": "b", "text": "zzzq qqqz"}\n')
    out = tmp_path / "c.svg"
    options = ["--model", str(folder / "m.topicvec"), "--document", "b", "-o", str(out)]
    result = run(app, ["cloud", str(file), *options])
    assert isinstance(result.exception, DataError)  # which is one line and exit code 2
    assert not out.exists()

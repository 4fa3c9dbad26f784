import pytest
from typer.testing import CliRunner

from topicvec import Tokenizer, TopicVec, datasets, load_vectors
from topicvec.cli.app import app
from topicvec.cli.pictures import Kind
from topicvec.errors import DataError

run = CliRunner().invoke


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
    model = TopicVec(n_topics=5, vectors=vectors, random_state=0).fit(documents)
    model.save(folder / "m.topicvec")
    return folder


def test_the_cloud_of_a_file_is_written(folder, tmp_path):
    texts, vectors = str(folder / "texts"), str(folder / "v.safetensors")
    out = str(tmp_path / "c.svg")
    result = run(app, ["cloud", texts, "-k", "5", "--vectors", vectors, "-o", out])
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cloud"], "needs text to read or --model"),
        (["cloud", "a.txt", "-o", "a.gif"], "saved as .svg or .png"),
        (["picture", "by-class", "m.topicvec"], "by-class needs documents"),
        (["picture", "heatmap", "m.topicvec", "a.txt"], "heatmap takes no documents"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_the_work(arguments, message):
    with pytest.raises(DataError, match=message):
        run(app, arguments, catch_exceptions=False)

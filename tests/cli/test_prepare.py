"""The command that reads a corpus once, and the commands that take what it wrote."""

import json

import numpy as np
import pytest

from topicvec import TopicVec, datasets, load_vectors
from topicvec.cli.main import call
from topicvec.text import prepared

pytestmark = pytest.mark.filterwarnings("ignore:.*words are unknown")


@pytest.fixture(scope="module")
def cut(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("prepared") / "corpus"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "_DOCUMENTS", 30)
        assert call(["prepare", str(corpus), "-o", str(path), "-q"]) == 0
    return path


def test_prepare_tells_what_it_wrote(corpus, tmp_path, capsys):
    assert call(["prepare", str(corpus), "-o", str(tmp_path / "corpus")]) == 0
    told = capsys.readouterr().err
    assert "96 documents, 12,640 words" in told
    assert "1 shards" in told


def test_fit_of_a_prepared_corpus_writes_the_same_model(cut, model, vectors, tmp_path):
    path = tmp_path / "model.topicvec"
    how = ["-k", "9", "--vectors", str(vectors), "--memory", "2GB", "-q"]
    assert call(["fit", str(cut), "-o", str(path), *how]) == 0
    assert path.read_bytes() == model.read_bytes()


def test_transform_search_and_similar_take_it_too(cut, corpus, model, tmp_path, capsys):
    tables = []
    for source in (cut, corpus):
        path = tmp_path / f"{source.name}.csv"
        assert call(["transform", str(model), str(source), "-o", str(path), "-q"]) == 0
        tables.append(path.read_text())
    assert tables[0] == tables[1]
    for command in (
        ["search", str(model), "a planet"],
        ["similar", str(model), "--to", "music-01"],
    ):
        found = []
        for source in (cut, corpus):
            capsys.readouterr()
            assert call([*command, str(source), "--json", "-n", "3", "-q"]) == 0
            hits = json.loads(capsys.readouterr().out)["hits"]
            found.append([(hit["id"], hit["score"]) for hit in hits])  # words alone are kept
        assert found[0] == found[1]
    assert call(["search", str(model), "a planet", str(cut), "-q"]) == 0
    assert "planet" in capsys.readouterr().out


def test_vectors_are_trained_from_a_prepared_corpus(cut, corpus, tmp_path):
    for source in (cut, corpus):
        path = tmp_path / f"{source.name}.safetensors"
        how = ["--dims", "5", "--min-count", "2", "-q"]
        assert call(["vectors", "train", str(source), "-o", str(path), *how]) == 0
    one, other = (load_vectors(tmp_path / f"{source.name}.safetensors") for source in (cut, corpus))
    assert one == other


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["topics", "FOLDER"], "has kept words and no texts"),
        (["fit", "FOLDER", "OTHER", "-o", "OUT"], "which is read alone"),
        (["fit", "FOLDER", "-o", "OUT", "--memory", "100MB"], "memory=100MB cannot be kept"),
        (["fit", "FOLDER", "-o", "OUT", "--memory", "lots"], "memory must be a size"),
        (["fit", "FOLDER", "-o", "OUT", "--memory", "2GB", "--by-class"], "without classes"),
        (["fit", "OTHER", "-o", "OUT", "--memory", "2GB"], "topicvec prepare"),
        (["prepare", "OTHER", "-o", "FOLDER"], "holds other documents"),
    ],
)
def test_bad_input_is_told_in_one_line(arguments, expected, cut, article, tmp_path, capsys):
    names = {"FOLDER": str(cut), "OTHER": str(article), "OUT": str(tmp_path / "out")}
    assert call([names.get(each, each) for each in arguments]) == 2
    *read, error = capsys.readouterr().err.strip().splitlines()
    assert expected in error
    assert len(read) <= 1  # what was read


def test_topics_of_each_class_of_a_prepared_corpus(cut, corpus, vectors, tmp_path):
    for source in (cut, corpus):
        how = ["-k", "1", "--by-class", "--vectors", str(vectors), "-q"]
        assert call(["fit", str(source), "-o", str(tmp_path / source.name), *how]) == 0
    one, other = (TopicVec.load(tmp_path / source.name) for source in (cut, corpus))
    np.testing.assert_array_equal(one.topic_vectors_, other.topic_vectors_)
    assert one.fitted_.classes == other.fitted_.classes
    assert len(datasets.sample_corpus()) == one.fitted_.n_documents

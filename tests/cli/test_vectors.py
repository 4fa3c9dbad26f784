import json

import pytest

from topicvec import load_vectors
from topicvec.cli.main import call
from topicvec.datasets import sample_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n".join(d.text.replace("\n", " ") for d in sample_corpus()))
    return path


@pytest.fixture(scope="module")
def trained(corpus):
    output = corpus.with_name("small.safetensors")
    options = ["--dims", "20", "--core", "300", "--words", "800", "--min-count", "2", "-q"]
    arguments = ["vectors", "train", str(corpus), "--format", "lines", "-o", str(output)]
    assert call([*arguments, *options, "--description", "bundled texts"]) == 0
    return output


def test_training_writes_vectors_with_their_history(trained):
    vectors = load_vectors(trained)
    assert vectors.matrix.shape == (800, 20)
    assert vectors.metadata["corpus"] == "bundled texts"
    assert vectors.metadata["method"] == "PSDVec"


def test_adding_words_leaves_the_old_vectors_alone(trained, corpus, tmp_path):
    output = tmp_path / "more.safetensors"
    arguments = ["vectors", "add", str(trained), str(corpus), "--format", "lines", "-q"]
    assert call([*arguments, "--most", "50", "--min-count", "1", "-o", str(output)]) == 0
    old, new = load_vectors(trained), load_vectors(output)
    assert len(new) == len(old) + 50
    assert new.matrix[: len(old)].tobytes() == old.matrix.tobytes()


def test_info_and_nearest_as_json(trained, capsys):
    assert call(["vectors", "info", str(trained), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["words"] == 800
    assert call(["vectors", "nearest", "drought", "-n", "3", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["drought"]) == 3


def test_conversion_to_text_and_back_is_exact(trained, tmp_path, capsys):
    text, back = tmp_path / "v.txt", tmp_path / "back.safetensors"
    assert call(["vectors", "convert", str(trained), "-o", str(text), "--to", "word2vec"]) == 0
    frequencies = tmp_path / "f.tsv"
    old = load_vectors(trained)
    pairs = zip(old.words, old.unigram, strict=True)
    frequencies.write_text("".join(f"{word}\t{float(share)!r}\n" for word, share in pairs))
    assert (
        call(["vectors", "convert", str(text), "-o", str(back), "--frequencies", str(frequencies)])
        == 0
    )
    assert load_vectors(back).matrix.tobytes() == old.matrix.tobytes()


def test_evaluation_prints_a_table_side_by_side(trained, tmp_path, capsys):
    tests = tmp_path / "words"
    tests.mkdir()
    words = load_vectors(trained).words
    lines = (f"{words[i]}\t{words[i + 1]}\t{i}\n" for i in range(100, 140))
    (tests / "made.txt").write_text("".join(lines))
    assert call(["vectors", "eval", str(trained), "--tests", str(tests), "--json"]) == 0
    score = next(iter(json.loads(capsys.readouterr().out).values()))[0]
    assert score["n_used"] == 40
    assert call(["vectors", "eval", str(trained), "--tests", str(tests)]) == 0
    assert "made" in capsys.readouterr().out


def test_files_of_the_same_name_stand_side_by_side_with_their_coverage(trained, tmp_path, capsys):
    other = tmp_path / "other"
    other.mkdir()
    load_vectors(trained).subset(200).save(other / trained.name)
    tests = tmp_path / "words"
    tests.mkdir()
    words = load_vectors(trained).words
    for name, rows in (("first", range(100, 140)), ("second", range(190, 200))):
        lines = (f"{words[i]}\t{words[i + 20]}\t{i}\n" for i in rows)
        (tests / f"{name}.txt").write_text("".join(lines))
    files = [str(trained), str(other / trained.name)]
    assert call(["vectors", "eval", *files, "--tests", str(tests), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == files
    assert [score["n_used"] for score in found[files[1]]] == [40, 0]
    assert found[files[1]][1]["spearman"] is None
    assert call(["vectors", "eval", *files, "--tests", str(tests)]) == 0
    assert "(40 of 40)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-o", "missing/v.safetensors"], "missing"),
        (["-o", "v.strange"], "strange"),
        (["-o", "v.txt", "--quantized"], "quantized"),
        (["-o", "v.safetensors", "--note", "nothing"], "KEY=VALUE"),
    ],
)
def test_a_bad_output_is_refused_before_the_work(
    options, expected, corpus, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("topicvec.cli.vectors._learn", lambda *_: pytest.fail("it trained"))
    assert call(["vectors", "train", str(corpus), "--format", "lines", *options]) == 2
    assert expected in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_papers_settings_can_be_asked_for_and_changed(corpus, monkeypatch, tmp_path):
    asked = {}

    def learn(settings, *_):
        asked.update(settings)
        return load_vectors().subset(2)

    monkeypatch.setattr("topicvec.cli.vectors._learn", learn)
    options = ["--paper", "--window", "4", "-o", str(tmp_path / "v.safetensors"), "-q"]
    assert call(["vectors", "train", str(corpus), *options]) == 0
    assert (asked["window"], asked["direction"], asked["n_iter"]) == (4, "left", 4)


def test_vectors_are_extended_with_the_settings_they_were_made_with(trained):
    from topicvec.embed.psdvec import settings_of

    settings = settings_of(load_vectors(trained))
    assert (settings["window"], settings["weighting"]) == (10, "harmonic")
    assert settings["smoothing"] == 0.2

"""What a file says is not obeyed."""

import pickle
import re

import pytest

from topicvec import load_vectors
from topicvec.cli.main import call
from topicvec.embed import PSDVec
from topicvec.embed.psdvec import settings_of
from topicvec.errors import FormatError

TEXTS = ["the cat sat on the mat", "the dog sat on the log"] * 5


@pytest.fixture
def made():
    return PSDVec(n_dims=2, min_count=1, window=2, smoothing=0.3).fit(TEXTS).vectors_


def test_settings_that_vectors_say_are_those_they_were_made_with(made):
    found = settings_of(made)
    assert (found["window"], found["smoothing"], found["direction"]) == (2, 0.3, "both")
    assert PSDVec(**found)


@pytest.mark.parametrize(
    "settings",
    [
        '{"work_folder": "WORK"}',
        '{"n_jobs": 64}',
        '{"smoothing": "much"}',
        '{"smoothing": 1e999}',
        '{"n_iter": 1000000000}',
        '{"n_iter": 1001}',
        '{"frequency_power": 10.5}',
        '{"frequency_power": -10.5}',
        '{"context_power": 10.5}',
        '{"smoothing": 1.5}',
        "[]",
        "{",
        "[" * 100_000,
    ],
)
def test_vectors_choose_no_folder_and_no_number_of_workers(made, tmp_path, capsys, settings):
    work = tmp_path / "work"
    path, texts, output = tmp_path / "v.safetensors", tmp_path / "t.txt", tmp_path / "o.safetensors"
    made.with_metadata(settings=settings.replace("WORK", str(work))).save(path)
    texts.write_text("\n".join(TEXTS))
    arguments = [str(path), str(texts), "--min-count", "1", "-o", str(output)]
    assert call(["vectors", "add", *arguments]) == 2
    assert re.search("settings.*: expected", capsys.readouterr().err)
    assert not work.exists()
    assert not output.exists()


@pytest.mark.parametrize(
    "metadata",
    [
        {"eigenvalues": "[1, null]"},
        {"eigenvalues": "x"},
        {"eigenvalue_power": "1e999"},
        {"added_words": "-1"},
        {"general": "80000", "scale": "nan"},
        {"general": "80000", "scale": "1", "mean": "????"},
    ],
)
def test_metadata_that_the_program_uses_are_checked(made, tmp_path, metadata):
    made.with_metadata(**metadata).save(tmp_path / "v.safetensors")
    with pytest.raises(FormatError, match="expected"):
        load_vectors(tmp_path / "v.safetensors")


def test_notes_of_other_names_are_free(made, tmp_path):
    made.with_metadata(general="yes", scale="big", mean="?").save(tmp_path / "v.safetensors")
    assert load_vectors(tmp_path / "v.safetensors").metadata["scale"] == "big"


def test_no_command_opens_a_pickle_unasked(tmp_path, capsys):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was opened",)

    path, out = tmp_path / "v.kv", str(tmp_path / "o.safetensors")
    path.write_bytes(pickle.dumps(Trap()))
    (tmp_path / "t.txt").write_text("a cat sat\n")
    text = str(tmp_path / "t.txt")
    commands = [
        ["vectors", "info", str(path)],
        ["vectors", "convert", str(path), "-o", out],
        ["vectors", "add", str(path), text, "-o", out],
        ["fit", text, "--vectors", str(path), "-o", out],
        ["topics", text, "--vectors", str(path)],
        ["info", str(path)],
    ]
    for command in commands:
        assert call(command) == 2, command
        capsys.readouterr()


def test_a_pickle_is_opened_by_a_flag_of_its_own(made, tmp_path, capsys):
    pytest.importorskip("gensim")
    made.save(tmp_path / "v.kv")
    out = tmp_path / "o.safetensors"
    assert (
        call(["vectors", "convert", str(tmp_path / "v.kv"), "-o", str(out), "--trust-pickle"]) == 0
    )
    assert load_vectors(out).words == made.words
    capsys.readouterr()

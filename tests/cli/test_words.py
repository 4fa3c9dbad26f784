"""Options of words on every command that learns, and what is said of unknown words."""

import re
import warnings

import pytest

from topicvec import TopicVec
from topicvec.cli.main import call

ITALIAN = """Il gatto dorme accanto alla finestra mentre la pioggia cade sui tetti della vecchia
città. Ogni mattina il pescatore prepara le reti, saluta i vicini e cammina verso il porto, dove
le barche aspettano la marea. La luna illumina il faro e il vento spinge le onde sugli scogli.
Moon and stars, salt water, bread and flour."""
LEARNING = ["topics", "fit", "explain", "summarize", "cloud"]


@pytest.fixture
def italian(tmp_path):
    path = tmp_path / "italian.txt"
    path.write_text(ITALIAN, encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [*LEARNING, "classify train"])
def test_every_command_that_learns_has_the_options_of_words(command, capsys):
    assert call([*command.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    for option in ("--vectors", "--stop-words", "--no-own-words", "--no-phrases"):
        assert option in shown


def test_options_of_words_reach_the_model(corpus, vectors, tmp_path):
    output = tmp_path / "a.topicvec"
    options = ["--no-own-words", "--no-phrases", "--stop-words", "it", "--vectors", str(vectors)]
    assert call(["fit", str(corpus), "-o", str(output), "-k", "2", "-q", *options]) == 0
    found = TopicVec.load(output)
    assert (found.own_words, found.phrases, found.stop_words) == (False, False, "it")


@pytest.mark.parametrize("command", ["topics -k 2", "explain -k 2", "summarize"])
def test_unknown_words_are_said_in_one_line_with_what_helps(command, italian, vectors, capsys):
    assert call([*command.split(), str(italian), "--vectors", str(vectors)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "are unknown" in line]
    assert len(said) == 1
    assert "% of the words are unknown, most often: il, " in said[0]
    assert "--vectors corpus" in said[0]


def test_a_model_says_what_it_does_not_know_of_other_texts(model, italian, tmp_path, capsys):
    output = tmp_path / "shares.csv"
    for command in (
        ["transform", model, italian, "-o", output],
        ["search", model, "the sea", italian],
        ["picture", "tokens", model, italian, "-o", tmp_path / "tokens.svg"],
    ):
        assert call([*map(str, command)]) in (0, 1)
        assert capsys.readouterr().err.count("% of the words are unknown") == 1


def test_a_few_unknown_words_are_said_without_a_hint(corpus, model, tmp_path, capsys):
    texts = tmp_path / "texts.txt"
    texts.write_text("the moon and the stars of the sky " * 10 + "yak", encoding="utf-8")
    assert call(["transform", str(model), str(texts), "-o", str(tmp_path / "a.csv")]) == 0
    said = capsys.readouterr().err
    assert "3.2% of the words are unknown, most often: yak" in said
    assert "--vectors corpus" not in said


def test_quiet_says_nothing_of_unknown_words(italian, vectors, capsys):
    assert call(["topics", str(italian), "-k", "2", "--vectors", str(vectors), "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_many_unknown_words_are_said_where_they_leave_too_few(italian, vectors, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as for users; in tests they are errors
        assert call(["topics", str(italian), "-k", "19", "--vectors", str(vectors)]) == 0
    said = capsys.readouterr().err
    assert "are unknown" in said
    assert re.search(r"has (\d+) distinct words, so it gets \1 topics, not 19", said)


def test_another_language_on_the_default_vectors_is_said_with_what_helps(tmp_path, capsys):
    texts = tmp_path / "texts.txt"
    texts.write_text(
        "Il gatto dorme accanto alla finestra mentre la pioggia cade sui tetti. Ogni mattina il "
        "pescatore prepara le reti e cammina verso il porto, dove le barche aspettano la marea.",
        encoding="utf-8",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as for users; in tests they are errors
        assert call(["topics", str(texts), "-k", "2"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("are not in the general vectors") == 1
    assert "--vectors corpus" in said

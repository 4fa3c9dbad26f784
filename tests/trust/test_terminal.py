"""A terminal obeys what it is sent: ids, texts and names of strangers are shown, not obeyed."""

import json
import re

import pytest

from topicvec import load_vectors
from topicvec.cli.main import call

OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
EVIL = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202eabc\u202c \x7f \r gone"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("terminal")
    kinds = ("cat dog space moon orbit launch ", "car engine wheel motor road ")
    rows = [
        {
            "id": f"id{number}{EVIL}",
            "text": kinds[number % 2] * 5 + f"word{EVIL}. " + kinds[number % 2],
            "label": f"class{number % 2}{EVIL}",
            "time": f"20{number:02}",
        }
        for number in range(24)
    ]
    (place / "e.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = "cat dog space moon orbit launch car engine wheel motor road"
    load_vectors().subset(words.split(" ")).save(place / "v.safetensors")
    return place


def test_nothing_that_a_command_prints_is_obeyed_by_a_terminal(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    learning = ["-k", "2", "--vectors", "v.safetensors"]
    commands = [
        ["topics", "e.jsonl", *learning],
        ["fit", "e.jsonl", *learning, "-v", "-o", "m.topicvec"],
        ["fit", "e.jsonl", *learning, "--by-class", "-v", "-o", "k.topicvec"],
        ["info", "m.topicvec"],
        ["info", "k.topicvec", "--json"],
        ["show", "m.topicvec", "1"],
        ["show", "m.topicvec", "1", "--json"],
        ["show", "k.topicvec", "1"],
        ["over-time", "m.topicvec", "e.jsonl"],
        ["explain", "e.jsonl", "--model", "m.topicvec"],
        ["explain", "e.jsonl", "--model", "m.topicvec", "--json"],
        ["search", "m.topicvec", "cat", "e.jsonl"],
        ["search", "m.topicvec", "cat", "e.jsonl", "--json"],
        ["similar", "m.topicvec", "e.jsonl", "--to", f"id1{EVIL}"],
        ["summarize", "e.jsonl", "--model", "m.topicvec"],
        ["classify", "train", "e.jsonl", "-o", "c.topicvec"],
        ["classify", "predict", "c.topicvec", "e.jsonl"],
        ["classify", "predict", "c.topicvec", "e.jsonl", "--json"],
        ["vectors", "nearest", "cat", "--vectors", "v.safetensors"],
    ]
    for command in commands:
        code = call(command)
        printed = capsys.readouterr()
        assert code == 0, (command, printed.err)
        assert not OBEYED.search(printed.out + printed.err), command
    assert "\\x1b" in printed_of(["summarize", "e.jsonl", "--model", "m.topicvec"], capsys)


def printed_of(command, capsys):
    call(command)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["topics", f"no{EVIL}"],
        ["topics", "e.jsonl", "--text-column", f"x{EVIL}"],
        ["topics", f"--nope{EVIL}"],
        [f"nope{EVIL}"],
        ["fit", "e.jsonl", "--set", f"a{EVIL}=1", "-o", "x"],
        ["vectors", "nearest", f"x{EVIL}", "--vectors", "v.safetensors"],
        ["info", f"no{EVIL}"],
    ],
)
def test_no_message_is_obeyed_by_a_terminal(folder, monkeypatch, capsys, command):
    monkeypatch.chdir(folder)
    assert call(command) == 2
    assert not OBEYED.search(capsys.readouterr().err)


def test_json_still_says_what_there_is(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    call(["classify", "train", "e.jsonl", "-o", "c.topicvec", "--held-out", "0"])
    capsys.readouterr()
    call(["classify", "predict", "c.topicvec", "e.jsonl", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert any(EVIL in each for each in texts_of(found))


def texts_of(value):
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value
    return [t for each in inside for t in texts_of(each)] if isinstance(value, dict | list) else []

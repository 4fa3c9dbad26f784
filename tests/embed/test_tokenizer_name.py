import os
import re
import subprocess
import sys
from functools import partial

import pytest

from topicvec.text import Tokenizer
from topicvec.text.tokenizer import describe_tokenizer


def cut(text, sign=" "):
    return text.split(sign)


class Cutter:
    def __call__(self, text):
        return text.split()


def cutting_at(sign):
    def at(text):
        return text.split(sign)

    return at


CASES = [
    str.split,
    cut,
    Cutter,
    Cutter(),
    Tokenizer(),
    Tokenizer("original"),
    re.compile(r"\\w+").findall,
    re.compile(r"[a-z]+").findall,
    partial(cut, sign=","),
    partial(cut, sign=";"),
    partial(Cutter()),
    lambda text: text.split(),
    lambda text: text.lower(),
    lambda text: text.split(","),
    lambda text: [w for w in text.split() if w not in {"a", "of", "the"}],
    cutting_at(","),
    cutting_at(";"),
]


def test_different_tokenizers_have_different_names():
    names = [describe_tokenizer(tokenizer) for tokenizer in CASES]
    # A class and its instances are told apart by nothing but what they do.
    assert len(set(names)) == len(CASES) - 1
    assert not any("0x" in name for name in names)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_names_are_the_same_in_another_process(seed):
    script = (
        "import test_tokenizer_name as t; print(*map(t.describe_tokenizer, t.CASES), sep=chr(10))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    here = [describe_tokenizer(tokenizer) for tokenizer in CASES]
    assert found.stdout.splitlines() == [
        name.replace(__name__, "test_tokenizer_name") for name in here
    ]


def test_the_names_are_readable():
    assert describe_tokenizer(cut) == f"{__name__}.cut"
    assert describe_tokenizer(Cutter()) == f"{__name__}.Cutter"
    assert describe_tokenizer(partial(str.split, sep=",")) == "partial(str.split, sep=',')"
    assert describe_tokenizer(re.compile("x").findall) == "re.compile('x').findall"

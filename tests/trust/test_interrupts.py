"""Ctrl-C and SIGTERM keep what was learned, and end a command in one line."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from topicvec import TopicClassifier, TopicVec, WordVectors
from topicvec.cli import fitting
from topicvec.cli.main import call
from topicvec.model import fit as fits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

TEXTS = ["cat dog cat", "bus car bus", "dog cat", "car car bus"] * 10


@pytest.fixture(autouse=True)
def heed():
    """What runs in the background of a shell ignores Ctrl-C."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, old)


@pytest.fixture
def vectors():
    return WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]] + 0.01, [1, 1, 1, 1])


@pytest.fixture
def texts(vectors, tmp_path):
    vectors.save(tmp_path / "v.safetensors")
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    return [
        str(tmp_path / "t.txt"),
        "--format",
        "lines",
        "--vectors",
        str(tmp_path / "v.safetensors"),
    ]


def interrupting(monkeypatch, owner, name, times=1):
    """Send Ctrl-C when a function begins for the first time."""
    real, left = getattr(owner, name), [signal.SIGINT] * times

    def interrupted(*arguments, **options):
        while left:
            signal.raise_signal(left.pop())
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, interrupted)


@pytest.mark.filterwarnings("ignore:interrupted after")
@pytest.mark.parametrize(
    ("owner", "name"),
    [(fits, "conclude"), (fits, "_history"), (TopicVec, "_adopt"), (fits, "representatives")],
)
def test_an_interrupt_after_the_last_iteration_keeps_the_whole_model(
    vectors, monkeypatch, owner, name
):
    whole = TopicVec(2, vectors, random_state=0).fit(TEXTS)
    interrupting(monkeypatch, owner, name)
    model = TopicVec(2, vectors, random_state=0).fit(TEXTS)
    monkeypatch.undo()
    assert np.array_equal(model.topic_vectors_, whole.topic_vectors_)
    assert model.converged_
    assert model.fitted_.settings["interrupted"]


def test_a_second_interrupt_breaks_the_work_off(vectors, monkeypatch):
    interrupting(monkeypatch, fits, "conclude", times=2)
    with pytest.raises(KeyboardInterrupt):
        TopicVec(2, vectors, random_state=0).fit(TEXTS)


@pytest.mark.filterwarnings("ignore:interrupted after")
def test_an_interrupt_while_a_classifier_is_made_keeps_it(vectors, monkeypatch):
    interrupting(monkeypatch, TopicClassifier, "_machine")
    made = TopicClassifier(TopicVec(1, vectors, random_state=0)).fit(TEXTS, ["pet", "road"] * 20)
    assert made.predict(["dog"]) == ["pet"]
    assert made.model_.fitted_.settings["interrupted"]


@pytest.mark.filterwarnings("default:interrupted after")
@pytest.mark.parametrize("moment", ["conclude", "bar", "save", "table"])
def test_a_command_that_is_interrupted_late_writes_its_model(
    texts, tmp_path, monkeypatch, moment, capsys
):
    from topicvec.cli import topics

    place = {
        "conclude": (fits, "conclude"),
        "save": (TopicVec, "save"),
        "table": (topics, "list_topics"),
    }
    if moment == "bar":  # when the fit is over and its bar goes
        monkeypatch.setattr(fitting, "_watching", late_bar)
    else:
        interrupting(monkeypatch, *place[moment])
    output = tmp_path / "m.topicvec"
    assert call(["fit", *texts, "-k", "2", "-o", str(output)]) == 130
    monkeypatch.undo()
    assert TopicVec.load(output).converged_
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "m.topicvec",
        "t.txt",
        "v.safetensors",
    ]
    assert capsys.readouterr().err.endswith("topicvec: interrupted\n")


class late_bar:  # noqa: N801 - stands for a function
    def __init__(self, tol):
        self.tol = tol

    def __enter__(self):
        return lambda news: None

    def __exit__(self, *_):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_real_fit_with_130_and_a_model(tmp_path, number):
    words = ["cat", "dog", "car", "bus", "moon", "star", "tree", "leaf"]
    rng = np.random.default_rng(0)
    text = "\n".join(" ".join(rng.choice(words, 40)) for _ in range(2_000))
    (tmp_path / "t.txt").write_text(text)
    vectors = WordVectors(words, rng.normal(size=(8, 50)), np.ones(8))
    vectors.save(tmp_path / "v.safetensors")
    output = tmp_path / "m.topicvec"
    command = [sys.executable, "-X", "faulthandler", "-m", "topicvec"]
    command += ["fit", str(tmp_path / "t.txt"), "-v", "-k", "30"]
    command += [
        "--format",
        "lines",
        "--vectors",
        str(tmp_path / "v.safetensors"),
        "-o",
        str(output),
    ]
    command += ["--set", "tol=0", "--set", "max_iter=5000"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        for line in process.stderr:
            if "iteration 2: bound" in line:
                process.send_signal(number)
                break
        try:
            _, rest = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # shows where each thread is
            _, rest = process.communicate()
    assert process.returncode == 130, rest
    assert "Traceback" not in rest
    assert TopicVec.load(output).fitted_.settings["interrupted"]


STARTING = """
import os, signal, sys
import topicvec.cli
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupting:
    wanted, number = sys.argv[1], int(sys.argv[2])
    def find_spec(self, name, path=None, target=None):
        if name == self.wanted:
            os.kill(os.getpid(), self.number)
sys.meta_path.insert(0, Interrupting())
sys.argv[:] = ["topicvec", "topics", "no_such_file"]
topicvec.cli.run()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "module", ["topicvec.cli.main", "rich", "typer", "topicvec.cli.topics", "numpy"]
)
def test_an_interrupt_while_a_command_starts_is_one_line(module, number):
    command = [sys.executable, "-c", STARTING, module, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "topicvec: interrupted\n")

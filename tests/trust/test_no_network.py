"""No network is asked and no other program is run; a dataset is only fetched by its own call."""

import subprocess
import sys

import pytest

FORBID = """
import sys

def watch(event, given):
    if event.startswith(("socket.", "urllib.", "ftplib.", "http.")) and event not in allowed:
        raise RuntimeError(f"the network was asked: {event} {given}")
    if event in ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn"):
        raise RuntimeError(f"something was run: {event} {given}")

allowed = {"socket.gethostname"}
import topicvec, topicvec.cli.main, topicvec.explore  # imports may look at the machine
from topicvec import (
    DocumentIndex, PSDVec, TopicClassifier, TopicFeatures, TopicVec, datasets, load_vectors,
)
sys.addaudithook(watch)
"""

LIBRARY = """
documents = datasets.sample_corpus()[:30]
labels = [document.label for document in documents]
model = TopicVec(4, random_state=0, max_iter=5, n_jobs=2).fit(documents)
model.transform(documents)
model.save("m.topicvec")
loaded = TopicVec.load("m.topicvec")
index = DocumentIndex.build(loaded, documents)
index.save("i.index")
DocumentIndex.load("i.index", loaded).search("rain", 3)
TopicClassifier(TopicVec(2, random_state=0, max_iter=5)).fit(documents, labels).save("c.topicvec")
TopicClassifier.load("c.topicvec").predict(documents)
texts = [document.text for document in documents]
PSDVec(n_dims=5, min_count=3, random_state=0).fit(texts).vectors_.save("v.vec")
load_vectors("v.vec", corpus=[text.lower().split() for text in texts])
"""

COMMANDS = """
from pathlib import Path
Path("a.txt").write_text(datasets.sample_article(), encoding="utf-8")
Path("b.txt").write_text("Rain fell on the sea. Music was played.", encoding="utf-8")
for command in (
    "topics a.txt -k 5 --json", "fit a.txt b.txt -o n.topicvec -k 3",
    "transform n.topicvec a.txt -o t.csv", "report n.topicvec a.txt b.txt -o r.html",
    "info n.topicvec", "summarize a.txt",
):
    assert topicvec.cli.main.call(command.split()) == 0, command
"""


@pytest.mark.slow
@pytest.mark.parametrize("work", [LIBRARY, COMMANDS], ids=["library", "command line"])
def test_all_work_is_done_without_a_network(work, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORBID + work],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_watch_would_see_it(tmp_path):
    ask = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')"
    done = subprocess.run(
        [sys.executable, "-c", FORBID + ask], cwd=tmp_path, capture_output=True, text=True
    )
    assert "the network was asked" in done.stderr

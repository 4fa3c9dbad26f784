"""How a fit grows: documents, words a document, topics, dimensions, vocabulary, cores; peers; Dask.

    TOPICVEC_DATA=/path/to/data python benchmarks/scale.py growth cores peers million dask

Documents are pieces of 80 running words of Wikipedia. Each part writes its own key of
``results/scale.json``; ``plot`` draws ``results/scale.svg`` from it. Each fit is a process of its
own, so that its peak memory is its own. ``peers`` needs the laboratory: ``pip install ./bench``,
``dask`` the extra of this name, ``plot`` matplotlib.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
    """Compare one core with two, from texts to topics; and two fits side by side with one.

    Two processes that share nothing but the machine's caches and memory say how much of a second
    core there is to be had.
    """
    setting = {"documents": 8 * DOCUMENTS, "topics": N_TOPICS}
    found = {jobs: run(**setting, jobs=jobs) for jobs in (1, 2)}
    with ThreadPoolExecutor(2) as both:
        beside = list(both.map(lambda _: run(**setting, jobs=1)["seconds"], range(2)))
    one = found[1]["seconds"]
    return {
        "documents": setting["documents"],
        "one": found[1],
        "two": found[2],
        "times as fast": round(one / found[2]["seconds"], 2),
        "two fits side by side, times as fast": round(2 * one / max(beside), 2),
    }


def peers(n_documents: int = 30_000, n_test: int = 1_000) -> dict[str, Any]:
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


def million(n_documents: int = 1_000_000, budget: str = "3GB") -> dict[str, Any]:
    """From raw text to a saved model on the command line, within a budget of memory."""
    command = Path(sys.executable).with_name("topicvec")
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        source, corpus, model = (Path(folder, name) for name in ("raw.txt", "corpus", "model"))
        with source.open("w", encoding="utf-8") as file:
            n_written = sum(bool(file.write(f"{text}\n")) for text in islice(pieces(), n_documents))
        read = [source, "--format", "lines", "-o", corpus, "--jobs", "2"]
        fitted = [corpus, "-o", model, "-k", N_TOPICS, "--memory", budget, "--jobs", "2"]
        steps = {
            name: watched([command, name, *map(str, given)])
            for name, given in (("prepare", read), ("fit", fitted))
        }
        megabytes = round(model.stat().st_size / 1e6)
    seconds = round(sum(step["seconds"] for step in steps.values()), 1)
    return {
        "documents": n_written, "topics": N_TOPICS, "budget": budget, **steps, "seconds": seconds,
        "documents a second": round(n_written / seconds), "model MB": megabytes,
    }  # fmt: skip


def dask(n_documents: int = 8 * DOCUMENTS) -> dict[str, Any]:
    """Count the bytes that an iteration moves between processes, and the tokens a second a core.

    The first iterations pass over a document several times, the later ones twice: all are in the
    mean.
    """
    from distributed import Client, LocalCluster

    from topicvec import load_vectors
    from topicvec.model.counts import DocumentCounter

    vectors = load_vectors()
    counts = DocumentCounter(n_jobs=2).count(list(islice(pieces(), n_documents)), vectors).counts
    n_types = len(np.unique(counts.indices))
    found: dict[str, Any] = {"documents": counts.shape[0], "tokens": int(counts.sum())}
    for n_workers in (1, 2):
        with (
            LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as made,
            Client(made) as client,
        ):
            for own in (False, True):
                model, steps = timed(counts, vectors, counting(client), own)
                moved, seconds = np.diff(np.array(steps), axis=0).mean(axis=0)
                n_topics, n_dims = model.topic_vectors_.shape
                size = 2 * 4 * n_topics * (n_types if own else n_dims) * n_workers
                found[f"{n_workers} workers{', own words' * own}"] = {
                    "MB an iteration": round(moved / 1e6, 2),
                    f"times 2 K {'U' if own else 'N'} 4 of each worker": round(moved / size, 2),
                    "seconds an iteration": round(seconds, 2),
                    "tokens a second a core": round(counts.sum() / seconds / n_workers),
                }
    return found


def timed(counts: Any, vectors: Any, engine: Any, own: bool) -> tuple[Any, list[Any]]:
    """Fit on an engine that counts; give its bytes and the time after each iteration."""
    from topicvec import TopicVec

    steps: list[Any] = []
    model = TopicVec(
        N_TOPICS, vectors, own_words=own, random_state=SEED, n_jobs=engine, max_iter=ITERATIONS,
        tol=0.0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge
        model.fit(counts, callback=lambda _: steps.append((engine.moved, time.perf_counter())))
    return model, steps


def counting(client: Any) -> Any:
    """Make a Dask engine that counts what goes to all workers, and what workers give."""
    import cloudpickle

    from topicvec.engine.dask import DaskEngine

    class Counted(DaskEngine):
        to_all = 0

        def _ask(self, function: Any, *arguments: Any, **options: Any) -> Any:
            if function.__name__ == "scatter" and options.get("broadcast"):
                n_workers = len(self.client.nthreads())
                self.to_all += n_workers * len(cloudpickle.dumps(arguments[0]))
            return super()._ask(function, *arguments, **options)

        @property
        def moved(self) -> int:
            given = self.client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
            return self.to_all + int(sum(given.values()))

    return Counted(client)


def watched(command: list[Any]) -> dict[str, Any]:
    """Run a command; say how long it took, and the peak of it and its children together.

    Memory that processes share is counted once (``Pss``), so that the sum is what the machine gave.
    """
    start, peak = time.perf_counter(), 0
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        told: list[str] = []
        reader = threading.Thread(target=lambda: told.extend(process.stderr or []), daemon=True)
        reader.start()
        while process.poll() is None:
            peak = max(peak, sum(map(resident, family(process.pid))))
            time.sleep(0.2)
        reader.join()
    if process.returncode:
        raise SystemExit("".join(told))
    return {"seconds": round(time.perf_counter() - start, 1), "peak MB": round(peak / 1024)}


def family(pid: int) -> list[int]:
    """Give a process and all that it began."""
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        found = [int(each) for task in tasks for each in (task / "children").read_text().split()]
    except OSError:  # it ended meanwhile
        return []
    return [pid, *(each for child in found for each in family(child))]


def resident(pid: int) -> int:
    """Give a process's share of memory in kilobytes; none if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return int(lines.split("Pss:")[1].split()[0])


def plot() -> None:
    """Draw seconds over each size, both doubled from line to line, beside a straight growth."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "scale"
    from matplotlib import pyplot

    grown = json.loads(RESULTS.read_text())["growth"]
    figure, axes = pyplot.subplots(1, len(grown), figsize=(3 * len(grown), 3), sharey=True)
    for axis, (name, rows) in zip(axes, grown.items(), strict=True):
        sizes, seconds = list(map(int, rows)), [row["seconds"] for row in rows.values()]
        straight = [seconds[0] * size / sizes[0] for size in sizes]
        axis.loglog(sizes, straight, "--", color="0.6", label="linear")
        axis.loglog(sizes, seconds, "o-", label="measured")
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=7)
        axis.minorticks_off()
        axis.set_title({"length": "words a document", "words": "vocabulary"}.get(name, name))
    axes[0].set_ylabel("seconds of a fit")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(RESULTS.with_suffix(".svg"), metadata={"Date": None})


PARTS = {f.__name__: f for f in (growth, cores, peers, million, dask)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "plot", []])
    parser.add_argument("--fit", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit(**given.fit)
    for name in given.parts:
        if name == "plot":
            plot()
        else:
            save(name, PARTS[name]())


if __name__ == "__main__":
    main()

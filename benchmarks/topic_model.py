"""TopicVec: its two solvers, other topic models, the machine's limit, single articles.

    TOPICVEC_DATA=/path/to/data python benchmarks/topic_model.py solvers peers cold

Each part writes its own key of ``results/topicvec.json``. Needs gensim and tomotopy, which
``pip install ./bench`` brings.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import news
import numpy as np
from articles import articles
from scipy.sparse import csr_array

from topicvec import TopicVec, load_vectors
from topicvec.engine import LocalEngine
from topicvec.model import Solver
from topicvec.text import BagOfWords, Vocabulary

RESULTS = Path(__file__).parent / "results" / "topicvec.json"
ROOT = Path(__file__).resolve().parents[1]
N_TOPICS, N_JOBS, SEED = 100, 2, 0


def save(key: str, value: Any) -> None:
    old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**old, key: value}, indent=2) + "\n")
    print(key, json.dumps(value, indent=2), flush=True)


def counts_of_news() -> tuple[csr_array, Any]:
    """Counts of the training posts over the words that have vectors."""
    vectors = load_vectors()
    vocabulary = Vocabulary(vectors.words, np.maximum(1, vectors.unigram * 1e9).astype(np.int64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some posts have no known word
        bag = BagOfWords(vocabulary, stop_words="paper", n_jobs=N_JOBS).fit(["a"])
        counts = bag.transform(news.load("train").texts)
    return counts, vectors


class Clock:
    """Collect the bound and the time since the start after each iteration."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.steps: list[tuple[float, float]] = []
        self.parts: list[tuple[float, float]] = []

    def __call__(self, info: Any) -> None:
        self.steps.append((time.perf_counter() - self.start, info.bound))
        self.parts.append((info.seconds_e, info.seconds_m))


def fit(
    counts: csr_array, vectors: Any, clock: Clock | None = None, **options: Any
) -> tuple[TopicVec, Clock]:
    clock = clock or Clock()
    model = TopicVec(
        N_TOPICS,
        vectors,
        random_state=SEED,
        n_jobs=N_JOBS,
        **{"own_words": False, "alpha": 0.1, **options},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(counts, callback=clock), clock


def solvers() -> dict[str, Any]:
    counts, vectors = counts_of_news()
    fit(counts[:200], vectors, max_iter=2)  # compiles the kernels
    # the paper's steps from our start and with our E-steps, so that only the steps differ
    steps = Solver(method="paper")
    _, paper = fit(counts, vectors, solver=steps, max_iter=100, tol=0.0)
    model, ours = fit(counts, vectors)
    seconds, goal = paper.steps[-1]
    found = reach(ours, goal)
    return {
        "documents": counts.shape[0],
        "tokens": int(counts.sum()),
        "topics": N_TOPICS,
        "paper's solver": {
            "iterations": len(paper.steps), "seconds": round(seconds, 1), "bound per token": goal
        },
        "default solver": {"converged": model.converged_, **found},
        "share of the paper's iterations": found["iterations to it"] / len(paper.steps),
        "share of the paper's seconds": round(found["seconds to it"] / seconds, 3),
    }  # fmt: skip


def reach(clock: Clock, goal: float) -> dict[str, Any]:
    """Where a run ends, and when it first reaches a bound."""
    first = next(i for i, (_, bound) in enumerate(clock.steps) if bound >= goal)
    return {
        "iterations": len(clock.steps),
        "seconds": round(clock.steps[-1][0], 1),
        "bound per token": clock.steps[-1][1],
        "iterations to it": first + 1,
        "seconds to it": round(clock.steps[first][0], 1),
    }


def peers() -> dict[str, Any]:
    counts, vectors = counts_of_news()
    counts = counts[np.asarray(counts.sum(1)).ravel() > 0]
    used = np.flatnonzero(np.asarray(counts.sum(0)).ravel())
    small = counts[:, used].tocsr()
    words = [vectors.words[i] for i in used]
    _, clock = fit(counts, vectors)
    result = {"TopicVec": {"seconds": round(clock.steps[-1][0], 1), "iterations": len(clock.steps)}}
    print(result, flush=True)
    for name, learn in (
        ("tomotopy LDA", tomotopy),
        ("gensim LDA", gensim),
        ("scikit-learn LDA", sklearn),
    ):
        start = time.perf_counter()
        note = learn(small, words)
        result[name] = {"seconds": round(time.perf_counter() - start, 1), **note}
        save("peers", result)
    return result


def documents(counts: csr_array, words: list[str]) -> list[list[str]]:
    rows = (range(a, b) for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True))
    return [[words[counts.indices[i]] for i in row for _ in range(counts.data[i])] for row in rows]


def tomotopy(counts: csr_array, words: list[str]) -> dict[str, Any]:
    import tomotopy as tp

    model = tp.LDAModel(k=N_TOPICS, seed=SEED)
    for tokens in documents(counts, words):
        model.add_doc(tokens)
    before, sweeps = -np.inf, 0
    while sweeps < 2000:
        model.train(50, workers=N_JOBS)
        sweeps += 50
        if model.ll_per_word - before < 1e-3:
            break
        before = model.ll_per_word
    return {"stops": "50 sweeps that gain less than 0.001 a token", "sweeps": sweeps}


def gensim(counts: csr_array, words: list[str]) -> dict[str, Any]:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaMulticore

    corpus = list(Sparse2Corpus(counts, documents_columns=False))
    ids = dict(enumerate(words))
    LdaMulticore(
        corpus, N_TOPICS, ids, passes=20, workers=N_JOBS, random_state=SEED, eval_every=None
    )
    return {"stops": "20 passes, as in the paper; it has no test of its own"}


def sklearn(counts: csr_array, words: list[str]) -> dict[str, Any]:  # noqa: ARG001
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(N_TOPICS, n_jobs=N_JOBS, random_state=SEED).fit(counts)
    return {
        "stops": "10 iterations, its default",
        "iterations": model.n_iter_,
    }


class Products(Clock):
    """Time the three products of an iteration, V Tᵀ, Pᵀ V and Cᵀ V, after each iteration.

    The machine is as fast for the one as for the other then. The products run in blocks on the
    engine's threads, which is a little faster than BLAS's own threads: those would go on spinning
    beside the next iteration.
    """

    def __init__(self, vectors: Any, types: Any) -> None:
        super().__init__()
        rng = np.random.default_rng(0)
        self.vectors, self.used = vectors.matrix, vectors.matrix[types]
        self.topics = rng.standard_normal((vectors.n_dims, N_TOPICS), dtype=np.float32)
        self.masses = rng.standard_normal((len(vectors), N_TOPICS), dtype=np.float32)
        self.engine = LocalEngine(N_JOBS)
        self.products: list[float] = []

    def __call__(self, progress: Any) -> None:
        super().__call__(progress)
        start = time.perf_counter()
        for _ in self.engine.map(self.block, range(0, len(self.vectors), 2000)):
            pass
        self.products.append(time.perf_counter() - start)

    def block(self, start: int) -> None:
        """Multiply rows of all three; there are fewer words in the corpus than vectors."""
        rows = slice(start, start + 2000)
        self.vectors[rows] @ self.topics
        self.masses[rows].T @ self.vectors[rows]
        self.masses[rows][: len(self.used[rows])].T @ self.used[rows]


def limit() -> dict[str, Any]:
    """Compare the iterations of a fit with their three products, on as many threads.

    The first iterations pass over each document several times, the later ones once.
    """
    counts, vectors = counts_of_news()
    fit(counts[:200], vectors, max_iter=2)  # compiles the kernels
    clock = Products(vectors, np.unique(counts.indices))
    fit(counts, vectors, clock)
    parts, products = np.array(clock.parts), np.array(clock.products)
    ratios = parts.sum(axis=1) / products
    e, m = np.median(parts, axis=0)
    return {
        "iterations": len(ratios),
        "seconds of the E-step": round(float(e), 3),
        "seconds of the M-step": round(float(m), 3),
        "seconds of the three products": round(float(np.median(products)), 3),
        "iteration over products": round(float(np.median(ratios)), 2),
        "all iterations over all products": round(float(parts.sum() / products.sum()), 2),
        "each iteration over its products": [round(float(ratio), 2) for ratio in ratios],
    }


def classes() -> dict[str, Any]:
    train, vectors = news.load("train"), load_vectors()
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    start = time.perf_counter()
    model = TopicVec(
        14,
        vectors,
        stop_words="paper",
        own_words=False,
        alpha=0.1,
        share="class",
        random_state=SEED,
        n_jobs=N_JOBS,
    ).fit(train.texts, train.groups)
    seconds = time.perf_counter() - start
    peak = memory("VmHWM")
    own = vectors.matrix.nbytes / 2**20
    return {
        "topics": len(model.topic_vectors_),
        "seconds": round(seconds, 1),
        "MB of the vectors": round(own),
        "peak MB": round(peak),
        "MB before the fit, with vectors, texts and libraries": round(before),
        "rise in the fit over the size of the vectors": round((peak - before) / own, 2),
    }


def memory(field: str) -> float:
    """Megabytes of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1024


def cold() -> dict[str, Any]:
    """The command line on the bundled article, from a cold start."""
    article = ROOT / "src" / "topicvec" / "samples" / "article.txt"
    command = [sys.executable, "-m", "topicvec", "topics", str(article), "--json"]
    runs = {
        "topicvec topics": command,
        "topicvec topics -k 20": [*command, "-k", "20"],
        "import sklearn.base": [sys.executable, "-c", "import sklearn.base"],
    }
    # As pip leaves a package: compiled. The first run compiles that of a checkout, if it may.
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    seconds = dict.fromkeys(runs, float("inf"))
    for _ in range(6):  # in turn, so that what else the machine does falls on all
        for name, arguments in runs.items():
            start = time.perf_counter()
            subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=compiled)
            seconds[name] = round(min(seconds[name], time.perf_counter() - start), 3)
    base = seconds["import sklearn.base"]
    return {
        "seconds": seconds,
        "ratio": round(seconds["topicvec topics"] / base, 2),
        "ratio of 20 topics": round(seconds["topicvec topics -k 20"] / base, 2),
    }


PARTS = {f.__name__: f for f in (solvers, peers, limit, classes, articles, cold)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=list(PARTS))
    names = parser.parse_args().parts
    os.environ.setdefault("OMP_NUM_THREADS", str(N_JOBS))
    for name in names:
        save(name, PARTS[name]())


if __name__ == "__main__":
    main()

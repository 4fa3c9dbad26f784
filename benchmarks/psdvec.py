"""PSDVec against word2vec, fastText and PPMI+SVD, and against the machine's own limits.

    TOPICVEC_DATA=/path/to/data python benchmarks/psdvec.py compare --shards 4
    TOPICVEC_DATA=/path/to/data python benchmarks/psdvec.py core others growth

Each part writes its own key of ``results/psdvec.json``; ``growth`` also draws a plot. All
methods read the same file of tokens, one article a line, with the same vocabulary, dimension
and number of workers, and their time includes reading, counting words and learning.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from topicvec.embed import PSDVec, WordVectors
from topicvec.embed.association import associate, measure_margins
from topicvec.embed.cooccurrence import WindowSettings
from topicvec.embed.counting import count_corpus
from topicvec.embed.eigen import Rows
from topicvec.embed.factorize import DenseSurrogate, factorize
from topicvec.embed.regress import regress
from topicvec.engine import LocalEngine
from topicvec.measure import word_similarity
from topicvec.text import Tokenizer, read_documents

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("TOPICVEC_DATA", ""))
TESTS = {"ws353": "ws353.txt", "MEN": "bruni_men.txt", "SimLex": "simlex_999a.txt"}
N_WORDS, N_DIMS, N_JOBS, SEED = 80_000, 300, 2, 0


def shards(n: int) -> list[Path]:
    return sorted((DATA / "wiki").glob("*.txt.xz"))[:n]


def articles(n_shards: int) -> Iterator[str]:
    documents = read_documents(
        shards(n_shards), format="tsv", header=False, id_column=0, text_column=1
    )
    return (document.text for document in documents)


def write_tokens(path: Path, n_shards: int) -> int:
    tokenize, n_tokens = Tokenizer(), 0
    with path.open("w", encoding="utf-8") as file:
        for text in articles(n_shards):
            tokens = tokenize(text)
            n_tokens += len(tokens)
            file.write(" ".join(tokens) + "\n")
    return n_tokens


def lines(path: Path) -> Iterator[str]:
    return (document.text for document in read_documents(path, format="lines"))


def psdvec(path: Path) -> WordVectors:
    model = PSDVec(N_DIMS, n_words=N_WORDS, min_count=MIN_COUNT, tokenizer=str.split, n_jobs=N_JOBS)
    return model.fit(lines(path)).vectors_


def psdvec_paper(path: Path) -> WordVectors:
    """The settings of the PSDVec papers, scaled to this corpus."""
    model = PSDVec(
        N_DIMS, n_words=N_WORDS, min_count=MIN_COUNT, tokenizer=str.split, n_jobs=N_JOBS,
        window=3, direction="left", weighting="flat", smoothing=0.02, unseen_weight=0.0,
        frequency_power=0.0, n_iter=4, eigenvalue_power=0.5,
    )  # fmt: skip
    return model.fit(lines(path)).vectors_


def gensim_settings() -> dict[str, Any]:
    return {
        "vector_size": N_DIMS, "window": 5, "negative": 5, "sg": 1, "epochs": 5, "seed": SEED,
        "min_count": MIN_COUNT, "max_final_vocab": N_WORDS, "workers": N_JOBS,
    }  # fmt: skip


def word2vec(path: Path) -> WordVectors:
    from gensim.models import Word2Vec

    return WordVectors.from_gensim(Word2Vec(corpus_file=str(path), **gensim_settings()).wv)


def fasttext(path: Path) -> WordVectors:
    from gensim.models import FastText

    return WordVectors.from_gensim(FastText(corpus_file=str(path), **gensim_settings()).wv)


def ppmi_svd(path: Path) -> WordVectors:
    """Positive PMI with smoothed contexts, truncated SVD, singular values to the power 1/2."""
    from sklearn.utils.extmath import randomized_svd

    counts = count_corpus(
        lines(path), WindowSettings(5, "both", "linear"), min_count=MIN_COUNT, max_words=N_WORDS,
        tokenizer=str.split, n_jobs=N_JOBS,
    )  # fmt: skip
    table = counts.counts.tocoo()
    row, column = (np.asarray(counts.counts.sum(axis)).ravel().astype(float) for axis in (1, 0))
    context = column**0.75 / (column**0.75).sum()
    pmi = np.log(table.data / (row[table.coords[0]] * context[table.coords[1]]))
    table.data = np.maximum(pmi, 0).astype(np.float32)
    U, s, _ = randomized_svd(table.tocsr(), N_DIMS, n_iter=5, random_state=SEED)
    return WordVectors(counts.words, (U * np.sqrt(s)).astype(np.float32), counts.unigram_counts)


METHODS: dict[str, Callable[[Path], WordVectors]] = {
    "PSDVec": psdvec,
    "PPMI+SVD": ppmi_svd,
    "PSDVec, settings of the papers": psdvec_paper,
    "word2vec": word2vec,
    "fastText": fasttext,
}


def scores(vectors: WordVectors) -> dict[str, float | str]:
    found = {name: word_similarity(vectors, DATA / "words" / file) for name, file in TESTS.items()}
    row: dict[str, float | str] = {name: round(score.spearman, 4) for name, score in found.items()}
    row["mean"] = round(float(np.mean([score.spearman for score in found.values()])), 4)
    row["pairs used"] = ", ".join(f"{s.n_used} of {s.n_total}" for s in found.values())
    return row


def compare(n_shards: int, methods: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokens.txt"
        result: dict[str, Any] = {
            "n_shards": n_shards, "n_tokens": write_tokens(path, n_shards), "n_words": N_WORDS,
            "n_dims": N_DIMS, "n_jobs": N_JOBS, "min_count": MIN_COUNT, "methods": {},
        }  # fmt: skip
        old = saved().get(key := f"compare, {n_shards} shards", {})
        if {**old, "methods": {}} == result:  # rows of the same tokens stay
            result["methods"] = old["methods"]
        warm_up(path)
        for name in methods:
            start, cpu = time.perf_counter(), cpu_seconds()
            vectors = METHODS[name](path)
            seconds, cpu = time.perf_counter() - start, cpu_seconds() - cpu
            result["methods"][name] = {
                "seconds": round(seconds, 1), "CPU seconds": round(cpu, 1),
                "words": len(vectors), **scores(vectors),
            }  # fmt: skip
            print(name, result["methods"][name], flush=True)
            save(key, result)
    return result


def cpu_seconds() -> float:
    """Time on all cores of this process and of its living workers."""
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(t.user + t.system for t in times)


def warm_up(path: Path) -> None:
    """Compile the kernels, so that no method's time has it."""
    with path.open(encoding="utf-8") as file:
        few = [file.readline()[:2000] for _ in range(50)]
    PSDVec(10, n_core=200, min_count=1, tokenizer=str.split).fit(few)


def saved() -> dict[str, Any]:
    path = RESULTS / "psdvec.json"
    return json.loads(path.read_text()) if path.exists() else {}


def save(key: str, value: Any) -> None:
    text = json.dumps({**saved(), key: value}, indent=2)
    (RESULTS / "psdvec.json").write_text(text + "\n")


def product_seconds(n: int, k: int) -> float:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((n, n), dtype=np.float32)
    b = rng.standard_normal((n, k), dtype=np.float32)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return min(times)


def counted(n_shards: int) -> Any:
    return count_corpus(
        articles(n_shards), WindowSettings(), min_count=MIN_COUNT, max_words=N_WORDS, n_jobs=N_JOBS
    )


def core(counts: Any) -> dict[str, Any]:
    """The core solve at n = 25,000, N = 500, in units of one n × n × N product."""
    n, k, engine = 25_000, 500, LocalEngine(N_JOBS)
    unit = product_seconds(n, k)
    result: dict[str, Any] = {"n": n, "N": k, "seconds of one product": round(unit, 2)}
    paper = {"unseen_weight": 0.0, "frequency_power": 0.0, "smoothing": 0.02}
    for name, n_iter, options in (("default", 1, {}), ("papers' weights, T = 4", 4, paper)):
        margins = measure_margins(counts, n_core=n, **{**DEFAULT_MARGINS, **options})
        association = associate(counts, margins, n, engine)
        start = time.perf_counter()
        found = factorize(association, k, engine, n_iter=n_iter)
        seconds = time.perf_counter() - start
        relative = found.residual_norms / found.eigenvalues
        result[name] = {
            "seconds": round(seconds, 1), "in products": round(seconds / unit, 1),
            "largest eigenvalue": float(found.eigenvalues[0]),
            "smallest eigenvalue": float(found.eigenvalues[-1]),
            "root mean square of residual over eigenvalue": float(np.sqrt(np.mean(relative**2))),
            "weighted residual": found.residual,
        }  # fmt: skip
        print(name, result[name], flush=True)
    result["against scipy eigh, n = 3,000, N = 200"] = exact_check(counts)
    return result


def exact_check(counts: Any) -> dict[str, float]:
    """Compare eigenvalues and residual of one solve with a full decomposition."""
    n, k, engine = 3_000, 200, LocalEngine(N_JOBS)
    association = associate(counts, measure_margins(counts, n_core=n, **DEFAULT_MARGINS), n, engine)
    found = factorize(association, k, engine, n_iter=1)
    whole = DenseSurrogate(association, Rows(n, engine)).product(np.eye(n, dtype=np.float32))
    exact = np.linalg.eigvalsh(whole.astype(np.float64))[::-1][:k]
    return {
        "largest relative error of an eigenvalue": float(
            np.max(np.abs(found.eigenvalues - exact) / exact)
        )
    }


def others(counts: Any) -> dict[str, Any]:
    """Words per second of the regressions, and their share of the matrix-multiply rate."""
    n, k, engine = 20_000, N_DIMS, LocalEngine(N_JOBS)
    rate = 2 * 4000**3 / product_seconds(4000, 4000)
    rng = np.random.default_rng(0)
    vectors = (rng.standard_normal((n, k)) / np.sqrt(k)).astype(np.float32)
    words = np.arange(n, counts.n_words)
    result = {}
    paper = {"unseen_weight": 0.0, "frequency_power": 0.0, "smoothing": 0.02}
    for name, options in (("default", {}), ("papers' weights", paper)):
        margins = measure_margins(counts, n_core=n, **{**DEFAULT_MARGINS, **options})
        some = words if name == "default" else words[::10]
        regress(counts, margins, np.arange(n), vectors, some[:64], np.full(64, 2.0), engine)
        start = time.perf_counter()
        regress(counts, margins, np.arange(n), vectors, some, np.full(some.size, 2.0), engine)
        seconds = time.perf_counter() - start
        seen = np.diff(counts.counts[some][:, :n].indptr).astype(float)
        work = (2 * seen * k).sum() if name == "default" else _solve_work(seen, k)
        result[name] = {
            "words": int(some.size), "words per second": round(some.size / seconds),
            "share of the multiply rate": round(float(work / seconds / rate), 3),
        }  # fmt: skip
        print(name, result[name], flush=True)
    return result


def _solve_work(seen: Any, k: int) -> float:
    """Multiplications and additions of the smaller of the two forms of each regression."""
    primal = seen * k * k + k**3 / 3
    dual = seen * seen * k + seen**3 / 3
    return float(np.minimum(primal, dual).sum())


def growth() -> dict[str, Any]:
    """How time and memory grow with tokens, words and dimensions."""
    rows = []
    base = {"n_shards": 1, "n_core": 5_000, "n_words": 20_000, "n_dims": 100}
    changes = [
        *({"n_shards": n} for n in (1, 2, 4)),
        *({"n_core": n, "n_words": 4 * n} for n in (10_000, 20_000)),
        *({"n_dims": n} for n in (200, 400)),
    ]
    for change in changes:
        size = {**base, **change}
        command = [sys.executable, __file__, "one-size", "--size", json.dumps(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append({**size, **json.loads(done.stdout)})
        print(rows[-1], flush=True)
    draw(rows)
    return {"rows": rows}


def one_size(size: dict[str, int]) -> None:
    """Train once, alone in a process, and print what it took."""
    start = time.perf_counter()
    counts = count_corpus(
        articles(size["n_shards"]), WindowSettings(), min_count=5, max_words=size["n_words"],
        n_jobs=N_JOBS,
    )  # fmt: skip
    middle = time.perf_counter()
    PSDVec(size["n_dims"], n_core=size["n_core"], n_words=size["n_words"], n_jobs=N_JOBS).fit(
        counts
    )
    end = time.perf_counter()
    result = {
        "tokens": int(counts.unigram_counts.sum()),
        "seconds counting": round(middle - start, 1),
        "seconds solving": round(end - middle, 1),
        "peak MB": peak_megabytes(),
    }
    print(json.dumps(result))


def peak_megabytes() -> int:
    """Peak memory of this process; getrusage would also tell its parent's before the fork."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def draw(rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True)
    for axis, name in zip(axes, ("tokens", "n_words", "n_dims"), strict=True):
        base = rows[0]
        others = [
            k for k in ("n_shards", "n_words", "n_dims") if k != name.replace("tokens", "n_shards")
        ]
        chosen = [row for row in rows if all(row[k] == base[k] for k in others)]
        unit = 1e6 if name == "tokens" else 1
        x = [round(row[name] / unit, 1) for row in chosen]
        for part, style in PARTS.items():
            axis.plot(x, [row[f"seconds {part}"] for row in chosen], style, label=part)
        axis.set_xlabel(LABELS[name])
        axis.set_xticks(x)
    axes[0].set_ylim(0, 1.1 * max(row[f"seconds {part}"] for row in rows for part in PARTS))
    axes[0].set_ylabel("seconds")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "psdvec-growth.svg")


MIN_COUNT = 20
PARTS = {"counting": "o-", "solving": "s--"}
LABELS = {"tokens": "million tokens", "n_words": "words, a quarter core", "n_dims": "dimensions"}
DEFAULT_MARGINS = {
    name: getattr(PSDVec(), name)
    for name in ("smoothing", "unseen_weight", "frequency_power", "context_power", "subsample")
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts", nargs="+", choices=["compare", "core", "others", "growth", "draw", "one-size"]
    )
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--size", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.parts == ["one-size"]:
        one_size(options.size)
        return
    RESULTS.mkdir(exist_ok=True)
    if "compare" in options.parts:
        compare(options.shards, options.methods)
    if "core" in options.parts or "others" in options.parts:
        counts = counted(options.shards)
        for name, part in (("core", core), ("others", others)):
            if name in options.parts:
                save(name, part(counts))
    if "growth" in options.parts:
        save("growth", growth())
    if "draw" in options.parts:
        draw(saved()["growth"]["rows"])


if __name__ == "__main__":
    main()

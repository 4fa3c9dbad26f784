"""Topic mover's distance beside word mover's: documents of the same class, and the time of a pair.

    TOPICVEC_DATA=/path/to/data python benchmarks/movers.py

Queries are training documents that are held out, candidates are others; the test documents are not
touched. Everything runs in one thread, and its processor time is counted. Writes
``results/movers.json``, a key for each corpus. Needs the laboratory, ``pip install ./bench``, and
POT for the word mover's distance: on problems as large as texts it is faster than the package's
solver, which is made for few topics.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import ot
except ModuleNotFoundError as error:  # nothing else here needs it
    raise SystemExit("word mover's distance is timed with POT: pip install POT") from error

from topicvec_bench.corpora import LabelledTokens, load_split
from topicvec_bench.movers import TopicMover, exact_costs, relaxed_costs, word_bags, word_costs
from topicvec_bench.registry import MIN_COUNT, make
from topicvec_bench.simple import MeanVectors

from topicvec import DocumentIndex, WordVectors, load_vectors
from topicvec.represent import (
    cosine_similarity,
    hellinger_distance,
    nearest_by_transport,
    transport_bounds,
    transport_distance,
)

RESULTS = Path(__file__).parent / "results" / "movers.json"
CORPORA = ("20news", "reuters")
N_QUERIES, N_CANDIDATES = 200, 2000
N_FOUND = 10
N_TIMED = 5  # candidates of each query for which slow distances are timed
KEEP = 8

Rows = NDArray[np.integer]


class Task(NamedTuple):
    queries: LabelledTokens
    candidates: LabelledTokens
    vectors: WordVectors
    mover: TopicMover


def evenly(tokens: LabelledTokens, n: int) -> LabelledTokens:
    rows = np.linspace(0, len(tokens.documents) - 1, n).astype(int)
    return LabelledTokens([tokens.documents[row] for row in rows], tokens.labels[rows])


def first(distances: NDArray[np.floating]) -> Rows:
    return np.argsort(distances, axis=1, kind="stable")[:, :N_FOUND]


def by_words(task: Task) -> dict[str, Any]:
    """Rank by the relaxed and by the exact word mover's distance, which the relaxed one prunes.

    The exact one of a pair is timed by two solvers on some pairs; for all pairs it would take many
    minutes. What pruning leaves out cannot be among the first.
    """
    asked, bags = (
        word_bags(part.documents, task.vectors) for part in (task.queries, task.candidates)
    )
    packed, costs = word_costs(asked[[0]], bags[[0]], task.vectors)
    relaxed_costs(asked[[0]].data, packed, costs)  # compile
    exact_costs(asked[[0]].data, asked[[0]].indices, packed, costs, np.arange(1))
    relaxed_rows, exact_rows, seconds, n_exact = [], [], np.zeros(4), 0
    for row in range(N_QUERIES):
        bag = asked[[row]]
        start = time.process_time()
        packed, costs = word_costs(bag, bags, task.vectors)
        relaxed = relaxed_costs(bag.data, packed, costs)
        order = np.argsort(relaxed, kind="stable")
        seconds[0] += time.process_time() - start
        relaxed_rows.append(order[:N_FOUND])
        best: list[tuple[float, int]] = []
        for other in order:
            if len(best) == N_FOUND and relaxed[other] > best[-1][0]:
                break
            best = sorted([*best, (by_pot(bag, packed, costs, other), other)])[:N_FOUND]
            n_exact += 1
        seconds[1] += time.process_time() - start
        exact_rows.append([other for _, other in best])
        some = np.linspace(row, N_CANDIDATES - 1 - N_QUERIES + row, N_TIMED).astype(int)
        start = time.process_time()
        first_way = [by_pot(bag, packed, costs, other) for other in some]
        seconds[2] += time.process_time() - start
        start = time.process_time()
        second_way = exact_costs(bag.data, bag.indices, packed, costs, some)
        seconds[3] += time.process_time() - start
        np.testing.assert_allclose(first_way, second_way, atol=1e-6)
    pair = 1e6 * seconds[2:] / (N_QUERIES * N_TIMED)
    query = 1000 * seconds / N_QUERIES
    shown = {"share_exact": n_exact / (N_QUERIES * N_CANDIDATES), "own_solver_us_pair": pair[1]}
    return {
        "WMD exact": (exact_rows, pair[0], pair[0] * N_CANDIDATES / 1000, shown),
        "WMD exact, pruned": (exact_rows, None, query[1], {}),
        "WMD relaxed": (relaxed_rows, 1000 * query[0] / N_CANDIDATES, query[0], {}),
    }


def by_pot(bag: Any, others: Any, costs: Any, row: int) -> float:
    cells = slice(others.starts[row], others.starts[row + 1])
    between = np.ascontiguousarray(costs[:, others.places[cells]])
    a, b = bag.data, others.shares[cells]
    # Shares of both sum to 1 but for rounding, which is what it would look for.
    return float(ot.emd2(a, b, between, numItermax=10_000_000, check_marginals=False))


def timed(rank: Callable[[], Rows]) -> tuple[Rows, float]:
    """Give rows and milliseconds a query."""
    start = time.process_time()
    rows = rank()
    return rows, 1000 * (time.process_time() - start) / N_QUERIES


def by_topics(task: Task) -> dict[str, Any]:
    model = task.mover.model_
    p, q = (task.mover._mixtures(part.documents)[0] for part in (task.queries, task.candidates))
    nearest_by_transport(model, p[:1], q[:1]), transport_distance(model, p[:1])  # compile
    transport_bounds(model, p[:1])
    ways: dict[str, Callable[[], Rows]] = {
        "TMD exact": lambda: first(transport_distance(model, p, q, keep=KEEP)),
        "TMD exact, pruned": lambda: nearest_by_transport(model, p, q, N_FOUND, keep=KEEP)[0],
        "TMD entropic": lambda: first(
            transport_distance(model, p, q, method="entropic", keep=KEEP)
        ),
        "TMD relaxed": lambda: first(transport_bounds(model, p, q, keep=KEEP)[1]),
        "TMD exact, 16 topics, pruned": lambda: nearest_by_transport(
            model, p, q, N_FOUND, keep=2 * KEEP
        )[0],
        "centroids of mixtures": lambda: first(transport_bounds(model, p, q)[0]),
        "Hellinger": lambda: first(hellinger_distance(p, q)),
    }
    found = {}
    for name, rank in ways.items():
        rows, query = timed(rank)
        pair = None if "pruned" in name else 1000 * query / N_CANDIDATES
        found[name] = (rows, pair, query, {})
    assert np.array_equal(found["TMD exact"][0], found["TMD exact, pruned"][0])
    return found


def by_others(task: Task) -> dict[str, Any]:
    means = MeanVectors(task.vectors).fit(task.candidates.documents)
    p, q = (means.transform(part.documents) for part in (task.queries, task.candidates))
    rows, query = timed(lambda: first(-cosine_similarity(p, q)))
    found = {"mean vectors, cosine": (rows, 1000 * query / N_CANDIDATES, query, {})}
    index = DocumentIndex.build(task.mover.model_, task.candidates.documents)
    for name, way in (("search", None), ("search, re-ranked by TMD", "transport")):
        rows, query = timed(lambda way=way: searched(index, task.queries.documents, way))
        found[name] = (rows, None, query, {})
    return found


def searched(index: DocumentIndex, queries: list[list[str]], way: Any) -> Rows:
    return np.array(
        [[hit.index for hit in index.search(query, N_FOUND, rerank=way)] for query in queries]
    )


def measure(corpus: str) -> dict[str, Any]:
    (train, held), vectors = load_split(f"{corpus}-heldout", load_vectors(), MIN_COUNT[corpus])
    mover = make("TMD kNN", corpus=corpus, vectors=vectors, random_state=0)
    start = time.process_time()
    mover.fit(train.documents, train.labels)
    seconds = time.process_time() - start
    task = Task(evenly(held, N_QUERIES), evenly(train, N_CANDIDATES), vectors, mover)
    found = {**by_topics(task), **by_others(task), **by_words(task)}
    right = {
        name: (task.candidates.labels[np.asarray(rows)] == task.queries.labels[:, None]).mean(
            axis=1
        )
        for name, (rows, *_) in found.items()
    }
    ways = {
        name: {
            "precision": float(right[name].mean()),
            "error": error(right[name]),
            "us_pair": pair,
            "ms_query": query,
            **more,
        }
        for name, (_, pair, query, more) in found.items()
    }
    lead = right["TMD exact"] - right["WMD exact"]
    return {
        "queries": N_QUERIES,
        "candidates": N_CANDIDATES,
        "n_topics": mover.n_topics,
        "keep": KEEP,
        "fit_seconds": seconds,
        "lead_of_tmd": {"precision": float(lead.mean()), "error": error(lead)},
        "times_faster": {
            "pair": ways["WMD exact"]["us_pair"] / ways["TMD exact"]["us_pair"],
            "query_pruned": ways["WMD exact, pruned"]["ms_query"]
            / ways["TMD exact, pruned"]["ms_query"],
        },
        "ways": ways,
    }


def error(values: NDArray[np.floating]) -> float:
    return float(np.std(values) / np.sqrt(len(values)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    for name in parser.parse_args().corpora:
        found = measure(name)
        print(name, json.dumps(found, indent=1), flush=True)
        old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**old, name: found}, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""Why topics of one article collapse from the paper's start, and what keeps them apart.

    python benchmarks/paper_start.py           # measures, and writes the page's tables
    python benchmarks/paper_start.py --check   # ends with 1 if the page has other figures

Takes the bundled article and one ingredient of the paper's solver at a time: its start, its step,
its E-step. Writes ``results/paper_start.json`` and the tables of
``docs/explanation/paper-figure.md``.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from topicvec import datasets, load_vectors
from topicvec.engine import LocalEngine, one_blas_thread
from topicvec.model import PaperSolver, Solver
from topicvec.model.counts import DocumentCounter
from topicvec.model.fit import plan_corpus

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "paper_start.json"
PAGE = ROOT / "docs" / "explanation" / "paper-figure.md"
N_TOPICS, ALPHA, MAX_NORM, N_ITERATIONS, SEEDS = 20, 0.1, 7.0, 100, (0, 1, 2)
WATCHED = (1, 2, 5, 10, 20, 30, 50)
LIVE = 0.02  # of the words; a topic with less says nothing
PAPER = "the paper's solver"
WAYS: dict[str, tuple[Solver, str, float]] = {
    PAPER: (PaperSolver(), "random", MAX_NORM),
    "mixtures start even, not at θ = 1": (PaperSolver(start="even"), "random", MAX_NORM),
    "E-steps until convergence": (PaperSolver(n_passes=100), "random", MAX_NORM),
    "λ_0 = 0.01": (PaperSolver(learning_rate=0.01), "random", MAX_NORM),
    "γ = 3": (PaperSolver(), "random", 3.0),
    "topics start spread among words": (PaperSolver(), "spread", MAX_NORM),
    "Newton steps": (Solver(start="paper", max_passes=1), "random", MAX_NORM),
    "all of ours": (Solver(), "auto", MAX_NORM),
}


def watch(counts: Any, solver: Solver, init: str, max_norm: float, seed: int) -> dict[str, Any]:
    """Fit once; tell shares, directions and the bound on the way."""
    how = {**vars(solver), "max_norm": max_norm}
    plan = plan_corpus(
        load_vectors(), counts, N_TOPICS, ALPHA, init, how, np.random.default_rng(seed),
        max_iter=N_ITERATIONS, tol=0.0,
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    for state, info in plan.steps(LocalEngine(1)):
        shares = info.topic_mass / info.topic_mass.sum()
        rows.append(
            {
                "iteration": info.iteration,
                "largest": round(float(shares.max()), 3),
                "live": int((shares[1:] >= LIVE).sum()),
                "cosine": round(mean_cosine(state.topics[1:]), 3),
                "bound": round(info.bound, 3),
            }
        )
    on_the_way = [row for row in rows[:-1] if row["iteration"] in WATCHED]
    return {"seed": seed, "last": rows[-1], "on the way": on_the_way}


def mean_cosine(topics: Any) -> float:
    """Give the mean cosine of all pairs of topics."""
    unit = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    return float((unit @ unit.T)[np.triu_indices(len(unit), 1)].mean())


def measure() -> dict[str, Any]:
    counts = DocumentCounter().count([datasets.sample_article()], load_vectors()).counts
    found: dict[str, Any] = {"tokens": int(counts.sum()), "ways": {}}
    for name, way in WAYS.items():
        found["ways"][name] = [watch(counts, *way, seed) for seed in SEEDS]
        print(name, [run["last"] for run in found["ways"][name]], flush=True)
    return found


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Write the tables of the page as Markdown."""
    head = "| | largest topic | topics with 2% or more | cosine of topics | bound a token |"
    ends = [head, "|---|---|---|---|---|"]
    for name, runs in found["ways"].items():
        last = [run["last"] for run in runs]
        cells = [name, spread(last, "largest", ".0%"), spread(last, "live", "d")]
        cells += [spread(last, "cosine", ".2f"), spread(last, "bound", ".2f")]
        ends.append(f"| {' | '.join(cells)} |")
    way = ["| iteration | largest topic | topics with 2% or more | cosine of topics |"]
    way.append("|---|---|---|---|")
    steps = zip(*(run["on the way"] + [run["last"]] for run in found["ways"][PAPER]), strict=True)
    for same in steps:
        cells = [str(same[0]["iteration"]), spread(same, "largest", ".0%")]
        cells += [spread(same, "live", "d"), spread(same, "cosine", ".2f")]
        way.append(f"| {' | '.join(cells)} |")
    return {"ends": "\n".join(ends), "way": "\n".join(way)}


def spread(rows: Any, name: str, form: str) -> str:
    """Write the least and the most of the seeds, or one number where they agree."""
    least, most = (format(pick(row[name] for row in rows), form) for pick in (min, max))
    return least if least == most else f"{least} to {most}"


def written(page: str, found: dict[str, Any]) -> str:
    """Put the tables between the marks of the page."""
    for name, table in tables(found).items():
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end -->)"
        page, n = re.subn(pattern, lambda m, t=table: m[1] + t + m[2], page, flags=re.DOTALL)
        if n != 1:
            raise SystemExit(f"{PAGE} has no place for the table {name!r}")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare the page")
    check = parser.parse_args().check
    if not check:
        with one_blas_thread():
            RESULTS.write_text(json.dumps(measure(), indent=1, ensure_ascii=False) + "\n")
    page = PAGE.read_text()
    new = written(page, json.loads(RESULTS.read_text()))
    if check and new != page:
        sys.exit(f"{PAGE} differs from {RESULTS}: run benchmarks/paper_start.py")
    PAGE.write_text(new)


if __name__ == "__main__":
    main()

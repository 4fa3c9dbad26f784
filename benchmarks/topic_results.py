"""The results of ``topic_quality.py``: kept in a file, summarised, held against the goals."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from topicvec_bench.results import Spread
from words_results import Record, Rows, plain, read, store, summarize, with_run

__all__ = ["CONTROL", "OURS", "ROWS", "add_run", "goals", "read", "write"]

OURS = "TopicVec"
CONTROL = "TopicVec, phrases=False"  # what phrases bring, which peers do not have
PEERS = (
    "LDA (tomotopy)",
    "NMF (scikit-learn)",
    "KeyNMF",
    "BERTopic",
    "BERTopic (k-means)",
    "Top2Vec",
    "FASTopic",
)
ROWS = (OURS, CONTROL, *PEERS)
KEY = ("corpus", "n_topics", "row", "seed")
MEASURES = (
    "found", "npmi", "c_v", "wikipedia", "embedding", "diversity", "diversity_25", "product",
    "nmi", "null", "background", "background_topics", "seconds",
)  # fmt: skip
NPMI, DIVERSITY = 0.18, 0.88  # to reach with 50 topics of 20 Newsgroups
Case = tuple[str, int]  # corpus and number of topics


def add_run(results: Record, run: Record, corpora: Sequence[str]) -> Record:
    """Put a run in place of an older one."""
    return with_run(results, run, [*corpora, *ROWS], KEY)


def write(path: Path, results: Record) -> None:
    """Write the file as a whole, its summary made anew."""
    numbers = sorted({run["n_topics"] for run in results["runs"]})
    means = {
        number: summarize(
            [
                {**dict.fromkeys(MEASURES), **run}
                for run in results["runs"]
                if run["n_topics"] == number
            ],
            MEASURES,
        )
        for number in numbers
    }
    cases = {
        (corpus, number): rows
        for number, corpora in means.items()
        for corpus, rows in corpora.items()
    }
    summary = {str(number): plain(corpora) for number, corpora in means.items()}
    whole = {**results, "rows": ROWS, "means": summary, "goals": goals(cases)}
    store(path, whole)


def goals(cases: dict[Case, Rows]) -> list[Record]:
    """Say of each goal where it holds, and where it does not or is not known."""
    large = {case: rows for case, rows in cases.items() if case == ("20news", 50)}
    found = {
        "first in NPMI × diversity": _by_case(cases, lambda rows: _ahead(rows, "product")),
        "first in NPMI and in independent vectors": _by_case(
            cases, lambda rows: [*_ahead(rows, "npmi"), *_ahead(rows, "embedding")]
        ),
        f"NPMI of at least {NPMI} at a diversity of at least {DIVERSITY} on 20 Newsgroups with 50 "
        "topics": _by_case(large, _below, peers=()),
    }
    return [{"goal": goal, **answers} for goal, answers in found.items()]


def _by_case(
    cases: dict[Case, Rows],
    failing: Callable[[Rows], list[str]],
    peers: Sequence[str] = PEERS,
) -> Record:
    """Sort cases by whether something stands against the goal there; ours or a peer may lack."""
    answers: Record = {"holds": [], "fails": [], "unknown": []}
    for case, rows in cases.items():
        reasons = failing(rows) if OURS in rows else []
        complete = {OURS, *peers} <= set(rows)
        name = "fails" if reasons else "holds" if complete else "unknown"
        answers[name].append([*case, *dict.fromkeys(reasons)])
    return answers


def _ahead(rows: Rows, measure: str) -> list[str]:
    """Name the peers that are ahead of ours."""
    ours = rows[OURS][measure].mean
    return [name for name in PEERS if name in rows and rows[name][measure].mean > ours]


def _below(rows: Rows) -> list[str]:
    """Say what is too low."""
    least: dict[str, float] = {"npmi": NPMI, "diversity": DIVERSITY}
    ours: Any = rows[OURS]
    return [_told(name, ours[name]) for name, value in least.items() if ours[name].mean < value]


def _told(name: str, spread: Spread) -> str:
    return f"{name} {spread.mean:.3f}"

"""The results of ``words.py``: kept in a file, summarised over seeds, held against the goals."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from topicvec_bench.results import Spread

ALL, BEFORE, LDA, NMF = "all", "default before", "LDA (tomotopy)", "NMF (TF-IDF)"
ENCODER = "k-means (sentence encoder)"
MEASURES = ("nmi", "purity", "npmi", "perplexity", "f1", "topics", "known", "seconds")
COMPARED = ("nmi", "npmi", "perplexity", "f1")  # with the default before
CLOSE = 0.03  # NMI from the sentence encoder that is called close
KEY = ("corpus", "row", "seed")

Record = dict[str, Any]
Rows = Mapping[str, Mapping[str, Spread]]  # by row and measure
Means = Mapping[str, Rows]  # by corpus


def read(path: Path) -> Record:
    """Read the file, or begin."""
    if path.exists():
        found: Record = json.loads(path.read_text(encoding="utf-8"))
        return found
    return {"corpora": {}, "runs": []}


def with_run(
    results: Record, run: Record, order: Sequence[str], names: Sequence[str] = KEY
) -> Record:
    """Put a run in place of an older one of the same key, in the order of corpora and rows."""
    others = [each for each in results["runs"] if any(each[name] != run[name] for name in names)]
    places = {name: place for place, name in enumerate(order)}
    runs = sorted([*others, run], key=lambda r: [places.get(r[name], r[name]) for name in names])
    return {**results, "runs": runs}


def write(path: Path, results: Record, short: Sequence[str]) -> None:
    """Write the file as a whole, its summary made anew."""
    means = summarize(results["runs"])
    store(path, {**results, "means": plain(means), "goals": goals(means, short)})


def store(path: Path, whole: Record) -> None:
    """Write a file of results as a whole."""
    part = path.with_name(f"{path.name}.part")  # so that a broken run leaves no half
    part.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def plain(means: Means) -> Record:
    """Give a summary as plain data."""
    return {
        corpus: {
            row: {name: _rounded(spread) for name, spread in spreads.items()}
            for row, spreads in rows.items()
        }
        for corpus, rows in means.items()
    }


def _rounded(spread: Spread) -> dict[str, float]:
    return {key: float(f"{value:.5g}") for key, value in asdict(spread).items()}


def summarize(runs: Iterable[Record], measures: Sequence[str] = MEASURES) -> Means:
    """Give mean and sample standard deviation over seeds."""
    values: dict[str, dict[str, dict[str, list[float]]]] = {}
    for run in runs:
        row = values.setdefault(run["corpus"], {}).setdefault(run["row"], {})
        for name in measures:
            if run[name] is not None:
                row.setdefault(name, []).append(run[name])
    return {
        corpus: {
            row: {name: Spread.of(found) for name, found in by.items()} for row, by in rows.items()
        }
        for corpus, rows in values.items()
    }


def goals(means: Means, short: Sequence[str]) -> list[Record]:
    """Say of each goal on which corpora it holds, and on which it does not or is not known."""
    found = {
        f"perplexity below {LDA} on every corpus": _by_corpus(means, _foretells_better),
        f"NMI above {LDA} and {NMF} on every corpus": _by_corpus(means, _clusters_better),
        f"NMI within {CLOSE} of {ENCODER} on at least three short corpora": _by_corpus(
            {corpus: rows for corpus, rows in means.items() if corpus in short}, _is_close
        ),
        f"never worse than {BEFORE} by more than the spread over seeds": {
            **_by_corpus(means, lambda rows: not worse_measures(rows)),
            "worse": {
                corpus: worse_measures(rows)
                for corpus, rows in means.items()
                if {ALL, BEFORE} <= set(rows)
            },
        },
    }
    return [{"goal": goal, **corpora} for goal, corpora in found.items()]


def _by_corpus(means: Means, holds: Callable[[Rows], bool]) -> Record:
    answers: dict[str, list[str]] = {"holds": [], "fails": [], "unknown": []}
    for corpus, rows in means.items():
        try:
            answers["holds" if holds(rows) else "fails"].append(corpus)
        except KeyError:  # a row has not been run
            answers["unknown"].append(corpus)
    return answers


def _foretells_better(rows: Rows) -> bool:
    return rows[ALL]["perplexity"].mean < rows[LDA]["perplexity"].mean


def _clusters_better(rows: Rows) -> bool:
    return rows[ALL]["nmi"].mean > max(rows[LDA]["nmi"].mean, rows[NMF]["nmi"].mean)


def _is_close(rows: Rows) -> bool:
    return rows[ALL]["nmi"].mean >= rows[ENCODER]["nmi"].mean - CLOSE


def worse_measures(rows: Rows) -> list[str]:
    """Name measures by which the default is worse than the one before, by the larger deviation."""
    worse = []
    for name in COMPARED:
        now, then = rows[ALL][name], rows[BEFORE][name]
        loss = (now.mean - then.mean) * (1 if name == "perplexity" else -1)
        if loss > max(now.deviation, then.deviation):
            worse.append(name)
    return worse

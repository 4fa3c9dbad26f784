"""How the settings of TopicVec in table 2 were chosen: on parts of the training documents.

    TOPICVEC_DATA=/path/to/data python benchmarks/choices.py

Learns on 72% of the training documents of a corpus and classifies the others: the last ones, and
on Reuters, where a class has few of them, also three random parts. Writes
``results/choices.json``; trials that it has already are not run again.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from topicvec_bench.classify import Protocol
from topicvec_bench.table2 import run_table2

from topicvec import WordVectors, load_vectors

RESULTS = Path(__file__).parent / "results" / "choices.json"
PARTS = {
    "20news": ["20news-heldout"],
    "reuters": ["reuters-heldout", "reuters-heldout1", "reuters-heldout2", "reuters-heldout3"],
}
SEEDS = {"20news": 1, "reuters": 2}
TRIALS: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "20news": {
        "TopicVec": [
            {"form": "sqrt"},
            {"form": "own-words", "sharpness": 1.0},
            {"form": "own-words", "sharpness": 0.6},
            {"form": "sqrt", "min_count": 0},
            {"form": "own-words", "sharpness": 0.6, "min_count": 0},
        ],
        "TV+MeanWV": [{"sharpness": 1.0}, {"sharpness": 0.6}],
    },
    "reuters": {
        "TopicVec": [
            {"form": "sqrt", "max_norm": 7.0},
            {"form": "own-words", "sharpness": 1.0, "max_norm": 7.0},
            {"form": "own-words", "sharpness": 0.6, "max_norm": 7.0},
            {"form": "own-words", "sharpness": 0.6, "max_norm": 10.0},
            {"form": "own-words", "sharpness": 0.6, "max_norm": 10.0, "min_count": 2},
        ],
        "TV+MeanWV": [
            {"sharpness": 1.0, "max_norm": 7.0, "n_topics": 12},
            {"sharpness": 0.6, "max_norm": 7.0, "n_topics": 12},
            {"sharpness": 1.0, "max_norm": 10.0, "n_topics": 12},
            {"sharpness": 0.6, "max_norm": 10.0, "n_topics": 12},
            {"sharpness": 1.0, "max_norm": 7.0, "n_topics": 22},  # 611 features, as in the paper
            {"sharpness": 0.6, "max_norm": 10.0, "n_topics": 22},
        ],
    },
}


def trials(corpora: list[str]) -> Iterator[dict[str, Any]]:
    for corpus in corpora:
        for part in PARTS[corpus]:
            for method, changes in TRIALS[corpus].items():
                for change in changes:
                    yield {"corpus": part, "method": method, "change": change}


def run(
    trial: Mapping[str, Any], vectors: WordVectors, n_seeds: int, n_jobs: int
) -> dict[str, Any]:
    change = dict(trial["change"])
    rows = list(
        run_table2(
            [trial["corpus"]],
            [trial["method"]],
            vectors,
            n_seeds=n_seeds,
            min_count=change.pop("min_count", None),
            changes=change,
            n_jobs=n_jobs,
        )
    )
    f1 = {name: [round(row.scores[name].f1, 2) for row in rows] for name in get_args(Protocol)}
    return {**trial, "f1": f1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", default=list(PARTS), metavar="|".join(PARTS))
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.corpora) - set(PARTS):
        parser.error(f"unknown corpora: {', '.join(sorted(unknown))}")
    vectors = load_vectors()
    found = json.loads(RESULTS.read_text())["trials"] if RESULTS.exists() else []
    keys = ("corpus", "method", "change")
    done = [{key: each[key] for key in keys} for each in found]
    for trial in trials(given.corpora):
        if trial not in done:
            n_seeds = SEEDS[trial["corpus"].split("-")[0]]
            found.append(run(trial, vectors, n_seeds, given.jobs))
            print(found[-1], flush=True)
            RESULTS.write_text(json.dumps({"trials": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()

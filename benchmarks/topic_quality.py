"""Topics of TopicVec and its peers on 20 Newsgroups, with Wikipedia as a second judge.

    TOPICVEC_DATA=/path/to/data python benchmarks/topic_quality.py -k 50

Writes ``results/topic_quality.json``, a key for each number of topics. Needs the laboratory:
``pip install ./bench``.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import news
from topicvec_bench.compare import SkippedRun, run_topics, score_runs
from topicvec_bench.corpora import shared_tokens
from topicvec_bench.registry import names

from topicvec import load_vectors, read_documents

RESULTS = Path(__file__).parent / "results" / "topic_quality.json"


def reference() -> Any:
    shards = sorted((news.DATA / "wiki").glob("*.txt.xz"))
    return read_documents(shards, format="tsv", header=False, id_column=0, text_column=1)


def measure(n_topics: int, models: list[str], seed: int) -> dict[str, Any]:
    vectors, posts = load_vectors(), news.load("train")
    tokens = shared_tokens(posts.texts, vectors)
    classes = [group for group, row in zip(posts.groups, tokens, strict=True) if row]
    tokens = [row for row in tokens if row]
    found = []
    for name in models:
        found.append(run_topics(name, tokens, n_topics, random_state=seed))
        print(name, getattr(found[-1], "seconds", found[-1]), flush=True)
    runs = [run for run in found if not isinstance(run, SkippedRun)]
    scores = score_runs(runs, tokens, vectors=vectors, classes=classes, reference=reference())
    return {
        "documents": len(tokens),
        "tokens": sum(map(len, tokens)),
        "models": [
            score.as_dict() | {"words": [" ".join(words[:10]) for words in run.topics]}
            for score, run in zip(scores, runs, strict=True)
        ],
        "skipped": [vars(run) for run in found if isinstance(run, SkippedRun)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--models", nargs="+", default=names("topics"))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for n_topics in given.k:
        old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        old[f"{n_topics} topics"] = measure(n_topics, given.models, given.seed)
        RESULTS.write_text(json.dumps(old, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

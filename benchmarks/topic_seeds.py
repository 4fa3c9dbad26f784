"""What other seeds change, and how well words of unseen posts are foretold, on 20 Newsgroups.

    TOPICVEC_DATA=/path/to/data python benchmarks/topic_seeds.py -k 50

Fits each model with several seeds. Writes ``results/topic_seeds.json``, a key for each number of
topics. Needs the laboratory: ``pip install ./bench``.
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import news
from topicvec_bench.corpora import shared_tokens
from topicvec_bench.registry import make
from topicvec_bench.results import Spread
from topicvec_bench.topicvec import TopicVecTopics

from topicvec import load_vectors
from topicvec.measure import (
    count_windows,
    document_completion,
    held_out_perplexity,
    npmi,
    topic_diversity,
    topic_stability,
)

RESULTS = Path(__file__).parent / "results" / "topic_seeds.json"
MODELS = (
    "TopicVec",
    "LDA (gensim)",
    "LDA (tomotopy)",
    "LDA (scikit-learn)",
    "NMF (scikit-learn)",
)
NOT_PROBABILITIES = ("NMF (scikit-learn)",)  # its topics give most words none


def measure(name: str, n_topics: int, n_seeds: int, train: Any, test: Any) -> dict[str, Any]:
    words = sorted({word for row in train for word in row})
    topics: list[list[list[str]]] = []
    found: dict[str, list[float]] = {"npmi": [], "diversity": [], "seconds": []}
    for seed in range(n_seeds):
        method = make(name, "topics", n_topics=n_topics, random_state=seed)
        start = time.perf_counter()
        method.fit(train)
        found["seconds"].append(time.perf_counter() - start)
        topics.append(method.topic_words(25))
        first = [each[:10] for each in topics[-1]]
        found["npmi"].append(npmi(first, count_windows(train, first)).value)
        found["diversity"].append(topic_diversity(topics[-1], n_words=25))
        if name not in NOT_PROBABILITIES:
            model = method.model_ if isinstance(method, TopicVecTopics) else method
            for measured in (document_completion, held_out_perplexity):
                score = measured(model, test, vocabulary=words)
                found.setdefault(measured.__name__, []).append(score.perplexity)
        print(name, seed, {key: round(values[-1], 3) for key, values in found.items()}, flush=True)
    runs = [[each[:10] for each in run] for run in topics]
    alike = {by: topic_stability(runs, by=by).value for by in ("jaccard", "rbo")}
    return {"model": name, "stability": alike} | {
        key: asdict(Spread.of(found[key])) for key in found
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", type=int, nargs="+", default=[50])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    if given.seeds < 2:
        parser.error("--seeds must be at least 2")
    vectors = load_vectors()
    train = [row for row in shared_tokens(news.load("train").texts, vectors) if row]
    known = {word for row in train for word in row}
    test = shared_tokens(news.load("test").texts, known, min_documents=1)
    for n_topics in given.k:
        old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        models = [measure(name, n_topics, given.seeds, train, test) for name in given.models]
        old[f"{n_topics} topics"] = {"seeds": given.seeds, "models": models}
        RESULTS.write_text(json.dumps(old, indent=2) + "\n")


if __name__ == "__main__":
    main()

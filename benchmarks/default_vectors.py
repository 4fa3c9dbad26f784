"""What the embedded vectors lose by quantisation: word tests and document classification.

    TOPICVEC_DATA=/path/to/data python benchmarks/default_vectors.py FULL.safetensors

FULL is the file that ``topicvec vectors train`` wrote before it was quantised.
"""

import argparse
import json
import time
import zlib
from importlib.resources import files
from pathlib import Path
from typing import Any

import news
import numpy as np
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from topicvec import TopicVec, WordVectors, load_vectors
from topicvec.measure import evaluate_words
from topicvec.text import BagOfWords, Vocabulary

RESULTS = Path(__file__).parent / "results" / "default_vectors.json"


def macro_f1(train: Any, test: Any, train_y: list[str], test_y: list[str]) -> float:
    model = LinearSVC(dual=False, random_state=0).fit(train, train_y)
    return round(100 * f1_score(test_y, model.predict(test), average="macro"), 2)


def mean_vectors(vectors: WordVectors, texts: list[str]) -> Any:
    vocabulary = Vocabulary(vectors.words, np.maximum(1, vectors.unigram * 1e9).astype(np.int64))
    counts = BagOfWords(vocabulary, stop_words="paper").fit(texts).transform(texts)
    return counts @ vectors.matrix / np.maximum(counts.sum(1), 1)[:, None]


def scores(vectors: WordVectors) -> dict[str, Any]:
    words = evaluate_words(vectors, news.DATA / "words")
    row: dict[str, Any] = {score.name: score.as_dict() for score in words}
    train, test = news.load("train"), news.load("test")
    means = [mean_vectors(vectors, part.texts) for part in (train, test)]
    row["20News macro F1, mean word vector"] = macro_f1(*means, train.groups, test.groups)
    start = time.perf_counter()
    model = TopicVec(15, vectors, stop_words="paper", random_state=0).fit(train.texts, train.groups)
    row["seconds to fit 281 topics"] = round(time.perf_counter() - start, 1)
    topics = [model.sqrt_proportions(part.texts, prior=False) for part in (train, test)]
    row["20News macro F1, TopicVec"] = macro_f1(
        *(10 * t for t in topics), train.groups, test.groups
    )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("full")
    full = load_vectors(parser.parse_args().full)
    raw = (files("topicvec.embed") / "data" / "default.safetensors").read_bytes()
    start = time.perf_counter()
    quantized = load_vectors()
    seconds = time.perf_counter() - start
    result = {
        "words": len(quantized),
        "dimensions": quantized.n_dims,
        "MB": round(len(raw) / 1e6, 1),
        "MB deflated": round(len(zlib.compress(raw, 9)) / 1e6, 1),
        "seconds to load": round(seconds, 3),
        "relative error": float(
            np.linalg.norm(quantized.matrix - full.matrix) / np.linalg.norm(full.matrix)
        ),
        "full precision": scores(full),
        "quantised": scores(quantized),
    }
    RESULTS.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

"""TopicClassifier beside TF-IDF and a linear SVM, with 10, 30, 100 and all labels a class.

    TOPICVEC_DATA=/path/to/data python benchmarks/few_labels.py

Learns from parts of the training documents and is tested on documents held out from them. The form
(words beside topics for any number of labels), the machine and its strength (0.3) were chosen
before, on a fifth of the documents to learn from: ``docs/explanation/retrieval.md``. Writes
``results/few_labels.json``, a key for each corpus. Needs the laboratory: ``pip install ./bench``.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC
from words_data import SHORT, Part, prepare_corpus

from topicvec import TopicClassifier
from topicvec.represent.classifier import macro_f1
from topicvec.represent.documents import counter_of

RESULTS = Path(__file__).parent / "results" / "few_labels.json"
CORPORA = ("20news", "reuters", *SHORT)
LABELS = ("10", "30", "100", "all")
N_TESTED = 1000  # documents at most, evenly taken


def chosen(labels: list[str], n_labels: str, seed: int) -> NDArray[np.integer]:
    """Draw documents, so many of each class."""
    order, names = np.random.default_rng(seed).permutation(len(labels)), np.array(labels)
    n = len(labels) if n_labels == "all" else int(n_labels)
    return np.concatenate([order[names[order] == name][:n] for name in sorted(set(labels))])


def compare(fit: Part, tested: Part, rows: NDArray[np.integer]) -> dict[str, Any]:
    """Give macro F1 of both on the tested documents."""
    texts, labels = ([column[row] for row in rows] for column in (fit.texts, fit.labels))
    start = time.perf_counter()
    classifier = TopicClassifier().fit(texts, labels)
    seconds = time.perf_counter() - start
    reader = counter_of(classifier.model_)

    def words(text: str) -> list[str]:
        return [word for word in reader.tokens(text) if word not in reader.stop_words]

    table = TfidfVectorizer(analyzer=words, sublinear_tf=True)
    machine = LinearSVC().fit(table.fit_transform(texts), labels)
    found = machine.predict(table.transform(tested.texts)).tolist()
    return {
        "documents": len(labels),
        "classifier": macro_f1(tested.labels, classifier.predict(tested.texts).tolist()),
        "tf-idf": macro_f1(tested.labels, found),
        "seconds": round(seconds, 1),
    }


def measure(name: str, n_labels: str, n_seeds: int) -> list[dict[str, Any]]:
    data = prepare_corpus(name)
    step = -(-len(data.held.texts) // N_TESTED)
    tested = Part(*(column[::step] for column in data.held))
    seeds = range(1 if n_labels == "all" else n_seeds)
    return [compare(data.fit, tested, chosen(data.fit.labels, n_labels, seed)) for seed in seeds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--labels", nargs="+", default=LABELS)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    for n_labels in given.labels:
        for name in given.corpora:
            runs = measure(name, n_labels, given.seeds)
            old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            old.setdefault(name, {})[n_labels] = runs
            print(name, n_labels, json.dumps(runs), flush=True)
            RESULTS.write_text(json.dumps(old, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""Search beside TF-IDF, BM25, mean vectors and LDA: documents of the same class on seven corpora.

    TOPICVEC_DATA=/path/to/data python benchmarks/retrieval.py

The documents that are held out are the queries; the others are looked in. Nobody is told the
classes. Writes ``results/retrieval.json``, a key for each corpus. Needs the laboratory:
``pip install ./bench``.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from topicvec_bench.lda import TomotopyLDA
from words_data import ITALIAN, SHORT, Prepared, prepare_corpus

from topicvec import DocumentIndex, TopicVec, WordVectors, load_vectors
from topicvec.engine import InPlace
from topicvec.represent.documents import counter_of
from topicvec.represent.similarity import unit_rows
from topicvec.represent.words import (
    common_direction,
    known_counts,
    read_words,
    weighted_means,
    without_common,
)

RESULTS = Path(__file__).parent / "results" / "retrieval.json"
CORPORA = ("20news", "reuters", *SHORT, ITALIAN)
N_QUERIES = 500  # at most, evenly taken
N_FOUND = 10

Ranking = NDArray[np.integer]
Rankings = Iterator[Ranking]


def rank(scores: NDArray[np.floating]) -> Ranking:
    return np.argsort(-scores, kind="stable")


def by_search(index: DocumentIndex, queries: list[str]) -> Rankings:
    """Rank by the public search; what it does not list comes last."""
    for query in queries:
        found = np.array([hit.index for hit in index.search(query, n=len(index))], int)
        missed = np.ones(len(index), bool)
        missed[found] = False
        yield np.concatenate([found, np.flatnonzero(missed)])


def by_part(index: DocumentIndex, queries: list[str], part: int) -> Rankings:
    """Rank by one part of the blend: 0 is topics, 1 is meaning."""
    _, words, counts = read_words(index.model, queries)
    asked = index._described(words, counts)[part]
    yield from map(rank, asked @ (index.points, index.directions)[part].T)


def by_tfidf(index: DocumentIndex, data: Prepared, queries: list[str]) -> Rankings:
    reader = counter_of(index.model)

    def words(text: str) -> list[str]:
        return [word for word in reader.tokens(text) if word not in reader.stop_words]

    table = TfidfVectorizer(analyzer=words, sublinear_tf=True)
    documents = table.fit_transform(data.fit.texts)
    yield from map(rank, (table.transform(queries) @ documents.T).toarray())


def by_bm25(index: DocumentIndex, queries: list[str]) -> Rankings:
    """Rank by BM25 (k1 = 1.2, b = 0.75) with all words of a query."""
    _, words, counts = read_words(index.model, queries)
    known = [(column, index.words.ids[w]) for column, w in enumerate(words) if w in index.words.ids]
    columns, rows = (list(each) for each in zip(*known, strict=True))
    yield from map(rank, (counts[:, columns] @ index.words.table[rows]).toarray())


def by_means(index: DocumentIndex, queries: list[str], weighted: bool) -> Rankings:
    """Rank by cosines of mean vectors, the general ones; plain, or weighted as the index does."""
    vectors = load_vectors()
    weights = index.words.weights(vectors) if weighted else np.ones(len(vectors), np.float32)
    _, words, counts = read_words(index.model, queries)
    documents = means(index, vectors, [*index.words.words], index.counts, weights)
    asked = means(index, vectors, words, counts, weights)
    if weighted:
        common = common_direction(documents, InPlace())
        documents, asked = without_common(documents, common), without_common(asked, common)
    yield from map(rank, unit_rows(asked) @ unit_rows(documents).T)


def means(
    index: DocumentIndex, vectors: WordVectors, words: list[str], counts: Any, weights: Any
) -> NDArray[np.float32]:
    known = known_counts(counter_of(index.model), words, counts, vectors)
    return weighted_means(vectors, known, weights, InPlace())


def by_lda(data: Prepared, tokens: list[list[str]], n_topics: int) -> Rankings:
    """Rank by the affinity of LDA's mixtures, Σ_k √(p_k q_k)."""
    model = TomotopyLDA(n_topics).fit(data.fit.tokens)
    documents, asked = (np.sqrt(model.transform(each)) for each in (data.fit.tokens, tokens))
    yield from map(rank, asked @ documents.T)


def score(rankings: Rankings, labels: list[str], classes: NDArray[Any]) -> dict[str, float]:
    """Give the share of the same class among the first ten, and the mean average precision."""
    first, precision = [], []
    for found, label in zip(rankings, labels, strict=True):
        right = classes[found] == label
        first.append(right[:N_FOUND].mean())
        places = np.flatnonzero(right) + 1
        precision.append((np.arange(1, len(places) + 1) / places).mean() if len(places) else 0.0)
    spread = float(np.std(first) / np.sqrt(len(first)))
    return {
        "precision": float(np.mean(first)),
        "error": spread,
        "average_precision": float(np.mean(precision)),
    }


def measure(name: str) -> dict[str, Any]:
    data = prepare_corpus(name)
    step = -(-len(data.held.texts) // N_QUERIES)
    queries, tokens, labels = (list(column[::step]) for column in data.held)
    start = time.perf_counter()
    model = TopicVec(random_state=0).fit(data.fit.texts)
    fitted = time.perf_counter()
    index = DocumentIndex.build(model, data.fit.texts)
    built = time.perf_counter()
    ways: dict[str, Callable[[], Rankings]] = {
        "search": lambda: by_search(index, queries),
        "its topics": lambda: by_part(index, queries, 0),
        "its meaning": lambda: by_part(index, queries, 1),
        "TF-IDF": lambda: by_tfidf(index, data, queries),
        "BM25": lambda: by_bm25(index, queries),
        "mean vectors": lambda: by_means(index, queries, weighted=False),
        "mean vectors, weighted": lambda: by_means(index, queries, weighted=True),
        "LDA": lambda: by_lda(data, tokens, model.n_topics_),
    }
    classes = np.array(data.fit.labels)
    return {
        "documents": len(index),
        "queries": len(queries),
        "classes": data.n_classes,
        "n_topics": model.n_topics_,
        "seconds": {"fit": round(fitted - start, 1), "index": round(built - fitted, 1)},
        "blend": index.blend._asdict(),
        "ways": {way: score(ranks(), labels, classes) for way, ranks in ways.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    given = parser.parse_args()
    for name in given.corpora:
        found = measure(name)
        print(name, json.dumps(found), flush=True)
        old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        old[name] = found
        RESULTS.write_text(json.dumps(old, indent=2) + "\n")


if __name__ == "__main__":
    main()

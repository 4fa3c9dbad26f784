"""The peers of ``words.py``: LDA by tomotopy, NMF, and k-means on a sentence encoder."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from topicvec_bench.base import TokenLists
from topicvec_bench.lda import SklearnNMF, TomotopyLDA
from topicvec_bench.sentences import encode_texts
from topicvec_bench.tokens import learn_words, number_tokens

SWEEPS = 1000  # of LDA, over the training documents


class EncodedClusters:
    """k-means on sentence vectors; words of a cluster by class-based TF-IDF, as in BERTopic.

    Parameters
    ----------
    n_topics : int
        Number of clusters.
    encoded : Encoded
        Sentence vectors of all texts.
    random_state : int
        Seed; the best of ten starts.
    """

    def __init__(self, n_topics: int, encoded: "Encoded", random_state: int) -> None:
        self.encoded = encoded
        self.model_ = KMeans(n_topics, n_init=10, random_state=random_state)

    def fit(self, texts: Sequence[str], tokens: TokenLists) -> Self:
        """Cluster texts; their tokens tell the words of the clusters."""
        clusters = self.model_.fit_predict(self.encoded.encode(texts))
        self.words_ = learn_words(tokens)
        ids = {word: column for column, word in enumerate(self.words_)}
        counts = number_tokens(tokens, ids).counts(len(self.words_))
        self.weights_ = cluster_weights(counts, clusters)
        return self

    def transform(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give 1 for each text's cluster and 0 for the others, (D, K)."""
        shares: NDArray[np.float64] = np.eye(self.model_.n_clusters)[
            self.model_.predict(self.encoded.encode(texts))
        ]
        return shares

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the first words of each cluster."""
        order = np.argsort(-self.weights_, axis=1, kind="stable")[:, :n]
        return [[self.words_[column] for column in row] for row in order]


def cluster_weights(counts: csr_array, clusters: NDArray[Any]) -> NDArray[np.float64]:
    """Weigh each word in each cluster: its share there times log(1 + tokens a cluster / count)."""
    member = np.eye(clusters.max() + 1)[clusters]  # D × K
    table = np.asarray(counts.T @ member).T  # K × W
    mean = table.sum() / len(table)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    weights: NDArray[np.float64] = shares * np.log1p(mean / np.maximum(table.sum(axis=0), 1))
    return weights


class Encoded:
    """Sentence vectors of the texts of a corpus, made once and kept in a file.

    Parameters
    ----------
    path : Path
        File for vectors and the seconds that they took.
    texts : sequence of str
        All texts.

    Attributes
    ----------
    seconds : float
        That the vectors of `texts` took.
    owed : float
        Seconds that `encode` saved whoever called it, since this was last set to 0.
    """

    def __init__(self, path: Path, texts: Sequence[str]) -> None:
        if not path.exists():
            start = time.perf_counter()
            vectors = encode_texts(texts)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(path, vectors=vectors, seconds=time.perf_counter() - start)
        with np.load(path) as saved:
            self.vectors, self.seconds = saved["vectors"], float(saved["seconds"])
        if len(self.vectors) != len(texts):
            raise SystemExit(f"{path} is of {len(self.vectors)} texts, not {len(texts)}: remove it")
        self.rows = {text: row for row, text in enumerate(texts)}
        self.costs = np.full(len(texts), self.seconds / len(texts))
        self.owed = 0.0

    def encode(self, texts: Sequence[str], **_: Any) -> NDArray[np.float32]:
        """Give the vectors of texts; those that are new are made and remembered."""
        start = time.perf_counter()
        if new := list(dict.fromkeys(text for text in texts if text not in self.rows)):
            self._add(new)
        rows = [self.rows[text] for text in texts]
        self.owed += float(self.costs[rows].sum()) - (time.perf_counter() - start)
        found: NDArray[np.float32] = self.vectors[rows]
        return found

    def _add(self, texts: list[str]) -> None:
        start = time.perf_counter()
        vectors = encode_texts(texts)
        cost = (time.perf_counter() - start) / len(texts)
        self.rows |= {text: len(self.vectors) + row for row, text in enumerate(texts)}
        self.vectors = np.concatenate([self.vectors, vectors])
        self.costs = np.concatenate([self.costs, np.full(len(texts), cost)])


def make_lda(n_topics: int, seed: int) -> TomotopyLDA:
    """Make an unfitted LDA with tomotopy's own settings."""
    return TomotopyLDA(n_topics, n_sweeps=SWEEPS, random_state=seed)


def make_nmf(n_topics: int, seed: int) -> SklearnNMF:
    """Make an unfitted NMF on TF-IDF."""
    return SklearnNMF(n_topics, random_state=seed)

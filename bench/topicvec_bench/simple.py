"""The plain methods: word counts, TF-IDF and mean word vectors."""

from collections.abc import Sequence
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.model.counts import DocumentCounter
from topicvec_bench.base import Baseline, TokenLists, checked

__all__ = ["MeanVectors", "TfIdf", "WordCounts"]


class WordCounts(Baseline):
    """Count each word of the training documents.

    Examples
    --------
    >>> WordCounts().fit([["dog", "cat"]]).transform([["cat", "cat", "yak"]]).toarray().tolist()
    [[2, 0]]
    """

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn the words."""
        self.counter_ = CountVectorizer(analyzer=list).fit(checked(documents))
        return self

    def transform(self, documents: TokenLists) -> csr_array:
        """Count words (D, W)."""
        return csr_array(self.counter_.transform(checked(documents)))


class TfIdf(Baseline):
    """Weigh words by (1 + log count) · idf; rows have length 1.

    Parameters
    ----------
    sublinear : bool
        False takes the count itself instead of 1 + log count.

    Examples
    --------
    >>> TfIdf().fit([["dog", "cat"], ["cat"]]).transform([["cat", "yak"]]).toarray().tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, sublinear: bool = True) -> None:
        self.sublinear = sublinear

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn the words and their weights."""
        counter = TfidfVectorizer(analyzer=list, sublinear_tf=self.sublinear)
        self.counter_ = counter.fit(checked(documents))
        return self

    def transform(self, documents: TokenLists) -> csr_array:
        """Weigh words (D, W)."""
        return csr_array(self.counter_.transform(checked(documents)))


class MeanVectors(Baseline):
    """Average the word vectors of each document's tokens.

    Parameters
    ----------
    vectors : WordVectors or path, optional
        By default those that come with the package.

    Notes
    -----
    The original program did not reset its sum between documents; this is the plain mean.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog"], [[2.0, 0.0], [0.0, 4.0]], [1, 1])
    >>> MeanVectors(vectors).fit([["cat"]]).transform([["cat", "dog", "yak"], []]).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """

    def __init__(self, vectors: WordVectors | str | PathLike[str] | None = None) -> None:
        self.vectors = vectors

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Load the vectors; nothing is learned."""
        checked(documents)
        self.vectors_ = load_vectors(self.vectors)
        return self

    def transform(self, documents: TokenLists) -> NDArray[np.float64]:
        """Average vectors (D, N); documents without a known word get zero."""
        counts = DocumentCounter(stop_words=None).count(checked(documents), self.vectors_).counts
        lengths = np.maximum(counts.sum(axis=1), 1)
        means: NDArray[np.float64] = (counts @ self.vectors_.matrix) / lengths[:, None]
        return means

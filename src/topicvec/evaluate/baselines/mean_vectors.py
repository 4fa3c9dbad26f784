"""MeanWV: the mean of the word vectors of a document."""

from collections.abc import Sequence
from os import PathLike
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.evaluate.baselines.base import Baseline, TokenLists, checked
from topicvec.model.counts import DocumentCounter as Reader

__all__ = ["MeanVectors"]


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
        counts = Reader(stop_words=None).count(checked(documents), self.vectors_).counts
        lengths = np.maximum(counts.sum(axis=1), 1)
        means: NDArray[np.float64] = (counts @ self.vectors_.matrix) / lengths[:, None]
        return means

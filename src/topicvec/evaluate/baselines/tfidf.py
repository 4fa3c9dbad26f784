"""TF-IDF: damped word counts, weighted by how few documents have the word."""

from collections.abc import Sequence
from typing import Self

from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from topicvec.evaluate.baselines.base import Baseline, TokenLists, as_they_are, checked

__all__ = ["TfIdf"]


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
        counter = TfidfVectorizer(analyzer=as_they_are, sublinear_tf=self.sublinear)
        self.counter_ = counter.fit(checked(documents))
        return self

    def transform(self, documents: TokenLists) -> csr_array:
        """Weigh words (D, W)."""
        return csr_array(self.counter_.transform(checked(documents)))

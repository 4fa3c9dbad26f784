"""BOW: word counts."""

from collections.abc import Sequence
from typing import Self

from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from topicvec.evaluate.baselines.base import Baseline, TokenLists, as_they_are, checked

__all__ = ["WordCounts"]


class WordCounts(Baseline):
    """Count each word of the training documents.

    Examples
    --------
    >>> WordCounts().fit([["dog", "cat"]]).transform([["cat", "cat", "yak"]]).toarray().tolist()
    [[2, 0]]
    """

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn the words."""
        self.counter_ = CountVectorizer(analyzer=as_they_are).fit(checked(documents))
        return self

    def transform(self, documents: TokenLists) -> csr_array:
        """Count words (D, W)."""
        return csr_array(self.counter_.transform(checked(documents)))

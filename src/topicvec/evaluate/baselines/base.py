"""What every compared method is: a scikit-learn transformer from token lists to features."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from sklearn.base import BaseEstimator, TransformerMixin

from topicvec.errors import DataError
from topicvec.evaluate.classify import Features

__all__ = ["Baseline", "TokenLists", "TopicBaseline", "as_they_are", "checked"]

TokenLists = Sequence[Sequence[str]]


class Baseline(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A method that learns from token lists and describes token lists by features.

    The preprocessing is done before, and the same for all methods. A method learns from the
    documents of `fit` alone. One that draws random numbers has a parameter ``random_state``, and
    the same whole number gives the same bits; one that uses word vectors has ``vectors``.
    `fit_transform` may describe the training documents otherwise than `transform` does, as if they
    had not been learned from; a classifier is trained on its result.

    Examples
    --------
    >>> from topicvec.evaluate.baselines.bow import WordCounts
    >>> WordCounts().fit([["cat", "purrs"]]).transform([["cat", "cat"]]).toarray().tolist()
    [[2, 0]]
    """

    @abstractmethod
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn from the tokens of D documents and, if the method can use them, their classes."""

    @abstractmethod
    def transform(self, documents: TokenLists) -> Features:
        """Describe D documents by F features each."""


class TopicBaseline(Baseline):
    """A method that finds topics; each has words.

    Examples
    --------
    >>> from topicvec.evaluate.baselines.topicvec import TopicVecFeatures
    >>> issubclass(TopicVecFeatures, TopicBaseline)
    True
    """

    @abstractmethod
    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the n most telling words of each topic, best first."""


def checked(documents: TokenLists) -> list[list[str]]:
    """Copy token lists; refuse texts, which must be cut before.

    Examples
    --------
    >>> checked([("cat", "purrs")])
    [['cat', 'purrs']]
    >>> checked(["cat purrs"])
    Traceback (most recent call last):
    topicvec.errors.DataError: expected token lists; found a text in row 0: cut it into words first
    """
    for row, tokens in enumerate(documents):
        if isinstance(tokens, str):
            raise DataError(
                f"expected token lists; found a text in row {row}: cut it into words first"
            )
    if len(documents) == 0:
        raise DataError("expected at least one document; found none")
    return [list(tokens) for tokens in documents]


def as_they_are(tokens: list[str]) -> list[str]:
    """Return tokens: the analyzer of scikit-learn's vectorizers when all is cut already."""
    return tokens

"""The contract of every compared method: a scikit-learn transformer from token lists to features.

One that finds topics also lists their words; that is all which table 2 and the comparison of
topics ask for.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_number, check_whole
from topicvec.errors import DataError, MissingExtra
from topicvec_bench.classify import Features

__all__ = [
    "ABOVE_ZERO",
    "Baseline",
    "Floats",
    "Ints",
    "TokenLists",
    "TopicBaseline",
    "TopicWordModel",
    "checked",
    "require",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
TokenLists = Sequence[Sequence[str]]

ABOVE_ZERO = 1e-12  # the least value of what must not be zero


class Baseline(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A method that learns from token lists and describes token lists by features.

    The preprocessing is done before, and the same for all methods. A method learns from the
    documents of `fit` alone. One that draws random numbers has a parameter ``random_state``, and
    the same whole number gives the same bits; one that uses word vectors has ``vectors``.
    `fit_transform` may describe the training documents otherwise than `transform` does, as if they
    had not been learned from; a classifier is trained on its result.

    Examples
    --------
    >>> from topicvec_bench.simple import WordCounts
    >>> WordCounts().fit([["cat", "purrs"]]).transform([["cat", "cat"]]).toarray().tolist()
    [[2, 0]]
    """

    @abstractmethod
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn from the tokens of D documents and, if the method can use them, their classes."""

    @abstractmethod
    def transform(self, documents: TokenLists) -> Features:
        """Describe D documents by F features each.

        Where topics are compared, the features are what documents have of each topic, (D, K).
        """


class TopicBaseline(Baseline):
    """A method that finds topics; each has words.

    Examples
    --------
    >>> from topicvec_bench.topicvec import TopicVecFeatures
    >>> issubclass(TopicVecFeatures, TopicBaseline)
    True
    """

    @abstractmethod
    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the n most telling words of each topic, best first."""


class TopicWordModel(TopicBaseline):
    """Base of topic models whose topics weigh words; a fit leaves `words_` and `topic_word_`.

    Attributes
    ----------
    words_ : tuple of str
        The words in use.
    topic_word_ : ndarray of shape (n_topics, n_words)
        Weight of each word in each topic.

    Examples
    --------
    >>> class Given(TopicWordModel):
    ...     def fit(self, documents, y=None):
    ...         self.words_, self.topic_word_ = ("cat", "dog", "cow"), np.array([[0.1, 0.7, 0.2]])
    ...         return self
    ...     def transform(self, documents):
    ...         return np.ones((len(documents), 1))
    >>> Given().fit([]).topic_words(2)
    [['dog', 'cow']]
    """

    n_topics: int
    random_state: int
    words_: tuple[str, ...]
    topic_word_: Floats

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """Name the n words of the highest weight in each topic."""
        check_is_fitted(self)
        order = np.argsort(-self.topic_word_, axis=1, kind="stable")[:, :n]
        return [[self.words_[place] for place in row] for row in order]

    def _ids(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self.words_)}

    def _check_params(self, **least: float) -> None:
        """Refuse parameters below what is named; where that is an int, they must be whole."""
        for name, lowest in {"n_topics": 1, "random_state": 0, **least}.items():
            check: Any = check_whole if isinstance(lowest, int) else check_number
            check(name, getattr(self, name), lowest)


def checked(documents: TokenLists) -> list[list[str]]:
    """Copy token lists; refuse texts, which must be cut before.

    Examples
    --------
    >>> checked([("cat", "purrs"), []])
    [['cat', 'purrs'], []]
    >>> checked(["cat purrs"])
    Traceback (most recent call last):
    topicvec.errors.DataError: expected token lists; found str in row 0: cut texts into words ...
    """
    for row, tokens in enumerate(documents):
        if isinstance(tokens, str) or not isinstance(tokens, Sequence):
            raise DataError(
                f"expected token lists; found {type(tokens).__name__} in row {row}: cut texts "
                "into words first, for example with topicvec.text.Tokenizer"
            )
    if len(documents) == 0:
        raise DataError("expected at least one document; found none")
    return [list(tokens) for tokens in documents]


def require(module: str, purpose: str, extra: str = "") -> Any:
    """Import a module that a method needs, or say in one line how to install it.

    Examples
    --------
    >>> require("no_such_module", "ETM", "peers")
    Traceback (most recent call last):
    topicvec.errors.MissingExtra: ETM needs no_such_module: pip install "./bench[peers]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        hint = f'pip install "./bench[{extra}]"' if extra else "pip install ./bench"
        raise MissingExtra(f"{purpose} needs {module.split('.')[0]}: {hint}") from error

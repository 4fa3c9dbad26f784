"""What the compared topic models have in common as scikit-learn transformers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_number, check_whole
from topicvec.evaluate.baselines.base import TopicBaseline
from topicvec.evaluate.baselines.sampling import infer_topics
from topicvec.evaluate.baselines.tokens import Documents, number_tokens

__all__ = ["ABOVE_ZERO", "SampledTopics", "WordTopics", "best_words"]

Floats = NDArray[np.floating]

ABOVE_ZERO = 1e-12  # the least value of what must not be zero


def best_words(scores: Floats, words: tuple[str, ...], n: int) -> list[list[str]]:
    """Name the n words of the highest score in each row.

    Examples
    --------
    >>> best_words(np.array([[0.1, 0.7, 0.2]]), ("cat", "dog", "cow"), 2)
    [['dog', 'cow']]
    """
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    return [[words[place] for place in row] for row in order]


class WordTopics(TopicBaseline):
    """Base of topic models whose topics weigh words; a fit leaves `words_` and `topic_word_`.

    Attributes
    ----------
    words_ : tuple of str
        The words in use.
    topic_word_ : ndarray of shape (n_topics, n_words)
        Weight of each word in each topic.

    Examples
    --------
    >>> class Given(WordTopics):
    ...     def fit(self, documents, y=None):
    ...         self.words_, self.topic_word_ = ("cat", "dog"), np.array([[0.2, 0.8]])
    ...         return self
    ...     def transform(self, documents):
    ...         return np.ones((len(documents), 1))
    >>> Given().fit([]).topic_words(1)
    [['dog']]
    """

    n_topics: int
    random_state: int
    words_: tuple[str, ...]
    topic_word_: Floats

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """Name the words of the highest weight in each topic.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of lists of str
        """
        check_is_fitted(self)
        return best_words(self.topic_word_, self.words_, n)

    def _ids(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self.words_)}

    def _check_params(self, **least: float) -> None:
        """Refuse parameters below what is named; where that is an int, they must be whole."""
        for name, lowest in {"n_topics": 1, "random_state": 0, **least}.items():
            check: Any = check_whole if isinstance(lowest, int) else check_number
            check(name, getattr(self, name), lowest)


class SampledTopics(WordTopics):
    """Base of models that sample the topics of new documents with the topics' words fixed.

    A document without a known word gets the prior's even proportions.

    Examples
    --------
    >>> class Given(SampledTopics):
    ...     alpha, random_state = 0.5, 0
    ...     def fit(self, documents, y=None):
    ...         self.words_, self.topic_word_ = ("cat", "dog"), np.eye(2)
    ...         return self
    >>> Given().fit([]).transform([["cat"], []])
    array([[0.75, 0.25], [0.5 , 0.5 ]])
    """

    alpha: float

    def transform(self, documents: Documents) -> Floats:
        """Infer the topic proportions of documents.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1.
        """
        check_is_fitted(self)
        weights = self._topic_counts(documents) + self.alpha
        return np.asarray(weights / weights.sum(1, keepdims=True))

    def _topic_counts(self, documents: Documents) -> Floats:
        tokens = number_tokens(documents, self._ids())
        table = np.ascontiguousarray(self.topic_word_.T)
        return infer_topics(tokens, table, self.alpha, self.random_state)

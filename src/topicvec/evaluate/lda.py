"""LDA as gensim and tomotopy fit it, under the contract of `topicvec.evaluate.peers`."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.nearest import best
from topicvec.errors import require
from topicvec.model.estimator import Estimator

__all__ = ["GensimLDA", "TomotopyLDA", "WordTopicPeer"]

Floats = NDArray[np.floating]
TokenLists = Sequence[Sequence[str]]


class WordTopicPeer(Estimator):
    """A peer whose topics are distributions over words.

    Attributes
    ----------
    words_ : tuple of V str
        The words that it knows.
    topic_word_ : array, (K, V)
        Probability of each word in each topic.
    """

    words_: tuple[str, ...]
    topic_word_: Floats

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the most probable words of each topic."""
        return [[self.words_[place] for place in best(row, n)] for row in self.topic_word_]


class GensimLDA(WordTopicPeer):
    """LDA by gensim's online variational Bayes, with the settings of the paper's comparison.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    passes : int
        Passes over the documents.
    random_state : int
        Seed.

    Attributes
    ----------
    words_, topic_word_, model_
        Words, probabilities (K, V), gensim's model.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> model = GensimLDA(2).fit(documents)  # doctest: +SKIP
    >>> model.transform([["cat"]]).shape  # doctest: +SKIP
    (1, 2)
    """

    def __init__(self, n_topics: int = 20, *, passes: int = 20, random_state: int = 0) -> None:
        self.n_topics = n_topics
        self.passes = passes
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: object = None) -> Self:  # noqa: ARG002
        """Learn topics from token lists."""
        models = require("gensim.models", "bench", "gensim's LDA")
        self._dictionary = require("gensim.corpora", "bench", "gensim's LDA").Dictionary(documents)
        self.model_: Any = models.LdaModel(
            self._bags(documents),
            self.n_topics,
            self._dictionary,
            passes=self.passes,
            eval_every=None,
            random_state=self.random_state,
        )
        self.words_ = tuple(self._dictionary[i] for i in range(len(self._dictionary)))
        self.topic_word_ = self.model_.get_topics().astype(float)
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Give the topic proportions (D, K)."""
        # gensim starts at random: from the same place each time
        self.model_.random_state = np.random.RandomState(self.random_state)
        theta, _ = self.model_.inference(self._bags(documents))
        shares: Floats = theta / theta.sum(axis=1, keepdims=True)
        return shares

    def _bags(self, documents: TokenLists) -> list[Any]:
        return [self._dictionary.doc2bow(document) for document in documents]


class TomotopyLDA(WordTopicPeer):
    """LDA by tomotopy's Gibbs sampling, which also learns the documents' prior.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    n_iter : int
        Sweeps over the documents.
    random_state : int
        Seed. One worker only, since more give other results.

    Attributes
    ----------
    words_, topic_word_, model_
        Words, probabilities (K, V), tomotopy's model.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> model = TomotopyLDA(2, n_iter=50).fit(documents)  # doctest: +SKIP
    >>> model.transform([["cat"]]).shape  # doctest: +SKIP
    (1, 2)
    """

    def __init__(self, n_topics: int = 20, *, n_iter: int = 500, random_state: int = 0) -> None:
        self.n_topics = n_topics
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: object = None) -> Self:  # noqa: ARG002
        """Learn topics from token lists."""
        tomotopy = require("tomotopy", "bench", "tomotopy's LDA")
        self.model_: Any = tomotopy.LDAModel(k=self.n_topics, seed=self.random_state)
        for document in documents:
            if document:
                self.model_.add_doc(document)
        self.model_.train(self.n_iter, workers=1)
        self.words_ = tuple(self.model_.used_vocabs)
        rows = [self.model_.get_topic_word_dist(k) for k in range(self.n_topics)]
        self.topic_word_ = np.array(rows, float)
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Give the topic proportions (D, K); even ones for a document without a known word."""
        known = frozenset(self.words_)
        kept = [[token for token in document if token in known] for document in documents]
        rows = [row for row, tokens in enumerate(kept) if tokens]
        proportions = np.full((len(kept), self.n_topics), 1 / self.n_topics)
        if rows:
            made = [self.model_.make_doc(kept[row]) for row in rows]
            proportions[rows] = self.model_.infer(made, workers=1)[0]
        return proportions

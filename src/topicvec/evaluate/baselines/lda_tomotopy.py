"""LDA by collapsed Gibbs sampling: tomotopy."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import require
from topicvec.evaluate.baselines.base import TokenLists, checked
from topicvec.evaluate.baselines.word_topics import WordTopics

__all__ = ["TomotopyLDA"]


class TomotopyLDA(WordTopics):
    """Topic proportions of latent Dirichlet allocation, by tomotopy.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    n_sweeps : int
        Sweeps over the training documents.
    n_inference_sweeps : int
        Sweeps over a document that is described.
    random_state : int
        Seed.

    Examples
    --------
    >>> model = TomotopyLDA(2, n_sweeps=5)
    >>> model.fit([["cat", "dog"], ["car"]]).transform([["cat"]]).shape  # doctest: +SKIP
    (1, 2)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        n_sweeps: int = 500,
        n_inference_sweeps: int = 20,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.n_sweeps = n_sweeps
        self.n_inference_sweeps = n_inference_sweeps
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn topics."""
        tomotopy = require("tomotopy", "bench", "LDA by tomotopy")
        self.model_ = tomotopy.LDAModel(k=self.n_topics, seed=self.random_state)
        for tokens in filter(None, checked(documents)):
            self.model_.add_doc(tokens)
        self.model_.train(self.n_sweeps, workers=1)  # with more, results depend on chance
        self.words_ = tuple(self.model_.used_vocabs)
        rows = [self.model_.get_topic_word_dist(k) for k in range(self.n_topics)]
        self.topic_word_ = np.array(rows, float)
        return self

    def transform(self, documents: TokenLists) -> NDArray[np.float64]:
        """Infer topic proportions (D, K); documents without a known word get the prior mean."""
        known = set(self.words_)
        kept = [[word for word in tokens if word in known] for tokens in checked(documents)]
        full = [row for row, tokens in enumerate(kept) if tokens]
        proportions = np.tile(self.model_.alpha / np.sum(self.model_.alpha), (len(kept), 1))
        if full:
            made = [self.model_.make_doc(kept[row]) for row in full]
            found, _ = self.model_.infer(made, iterations=self.n_inference_sweeps, workers=1)
            proportions[full] = found
        return proportions

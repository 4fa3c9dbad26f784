"""LDA as in the paper: gensim's online variational Bayes."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import require
from topicvec.evaluate.baselines.base import TokenLists, checked
from topicvec.evaluate.baselines.word_topics import WordTopics

__all__ = ["GensimLDA"]


class GensimLDA(WordTopics):
    """Topic proportions of latent Dirichlet allocation, by gensim.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    n_passes : int
        How often the training documents are read.
    random_state : int
        Seed.

    Examples
    --------
    >>> model = GensimLDA(2, n_passes=1)
    >>> model.fit([["cat", "dog"], ["car"]]).transform([["cat"]]).shape  # doctest: +SKIP
    (1, 2)
    """

    def __init__(self, n_topics: int = 100, *, n_passes: int = 20, random_state: int = 0) -> None:
        self.n_topics = n_topics
        self.n_passes = n_passes
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn topics."""
        gensim = require("gensim.models", "bench", "LDA by gensim")
        corpora = require("gensim.corpora", "bench", "LDA by gensim")
        tokens = checked(documents)
        self.dictionary_ = corpora.Dictionary(tokens)
        self.model_ = gensim.LdaModel(
            [self.dictionary_.doc2bow(each) for each in tokens],
            self.n_topics,
            self.dictionary_,
            passes=self.n_passes,
            eval_every=None,
            random_state=self.random_state,
        )
        self.words_ = tuple(self.dictionary_[i] for i in range(len(self.dictionary_)))
        self.topic_word_ = self.model_.get_topics().astype(float)
        return self

    def transform(self, documents: TokenLists) -> NDArray[np.float64]:
        """Infer topic proportions (D, K)."""
        bags = [self.dictionary_.doc2bow(each) for each in checked(documents)]
        # inference starts at random: from the same place each time
        self.model_.random_state = np.random.RandomState(self.random_state)
        gamma, _ = self.model_.inference(bags)
        proportions: NDArray[np.float64] = gamma / gamma.sum(axis=1, keepdims=True)
        return proportions

"""LDA and NMF as scikit-learn fits them, under the contract of `topicvec.evaluate.peers`."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import one_blas_thread
from topicvec.evaluate.baselines.word_topics import WordTopics
from topicvec.text.bag import BagBuilder
from topicvec.text.counting import chunked, count_tokens
from topicvec.text.vocabulary import Vocabulary

__all__ = ["SklearnLDA", "SklearnNMF"]

Floats = NDArray[np.floating]
TokenLists = Sequence[Sequence[str]]


class SklearnLDA(WordTopics):
    """LDA by scikit-learn's online variational Bayes.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    max_iter : int
        Passes over the documents.
    random_state : int
        Seed.

    Attributes
    ----------
    words_, topic_word_, model_
        Words, probabilities (K, V), scikit-learn's model.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> SklearnLDA(2).fit(documents).transform([["cat"]]).shape
    (1, 2)
    """

    def __init__(self, n_topics: int = 20, *, max_iter: int = 10, random_state: int = 0) -> None:
        self.n_topics = n_topics
        self.max_iter = max_iter
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn topics from token lists."""
        from sklearn.decomposition import LatentDirichletAllocation

        self._vocabulary = Vocabulary.from_documents(documents)
        self.words_ = self._vocabulary.words
        self.model_: Any = LatentDirichletAllocation(
            self.n_topics,
            learning_method="online",
            max_iter=self.max_iter,
            random_state=self.random_state,
        ).fit(_counts(documents, self._vocabulary))
        components = self.model_.components_
        self.topic_word_ = components / components.sum(axis=1, keepdims=True)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Give the topic proportions (D, K)."""
        shares: Floats = self.model_.transform(_counts(documents, self._vocabulary))
        return shares


class SklearnNMF(WordTopics):
    """Non-negative factors of the TF-IDF table, by scikit-learn.

    Parameters
    ----------
    n_topics : int
        Number of factors.
    random_state : int
        Seed.

    Attributes
    ----------
    words_, topic_word_, model_
        Words, shares of them in each factor (K, V), scikit-learn's pipeline.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> sorted(sorted(words) for words in SklearnNMF(2).fit(documents).topic_words(2))
    [['bus', 'car'], ['cat', 'dog']]
    """

    def __init__(self, n_topics: int = 20, *, random_state: int = 0) -> None:
        self.n_topics = n_topics
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn factors from token lists."""
        from sklearn.decomposition import NMF
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.pipeline import make_pipeline

        self._vocabulary = Vocabulary.from_documents(documents)
        self.words_ = self._vocabulary.words
        factors = NMF(self.n_topics, init="nndsvda", max_iter=400, random_state=self.random_state)
        self.model_: Any = make_pipeline(TfidfTransformer(sublinear_tf=True), factors)
        self.model_.fit(_counts(documents, self._vocabulary))
        components = factors.components_
        self.topic_word_ = components / np.maximum(components.sum(axis=1, keepdims=True), 1e-300)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Give the shares of the factors (D, K); even ones where there are none."""
        factors = self.model_.transform(_counts(documents, self._vocabulary)) + 1e-12
        shares: Floats = factors / factors.sum(axis=1, keepdims=True)
        return shares


def _counts(documents: TokenLists, vocabulary: Vocabulary) -> csr_array:
    builder = BagBuilder()
    for chunk in map(count_tokens, chunked(documents)):
        builder.add(chunk, vocabulary.ids)
    return builder.build(len(vocabulary)).counts

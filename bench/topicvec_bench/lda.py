"""LDA by gensim, tomotopy and scikit-learn, and scikit-learn's NMF."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from topicvec.engine import one_blas_thread
from topicvec.errors import DataError
from topicvec_bench.base import Floats, TokenLists, TopicWordModel, checked, require
from topicvec_bench.tokens import learn_words, number_tokens

__all__ = ["GensimLDA", "SklearnLDA", "SklearnNMF", "TomotopyLDA"]


class GensimLDA(TopicWordModel):
    """Topic proportions of latent Dirichlet allocation, by gensim.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    n_passes : int
        How often the training documents are read.
    learn_priors : bool
        Whether the priors of mixtures and of words are learned ("auto") or even.
    max_iter : int
        Most rounds of inference for a document.
    min_documents, max_share : int, float
        Leave out words that fewer documents have, or more than this share of them.
    random_state : int
        Seed.

    Examples
    --------
    >>> model = GensimLDA(2, n_passes=1)
    >>> model.fit([["cat", "dog"], ["car"]]).transform([["cat"]]).shape  # doctest: +SKIP
    (1, 2)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        n_passes: int = 20,
        learn_priors: bool = False,
        max_iter: int = 50,
        min_documents: int = 1,
        max_share: float = 1.0,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.n_passes = n_passes
        self.learn_priors = learn_priors
        self.max_iter = max_iter
        self.min_documents = min_documents
        self.max_share = max_share
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn topics."""
        gensim = require("gensim.models", "LDA by gensim")
        corpora = require("gensim.corpora", "LDA by gensim")
        tokens = checked(documents)
        self.dictionary_ = corpora.Dictionary(tokens)
        if self.min_documents > 1 or self.max_share < 1:
            self.dictionary_.filter_extremes(self.min_documents, self.max_share, keep_n=None)
            if not len(self.dictionary_):
                raise DataError(
                    f"no word is in {self.min_documents} documents or more and in at most "
                    f"{self.max_share:.0%} of {len(tokens)}: give more documents or wider limits"
                )
        prior = "auto" if self.learn_priors else None
        self.model_ = gensim.LdaModel(
            [self.dictionary_.doc2bow(each) for each in tokens],
            self.n_topics,
            self.dictionary_,
            passes=self.n_passes,
            iterations=self.max_iter,
            alpha=prior or "symmetric",
            eta=prior,
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


class TomotopyLDA(TopicWordModel):
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
        tomotopy = require("tomotopy", "LDA by tomotopy")
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


class _CountedTopics(TopicWordModel):
    """Base of those that scikit-learn finds in a table of counts."""

    def _counts(self, documents: TokenLists) -> csr_array:
        return number_tokens(documents, self._ids()).counts(len(self.words_))


class SklearnLDA(_CountedTopics):
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
        Words, probabilities (K, W), scikit-learn's model.

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
        self.words_ = learn_words(documents)
        self.model_: Any = LatentDirichletAllocation(
            self.n_topics,
            learning_method="online",
            max_iter=self.max_iter,
            random_state=self.random_state,
        ).fit(self._counts(documents))
        components = self.model_.components_
        self.topic_word_ = components / components.sum(axis=1, keepdims=True)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Give the topic proportions (D, K)."""
        shares: Floats = self.model_.transform(self._counts(documents))
        return shares


class SklearnNMF(_CountedTopics):
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
        Words, shares of them in each factor (K, W), scikit-learn's pipeline.

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
        self.words_ = learn_words(documents)
        factors = NMF(self.n_topics, init="nndsvda", max_iter=400, random_state=self.random_state)
        self.model_: Any = make_pipeline(TfidfTransformer(sublinear_tf=True), factors)
        self.model_.fit(self._counts(documents))
        components = factors.components_
        self.topic_word_ = components / np.maximum(components.sum(axis=1, keepdims=True), 1e-300)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Give the shares of the factors (D, K); even ones where there are none."""
        factors = self.model_.transform(self._counts(documents)) + 1e-12
        shares: Floats = factors / factors.sum(axis=1, keepdims=True)
        return shares

"""LF-DMM: the latent-feature mixture of Nguyen, Billingsley, Du and Johnson (2015).

Dat Quoc Nguyen, Richard Billingsley, Lan Du and Mark Johnson: Improving Topic Models with Latent
Feature Word Representations. Transactions of the ACL 3, 2015. A document has one topic, as in the
Dirichlet multinomial mixture of Nigam et al. (2000).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from topicvec.engine import one_blas_thread
from topicvec_bench.base import Floats, TokenLists
from topicvec_bench.gibbs import document_sweep
from topicvec_bench.lftm import LFTM, fit_topic_vectors, softmax_words
from topicvec_bench.sampling import Assignment, count_pairs
from topicvec_bench.tokens import Tokens, number_tokens

__all__ = ["LFDMM", "Clusters", "earlier_tokens"]


class LFDMM(LFTM):
    """LF-DMM: documents of one topic each, whose topics also speak the language of word vectors.

    The topics are those of `LFTM`, a Dirichlet-multinomial over words mixed with a softmax over
    word vectors, but all tokens of a document have the same one. The topic of each document and
    the components of its tokens are sampled in turn; topic vectors are their maximum a posteriori
    given the samples.

    Parameters
    ----------
    n_topics, vectors, share, alpha, beta, l2, n_initial, n_iter, random_state
        As in `LFTM`; ``alpha`` is the Dirichlet prior of the corpus's mixture, and the chain
        starts with ``n_initial`` sweeps of the mixture without word vectors.

    Attributes
    ----------
    words_, topic_word_, topic_vectors_
        As in `LFTM`.
    topic_share_ : ndarray of shape (n_topics,)
        Probability of each topic, the smoothed share of the training documents that it has.

    Notes
    -----
    A document's features are the posterior P(topic | document). A document of more than a few
    dozen words is then nearly sure of its topic, and its features are nearly a one and zeros:
    that is the model, not its inference. The mixture without word vectors is sampled exactly;
    with them a document's topic is drawn as the paper does, without the rise of probability
    that tokens of one document give each other.

    Examples
    --------
    >>> from topicvec.embed.vectors import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], [[1, 0], [1, 0], [0, 1], [0, 1]], [1] * 4)
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 5
    >>> model = LFDMM(n_topics=2, vectors=vectors, n_initial=20, n_iter=5).fit(documents)
    >>> sorted(sorted(words) for words in model.topic_words(2))
    [['bus', 'car'], ['cat', 'dog']]
    """  # noqa: E501

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Give the posterior of documents' topics.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1; a document without a known word has the topics' own shares.
        """
        check_is_fitted(self)
        counts = number_tokens(documents, self._ids()).counts(len(self.words_))
        logs = np.log(np.maximum(self.topic_word_, np.finfo(float).tiny))  # softmax may give 0
        return np.asarray(softmax(counts @ logs.T + np.log(self.topic_share_), axis=1))

    def _sample(self, tokens: Tokens, matrix: Floats) -> tuple[Assignment, Floats]:
        rng = np.random.default_rng(self.random_state)
        state = Clusters.random(tokens, len(matrix), self.n_topics, rng)
        for _ in range(self.n_initial):
            state.sweep(tokens, self.alpha, self.beta, rng)
        # The first topic vectors describe all tokens: no token has a component yet.
        counts = state.assignment(tokens).word_topic.astype(np.int64)
        start = np.zeros((self.n_topics, matrix.shape[1]))
        topic_vectors = fit_topic_vectors(start, counts, matrix, self.l2)
        for _ in range(self.n_iter):
            table = softmax_words(topic_vectors, matrix)
            state.sweep(tokens, self.alpha, self.beta, rng, table, self.share)
            counts = state.assignment(tokens).latent_counts(tokens)
            topic_vectors = fit_topic_vectors(topic_vectors, counts, matrix, self.l2)
        smooth = state.cluster_total + self.alpha
        self.topic_share_ = smooth / smooth.sum()
        return state.assignment(tokens), topic_vectors


class Clusters(NamedTuple):
    """The topic of each document and the counts that follow from it; the sampler changes them.

    Attributes
    ----------
    earlier : ndarray of shape (n_tokens,), int32
        See `earlier_tokens`.
    clusters, cluster_total : ndarray of shapes (D,) and (K,), int32 and int64
        Topic of each document, and the number of documents of each topic.
    latent : ndarray of shape (n_tokens,), bool
        Whether the token comes from the topic's fixed component, see `document_sweep`.
    word_topic, topic_total : ndarray of shapes (W, K) and (K,), int32 and int64
        Counts of the tokens that do not.

    Examples
    --------
    >>> tokens = Tokens(np.array([0, 1, 1], np.int32), np.array([0, 2, 3]))
    >>> state = Clusters.random(tokens, 2, 4, np.random.default_rng(0))
    >>> print(state.cluster_total.sum(), state.topic_total.sum())
    2 3
    """

    earlier: NDArray[np.int32]
    clusters: NDArray[np.int32]
    cluster_total: NDArray[np.int64]
    latent: NDArray[np.bool_]
    word_topic: NDArray[np.int32]
    topic_total: NDArray[np.int64]

    @classmethod
    def random(
        cls, tokens: Tokens, n_words: int, n_topics: int, rng: np.random.Generator
    ) -> "Clusters":
        """Draw each document's topic evenly."""
        clusters = rng.integers(n_topics, size=tokens.n_documents, dtype=np.int32)
        topics = np.repeat(clusters, tokens.lengths)
        counts = count_pairs(tokens.words, topics, (n_words, n_topics)).astype(np.int32)
        sizes = np.bincount(clusters, minlength=n_topics)
        latent = np.zeros(len(topics), bool)
        total = counts.sum(0, dtype=np.int64)
        return cls(earlier_tokens(tokens), clusters, sizes, latent, counts, total)

    def sweep(
        self,
        tokens: Tokens,
        alpha: float,
        beta: float,
        rng: np.random.Generator,
        fixed: Floats | None = None,
        share: float = 0.0,
    ) -> None:
        """Draw the topic of every document once; see `document_sweep`."""
        table = np.zeros((0, 0)) if fixed is None else fixed
        document_sweep(
            *tokens, *self, table, share, alpha, beta,
            rng.random(tokens.n_documents), rng.random(len(tokens.words)),
        )  # fmt: skip

    def assignment(self, tokens: Tokens) -> Assignment:
        """Give the same state token by token."""
        topics = np.repeat(self.clusters, tokens.lengths)
        return Assignment(topics, self.latent, self.word_topic, self.topic_total)


def earlier_tokens(tokens: Tokens) -> NDArray[np.int32]:
    """Count for each token the tokens before it in its document that are the same word.

    Examples
    --------
    >>> earlier_tokens(Tokens(np.array([3, 1, 3, 3, 3], np.int32), np.array([0, 3, 5]))).tolist()
    [0, 0, 1, 0, 1]
    """
    document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
    order = np.lexsort((tokens.words, document))  # stable: equal words stay in their order
    words, document = tokens.words[order], document[order]
    new = np.ones(len(order), bool)
    new[1:] = (words[1:] != words[:-1]) | (document[1:] != document[:-1])
    place = np.arange(len(order))
    earlier = np.empty(len(order), np.int32)
    earlier[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    return earlier

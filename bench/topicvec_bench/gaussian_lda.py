"""Gaussian LDA of Das, Zaheer and Dyer (2015): topics are Gaussians in the word-vector space.

Rajarshi Das, Manzil Zaheer and Chris Dyer: Gaussian LDA for Topic Models with Word Embeddings.
ACL 2015.
"""

import logging
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.cluster import MiniBatchKMeans

from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import one_blas_thread
from topicvec_bench.base import ABOVE_ZERO, Floats, TokenLists
from topicvec_bench.gaussian_kernels import (
    gaussian_sweep,
    log_densities,
    posterior,
)
from topicvec_bench.sampling import SampledTopics, count_pairs, infer_topics
from topicvec_bench.tokens import Tokens, learn_words, number_tokens

__all__ = ["GaussianLDA", "Projection"]

logger = logging.getLogger(__name__)


_FLOOR = 1e-30  # of a proposal: any topic can be left


class Projection(NamedTuple):
    """Centring and the main directions of some vectors.

    Examples
    --------
    >>> found = Projection.of(np.array([[1.0, 0.0], [3.0, 0.0]]), 1)
    >>> np.abs(found(np.array([[4.0, 5.0]])))
    array([[2.]])
    """

    mean: Floats
    directions: Floats

    @classmethod
    def of(cls, matrix: Floats, n_dims: int) -> "Projection":
        """Find the directions, (N, n_dims); all if there are not as many."""
        mean = matrix.mean(0)
        _, vectors = np.linalg.eigh((matrix - mean).T @ (matrix - mean))
        return cls(mean, np.ascontiguousarray(vectors[:, ::-1][:, :n_dims]))

    def __call__(self, matrix: Floats) -> Floats:
        """Project vectors (n, N) to (n, n_dims)."""
        return np.ascontiguousarray((matrix - self.mean) @ self.directions, dtype=float)


class GaussianLDA(SampledTopics):
    """Gaussian LDA: each topic draws word vectors from a Gaussian instead of words.

    Topics have a Normal-inverse-Wishart prior and are integrated out, so a word's density in a
    topic is a Student t. Topics of tokens are proposed by densities computed once a sweep and
    accepted by exact ones (Metropolis-Hastings, as in the paper); a topic changes by rank-one
    updates of its Cholesky factor.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    vectors : WordVectors, optional
        Word vectors; those inside the package if not given. Words without one are left out.
    n_dims : int
        Main directions of the vectors to keep: time grows with the square. The paper has
        vectors of 50 dimensions.
    alpha : float
        Dirichlet prior of documents.
    kappa : float
        Weight of the prior mean of topics, which is the mean of all word vectors.
    scale : float
        Prior variance of a topic in each direction, as a multiple of the mean variance of the
        vectors.
    n_iter : int
        Sweeps.
    random_state : int
        Seed.

    Attributes
    ----------
    words_ : tuple of str
        Words of the training documents, most frequent first.
    topic_word_ : ndarray of shape (n_topics, n_words)
        Density of each topic at the words' vectors, scaled to sum to 1.
    means_, factors_ : ndarray of shapes (n_topics, n_dims) and (n_topics, n_dims, n_dims)
        Posterior mean of each topic, and the Cholesky factor of its scale matrix.
    topic_counts_ : ndarray of shape (n_topics,)
        Tokens of each topic.

    Notes
    -----
    The chain starts from k-means of the word vectors. Words that are new in `transform` are
    used, too: all that a topic needs is the vector.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], [[1, 0], [.9, 0], [0, 1], [0, .9]], [1] * 4)
    >>> documents = [["cat", "cat"], ["car", "car"]] * 5
    >>> model = GaussianLDA(n_topics=2, vectors=vectors, n_iter=5).fit(documents)
    >>> cat, dog, car = model.transform([["cat"] * 5, ["dog"] * 5, ["car"] * 5]).argmax(1)
    >>> print(cat == dog, cat == car)
    True False
    """  # noqa: E501

    def __init__(
        self,
        n_topics: int = 100,
        *,
        vectors: WordVectors | None = None,
        n_dims: int = 50,
        alpha: float = 0.1,
        kappa: float = 0.1,
        scale: float = 1.0,
        n_iter: int = 50,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.n_dims = n_dims
        self.alpha = alpha
        self.kappa = kappa
        self.scale = scale
        self.n_iter = n_iter
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Any = None) -> Self:  # noqa: ARG002
        """Learn topics from documents.

        Parameters
        ----------
        documents : sequence of token lists
        y
            Not used.

        Returns
        -------
        GaussianLDA
            This object.
        """
        self._check_params(alpha=ABOVE_ZERO, kappa=ABOVE_ZERO, scale=ABOVE_ZERO, n_dims=1, n_iter=1)
        vectors = load_vectors(self.vectors)
        self.words_ = learn_words(documents, vectors=vectors)
        matrix = vectors.subset(self.words_).matrix
        self.projection_ = Projection.of(matrix, self.n_dims)
        points = self.projection_(matrix)
        tokens = number_tokens(documents, self._ids())
        self._sample(tokens, points, self._start(tokens, points))
        self.topic_word_ = softmax(self._log_densities(points), axis=0).T
        return self

    def _start(self, tokens: Tokens, points: Floats) -> NDArray[np.int32]:
        """Give each token the cluster of its word."""
        clusters = MiniBatchKMeans(self.n_topics, random_state=self.random_state, n_init=3)
        weight = np.bincount(tokens.words, minlength=len(points)).astype(float)
        labels = clusters.fit(points, sample_weight=np.sqrt(weight)).labels_
        return np.asarray(labels[tokens.words].astype(np.int32))

    def _sample(self, tokens: Tokens, points: Floats, topics: NDArray[np.int32]) -> None:
        rng = np.random.default_rng(self.random_state)
        self._refit(tokens, points, topics)
        for number in range(self.n_iter):
            logs = self._log_densities(points)
            stale = np.maximum(np.exp(logs - logs.max(1, keepdims=True)), _FLOOR)
            proposed, accepted = gaussian_sweep(
                *tokens, topics, points, self.topic_counts_, self.means_, self.factors_, stale,
                self.kappa, self._nu, self.alpha, rng.random((len(topics), 2)),
            )  # fmt: skip
            logger.debug("sweep %d: %d of %d changes accepted", number, accepted, proposed)
            self._refit(tokens, points, topics)  # rounding errors do not add up

    def _refit(self, tokens: Tokens, points: Floats, topics: NDArray[np.int32]) -> None:
        """Compute the posterior of each topic from its tokens."""
        counts = count_pairs(tokens.words, topics, (len(points), self.n_topics))
        squares = np.empty((self.n_topics, points.shape[1], points.shape[1]))
        for k, weight in enumerate(counts.T):
            inside = points[weight > 0]
            squares[k] = (inside.T * weight[weight > 0]) @ inside
        prior = self.scale * points.var(0).mean()
        self.topic_counts_ = counts.sum(0)
        self.means_, self.factors_ = posterior(
            self.topic_counts_, counts.T @ points, squares, self.kappa, prior
        )

    @property
    def _nu(self) -> float:
        return float(len(self.projection_.directions.T))  # degrees of freedom of the prior

    def _log_densities(self, points: Floats) -> Floats:
        return log_densities(
            points, self.topic_counts_, self.means_, self.factors_, self.kappa, self._nu
        )

    @one_blas_thread()
    def _topic_counts(self, documents: TokenLists) -> Floats:
        vectors = load_vectors(self.vectors)
        tokens = number_tokens(documents, vectors.ids)
        types, places = np.unique(tokens.words, return_inverse=True)
        logs = self._log_densities(self.projection_(vectors.matrix[types]))
        table = np.exp(logs - logs.max(1, keepdims=True))
        known = Tokens(places.astype(np.int32), tokens.starts)
        return infer_topics(known, table, self.alpha, self.random_state)

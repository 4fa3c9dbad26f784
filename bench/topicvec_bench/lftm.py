"""LFTM: the latent-feature topic model LF-LDA of Nguyen, Billingsley, Du and Johnson (2015).

Dat Quoc Nguyen, Richard Billingsley, Lan Du and Mark Johnson: Improving Topic Models with Latent
Feature Word Representations. Transactions of the ACL 3, 2015.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.checks import check_number
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import one_blas_thread
from topicvec_bench.base import ABOVE_ZERO, Floats, TokenLists
from topicvec_bench.lbfgs import descend
from topicvec_bench.sampling import Assignment, SampledTopics, sample_lda, sweep, word_given_topic
from topicvec_bench.tokens import Tokens, learn_words, number_tokens

__all__ = ["LFTM", "fit_topic_vectors", "softmax_words"]


_N_STEPS = 20  # of L-BFGS between two sweeps; it goes on from where it was


class LFTM(SampledTopics):
    """LF-LDA: LDA whose topics also speak the language of word vectors.

    Each topic is a mixture of a Dirichlet-multinomial over words, as in LDA, and a softmax over
    the products of a topic vector with fixed word vectors. Topics and components of the tokens
    are sampled in turn; topic vectors are their maximum a posteriori given the samples.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    vectors : WordVectors, optional
        Fixed word vectors; those inside the package if not given. Words without one are left out.
    share : float
        Weight λ of the latent-feature component.
    alpha, beta : float
        Dirichlet priors of documents and of words.
    l2 : float
        Weight μ of the squared norm of topic vectors.
    n_initial : int
        Sweeps of plain LDA to start from.
    n_iter : int
        Sweeps of the whole model, each followed by steps on the topic vectors.
    random_state : int
        Seed.

    Attributes
    ----------
    words_, topic_word_
        Words, most frequent first, and their probability in each topic, (K, W): the mixture of both components.
    topic_vectors_ : ndarray of shape (n_topics, n_dims)
        Topic vectors.

    Notes
    -----
    The paper's chain has 1,500 initial sweeps and 500 of the whole model, and samples test
    documents together with the training documents; here they are sampled afterwards, with all
    topics fixed.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], [[1, 0], [1, 0], [0, 1], [0, 1]], [1] * 4)
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 5
    >>> model = LFTM(n_topics=2, vectors=vectors, n_initial=20, n_iter=5).fit(documents)
    >>> sorted(sorted(words) for words in model.topic_words(2))
    [['bus', 'car'], ['cat', 'dog']]
    """  # noqa: E501

    def __init__(
        self,
        n_topics: int = 100,
        *,
        vectors: WordVectors | None = None,
        share: float = 0.6,
        alpha: float = 0.1,
        beta: float = 0.01,
        l2: float = 0.01,
        n_initial: int = 200,
        n_iter: int = 50,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.share = share
        self.alpha = alpha
        self.beta = beta
        self.l2 = l2
        self.n_initial = n_initial
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
        LFTM
            This object.
        """
        self._check_params(alpha=ABOVE_ZERO, beta=ABOVE_ZERO, l2=0.0, n_initial=0, n_iter=1)
        check_number("share", self.share, 0, 1)
        vectors = load_vectors(self.vectors)
        self.words_ = learn_words(documents, vectors=vectors)
        matrix = vectors.subset(self.words_).matrix
        tokens = number_tokens(documents, self._ids())
        assignment, self.topic_vectors_ = self._sample(tokens, matrix)
        latent = softmax_words(self.topic_vectors_, matrix)
        counted = word_given_topic(assignment, self.beta)
        self.topic_word_ = ((1 - self.share) * counted + self.share * latent).T
        return self

    def _sample(self, tokens: Tokens, matrix: Floats) -> tuple[Assignment, Floats]:
        rng = np.random.default_rng(self.random_state)
        shape = (len(matrix), self.n_topics)
        assignment = sample_lda(tokens, shape, self.n_initial, self.alpha, self.beta, rng)
        # The first topic vectors describe all tokens: no token has a component yet.
        topic_vectors = fit_topic_vectors(
            np.zeros((self.n_topics, matrix.shape[1])), assignment.word_topic, matrix, self.l2
        )
        for _ in range(self.n_iter):
            table = softmax_words(topic_vectors, matrix)
            sweep(tokens, assignment, self.alpha, self.beta, rng, table, self.share)
            counts = assignment.latent_counts(tokens)
            topic_vectors = fit_topic_vectors(topic_vectors, counts, matrix, self.l2)
        return assignment, topic_vectors


def softmax_words(topic_vectors: Floats, matrix: Floats) -> Floats:
    """Give the probability of each word in each topic's latent-feature component.

    Parameters
    ----------
    topic_vectors : ndarray of shape (K, N)
    matrix : ndarray of shape (W, N)
        Word vectors.

    Returns
    -------
    ndarray of shape (W, K)
        Columns sum to 1 (eq. 3).

    Examples
    --------
    >>> softmax_words(np.zeros((1, 2)), np.eye(2)).tolist()
    [[0.5], [0.5]]
    """
    return _softmax(topic_vectors, matrix)[0]


def fit_topic_vectors(
    start: Floats, counts: NDArray[np.integer], matrix: Floats, l2: float, n_steps: int = _N_STEPS
) -> Floats:
    """Bring topic vectors closer to their maximum a posteriori, by L-BFGS (eq. 7).

    Parameters
    ----------
    start : ndarray of shape (K, N)
        Topic vectors to go on from.
    counts : ndarray of shape (W, K)
        Words that the latent-feature component of each topic made.
    matrix : ndarray of shape (W, N)
        Word vectors.
    l2 : float
        Weight of the squared norms.
    n_steps : int
        Limit of steps.

    Returns
    -------
    ndarray of shape (K, N)

    Notes
    -----
    Topics do not depend on each other, so each one's objective may be divided by its number of
    tokens: the optimum stays, and one L-BFGS over all of them is well scaled.

    Examples
    --------
    >>> found = fit_topic_vectors(np.zeros((1, 1)), np.array([[3], [1]]), np.array([[1.0], [-1.0]]), 0)
    >>> softmax_words(found, np.array([[1.0], [-1.0]])).ravel().round(3)
    array([0.75, 0.25])
    """  # noqa: E501
    total = np.maximum(counts.sum(0), 1)  # (K,)
    observed = (counts / total).T.astype(matrix.dtype) @ matrix  # (K, N)
    used = np.any(counts, axis=0)  # a topic without tokens has only its prior
    penalty = l2 / total

    def objective(T: Floats) -> tuple[float, Floats]:
        probabilities, log_partition = _softmax(T, matrix)
        value = used * log_partition - np.sum((observed - penalty[:, None] * T) * T, axis=1)
        expected = used[:, None] * (probabilities.T @ matrix)
        gradient = expected - observed + 2 * penalty[:, None] * T
        return value.sum(), gradient

    return descend(objective, start, n_steps)


def _softmax(topic_vectors: Floats, matrix: Floats) -> tuple[Floats, Floats]:
    """Give softmax (W, K) and log-partition (K,) of all products."""
    logits = matrix @ topic_vectors.T.astype(matrix.dtype)
    top = logits.max(axis=0)
    weights = np.exp(logits - top)
    total = weights.sum(axis=0)
    return weights / total, top + np.log(total)

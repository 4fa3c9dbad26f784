"""What the Gibbs-sampled models share: assignments, plain LDA, and inference on new documents."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topicvec_bench.base import Floats, TokenLists, TopicWordModel
from topicvec_bench.gibbs import infer_counts, mixture_sweep
from topicvec_bench.tokens import Tokens, number_tokens

__all__ = ["Assignment", "SampledTopics", "infer_topics", "sample_lda", "sweep", "word_given_topic"]

N_SWEEPS = 50  # over new documents
N_BURN = 20  # of which so many are left out of the average


class Assignment(NamedTuple):
    """The topic of each token and the counts that follow from it; the sampler changes them.

    Attributes
    ----------
    topics : ndarray of shape (n_tokens,), int32
        Topic of each token.
    latent : ndarray of shape (n_tokens,), bool
        Whether the token comes from the topic's fixed component, see `mixture_sweep`.
    word_topic, topic_total : ndarray of shapes (W, K) and (K,), int32 and int64
        Counts of the tokens that do not.

    Examples
    --------
    >>> tokens = Tokens(np.array([0, 1, 1], np.int32), np.array([0, 3]))
    >>> Assignment.random(tokens, 2, 4, np.random.default_rng(0)).word_topic.sum(1)
    array([1, 2])
    """

    topics: NDArray[np.int32]
    latent: NDArray[np.bool_]
    word_topic: NDArray[np.int32]
    topic_total: NDArray[np.int64]

    @classmethod
    def random(
        cls, tokens: Tokens, n_words: int, n_topics: int, rng: np.random.Generator
    ) -> "Assignment":
        """Draw each token's topic evenly."""
        topics = rng.integers(n_topics, size=len(tokens.words), dtype=np.int32)
        latent = np.zeros(len(topics), bool)
        word_topic = count_pairs(tokens.words, topics, (n_words, n_topics)).astype(np.int32)
        return cls(topics, latent, word_topic, word_topic.sum(0, dtype=np.int64))

    def latent_counts(self, tokens: Tokens) -> NDArray[np.int64]:
        """Count the words of the fixed component: (W, K)."""
        chosen = self.latent
        return count_pairs(tokens.words[chosen], self.topics[chosen], self.word_topic.shape)


def count_pairs(
    rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Count how often each pair of a row and a column occurs.

    Examples
    --------
    >>> count_pairs(np.array([0, 1, 1]), np.array([1, 0, 0]), (2, 2)).tolist()
    [[0, 1], [2, 0]]
    """
    flat = rows.astype(np.int64) * shape[1] + columns
    return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)


def sweep(
    tokens: Tokens,
    assignment: Assignment,
    alpha: float,
    beta: float,
    rng: np.random.Generator,
    fixed: Floats | None = None,
    share: float = 0.0,
) -> None:
    """Draw the topic of every token once; see `mixture_sweep`.

    Examples
    --------
    >>> rng, tokens = np.random.default_rng(0), Tokens(np.array([0, 1], np.int32), np.array([0, 2]))
    >>> assignment = Assignment.random(tokens, 2, 3, rng)
    >>> sweep(tokens, assignment, 0.1, 0.01, rng)
    >>> print(assignment.topic_total.sum())
    2
    """
    table = np.zeros((0, 0)) if fixed is None else fixed
    mixture_sweep(
        tokens.words, tokens.starts, *assignment, table, share, alpha, beta,
        rng.random(len(tokens.words)),
    )  # fmt: skip


def sample_lda(
    tokens: Tokens,
    shape: tuple[int, int],
    n_iter: int,
    alpha: float,
    beta: float,
    rng: np.random.Generator,
) -> Assignment:
    """Sample plain LDA, collapsed (Griffiths and Steyvers 2004).

    Parameters
    ----------
    tokens : Tokens
        The training documents.
    shape : (int, int)
        Number of words and of topics.
    n_iter : int
        Sweeps.
    alpha, beta : float
        Dirichlet priors of documents and of words.
    rng : Generator

    Returns
    -------
    Assignment
        The last state of the chain.

    Examples
    --------
    >>> tokens = Tokens(np.array([0, 1, 1], np.int32), np.array([0, 3]))
    >>> sample_lda(tokens, (2, 4), 5, 0.1, 0.01, np.random.default_rng(0)).topics.shape
    (3,)
    """
    assignment = Assignment.random(tokens, *shape, rng)
    for _ in range(n_iter):
        sweep(tokens, assignment, alpha, beta, rng)
    return assignment


def word_given_topic(assignment: Assignment, beta: float) -> Floats:
    """Give the smoothed probability of each word in each topic, (W, K); columns sum to 1.

    Examples
    --------
    >>> counts = np.array([[1, 0], [2, 0]], np.int32)
    >>> assignment = Assignment(np.zeros(3, np.int32), np.zeros(3, bool), counts, counts.sum(0))
    >>> word_given_topic(assignment, 0.5)
    array([[0.375, 0.5  ], [0.625, 0.5  ]])
    """
    smooth = assignment.word_topic + beta
    return np.asarray(smooth / smooth.sum(0))


def infer_topics(
    tokens: Tokens,
    table: Floats,
    alpha: float,
    seed: int,
    n_sweeps: int = N_SWEEPS,
    n_burn: int = N_BURN,
) -> Floats:
    """Count the tokens of each topic in new documents, by sampling under fixed topics.

    Parameters
    ----------
    tokens : Tokens
        New documents.
    table : ndarray of shape (W, K)
        Probability of each word in each topic; each row up to a factor.
    alpha : float
        Dirichlet prior of documents.
    seed : int
        A document has the same counts for the same seed, whatever documents are beside it.
    n_sweeps, n_burn : int
        Sweeps, and how many of them to leave out of the average.

    Returns
    -------
    ndarray of shape (D, K)
        Rows sum to the documents' lengths.

    Examples
    --------
    >>> tokens = Tokens(np.array([0, 0, 1], np.int32), np.array([0, 2, 3]))
    >>> infer_topics(tokens, np.eye(2), 0.1, seed=0)
    array([[2., 0.], [0., 1.]])
    """
    longest = int(tokens.lengths.max(initial=0))
    uniforms = np.random.default_rng(seed).random((longest, 1 + n_sweeps))
    found = infer_counts(tokens.words, tokens.starts, table, alpha, uniforms, n_burn)
    return np.asarray(found)


class SampledTopics(TopicWordModel):
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

    def transform(self, documents: TokenLists) -> Floats:
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

    def _topic_counts(self, documents: TokenLists) -> Floats:
        tokens = number_tokens(documents, self._ids())
        table = np.ascontiguousarray(self.topic_word_.T)
        return infer_topics(tokens, table, self.alpha, self.random_state)

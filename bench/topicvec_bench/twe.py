"""TWE-1: the topical word embeddings of Liu, Liu, Chua and Sun (2015); `twe_pairs` has the others.

Yang Liu, Zhiyuan Liu, Tat-Seng Chua and Maosong Sun: Topical Word Embeddings. AAAI 2015.
"""

from itertools import pairwise
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from topicvec.engine import one_blas_thread
from topicvec_bench.base import ABOVE_ZERO, Floats, TokenLists, require
from topicvec_bench.lbfgs import descend
from topicvec_bench.sampling import Assignment, SampledTopics, sample_lda, word_given_topic
from topicvec_bench.tokens import Tokens, learn_words, number_tokens

__all__ = ["TWE", "context_counts", "context_counts_reference", "fit_skip_gram_topics"]


NEGATIVES = 5  # noise words for each word of the context
NOISE_POWER = 0.75  # noise words are drawn from the unigram distribution to this power
_MAX_STEPS = 100


class TWE(SampledTopics):
    """TWE-1: a word vector and the vector of its topic, side by side, averaged over a document.

    LDA gives each token a topic. Word vectors come from skip-gram on the training documents.
    Topic vectors are learned as skip-gram learns word vectors, where the topic stands for the
    word, with the word vectors kept.

    Parameters
    ----------
    n_topics : int
        Number of topics of LDA.
    n_dims : int
        Dimensions of word vectors, and of topic vectors.
    window : int
        Words to each side that are context.
    n_epochs : int
        Passes of skip-gram over the documents.
    min_count : int
        Leave out words that occur less often.
    alpha, beta : float
        Dirichlet priors of documents and of words.
    n_iter : int
        Sweeps of LDA.
    random_state : int
        Seed.

    Attributes
    ----------
    words_, topic_word_
        Words, most frequent first, and their probability in each of LDA's topics, (K, W).
    word_vectors_ : ndarray of shape (n_words, n_dims)
        Word vectors.
    topic_vectors_ : ndarray of shape (n_topics, n_dims)
        Topic vectors.

    Notes
    -----
    The paper maximises log p(context | word) + log p(context | topic) by stochastic gradients
    with drawn noise words, and keeps the word vectors when it learns topic vectors. Given the
    word vectors the second part is concave in each topic vector, so it is brought to its
    maximum by L-BFGS with the noise in expectation.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> model = TWE(n_topics=2, n_dims=5, min_count=1, n_iter=20).fit(documents)
    >>> model.transform([["cat"], ["yak"]]).shape
    (2, 10)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        n_dims: int = 400,
        window: int = 5,
        n_epochs: int = 20,
        min_count: int = 5,
        alpha: float = 0.1,
        beta: float = 0.01,
        n_iter: int = 200,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.n_dims = n_dims
        self.window = window
        self.n_epochs = n_epochs
        self.min_count = min_count
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Any = None) -> Self:  # noqa: ARG002
        """Learn topics, word vectors and topic vectors from documents.

        Parameters
        ----------
        documents : sequence of token lists
        y
            Not used.

        Returns
        -------
        TWE
            This object.
        """
        self._check_params(
            alpha=ABOVE_ZERO, beta=ABOVE_ZERO, n_dims=1, window=1, n_epochs=1, min_count=1, n_iter=1
        )
        self.words_ = learn_words(documents, self.min_count)
        tokens = number_tokens(documents, self._ids())
        rng = np.random.default_rng(self.random_state)
        shape = (len(self.words_), self.n_topics)
        assignment = sample_lda(tokens, shape, self.n_iter, self.alpha, self.beta, rng)
        self.topic_word_ = word_given_topic(assignment, self.beta).T
        self._learn_vectors(tokens, assignment, rng)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Average word and topic vectors over the tokens of documents.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, 2 * n_dims)
            Zeros for a document without a known word.
        """
        check_is_fitted(self)
        topics = self._topic_counts(documents)
        words = number_tokens(documents, self._ids()).counts(len(self.words_))
        lengths = np.maximum(topics.sum(1, keepdims=True), 1)
        both = [words @ self.word_vectors_, topics @ self.topic_vectors_]
        return np.asarray(np.hstack(both) / lengths)

    def _learn_vectors(
        self,
        tokens: Tokens,
        assignment: Assignment,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> None:
        """Learn vectors from the topic of each token."""
        self.word_vectors_, outputs = self._skip_gram(tokens)
        self.topic_vectors_ = self._fit_topics(tokens, assignment, outputs)

    def _fit_topics(self, tokens: Tokens, assignment: Assignment, outputs: Floats) -> Floats:
        """Learn topic vectors with the word vectors kept, (n_topics, n_dims)."""
        n_words, n_topics = assignment.word_topic.shape
        contexts = context_counts(*tokens, assignment.topics, n_words, n_topics, self.window)
        start = assignment.word_topic.T @ self.word_vectors_
        start /= np.maximum(assignment.topic_total, 1)[:, None]  # the mean of its words
        frequency = np.bincount(tokens.words, minlength=n_words)
        return fit_skip_gram_topics(start, contexts, outputs, frequency)

    def _skip_gram(self, tokens: Tokens) -> tuple[Floats, Floats]:
        """Train word vectors and their output vectors, both (n_words, n_dims)."""
        word2vec = require("gensim.models", "TWE").Word2Vec
        sentences = [
            [self.words_[word] for word in tokens.words[begin:end]]
            for begin, end in pairwise(tokens.starts)
        ]
        model = word2vec(
            sentences, vector_size=self.n_dims, window=self.window, sg=1, negative=NEGATIVES,
            epochs=self.n_epochs, min_count=1, workers=1, seed=self.random_state,
        )  # fmt: skip
        order = [model.wv.key_to_index[word] for word in self.words_]
        return model.wv.vectors[order], model.syn1neg[order]


@njit(cache=True, nogil=True)
def context_counts(words, starts, topics, n_words, n_topics, window):  # type: ignore[no-untyped-def]
    """Count the context words of each topic's tokens, near ones more.

    Skip-gram draws the width of each window evenly from 1 to ``window``; a word at distance
    ``c`` is then context with the chance 1 − (c − 1) / window, which is its weight here.

    Parameters
    ----------
    words, starts : arrays
        The tokens, see `Tokens`.
    topics : array, (n_tokens,)
        Topic of each token.
    n_words, n_topics, window : int

    Returns
    -------
    array, (n_topics, n_words)
    """
    counts = np.zeros((n_topics, n_words))
    for d in range(starts.size - 1):
        for i in range(starts[d], starts[d + 1]):
            for j in range(max(starts[d], i - window), min(starts[d + 1], i + window + 1)):
                if j != i:
                    counts[topics[i], words[j]] += 1.0 - (abs(i - j) - 1.0) / window
    return counts


def context_counts_reference(
    words: NDArray[np.integer], starts: NDArray[np.integer], topics: NDArray[np.integer],
    n_words: int, n_topics: int, window: int,
) -> Floats:  # fmt: skip
    """Do the same as `context_counts`, to be read."""
    counts = np.zeros((n_topics, n_words))
    document = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for distance in range(1, window + 1):
        same = document[distance:] == document[:-distance]
        first, second = np.flatnonzero(same), np.flatnonzero(same) + distance
        weight = 1 - (distance - 1) / window
        np.add.at(counts, (topics[first], words[second]), weight)
        np.add.at(counts, (topics[second], words[first]), weight)
    return counts


def fit_skip_gram_topics(
    start: Floats, contexts: Floats, outputs: Floats, frequency: NDArray[np.integer]
) -> Floats:
    """Learn topic vectors by skip-gram's objective with the noise in expectation.

    Parameters
    ----------
    start : ndarray of shape (K, N)
        Topic vectors to start from.
    contexts : ndarray of shape (K, W)
        Weights of the context words of each topic.
    outputs : ndarray of shape (W, N)
        Skip-gram's output vectors.
    frequency : ndarray of shape (W,)
        Counts of the words, from which noise is drawn.

    Returns
    -------
    ndarray of shape (K, N)

    Examples
    --------
    >>> outputs, contexts = np.array([[1.0], [-1.0]]), np.array([[20.0, 10.0]])
    >>> found = fit_skip_gram_topics(np.zeros((1, 1)), contexts, outputs, np.array([1, 1]))
    >>> print(expit(found[0, 0]).round(3))  # (2/3 + 5/2) / 6: noise is 5/2 on each side
    0.528
    """
    total = contexts.sum(1, keepdims=True)
    weight = (contexts / np.where(total, total, 1)).astype(outputs.dtype)  # (K, W)
    power = frequency**NOISE_POWER
    # A topic without tokens has no noise either and stays where it starts.
    noise = ((total > 0) * NEGATIVES * power / power.sum()).astype(outputs.dtype)

    def objective(T: Floats) -> tuple[float, Floats]:
        scores = T.astype(outputs.dtype) @ outputs.T  # (K, W)
        loss = (weight + noise) * np.logaddexp(0, scores) - weight * scores
        slope = (weight + noise) * expit(scores) - weight
        return loss.sum(dtype=float), slope @ outputs

    return descend(objective, start, _MAX_STEPS)

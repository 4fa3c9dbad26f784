"""Supervised LDA for classes, of Wang, Blei and Fei-Fei (2009), by stochastic EM.

Chong Wang, David Blei and Li Fei-Fei: Simultaneous Image Classification and Annotation. CVPR 2009;
after David Blei and Jon McAuliffe: Supervised Topic Models. NIPS 2007.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from topicvec.engine import one_blas_thread
from topicvec.errors import DataError
from topicvec_bench.base import ABOVE_ZERO, Floats, Ints, TokenLists
from topicvec_bench.gibbs import draw
from topicvec_bench.lbfgs import descend
from topicvec_bench.sampling import Assignment, SampledTopics, sample_lda, word_given_topic
from topicvec_bench.tokens import Tokens, learn_words, number_tokens

__all__ = ["SLDA", "fit_classes", "slda_sweep", "slda_sweep_reference"]


_SWEEPS_PER_FIT = 2
_MAX_STEPS = 50


class SLDA(SampledTopics):
    """Supervised LDA: topics that also tell the documents' classes apart.

    A document's class depends by a softmax on the shares of topics among its tokens. Topics of
    tokens are sampled given words and classes, and the softmax's coefficients are fitted to
    them, in turn.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    alpha, beta : float
        Dirichlet priors of documents and of words.
    l2 : float
        Weight of half the squared norm of the coefficients.
    n_initial : int
        Sweeps of plain LDA to start from.
    n_iter : int
        Sweeps of the whole model.
    random_state : int
        Seed.

    Attributes
    ----------
    words_, topic_word_
        Words, most frequent first, and their probability in each topic, (K, W).
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (n_classes, n_topics)
        Coefficients η.

    Notes
    -----
    The paper finds topics by variational EM; here its E-step is Gibbs sampling, as its model's
    authors also suggest for LDA. New documents have no class: their topics are inferred from
    their words alone.

    Examples
    --------
    >>> documents, y = [["cat", "dog"] * 3, ["car", "bus"] * 3] * 5, ["animals", "traffic"] * 5
    >>> model = SLDA(n_topics=2, n_initial=20, n_iter=20).fit(documents, y)
    >>> model.predict([["cat"], ["bus", "car"]]).tolist()
    ['animals', 'traffic']
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        alpha: float = 0.1,
        beta: float = 0.01,
        l2: float = 0.01,
        n_initial: int = 50,
        n_iter: int = 150,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.l2 = l2
        self.n_initial = n_initial
        self.n_iter = n_iter
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Sequence[Any] | None = None) -> Self:
        """Learn topics from documents and their classes.

        Parameters
        ----------
        documents : sequence of token lists
        y : sequence of n_documents labels
            The class of each document.

        Returns
        -------
        SLDA
            This object.
        """
        self._check_params(alpha=ABOVE_ZERO, beta=ABOVE_ZERO, l2=0.0, n_initial=0, n_iter=1)
        self.words_ = learn_words(documents)
        tokens = number_tokens(documents, self._ids())
        if y is None or len(y) != tokens.n_documents:
            found = "none" if y is None else len(y)
            raise DataError(
                f"expected a class for each of the {tokens.n_documents} documents; "
                f"found {found}: give them as y"
            )
        self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
        assignment = self._sample(tokens, labels.astype(np.int32))
        self.topic_word_ = word_given_topic(assignment, self.beta).T
        return self

    def predict(self, documents: TokenLists) -> NDArray[Any]:
        """Tell the class of documents by the model's own softmax.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents,)
        """
        check_is_fitted(self)
        counts = self._topic_counts(documents)
        shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
        best: NDArray[Any] = self.classes_[np.argmax(shares @ self.coef_.T, axis=1)]
        return best

    def _sample(self, tokens: Tokens, labels: NDArray[np.int32]) -> Assignment:
        rng = np.random.default_rng(self.random_state)
        shape = (len(self.words_), self.n_topics)
        assignment = sample_lda(tokens, shape, self.n_initial, self.alpha, self.beta, rng)
        self.coef_: Floats = np.zeros((len(self.classes_), self.n_topics))
        for number in range(self.n_iter):
            if number % _SWEEPS_PER_FIT == 0:
                self.coef_ = fit_classes(
                    self._shares(tokens, assignment), labels, self.coef_, self.l2
                )
            slda_sweep(
                *tokens, labels, assignment.topics, assignment.word_topic, assignment.topic_total,
                self.coef_, self.alpha, self.beta, rng.random(len(tokens.words)),
            )  # fmt: skip
        self.coef_ = fit_classes(self._shares(tokens, assignment), labels, self.coef_, self.l2)
        return assignment

    def _shares(self, tokens: Tokens, assignment: Assignment) -> Floats:
        """Give the share of each topic among the tokens of each document: (D, K)."""
        by_topic = Tokens(assignment.topics, tokens.starts).counts(self.n_topics).toarray()
        return np.asarray(by_topic / np.maximum(tokens.lengths, 1)[:, None])


def fit_classes(shares: Floats, labels: Ints, start: Floats, l2: float) -> Floats:
    """Fit the softmax of classes given the topics of documents, by L-BFGS.

    Parameters
    ----------
    shares : ndarray of shape (D, K)
        Share of each topic among the tokens of each document.
    labels : ndarray of shape (D,)
        Numbers of the classes.
    start : ndarray of shape (C, K)
        Coefficients to start from.
    l2 : float
        Weight of half their squared norm.

    Returns
    -------
    ndarray of shape (C, K)

    Examples
    --------
    >>> found = fit_classes(np.eye(2), np.array([0, 1]), np.zeros((2, 2)), 0.1)
    >>> found.argmax(0).tolist()
    [0, 1]
    """
    truth = np.eye(len(start))[labels]  # (D, C)

    def objective(eta: Floats) -> tuple[float, Floats]:
        logs = log_softmax(shares @ eta.T, axis=1)
        value = -np.sum(truth * logs) + l2 / 2 * np.sum(eta * eta)
        gradient = (np.exp(logs) - truth).T @ shares + l2 * eta
        return value, gradient

    return descend(objective, start, _MAX_STEPS)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def _response(scores, effect, total):  # type: ignore[no-untyped-def]
    """Fill total_k = Σ_c scores_c effect_ck: the softmax's denominator if the topic were k."""
    total[:] = 0.0
    for c in range(scores.size):
        for k in range(total.size):
            total[k] += scores[c] * effect[c, k]


@njit(cache=True, nogil=True)
def slda_sweep(  # type: ignore[no-untyped-def]
    words, starts, labels, topics, word_topic, topic_total, eta, alpha, beta, uniforms
):
    """Draw the topic of each token anew, given words and the documents' classes.

    Parameters
    ----------
    words, starts : arrays
        The tokens, see `Tokens`.
    labels : array, (D,)
        Class of each document.
    topics : array, (n_tokens,)
        Topic of each token; changed.
    word_topic, topic_total : arrays, (W, K), (K,)
        Counts of tokens; changed.
    eta : array, (C, K)
        Coefficients of the classes.
    alpha, beta : float
        Dirichlet priors of documents and of words.
    uniforms : array, (n_tokens,)
        Random numbers in [0, 1).
    """
    n_classes, n_topics = eta.shape
    smoothing = beta * word_topic.shape[0]
    cumulative, in_document = np.empty(n_topics), np.empty(n_topics)
    total, effect = np.empty(n_topics), np.empty((n_classes, n_topics))
    scores = np.empty(n_classes)
    inverse = 1.0 / (topic_total + smoothing)
    for d in range(starts.size - 1):
        length = starts[d + 1] - starts[d]
        in_document[:] = 0.0
        for i in range(starts[d], starts[d + 1]):
            in_document[topics[i]] += 1
        for c in range(n_classes):
            scores[c] = 0.0
            for k in range(n_topics):
                step = eta[c, k] / max(length, 1)
                effect[c, k] = math.exp(step)
                scores[c] += step * in_document[k]
        scores = np.exp(scores - scores.max())
        mine = effect[labels[d]]
        for i in range(starts[d], starts[d + 1]):
            k, w = topics[i], words[i]
            in_document[k] -= 1
            word_topic[w, k] -= 1
            topic_total[k] -= 1
            inverse[k] = 1.0 / (topic_total[k] + smoothing)
            for c in range(n_classes):
                scores[c] /= effect[c, k]
            _response(scores, effect, total)
            weight = 0.0
            row = word_topic[w]
            for j in range(n_topics):
                counted = (row[j] + beta) * inverse[j]
                weight += (in_document[j] + alpha) * counted * mine[j] / total[j]
                cumulative[j] = weight
            k = draw(cumulative, uniforms[i])
            topics[i] = k
            in_document[k] += 1
            word_topic[w, k] += 1
            topic_total[k] += 1
            inverse[k] = 1.0 / (topic_total[k] + smoothing)
            for c in range(n_classes):
                scores[c] *= effect[c, k]


def slda_sweep_reference(
    words: Ints, starts: Ints, labels: Ints, topics: Ints, word_topic: Ints, topic_total: Ints,
    eta: Floats, alpha: float, beta: float, uniforms: Floats,
) -> None:  # fmt: skip
    """Do the same as `slda_sweep`, to be read."""
    n_words, n_topics = word_topic.shape
    for d, (begin, end) in enumerate(pairwise(starts)):
        in_document = np.bincount(topics[begin:end], minlength=n_topics)
        for i in range(begin, end):
            for change in (-1, 1):
                if change == 1:
                    counted = (word_topic[words[i]] + beta) / (topic_total + beta * n_words)
                    shares = (in_document + np.eye(n_topics)) / (end - begin)  # row k: topic k
                    response = log_softmax(shares @ eta.T, axis=1)[:, labels[d]]
                    cumulative = np.cumsum((in_document + alpha) * counted * np.exp(response))
                    goal = uniforms[i] * cumulative[-1]
                    topics[i] = np.searchsorted(cumulative, goal, side="right")
                in_document[topics[i]] += change
                word_topic[words[i], topics[i]] += change
                topic_total[topics[i]] += change

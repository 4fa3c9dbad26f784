"""Supervised LDA for classes, of Wang, Blei and Fei-Fei (2009), by stochastic EM.

Chong Wang, David Blei and Li Fei-Fei: Simultaneous Image Classification and Annotation. CVPR 2009;
after David Blei and Jon McAuliffe: Supervised Topic Models. NIPS 2007.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from topicvec.engine import one_blas_thread
from topicvec.errors import DataError
from topicvec.evaluate.baselines.lbfgs import descend
from topicvec.evaluate.baselines.sampling import Assignment, sample_lda, word_given_topic
from topicvec.evaluate.baselines.slda_kernels import slda_sweep
from topicvec.evaluate.baselines.tokens import Documents, Tokens, learn_words, number_tokens
from topicvec.evaluate.baselines.word_topics import ABOVE_ZERO, SampledTopics

__all__ = ["SLDA", "fit_classes"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

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
    def fit(self, documents: Documents, y: Sequence[Any] | None = None) -> Self:
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

    def predict(self, documents: Documents) -> NDArray[Any]:
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

"""Probabilistic latent semantic analysis, of Hofmann (1999), by tempered EM.

Thomas Hofmann: Probabilistic Latent Semantic Indexing. SIGIR 1999.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Self

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from topicvec.engine import one_blas_thread
from topicvec_bench.base import ABOVE_ZERO, Floats, Ints, TokenLists, TopicWordModel
from topicvec_bench.tokens import learn_words, number_tokens

__all__ = ["PLSA", "em_pass", "em_pass_reference"]

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums over topics may be taken in any order


class PLSA(TopicWordModel):
    """Topics whose mixture, in each document's own proportions, makes its words most likely.

    There is no prior: P(w|z) and P(z|d) are the parameters, and EM climbs the likelihood. As in
    the paper, the posterior P(z|d,w) can be flattened by a power β below 1 (tempered EM), which
    keeps documents from being learned by heart. New documents are folded in: their P(z|d) is
    found in the same way while P(w|z) stays.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    temper : float
        The power β; with 1 it is plain EM.
    n_iter : int
        Passes of EM over the training documents, at most.
    tol : float
        Stop when a pass adds less than this to the mean objective of a token, in nats.
    n_fold : int
        Passes of EM over a document that is described.
    random_state : int
        Seed.

    Attributes
    ----------
    words_, topic_word_
        Words, most frequent first, and their probability in each topic, (K, W).
    objectives_ : list of float
        Before each pass, the mean over tokens of log Σ_z (P(z|d) P(w|z))^β / β; it never falls.
        With β = 1 it is the log-likelihood.

    Notes
    -----
    The paper lowers β step by step as long as held-out words become more likely; here it is given:
    0.8 did best of 0.7 to 1 on held-out training documents of Reuters.
    Memory is D×K + W×K: the posterior of a word in a document is made, used and forgotten.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 5
    >>> model = PLSA(n_topics=2).fit(documents)
    >>> sorted(sorted(words) for words in model.topic_words(2))
    [['bus', 'car'], ['cat', 'dog']]
    >>> model.transform([["cat"], []]).max(axis=1).round(2)
    array([1. , 0.5])
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        temper: float = 0.8,
        n_iter: int = 200,
        tol: float = 1e-4,
        n_fold: int = 50,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.temper = temper
        self.n_iter = n_iter
        self.tol = tol
        self.n_fold = n_fold
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn topics from token lists.

        Parameters
        ----------
        documents : sequence of token lists
        y
            Not used.

        Returns
        -------
        PLSA
            This object.
        """
        self._check_params(temper=ABOVE_ZERO, n_iter=1, tol=0.0, n_fold=1)
        self.words_ = learn_words(documents)
        counts = number_tokens(documents, self._ids()).counts(len(self.words_))
        rng = np.random.default_rng(self.random_state)
        theta = np.full((counts.shape[0], self.n_topics), 1 / self.n_topics)
        phi = _shares(0.5 + rng.random((len(self.words_), self.n_topics)), axis=0)
        self.objectives_: list[float] = []
        for _ in range(self.n_iter):
            theta, phi, objective = _step(counts, theta, phi, self.temper)
            self.objectives_.append(objective)
            if len(self.objectives_) > 1 and objective - self.objectives_[-2] < self.tol:
                break
        self.topic_word_ = np.ascontiguousarray(phi.T)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Fold documents in: find their proportions while the topics stay.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1; even ones for documents without a known word.
        """
        check_is_fitted(self)
        counts = number_tokens(documents, self._ids()).counts(len(self.words_))
        sharp = np.ascontiguousarray(self.topic_word_.T) ** self.temper
        theta = np.full((counts.shape[0], self.n_topics), 1 / self.n_topics)
        for _ in range(self.n_fold):
            theta, _ = _pass(counts, theta**self.temper, sharp, np.empty((0, 0)))
        return theta


def _step(
    counts: csr_array, theta: Floats, phi: Floats, temper: float
) -> tuple[Floats, Floats, float]:
    """Give new proportions (D, K), new topics (W, K), and the mean objective before."""
    expected = np.zeros_like(phi)
    theta, total = _pass(counts, theta**temper, phi**temper, expected)
    return theta, _shares(expected, axis=0), total / temper / max(int(counts.sum()), 1)


def _pass(counts: csr_array, theta: Floats, phi: Floats, expected: Floats) -> tuple[Floats, float]:
    found = np.zeros_like(theta)
    total = em_pass(counts.indices, counts.data, counts.indptr, theta, phi, found, expected)
    return _shares(found, axis=1), float(total)


def _shares(weights: Floats, axis: int) -> Floats:
    """Make weights sum to 1 along an axis; even ones where there are none."""
    total = weights.sum(axis=axis, keepdims=True)
    even = 1 / weights.shape[axis]
    return np.asarray(np.where(total > 0, weights / np.where(total > 0, total, 1), even))


@njit(cache=True, nogil=True, fastmath=_FAST)
def em_pass(words, counts, starts, theta, phi, new_theta, new_phi):  # type: ignore[no-untyped-def]
    """Share the count of each word of each document among topics, and add the shares up.

    Parameters
    ----------
    words, counts, starts : arrays, (nnz,), (nnz,), (D + 1,)
        The table of counts, as in a CSR matrix.
    theta, phi : arrays, (D, K), (W, K)
        P(z|d) and P(w|z), both to the power β.
    new_theta, new_phi : arrays, (D, K), (W, K)
        Get the expected counts added; ``new_phi`` of shape (0, 0) gets none.

    Returns
    -------
    float
        Σ n log Σ_z theta phi over all words of all documents.
    """
    n_topics = phi.shape[1]
    posterior = np.empty(n_topics)
    objective = 0.0
    for d in range(starts.size - 1):
        for i in range(starts[d], starts[d + 1]):
            w = words[i]
            total = 0.0
            for k in range(n_topics):
                posterior[k] = theta[d, k] * phi[w, k]
                total += posterior[k]
            objective += counts[i] * np.log(total)
            scale = counts[i] / total
            for k in range(n_topics):
                posterior[k] *= scale
                new_theta[d, k] += posterior[k]
            if new_phi.size > 0:
                for k in range(n_topics):
                    new_phi[w, k] += posterior[k]
    return objective


def em_pass_reference(
    words: Ints, counts: Ints, starts: Ints, theta: Floats, phi: Floats,
    new_theta: Floats, new_phi: Floats,
) -> float:  # fmt: skip
    """Do the same as `em_pass`, to be read."""
    objective = 0.0
    for d, (begin, end) in enumerate(pairwise(starts)):
        here, n = words[begin:end], counts[begin:end]
        joint = theta[d] * phi[here]  # (words of the document, K)
        expected = n[:, None] * joint / joint.sum(1, keepdims=True)
        new_theta[d] += expected.sum(0)
        if new_phi.size:
            new_phi[here] += expected  # a document's words differ, so none is lost
        objective += float(n @ np.log(joint.sum(1)))
    return objective

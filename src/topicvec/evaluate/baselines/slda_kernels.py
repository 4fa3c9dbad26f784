"""Gibbs sampling for supervised LDA, compiled, beside its readable twin."""

import math
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import log_softmax

from topicvec.evaluate.baselines.gibbs import draw

__all__ = ["slda_sweep", "slda_sweep_reference"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]


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

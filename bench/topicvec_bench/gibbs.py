"""Gibbs sampling of the topic of each token, compiled, each kernel beside its readable twin.

Random numbers are drawn outside and passed in, so a kernel is a pure function of its arguments,
and kernel and twin can be held against each other
(tests/methods/test_gibbs.py).
"""

from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topicvec_bench.base import Floats, Ints

__all__ = [
    "document_sweep",
    "document_sweep_reference",
    "draw",
    "infer_counts",
    "infer_counts_reference",
    "mixture_sweep",
    "mixture_sweep_reference",
]

_LEAST = 1e-18  # of a probability: no word is impossible, and a product of _BLOCK does not vanish
_BLOCK = 16  # tokens whose probabilities are multiplied before a logarithm is taken


@njit(cache=True, nogil=True, inline="always")
def draw(cumulative, uniform):  # type: ignore[no-untyped-def]
    """Give the first place whose cumulative weight exceeds a share ``uniform`` of the total.

    Examples
    --------
    >>> draw(np.array([1.0, 1.0, 4.0]), 0.3)
    2
    """
    goal = uniform * cumulative[-1]
    low, high = 0, cumulative.size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > goal:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def mixture_sweep(  # type: ignore[no-untyped-def]
    words, starts, topics, latent, word_topic, topic_total, table, share, alpha, beta, uniforms
):
    """Draw the topic of each token anew, from a mixture of two components a topic.

    With ``share`` = 0 this is a sweep of plain LDA; otherwise of LF-LDA (Nguyen et al. 2015,
    eq. 5 and 6), where each token also has a component: the counted one or the fixed one.

    Parameters
    ----------
    words, starts : arrays
        The tokens, see `Tokens`.
    topics, latent : arrays, (n_tokens,)
        Topic of each token, and whether the fixed component made it; changed.
    word_topic, topic_total : arrays, (W, K), (K,)
        Counts of the tokens of the counted component; changed.
    table : array, (W, K)
        Probability of each word in the fixed component of each topic; (0, 0) if ``share`` is 0.
    share : float
        Weight of the fixed component, λ.
    alpha, beta : float
        Dirichlet priors of documents and of words.
    uniforms : array, (n_tokens,)
        Random numbers in [0, 1).
    """
    n_topics = topic_total.size
    n_places = 2 * n_topics if share > 0 else n_topics
    smoothing = beta * word_topic.shape[0]
    cumulative = np.empty(n_places)
    in_document = np.empty(n_topics)
    inverse = 1.0 / (topic_total + smoothing)
    for d in range(starts.size - 1):
        in_document[:] = 0.0
        for i in range(starts[d], starts[d + 1]):
            in_document[topics[i]] += 1
        for i in range(starts[d], starts[d + 1]):
            k, w = topics[i], words[i]
            in_document[k] -= 1
            if not latent[i]:
                word_topic[w, k] -= 1
                topic_total[k] -= 1
                inverse[k] = 1.0 / (topic_total[k] + smoothing)
            total = 0.0
            row = word_topic[w]
            for j in range(n_topics):
                total += (in_document[j] + alpha) * (row[j] + beta) * inverse[j] * (1 - share)
                cumulative[j] = total
            if share > 0:
                for j in range(n_topics):
                    total += (in_document[j] + alpha) * table[w, j] * share
                    cumulative[n_topics + j] = total
            place = draw(cumulative, uniforms[i])
            k = place % n_topics
            topics[i], latent[i] = k, place >= n_topics
            in_document[k] += 1
            if not latent[i]:
                word_topic[w, k] += 1
                topic_total[k] += 1
                inverse[k] = 1.0 / (topic_total[k] + smoothing)


@njit(cache=True, nogil=True)
def document_sweep(  # type: ignore[no-untyped-def]
    words, starts, earlier, clusters, cluster_total, latent, word_topic, topic_total,
    table, share, alpha, beta, uniforms, token_uniforms,
):  # fmt: skip
    """Draw the one topic of each document anew, then the component of each of its tokens.

    With ``share`` = 0 this is a sweep of the Dirichlet multinomial mixture (Yin and Wang 2014);
    otherwise of LF-DMM (Nguyen et al. 2015), which leaves out, as that paper does, that tokens of
    one document raise each other's probability.

    Parameters
    ----------
    words, starts : arrays
        The tokens, see `Tokens`.
    earlier : array, (n_tokens,)
        How many tokens before it in its document are the same word.
    clusters, cluster_total : arrays, (D,), (K,)
        Topic of each document, and how many documents each topic has; changed.
    latent : array, (n_tokens,)
        Whether the fixed component made the token; changed.
    word_topic, topic_total : arrays, (W, K), (K,)
        Counts of the tokens of the counted component; changed.
    table : array, (W, K)
        Probability of each word in the fixed component of each topic; (0, 0) if ``share`` is 0.
    share : float
        Weight of the fixed component, λ.
    alpha, beta : float
        Dirichlet priors of topics and of words.
    uniforms, token_uniforms : arrays, (D,), (n_tokens,)
        Random numbers in [0, 1).
    """
    n_topics = topic_total.size
    smoothing = beta * word_topic.shape[0]
    score, product, inverse = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    for d in range(starts.size - 1):
        begin, end = starts[d], starts[d + 1]
        k = clusters[d]
        cluster_total[k] -= 1
        for i in range(begin, end):
            if not latent[i]:
                word_topic[words[i], k] -= 1
                topic_total[k] -= 1
        score[:] = np.log(cluster_total + alpha)
        product[:] = 1.0
        inverse[:] = 1.0 / (topic_total + smoothing)
        for i in range(begin, end):
            row = word_topic[words[i]]
            if share > 0:
                fixed = table[words[i]]
                for j in range(n_topics):
                    counted = (row[j] + beta) * inverse[j]
                    product[j] *= max((1 - share) * counted + share * fixed[j], _LEAST)
            else:
                for j in range(n_topics):
                    total = topic_total[j] + smoothing + (i - begin)
                    product[j] *= (row[j] + earlier[i] + beta) / total
            if (i - begin) % _BLOCK == _BLOCK - 1 or i == end - 1:
                for j in range(n_topics):
                    score[j] += np.log(product[j])
                    product[j] = 1.0
        k = draw(np.cumsum(np.exp(score - score.max())), uniforms[d])
        clusters[d] = k
        cluster_total[k] += 1
        for i in range(begin, end):
            w = words[i]
            if share > 0:
                other, own = share * table[w, k], (1 - share) * (word_topic[w, k] + beta)
                latent[i] = token_uniforms[i] * (other + own * inverse[k]) < other
        for i in range(begin, end):
            if not latent[i]:
                word_topic[words[i], k] += 1
                topic_total[k] += 1


@njit(cache=True, nogil=True)
def infer_counts(words, starts, table, alpha, uniforms, n_burn):  # type: ignore[no-untyped-def]
    """Sample the topics of new documents under fixed topics.

    Every document uses the same random numbers, so what comes out for it does not depend on the
    documents beside it.

    Parameters
    ----------
    words, starts : arrays
        The tokens, see `Tokens`.
    table : array, (W, K)
        Probability of each word in each topic; each row up to a factor.
    alpha : float
        Dirichlet prior of documents.
    uniforms : array, (at least the longest document, 1 + n_sweeps)
        Random numbers in [0, 1); the first column is for the start.
    n_burn : int
        How many sweeps to leave out before averaging.

    Returns
    -------
    array, (D, K)
        Tokens of each topic in each document, averaged over the sweeps kept.
    """
    n_topics, n_sweeps = table.shape[1], uniforms.shape[1] - 1
    found = np.zeros((starts.size - 1, n_topics))
    cumulative = np.empty(n_topics)
    in_document = np.empty(n_topics)
    topics = np.empty(uniforms.shape[0], np.int32)
    for d in range(starts.size - 1):
        length = starts[d + 1] - starts[d]
        in_document[:] = 0.0
        for sweep in range(1 + n_sweeps):
            for i in range(length):
                if sweep > 0:
                    in_document[topics[i]] -= 1
                row = table[words[starts[d] + i]]
                total = 0.0
                for j in range(n_topics):
                    total += (in_document[j] + alpha) * row[j]
                    cumulative[j] = total
                topics[i] = draw(cumulative, uniforms[i, sweep])
                in_document[topics[i]] += 1
            if sweep > n_burn:
                found[d] += in_document
    return found / (n_sweeps - n_burn)


def mixture_sweep_reference(
    words: Ints, starts: Ints, topics: Ints, latent: NDArray[np.bool_], word_topic: Ints,
    topic_total: Ints, table: Floats, share: float, alpha: float, beta: float, uniforms: Floats,
) -> None:  # fmt: skip
    """Do the same as `mixture_sweep`, to be read."""
    n_words, n_topics = word_topic.shape
    for begin, end in pairwise(starts):
        in_document = np.bincount(topics[begin:end], minlength=n_topics)
        for i in range(begin, end):
            k, w = topics[i], words[i]
            in_document[k] -= 1
            word_topic[w, k] -= not latent[i]
            topic_total[k] -= not latent[i]
            counted = (word_topic[w] + beta) / (topic_total + beta * n_words)
            fixed = share * table[w] if share else np.zeros(n_topics)
            weight = (in_document + alpha) * np.array([(1 - share) * counted, fixed])
            place = np.searchsorted(np.cumsum(weight), uniforms[i] * weight.sum(), side="right")
            latent[i], topics[i] = divmod(place, n_topics)
            k = topics[i]
            in_document[k] += 1
            word_topic[w, k] += not latent[i]
            topic_total[k] += not latent[i]


def document_sweep_reference(
    words: Ints, starts: Ints, earlier: Ints, clusters: Ints, cluster_total: Ints,
    latent: NDArray[np.bool_], word_topic: Ints, topic_total: Ints, table: Floats, share: float,
    alpha: float, beta: float, uniforms: Floats, token_uniforms: Floats,
) -> None:  # fmt: skip
    """Do the same as `document_sweep`, to be read."""
    smoothing = beta * len(word_topic)
    for d, (begin, end) in enumerate(pairwise(starts)):
        here, own = words[begin:end], ~latent[begin:end]
        cluster_total[clusters[d]] -= 1
        np.subtract.at(word_topic[:, clusters[d]], here[own], 1)
        topic_total[clusters[d]] -= own.sum()
        counted = (word_topic[here] + beta) / (topic_total + smoothing)  # (n_tokens, K)
        if share:
            chance = np.maximum((1 - share) * counted + share * table[here], _LEAST)
        else:
            order = np.arange(end - begin)[:, None]
            raised = word_topic[here] + earlier[begin:end, None] + beta
            chance = raised / (topic_total + smoothing + order)
        score = np.log(cluster_total + alpha) + np.log(chance).sum(0)
        cumulative = np.cumsum(np.exp(score - score.max()))
        k = int(np.searchsorted(cumulative, uniforms[d] * cumulative[-1], side="right"))
        if share:
            other = share * table[here, k]
            total = other + (1 - share) * counted[:, k]
            latent[begin:end] = token_uniforms[begin:end] * total < other
        own = ~latent[begin:end]
        clusters[d] = k
        cluster_total[k] += 1
        np.add.at(word_topic[:, k], here[own], 1)
        topic_total[k] += own.sum()


def infer_counts_reference(
    words: Ints, starts: Ints, table: Floats, alpha: float, uniforms: Floats, n_burn: int
) -> Floats:
    """Do the same as `infer_counts`, to be read."""
    n_topics, n_sweeps = table.shape[1], uniforms.shape[1] - 1
    found = np.zeros((len(starts) - 1, n_topics))
    for d, (begin, end) in enumerate(pairwise(starts)):
        here = words[begin:end]
        topics = np.zeros((len(here), n_topics))  # one-hot rows; zeros: not drawn yet
        for sweep in range(1 + n_sweeps):
            for i, w in enumerate(here):
                topics[i] = 0
                cumulative = np.cumsum((topics.sum(0) + alpha) * table[w])
                goal = uniforms[i, sweep] * cumulative[-1]
                topics[i, np.searchsorted(cumulative, goal, side="right")] = 1
            if sweep > n_burn:
                found[d] += topics.sum(0)
    return np.asarray(found / (n_sweeps - n_burn))

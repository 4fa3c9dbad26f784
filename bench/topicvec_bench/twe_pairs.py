"""TWE-2 and TWE-3: topical word embeddings of pairs of a word and its topic (Liu et al. 2015).

Yang Liu, Zhiyuan Liu, Tat-Seng Chua and Maosong Sun: Topical Word Embeddings. AAAI 2015. Both
see a document as a row of pairs, and each pair foretells the pairs around it by skip-gram; they
differ in the vector that a pair has.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_whole
from topicvec.engine import one_blas_thread
from topicvec_bench.base import Floats, Ints, TokenLists
from topicvec_bench.sampling import Assignment
from topicvec_bench.tokens import Tokens, number_tokens
from topicvec_bench.twe import NEGATIVES, NOISE_POWER, TWE

__all__ = [
    "TWE2",
    "TWE3",
    "Pairs",
    "number_pairs",
    "pair_skip_gram",
    "pair_skip_gram_reference",
    "tune",
]

_RATES = (0.025, 0.0001)  # of the first and of the last step, as in word2vec
_N_NOISE = 1 << 20  # noise pairs drawn for a pass, which takes them round and round


class PairTWE(TWE):
    """What TWE-2 and TWE-3 share: parameters, and the start from TWE-1's skip-gram.

    Parameters
    ----------
    n_topics, n_dims, window, n_epochs, min_count, alpha, beta, n_iter, random_state
        As in `TWE`; ``n_epochs`` are the passes over words that the start comes from.
    n_tuning : int
        Passes over pairs.
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        n_dims: int = 400,
        window: int = 5,
        n_epochs: int = 5,
        n_tuning: int = 5,
        min_count: int = 5,
        alpha: float = 0.1,
        beta: float = 0.01,
        n_iter: int = 100,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            n_topics, n_dims=n_dims, window=window, n_epochs=n_epochs, min_count=min_count,
            alpha=alpha, beta=beta, n_iter=n_iter, random_state=random_state,
        )  # fmt: skip
        self.n_tuning = n_tuning

    def _check_params(self, **least: float) -> None:
        super()._check_params(**least)
        check_whole("n_tuning", self.n_tuning, 0)


class TWE2(PairTWE):
    """TWE-2: a vector for each pair of a word and a topic, averaged over a document.

    LDA gives each token a topic, and each pair of a word and a topic is a word of its own for
    skip-gram. Pairs start from the vectors of their words.

    Parameters
    ----------
    n_topics, n_dims, window, n_epochs, n_tuning, min_count, alpha, beta, n_iter, random_state
        As in `TWE`; ``n_epochs`` are the passes of skip-gram over words that the start comes
        from, ``n_tuning`` those over pairs.

    Attributes
    ----------
    words_, topic_word_, word_vectors_
        As in `TWE`; the word vectors are those that pairs start from.
    pair_vectors_ : ndarray of shape (n_pairs, n_dims)
        Vectors of the pairs of the training documents.
    pair_rows_ : ndarray of shape (n_words, n_topics)
        Where the vector of a pair is when `pair_vectors_` stand below `word_vectors_`; a pair
        that the training documents do not have keeps its word's.

    Notes
    -----
    In a document that is described, all tokens of a word have their most probable topic there,
    where the paper has the sampled one.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> model = TWE2(n_topics=2, n_dims=5, min_count=1, n_iter=20).fit(documents)
    >>> model.transform([["cat"], ["yak"]]).shape
    (2, 5)
    """

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Average the pair vectors over the tokens of documents.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_dims)
            Zeros for a document without a known word.
        """
        check_is_fitted(self)
        counts = number_tokens(documents, self._ids()).counts(len(self.words_))
        weights = self._topic_counts(documents) + self.alpha  # (D, K)
        rows = np.empty(counts.nnz, np.int64)
        for d, (begin, end) in enumerate(pairwise(counts.indptr)):
            words = counts.indices[begin:end]
            best = np.argmax(weights[d] * self.topic_word_[:, words].T, axis=1)
            rows[begin:end] = self.pair_rows_[words, best]
        vectors = np.vstack([self.word_vectors_, self.pair_vectors_])
        shape = (counts.shape[0], len(vectors))
        sums = csr_array((counts.data, rows, counts.indptr), shape=shape) @ vectors
        return np.asarray(sums / np.maximum(counts.sum(1), 1)[:, None])

    def _learn_vectors(
        self, tokens: Tokens, assignment: Assignment, rng: np.random.Generator
    ) -> None:
        self.word_vectors_, outputs = self._skip_gram(tokens)
        pairs = number_pairs(tokens, assignment.topics, self.n_topics)
        parts = np.arange(len(pairs.words), dtype=np.int32)[:, None]
        start = (self.word_vectors_[pairs.words], outputs[pairs.words])
        self.pair_vectors_ = tune(pairs, parts, *start, self.window, self.n_tuning, rng)
        n_words = len(self.words_)
        self.pair_rows_ = np.repeat(np.arange(n_words)[:, None], self.n_topics, axis=1)
        self.pair_rows_[pairs.words, pairs.topics] = n_words + parts[:, 0]


class TWE3(PairTWE):
    """TWE-3: word vector and topic vector side by side, learned together, averaged over a document.

    A pair's vector is that of its word with that of its topic behind it, as in TWE-1, but both
    are learned as one by skip-gram over pairs; all pairs of a word share its vector, and all
    pairs of a topic the topic's. Words start from skip-gram, topics from TWE-1.

    Parameters
    ----------
    n_topics, n_dims, window, n_epochs, n_tuning, min_count, alpha, beta, n_iter, random_state
        As in `TWE`; ``n_epochs`` are the passes of skip-gram over words that the start comes
        from, ``n_tuning`` those over pairs.

    Attributes
    ----------
    words_, topic_word_, word_vectors_, topic_vectors_
        As in `TWE`.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> model = TWE3(n_topics=2, n_dims=5, min_count=1, n_iter=20).fit(documents)
    >>> model.transform([["cat"], ["yak"]]).shape
    (2, 10)
    """

    def _learn_vectors(
        self, tokens: Tokens, assignment: Assignment, rng: np.random.Generator
    ) -> None:
        self.word_vectors_, outputs = self._skip_gram(tokens)
        topics = self._fit_topics(tokens, assignment, outputs)
        pairs = number_pairs(tokens, assignment.topics, self.n_topics)
        n_words = len(self.words_)
        parts = np.stack([pairs.words, n_words + pairs.topics], axis=1).astype(np.int32)
        # Words alone foretell at the start: topics' output vectors are zero, as word2vec's are.
        start = (np.vstack([self.word_vectors_, topics]), np.vstack([outputs, 0 * topics]))
        found = tune(pairs, parts, *start, self.window, self.n_tuning, rng)
        self.word_vectors_, self.topic_vectors_ = found[:n_words], found[n_words:]


class Pairs(NamedTuple):
    """Documents as numbered pairs of a word and a topic, one document after the other.

    Attributes
    ----------
    tokens : ndarray of shape (n_tokens,), int32
        The number of each token's pair.
    starts : ndarray of shape (n_documents + 1,), int64
        Where each document starts, and the end.
    words, topics, counts : ndarray of shape (n_pairs,)
        What each pair is, and how often it occurs.

    Examples
    --------
    >>> tokens = Tokens(np.array([0, 1, 1, 1], np.int32), np.array([0, 4]))
    >>> pairs = number_pairs(tokens, np.array([2, 0, 2, 0]), 3)
    >>> pairs.tokens.tolist(), pairs.words.tolist(), pairs.topics.tolist(), pairs.counts.tolist()
    ([0, 1, 2, 1], [0, 1, 1], [2, 0, 2], [1, 2, 1])
    """

    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    words: NDArray[np.int64]
    topics: NDArray[np.int64]
    counts: NDArray[np.int64]


def number_pairs(tokens: Tokens, topics: Ints, n_topics: int) -> Pairs:
    """Number the pairs of a word and a topic that occur, given the topics (n_tokens,) of tokens.

    Examples
    --------
    >>> tokens = Tokens(np.array([5, 5], np.int32), np.array([0, 2]))
    >>> number_pairs(tokens, np.array([1, 1]), 2).counts.tolist()
    [2]
    """
    flat = tokens.words.astype(np.int64) * n_topics + topics
    found, numbers, counts = np.unique(flat, return_inverse=True, return_counts=True)
    return Pairs(numbers.astype(np.int32), tokens.starts, *np.divmod(found, n_topics), counts)


def tune(
    pairs: Pairs,
    parts: Ints,
    inputs: Floats,
    outputs: Floats,
    window: int,
    n_passes: int,
    rng: np.random.Generator,
) -> Floats:
    """Learn the vectors of pairs by skip-gram with noise, see `pair_skip_gram`.

    Parameters
    ----------
    pairs : Pairs
    parts : ndarray of shape (n_pairs, n_parts)
        Rows whose vectors, one behind the other, are a pair's vector.
    inputs, outputs : ndarray of shape (n_rows, N)
        Vectors to start from; they are copied.
    window, n_passes : int
    rng : Generator

    Returns
    -------
    ndarray of shape (n_rows, N), float32

    Examples
    --------
    >>> pairs = number_pairs(Tokens(np.array([0, 1], np.int32), np.array([0, 2])), np.zeros(2, int), 1)
    >>> rows, start = np.array([[0], [1]]), np.eye(2)
    >>> tune(pairs, rows, start, start, 1, 1, np.random.default_rng(0)).shape
    (2, 2)
    """  # noqa: E501
    inputs, outputs = inputs.astype(np.float32), outputs.astype(np.float32)
    cumulative = np.cumsum(pairs.counts**NOISE_POWER)
    rates = np.linspace(*_RATES, n_passes + 1).astype(np.float32)
    for first, last in pairwise(rates):
        widths = rng.integers(1, window + 1, size=len(pairs.tokens), dtype=np.int32)
        noise = np.searchsorted(cumulative, rng.random(_N_NOISE) * cumulative[-1], side="right")
        pair_skip_gram(
            pairs.tokens, pairs.starts, parts.astype(np.int32), inputs, outputs, widths,
            noise.astype(np.int32), NEGATIVES, first, last,
        )  # fmt: skip
    return inputs


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def pair_skip_gram(  # type: ignore[no-untyped-def]
    pairs, starts, parts, inputs, outputs, widths, noise, n_noise, first, last
):
    """Go once over documents with skip-gram's stochastic gradients, where pairs are the words.

    Parameters
    ----------
    pairs, starts, parts : arrays, (n_tokens,), (D + 1,), (n_pairs, n_parts)
        The documents, and the rows that each pair's vector is made of.
    inputs, outputs : arrays, (n_rows, N), float32
        Changed.
    widths : array, (n_tokens,)
        How many tokens to each side are context.
    noise : array
        Pairs drawn by chance, taken one after the other, and from the start at the end.
    n_noise : int
        How many to take for each token of the context.
    first, last : float32
        Rates at the first and at the last token.
    """
    n_parts, n_dims = parts.shape[1], inputs.shape[1]
    change = np.empty((n_parts, n_dims), np.float32)
    at = 0
    for d in range(starts.size - 1):
        for i in range(starts[d], starts[d + 1]):
            rate = first + (last - first) * np.float32(i / pairs.size)
            own = parts[pairs[i]]
            for j in range(max(starts[d], i - widths[i]), min(starts[d + 1], i + widths[i] + 1)):
                if j == i:
                    continue
                change[:] = 0
                for draw in range(n_noise + 1):
                    target = pairs[j]
                    if draw > 0:
                        target = noise[at]
                        at = (at + 1) % noise.size
                        if target == pairs[j]:
                            continue
                    score = np.float32(0)
                    for p in range(n_parts):
                        one, other = inputs[own[p]], outputs[parts[target, p]]
                        for n in range(n_dims):
                            score += one[n] * other[n]
                    hit = np.float32(1 / (1 + np.exp(-score)))
                    step = np.float32(rate * (np.float32(draw == 0) - hit))
                    for p in range(n_parts):
                        one, other = inputs[own[p]], outputs[parts[target, p]]
                        for n in range(n_dims):
                            change[p, n] += step * other[n]
                            other[n] += step * one[n]
                for p in range(n_parts):
                    one = inputs[own[p]]
                    for n in range(n_dims):
                        one[n] += change[p, n]


def pair_skip_gram_reference(
    pairs: Ints, starts: Ints, parts: Ints, inputs: Floats, outputs: Floats, widths: Ints,
    noise: Ints, n_noise: int, first: float, last: float,
) -> None:  # fmt: skip
    """Do the same as `pair_skip_gram`, to be read."""
    drawn = iter(np.resize(noise, 2 * len(pairs) * widths.max() * n_noise))
    for begin, end in pairwise(starts):
        for i in range(begin, end):
            rate = first + (last - first) * i / len(pairs)
            own = parts[pairs[i]]
            for j in range(max(begin, i - widths[i]), min(end, i + widths[i] + 1)):
                if j == i:
                    continue
                change = np.zeros_like(inputs[own])  # (n_parts, N)
                for draw in range(n_noise + 1):
                    target = next(drawn) if draw else pairs[j]
                    if draw and target == pairs[j]:
                        continue
                    other = parts[target]
                    step = rate * ((draw == 0) - expit(np.sum(inputs[own] * outputs[other])))
                    change += step * outputs[other]
                    outputs[other] += step * inputs[own]
                inputs[own] += change

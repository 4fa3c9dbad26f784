"""How much topics, meaning and words count in a search: chosen by the documents themselves.

A document is cut in two: every other one of its different words. What is found for one half should
have the words of the other half, which the search has not seen. The document itself is left out,
since the very words would always find it. No class or label is needed, and what is best by this
measure is near the best for finding documents of the same class; judges by topics or by meaning
agree with themselves too well where documents are few (``docs/explanation/retrieval.md``).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["Blend", "choose_blend", "halves"]

Floats = NDArray[np.float32]

_TENTHS = 10
_N_FOUND = 10  # documents: a page of hits


class Blend(NamedTuple):
    """How much each part counts in a score; the parts are scaled to sum to 1.

    Attributes
    ----------
    topics : float
        Affinity of the topic mixtures, where topics that are alike count as alike, see
        `topicvec.represent.mixture_points`.
    meaning : float
        Cosine of the weighted mean word vectors.
    words : float
        Match of the very words, by BM25.

    Examples
    --------
    >>> Blend(topics=1, meaning=0, words=1)
    Blend(topics=1, meaning=0, words=1)
    """

    topics: float = 1 / 3
    meaning: float = 1 / 3
    words: float = 1 / 3


# No part is ever left out: only the very words find a name that no topic and no vector knows.
_BLENDS = np.array(
    [
        (topics, meaning, _TENTHS - topics - meaning)
        for topics in range(1, _TENTHS)
        for meaning in range(1, _TENTHS - topics)
    ],
    np.float32,
) / np.float32(_TENTHS)


def halves(counts: csr_array) -> tuple[csr_array, csr_array]:
    """Cut documents (D, V) in two: every other one of their different words.

    Examples
    --------
    >>> [half.toarray().tolist() for half in halves(csr_array([[2, 0, 1, 3]]))]
    [[[2, 0, 0, 3]], [[0, 0, 1, 0]]]
    """
    counts = csr_array(counts)
    place = np.arange(counts.nnz) - np.repeat(counts.indptr[:-1], np.diff(counts.indptr))
    first, second = (_kept(counts, place % 2 == side) for side in (0, 1))
    return first, second


def choose_blend(first: Floats, second: Floats, own: NDArray[np.integer]) -> Blend:
    """Find the blend whose hits for one half of a document have most of the other half's words.

    Parameters
    ----------
    first, second : arrays, (3, Q, S), float32
        How well each of S documents fits the first and the second halves of Q of them: by
        topics, by meaning and by words.
    own : array, (Q,)
        Where the halves come from, among the S documents.

    Returns
    -------
    Blend
        The mean of all blends, in tenths, that are not worse than the best by more than the
        standard error of the difference: the fewer documents, the more even.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.random((2, 3, 20, 50), np.float32)
    >>> second[2] = first[1]  # what the second part finds has the words
    >>> first[2] = second[1]
    >>> choose_blend(first, second, np.arange(20)).meaning > 0.6
    True
    """
    n_found = min(_N_FOUND, first.shape[2] - 1)
    if n_found < 1 or not len(own):
        return Blend()
    gains = _gains(first, second[2], own, n_found) + _gains(second, first[2], own, n_found)
    behind = gains[gains.mean(axis=1).argmax()] - gains
    within = behind.mean(axis=1) <= behind.std(axis=1) / np.sqrt(len(own))
    return Blend(*(round(float(part), 3) for part in _BLENDS[within].mean(axis=0)))


def _gains(asked: Floats, words: Floats, own: NDArray[np.integer], n_found: int) -> Floats:
    """Say for each blend and query how many of the other half's words its hits have."""
    gains = []
    for blend in _BLENDS:
        scores = np.tensordot(blend, asked, 1)
        scores[np.arange(len(own)), own] = -np.inf
        found = np.argpartition(-scores, n_found - 1, axis=1)[:, :n_found]
        gains.append(np.take_along_axis(words, found, axis=1).mean(axis=1))
    return np.array(gains)


def _kept(counts: csr_array, kept: NDArray[np.bool_]) -> csr_array:
    half = csr_array((counts.data * kept, counts.indices, counts.indptr), counts.shape, copy=True)
    half.eliminate_zeros()
    return half

"""Which documents have the very words of a query: an index of words with BM25 weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

__all__ = ["WordIndex", "how_telling"]

_SATURATION, _LENGTH = 1.2, 0.75  # k1 and b of BM25, as usual
_MOST_TERMS = 64  # of a query; of a longer one the most telling


def how_telling(frequency: ArrayLike, n_documents: int) -> NDArray[np.float32]:
    """Give the inverse document frequency of words that so many of the documents have.

    Examples
    --------
    >>> how_telling([0, 1, 3], 3).round(2)
    array([2.08, 0.98, 0.13], dtype=float32)
    """
    seen = np.asarray(frequency, float)
    return np.log1p((n_documents - seen + 0.5) / (seen + 0.5)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class WordIndex:
    """For each word the documents that have it, and how much it says about each.

    Parameters
    ----------
    words : tuple of str
        V distinct words.
    telling : array, (V,), float32
        How much a word tells: its inverse document frequency.
    table : csr_array, (V, D), float32
        BM25 weight of each word in each document, between 0 and ``telling``.

    Examples
    --------
    >>> index = WordIndex.of(["cat", "dog"], csr_array([[2, 0], [1, 1]]))
    >>> index.scores({"dog": 1}).round(2)
    array([0.  , 0.45], dtype=float32)
    """

    words: tuple[str, ...]
    telling: NDArray[np.float32]
    table: csr_array

    @classmethod
    def of(cls, words: Sequence[str], counts: csr_array) -> "WordIndex":
        """Make an index of counts (D, V)."""
        counts = csr_array(counts).astype(np.float32)
        n_documents = counts.shape[0]
        telling = how_telling(np.bincount(counts.indices, minlength=len(words)), n_documents)
        lengths = np.asarray(counts.sum(axis=1), float)
        relative = lengths / max(lengths.mean(), 1e-300)
        damping = _SATURATION * (1 - _LENGTH + _LENGTH * relative)
        at = np.repeat(damping, np.diff(counts.indptr))
        data = (telling[counts.indices] * counts.data / (counts.data + at)).astype(np.float32)
        table = csr_array((data, counts.indices, counts.indptr), counts.shape)
        return cls(tuple(words), telling, csr_array(table.T))

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """Each word's row."""
        return {word: row for row, word in enumerate(self.words)}

    def scores(self, counts: Mapping[str, int]) -> NDArray[np.float32]:
        """Say how well each document matches the words of a query.

        Parameters
        ----------
        counts : mapping of str to int
            The words of the query and how often it has each.

        Returns
        -------
        array, (D,), float32
            Between 0, no word of it, and 1, all words very often.
        """
        total = np.zeros(self.table.shape[1], np.float32)
        terms = sorted((self.ids[word], n) for word, n in counts.items() if word in self.ids)
        terms = sorted(terms, key=lambda term: -float(self.telling[term[0]]))[:_MOST_TERMS]
        for row, n in terms:
            postings = slice(self.table.indptr[row], self.table.indptr[row + 1])
            total[self.table.indices[postings]] += n * self.table.data[postings]
        most = sum(float(self.telling[row]) * n for row, n in terms)
        return total / np.float32(most) if most else total

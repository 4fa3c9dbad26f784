"""TokenLists as numbered words in one long row, which is what the samplers walk over."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.text.vocabulary import Vocabulary
from topicvec_bench.base import TokenLists, checked

__all__ = ["Tokens", "learn_words", "number_tokens"]


class Tokens(NamedTuple):
    """The known words of some documents, one document after the other.

    Attributes
    ----------
    words : ndarray of shape (n_tokens,), int32
        The number of each word.
    starts : ndarray of shape (n_documents + 1,), int64
        Where each document starts, and the end.

    Examples
    --------
    >>> tokens = number_tokens([["cat", "yak"], [], ["dog", "cat"]], {"cat": 0, "dog": 1})
    >>> tokens.words.tolist(), tokens.lengths.tolist()
    ([0, 1, 0], [1, 0, 2])
    >>> tokens.counts(2).toarray().tolist()
    [[1, 0], [0, 0], [1, 1]]
    """

    words: NDArray[np.int32]
    starts: NDArray[np.int64]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of known words of each document, (n_documents,)."""
        return np.diff(self.starts)

    def counts(self, n_words: int) -> csr_array:
        """Count the words of each document: (n_documents, n_words)."""
        parts = (np.ones(len(self.words), np.int64), self.words, self.starts)
        table = csr_array(parts, shape=(self.n_documents, n_words), copy=True)
        table.sum_duplicates()  # in place, hence the copy
        return table


def learn_words(
    documents: TokenLists, min_count: int = 1, vectors: WordVectors | None = None
) -> tuple[str, ...]:
    """Give the words of the training documents, the most frequent first.

    Parameters
    ----------
    documents : sequence of token lists
    min_count : int
        Leave out words that occur less often.
    vectors : WordVectors, optional
        Leave out words without a vector.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> learn_words([["cat", "dog"], ["dog", "cow", "dog", "cow"]], min_count=2)
    ('dog', 'cow')
    """
    words = Vocabulary.from_documents(checked(documents), min_count=min_count).words
    if vectors is None:
        return words
    return vectors.align(words).vectors.words


def number_tokens(documents: TokenLists, ids: Mapping[str, int]) -> Tokens:
    """Number the words of documents, and leave out unknown ones.

    Parameters
    ----------
    documents : sequence of token lists
    ids : mapping of str to int
        The number of each known word.

    Returns
    -------
    Tokens

    Examples
    --------
    >>> number_tokens([["cat", "yak", "cat"]], {"cat": 7}).words
    array([7, 7], dtype=int32)
    """
    rows = [[ids[word] for word in document if word in ids] for document in checked(documents)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    flat = [number for row in rows for number in row]
    return Tokens(np.array(flat, np.int32), starts.astype(np.int64))

"""Count words a chunk at a time: the step that vocabulary and bag of words share."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from topicvec.errors import DataError
from topicvec.text.document import Document

__all__ = ["ChunkCounts", "Tally", "chunked", "count_tokens", "growing_ids", "tally"]

Item = TypeVar("Item", bound=Sized | Document)
Integers = npt.NDArray[np.int64]

_CHUNK_DOCUMENTS = 2_000
_CHUNK_SIZE = 2_000_000  # characters or tokens, so that long documents make short chunks


class ChunkCounts(NamedTuple):
    """Word counts of a few documents in words of their own.

    Attributes
    ----------
    words : list of str
        The distinct words, in order of appearance.
    counts : csr_array of shape (n_documents, n_words), int32
        How often each document has each word; indices sorted.
    ids : list of str, optional
        Names of the documents, where they have any.

    Examples
    --------
    >>> ChunkCounts(["cat"], csr_array([[2]])).ids is None
    True
    """

    words: list[str]
    counts: csr_array
    ids: list[str] | None = None


class Tally(NamedTuple):
    """Totals over a corpus, before any word is dropped.

    Attributes
    ----------
    words : list of str
        The distinct words, in order of appearance.
    counts : ndarray of shape (n_words,), int64
        How often each occurs.
    document_frequencies : ndarray of shape (n_words,), int64
        In how many documents each occurs.
    n_documents : int
        Number of documents.

    Examples
    --------
    >>> tally([count_tokens([["cat", "cat"], ["dog"]])]).counts
    array([2, 1])
    """

    words: list[str]
    counts: Integers
    document_frequencies: Integers
    n_documents: int


def chunked(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Cut a stream of texts, documents or token lists into chunks of bounded size.

    Parameters
    ----------
    items : iterable
        Not a single text.

    Yields
    ------
    list
        Some items in order; the cuts depend on the items only.

    Examples
    --------
    >>> [len(chunk) for chunk in chunked(["a"] * 3000)]
    [2000, 1000]
    """
    if isinstance(items, str):
        raise DataError("expected an iterable of documents; found one str; put it in a list")
    chunk: list[Item] = []
    size = 0
    for item in items:
        chunk.append(item)
        size += len(item.text) if isinstance(item, Document) else len(item)
        if len(chunk) == _CHUNK_DOCUMENTS or size >= _CHUNK_SIZE:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def count_tokens(token_lists: Sequence[Sequence[str]], ids: list[str] | None = None) -> ChunkCounts:
    """Count the words of a chunk of documents.

    Parameters
    ----------
    token_lists : sequence of sequences of str
        The words of each document.
    ids : list of str, optional
        Names of the documents, passed through.

    Returns
    -------
    ChunkCounts
        One row a document, also for one without words.

    Examples
    --------
    >>> chunk = count_tokens([["cat", "dog", "cat"], []])
    >>> chunk.words, chunk.counts.toarray().tolist()
    (['cat', 'dog'], [[2, 1], [0, 0]])
    """
    if any(isinstance(tokens, str) for tokens in token_lists):
        raise DataError("expected lists of tokens; found a str; use BagOfWords or a Tokenizer")
    lengths = np.fromiter(map(len, token_lists), np.int64, len(token_lists))
    lookup = growing_ids()
    tokens = chain.from_iterable(token_lists)
    columns = np.fromiter(map(lookup.__getitem__, tokens), np.int32, int(lengths.sum()))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    ones = np.ones(len(columns), np.int32)
    counts = csr_array((ones, columns, starts), shape=(len(lengths), len(lookup)))
    counts.sum_duplicates()
    return ChunkCounts(list(lookup), counts, ids)


def growing_ids() -> "defaultdict[str, int]":
    """Return a dict that gives each new word the next number when asked for it.

    Examples
    --------
    >>> ids = growing_ids()
    >>> ids["cat"], ids["dog"], ids["cat"]
    (0, 1, 0)
    """
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    return ids


def tally(chunks: Iterable[ChunkCounts]) -> Tally:
    """Add up chunks; memory grows with the distinct words, not with the documents.

    Parameters
    ----------
    chunks : iterable of ChunkCounts
        The corpus.

    Returns
    -------
    Tally
        Its totals.

    Examples
    --------
    >>> total = tally([count_tokens([["cat"]]), count_tokens([["dog", "cat"]])])
    >>> total.words, total.document_frequencies.tolist()
    (['cat', 'dog'], [2, 1])
    """
    ids = growing_ids()
    totals = np.zeros((2, 0), np.int64)  # counts, document frequencies
    n_documents = 0
    for chunk in chunks:
        columns = [ids[word] for word in chunk.words]
        if len(ids) > totals.shape[1]:
            totals = np.pad(totals, [(0, 0), (0, len(ids))])
        totals[0, columns] += chunk.counts.sum(axis=0)
        totals[1, columns] += np.bincount(chunk.counts.indices, minlength=len(columns))
        n_documents += chunk.counts.shape[0]
    if n_documents == 0:
        raise DataError("the corpus is empty: expected at least one document; found none")
    counts, frequencies = totals[:, : len(ids)]
    return Tally(list(ids), counts, frequencies, n_documents)

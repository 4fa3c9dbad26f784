"""Count words a chunk at a time, add the chunks up, and choose words by their frequency."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from os.path import isfile
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from topicvec.checks import check_whole
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.text.document import Document

__all__ = [
    "ChunkCounts",
    "DocumentLike",
    "Limits",
    "Tally",
    "Tokenize",
    "check_several",
    "checked_documents",
    "chunked",
    "count_documents",
    "count_tokens",
    "cut_chunk",
    "cut_documents",
    "growing_ids",
    "tally",
]

DocumentLike = str | Document | Sequence[str]  # a sequence is its tokens
Tokenize = Callable[[str], Sequence[str]]
Item = TypeVar("Item", bound=Sized | Document)
Result = TypeVar("Result")
Integers = npt.NDArray[np.int64]

_CHUNK_DOCUMENTS = 2_000
_CHUNK_SIZE = 2_000_000  # characters or tokens, so that long documents make short chunks
_FEW_CHUNKS = 10  # are cut here: to start processes for them takes longer


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
    words, columns, lengths = _numbered(token_lists)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    parts = np.ones(len(columns), np.int32), columns, starts
    counts = csr_array(parts, shape=(len(lengths), len(words)))
    counts.sum_duplicates()
    return ChunkCounts(words, counts, ids)


def _numbered(
    token_lists: Sequence[Sequence[str]],
) -> tuple[list[str], npt.NDArray[np.int32], Integers]:
    """Give the distinct words, the number of the word of each token, and the lists' lengths."""
    lengths = np.fromiter(map(len, token_lists), np.int64, len(token_lists))
    tokens = list(chain.from_iterable(token_lists))
    lookup = {word: column for column, word in enumerate(dict.fromkeys(tokens))}
    columns = np.fromiter(map(lookup.__getitem__, tokens), np.int32, len(tokens))
    return list(lookup), columns, lengths


def count_documents(
    corpus: Iterable[DocumentLike],
    tokenize: Tokenize,
    keep: Callable[[str], bool],
    n_jobs: int = 1,
    *,
    join: Callable[[Sequence[str]], list[str]] | None = None,
) -> Iterator[ChunkCounts]:
    """Tokenize and count a stream of documents of any kind, a chunk at a time.

    Parameters
    ----------
    corpus : iterable of str, Document or sequences of str
        Lists and tuples are taken as tokens.
    tokenize : callable from str to sequence of str
        Cuts texts.
    keep : callable from str to bool
        Says of each word whether to count it.
    n_jobs : int
        Processes to tokenize in, from 20,000 documents or 20 million characters on; chunks and
        their order do not depend on it.
    join : callable from sequence to list of str, optional
        Joins words to phrases, before it is said which to keep.

    Yields
    ------
    ChunkCounts
        In the order of the documents.

    Examples
    --------
    >>> [chunk.words for chunk in count_documents(["the cat"], str.split, "cat".__eq__)]
    [['cat']]
    """
    count = partial(_count_chunk, tokenize, join)
    for chunk in map_chunks(count, corpus, n_jobs):
        kept = [column for column, word in enumerate(chunk.words) if keep(word)]
        words = [chunk.words[column] for column in kept]
        yield ChunkCounts(words, chunk.counts[:, kept], chunk.ids)


def cut_documents(
    corpus: Iterable[DocumentLike], tokenize: Tokenize, n_jobs: int = 1
) -> Iterator[list[str]]:
    """Cut a stream of documents of any kind into words; each word is once in the memory.

    Parameters
    ----------
    corpus, tokenize, n_jobs
        As for `count_documents`.

    Yields
    ------
    list of str
        The words of a document, in the order of the documents.

    Examples
    --------
    >>> list(cut_documents(["the cat", ["a", "dog"]], str.split))
    [['the', 'cat'], ['a', 'dog']]
    """
    same: dict[str, str] = {}
    for words, numbers, lengths in map_chunks(partial(cut_chunk, tokenize), corpus, n_jobs):
        own = np.array([same.setdefault(word, word) for word in words], object)
        tokens = iter(own[numbers].tolist())
        yield from (list(islice(tokens, length)) for length in lengths.tolist())


def map_chunks(
    function: Callable[[list[DocumentLike]], Result], corpus: Iterable[DocumentLike], n_jobs: int
) -> Iterator[Result]:
    """Map over the chunks of a stream, in processes if there are many chunks of texts.

    Examples
    --------
    >>> list(map_chunks(len, ["a text", "another"], n_jobs=2))
    [2]
    """
    chunks = chunked(checked_documents(corpus))
    first = list(islice(chunks, _FEW_CHUNKS))
    # Lists of tokens are cut already: to send them would take longer than to count them.
    one = first[0][0] if first else ()
    is_text = isinstance(one.text if isinstance(one, Document) else one, str)
    pays = len(first) == _FEW_CHUNKS and is_text
    engine = LocalEngine(n_jobs if pays else 1, kind="process")
    return engine.map(function, chain(first, chunks))


def checked_documents(documents: Iterable[DocumentLike]) -> Iterator[DocumentLike]:
    """Pass documents on, and refuse what is none.

    Examples
    --------
    >>> list(checked_documents(["The cat", None]))
    Traceback (most recent call last):
    topicvec.errors.DataError: expected a text, ...; found NoneType in row 1; use '' for ...
    """
    check_several(documents)
    for row, item in enumerate(documents):
        if not isinstance(item, (str, Document, list, tuple)):
            raise DataError(
                f"expected a text, a Document or a list of tokens; found {type(item).__name__} "
                f"in row {row}; use '' for a missing text"
            )
        yield item


def check_several(documents: object) -> None:
    """Refuse a single text, whose characters would be taken for texts, and what has no order.

    Examples
    --------
    >>> check_several({"a.txt": "The cat"})
    Traceback (most recent call last):
    topicvec.errors.DataError: expected a list of documents; found a dict; give list(x.values())
    """
    expected = "expected a list of documents; found"
    if isinstance(documents, Mapping):
        raise DataError(f"{expected} a {type(documents).__name__}; give list(x.values())")
    if isinstance(documents, (str, Document)) or not isinstance(documents, Iterable):
        is_path = isinstance(documents, str) and isfile(documents)  # noqa: PTH113 - or any text
        advice = "put it in a list"
        if is_path:
            advice = f"a file is read by topicvec.read_documents({documents!r})"
        raise DataError(f"{expected} one {type(documents).__name__}; {advice}")


def _count_chunk(
    tokenize: Tokenize,
    join: Callable[[Sequence[str]], list[str]] | None,
    documents: list[DocumentLike],
) -> ChunkCounts:
    ids = [document.id for document in documents if isinstance(document, Document)]
    token_lists = _token_lists(tokenize, documents)
    if join is not None:
        token_lists = list(map(join, token_lists))
    return count_tokens(token_lists, ids if len(ids) == len(documents) else None)


def cut_chunk(
    tokenize: Tokenize, documents: list[DocumentLike]
) -> tuple[list[str], npt.NDArray[np.int32], Integers]:
    """Cut documents: their words, the number of the word of each token, how many each has.

    Examples
    --------
    >>> words, numbers, lengths = cut_chunk(str.split, ["a dog", ["a"]])
    >>> words, numbers.tolist(), lengths.tolist()
    (['a', 'dog'], [0, 1, 0], [2, 1])
    """
    return _numbered(_token_lists(tokenize, documents))  # numbers are sent faster than words


def _token_lists(tokenize: Tokenize, documents: list[DocumentLike]) -> list[Sequence[str]]:
    texts = (each.text if isinstance(each, Document) else each for each in documents)
    return [tokenize(text) if isinstance(text, str) else text for text in texts]


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


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the frequency of words.

    Parameters
    ----------
    min_count : int
        Keep words that occur at least so often.
    min_doc_frequency, max_doc_frequency : int or float
        Keep words that occur in at least, at most so many documents; an int is a number of
        documents, a float their share.
    max_words : int, optional
        Keep only so many, the most frequent.

    Examples
    --------
    >>> Limits(max_doc_frequency=1.5)
    Traceback (most recent call last):
    topicvec.errors.DataError: max_doc_frequency must be ... a share from 0.0 to 1.0 (float); ...
    """

    min_count: int = 1
    min_doc_frequency: int | float = 1
    max_doc_frequency: int | float = 1.0
    max_words: int | None = None

    def __post_init__(self) -> None:
        check_whole("min_count", self.min_count, 1)
        if self.max_words is not None:
            check_whole("max_words", self.max_words, 1)
        for name in ("min_doc_frequency", "max_doc_frequency"):
            value = getattr(self, name)
            if isinstance(value, (int, np.integer)):
                check_whole(name, value, 1)
            elif not 0 <= value <= 1:
                raise DataError(
                    f"{name} must be a number of documents (int) or a share from 0.0 to 1.0 "
                    f"(float); found {value!r}"
                )

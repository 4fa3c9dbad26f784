"""Tokenize and count documents of any kind, in this process or in several."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.text.counting import ChunkCounts, chunked, count_tokens
from topicvec.text.document import Document

__all__ = ["Text", "Tokenize", "count_texts"]

Text = str | Document | Sequence[str]
Tokenize = Callable[[str], Sequence[str]]


def count_texts(
    texts: Iterable[Text], tokenize: Tokenize, stop_words: frozenset[str], n_jobs: int = 1
) -> Iterator[ChunkCounts]:
    """Tokenize and count a stream of documents, a chunk at a time.

    Parameters
    ----------
    texts : iterable of str, Document or sequences of str
        The documents; lists and tuples are taken as tokens.
    tokenize : callable from str to sequence of str
        Cuts texts.
    stop_words : frozenset of str
        Words to leave out.
    n_jobs : int
        Processes to tokenize in; chunks and their order do not depend on it.

    Returns
    -------
    iterator of ChunkCounts
        In the order of the documents.

    Examples
    --------
    >>> [chunk.words for chunk in count_texts(["the cat"], str.split, frozenset(["the"]))]
    [['cat']]
    """
    engine = LocalEngine(n_jobs, kind="process")
    chunks = engine.map(partial(_count_chunk, tokenize), chunked(_checked(texts)))
    return (_without(chunk, stop_words) for chunk in chunks)


def _checked(texts: Iterable[Text]) -> Iterator[Text]:
    if isinstance(texts, (str, Document)):
        raise DataError(f"expected an iterable of documents; found one {type(texts).__name__}")
    for row, item in enumerate(texts):
        if not isinstance(item, (str, Document, list, tuple)):
            raise DataError(
                f"expected text, a Document or a list of tokens; found {type(item).__name__} "
                f"in row {row}; use '' for a missing text"
            )
        yield item


def _count_chunk(tokenize: Tokenize, texts: list[Text]) -> ChunkCounts:
    ids = [text.id for text in texts if isinstance(text, Document)]
    token_lists = [_tokens(tokenize, text) for text in texts]
    return count_tokens(token_lists, ids if len(ids) == len(texts) else None)


def _tokens(tokenize: Tokenize, text: Text) -> Sequence[str]:
    if isinstance(text, Document):
        return tokenize(text.text)
    return tokenize(text) if isinstance(text, str) else text


def _without(chunk: ChunkCounts, stop: frozenset[str]) -> ChunkCounts:
    kept = [column for column, word in enumerate(chunk.words) if word not in stop]
    words = [chunk.words[column] for column in kept]
    return ChunkCounts(words, chunk.counts[:, kept], chunk.ids)

"""From documents to integer ids, in chunks, over processes, in bounded memory.

Tokenizing is what takes the time in Python, so chunks of documents go to worker processes. Each
comes back as the words it has and ids into them; only the caller knows a vocabulary, so none is
ever sent around. Chunks do not depend on the number of workers. A prepared corpus has its ids
already, shard by shard.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine, LocalEngine, resolve_engine
from topicvec.errors import DataError
from topicvec.text.counting import growing_ids
from topicvec.text.prepared import PreparedCorpus, ShardFile

__all__ = [
    "Chunk",
    "Encoded",
    "Mark",
    "Tokenize",
    "cut_chunks",
    "encode",
    "encode_chunks",
]

Tokenize = Callable[[str], list[str]]
Content = str | Sequence[str]

CHUNK_SIZE = 1 << 21  # characters, or about so many for token lists


class Mark(NamedTuple):
    """How far a stream of documents has been read, and a digest of all that was read."""

    n_documents: int
    digest: str


class Chunk(NamedTuple):
    """Some documents as read, and the mark after the last of them."""

    contents: list[Content]
    mark: Mark


class Encoded(NamedTuple):
    """Documents as ids into a list of words.

    ``ids`` are the documents one after another, ``lengths`` their numbers of tokens; both are also
    in the ``file``, if there is one.
    """

    words: Sequence[str]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    mark: Mark
    file: ShardFile | None = None


def encode(
    documents: Iterable[Any],
    tokenizer: Tokenize,
    n_jobs: Engine | int | None = None,
    *,
    commit_every: int | None = None,
    start: Mark | None = None,
) -> Iterator[Encoded]:
    """Encode documents, those of a prepared corpus as its shards have them.

    Parameters are those of `cut_chunks` and `encode_chunks`; a prepared corpus is cut into its
    shards, wherever a commit is due.

    Yields
    ------
    Encoded

    Examples
    --------
    >>> [encoded.ids.tolist() for encoded in encode([["a", "b"], ["b"]], str.split)]
    [[0, 1, 1]]
    """
    if isinstance(documents, PreparedCorpus):
        documents.check_tokenizer(tokenizer)
        return _shards(documents, start)
    chunks = cut_chunks(documents, commit_every=commit_every, start=start)
    return encode_chunks(chunks, tokenizer, n_jobs)


def _shards(corpus: PreparedCorpus, start: Mark | None) -> Iterator[Encoded]:
    digest, marks = hashlib.blake2b(digest_size=16), []
    for shard in corpus.shards:
        digest.update(shard.sha256.encode())
        marks.append(Mark(shard.first_document + shard.n_documents, digest.hexdigest()))
    if start is not None and start not in marks:
        raise _other_documents(start)
    first = 0 if start is None else marks.index(start) + 1
    for shard, mark in zip(corpus.shards[first:], marks[first:], strict=True):
        yield Encoded(corpus.words, *shard.take(), mark, shard)


def cut_chunks(
    documents: Iterable[Any], *, commit_every: int | None = None, start: Mark | None = None
) -> Iterator[Chunk]:
    """Cut documents into chunks of a fixed size, after those a former run has done.

    Parameters
    ----------
    documents : iterable
        Texts, token lists, or objects with a ``text``.
    commit_every : int, optional
        Also cut after each so many documents, and keep a digest of everything read.
    start : Mark, optional
        Skip what a former run has read, and check that it is the same.

    Yields
    ------
    Chunk

    Examples
    --------
    >>> [chunk.mark.n_documents for chunk in cut_chunks(["a b", "c", "d"], commit_every=2)]
    [2, 3]
    """
    if isinstance(documents, str):
        raise DataError("expected an iterable of documents; found one str; put it in a list")
    stream = iter(documents)
    digest = hashlib.blake2b(digest_size=16)
    done = _skip(stream, digest, start) if start else 0
    contents: list[Content] = []
    size = 0
    for document in stream:
        content = _content(document, done)
        contents.append(content)
        size += _size(content)
        done += 1
        if commit_every:
            _absorb(digest, content)
        if size >= CHUNK_SIZE or (commit_every and done % commit_every == 0):
            yield Chunk(contents, Mark(done, digest.hexdigest()))
            contents, size = [], 0
    if contents:
        yield Chunk(contents, Mark(done, digest.hexdigest()))


def _skip(stream: Iterator[Any], digest: Any, start: Mark) -> int:
    n_read = 0
    for document in islice(stream, start.n_documents):
        _absorb(digest, _content(document, n_read))
        n_read += 1
    if n_read < start.n_documents or digest.hexdigest() != start.digest:
        raise _other_documents(start)
    return n_read


def _other_documents(start: Mark) -> DataError:
    return DataError(
        f"the folder holds a run over other documents: its first {start.n_documents} "
        f"are not the first {start.n_documents} given here; "
        "give the same documents, or another folder"
    )


def _content(document: Any, number: int) -> Content:
    content = getattr(document, "text", document)
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence) and all(isinstance(token, str) for token in content):
        return content
    raise DataError(
        f"document {number} must be a text, a list of tokens or a Document; "
        f"found {type(document).__name__}"
    )


def _size(content: Content) -> int:
    return len(content) if isinstance(content, str) else 6 * len(content)


def _absorb(digest: Any, content: Content) -> None:
    # Lengths keep ["a b"] and ["a", "b"] apart, and one document from two.
    parts = [content] if isinstance(content, str) else list(content)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    digest.update(len(parts).to_bytes(8, "big"))


def encode_chunks(
    chunks: Iterable[Chunk], tokenizer: Tokenize, n_jobs: Engine | int | None = None
) -> Iterator[Encoded]:
    """Tokenize and encode chunks in order, in processes when there is more than one chunk.

    Parameters
    ----------
    chunks : iterable of Chunk
    tokenizer : callable
        From a text to its list of tokens; used on texts only.
    n_jobs : int or Engine, optional
        Number of processes; ``None`` or -1 means one for each core. Token lists stay here.

    Yields
    ------
    Encoded

    Examples
    --------
    >>> encoded = next(encode_chunks(cut_chunks(["a b a", "c"]), str.split))
    >>> encoded.words, encoded.ids.tolist(), encoded.lengths.tolist()
    (['a', 'b', 'c'], [0, 1, 0, 2], [3, 1])
    """
    stream = iter(chunks)
    head = list(islice(stream, 2))
    encode = partial(_encode, tokenizer=tokenizer)
    engine: Engine
    if len(head) < 2 or not isinstance(head[0].contents[0], str):
        engine = LocalEngine(1)  # to send them, or to start processes, would cost more
    elif n_jobs is not None and not isinstance(n_jobs, int):
        engine = resolve_engine(n_jobs)
    else:
        engine = LocalEngine(n_jobs, kind="process")
    return engine.map(encode, chain(head, stream))


def _encode(chunk: Chunk, tokenizer: Tokenize) -> Encoded:
    index = growing_ids()
    token_lists = [
        tokenizer(content) if isinstance(content, str) else content for content in chunk.contents
    ]
    lengths = np.array([len(tokens) for tokens in token_lists], np.int64)
    tokens = chain.from_iterable(token_lists)
    ids = np.fromiter(map(index.__getitem__, tokens), np.int32, int(lengths.sum()))
    return Encoded(list(index), ids, lengths, chunk.mark)

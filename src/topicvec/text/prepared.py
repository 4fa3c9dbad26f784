"""A corpus that was read once: its words as numbers, in shards that are files of a folder.

A shard has some consecutive documents: the number of the word of each token, how many tokens each
document has, the documents' ids, classes and times, and the words that no shard before it has. So
the shards up to any one are a corpus by themselves, and a run that was killed goes on after the
last of them. Shards are cut by the documents alone, and any number of workers writes the same
bytes. ``card.json`` is written last: how the texts were cut into words, and for each shard its
size and its SHA-256. Until then a corpus that was there stays as it was, as a shard that takes the
place of one of its has another name. What is read from a shard is checked first (`checked`).
"""

import hashlib
import json
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import LocalEngine
from topicvec.errors import DataError, FormatError
from topicvec.files import atomic_write
from topicvec.text.counting import (
    DocumentLike,
    Tokenize,
    checked_documents,
    cut_chunk,
    growing_ids,
)
from topicvec.text.document import CutDocument, Document
from topicvec.text.tokenizer import Tokenizer, describe_tokenizer

__all__ = ["CARD", "PreparedCorpus", "ShardFile", "Tokens", "checked", "is_prepared", "prepare"]

Arrays = Mapping[str, NDArray[Any]]
AnyPath = str | os.PathLike[str]

CARD = "card.json"
_FORMAT, _VERSION = "topicvec-corpus", 1
_DOCUMENTS = 20_000  # of a shard
_SIZE = 8_000_000  # characters or tokens of a shard, so that long documents make short ones
_OURS = re.compile(r"shard-\d{5,}b?\.safetensors|card\.json|\..*\.part|\.fit-.*")
_FAULTS = (KeyError, TypeError, ValueError, OverflowError, MemoryError, RecursionError)
_TEXTS = ("ids", "labels", "times")
_ANEW = "give topicvec prepare the same sources and folder again: it writes what is missing"


class Tokens(NamedTuple):
    """Documents as numbers of words, one after another.

    Attributes
    ----------
    ids : ndarray of int32, shape (n_tokens,)
        The number of each token's word.
    lengths : ndarray of int64, shape (n_documents,)
        How many tokens each document has.

    Examples
    --------
    >>> Tokens(np.array([0, 1, 0], np.int32), np.array([2, 1])).take().lengths
    array([2, 1])
    """

    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]

    def take(self) -> "Tokens":
        """Give itself; what waits in a file is read by the same name."""
        return self


@dataclass(frozen=True)
class ShardFile:
    """A shard as the card knows it.

    Parameters
    ----------
    path : Path
        Of the file.
    n_documents, n_tokens, n_words : int
        How many it has; its words are those that are new in it.
    sha256 : str
        Of the whole file.
    first_document, first_word : int
        How many the shards before it have.
    """

    path: Path
    n_documents: int
    n_tokens: int
    n_words: int
    sha256: str
    first_document: int
    first_word: int

    def arrays(self) -> Arrays:
        """Read the file; refuse it unless it is what was written."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise FormatError(
                f"the shard {self.path} cannot be read ({error.strerror}): {_ANEW}"
            ) from error
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise FormatError(f"the shard {self.path} is damaged: {_ANEW}")
        arrays, _ = _parsed(self.path, data, self.first_word)
        found = len(arrays["lengths"]), len(arrays["tokens"]), len(arrays["words.lengths"])
        if found != (self.n_documents, self.n_tokens, self.n_words):
            raise FormatError(f"the shard {self.path} is not the one of the card: {_ANEW}")
        return arrays

    def is_whole(self) -> bool:
        """Say whether the file is there, as it was written."""
        try:
            return hashlib.sha256(self.path.read_bytes()).hexdigest() == self.sha256
        except OSError:
            return False

    def take(self) -> Tokens:
        """Read the tokens."""
        arrays = self.arrays()
        return Tokens(arrays["tokens"], arrays["lengths"].astype(np.int64))


@dataclass(frozen=True, eq=False)
class PreparedCorpus:
    """A corpus that `prepare` wrote; a stream of documents, each of them its list of words.

    Parameters
    ----------
    folder : Path
        Where it is.
    tokenizer : str
        How its texts were cut into words.
    n_documents, n_tokens, n_words, n_repeated : int
        How many documents, tokens and different words it has, and words that occur again.
    shards : tuple of ShardFile
        Its files.

    Examples
    --------
    >>> import tempfile
    >>> corpus = prepare(["The cat.", "A dog and a cat."], Path(tempfile.mkdtemp(), "corpus"))
    >>> corpus.n_documents, corpus.words
    (2, ('the', 'cat', 'a', 'dog', 'and'))
    >>> [document.text for document in corpus]
    [['the', 'cat'], ['a', 'dog', 'and', 'a', 'cat']]
    """

    folder: Path
    tokenizer: str
    n_documents: int
    n_tokens: int
    n_words: int
    n_repeated: int
    shards: tuple[ShardFile, ...]

    @classmethod
    def open(cls, folder: AnyPath) -> Self:
        """Open the folder of a prepared corpus; its shards are read and checked as they are used.

        Parameters
        ----------
        folder : path
            Where `prepare` wrote it.

        Returns
        -------
        PreparedCorpus
        """
        where = Path(folder).absolute()
        if where.is_file():
            raise DataError(
                f"{folder} is a file, not the folder of a prepared corpus: its texts are read by "
                f"topicvec.read_documents({str(folder)!r})"
            )
        try:
            card = json.loads((where / CARD).read_text("utf-8"))
        except FileNotFoundError as error:
            raise DataError(
                f"{folder} is not a prepared corpus, or not yet a whole one, as it has no {CARD}: "
                "give topicvec prepare the sources and this folder"
            ) from error
        except (OSError, *_FAULTS) as error:
            raise FormatError(f"{where / CARD} is damaged ({error}): {_ANEW}") from error
        return cls(where, **_checked_card(where, card))

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return f"PreparedCorpus({str(self.folder)!r}: {self.n_documents:,} documents)"

    def __iter__(self) -> Iterator[CutDocument]:
        words = np.array(self.words, object)
        for shard in self.shards:
            arrays = shard.arrays()
            texts = zip(*(_unpacked(arrays, name) for name in _TEXTS), strict=True)
            tokens = iter(words[arrays["tokens"]].tolist())
            for (name, label, time), length in zip(texts, arrays["lengths"].tolist(), strict=True):
                yield CutDocument(str(name), list(islice(tokens, length)), label, time)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The different words, in the order in which they appear."""
        found: list[str] = []
        for shard in self.shards:
            found += map(str, _unpacked(shard.arrays(), "words"))
        if len(set(found)) < len(found):
            raise FormatError(f"{self.folder}: a word stands in two shards: {_ANEW}")
        return tuple(found)

    def check_tokenizer(self, tokenizer: Tokenize | None) -> None:
        """Refuse a tokenizer that is not the one that cut the texts; None means the default."""
        asked = describe_tokenizer(tokenizer or Tokenizer())
        if asked != self.tokenizer:
            raise DataError(
                f"the texts of {self.folder} were cut into words by {self.tokenizer}, and the "
                f"model has {asked}: give it tokenizer= of the corpus, or prepare the texts again"
            )

    def names(self, rows: Iterable[int]) -> dict[int, str]:
        """Give the ids of some documents by their places.

        Parameters
        ----------
        rows : iterable of int
            Places of documents.

        Returns
        -------
        dict of int to str
        """
        wanted, found = sorted(set(rows)), dict[int, str]()
        for shard in self.shards:
            first = shard.first_document
            here = [row - first for row in wanted if 0 <= row - first < shard.n_documents]
            if here:
                names = _unpacked(shard.arrays(), "ids")
                found |= {first + place: str(names[place]) for place in here}
        return found

    def values(self, name: str) -> list[str | None]:
        """Give the ``labels`` or ``times`` of all documents, None for one that has none."""
        return [each for shard in self.shards for each in _unpacked(shard.arrays(), name)]


def is_prepared(folder: AnyPath) -> bool:
    """Say whether a path is the folder of a prepared corpus, by its card.

    Examples
    --------
    >>> is_prepared("no/such/folder")
    False
    """
    try:
        return f'"{_FORMAT}"' in Path(folder, CARD).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def prepare(
    documents: Iterable[DocumentLike],
    folder: AnyPath,
    *,
    tokenizer: Tokenize | None = None,
    n_jobs: int | None = None,
) -> PreparedCorpus:
    """Read documents once and keep them as numbers of words, in a folder of shards.

    Parameters
    ----------
    documents : iterable of str, Document or token lists
        A stream will do, such as that of `read_documents`; memory holds a few shards of it. A
        document without an id is named by its row.
    folder : path
        Where to write; an empty or new one. A run that was broken off goes on after its last whole
        shard if it is given the same documents and the same folder.
    tokenizer : callable from str to list of str, optional
        Cuts texts; `Tokenizer` by default, the only one that works in several processes.
    n_jobs : int, optional
        Number of processes; one for each core by default. The bytes do not depend on it.

    Returns
    -------
    PreparedCorpus

    Raises
    ------
    DataError
        If the folder has other files, or a run over other documents; if the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> corpus = prepare([["a", "cat"], "A dog."], Path(tempfile.mkdtemp(), "corpus"))
    >>> corpus
    PreparedCorpus('...corpus': 2 documents)
    """
    where = _claimed(Path(folder).absolute())
    cut = tokenizer or Tokenizer()
    writer = _Writer(where, describe_tokenizer(cut))
    stream = checked_documents(documents)
    writer.skip(stream)
    waiting: deque[_Chunk] = deque()
    chunks = writer.chunks(stream)
    head = list(islice(chunks, 2))
    alone = len(head) < 2 or not isinstance(cut, Tokenizer) or parent_process() is not None
    engine = LocalEngine(1 if alone else n_jobs, kind="process")
    contents = (_remembered(chunk, waiting) for part in (head, chunks) for chunk in part)
    for words, numbers, lengths in engine.map(partial(cut_chunk, cut), contents):
        writer.write(words, numbers, lengths, waiting.popleft())
    writer.finish()
    return PreparedCorpus.open(where)


class _Chunk(NamedTuple):
    """The documents of a shard as they are read, and what is known of all up to its last."""

    contents: list[Any]
    texts: dict[str, list[str | None]]
    digest: str
    is_full: bool


def _remembered(chunk: _Chunk, waiting: "deque[_Chunk]") -> list[Any]:
    waiting.append(chunk._replace(contents=[]))
    return chunk.contents


class _Writer:
    """Writes shard after shard; knows the words so far."""

    def __init__(self, folder: Path, tokenizer: str) -> None:
        self.folder, self.tokenizer, self.old = folder, tokenizer, _shards_of(folder)
        self.digest = hashlib.blake2b(digest_size=16)
        self.ids = growing_ids()
        self.totals = np.zeros(0, np.int64)
        self.shards: list[ShardFile] = []
        self.n_documents = 0

    def skip(self, stream: Iterator[DocumentLike]) -> None:
        """Pass over the documents of the whole shards of an earlier run, if they are the same."""
        while (found := self._earlier()) is not None:
            path, data, arrays, about = found
            for document in islice(stream, len(arrays["lengths"])):
                _absorb(self.digest, document)
            if self.digest.hexdigest() != about["digest"]:
                raise DataError(
                    f"the folder {self.folder} holds other documents, or the same in another "
                    "order: give the same sources, or another folder"
                )
            for word in _unpacked(arrays, "words"):
                self.ids[str(word)]
            self._add(path, data, arrays)

    def _earlier(self) -> tuple[Path, bytes, Arrays, dict[str, Any]] | None:
        """Read the next shard of an earlier run; none if it is not whole, or the rest of it."""
        for path in filter(Path.is_file, self._paths()):
            data = path.read_bytes()
            try:
                arrays, about = _parsed(path, data, len(self.ids))
            except FormatError:
                continue  # it is written anew
            if about["tokenizer"] != self.tokenizer:
                raise DataError(
                    f"the folder {self.folder} holds texts that {about['tokenizer']} cut into "
                    f"words, not {self.tokenizer}: give that tokenizer, or another folder"
                )
            if about["full"]:
                return path, data, arrays, about
        return None

    def chunks(self, stream: Iterator[DocumentLike]) -> Iterator[_Chunk]:
        """Cut a stream into the documents of shards."""
        contents, size, row = [], 0, self.n_documents
        texts: dict[str, list[str | None]] = {name: [] for name in _TEXTS}
        for document in stream:
            _absorb(self.digest, document)
            known = isinstance(document, Document)
            facts = (document.id, document.label, document.time) if known else (f"row {row}",)  # type: ignore[union-attr]
            for name, value in zip(_TEXTS, (*facts, None, None), strict=False):
                texts[name].append(value)
            contents.append(document.text if isinstance(document, Document) else document)
            size, row = size + len(contents[-1]), row + 1
            if len(contents) == _DOCUMENTS or size >= _SIZE:
                yield _Chunk(contents, texts, self.digest.hexdigest(), is_full=True)
                contents, size, texts = [], 0, {name: [] for name in _TEXTS}
        if contents:
            yield _Chunk(contents, texts, self.digest.hexdigest(), is_full=False)

    def write(
        self, words: list[str], numbers: NDArray[np.int32], lengths: NDArray[np.int64],
        chunk: _Chunk,
    ) -> None:  # fmt: skip
        """Write the next shard, whole or not at all."""
        from safetensors.numpy import save

        n_before = len(self.ids)
        table = np.fromiter((self.ids[word] for word in words), np.int32, len(words))
        arrays = {"tokens": table[numbers], "lengths": lengths.astype(np.int32)}
        arrays |= _packed("words", list(islice(reversed(self.ids), len(self.ids) - n_before))[::-1])
        for name in _TEXTS:
            arrays |= _packed(name, chunk.texts[name])
        about = {"version": _VERSION, "tokenizer": self.tokenizer}
        about |= {"digest": chunk.digest, "full": chunk.is_full}
        data = save(dict(arrays), {_FORMAT: json.dumps(about)})
        path = self._place(hashlib.sha256(data).hexdigest())
        _write(path, data, f"{self.n_documents:,} documents before it are kept")
        self._add(path, data, arrays)

    def _add(self, path: Path, data: bytes, arrays: Arrays) -> None:
        n_words, digest = len(arrays["words.lengths"]), hashlib.sha256(data).hexdigest()
        sizes = len(arrays["lengths"]), len(arrays["tokens"]), n_words
        before = self.n_documents, len(self.ids) - n_words
        self.shards.append(ShardFile(path, *sizes, digest, *before))
        self.n_documents += len(arrays["lengths"])
        totals = np.bincount(arrays["tokens"], minlength=len(self.ids))
        totals[: len(self.totals)] += self.totals
        self.totals = totals

    def finish(self) -> None:
        """Write the card, and remove what is left of other runs."""
        if not self.shards:
            raise DataError("the corpus is empty: expected at least one document; found none")
        sizes = ("n_documents", "n_tokens", "n_words", "sha256")
        rows = [{"file": s.path.name, **{n: getattr(s, n) for n in sizes}} for s in self.shards]
        card = {
            "format": _FORMAT,
            "version": _VERSION,
            "tokenizer": self.tokenizer,
            "n_documents": self.n_documents,
            "n_tokens": sum(shard.n_tokens for shard in self.shards),
            "n_words": len(self.ids),
            "n_repeated": int(np.count_nonzero(self.totals > 1)),
            "shards": rows,
        }
        _write(self.folder / CARD, json.dumps(card, indent=1).encode() + b"\n", "all are kept")
        kept = {shard.path.name for shard in self.shards}
        for path in self.folder.glob("shard-*.safetensors"):
            if path.name not in kept:
                path.unlink()

    def _paths(self) -> list[Path]:
        """List the names that the next shard may have."""
        return [self.folder / name for name in _names(len(self.shards))]

    def _place(self, sha256: str) -> Path:
        """Choose a name for the next shard: not that of another one of the corpus that is there."""
        first, second = self._paths()
        number = len(self.shards)
        old = self.old[number] if number < len(self.old) else None
        if old is None:
            return first
        if sha256 == old.sha256 or not old.is_whole():
            return old.path
        return second if old.path == first else first


def _names(number: int) -> tuple[str, str]:
    return f"shard-{number:05}.safetensors", f"shard-{number:05}b.safetensors"


def _shards_of(folder: Path) -> tuple[ShardFile, ...]:
    """List the shards of the corpus that is there, none if there is none."""
    try:
        return PreparedCorpus.open(folder).shards
    except (DataError, FormatError):
        return ()


def _claimed(folder: Path) -> Path:
    """Make a folder if need be; refuse one with files of others."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise DataError(f"cannot write into {folder}: {error.strerror}") from error
    others = [name for name in names if not _OURS.fullmatch(name)]
    if others:
        raise DataError(
            f"the folder {folder} has other files in it, such as {others[0]}: give a new one"
        )
    return folder


def _write(path: Path, data: bytes, kept: str) -> None:
    try:
        with atomic_write(path) as part:
            part.write_bytes(data)
    except DataError as error:
        raise DataError(
            f"{error}; {kept}: give topicvec prepare the same sources and folder again, and it "
            "goes on from there"
        ) from error


def _absorb(digest: Any, document: DocumentLike) -> None:
    """Add a document to a digest of all that was read."""
    known = isinstance(document, Document)
    facts = [document.id, document.label, document.time] if known else []  # type: ignore[union-attr]
    content = document.text if isinstance(document, Document) else document
    parts = [content] if isinstance(content, str) else [*content, "\0"]
    # Lengths keep ["a b"] and ["a", "b"] apart, and one document from two.
    for part in (*parts, *facts):
        data = b"" if part is None else part.encode("utf-8", "surrogatepass")
        digest.update((-1 if part is None else len(data)).to_bytes(8, "little", signed=True))
        digest.update(data)
    digest.update(len(parts).to_bytes(8, "big"))


def _packed(name: str, texts: Sequence[str | None]) -> dict[str, NDArray[Any]]:
    encoded = [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.array([-1 if text is None else len(text) for text in encoded], np.int32)
    data = np.frombuffer(b"".join(filter(None, encoded)), np.uint8)
    return {f"{name}.bytes": data, f"{name}.lengths": lengths}


def _unpacked(arrays: Arrays, name: str) -> list[str | None]:
    joined, lengths = arrays[f"{name}.bytes"].tobytes(), arrays[f"{name}.lengths"].astype(np.int64)
    ends = np.cumsum(np.maximum(lengths, 0)).tolist()
    pairs = zip(lengths.tolist(), ends, strict=True)
    return [
        None if length < 0 else joined[end - length : end].decode("utf-8", "surrogatepass")
        for length, end in pairs
    ]


def _parsed(path: Path, data: bytes, first_word: int) -> tuple[Arrays, dict[str, Any]]:
    """Take a file apart: its arrays, checked, and what it says of itself."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        about = json.loads(header["__metadata__"][_FORMAT])
        if about["version"] != _VERSION:
            raise FormatError(f"{path} is of another version of topicvec: prepare the corpus again")
        if not {"tokenizer", "digest", "full"} <= set(about):
            raise KeyError("tokenizer")
        arrays = load(data)
        checked(path, arrays, first_word)
        for name in ("words", *_TEXTS):
            _unpacked(arrays, name)
    except (SafetensorError, *_FAULTS) as error:
        raise FormatError(f"the shard {path} is damaged ({error!r}): {_ANEW}") from error
    return arrays, about


def checked(path: Path, arrays: Arrays, first_word: int) -> None:
    """Refuse a shard whose arrays do not fit together, before anything is done with them.

    Parameters
    ----------
    path : Path
        Its file, for the message.
    arrays : mapping of str to ndarray
        What is in it.
    first_word : int
        How many words the shards before it have.

    Examples
    --------
    >>> checked(Path("shard"), {}, 0)
    Traceback (most recent call last):
    topicvec.errors.FormatError: the shard shard is damaged (no tokens): ...
    """
    kinds = {"tokens": np.int32, "lengths": np.int32}
    for name in ("words", *_TEXTS):
        kinds |= {f"{name}.bytes": np.uint8, f"{name}.lengths": np.int32}  # type: ignore[dict-item]
    fault = next((f"no {name}" for name in kinds if name not in arrays), "")
    for name, kind in kinds.items() if not fault else ():
        if arrays[name].dtype != kind or arrays[name].ndim != 1:
            fault = f"{name} is {arrays[name].dtype} of {arrays[name].ndim} dimensions"
    if not fault:
        fault = _misfit(arrays, first_word)
    if fault:
        raise FormatError(f"the shard {path} is damaged ({fault}): {_ANEW}")


def _misfit(arrays: Arrays, first_word: int) -> str:
    """Say what does not fit in arrays of the right kinds."""
    tokens, lengths = arrays["tokens"], arrays["lengths"]
    n_words = first_word + len(arrays["words.lengths"])
    if lengths.min(initial=0) < 0 or lengths.sum(dtype=np.int64) != len(tokens):
        return "lengths of documents that are not those of its tokens"
    if tokens.min(initial=0) < 0 or tokens.max(initial=-1) >= n_words:
        return f"numbers of words beyond {n_words}"
    for name in ("words", *_TEXTS):
        sizes = arrays[f"{name}.lengths"]
        if np.maximum(sizes, 0).sum(dtype=np.int64) != len(arrays[f"{name}.bytes"]):
            return f"{name} that are cut short"
        if sizes.min(initial=0) < (-1 if name in ("labels", "times") else 0):
            return f"{name} that have no length"
        if name != "words" and len(sizes) != len(lengths):
            return f"{len(sizes)} {name} of {len(lengths)} documents"
    return ""


def _checked_card(folder: Path, card: Any) -> dict[str, Any]:
    """Take a card apart; refuse one that is no card or does not add up."""
    try:
        if card["format"] != _FORMAT or card["version"] != _VERSION:
            raise FormatError(
                f"{folder / CARD}: expected a corpus of version {_VERSION}, found "
                f"{card['format']} {card['version']}: prepare it with this version of topicvec"
            )
        shards: list[ShardFile] = []
        documents = words = 0
        for number, row in enumerate(card["shards"]):
            sizes = [int(row[name]) for name in ("n_documents", "n_tokens", "n_words")]
            if min(sizes) < 0 or row["file"] not in _names(number):
                raise ValueError(row)
            found = folder / row["file"], *sizes, str(row["sha256"]), documents, words
            shards.append(ShardFile(*found))
            documents, words = documents + sizes[0], words + sizes[2]
        totals = documents, sum(shard.n_tokens for shard in shards), words
        told = tuple(int(card[name]) for name in ("n_documents", "n_tokens", "n_words"))
        repeated = int(card["n_repeated"])
        if told != totals or not documents or not 0 <= repeated <= words:
            raise ValueError("sizes that do not add up")
    except _FAULTS as error:
        raise FormatError(f"{folder / CARD} is damaged ({error!r}): {_ANEW}") from error
    return {
        "tokenizer": str(card["tokenizer"]), "shards": tuple(shards), "n_repeated": repeated,
        **dict(zip(("n_documents", "n_tokens", "n_words"), told, strict=True)),
    }  # fmt: skip

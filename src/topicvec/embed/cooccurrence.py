"""The record of how often words stand near each other; it can be added, saved and loaded.

Counts are integers in units of 1/``unit``, also where a distance weighs 1/d: so counts of two
corpora add up to exactly those of the joined corpus, in any order.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.checks import check_choice
from topicvec.embed import kernels
from topicvec.engine import LocalEngine
from topicvec.errors import DataError, FormatError
from topicvec.stored import (
    TEXT,
    Layout,
    Stored,
    each,
    parse_json,
    read_tensors,
    sparse_parts,
    write_tensors,
)

__all__ = [
    "Cooccurrence", "Direction", "Progress", "Weighting", "WindowSettings", "added", "as_triple",
    "cut_rows", "joined",
]  # fmt: skip

Direction = Literal["left", "right", "both"]
Weighting = Literal["flat", "harmonic", "linear"]
Progress = Callable[[str, int, int | None], None]

LAYOUT = Layout("topicvec cooccurrence", 2, "file of co-occurrence counts", "count again", oldest=2)

ROWS = 2048  # rows a worker adds at a time


@dataclass(frozen=True)
class WindowSettings:
    """What counts as near, and how much.

    Attributes
    ----------
    window : int
        Tokens on a side.
    direction : {"left", "right", "both"}
        Where the row's word stands, seen from the column's.
    weighting : {"flat", "harmonic", "linear"}
        What distance d counts: 1, 1/d, or (window + 1 − d)/window.
    min_tokens : int
        Shorter documents are left out.

    Examples
    --------
    >>> settings = WindowSettings(4, "left", "harmonic")
    >>> settings.unit, settings.weights.tolist()
    (12, [0, 12, 6, 4, 3])
    """

    window: int = 10
    direction: Direction = "both"
    weighting: Weighting = "harmonic"
    min_tokens: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.window, int | np.integer) or not 1 <= self.window <= 40:
            raise DataError(f"window must be an integer from 1 to 40; found {self.window!r}")
        check_choice("direction", self.direction, *get_args(Direction))
        check_choice("weighting", self.weighting, *get_args(Weighting))
        if self.unit > 1 << 32:  # larger units would overflow the sums of a large corpus
            raise DataError(f"harmonic weighting needs a window up to 22; found {self.window}")

    @property
    def unit(self) -> int:
        """What one whole co-occurrence counts: weights are integers over this."""
        whole = {"flat": 1, "linear": self.window}
        return whole.get(self.weighting) or math.lcm(*range(1, self.window + 1))

    @property
    def weights(self) -> NDArray[np.int64]:
        """What each distance counts in units, shape (window + 1,); distance 0 counts nothing."""
        distance = np.arange(1, self.window + 1)
        weights = np.ones_like(distance)
        if self.weighting == "harmonic":
            weights = self.unit // distance
        elif self.weighting == "linear":
            weights = self.window + 1 - distance
        return np.concatenate([[0], weights]).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Cooccurrence:
    """Windowed co-occurrence counts of a corpus.

    Words come in decreasing frequency, ties in the order of the alphabet.

    Attributes
    ----------
    words : tuple of str
    unigram_counts : ndarray of int64, shape (n_words,)
        How often each word stands in the corpus.
    counts : csr_array of int64, shape (n_words, n_words)
        How often the row's word stands in the window of the column's word, in units of
        ``1/settings.unit``.
    settings : WindowSettings
    n_documents : int
    n_tokens : int
        Tokens of the documents that were counted, those outside the vocabulary included.

    Examples
    --------
    >>> from topicvec.embed.counting import count_cooccurrences
    >>> from topicvec.text import Vocabulary
    >>> vocabulary = Vocabulary.from_counts({"cat": 1, "sat": 1})
    >>> once = count_cooccurrences([["cat", "sat"]], vocabulary, window=1)
    >>> (once + once).counts.toarray().tolist()
    [[0, 2], [2, 0]]
    """

    words: tuple[str, ...]
    unigram_counts: NDArray[np.int64]
    counts: csr_array
    settings: WindowSettings
    n_documents: int
    n_tokens: int

    def __post_init__(self) -> None:
        arrays = (self.unigram_counts, self.counts.data, self.counts.indices, self.counts.indptr)
        for array in arrays:
            array.setflags(write=False)

    def in_order(self) -> "Cooccurrence":
        """Bring the words into the order of their frequency."""
        order = sorted(range(self.n_words), key=lambda i: (-self.unigram_counts[i], self.words[i]))
        return replace(
            self,
            words=tuple(self.words[i] for i in order),
            unigram_counts=self.unigram_counts[order],
            counts=_renumbered(self.counts, np.argsort(order), self.n_words),
        )

    def top(self, n_words: int) -> "Cooccurrence":
        """Keep the most frequent words only, of those that occur at all."""
        n = min(n_words, int(np.count_nonzero(self.unigram_counts)))
        if n == self.n_words:
            return self
        counts, unigram = self.counts[:n, :n], self.unigram_counts[:n]
        return replace(self, words=self.words[:n], unigram_counts=unigram, counts=counts)

    @property
    def n_words(self) -> int:
        """Number of words."""
        return len(self.words)

    @property
    def unit(self) -> int:
        """What one whole co-occurrence counts."""
        return self.settings.unit

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"Cooccurrence({self.n_words} words, {self.counts.nnz} pairs, "
            f"{self.n_documents} documents, window {s.window} {s.direction} {s.weighting})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cooccurrence):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        same = self.words == other.words and self.settings == other.settings
        return same and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: "Cooccurrence") -> "Cooccurrence":
        if not isinstance(other, Cooccurrence):
            return NotImplemented
        if self.settings != other.settings:
            raise DataError(
                f"counts add up only with the same window: found {self.settings} "
                f"and {other.settings}; count one of them again"
            )
        words = tuple(dict.fromkeys(self.words + other.words))
        ids = {word: number for number, word in enumerate(words)}
        unigram = np.zeros(len(words), np.int64)
        total = csr_array((len(words), len(words)), dtype=np.int64)
        for part in (self, other):
            place = np.array([ids[word] for word in part.words])
            unigram[place] += part.unigram_counts
            total = added(total, _renumbered(part.counts, place, len(words)))
        n_documents = self.n_documents + other.n_documents
        n_tokens = self.n_tokens + other.n_tokens
        found = Cooccurrence(words, unigram, total, self.settings, n_documents, n_tokens)
        return found.in_order()

    def save(self, path: str | Path) -> None:
        """Write the counts to a safetensors file, whole or not at all."""
        arrays = self._arrays()
        metadata = {
            "format": LAYOUT.name,
            "version": str(LAYOUT.version),
            "settings": json.dumps(vars(self.settings)),
            "n_documents": str(self.n_documents),
            "n_tokens": str(self.n_tokens),
            "digest": _digest(arrays),
        }
        write_tensors(Path(path), arrays, metadata)

    @classmethod
    def load(cls, path: str | Path) -> "Cooccurrence":
        """Read counts that were saved; a damaged file is refused."""
        stored = read_tensors(Path(path), LAYOUT)
        stored.only("data", "indices", "indptr", "unigram", "words")
        if _digest(dict(stored.tensors)) != stored.metadata.get("digest"):
            raise FormatError(f"{path} is damaged: its contents do not match their digest")
        return cls._from(stored)

    @classmethod
    def _from(cls, stored: Stored) -> "Cooccurrence":
        about = stored.metadata
        try:
            words = parse_json(stored.numbers("words", (None,), "u").tobytes())
            settings = WindowSettings(**parse_json(about["settings"]))
            n_documents, n_tokens = (int(about[name]) for name in ("n_documents", "n_tokens"))
        except (KeyError, TypeError, ValueError) as error:
            stored.refuse("words and settings", "those of a corpus", error)
        if not (words and each(TEXT).fits(words) and min(n_documents, n_tokens) >= 0):
            stored.refuse("words", "a list of words", type(words).__name__)
        names = stored.distinct("words", tuple(words))
        unigram = stored.numbers("unigram", (len(names),), "i", 0)
        counts = stored.table("", (len(names), len(names)), "i")
        return cls(names, unigram, counts, settings, n_documents, n_tokens)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        words = json.dumps(self.words).encode("ascii")
        table = sparse_parts("", self.counts)
        return {
            "data": table["data"],
            "indptr": table["indptr"].astype(np.int64, copy=False),
            "unigram": self.unigram_counts,
            "indices": table["indices"].astype(np.int32, copy=False),
            "words": np.frombuffer(words, np.uint8),
        }


def _renumbered(counts: csr_array, place: NDArray[np.int64], n_words: int) -> csr_array:
    """Move row and column i to ``place[i]`` of a larger matrix."""
    if len(place) == n_words and np.array_equal(place, np.arange(n_words)):
        return counts
    pairs = counts.tocoo()
    rows, columns = place[pairs.coords[0]], place[pairs.coords[1]]
    moved = csr_array((pairs.data, (rows, columns)), shape=(n_words, n_words))
    moved.sort_indices()
    return moved


def added(a: csr_array, b: csr_array) -> csr_array:
    """Add two matrices of counts; unlike scipy, over all cores and without spare copies."""
    x, y = as_triple(a), as_triple(b)
    pieces = zip(cut_rows(x, ROWS), cut_rows(y, ROWS), strict=True)
    sums = LocalEngine().map(lambda pair: kernels.add_rows(*pair), list(pieces))
    indptr, indices, data = joined(sums, x[1].size + y[1].size, np.int32, np.int64)
    return csr_array((data, indices, indptr), shape=a.shape)


def as_triple(matrix: csr_array) -> kernels.Triple:
    """Give the arrays of a sparse matrix as kernels take them, columns sorted."""
    matrix.sort_indices()
    indptr, indices = matrix.indptr, matrix.indices
    return indptr.astype(np.int64, copy=False), indices.astype(np.int32, copy=False), matrix.data


def cut_rows(matrix: kernels.Triple, n_rows: int) -> list[kernels.Triple]:
    """Cut a sparse matrix into pieces of so many rows, each a matrix of its own."""
    indptr, indices, data = matrix
    pieces = []
    for begin in range(0, indptr.size - 1, n_rows):
        part = indptr[begin : begin + n_rows + 1]
        held = slice(part[0], part[-1])
        pieces.append((part - part[0], indices[held], data[held]))
    return pieces


def joined(
    pieces: Iterable[tuple[NDArray[Any], ...]], most: int, *dtypes: type[np.generic]
) -> list[NDArray[Any]]:
    """Lay rows one after another: lengths of rows become indptr, then come the other arrays.

    There is room for `most` entries; what is not needed is given back, and was never touched.
    """
    arrays = [np.empty(most, dtype) for dtype in dtypes]
    lengths, n = [np.zeros(1, np.int64)], 0
    for counted, *parts in pieces:
        end = n + parts[0].size
        for array, part in zip(arrays, parts, strict=True):
            array[n:end] = part
        lengths.append(counted)
        n = end
    for array in arrays:
        array.resize(n, refcheck=False)
    return [np.concatenate(lengths).cumsum(), *arrays]


def _digest(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(array.view(np.uint8).data if array.size else b"")
    return digest.hexdigest()

"""What a fit of a prepared corpus keeps in files: tokens, shards of documents, mixtures.

Files are beside the corpus, in a folder that goes with the fit, so that workers of other machines
that share the corpus can read them too. Each is read whole where it is used and is checked by its
CRC-32; memory holds those in use. A file goes when nobody can ask for it any more.
"""

import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from topicvec.errors import DataError, EngineError
from topicvec.files import hold
from topicvec.model.state import FEW_DOCUMENTS, Corpus, Shard, cut_words, loaded, shard_cost
from topicvec.text.prepared import Tokens

__all__ = ["Filed", "FiledShard", "FiledTable", "FiledTokens", "Store", "StoredCounts"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Cells = tuple[Ints, Ints, Ints]  # words of each document, their numbers, and how often

_PREFIX, _LOCK = ".fit-", "lock"  # which the process that writes there holds


@dataclass(frozen=True, eq=False)
class Filed:
    """Arrays in a file.

    Parameters
    ----------
    path : Path
        The file.
    layout : tuple of (str, str, tuple)
        Name, type and shape of each array.
    checksum : int
        CRC-32 of the file.
    """

    path: Path
    layout: tuple[tuple[str, str, tuple[int, ...]], ...]
    checksum: int

    def load(self) -> dict[str, NDArray[Any]]:
        """Read the arrays; refuse a file that is not what was written."""
        try:
            data = np.fromfile(self.path, np.uint8)
        except OSError as error:
            raise EngineError(
                f"{self.path}, which this fit wrote, cannot be read: {error.strerror}"
            ) from error
        if zlib.crc32(data.data) != self.checksum:
            raise EngineError(f"{self.path}, which this fit wrote, is damaged")
        arrays, start = {}, 0
        for name, kind, shape in self.layout:
            stop = start + int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
            arrays[name] = data[start:stop].view(kind).reshape(shape)
            start = stop
        return arrays


@dataclass(frozen=True, eq=False)
class FiledTokens:
    """A block of documents as numbers of words, in a file."""

    filed: Filed

    def take(self) -> Tokens:
        """Read the tokens."""
        arrays = self.filed.load()
        return Tokens(arrays["ids"], arrays["lengths"])


@dataclass(frozen=True, eq=False)
class FiledTable:
    """Mixtures of a shard, (d, K), in a file."""

    filed: Filed

    def __len__(self) -> int:
        return self.filed.layout[0][2][0]

    def load(self) -> Floats:
        """Read the table."""
        return self.filed.load()["table"]


@dataclass(frozen=True, eq=False)
class FiledShard:
    """A shard of documents in a file."""

    rows: slice
    place: slice
    filed: Filed

    def load(self) -> Shard:
        """Read the shard."""
        return Shard(rows=self.rows, place=self.place, **self.filed.load())


@dataclass(frozen=True)
class Keeper:
    """Writes the mixtures of shards that are in files into files beside them.

    Parameters
    ----------
    folder : Path
        Where to.
    number : int
        Of the E-step, so that the mixtures of the one before stay.
    """

    folder: Path
    number: int

    def __call__(self, shard: Any, table: Floats) -> Any:
        """Keep the mixtures of a shard as the shard itself is kept."""
        if not isinstance(shard, FiledShard):
            return table
        path = self.folder / f"{self.number}-{shard.rows.start}.bin"
        return FiledTable(write_arrays(path, {"table": table}))


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Filed:
    """Write arrays into a file."""
    # Wide ones first, so that each is aligned.
    ordered = dict(sorted(arrays.items(), key=lambda item: -item[1].itemsize))
    checksum = 0
    try:
        with path.open("wb") as file:
            for array in ordered.values():
                data = np.ascontiguousarray(array).tobytes() if array.size else b""
                checksum = zlib.crc32(data, checksum)
                file.write(data)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise EngineError(
            f"cannot write {path}: {error.strerror}; a fit keeps the mixtures of two "
            "iterations beside the corpus: make room there"
        ) from error
    layout = tuple((name, a.dtype.str, a.shape) for name, a in ordered.items())
    return Filed(path, layout, checksum)


class Store:
    """The folder of a fit; it goes with it.

    Parameters
    ----------
    folder : Path
        Beside what it is made.
    """

    def __init__(self, folder: Path) -> None:
        made: list[Path] = []
        try:
            _sweep(folder)
            made.append(Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder)))
            lock = os.open(made[0] / _LOCK, os.O_CREAT | os.O_RDWR)
        except OSError as error:
            for each in made:
                shutil.rmtree(each, ignore_errors=True)
            raise DataError(
                f"cannot write into {folder} ({error.strerror}), where a fit of a prepared corpus "
                "keeps the mixtures of its documents: copy the corpus to where you may write"
            ) from error
        hold(lock)
        self.folder = made[0]
        self.numbers = count()
        weakref.finalize(self, os.close, lock)
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def keep(self, arrays: Mapping[str, NDArray[Any]]) -> Filed:
        """Write arrays into a file."""
        return self._owned(write_arrays(self.folder / f"{next(self.numbers)}.bin", arrays))

    def _owned(self, filed: Filed) -> Filed:
        """Let a file go when nobody here can ask for it any more."""
        weakref.finalize(filed, filed.path.unlink, missing_ok=True).atexit = False
        return filed

    def keeper(self) -> "Keeper":
        """Give what writes the mixtures of one E-step, here or on another computer."""
        return Keeper(self.folder, next(self.numbers))

    def own(self, states: Sequence[Any]) -> tuple[Any, ...]:
        """Take over what a keeper has written."""
        for state in states:
            if isinstance(state, FiledTable):
                self._owned(state.filed)
        return tuple(states)

    def tokens(self, tokens: Tokens) -> FiledTokens:
        """Write a block of documents."""
        return FiledTokens(self.keep(tokens._asdict()))

    def shard(self, shard: Shard) -> FiledShard:
        """Write a shard."""
        values = {each.name: getattr(shard, each.name) for each in fields(Shard)}
        rows, place = values.pop("rows"), values.pop("place")
        return FiledShard(rows, place, self.keep(values))


def _sweep(folder: Path) -> None:
    """Remove folders of fits whose process is no more, so that nobody holds their lock."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another process sweeps too, or has just begun
            lock = os.open(path / _LOCK, os.O_RDWR)
            ended = hold(lock)
            os.close(lock)
            if ended:
                shutil.rmtree(path, ignore_errors=True)


class StoredCounts:
    """Counts of documents × words in files: of a sparse matrix what the start of a fit asks for.

    Parameters
    ----------
    store : Store
        Where shards are written.
    n_words : int
        W, the number of vectors.
    types : array, (U,)
        Rows of the vectors that occur, increasing.
    type_counts : array, (U,)
        How often each occurs.
    cells : iterator of (lengths, words, counts)
        The documents in order: how many different words each has, which of the types these are,
        and how often it has each.
    room : int
        Bytes of memory that may hold the first shards and their mixtures.
    n_topics : int
        K, as far as it is known, for the size of mixtures.

    Attributes
    ----------
    indptr : array, (D + 1,)
        Where each document's cells begin, as in a sparse matrix.
    shards : tuple of FiledShard or Shard
        The documents, cut as `cut_growing` does.
    """

    def __init__(
        self,
        store: Store,
        n_words: int,
        types: Ints,
        type_counts: Ints,
        cells: Iterator[Cells],
        room: int = 0,
        n_topics: int = 0,
    ) -> None:
        self.store, self.types, self.type_counts = store, types, type_counts
        self.type_documents = np.zeros(len(types), np.int64)
        self.narrow = False
        shards: list[Shard | FiledShard] = []
        lengths = [np.zeros(1, np.int64)]
        for shard in _cut(cells):
            self.type_documents += np.bincount(shard.words, minlength=len(types))
            lengths.append(np.diff(shard.indptr))
            room -= _size(shard) + 3 * 4 * n_topics * len(shard.group)  # before, after, and between
            shards.append(shard if room >= 0 else store.shard(shard))
        self.shards = tuple(shards)
        self.indptr = np.cumsum(np.concatenate(lengths))
        self.shape = len(self.indptr) - 1, n_words

    @property
    def nnz(self) -> int:
        """Number of counts that are not zero."""
        return int(self.indptr[-1])

    def used(self) -> tuple[Ints, "StoredCounts"]:
        """Give the words that occur (U,), and the counts with columns for these alone (D, U)."""
        same = object.__new__(StoredCounts)
        vars(same).update(vars(self), narrow=True, shape=(self.shape[0], len(self.types)))
        return self.types, same

    def sum(self, axis: int | None = None) -> Any:
        """Add up all counts, or those of each word (axis 0)."""
        return int(self.type_counts.sum()) if axis is None else self._of_words(self.type_counts)

    def frequencies(self) -> Ints:
        """Say in how many documents each word is."""
        return self._of_words(self.type_documents)

    def _of_words(self, values: Ints) -> Ints:
        if self.narrow:
            return values
        found = np.zeros(self.shape[1], values.dtype)
        found[self.types] = values
        return found

    def __getitem__(self, rows: Ints) -> csr_array:
        order: Ints = np.argsort(rows, kind="stable")
        edges = np.searchsorted(rows[order], [0, *(shard.rows.stop for shard in self.shards)])
        parts = []
        for shard, first, last in zip(self.shards, edges, edges[1:], strict=False):
            if last > first:
                table = self._table(loaded(shard))
                parts.append(table[rows[order[first:last]] - shard.rows.start])
        nothing = csr_array((0, self.shape[1]), dtype=np.int32)
        place = np.empty(len(rows), np.int64)
        place[order] = np.arange(len(rows))
        found: csr_array = csr_array(vstack([nothing, *parts], format="csr"))
        return csr_array(found[place])

    def _table(self, shard: Shard) -> csr_array:
        words = shard.words if self.narrow else self.types[shard.words].astype(np.int32)
        parts = shard.counts.astype(np.int32), words, shard.indptr
        return csr_array(parts, (len(shard.group), self.shape[1]))

    def arrays(self) -> Iterator[NDArray[Any]]:
        """Give what a sparse matrix has, a piece at a time: indptr, indices, data."""
        yield self.indptr
        for shard in self.shards:
            yield self.types[loaded(shard).words]
        for shard in self.shards:
            yield loaded(shard).counts.astype(np.int64)

    def corpus(self, n_topics: int) -> Corpus:
        """Lay out the counts for an E-step."""
        return Corpus(
            shards=self.shards,  # type: ignore[arg-type]  # loaded where they are used
            types=self.types,
            type_counts=self.type_counts.astype(float),
            type_documents=self.type_documents,
            sizes=np.array([self.shape[0]]),
            allowed=np.ones((1, n_topics), bool),
            blocks=cut_words(len(self.types)),
            compiled=self.shape[0] > FEW_DOCUMENTS,
            store=self.store,
        )

    def cut(self, table: Any) -> Sequence[Any]:
        """Cut a table that has a row for each document, and is read a slice at a time."""
        keep = self.store.keeper()
        return self.store.own([keep(shard, table[shard.rows]) for shard in self.shards])


def _size(shard: Shard) -> int:
    return sum(getattr(shard, each.name).nbytes for each in fields(Shard)[2:])


def _cut(cells: Iterator[Cells]) -> Iterator[Shard]:
    """Cut documents into shards as they come, as `cut_growing` does when it knows them all."""
    waiting: Cells = (np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    cost, rows, place = 0.0, 0, 0
    for last, more in _with_last(cells):
        lengths, words, counts = (np.concatenate(pair) for pair in zip(waiting, more, strict=True))
        start = begin = 0
        costs = np.concatenate([[0.0], np.cumsum(lengths + 4.0)])
        ends = np.concatenate([[0], np.cumsum(lengths)])
        while start < len(lengths):
            stop = int(np.searchsorted(costs, costs[start] + shard_cost(cost)))
            if stop >= len(costs):
                if not last:
                    break
                stop = len(lengths)
            indptr, mine = ends[start : stop + 1] - begin, slice(begin, int(ends[stop]))
            n, size = stop - start, mine.stop - begin
            yield Shard.of(
                slice(rows, rows + n), slice(place, place + size), indptr,
                words[mine].astype(np.int32), counts[mine].astype(np.float32),
                np.zeros(n, np.int32),
            )  # fmt: skip
            cost += float(costs[stop] - costs[start])
            rows, place, start, begin = rows + n, place + size, stop, mine.stop
        waiting = lengths[start:], words[begin:], counts[begin:]


def _with_last(cells: Iterator[Cells]) -> Iterator[tuple[bool, Cells]]:
    """Say of each piece whether it is the last."""
    before = next(cells, None)
    while before is not None:
        after = next(cells, None)
        yield after is None, before
        before = after

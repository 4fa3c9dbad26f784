"""Sums of pairs in bounded memory: a dense corner, sorted runs, and runs spilled to disk.

The words of a vocabulary come in decreasing frequency, so pair (i, j) is expected about
1/(i·j) times as often as the first. Pairs with i·j below a bound are added up in place in a
ragged dense corner; all others are buffered as integer keys, sorted, and reduced to runs. Runs
that outgrow their share of the budget are written to disk, and all are merged a slice of keys at
a time. Everything is an integer, so neither order nor budget changes a sum.

A folder keeps the sums of a run, so that a killed run can go on. A commit writes new files first
and replaces the manifest last, in one step; whatever the manifest does not name is left over from
a killed run and is removed.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.embed import kernels
from topicvec.embed.encode import Mark
from topicvec.errors import DataError, FormatError
from topicvec.files import atomic_write
from topicvec.stored import TEXT, Kind, Stored, each, mapping, parse_json, save_array, whole
from topicvec.text import Vocabulary

__all__ = [
    "Checkpoint", "Corner", "RowRange", "claim_folder", "load_first_pass", "row_ranges",
    "save_first_pass",
]  # fmt: skip

RECORD = np.dtype([("key", "<u8"), ("sum", "<i8")])
SLICE = 1 << 21  # records merged at a time
MANY_RUNS = 16  # spilled runs of one range are merged into one file beyond this
VERSION = 1
_ADVICE = "empty the folder and start again"
_LEFT = r"\.(run|state|manifest|vocabulary)\S*\.part"  # of a killed run, see `atomic_write`
OURS = re.compile(
    rf"run-\d+-\d+-[\w-]+\.bin|state-\d+\.npy|(manifest|vocabulary)\.json\.new|{_LEFT}"
)
MANIFEST, FIRST_PASS = "manifest.json", "vocabulary.json"
_NAME = Kind("name of a run", lambda value: TEXT.fits(value) and bool(OURS.fullmatch(value)))
_COMMON = {"version": whole(0), "fingerprint": TEXT, "n_documents": whole(0), "digest": TEXT}
_FIELDS = _COMMON | {
    "n_tokens": whole(0), "state": _NAME, "runs": each(each(_NAME)), "files": mapping(whole(0)),
}  # fmt: skip
_FIRST_FIELDS = _COMMON | {"words": each(TEXT), "counts": each(whole(0))}


class Run(NamedTuple):
    """Sorted pair keys (``row * n_words + column``) and their sums."""

    keys: NDArray[np.uint64]
    sums: NDArray[np.int64]


class Corner(NamedTuple):
    """Which pairs are added up in place: in row i the columns below ``widths[i]``."""

    widths: NDArray[np.int64]
    offsets: NDArray[np.int64]  # where each row starts in the flat corner, and its size

    @classmethod
    def within(cls, n_words: int, n_cells: int) -> "Corner":
        """Choose the widest corner i·j < bound that has at most ``n_cells`` cells.

        Examples
        --------
        >>> Corner.within(4, 8).widths.tolist()
        [4, 2, 1, 1]
        """
        ranks = np.arange(1, n_words + 1)

        def size(bound: int) -> int:
            return int(np.minimum(bound // ranks, n_words).sum())

        bound = bisect_right(range(n_words * n_words + 1), n_cells, key=size) - 1
        widths = np.minimum(bound // ranks, n_words).astype(np.int64)
        return cls(widths, np.concatenate([[0], np.cumsum(widths)]).astype(np.int64))


def row_ranges(mass: NDArray[np.int64], n_ranges: int) -> list[tuple[int, int]]:
    """Cut rows into at most ``n_ranges`` ranges of about equal mass.

    Examples
    --------
    >>> row_ranges(np.array([9, 4, 2, 1, 1]), 2)
    [(0, 2), (2, 5)]
    >>> row_ranges(np.ones(4, int), 2)
    [(0, 2), (2, 4)]
    """
    shares = np.cumsum(mass + 1) / np.sum(mass + 1)  # the 1: each row costs something
    ends = np.searchsorted(shares, np.arange(1, n_ranges) / n_ranges - 1e-9) + 1
    cuts = [0, *np.unique(ends[ends < mass.size]).tolist(), mass.size]
    return list(pairwise(cuts))


class RowRange:
    """Adds up the pairs of a range of rows; the only state of counting that changes.

    Parameters
    ----------
    rows : (int, int)
        First row and the one after the last.
    corner : Corner
    n_words : int
    weights : ndarray of int64, shape (window + 1,)
        What a pair at each distance counts.
    memory_budget : int
        Bytes for this range's buffer and runs.
    """

    def __init__(
        self,
        rows: tuple[int, int],
        corner: Corner,
        n_words: int,
        weights: NDArray[np.int64],
        memory_budget: int,
    ) -> None:
        self.rows, self.corner, self.n_words, self.weights = rows, corner, n_words, weights
        self.shift = int(weights.size).bit_length()
        self.dense = np.zeros(corner.offsets[rows[1]] - corner.offsets[rows[0]], np.int64)
        complete = bool(np.all(corner.widths[rows[0] : rows[1]] == n_words))
        n_keys = weights.size if complete else max(memory_budget // 3 // 8, 64 * weights.size)
        self.keys = np.empty(n_keys, np.uint64)
        self.n_keys = 0
        self.budget = memory_budget - self.keys.nbytes
        self.runs: list[Run] = []
        self.files: list[Path] = []
        self.committed: frozenset[Path] = frozenset()  # what a manifest names must stay

    def add(self, stream: NDArray[np.int32], folder: Path, stem: str) -> "RowRange":
        """Count a stream of ids, spilling to new files ``stem-*`` in the folder if need be.

        Returns the range with its new sums, which may be a copy's where work is sent away.
        """
        position, end = 0, stream.size - self.weights.size + 1
        while position < end:
            position, self.n_keys = kernels.count_pairs(
                stream, position, self.rows, self.weights, *self.corner,
                self.dense, self.keys, self.n_keys, self.n_words, self.shift,
            )  # fmt: skip
            if position < end:
                self._reduce()
                self._spill_if_many(folder, f"{stem}-{position}")
        return self

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Run]:
        """Give the sums: places of the dense corner that are not 0, what is there, one run."""
        places = np.flatnonzero(self.dense)
        return places, self.dense[places], self._merged()

    def take(
        self, places: NDArray[np.int64], sums: NDArray[np.int64], run: Run, folder: Path, stem: str
    ) -> None:
        """Add what another range of the same rows has `counted`."""
        self.dense[places] += sums
        if run.keys.size:
            self._keep(run)
            self._spill_if_many(folder, stem)

    def _reduce(self) -> None:
        keys = self.keys[: self.n_keys]
        keys.sort()
        self.n_keys = 0
        self._keep(Run(*kernels.reduce_sorted(keys, self.weights, self.shift)))

    def _keep(self, run: Run) -> None:
        # Merging runs of like size only keeps the work per record logarithmic.
        while self.runs and self.runs[-1].keys.size < 2 * run.keys.size:
            run = _merge_two(self.runs.pop(), run)
        self.runs.append(run)

    def _spill_if_many(self, folder: Path, stem: str) -> None:
        if sum(array.nbytes for run in self.runs for array in run) > self.budget // 2:
            self.spill(folder, stem)

    def spill(self, folder: Path, stem: str) -> None:
        """Write everything that is not in the dense corner to disk."""
        if self.n_keys:
            self._reduce()
        if self.runs:
            path = folder / f"run-{self.rows[0]}-{stem}.bin"
            write_run(path, merge_slices(self.runs))
            self.runs = []
            self.files.append(path)
        if len(self.files) > MANY_RUNS:
            path = folder / f"run-{self.rows[0]}-{stem}-merged.bin"
            write_run(path, merge_slices([open_run(old) for old in self.files]))
            merged, self.files = self.files, [path]
            for old in merged:
                if old not in self.committed:
                    old.unlink()

    def finish(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Give the range's rows as CSR: entries in each row, columns, sums."""
        return kernels.assemble_rows(
            self.rows, *self.corner, self.dense, *self._merged(), self.n_words
        )

    def _merged(self) -> Run:
        if self.n_keys:
            self._reduce()
        slices = list(merge_slices([*self.runs, *map(open_run, self.files)]))
        slices.append(Run(np.empty(0, np.uint64), np.empty(0, np.int64)))  # so that there is one
        return Run(*(np.concatenate(parts) for parts in zip(*slices, strict=True)))


def _merge_two(a: Run, b: Run) -> Run:
    return Run(*kernels.merge_runs(a.keys, a.sums, b.keys, b.sums))


def _merge_all(runs: list[Run]) -> Run:
    while len(runs) > 1:
        pairs = zip(runs[::2], runs[1::2], strict=False)
        runs = [_merge_two(a, b) for a, b in pairs] + runs[len(runs) & ~1 :]
    return runs[0]


def merge_slices(runs: Sequence[Run], n_records: int = SLICE) -> Iterator[Run]:
    """Merge sorted runs, a range of keys at a time.

    Parameters
    ----------
    runs : sequence of Run
        In memory or mapped from disk.
    n_records : int
        About how many records to hold at a time.

    Yields
    ------
    Run
        One after another in the order of keys.

    Examples
    --------
    >>> a = Run(np.array([1, 5], np.uint64), np.array([2, 3]))
    >>> b = Run(np.array([5, 9], np.uint64), np.array([4, 1]))
    >>> [(run.keys.tolist(), run.sums.tolist()) for run in merge_slices([a, b])]
    [([1, 5, 9], [2, 7, 1])]
    """
    if not runs:
        return
    step = max(n_records // len(runs), 1)
    bounds = max(runs, key=lambda run: run.keys.size).keys[step::step]
    cuts = [[0, *np.searchsorted(run.keys, bounds).tolist(), run.keys.size] for run in runs]
    for places in zip(*map(pairwise, cuts), strict=True):
        parts = [
            Run(
                np.ascontiguousarray(run.keys[begin:end]), np.ascontiguousarray(run.sums[begin:end])
            )
            for run, (begin, end) in zip(runs, places, strict=True)
            if begin < end
        ]
        if parts:
            yield _merge_all(parts)


def write_run(path: Path, slices: Iterator[Run]) -> None:
    """Write a run to disk, slice by slice."""
    with atomic_write(path) as part, part.open("wb") as file:
        for run in slices:
            records = np.empty(run.keys.size, RECORD)
            records["key"], records["sum"] = run.keys, run.sums
            file.write(records.data)


def open_run(path: Path) -> Run:
    """Map a run that was written to disk."""
    try:
        records = np.memmap(path, RECORD, mode="r")
    except (OSError, ValueError) as error:
        raise FormatError(f"the run file {path} is missing or damaged: {error}") from error
    return Run(records["key"], records["sum"])


def _open_state(path: Path) -> NDArray[np.int64]:
    """Map the sums of a commit."""
    try:
        parts = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise FormatError(f"{path} is missing or damaged ({error}): {_ADVICE}") from error
    if not isinstance(parts, np.ndarray) or parts.dtype != np.int64 or parts.ndim != 1:
        raise FormatError(f"{path}: expected a row of sums, found another file: {_ADVICE}")
    if parts.size and parts.min() < 0:
        raise FormatError(f"{path}: expected sums of at least 0, found {parts.min()}: {_ADVICE}")
    return parts


def _check_run(path: Path, rows: RowRange) -> None:
    """Refuse a run with keys that are not in order or not of these rows: loops follow them."""
    run = open_run(path)
    least, most = (row * rows.n_words for row in rows.rows)
    for start in range(0, run.keys.size, SLICE):
        keys, sums = (part[start : start + SLICE + 1] for part in run)
        if keys[0] < least or keys[-1] >= most or (keys[1:] <= keys[:-1]).any() or sums.min() < 0:
            raise FormatError(f"{path}: expected rising keys of its rows, found others: {_ADVICE}")


class Checkpoint:
    """The committed state of a counting run in its folder, which is made if need be.

    Parameters
    ----------
    folder : Path
    fingerprint : str
        Settings and words; the folder of a run with others is refused.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        claim_folder(folder)
        self.folder, self.fingerprint = folder, fingerprint
        self.manifest = _read(
            folder / MANIFEST, _FIELDS, fingerprint, "a run with other words, window or tokenizer"
        )
        self._sweep()

    @property
    def mark(self) -> Mark | None:
        """How far the last commit had read; None before the first."""
        found = self.manifest
        return None if found is None else Mark(found["n_documents"], found["digest"])

    @property
    def n_tokens(self) -> int:
        """Tokens counted up to the last commit."""
        return 0 if self.manifest is None else int(self.manifest["n_tokens"])

    def restore(self, unigram: NDArray[np.int64], ranges: Sequence[RowRange]) -> None:
        """Fill unigram counts and row ranges from the last commit, if there is one."""
        if self.manifest is None:
            return
        sizes = self.manifest["files"]
        for name, size in sizes.items():
            path = self.folder / name
            if not path.exists() or path.stat().st_size != size:
                raise FormatError(f"{path} is missing or damaged: empty the folder, start again")
        parts = _open_state(self.folder / self.manifest["state"])
        ends = np.cumsum([unigram.size, *(rows.dense.size for rows in ranges)])
        if ends[-1] != parts.size or len(ranges) != len(self.manifest["runs"]):
            raise DataError(
                f"the run in {self.folder} had another memory_budget: use the same, "
                "or give another folder"
            )
        unigram[:] = parts[: ends[0]]
        for rows, end, names in zip(ranges, ends[1:], self.manifest["runs"], strict=True):
            rows.dense[:] = parts[end - rows.dense.size : end]
            rows.files = [self.folder / name for name in names]
            for path in rows.files:
                _check_run(path, rows)
            rows.committed = frozenset(rows.files)

    def commit(
        self, mark: Mark, n_tokens: int, unigram: NDArray[np.int64], ranges: Sequence[RowRange]
    ) -> None:
        """Write everything counted so far; atomic: a kill at any time leaves a good commit."""
        for rows in ranges:
            rows.spill(self.folder, f"{mark.n_documents}-commit")
        state = self.folder / f"state-{mark.n_documents}.npy"
        with atomic_write(state) as part, part.open("wb") as file:
            save_array(file, np.concatenate([unigram, *(rows.dense for rows in ranges)]))
        paths = [state, *(path for rows in ranges for path in rows.files)]
        self.manifest = {
            "format": "topicvec counting run",
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "n_documents": mark.n_documents,
            "digest": mark.digest,
            "n_tokens": n_tokens,
            "state": state.name,
            "runs": [[path.name for path in rows.files] for rows in ranges],
            "files": {path.name: path.stat().st_size for path in paths},
        }
        _replace(self.folder / MANIFEST, self.manifest)
        for rows in ranges:
            rows.committed = frozenset(rows.files)
        self._sweep()

    def _sweep(self) -> None:
        named = set() if self.manifest is None else set(self.manifest["files"])
        for path in self.folder.iterdir():
            if OURS.fullmatch(path.name) and path.name not in named:
                path.unlink()


def claim_folder(folder: Path) -> None:
    """Make a folder if need be; refuse one with files that no counting run wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {MANIFEST, FIRST_PASS}
    if (folder / MANIFEST).exists():
        return
    if not all(OURS.fullmatch(path.name) or path.name in known for path in folder.iterdir()):
        raise DataError(f"the folder {folder} has other files in it: give an empty one")


def save_first_pass(folder: Path, fingerprint: str, vocabulary: Vocabulary, end: Mark) -> None:
    """Keep the vocabulary of a whole corpus, so that a restarted run need not count it again."""
    found = {
        "version": VERSION,
        "fingerprint": fingerprint,
        "n_documents": end.n_documents,
        "digest": end.digest,
        "words": vocabulary.words,
        "counts": vocabulary.counts.tolist(),
    }
    _replace(folder / FIRST_PASS, found)


def load_first_pass(folder: Path, fingerprint: str) -> tuple[Vocabulary, Mark] | None:
    """Give the vocabulary that was kept and where its corpus ends; refuse other settings."""
    what = "the words of a run with another min_count, number of words or tokenizer"
    found = _read(folder / FIRST_PASS, _FIRST_FIELDS, fingerprint, what)
    if found is None:
        return None
    vocabulary = Vocabulary(tuple(found["words"]), np.array(found["counts"], np.int64))
    return vocabulary, Mark(found["n_documents"], found["digest"])


def _read(
    path: Path, kinds: Mapping[str, Kind], fingerprint: str, what: str
) -> dict[str, Any] | None:
    """Read what a run has left, if it has; `what` says what it is if settings were others."""
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = parse_json(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} is damaged ({error}): {_ADVICE}") from error
    Stored(path, {}, {}, _ADVICE).fields("it", found, kinds, *kinds)
    if found["version"] != VERSION:
        raise FormatError(f"{path} was written by another version of topicvec")
    if found["fingerprint"] != fingerprint:
        raise DataError(
            f"the folder {path.parent} holds {what}: use the same settings, or give another folder"
        )
    return found


def _replace(path: Path, contents: dict[str, Any]) -> None:
    with atomic_write(path) as part:
        part.write_bytes(json.dumps(contents).encode())

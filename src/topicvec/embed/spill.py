"""Sums of pairs in bounded memory: a dense corner, sorted runs, and runs spilled to disk.

The words of a vocabulary come in decreasing frequency, so pair (i, j) is expected about
1/(i·j) times as often as the first. Pairs with i·j below a bound are added up in place in a
ragged dense corner; all others are buffered as integer keys, sorted, and reduced to runs. Runs
that outgrow their share of the budget are written to disk, and all are merged a slice of keys at
a time. Everything is an integer, so neither order nor budget changes a sum.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.embed import counting_kernels as kernels
from topicvec.errors import FormatError

__all__ = ["Corner", "RowRange", "Run", "merge_slices", "open_run", "row_ranges", "write_run"]

RECORD = np.dtype([("key", "<u8"), ("sum", "<i8")])
SLICE = 1 << 21  # records merged at a time
MANY_RUNS = 16  # spilled runs of one range are merged into one file beyond this


class Run(NamedTuple):
    """Sorted pair keys (``row * n_words + column``) and their sums."""

    keys: NDArray[np.uint64]
    sums: NDArray[np.int64]

    @property
    def n_bytes(self) -> int:
        """Memory that the run takes."""
        return self.keys.nbytes + self.sums.nbytes


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
        low, high = 0, n_words * n_words
        ranks = np.arange(1, n_words + 1)
        while low < high:
            bound = (low + high + 1) // 2
            if np.minimum(bound // ranks, n_words).sum() <= n_cells:
                low = bound
            else:
                high = bound - 1
        widths = np.minimum(low // ranks, n_words).astype(np.int64)
        return cls(widths, np.concatenate([[0], np.cumsum(widths)]).astype(np.int64))


def row_ranges(mass: NDArray[np.int64], n_ranges: int) -> list[tuple[int, int]]:
    """Cut rows into at most ``n_ranges`` ranges of about equal mass.

    Examples
    --------
    >>> row_ranges(np.array([9, 4, 2, 1, 1]), 2)
    [(0, 2), (2, 5)]
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

    def add(self, stream: NDArray[np.int32], folder: Path, stem: str) -> None:
        """Count a stream of ids, spilling to new files ``stem-*`` in the folder if need be."""
        position, end = 0, stream.size - self.weights.size + 1
        while position < end:
            position, self.n_keys = kernels.count_pairs(
                stream, position, self.rows, self.weights, *self.corner,
                self.dense, self.keys, self.n_keys, self.n_words, self.shift,
            )  # fmt: skip
            if position < end:
                self._reduce()
                self._relieve(folder, f"{stem}-{position}")

    def _reduce(self) -> None:
        keys = self.keys[: self.n_keys]
        keys.sort()
        run = Run(*kernels.reduce_sorted(keys, self.weights, self.shift))
        self.n_keys = 0
        # Merging runs of like size only keeps the work per record logarithmic.
        while self.runs and self.runs[-1].keys.size < 2 * run.keys.size:
            run = _merge_two(self.runs.pop(), run)
        self.runs.append(run)

    def _relieve(self, folder: Path, stem: str) -> None:
        if sum(run.n_bytes for run in self.runs) > self.budget // 2:
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
        if self.n_keys:
            self._reduce()
        slices = list(merge_slices([*self.runs, *map(open_run, self.files)]))
        empty = Run(np.empty(0, np.uint64), np.empty(0, np.int64))
        keys = np.concatenate([empty.keys, *(run.keys for run in slices)])
        sums = np.concatenate([empty.sums, *(run.sums for run in slices)])
        lengths, indices, data = kernels.assemble_rows(
            self.rows, *self.corner, self.dense, keys, sums, self.n_words
        )
        return lengths, indices, data


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
    longest = max(runs, key=lambda run: run.keys.size)
    bounds = [*longest.keys[step::step].tolist(), None]
    starts = [0] * len(runs)
    for bound in bounds:
        ends = [
            run.keys.size if bound is None else int(np.searchsorted(run.keys, np.uint64(bound)))
            for run in runs
        ]
        parts = [
            Run(np.ascontiguousarray(run.keys[a:b]), np.ascontiguousarray(run.sums[a:b]))
            for run, a, b in zip(runs, starts, ends, strict=True)
            if a < b
        ]
        starts = ends
        if parts:
            yield _merge_all(parts)


def write_run(path: Path, slices: Iterator[Run]) -> None:
    """Write a run to disk, slice by slice."""
    with path.open("wb") as file:
        for run in slices:
            records = np.empty(run.keys.size, RECORD)
            records["key"], records["sum"] = run.keys, run.sums
            records.tofile(file)


def open_run(path: Path) -> Run:
    """Map a run that was written to disk."""
    try:
        records = np.memmap(path, RECORD, mode="r")
    except (OSError, ValueError) as error:
        raise FormatError(f"the run file {path} is missing or damaged: {error}") from error
    return Run(records["key"], records["sum"])

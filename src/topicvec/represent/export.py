"""Tables of documents to files: CSV, TSV, JSON lines, Parquet or NumPy, a batch at a time."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError, require
from topicvec.files import atomic_write
from topicvec.stored import save_array

__all__ = ["Columns", "Write", "check_suffix", "delimited", "open_table"]

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]
Write = Callable[[Columns], None]


@contextmanager
def open_table(path: str | PathLike[str]) -> Iterator[Write]:
    """Open a table for writing; its ending says the format.

    Parameters
    ----------
    path : path
        Ends in .csv, .tsv, .jsonl, .parquet or .npy. The file appears when all is written, and
        not at all after an error.

    Yields
    ------
    callable
        To be called with the columns of a batch of rows; the same columns each time. Text
        formats keep eight digits of a number, the others all; .npy keeps only columns of
        numbers, as a matrix.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "shares.csv")
    >>> with open_table(path) as write:
    ...     write({"id": ["a", "b"], "topic0": np.array([0.5, 0.25])})
    >>> print(path.read_text())
    id,topic0
    a,0.5
    b,0.25
    """
    file = Path(path)
    opener = _OPENERS[check_suffix(file)]
    with atomic_write(file) as part, opener(part) as write:
        yield write


def check_suffix(path: Path) -> str:
    """Refuse a file whose ending is none of a table, and give the ending.

    Examples
    --------
    >>> check_suffix(Path("a.CSV"))
    '.csv'
    >>> check_suffix(Path("a.xls"))
    Traceback (most recent call last):
    topicvec.errors.DataError: a.xls: the name must end in .csv, .tsv, .jsonl, .parquet or .npy ...
    """
    suffix = path.suffix.lower()
    if suffix not in _OPENERS:
        *most, last = _OPENERS
        raise DataError(
            f"{path}: the name must end in {', '.join(most)} or {last} to say the format"
        )
    if suffix == ".parquet":
        require("pyarrow.parquet", "readers", "writing Parquet")
    return suffix


def delimited(file: IO[str], delimiter: str = ",") -> Write:
    """Give what writes batches of rows to an open file, the names of the columns before them.

    Examples
    --------
    >>> import sys
    >>> delimited(sys.stdout)({"id": ["a"], "topic0": np.array([0.5])})
    id,topic0
    a,0.5
    """
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    named: list[str] = []

    def write(columns: Columns) -> None:
        if not named:
            writer.writerow(columns)
            named.extend(columns)
        writer.writerows(zip(*(_plain(each, str) for each in columns.values()), strict=True))

    return write


@contextmanager
def _delimited(path: Path, delimiter: str) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        yield delimited(file, delimiter)


@contextmanager
def _json_lines(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:

        def write(columns: Columns) -> None:
            values = [_plain(column, float) for column in columns.values()]
            for row in zip(*values, strict=True):
                record = dict(zip(columns, row, strict=True))
                file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")

        yield write


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    arrow = require("pyarrow", "readers", "writing Parquet")
    parquet = require("pyarrow.parquet", "readers", "writing Parquet")
    writers: list[Any] = []

    def write(columns: Columns) -> None:
        # what is not a column of numbers is one of text, also if it holds nothing
        arrays = {
            name: arrow.array(values, None if isinstance(values, np.ndarray) else arrow.string())
            for name, values in columns.items()
        }
        table = arrow.table(arrays)
        if not writers:
            writers.append(parquet.ParquetWriter(path, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


@contextmanager
def _numpy(path: Path) -> Iterator[Write]:
    batches: list[NDArray[Any]] = []

    def write(columns: Columns) -> None:
        numbers = [values for values in columns.values() if isinstance(values, np.ndarray)]
        batches.append(np.stack(numbers, axis=1))

    yield write
    with path.open("wb") as file:
        save_array(file, np.concatenate(batches))


_OPENERS: dict[str, Callable[[Path], AbstractContextManager[Write]]] = {
    ".csv": lambda path: _delimited(path, ","),
    ".tsv": lambda path: _delimited(path, "\t"),
    ".jsonl": _json_lines,
    ".parquet": _parquet,
    ".npy": _numpy,
}


def _plain(values: Sequence[Any] | NDArray[Any], kind: type[str | float]) -> Sequence[Any]:
    """Give a column as a list, its fractions with eight digits, as text or as numbers."""
    if not isinstance(values, np.ndarray):
        return values
    plain: list[Any] = values.tolist()
    return [kind(f"{value:.8g}") for value in plain] if values.dtype.kind == "f" else plain

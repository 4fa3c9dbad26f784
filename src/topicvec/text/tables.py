"""Tables, one row a document: CSV, TSV, JSON lines and Parquet, read a piece at a time."""

import csv
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from topicvec.errors import DataError, FormatError, require
from topicvec.text.columns import Columns
from topicvec.text.compression import STDIN, display_name, file_suffix, open_binary, open_text
from topicvec.text.document import Document
from topicvec.text.sources import SourceFile

__all__ = ["Dialect", "read_delimited", "read_jsonl", "read_parquet"]

_LARGEST_FIELD = 2**31 - 1  # what a C long holds on every system
_BATCH_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a delimited file is written.

    Attributes
    ----------
    delimiter : str
        Between fields.
    quoting : bool
        Whether fields may stand in double quotes and then hold delimiters and line ends.
    header : bool
        Whether the first row names the columns.

    Examples
    --------
    >>> Dialect(delimiter=";")
    Dialect(delimiter=';', quoting=True, header=True)
    """

    delimiter: str = ","
    quoting: bool = True
    header: bool = True

    def rows(self, stream: TextIO, where: str) -> Iterator[tuple[int, list[str]]]:
        """Split a stream into rows of fields.

        Parameters
        ----------
        stream : text stream
            Opened with untouched line ends.
        where : str
            The file, for messages.

        Yields
        ------
        tuple of int and list of str
            The last line of the row, counted from 1, and its fields.
        """
        if self.quoting:
            return self._quoted_rows(stream, where)
        return ((n, _without_end(line).split(self.delimiter)) for n, line in enumerate(stream, 1))

    def _quoted_rows(self, stream: TextIO, where: str) -> Iterator[tuple[int, list[str]]]:
        # one limit for the whole process; raising it takes nothing from anyone
        csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_FIELD))
        reader = csv.reader(stream, delimiter=self.delimiter, strict=True)
        try:
            yield from ((reader.line_num, row) for row in reader if row)
        except csv.Error as error:
            raise FormatError(
                f"{where}, line {reader.line_num}: {error}; close or double the quotes there, "
                "or read without quotes by quoting=False (--format csv,no-quoting)"
            ) from error


def read_delimited(
    file: SourceFile, columns: Columns, encoding: str, dialect: Dialect
) -> Iterator[Document]:
    r"""Read a CSV or TSV file, one row a document.

    Parameters
    ----------
    file : SourceFile
        The file.
    columns : Columns
        What is where; positions if there is no header.
    encoding : str
        Of the file.
    dialect : Dialect
        How it is written.

    Yields
    ------
    Document
        One for each row.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp(), "pets.csv")
    >>> _ = path.write_text("text,label\nCats purr.,cat\n")
    >>> [document.label for document in read_delimited(
    ...     SourceFile(path), Columns(), "utf-8", Dialect())]
    ['cat']
    """
    name = display_name(file.path)
    newline = "" if dialect.quoting else "\n"
    with open_text(file.path, encoding, newline) as stream:
        rows = dialect.rows(stream, name)
        first = next(rows, None)
        if first is None:
            return
        names = first[1] if dialect.header else [str(column) for column in range(len(first[1]))]
        selection = columns.select(names, name)
        body = rows if dialect.header else chain([first], rows)
        for number, row in enumerate(_even(body, len(names), name), 1):
            yield selection.document(row, name, number, file.label)


def read_jsonl(file: SourceFile, columns: Columns, encoding: str) -> Iterator[Document]:
    """Read JSON lines, one object a document; blank lines are skipped.

    Parameters
    ----------
    file : SourceFile
        The file.
    columns : Columns
        Names of the keys.
    encoding : str
        Of the file.

    Yields
    ------
    Document
        One for each object, numbered by line.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp(), "pets.jsonl")
    >>> _ = path.write_text('{"id": 7, "text": "Cats purr."}')
    >>> [document.id for document in read_jsonl(SourceFile(path), Columns(), "utf-8")]
    ['7']
    """
    name = display_name(file.path)
    with open_text(file.path, encoding) as stream:
        for number, line in enumerate(stream, 1):
            if not line.isspace():
                record = _json_object(line, f"{name}, line {number}")
                selection = columns.select(list(record), f"{name}, line {number}")
                yield selection.document(list(record.values()), name, number, file.label)


def read_parquet(file: SourceFile, columns: Columns) -> Iterator[Document]:
    """Read a Parquet file in batches, only the columns needed.

    Parameters
    ----------
    file : SourceFile
        The file; compressed as a whole or piped in, it is first copied to a temporary file.
    columns : Columns
        What is where.

    Yields
    ------
    Document
        One for each row.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet
    >>> path = Path(tempfile.mkdtemp(), "pets.parquet")
    >>> pyarrow.parquet.write_table(pyarrow.table({"text": ["Cats purr."]}), path)
    >>> [document.text for document in read_parquet(SourceFile(path), Columns())]
    ['Cats purr.']
    """
    parquet = require("pyarrow.parquet", "readers", "reading Parquet")
    arrow_error = require("pyarrow", "readers", "reading Parquet").ArrowException
    name = display_name(file.path)
    try:
        with _seekable(file.path) as stream:
            yield from _parquet_documents(parquet.ParquetFile(stream), file, columns, name)
    except (arrow_error, OSError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"{name}: damaged or not Parquet ({reason}); fetch it again") from error


def _parquet_documents(
    table: Any, file: SourceFile, columns: Columns, name: str
) -> Iterator[Document]:
    names = table.schema_arrow.names
    selection = columns.select(names, name)
    needed = [names[position] for position in selection.positions()]
    batches = table.iter_batches(_BATCH_ROWS, columns=needed)
    for number, row in enumerate(chain.from_iterable(map(_rows, batches)), 1):
        yield selection.document([row.get(key) for key in names], name, number, file.label)


def _rows(batch: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


@contextmanager
def _seekable(path: Path) -> Iterator[BinaryIO | Path]:
    if path != STDIN and file_suffix(path) == path.suffix.lower():
        yield path
        return
    with open_binary(path) as stream, tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        yield copy


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{where}: not valid JSON ({error.msg} at column {error.colno}); "
            "expected one object a line; the file may be truncated"
        ) from error
    if not isinstance(record, dict):
        raise FormatError(f"{where}: expected a JSON object; found {type(record).__name__}")
    return record


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _even(rows: Iterable[tuple[int, list[str]]], n_columns: int, name: str) -> Iterator[list[str]]:
    for line, row in rows:
        if row == [""] and n_columns > 1:  # a blank line between rows
            continue
        if len(row) != n_columns:
            raise DataError(
                f"{name}, line {line}: expected {n_columns} columns as in the first row; "
                f"found {len(row)}; mend the row, or check delimiter= and quoting= "
                "(--format csv,delimiter=semicolon or csv,no-quoting)"
            )
        yield row

"""Tables, one row a document: CSV, TSV, JSON lines and Parquet, read a piece at a time."""

import csv
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from topicvec.errors import DataError, FormatError, require
from topicvec.files import STDIN, file_suffix, open_source, open_text
from topicvec.text.document import Document, SourceFile

__all__ = ["Columns", "Selection", "find_columns", "read_delimited", "read_jsonl", "read_parquet"]

Column = str | int | None
Columns = Mapping[str, Column]
Row = tuple[int, list[str]]  # its last line, counted from 1, and its fields

_LARGEST_FIELD = 2**31 - 1  # what a C long holds on every system
_BATCH_ROWS = 1024


class Selection(NamedTuple):
    """Positions of the columns in a row.

    Examples
    --------
    >>> row = ["7", "Cats purr.", "pets"]
    >>> Selection(text=1, id=0, label=2).document(row, 1, SourceFile(Path("pets.csv"), "pets.csv"))
    Document(id='7', text='Cats purr.', label='pets', time=None)
    """

    text: int
    id: int | None = None
    label: int | None = None
    time: int | None = None

    def document(self, row: Sequence[Any], number: int, file: SourceFile) -> Document:
        """Make the document of one row.

        Parameters
        ----------
        row : sequence
            The values; nothing (None) in the text column is an empty text.
        number : int
            Of the row, for the default id.
        file : SourceFile
            Its name is in the default id; its class is for tables without a label column.

        Returns
        -------
        Document
            With text as it is and everything else as text.
        """
        text = row[self.text]
        if not (text is None or isinstance(text, str)):
            raise DataError(
                f"{file.name}, row {number}: expected text in the text column; "
                f"found {type(text).__name__}; choose another with text_column= (--text-column)"
            )
        return Document(
            _value(row, self.id) or f"{file.name}:{number}",
            text or "",
            file.label if self.label is None else _value(row, self.label),
            _value(row, self.time),
        )


def find_columns(columns: Columns, names: Sequence[str], where: str) -> Selection:
    """Find the text, the id, the class and the time in the header of a table.

    Parameters
    ----------
    columns : mapping of "text", "id", "label" and "time" to str, int or None
        What the user said: a name, or a position counted from 0. ``None`` finds columns called
        exactly "text", "id", "label" and "time"; an only column is the text.
    names : sequence of str
        The header of the table; positions as text if it has none.
    where : str
        The file, for messages.

    Returns
    -------
    Selection
        Their positions.

    Examples
    --------
    >>> find_columns({"text": "body"}, ["id", "body"], "news.csv")
    Selection(text=1, id=0, label=None, time=None)
    >>> find_columns({}, ["title", "body"], "news.csv")
    Traceback (most recent call last):
    topicvec.errors.DataError: news.csv: no column is called 'text'; choose ... 'title', 'body'
    """
    text, *others = (_position(columns.get(role), role, names, where) for role in Selection._fields)
    if text is None and len(names) != 1:
        raise DataError(
            f"{where}: no column is called 'text'; choose one with text_column= "
            f"(--text-column) from {', '.join(map(repr, names))}"
        )
    return Selection(text or 0, *others)


def _position(column: Column, role: str, names: Sequence[str], where: str) -> int | None:
    if column is None:
        return names.index(role) if role in names else None
    if isinstance(column, int) and 0 <= column < len(names):
        return column
    if column in names:
        return names.index(str(column))
    raise DataError(
        f"{where}: no column {column!r} for {role}_column= (--{role}-column); "
        f"found {', '.join(map(repr, names))}"
    )


def _value(row: Sequence[Any], position: int | None) -> str | None:
    value = None if position is None else row[position]
    if value is None or isinstance(value, str):
        return value
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def read_delimited(
    file: SourceFile,
    columns: Columns,
    encoding: str = "utf-8",
    delimiter: str = ",",
    quoting: bool = True,
    header: bool = True,
) -> Iterator[Document]:
    r"""Read a CSV or TSV file, one row a document.

    Parameters
    ----------
    file : SourceFile
        The file.
    columns : mapping of str to str, int or None
        What is where, as in `find_columns`; positions if there is no header.
    encoding : str
        Of the file.
    delimiter : str
        Between fields.
    quoting : bool
        Whether fields may stand in double quotes and then hold delimiters and line ends.
    header : bool
        Whether the first row names the columns.

    Yields
    ------
    Document
        One for each row.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp(), "pets.csv")
    >>> _ = path.write_text("text;label\nCats purr.;cat\n")
    >>> [pet.label for pet in read_delimited(SourceFile(path, path.name), {}, delimiter=";")]
    ['cat']
    """
    with open_text(file.path, encoding, "" if quoting else "\n") as stream:
        rows = _rows(stream, delimiter, quoting, file.name)
        first = next(rows, None)
        if first is None:
            return
        names = first[1] if header else [str(column) for column in range(len(first[1]))]
        selection = find_columns(columns, names, file.name)
        body = rows if header else chain([first], rows)
        for number, row in enumerate(_even(body, len(names), file.name), 1):
            yield selection.document(row, number, file)


def _rows(stream: TextIO, delimiter: str, quoting: bool, where: str) -> Iterator[Row]:
    if not quoting:
        for number, line in enumerate(stream, 1):
            yield number, line.removesuffix("\n").removesuffix("\r").split(delimiter)
        return
    # one limit for the whole process; raising it takes nothing from anyone
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_FIELD))
    table = csv.reader(stream, delimiter=delimiter, strict=True)
    try:
        yield from ((table.line_num, row) for row in table if row)
    except csv.Error as error:
        raise FormatError(
            f"{where}, line {table.line_num}: {error}; close or double the quotes there, "
            "or read without quotes by quoting=False (--format csv,no-quoting)"
        ) from error


def _even(rows: Iterable[Row], n_columns: int, where: str) -> Iterator[list[str]]:
    for line, row in rows:
        if row == [""] and n_columns > 1:  # a blank line between rows
            continue
        if len(row) != n_columns:
            raise DataError(
                f"{where}, line {line}: expected {n_columns} columns as in the first row; "
                f"found {len(row)}; mend the row, or check delimiter= and quoting= "
                "(--format csv,delimiter=semicolon or csv,no-quoting)"
            )
        yield row


def read_jsonl(file: SourceFile, columns: Columns, encoding: str = "utf-8") -> Iterator[Document]:
    """Read JSON lines, one object a document; blank lines are skipped.

    Parameters
    ----------
    file : SourceFile
        The file.
    columns : mapping of str to str, int or None
        Names of the keys, as in `find_columns`.
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
    >>> [document.id for document in read_jsonl(SourceFile(path, path.name), {})]
    ['7']
    """
    with open_text(file.path, encoding) as stream:
        for number, line in enumerate(stream, 1):
            if not line.isspace():
                where = f"{file.name}, line {number}"
                record = _json_object(line, where)
                selection = find_columns(columns, list(record), where)
                yield selection.document(list(record.values()), number, file)


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


def read_parquet(file: SourceFile, columns: Columns) -> Iterator[Document]:
    """Read a Parquet file in batches, only the columns needed.

    Parameters
    ----------
    file : SourceFile
        The file; compressed as a whole or piped in, it is first copied to a temporary file.
    columns : mapping of str to str, int or None
        What is where, as in `find_columns`.

    Yields
    ------
    Document
        One for each row.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet
    >>> path = Path(tempfile.mkdtemp(), "pets.parquet")
    >>> pyarrow.parquet.write_table(pyarrow.table({"text": ["Cats purr."]}), path)
    >>> [document.text for document in read_parquet(SourceFile(path, path.name), {})]
    ['Cats purr.']
    """
    parquet = require("pyarrow.parquet", "readers", "reading Parquet")
    arrow_error = require("pyarrow", "readers", "reading Parquet").ArrowException
    try:
        with _seekable(file.path) as stream:
            table = parquet.ParquetFile(stream)
            names = table.schema_arrow.names
            selection = find_columns(columns, names, file.name)
            needed = sorted({names[position] for position in selection if position is not None})
            batches = table.iter_batches(_BATCH_ROWS, columns=needed)
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            for number, row in enumerate(rows, 1):
                yield selection.document([row.get(key) for key in names], number, file)
    except (arrow_error, OSError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(
            f"{file.name}: damaged or not Parquet ({reason}); fetch it again"
        ) from error


@contextmanager
def _seekable(path: Path) -> Iterator[BinaryIO | Path]:
    if path != STDIN and file_suffix(path) == path.suffix.lower():
        yield path
        return
    with open_source(path) as stream, tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        yield copy

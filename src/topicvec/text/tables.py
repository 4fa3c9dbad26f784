"""Tables, one row a document: CSV, TSV, JSON and Parquet, read a piece at a time."""

import csv
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from topicvec.errors import DataError, FormatError, require
from topicvec.files import STDIN, file_suffix, limited_lines, most_text, open_source, too_long
from topicvec.stored import parse_json
from topicvec.text.decoding import Decoding, open_text
from topicvec.text.document import Document, SourceFile
from topicvec.text.recognise import Layout

__all__ = [
    "Columns", "Row", "Selection", "documents_of_rows", "find_columns", "read_delimited",
    "read_json", "read_jsonl", "read_parquet", "seekable",
]  # fmt: skip

Column = str | int | None
Columns = Mapping[str, Column]
Row = tuple[int, list[str]]  # its last line, counted from 1, and its fields

_LARGEST_FIELD = 2**31 - 1  # what a C long holds on every system
_BATCH_ROWS, _FEW_ROWS = 1024, 32
_PIECE = 1 << 16  # characters of JSON
_MANY_DIGITS = 10  # no table has so many columns
_MOST_NAMED, _LONGEST_NAME = 12, 30  # columns in a message
_BETWEEN = re.compile(r"\s*,?\s*")
_DECODER = json.JSONDecoder()


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
        "text", "id", "label" and "time"; an only column is the text. Capital letters and blanks
        around a name count only where two would be the same without them.
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
            f"(--text-column) from {_listed(names)}"
        )
    return Selection(text or 0, *others)


def _position(column: Column, role: str, names: Sequence[str], where: str) -> int | None:
    wanted = role if column is None else column
    if isinstance(wanted, str) and (found := _place(wanted, names)) is not None:
        return found
    if column is None:
        return None
    place = column
    if isinstance(column, str) and column.isascii() and column.isdigit():
        place = int(column) if len(column) < _MANY_DIGITS else column
    if isinstance(place, int) and 0 <= place < len(names):
        return place
    raise DataError(
        f"{where}: no column {column!r} for {role}_column= (--{role}-column); "
        f"found {_listed(names)}"
    )


def _place(name: str, names: Sequence[str]) -> int | None:
    """Find a name as it is, or the only one that differs in capitals and blanks around it."""
    if name in names:
        return names.index(name)
    alike = [place for place, each in enumerate(names) if _folded(each) == _folded(name)]
    return alike[0] if len(alike) == 1 else None


def _folded(name: str) -> str:
    return name.strip().casefold()


def _listed(names: Sequence[str]) -> str:
    """List names for a message, which a table without a header would else fill with its texts.

    Examples
    --------
    >>> _listed(["id", "Good bread needs only flour, water, salt and time."])
    "'id', 'Good bread needs only flour, …'"
    """
    short = (f"{name[: _LONGEST_NAME - 1]}…" if len(name) > _LONGEST_NAME else name
             for name in names[:_MOST_NAMED])  # fmt: skip
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(repr, short)) + more


def _value(row: Sequence[Any], position: int | None) -> str | None:
    value = None if position is None else row[position]
    if value is None or isinstance(value, str):
        return value
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def read_delimited(
    file: SourceFile,
    columns: Columns,
    decoding: Decoding,
    layout: Layout = Layout(",", quoting=True, header=True),  # noqa: B008
) -> Iterator[Document]:
    r"""Read a CSV or TSV file, one row a document.

    Parameters
    ----------
    file : SourceFile
        The file.
    columns : mapping of str to str, int or None
        What is where, as in `find_columns`; positions if there is no header.
    decoding : Decoding
        Of the file.
    layout : Layout
        What is between fields, whether these may stand in double quotes and then hold delimiters
        and line ends, and whether the first row names the columns.

    Yields
    ------
    Document
        One for each row.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp(), "pets.csv")
    >>> _ = path.write_text("text;label\nCats purr.;cat\n")
    >>> pets = read_delimited(SourceFile(path, path.name), {}, Decoding(), Layout(";", True, True))
    >>> [pet.label for pet in pets]
    ['cat']
    """
    with open_text(file.path, decoding, "" if layout.quoting else "\n") as stream:
        rows = _rows(stream, layout.delimiter, layout.quoting, file.name)
        yield from documents_of_rows(rows, file, columns, layout.header)


def documents_of_rows(
    rows: Iterator[Row], file: SourceFile, columns: Columns, header: bool
) -> Iterator[Document]:
    """Make a document of each row; the first names the columns, or gives them numbers.

    Examples
    --------
    >>> rows = iter([(1, ["Cats purr.", "cat"])])
    >>> found = documents_of_rows(rows, SourceFile(Path("a"), "a"), {"text": 0, "label": 1}, False)
    >>> list(found)
    [Document(id='a:1', text='Cats purr.', label='cat', time=None)]
    """
    first = next(rows, None)
    if first is not None and first[1][0].startswith("sep=") and not any(first[1][1:]):
        first = next(rows, None)  # such a line says the delimiter
    if first is None:
        return
    names = first[1] if header else [str(column) for column in range(len(first[1]))]
    where = file.name if header else f"{file.name}, read without a header (--format csv,header)"
    selection = find_columns(columns, names, where)
    body = rows if header else chain([first], rows)
    for number, row in enumerate(_even(body, len(names), file.name), 1):
        yield selection.document(row, number, file)


def _rows(stream: TextIO, delimiter: str, quoting: bool, where: str) -> Iterator[Row]:
    if not quoting:
        for number, line in enumerate(limited_lines(stream, where), 1):
            yield number, line.removesuffix("\n").removesuffix("\r").split(delimiter)
        return
    # one limit for the whole process; raising it takes nothing from anyone
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_FIELD))
    lines = _RowLines(stream, where)
    table = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in table:
            lines.length = 0
            if row:
                yield table.line_num, row
    except csv.Error as error:
        raise FormatError(
            f"{where}, line {table.line_num}: {error}; close or double the quotes there, "
            "or read without quotes by quoting=False (--format csv,no-quoting)"
        ) from error


class _RowLines:
    """Lines of a table whose rows, of one line or several, may be no longer than a document."""

    def __init__(self, stream: TextIO, where: str) -> None:
        self.lines, self.where = limited_lines(stream, where), where
        self.length, self.most = 0, most_text()

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.length += len(line)
            if self.length > self.most:
                raise too_long(f"{self.where}, a row in quotes")
            yield line


def _even(rows: Iterable[Row], n_columns: int, where: str) -> Iterator[list[str]]:
    for line, row in rows:
        if row == [""] and n_columns > 1:  # a blank line between rows
            continue
        if len(row) != n_columns:
            advice = (
                "mend the row, or check delimiter= and quoting= (--format csv,delimiter=semicolon "
                "or csv,no-quoting)"
            )
            if n_columns == 1:
                advice = "if each line is a document, say format='lines' (--format lines)"
            raise DataError(
                f"{where}, line {line}: expected {n_columns} column{'s'[: n_columns != 1]} as in "
                f"the first row; found {len(row)}; {advice}"
            )
        yield row


def read_jsonl(file: SourceFile, columns: Columns, decoding: Decoding) -> Iterator[Document]:
    """Read JSON lines, one object a document; blank lines are skipped.

    Parameters
    ----------
    file : SourceFile
        The file.
    columns : mapping of str to str, int or None
        Names of the keys, as in `find_columns`.
    decoding : Decoding
        Of the file.

    Yields
    ------
    Document
        One for each object, numbered by line.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp(), "pets.jsonl")
    >>> _ = path.write_text('{"id": 7, "text": "Cats purr."}')
    >>> [document.id for document in read_jsonl(SourceFile(path, path.name), {}, Decoding())]
    ['7']
    """
    with open_text(file.path, decoding) as stream:
        for number, line in enumerate(limited_lines(stream, file.name), 1):
            if not line.isspace():
                where = f"{file.name}, line {number}"
                record = _json_object(line, where)
                selection = find_columns(columns, list(record), where)
                yield selection.document(list(record.values()), number, file)


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        record = parse_json(line)
    except ValueError as error:
        reason = str(error).split(";")[0]  # the rest of it is advice to programmers
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg} at column {error.colno}"
        raise FormatError(
            f"{where}: not valid JSON ({reason}); expected one object a line; the file may be "
            "truncated"
        ) from error
    if not isinstance(record, dict):
        raise FormatError(f"{where}: expected a JSON object; found {type(record).__name__}")
    return record


def read_json(
    file: SourceFile,
    columns: Columns,
    decoding: Decoding,
    inside: Callable[[str], None] = lambda _: None,
) -> Iterator[Document]:
    """Read a JSON array, one element a document, or an only object.

    An object may also hold the rows: as a list of objects, as an object for each, or, as pandas
    writes them, as an object for each column, or with the columns' names and the rows apart.

    Parameters
    ----------
    file : SourceFile
        The file; it is read a piece at a time.
    columns : mapping of str to str, int or None
        Names of the keys, as in `find_columns`; elements that are text have none.
    decoding : Decoding
        Of the file.
    inside : callable
        Told where the rows are, if an object holds them.

    Yields
    ------
    Document
        One for each element, numbered from 1.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp(), "pets.json")
    >>> _ = path.write_text('[{"body": "Cats purr."}, {"body": "Dogs bark."}]')
    >>> pets = read_json(SourceFile(path, path.name), {"text": "body"}, Decoding())
    >>> [document.text for document in pets]
    ['Cats purr.', 'Dogs bark.']
    """
    with open_text(file.path, decoding) as stream:
        values = _rows_within(_elements(stream, file.name), columns.get("text"), inside)
        for number, value in enumerate(values, 1):
            where = f"{file.name}, element {number}"
            if isinstance(value, str) and not any(each is not None for each in columns.values()):
                value = {"text": value}
            if not isinstance(value, dict):
                raise FormatError(f"{where}: expected a JSON object; found {type(value).__name__}")
            selection = find_columns(columns, list(value), where)
            yield selection.document(list(value.values()), number, file)


def _rows_within(
    values: Iterator[Any], text: Column, inside: Callable[[str], None]
) -> Iterator[Any]:
    """Give the rows that an only object holds, or the values as they are."""
    first = list(islice(values, 2))
    if len(first) == 1 and isinstance(first[0], dict):
        first, where = _rows_of(first[0], text if isinstance(text, str) else "text")
        inside(where)
    yield from chain(first, values)


def _rows_of(record: dict[str, Any], text: str) -> tuple[list[Any], str]:
    """Find rows in an object, and say where.

    Examples
    --------
    >>> _rows_of({"n": 2, "posts": [{"body": "Cats purr."}, {"body": "Dogs bark."}]}, "body")
    ([{'body': 'Cats purr.'}, {'body': 'Dogs bark.'}], " in 'posts'")
    >>> _rows_of({"id": {"0": 7}, "text": {"0": "Cats purr."}}, "text")
    ([{'id': 7, 'text': 'Cats purr.'}], ', an object for each column')
    >>> _rows_of({"columns": ["id", "text"], "data": [[7, "Cats purr."]]}, "text")
    ([{'id': 7, 'text': 'Cats purr.'}], ', columns and rows apart')
    """
    by_name = {name: value for name, value in record.items() if value and _is_table(value)}
    names, rows = record.get("columns", ()), record.get("data", ())
    if text not in record and _has_columns(rows, names):
        return [dict(zip(names, row, strict=True)) for row in rows], ", columns and rows apart"
    if record and all(isinstance(value, dict) for value in record.values()):
        if text not in record:
            return list(record.values()), ", an object for each row"
        keys = list(record[text])
        rows = [{name: column.get(key) for name, column in record.items()} for key in keys]
        return rows, ", an object for each column"
    if len(by_name) == 1 and text not in record:
        [(name, rows)] = by_name.items()
        return rows, f" in {name!r}"
    return [record], ""


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _has_columns(rows: Any, names: Any) -> bool:
    if not (isinstance(names, list) and isinstance(rows, list)):
        return False
    known = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return known and all(isinstance(row, list) and len(row) == len(names) for row in rows)


def _elements(stream: TextIO, name: str) -> Iterator[Any]:
    """Give the elements of an array, or the only object; both may be spread over many lines."""
    text, place = stream.read(_PIECE).lstrip(), 1
    if not text.startswith("["):
        rest = stream.read(most_text() + 1)
        if len(rest) > most_text():
            raise too_long(name)
        text, place = f"[{text}{rest}]", 1
    while True:
        place = _BETWEEN.match(text, place).end()  # type: ignore[union-attr]
        if text[place : place + 1] == "]":
            if (text[place + 1 :] + stream.read(_PIECE)).strip():
                raise FormatError(f"{name}: more than one array; expected one, or objects by line")
            return
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            text, place = text[place:] + _more_json(stream, len(text) - place, name, error), 0
        else:
            yield value


def _more_json(stream: TextIO, length: int, name: str, error: Exception) -> str:
    """Read on, as an element may go on, unless it is too long already or there is no more."""
    if length > most_text():
        raise too_long(name)
    more = stream.read(max(_PIECE, length))
    if more and isinstance(error, json.JSONDecodeError):
        return more
    too_deep = isinstance(error, RecursionError)
    reason = "nested too deeply" if too_deep else getattr(error, "msg", str(error))
    raise FormatError(
        f"{name}: not valid JSON ({reason}); expected an array of objects, or one object a line; "
        "the file may be truncated"
    ) from error


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
        with seekable(file.path) as stream:
            table = parquet.ParquetFile(stream)
            names = table.schema_arrow.names
            selection = find_columns(columns, names, file.name)
            needed = sorted({names[position] for position in selection if position is not None})
            for number, row in enumerate(_parquet_rows(table, needed), 1):
                document = selection.document([row.get(key) for key in names], number, file)
                if len(document.text) > most_text():
                    raise too_long(f"{file.name}, row {number}")
                yield document
    except DataError:
        raise
    except (arrow_error, OSError, ValueError, KeyError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(
            f"{file.name}: damaged or not Parquet ({reason}); fetch it again"
        ) from error


def _parquet_rows(table: Any, needed: list[str]) -> Iterator[dict[str, Any]]:
    """Give rows, a few in memory at a time: a text that repeats takes no room in the file."""
    for batch in table.iter_batches(_BATCH_ROWS, columns=needed):
        for start in range(0, batch.num_rows, _FEW_ROWS):
            yield from batch.slice(start, _FEW_ROWS).to_pylist()


@contextmanager
def seekable(path: Path) -> Iterator[BinaryIO | Path]:
    """Give a file that can be read in any order: the path, or a copy of what is piped or packed."""
    if path != STDIN and file_suffix(path) == path.suffix.lower():
        yield path
        return
    with open_source(path) as stream, tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy

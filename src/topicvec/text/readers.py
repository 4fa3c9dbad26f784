"""Read documents from files, folders, tables or standard input, one at a time."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from topicvec.errors import DataError, FormatError, warn
from topicvec.files import (
    STDIN,
    display_name,
    file_suffix,
    limited_lines,
    limited_text,
    peek,
    printable,
)
from topicvec.text.decoding import Decoding, Errors, check_encoding, open_text
from topicvec.text.document import Document, SourceFile
from topicvec.text.encodings import NotText
from topicvec.text.recognise import (
    SAMPLE,
    TABLES,
    Format,
    Layout,
    is_delimited,
    may_be_lines,
    may_be_table,
    tell_format,
    tell_layout,
)  # fmt: skip
from topicvec.text.tables import read_delimited, read_json, read_jsonl, read_parquet

__all__ = ["Document", "find_files", "named_paths", "read_documents"]

PathLike = str | os.PathLike[str]

_WHOLE = {"text", "html", "markdown", "docx", "epub", "email", "pdf"}  # one document a file
_NO_COLUMNS = {*_WHOLE, "lines", "mbox"}
_NAMES = {
    "text": "plain text", "lines": "one document a line", "csv": "CSV", "tsv": "TSV",
    "jsonl": "JSON lines", "json": "a JSON array", "excel": "Excel", "parquet": "Parquet",
    "html": "HTML", "markdown": "Markdown", "docx": "Word", "epub": "EPUB", "email": "e-mail",
    "mbox": "a mailbox", "pdf": "PDF",
}  # fmt: skip
_NAMED = 5  # documents that cannot be read, beside the first
_UNICODE = {"utf-8", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"}

logger = logging.getLogger(__name__)


def read_documents(
    source: PathLike | Iterable[PathLike],
    *,
    format: Format = "auto",
    encoding: str = "auto",
    errors: Errors = "skip",
    text_column: str | int | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    time_column: str | int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    quoting: bool | None = None,
) -> Iterator[Document]:
    r"""Read documents from files, folders, tables or standard input, one at a time.

    Parameters
    ----------
    source : path or iterable of paths
        A file, several, a folder (every file a document, in sorted order, hidden ones skipped,
        the first sub-folder as label; tables inside are read as tables), or ``"-"`` for standard
        input. Files that end in .gz, .xz, .bz2 or .zst are decompressed on the way.
    format : str
        "text" is one document a file, "lines" one a line; "csv", "tsv", "jsonl", "json" (an
        array, or an object with the rows in it), "excel" and "parquet" have one a row; "html",
        "markdown", "docx", "epub", "email", "mbox" and "pdf" give the text without what wraps it.
        "auto" tells each file's by its first bytes and its suffix; what has no sign of another is
        text.
    encoding : str
        Encoding of the files. "auto" tells each file's by its bytes; a byte order mark is removed.
    errors : {"skip", "replace", "strict"}
        What becomes of a document that cannot be read rightly, as its bytes are not in the
        encoding or its file is damaged or no text: it is left out; its wrong bytes are replaced by
        U+FFFD, and it is left out if that does not help; or the first is an error. A warning says
        how many there were. If nothing is left, the first is an error all the same.
    text_column, id_column, label_column, time_column : str or int, optional
        Columns of a table by name, or by position counted from 0. By default those called
        "text", "id", "label" and "time"; an only column is the text. Capital letters matter only
        where two names differ in nothing else. Texts among tables have no columns and are read all
        the same. Of several sheets of an Excel file the first that has the columns is read.
    header : bool, optional
        Whether the first row of a CSV, TSV or Excel file names the columns; by default it does,
        unless it has numbers, whole sentences, or words that come again below it.
    delimiter : str, optional
        Between fields; by default the comma, semicolon, tab or bar that divides the rows evenly.
    quoting : bool, optional
        Whether fields may stand in double quotes; by default they may between commas, semicolons
        and bars, and between tabs if the rows are even only so.

    Returns
    -------
    iterator of Document
        Memory use does not grow with the number of documents. The default id is the path, or
        ``path:row`` (``path:line`` for lines and JSON lines) counted from 1, so it is unique;
        ids from a column are taken as they are. At the end what the files were found to be is
        logged in one line.

    Raises
    ------
    DataError
        At the call if a source is missing or empty; while reading if bytes are not in the
        encoding, a column is missing or is asked of a text that has none, or no document has any
        text.
    FormatError
        If a file is damaged or not in its format; file and line are named.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "wiki.tsv")
    >>> _ = path.write_text("Cat\tCats purr.\nDog\tDogs bark.\n")
    >>> list(read_documents(path, header=False, id_column=0, text_column=1))
    [Document(id='Cat', text='Cats purr.', label=None, time=None),
     Document(id='Dog', text='Dogs bark.', label=None, time=None)]
    """
    _check_options(format, encoding, errors, delimiter)
    columns = {"text": text_column, "id": id_column, "label": label_column, "time": time_column}
    if header is None and any(map(_is_name, columns.values())):
        header = True  # which alone gives names
    table = {"header": header, "delimiter": delimiter, "quoting": quoting}
    reading = _Reading(format, Decoding(encoding, errors), columns, table)
    return reading.documents(named_paths(source))


def _check_options(format: str, encoding: str, errors: str, delimiter: str | None) -> None:
    for name, value, choices in (("format", format, Format), ("errors", errors, Errors)):
        if value not in get_args(choices):
            expected = ", ".join(get_args(choices))
            raise DataError(f"{name} must be one of {expected}; found {value!r}")
    check_encoding(encoding)
    if delimiter is not None and len(delimiter) != 1:
        raise DataError(f"delimiter must be one character; found {delimiter!r}")


def _is_name(column: str | int | None) -> bool:
    return isinstance(column, str) and not column.isdecimal()


class _Reading:
    """One walk through sources, which remembers what it met."""

    def __init__(
        self,
        format: Format,
        decoding: Decoding,
        columns: dict[str, Any],
        table: dict[str, Any],
    ) -> None:
        self.format, self.decoding, self.columns, self.table = format, decoding, columns, table
        self.kinds: Counter[str] = Counter()
        self.encodings: Counter[str] = Counter()
        self.example: dict[str, str] = {}  # a file in each encoding
        self.n_left_out, self.first = 0, FormatError("")
        self.others: list[str] = []  # some that were left out after the first
        self.name = ""  # of the last file
        self.hint = ""  # what else the last text may be
        self.detail = ""  # of the file at hand: the sheet or the list that its rows are in
        self.paths: list[Path] = []
        self.alone, self.has_tables = True, False
        self.refused: DataError | None = None  # a column of a text, which may lie among tables

    def documents(self, paths: list[Path]) -> Iterator[Document]:
        """Read all files."""
        n_documents, any_text = 0, False
        self.paths, self.alone = paths, len(paths) == 1 and not paths[0].is_dir()
        for document in chain.from_iterable(
            map(self._file, chain.from_iterable(map(find_files, paths)))
        ):
            n_documents += 1
            any_text = any_text or bool(document.text)
            yield document
        if self.refused is not None and not self.has_tables:
            raise self.refused
        if self.n_left_out and not any_text:
            raise self.first
        if not any_text:
            names = ", ".join(display_name(path) for path in paths[:3])
            raise DataError(
                f"the corpus is empty: expected text in {names}; "
                f"found {n_documents} documents, none with any text"
            )
        self._report(n_documents)

    def _file(self, file: SourceFile) -> Iterator[Document]:
        self.decoding.used, self.decoding.has_marks = "", False
        self.detail = self.hint = ""
        whole = self.format in ("auto", *_WHOLE)
        try:
            read, kind, said = self._recognised(file)
            whole = kind in _WHOLE
            for document in read(file):
                if not self.decoding.has_marks:
                    yield document
                elif (mended := self._mended(document)) is not None:
                    yield mended
        except FormatError as error:
            if self.decoding.errors == "strict" or not (whole or isinstance(error, NotText)):
                raise
            self._leave_out(error, file.name)
            return
        self.kinds[said + self.detail] += 1
        self.name = file.name
        if self.decoding.used:
            self.encodings[self.decoding.used] += 1
            self.example.setdefault(self.decoding.used, file.name)

    def _recognised(
        self, file: SourceFile
    ) -> tuple[Callable[[SourceFile], Iterator[Document]], str, str]:
        """Choose how to read a file, and say it."""
        sample = b"" if self.format in ("text", "lines", "jsonl") else peek(file.path, SAMPLE)
        kind = self._kind(file, sample)
        if kind in _NO_COLUMNS:
            self._refuse_columns(file, kind)
        else:
            self.has_tables = True
        said = _NAMES[kind]
        if kind not in ("csv", "tsv"):
            return self._reader(kind, sample), kind, said
        try:
            layout = tell_layout(sample, self.decoding, kind, **self.table)
        except NotText as error:
            raise NotText(f"{file.name}: {error}") from error
        return self._delimited(layout), kind, f"{said}, {layout}"

    def _kind(self, file: SourceFile, sample: bytes) -> str:
        if self.format != "auto":
            return self.format
        try:
            kind = tell_format(sample, file_suffix(file.path))
        except FormatError as error:
            raise FormatError(f"{file.name}: {error}") from error
        wants_table = any(value is not None for value in self.columns.values())
        if kind != "text" or not wants_table:
            return kind
        is_table = is_delimited if self.alone else may_be_table  # prose is likely among many
        return "csv" if is_table(sample, self.decoding) else kind

    def _refuse_columns(self, file: SourceFile, kind: str) -> None:
        asked = next((role for role, value in self.columns.items() if value is not None), None)
        if asked is None:
            return
        first = self.refused is None
        self.refused = self.refused or DataError(
            f"{file.name} is read as {_NAMES[kind]}, which has no columns: leave out "
            f"{asked}_column= (--{asked}-column), or say which table it is with format= "
            "(--format csv, tsv, jsonl or json)"
        )
        if self.has_tables or not first:
            return
        # said at once, not when all is read, unless there may be tables
        if self.alone or self.format != "auto" or not self._expects_tables():
            raise self.refused

    def _expects_tables(self) -> bool:
        files = chain.from_iterable(map(find_files, self.paths))
        return any(file_suffix(file.path) in TABLES for file in files)

    def _delimited(self, layout: Layout) -> Callable[[SourceFile], Iterator[Document]]:
        return lambda file: read_delimited(file, self.columns, self.decoding, layout)

    def _reader(self, kind: str, sample: bytes) -> Callable[[SourceFile], Iterator[Document]]:
        columns, decoding = self.columns, self.decoding
        if kind == "text":
            return lambda file: self._read_text(file, sample)
        if kind == "lines":
            return lambda file: _read_lines(file, decoding)
        if kind == "jsonl":
            return lambda file: read_jsonl(file, columns, decoding)
        if kind == "json":
            return lambda file: read_json(file, columns, decoding, self._inside)
        if kind == "parquet":
            return lambda file: read_parquet(file, columns)
        from topicvec.text import office  # its libraries take a while, and most files are text

        if kind == "excel":
            return lambda file: office.read_excel(file, columns, self.table["header"], self._inside)
        return lambda file: office.read_wrapped(file, kind, decoding)

    def _inside(self, where: str) -> None:
        """Remember where in a file its rows are."""
        self.detail = where

    def _read_text(self, file: SourceFile, sample: bytes) -> Iterator[Document]:
        with open_text(file.path, self.decoding, newline="") as stream:
            document = Document(file.name, limited_text(stream, file.name), file.label)
        if self.format == "auto" and self.alone:
            self.hint = self._may_be(document.text, sample)
        yield document

    def _may_be(self, text: str, sample: bytes) -> str:
        """Hint at what else a text may be: a table, or one document a line."""
        if table := may_be_table(sample, self.decoding):
            return f"; if it is a table ({table}), name its column of texts with --text-column"
        if n_lines := may_be_lines(text):
            return f"; if each of its {n_lines:,} lines is a document, add --format lines"
        return ""

    def _mended(self, document: Document) -> Document | None:
        fields = {"id": document.id, "text": document.text, "label": document.label,
                  "time": document.time}  # fmt: skip
        mended: dict[str, Any] = {
            name: value and self.decoding.mend(value) for name, value in fields.items()
        }
        if all(value is None or mended[name] is not None for name, value in fields.items()):
            return replace(document, **mended)
        wrong = self.decoding.wrong_in(document.text, document.id)
        self._leave_out(FormatError(wrong), document.id)
        return None

    def _leave_out(self, error: FormatError, name: str) -> None:
        if not self.n_left_out:
            self.first = error
        elif len(self.others) < _NAMED:
            self.others.append(name)
        self.n_left_out += 1

    def _report(self, n_documents: int) -> None:
        """Log what the files are, and warn of what could not be read."""
        if self.n_left_out:
            more = ", …" if self.n_left_out > 1 + len(self.others) else ""
            others = f"; also left out: {', '.join(self.others)}{more}" if self.others else ""
            warn(
                f"{self.n_left_out:,} of {n_documents + self.n_left_out:,} documents cannot be "
                f"read and are left out; the first: {self.first}{others}"
            )
        if self.decoding.n_replaced:
            warn(f"{self.decoding.n_replaced:,} bytes that are not in the encoding were replaced")
        if self.kinds:
            logger.info("%s", self._said(), extra={"said": True})

    def _said(self) -> str:
        n_files = self.kinds.total()
        if n_files == 1:
            [kind], encodings = self.kinds, [self._encoding(name) for name in self.encodings]
            return ", ".join([f"{self.name}: {kind}", *encodings]) + self.hint
        kinds = ", ".join(f"{n:,} {_in_brackets(kind)}" for kind, n in self.kinds.most_common())
        encodings = [f"{n:,} {self._encoding(name, True)}" for name, n in
                     self.encodings.most_common()]  # fmt: skip
        return f"{n_files:,} files: {'; '.join([kinds, ', '.join(encodings)]).rstrip('; ')}"

    def _encoding(self, name: str, many: bool = False) -> str:
        if name in _UNICODE or self.decoding.encoding != "auto":
            return name
        return f"{name} (a guess{f', as {self.example[name]}' if many else ''})"


def _in_brackets(kind: str) -> str:
    """Keep what is said of a kind of file together, in a list of several.

    Examples
    --------
    >>> _in_brackets("CSV, commas, no header")
    'CSV (commas, no header)'
    """
    name, comma, more = kind.partition(", ")
    return f"{name} ({more})" if comma else name


def _read_lines(file: SourceFile, decoding: Decoding) -> Iterator[Document]:
    with open_text(file.path, decoding) as stream:
        for number, line in enumerate(limited_lines(stream, file.name), 1):
            text = line.removesuffix("\n").removesuffix("\r")
            yield Document(f"{file.name}:{number}", text, file.label)


def named_paths(source: PathLike | Iterable[PathLike]) -> list[Path]:
    """Return the paths that were named, each of them there to be read and none twice.

    Parameters
    ----------
    source : path or iterable of paths
        Files, folders, or ``"-"`` for standard input.

    Returns
    -------
    list of Path
        In the order given.

    Examples
    --------
    >>> [str(path) for path in named_paths("-")]
    ['-']
    >>> named_paths("no/such/file.txt")
    Traceback (most recent call last):
    topicvec.errors.DataError: no such file or folder: no/such/file.txt ...
    """
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, Iterable):
        raise DataError(f"expected a path or several; found {type(source).__name__}")
    paths = [Path(name) for name in source]
    if not paths:
        raise DataError("expected at least one file or folder to read; found an empty list")
    for path in paths:
        _check_readable(path, alone=len(paths) == 1)
    path, times = Counter(paths).most_common(1)[0]
    if times > 1:
        raise DataError(f"{path} is named {times} times; name each source once, or ids repeat")
    return paths


def find_files(path: Path) -> Iterator[SourceFile]:
    """Walk a file or folder in sorted order; hidden entries are skipped.

    Parameters
    ----------
    path : Path
        A file, standard input, or a folder. In a folder the first sub-folder is the label.

    Yields
    ------
    SourceFile
        One for each regular file.

    Examples
    --------
    >>> import tempfile
    >>> news = Path(tempfile.mkdtemp())
    >>> for name in ("space", "autos"):
    ...     (news / name).mkdir()
    ...     _ = (news / name / "1.txt").write_text("words")
    >>> [(file.path.name, file.label) for file in find_files(news)]
    [('1.txt', 'autos'), ('1.txt', 'space')]
    """
    if not path.is_dir():
        yield SourceFile(path, display_name(path))
        return
    root = os.path.realpath(path)
    for file in _walk(path, root, root, set()):
        parts = file.relative_to(path).parts
        label = printable(parts[0]) if len(parts) > 1 else None
        yield SourceFile(file, display_name(file), label)


def _check_readable(path: Path, *, alone: bool) -> None:
    if path == STDIN:
        return
    if not path.exists():
        raise DataError(f"no such file or folder: {path} (looked from {Path.cwd()})")
    if path.is_dir():
        if next(find_files(path), None) is None:
            raise DataError(f"{path} is an empty folder; expected at least one file in it")
    elif alone and path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path} is an empty file; expected some text in it")


def _walk(folder: Path, here: str, root: str, seen: set[str]) -> Iterator[Path]:
    """Walk a folder; a link to a folder is followed once, and not if it is read anyway.

    Folders that link to each other would else repeat their documents for ever. ``here`` is where
    the folder is without any link.
    """
    if here in seen:
        return
    seen.add(here)
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise DataError(f"cannot list {folder}: {error.strerror}") from error
    for entry in entries:
        if entry.is_dir():
            there = os.path.join(here, entry.name)  # noqa: PTH118 - a text, as realpath gives it
            if entry.is_symlink():
                there = os.path.realpath(entry)
                if Path(there).is_relative_to(root):
                    continue
            yield from _walk(entry, there, root, seen)
        elif entry.is_file():
            yield entry

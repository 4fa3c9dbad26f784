"""Read documents from files, folders, tables or standard input, one at a time."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from topicvec.errors import DataError
from topicvec.files import STDIN, display_name, file_suffix, open_text, printable
from topicvec.text.document import Document, SourceFile
from topicvec.text.tables import read_delimited, read_jsonl, read_parquet

__all__ = ["Document", "find_files", "named_paths", "read_documents"]

PathLike = str | os.PathLike[str]

Format = Literal["auto", "text", "lines", "csv", "tsv", "jsonl", "parquet"]
_TABLES = ("csv", "tsv", "jsonl", "ndjson", "parquet")  # suffixes


def read_documents(
    source: PathLike | Iterable[PathLike],
    *,
    format: Format = "auto",
    encoding: str = "utf-8",
    text_column: str | int | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    time_column: str | int | None = None,
    header: bool = True,
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
    format : {"auto", "text", "lines", "csv", "tsv", "jsonl", "parquet"}
        "text" is one document a file, "lines" one a line, the others one a row. "auto" goes by
        the suffix of each file (.csv .tsv .jsonl .ndjson .parquet); all else, standard input
        too, is text.
    encoding : str
        Encoding of the files; a byte order mark is removed.
    text_column, id_column, label_column, time_column : str or int, optional
        Columns of a table by name, or by position counted from 0. By default those called
        "text", "id", "label" and "time"; an only column is the text.
    header : bool
        Whether the first row of a CSV or TSV file names the columns.
    delimiter : str, optional
        Between fields; by default a comma in CSV and a tab in TSV.
    quoting : bool, optional
        Whether fields may stand in double quotes; by default they may in CSV and not in TSV.

    Returns
    -------
    iterator of Document
        Memory use does not grow with the number of documents. The default id is the path, or
        ``path:row`` (``path:line`` for lines and JSON lines) counted from 1, so it is unique;
        ids from a column are taken as they are.

    Raises
    ------
    DataError
        At the call if a source is missing or empty; while reading if bytes are not in the
        encoding, a column is missing, or no document has any text.
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
    _check_options(format, encoding, delimiter)
    columns = {"text": text_column, "id": id_column, "label": label_column, "time": time_column}

    def read(file: SourceFile) -> Iterator[Document]:
        suffix = file_suffix(file.path).removeprefix(".")
        kind = format if format != "auto" else suffix if suffix in _TABLES else "text"
        if kind == "text":
            return _read_text(file, encoding)
        if kind == "lines":
            return _read_lines(file, encoding)
        if kind in ("jsonl", "ndjson"):
            return read_jsonl(file, columns, encoding)
        if kind == "parquet":
            return read_parquet(file, columns)
        between = delimiter or ("," if kind == "csv" else "\t")
        quotes = kind == "csv" if quoting is None else quoting
        return read_delimited(file, columns, encoding, between, quotes, header)

    return _all_documents(named_paths(source), read)


def _check_options(format: str, encoding: str, delimiter: str | None) -> None:
    if format not in get_args(Format):
        expected = ", ".join(get_args(Format))
        raise DataError(f"format must be one of {expected}; found {format!r}")
    try:
        "a".encode(encoding)  # also refuses codecs that make no text
    except LookupError as error:
        raise DataError(
            f"no encoding is called {encoding!r}; try utf-8, utf-16, cp1252 or latin-1"
        ) from error
    if delimiter is not None and len(delimiter) != 1:
        raise DataError(f"delimiter must be one character; found {delimiter!r}")


def _all_documents(
    paths: list[Path], read: Callable[[SourceFile], Iterator[Document]]
) -> Iterator[Document]:
    n_documents, any_text = 0, False
    for document in chain.from_iterable(map(read, chain.from_iterable(map(find_files, paths)))):
        n_documents += 1
        any_text = any_text or bool(document.text)
        yield document
    if not any_text:
        names = ", ".join(display_name(path) for path in paths[:3])
        raise DataError(
            f"the corpus is empty: expected text in {names}; "
            f"found {n_documents} documents, none with any text"
        )


def _read_text(file: SourceFile, encoding: str) -> Iterator[Document]:
    with open_text(file.path, encoding, newline="") as stream:
        yield Document(file.name, stream.read(), file.label)


def _read_lines(file: SourceFile, encoding: str) -> Iterator[Document]:
    with open_text(file.path, encoding) as stream:
        for number, line in enumerate(stream, 1):
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
    for file in _walk(path, frozenset()):
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


def _walk(folder: Path, above: frozenset[str]) -> Iterator[Path]:
    here = os.path.realpath(folder)
    if here in above:  # a link to a folder above would repeat its documents for ever
        return
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise DataError(f"cannot list {folder}: {error.strerror}") from error
    for entry in entries:
        if entry.is_dir():
            yield from _walk(entry, above | {here})
        elif entry.is_file():
            yield entry

"""Read documents from files, folders, tables or standard input, one at a time."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from topicvec.errors import DataError
from topicvec.text.columns import Columns
from topicvec.text.compression import display_name, file_suffix, open_text
from topicvec.text.document import Document
from topicvec.text.sources import SourceFile, find_files, named_paths
from topicvec.text.tables import Dialect, read_delimited, read_jsonl, read_parquet

__all__ = ["Document", "read_documents"]

Format = Literal["auto", "text", "lines", "csv", "tsv", "jsonl", "parquet"]
_BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}


def read_documents(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
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
    columns = Columns(text_column, id_column, label_column, time_column)
    options = _Options(format, encoding, columns, header, delimiter, quoting)
    return _documents(named_paths(source), options)


@dataclass(frozen=True, slots=True)
class _Options:
    """What holds for every file, checked."""

    format: Format
    encoding: str
    columns: Columns
    header: bool
    delimiter: str | None
    quoting: bool | None

    def __post_init__(self) -> None:
        if self.format not in get_args(Format):
            expected = ", ".join(get_args(Format))
            raise DataError(f"format must be one of {expected}; found {self.format!r}")
        try:
            "a".encode(self.encoding)  # also refuses codecs that make no text
        except LookupError as error:
            raise DataError(
                f"no encoding is called {self.encoding!r}; try utf-8, utf-16, cp1252 or latin-1"
            ) from error
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise DataError(f"delimiter must be one character; found {self.delimiter!r}")

    def format_of(self, path: Path) -> Format:
        if self.format != "auto":
            return self.format
        return _BY_SUFFIX.get(file_suffix(path), "text")

    def dialect(self, format: Format) -> Dialect:
        delimiter = self.delimiter or ("," if format == "csv" else "\t")
        quoting = format == "csv" if self.quoting is None else self.quoting
        return Dialect(delimiter, quoting, self.header)


def _documents(paths: list[Path], options: _Options) -> Iterator[Document]:
    n_documents, any_text = 0, False
    for path in paths:
        for file in find_files(path):
            for document in _read_file(file, options):
                n_documents += 1
                any_text = any_text or bool(document.text)
                yield document
    if not any_text:
        names = ", ".join(display_name(path) for path in paths[:3])
        raise DataError(
            f"the corpus is empty: expected text in {names}; "
            f"found {n_documents} documents, none with any text"
        )


def _read_file(file: SourceFile, options: _Options) -> Iterator[Document]:
    format = options.format_of(file.path)
    if format == "text":
        return _read_text(file, options.encoding)
    if format == "lines":
        return _read_lines(file, options.encoding)
    if format == "jsonl":
        return read_jsonl(file, options.columns, options.encoding)
    if format == "parquet":
        return read_parquet(file, options.columns)
    return read_delimited(file, options.columns, options.encoding, options.dialect(format))


def _read_text(file: SourceFile, encoding: str) -> Iterator[Document]:
    with open_text(file.path, encoding, newline="") as stream:
        yield Document(display_name(file.path), stream.read(), file.label)


def _read_lines(file: SourceFile, encoding: str) -> Iterator[Document]:
    name = display_name(file.path)
    with open_text(file.path, encoding) as stream:
        for number, line in enumerate(stream, 1):
            text = line.removesuffix("\n").removesuffix("\r")
            yield Document(f"{name}:{number}", text, file.label)

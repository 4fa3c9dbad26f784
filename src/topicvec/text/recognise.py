"""What a file is, told by its bytes: its format, and how its table is written."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from topicvec.errors import FormatError
from topicvec.text.decoding import Decoding, decode

__all__ = [
    "SAMPLE", "TABLES", "Format", "Layout", "find_delimiter", "has_header", "is_delimited",
    "may_be_lines", "may_be_table", "tell_format", "tell_layout",
]  # fmt: skip

Format = Literal[
    "auto", "text", "lines", "csv", "tsv", "jsonl", "json", "excel", "parquet",
    "html", "markdown", "docx", "epub", "email", "mbox", "pdf",
]  # fmt: skip

SAMPLE = 1 << 16  # bytes to judge by
_SUFFIXES: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".xlsx": "excel", ".xlsm": "excel", ".html": "html", ".htm": "html",
    ".xhtml": "html", ".xml": "html", ".md": "markdown", ".markdown": "markdown", ".docx": "docx",
    ".epub": "epub", ".eml": "email", ".mbox": "mbox", ".pdf": "pdf",
}  # fmt: skip
TABLES = {suffix for suffix, kind in _SUFFIXES.items()
          if kind in ("csv", "tsv", "jsonl", "parquet", "excel")} | {".json"}  # fmt: skip
_MAGIC: tuple[tuple[bytes, Format], ...] = ((b"%PDF-", "pdf"), (b"PAR1", "parquet"))
_IN_ZIP: tuple[tuple[bytes, Format], ...] = (
    (b"META-INF/container.xml", "epub"), (b"word/", "docx"), (b"xl/", "excel"),
)  # fmt: skip
_REFUSED = (
    (b"\xd0\xcf\x11\xe0", "an old Office file (.doc, .xls or .ppt): save it as .docx or .xlsx"),
    (b"{\\rtf", "rich text (RTF): save it as .docx or as plain text"),
    (b"PK\x03\x04", "an archive or a document of a kind that is not known: unpack or export it"),
)
_HTML = re.compile(
    # what is opened once is closed once: comments in comments took exponential time
    r"\s*(<\?xml[^>]*>\s*)?(?:<!--(?>.*?-->)\s*)*<(!doctype\s+html|html|svg|\?xml)\b",
    re.I | re.S,
)
_ARRAY = re.compile(r"\s*\[\s*\{")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_CONSISTENT = 0.8  # of the rows have as many fields as the first
_HEADING = 60  # characters that the name of a column has at most
_SENTENCE = re.compile(r"\S\s.*[.!?]\s*$|(\S+\s+){7}", re.S)
_MANY_LINES, _FEW_BLANK, _WRAPPED = 50, 0.05, 0.5
_MANY_ROWS = 5  # of a text that may be a table
_SAID = re.compile(r"sep=(.)\r?\n")  # how some programs say the delimiter, in a line of its own


class Layout(NamedTuple):
    """How a table of text is written.

    Examples
    --------
    >>> str(Layout(";", True, True))
    'semicolons, first row is the header'
    """

    delimiter: str
    quoting: bool
    header: bool

    def __str__(self) -> str:
        between = _DELIMITERS.get(self.delimiter, repr(self.delimiter))
        return f"{between}, {'first row is the header' if self.header else 'no header'}"


def tell_format(sample: bytes, suffix: str) -> Format:
    r"""Tell the format of a file: by its first bytes if these are plain, else by its name.

    Parameters
    ----------
    sample : bytes
        The beginning of the file, decompressed; it may be empty.
    suffix : str
        Of the name, in lower case.

    Returns
    -------
    str
        "text" for all that has no other sign.

    Examples
    --------
    >>> tell_format(b'[{"text": "Cats purr."}]', ".json"), tell_format(b"%PDF-1.7", "")
    ('json', 'pdf')
    >>> tell_format(b"{\\rtf1 Cats}", ".rtf")
    Traceback (most recent call last):
    topicvec.errors.FormatError: this is rich text (RTF): save it as .docx or as plain text
    """
    for magic, kind in _MAGIC:
        if sample.startswith(magic):
            return kind
    if sample.startswith(b"PK\x03\x04"):
        in_zip = (kind for name, kind in _IN_ZIP if name in sample or _SUFFIXES.get(suffix) == kind)
        if (found := next(in_zip, None)) is not None:
            return found
    for magic, what in _REFUSED:
        if sample.startswith(magic):
            raise FormatError(f"this is {what}")
    known = _SUFFIXES.get(suffix)
    return known if known is not None else _by_text(sample, suffix)


def _by_text(sample: bytes, suffix: str) -> Format:
    if b"\0" in sample:  # one of the wide encodings, or no text
        try:
            text = decode(sample, Decoding(errors="replace"), "")
        except FormatError:
            return "text"  # reading it will say more
    else:  # the signs that are looked for are ASCII
        text = sample.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    if _HTML.match(text):
        return "html"
    if _ARRAY.match(text) or (suffix == ".json" and text.lstrip().startswith("[")):
        return "json"
    if text.lstrip().startswith("{"):
        first, _, more = text.strip().partition("\n")
        is_only = suffix == ".json" and not more  # which may hold rows
        if _is_object(first) and not is_only:
            return "jsonl"
        return "json" if suffix == ".json" else "text"
    if suffix == ".json":
        raise FormatError("this is not JSON: expected an array or an object; check the file")
    return "text"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def tell_layout(
    sample: bytes,
    decoding: Decoding,
    kind: str,
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
) -> Layout:
    r"""Tell how a table is written; what is given stays as it is.

    Parameters
    ----------
    sample : bytes
        The beginning of the file, decompressed; without one the format's own is taken.
    decoding : Decoding
        Of the file.
    kind : {"csv", "tsv"}
        CSV may have quotes; TSV has none, unless rows are even only with them.
    delimiter, quoting, header
        What is known.

    Returns
    -------
    Layout

    Examples
    --------
    >>> tell_layout(b"id;text\n1;Cats, purring\n2;Dogs, barking\n", Decoding(), "csv")
    Layout(delimiter=';', quoting=True, header=True)
    >>> tell_layout(b"1,Cats purr.\n2,Dogs bark.\n", Decoding(), "csv").header
    False
    """
    text = _text(sample, decoding)
    usual = "\t" if kind == "tsv" else ","
    if (said := _SAID.match(text)) is not None:
        delimiter, text = delimiter or said[1], text[said.end() :]
    between = delimiter or find_delimiter(text, usual) or usual
    if quoting is None:
        plain, quoted = (_evenness(_split(text, between, quotes)) for quotes in (False, True))
        quoting = (kind != "tsv" and between != "\t") or (quoted[1] > 1 and quoted[0] > plain[0])
    rows = _split(text, between, quoting)
    return Layout(between, quoting, has_header(rows) if header is None else header)


def _text(sample: bytes, decoding: Decoding) -> str:
    text = decode(sample, Decoding(decoding.encoding, "replace"), "") if sample else ""
    if len(sample) >= SAMPLE:  # the last line may be cut
        text = text[: text.rfind("\n") + 1] or text
    return text


def is_delimited(sample: bytes, decoding: Decoding) -> bool:
    r"""Say whether a text without a sign of its format is a table.

    Examples
    --------
    >>> is_delimited(b"id|text\n1|Cats purr.\n", Decoding()), is_delimited(b"Cats.", Decoding())
    (True, False)
    """
    text = _text(sample, decoding)
    if _SAID.match(text):
        return True
    # a paragraph with commas is no table
    return len(text.splitlines()) > 1 and find_delimiter(text, ",") is not None


def may_be_table(sample: bytes, decoding: Decoding) -> str:
    r"""Say what a text without a sign of its format has between its columns, if it may have some.

    Examples
    --------
    >>> may_be_table(b"id|text\n" + b"1|Cats purr.\n" * 5, Decoding())
    'bars between id, text'
    >>> may_be_table(b"Cats, dogs and birds.\n", Decoding())
    ''
    """
    if len(_text(sample, decoding).splitlines()) < _MANY_ROWS or not is_delimited(sample, decoding):
        return ""
    layout = tell_layout(sample, decoding, "csv")
    if layout.delimiter == "," and not layout.header:  # sentences with a comma each
        return ""
    rows = _split(_text(sample, decoding), layout.delimiter, layout.quoting)
    if not rows:  # a quote that never ends
        return ""
    names = ", ".join(map(str.strip, rows[0])) if layout.header else ""
    columns = names if names and len(names) <= 2 * _HEADING else f"{len(rows[0])} columns"
    return f"{_DELIMITERS.get(layout.delimiter, layout.delimiter)} between {columns}"


def find_delimiter(text: str, usual: str) -> str | None:
    """Find what divides nearly all rows into as many fields as the first."""
    shares = {
        each: _evenness(_split(text, each, True) or _split(text, each, False))
        for each in (usual, *_DELIMITERS)
    }
    best = max(shares, key=lambda each: shares[each])  # the usual one where several are as good
    return best if shares[best][0] >= _CONSISTENT else None


def _split(text: str, delimiter: str, quoting: bool) -> list[list[str]]:
    """Cut the beginning of a table into rows, as it will be read; none if it cannot be."""
    if not quoting:
        plain = (line.removesuffix("\r").split(delimiter) for line in text.split("\n"))
        return [row for row in plain if row != [""]]
    rows: list[list[str]] = []
    lines = io.StringIO(text, newline="")
    try:
        for row in csv.reader(lines, delimiter=delimiter, strict=True):
            rows.append(row)
    except csv.Error:
        if lines.read(1):
            return []
    return [row for row in rows if row]


def _evenness(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Give the part of the rows that have as many fields as the first, and this number."""
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    # the last row of a sample may be cut
    full = rows[:-1] if len(rows) > 2 else rows
    return sum(len(row) == len(rows[0]) for row in full) / len(full), len(rows[0])


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first row names the columns: short names, no numbers, not met again."""
    if not rows:
        return True
    first, *others = rows
    if any(len(cell) > _HEADING or _SENTENCE.search(cell) or _is_number(cell) for cell in first):
        return False
    # a row at a time: thousands of columns and of short rows took the product of both
    again = Counter(
        place
        for row in others
        for place, (name, cell) in enumerate(zip(first, row, strict=False))
        if name and name == cell
    )
    return max(again.values(), default=0) < 2


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def may_be_lines(text: str) -> int:
    r"""Give the number of lines of a text if each may be a document of its own, else 0.

    It has many lines, of which few are blank, and they are not broken at a margin.

    Examples
    --------
    >>> may_be_lines("Good service, we will come again.\nBad food.\n" * 40)
    80
    >>> may_be_lines("A first line.\n\nA second paragraph.\n\n" * 40)
    0
    """
    lines = text.splitlines()
    full = [line for line in lines if line.strip()]
    if len(full) < _MANY_LINES or len(lines) - len(full) > _FEW_BLANK * len(lines):
        return 0
    margin = max(map(len, full))
    near = sum(len(line) > 0.85 * margin for line in full)
    ended = sum(line.rstrip().endswith((".", "!", "?")) for line in full)
    is_broken = margin <= 120 and near > _WRAPPED * len(full) > ended
    return 0 if is_broken else len(full)

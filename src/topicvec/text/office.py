"""Files of texts in a wrapping: HTML, Markdown, Word, EPUB, e-mail, PDF, and the rows of Excel.

A document is read whole, so each has a limit, which also ends what was made to fill a memory.
"""

import io
import logging
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from xml.parsers import expat

from topicvec.errors import DataError, FormatError, TopicVecError, require
from topicvec.files import LIMIT, most_text, open_source, too_long
from topicvec.text.decoding import Decoding, decode
from topicvec.text.document import Document, SourceFile
from topicvec.text.markup import html_text, message_text, plain_html, plain_markdown, tidy
from topicvec.text.recognise import has_header
from topicvec.text.tables import Columns, Row, documents_of_rows, find_columns, seekable

__all__ = ["read_excel", "read_wrapped"]

_PIECE = 1 << 20
_WRAPPING = 8  # bytes of a document, or of what it unpacks to, for a character that it may have
_SOME_ROWS = 50  # to see whether the first is a header
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DEEPEST = 1 << 12  # messages within messages, elements in elements
_ENVELOPE = re.compile(rb"From (?>.*?\d\d:\d\d).*\d{4}")  # before each message of a mailbox
_LIGATURES = dict(
    zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)
)
_CUT_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\n(?=[a-zß-öø-ÿ])")


def read_wrapped(file: SourceFile, kind: str, decoding: Decoding) -> Iterator[Document]:
    r"""Read the text of a document that is more than text.

    Parameters
    ----------
    file : SourceFile
        The file.
    kind : {"html", "markdown", "docx", "epub", "email", "mbox", "pdf"}
        Its format.
    decoding : Decoding
        For those that are text themselves and do not say their encoding.

    Yields
    ------
    Document
        One; of a mailbox one for each message, with its date as time.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "pets.html")
    >>> _ = path.write_text("<title>Pets</title><p>Cats <b>purr</b>.<p>Dogs &amp; birds")
    >>> [each.text for each in read_wrapped(SourceFile(path, path.name), "html", Decoding())]
    ['Pets\nCats purr.\nDogs & birds']
    """
    if kind == "mbox":
        try:
            yield from _read_mailbox(file, decoding)
        except TopicVecError as error:
            raise _named(error, file.name) from error
        return
    with seekable(file.path) as source:
        try:
            text, time = _WRAPPED[kind](source, decoding, file.name)
            _check_length(text, file.name)
        except TopicVecError as error:
            raise _named(error, file.name) from error
    yield Document(file.name, text, file.label, time)


def _named(error: TopicVecError, name: str) -> TopicVecError:
    said = str(error)
    is_own = isinstance(error, (DataError, FormatError)) and not said.startswith(name)
    return type(error)(f"{name}: {said}") if is_own else error


Found = tuple[str, str | None]  # text and time
Source = Path | BinaryIO


def _content(source: Source) -> bytes:
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as stream:
        # in pieces: to ask for all that is allowed reserves as much for the smallest file
        pieces = iter(partial(stream.read, _PIECE), b"")
        data = b"".join(islice(pieces, _largest() // _PIECE + 2))
    _check_size(len(data))
    return data


def _largest() -> int:
    return _WRAPPING * most_text()


def _check_size(n_bytes: int) -> None:
    if n_bytes > _largest():
        raise FormatError(
            f"one document of more than {_largest() // 1_000_000} MB; split it, read it as a "
            f"table, or raise the limit ({LIMIT}, in millions of characters)"
        )


def _check_length(text: str, name: str) -> None:
    if len(text) > most_text():
        raise too_long(name)


def _html(source: Source, decoding: Decoding, name: str) -> Found:
    return plain_html(html_text(_content(source), decoding, name)), None


def _markdown(source: Source, decoding: Decoding, name: str) -> Found:
    return plain_markdown(decode(_content(source), decoding, name)), None


def _docx(source: Source, decoding: Decoding, name: str) -> Found:  # noqa: ARG001
    with _archive(source) as archive:
        return _word_text(_member(archive, "word/document.xml")), None


def _word_text(data: bytes) -> str:
    """Take the text of WordprocessingML, a paragraph a line; what was deleted is not there."""
    pieces: list[str] = []
    inside: list[str] = []
    signs = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}

    def start(tag: str, attributes: Any) -> None:  # noqa: ARG001
        inside.append(_local(tag))
        if len(inside) > _DEEPEST:
            raise FormatError("its elements are nested too deeply: save it again")
        pieces.append(signs.get(inside[-1], ""))

    def end(_: str) -> None:
        if inside.pop() == "p":
            pieces.append("\n")

    def text(data: str) -> None:
        if inside and inside[-1] == "t" and "Fallback" not in inside:
            pieces.append(data)

    parser = _safe_parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text
    _parse(parser, data)
    return tidy("".join(pieces))


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def _safe_parser() -> Any:
    """Give a parser of XML that refuses entities, as no document needs them and bombs do."""

    def refuse(*_: Any) -> None:
        raise FormatError("it defines entities, which such documents have no use for; not read")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse
    return parser


def _parse(parser: Any, data: bytes) -> None:
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # of an encoding it has not
        raise FormatError(f"damaged inside ({error}); save it again") from error


@contextmanager
def _archive(source: Source) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(source) as archive:
            _check_parts(archive)
            yield archive
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, EOFError, RuntimeError,
            NotImplementedError, UnicodeDecodeError) as error:  # fmt: skip
        reason = "it needs a password" if "encrypted" in str(error) else str(error)
        raise FormatError(f"damaged or protected ({reason}); save it again") from error


def _check_parts(archive: zipfile.ZipFile) -> None:
    """Refuse an archive with parts that would take more memory than they are.

    For a part that is said to be longer than it is as much is reserved, and bzip2 and LZMA unpack
    without an end.
    """
    stream: Any = archive.fp
    length = stream.seek(0, io.SEEK_END)
    if any(info.compress_size > length for info in archive.infolist()):
        raise zipfile.BadZipFile("a part of it is said to be longer than all of it")
    if any(info.compress_type not in _PACKINGS for info in archive.infolist()):
        raise zipfile.BadZipFile("a part of it is packed otherwise than such documents are")


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError as error:
        raise FormatError(f"it has no part {name}; save it again") from error
    _check_size(info.file_size)
    with archive.open(info) as part:  # all of it is unpacked if no length is asked for
        return part.read(info.file_size)


def _epub(source: Source, decoding: Decoding, name: str) -> Found:
    with _archive(source) as archive:
        texts, size = [], 0
        for chapter in _chapters(archive):
            data = _member(archive, chapter)
            size += len(data)
            _check_size(size)
            texts.append(plain_html(html_text(data, decoding, name)))
    return "\n\n".join(filter(None, texts)), None


def _chapters(archive: zipfile.ZipFile) -> list[str]:
    """List the chapters of a book in the order of reading."""
    roots = _elements(_member(archive, "META-INF/container.xml"), "rootfile")
    package = next((each["full-path"] for each in roots if "full-path" in each), "")
    content = _member(archive, package)
    places = {each.get("id"): each.get("href", "") for each in _elements(content, "item")}
    kinds = {each.get("id"): each.get("media-type", "") for each in _elements(content, "item")}
    order = [each.get("idref") for each in _elements(content, "itemref")]
    folder = posixpath.dirname(package)
    chapters = [
        posixpath.normpath(posixpath.join(folder, _unquoted(places[key])))
        for key in order
        if "html" in kinds.get(key, "")
    ]
    return list(dict.fromkeys(chapters))  # once, however often a bomb names it


def _unquoted(href: str) -> str:
    from urllib.parse import unquote

    return unquote(href.partition("#")[0])


def _elements(data: bytes, name: str) -> list[dict[str, str]]:
    """List the attributes of the elements of a name, whatever its prefix."""
    found: list[dict[str, str]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if _local(tag) == name:
            found.append(attributes)

    parser = _safe_parser()
    parser.StartElementHandler = start
    _parse(parser, data)
    return found


def _email(source: Source, decoding: Decoding, name: str) -> Found:
    return message_text(_content(source), decoding, name)


def _read_mailbox(file: SourceFile, decoding: Decoding) -> Iterator[Document]:
    """Read a mailbox, a message at a time."""
    lines: list[bytes] = []
    size, number = 0, 0
    with open_source(file.path) as stream:
        for line in chain(_lines(stream), [b"\n", b"From - 00:00 2000\n"]):
            if lines and _ENVELOPE.match(line) and not lines[-1].strip():
                number += 1
                name = f"{file.name}:{number}"
                text, time = message_text(b"".join(lines[1:]), decoding, name)
                _check_length(text, name)
                yield Document(name, text, file.label, time)
                lines, size = [], 0
            lines.append(line)
            size += len(line)
            _check_size(size)


def _lines(stream: Any) -> Iterator[bytes]:
    begun: list[bytes] = []  # pieces of a line: added up one by one, a long one takes for ever
    size = 0
    while piece := stream.read1(1 << 16):
        *lines, rest = piece.split(b"\n")
        if lines:
            lines[0] = b"".join([*begun, lines[0]])
            yield from (line + b"\n" for line in lines)
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        _check_size(size)
    if size:
        yield b"".join([*begun, b"\n"])


def _pdf(source: Source, decoding: Decoding, name: str) -> Found:  # noqa: ARG001
    pypdf = require("pypdf", "readers", "reading PDF")
    logger = logging.getLogger("pypdf")  # which tells each oddity of a file
    before, size = logger.level, 0
    logger.setLevel(logging.CRITICAL)
    try:
        pages: list[str] = []
        for page in pypdf.PdfReader(source).pages:
            pages.append(page.extract_text() or "")
            size += len(pages[-1])
            if size > most_text():
                raise too_long(name)
    except TopicVecError:
        raise
    except Exception as error:  # a library of parsers meets damage in many ways
        raise FormatError(_pdf_damage(error)) from error
    finally:
        logger.setLevel(before)
    text = _CUT_WORD.sub("", "\n".join(pages).translate(_LIGATURES)).strip()
    if not text:
        raise FormatError("no text in this PDF, only pictures of pages: run OCR over it first")
    return text, None


def _pdf_damage(error: Exception) -> str:
    if "ecrypt" in type(error).__name__ + str(error):
        return "this PDF needs a password: save it without one"
    return f"damaged or not PDF ({' '.join(str(error).split())[:200]}); fetch it again"


_WRAPPED: dict[str, Callable[[Source, Decoding, str], Found]] = {
    "html": _html, "markdown": _markdown, "docx": _docx, "epub": _epub, "email": _email,
    "pdf": _pdf,
}  # fmt: skip


def read_excel(
    file: SourceFile,
    columns: Columns,
    header: bool | None = None,
    inside: Callable[[str], None] = lambda _: None,
) -> Iterator[Document]:
    """Read a sheet of an Excel file, one row a document: the first that has the columns.

    Parameters
    ----------
    file : SourceFile
        The file, .xlsx or .xlsm.
    columns : mapping of str to str, int or None
        What is where, as in `find_columns`.
    header : bool, optional
        Whether the first row names the columns; by default it does if it reads so.
    inside : callable
        Told which sheet is read, if there are several.

    Yields
    ------
    Document
        One for each row that is not empty.
    """
    openpyxl = require("openpyxl", "readers", "reading Excel")
    with seekable(file.path) as source:
        try:
            _check_unpacked(source)
            book = openpyxl.load_workbook(source, read_only=True, data_only=True)
            chosen = _sheet(book.worksheets, columns, header)
            where = f", sheet {chosen.title!r} of {len(book.worksheets)}"
            if len(book.worksheets) > 1:
                inside(where)
            rows = chain(chosen.first, chosen.rest)
            yield from documents_of_rows(rows, file, columns, chosen.header)
            book.close()
        except TopicVecError as error:
            raise _named(error, file.name) from error
        except Exception as error:  # a library of parsers meets damage in many ways
            reason = " ".join(str(error).split())[:200]
            raise FormatError(
                f"{file.name}: damaged or not Excel ({reason}); save it again"
            ) from error


class _Sheet(NamedTuple):
    """A sheet whose first rows are known."""

    title: str
    first: list[Row]
    rest: Iterator[Row]
    header: bool

    def has_rows(self) -> bool:
        """Say whether there is more than a header."""
        return len(self.first) > self.header

    def has(self, columns: Columns) -> bool:
        """Say whether the columns that are asked for are there."""
        cells = self.first[0][1]
        try:
            names = cells if self.header else [str(place) for place in range(len(cells))]
            find_columns(columns, names, self.title)
        except DataError:
            return False
        return True


def _sheet(sheets: list[Any], columns: Columns, header: bool | None) -> _Sheet:
    """Choose the first sheet that has the columns, else the first that has rows."""
    found = [_opened(sheet, header) for sheet in sheets]
    text = columns.get("text")
    asked = {**columns, "text": "text" if text is None else text}
    full = [each for each in found if each.has_rows()] or found[:1]
    return next((each for each in full if each.first and each.has(asked)), full[0])


def _opened(sheet: Any, header: bool | None) -> _Sheet:
    rows = _filled(sheet.iter_rows(values_only=True))
    first = list(islice(rows, _SOME_ROWS))
    named = has_header([row for _, row in first]) if header is None else header
    return _Sheet(sheet.title, first, rows, named)


def _check_unpacked(source: Source) -> None:
    with _archive(source) as archive:
        if sum(info.file_size for info in archive.infolist()) > 8 * _largest():
            megabytes = 8 * _largest() // 1_000_000
            raise FormatError(f"it unpacks to more than {megabytes:,} MB: export it as CSV")


def _filled(rows: Any) -> Iterator[Row]:
    """Number the rows and give their cells as text; rows of nothing are left out."""
    for number, row in enumerate(rows, 1):
        cells = ["" if cell is None else _cell(cell) for cell in row]
        if any(cells):
            yield number, cells


def _cell(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)

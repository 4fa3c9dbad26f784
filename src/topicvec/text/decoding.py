"""Bytes to text: each file in its own encoding, and no wrong byte is passed over."""

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO, cast

from topicvec.errors import DataError
from topicvec.files import display_name, open_source
from topicvec.text.encodings import ADVICE, NotText, tell_encoding

__all__ = ["Decoding", "Errors", "check_encoding", "decode", "decode_as_said", "open_text"]

Errors = Literal["strict", "replace", "skip"]

_WINDOW = 1 << 16  # bytes to judge by, from the first that is not ASCII
_SHORTEST = 1 << 10  # bytes to read at once
_MARKED = "topicvec.marked"  # bytes that cannot be decoded become lone surrogates, to be found
_MARK = re.compile("[\udc00-\udcff]+")
# Of names and of Python's source; the first two take quadratic time.
_NOT_OF_TEXTS = {"punycode", "idna", "unicode-escape", "raw-unicode-escape"}


@dataclass
class Decoding:
    r"""How the bytes of files become text, and what was met on the way.

    Parameters
    ----------
    encoding : str
        A codec, or "auto": each file has the encoding that its bytes tell.
    errors : {"strict", "replace", "skip"}
        What becomes of bytes that are not in the encoding: an error at the first; U+FFFD; or the
        text that they stand in is left out.

    Attributes
    ----------
    used : str
        The encoding of the file that was read last.
    n_replaced : int
        Bytes that were replaced so far.

    Examples
    --------
    >>> decoding = Decoding("utf-8", "replace")
    >>> decoding.mend("caf\udce9"), decoding.n_replaced
    ('caf\ufffd', 1)
    >>> Decoding("utf-8", "skip").mend("caf\udce9") is None
    True
    """

    encoding: str = "auto"
    errors: Errors = "strict"
    used: str = field(default="", init=False)
    n_replaced: int = field(default=0, init=False)
    has_marks: bool = field(default=False, init=False)  # in the file that was read last

    def mend(self, text: str) -> str | None:
        """Replace what could not be decoded, or give nothing if such a text is to be skipped."""
        wrong = sum(map(len, _MARK.findall(text)))
        if wrong and self.errors == "skip":
            return None
        self.n_replaced += wrong
        return _MARK.sub("\N{REPLACEMENT CHARACTER}", text) if wrong else text

    def wrong_in(self, text: str, name: str) -> str:
        r"""Say which byte of a text could not be decoded, and what to do.

        Examples
        --------
        >>> Decoding("utf-8").wrong_in("caf\udce9 noir", "note.txt")
        "note.txt: byte 0xe9 behind 'caf' is not utf-8; ..."
        """
        found = _MARK.search(text)
        place = found.start() if found else 0
        byte = ord(text[place]) - 0xDC00 if found else 0
        behind = text[max(place - 20, 0) : place]
        encoding = self.used or self.encoding
        return f"{name}: byte 0x{byte:02x} behind {behind!r} is not {encoding}; {ADVICE}"


def check_encoding(encoding: str) -> None:
    """Refuse the name of no encoding.

    Examples
    --------
    >>> check_encoding("utf-88")
    Traceback (most recent call last):
    topicvec.errors.DataError: no encoding is called 'utf-88'; try auto, utf-8, utf-16, cp1252 ...
    """
    try:
        if encoding != "auto":
            "a".encode(encoding)  # also refuses codecs that make no text
    except (LookupError, TypeError) as error:
        raise DataError(
            f"no encoding is called {encoding!r}; try auto, utf-8, utf-16, cp1252 or latin-1"
        ) from error


@contextmanager
def open_text(path: Path, decoding: Decoding, newline: str = "\n") -> Iterator[TextIO]:
    r"""Open a file, or standard input, for reading its text; a wrong byte is named exactly.

    Parameters
    ----------
    path : Path
        As in `topicvec.files.open_source`.
    decoding : Decoding
        Says the encoding of the decompressed bytes, and takes what they were found to be in; a
        byte order mark is removed.
    newline : str
        As in `open`: "\n" gives lines that end there only, "" leaves the text untouched.

    Yields
    ------
    stream
        The text.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "note.txt")
    >>> _ = path.write_bytes("Café".encode("latin-1"))
    >>> with open_text(path, Decoding()) as stream:
    ...     stream.read()
    'Café'
    >>> with open_text(path, Decoding("utf-8")) as stream:
    ...     stream.read()
    Traceback (most recent call last):
    topicvec.errors.DataError: ...note.txt: byte 0xe9 at offset 3 is not utf-8; ...
    """
    decoding.used, decoding.has_marks = "utf-8", False
    name = display_name(path)
    with open_source(path) as binary:
        recoded = cast(BinaryIO, _Recoded(binary, decoding, name))
        yield io.TextIOWrapper(recoded, "utf-8", errors="surrogatepass", newline=newline)


def decode(data: bytes, decoding: Decoding, name: str) -> str:
    r"""Decode a whole document; a wrong byte is named as by `open_text`.

    Examples
    --------
    >>> decode(b"Caf\xe9", Decoding(), "note.txt")
    'Café'
    """
    decoding.used, decoding.has_marks = "utf-8", False
    recoded = _Recoded(io.BytesIO(data), decoding, name)
    return recoded.read().decode("utf-8", "surrogatepass")


def decode_as_said(data: bytes, encoding: str) -> str:
    r"""Decode a whole document in the encoding that it names itself, if texts have such a one.

    Examples
    --------
    >>> decode_as_said(b"Caf\xe9", "latin-1")
    'Café'
    >>> decode_as_said(b"Caf-dma", "punycode")
    Traceback (most recent call last):
    LookupError: no text is in punycode
    """
    if codecs.lookup(encoding).name in _NOT_OF_TEXTS:
        raise LookupError(f"no text is in {encoding}")
    return data.decode(encoding)


class _Recoded(io.BufferedIOBase):
    """The bytes of a file in UTF-8; they choose the encoding where the first is not ASCII."""

    def __init__(self, source: io.BufferedIOBase, decoding: Decoding, name: str) -> None:
        self._source, self._decoding, self._name = source, decoding, name
        self._n_read, self._done = 0, False
        chosen = None if decoding.encoding == "auto" else decoding.encoding
        self._decoder: Any = chosen and self._choose(chosen)

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(self.read1, b""))
        return self.read1(size)

    def read1(self, size: int = -1) -> bytes:
        while not self._done:
            piece = self._source.read1(_WINDOW if size < 0 else max(size, _SHORTEST))
            if self._decoder is None and not (self._is_plain(piece)):
                piece = self._ahead(piece)
                self._decoder = self._choose(self._tell(piece))
            self._done = not piece
            text = piece if self._decoder is None else self._decode(piece)
            if text:
                return text
        return b""

    def _is_plain(self, piece: bytes) -> bool:
        return piece.isascii() and b"\0" not in piece and b"\x1b$" not in piece

    def _ahead(self, piece: bytes) -> bytes:
        """Read on until there is enough behind the first byte that tells something."""
        pieces, length = [piece], len(piece)
        while length < _WINDOW and (more := self._source.read1(_WINDOW)):
            pieces.append(more)
            length += len(more)
        return b"".join(pieces)

    def _tell(self, piece: bytes) -> str:
        whole = len(piece) < _WINDOW
        try:
            return tell_encoding(piece, whole=whole)
        except NotText as error:
            raise NotText(f"{self._name}: {error}" if self._name else str(error)) from error

    def _choose(self, encoding: str) -> Any:
        self._decoding.used = encoding
        utf8 = codecs.lookup(encoding).name == "utf-8"
        return codecs.getincrementaldecoder("utf-8-sig" if utf8 else encoding)()

    def _decode(self, piece: bytes) -> bytes:
        before = self._decoder.getstate()
        self._n_read += len(piece)
        try:
            text = self._decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            if self._decoding.errors == "strict" or _lacks_mark(error):
                raise self._wrong(error) from error
            text = self._marked(before, piece)
        return cast(str, text).encode("utf-8", "surrogatepass")

    def _marked(self, before: Any, piece: bytes) -> str:
        self._decoding.has_marks = True
        self._decoder.setstate(before)
        self._decoder.errors = _MARKED
        try:
            text: str = self._decoder.decode(piece, final=not piece)
        except UnicodeError as error:  # what was passed over had been the mark of UTF-16
            raise self._wrong(error) from error
        self._decoder.errors = "strict"
        return text

    def _wrong(self, error: UnicodeError) -> DataError:
        name = self._decoding.used
        if _lacks_mark(error) or not isinstance(error, UnicodeDecodeError):
            return DataError(f"{self._name} is not {name} ({error}); {ADVICE}")
        # the decoder was given what it had kept and the piece, so its end is as far as was read
        offset = self._n_read - len(error.object) + error.start
        byte = error.object[error.start]
        return DataError(
            f"{self._name}: byte 0x{byte:02x} at offset {offset} is not {name}; {ADVICE}"
        )


def _lacks_mark(error: UnicodeError) -> bool:
    """Whether it is UTF-16 or UTF-32 without the mark; from Python 3.13 on it names bytes too."""
    return not isinstance(error, UnicodeDecodeError) or "start with BOM" in error.reason


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(chr(0xDC00 + byte) for byte in wrong), error.end


codecs.register_error(_MARKED, _mark)

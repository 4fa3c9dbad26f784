"""Open files as they are on disk: compressed or not, in any encoding, with exact complaints."""

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from topicvec.errors import DataError, FormatError, require

__all__ = ["STDIN", "display_name", "file_suffix", "open_binary", "open_text", "printable"]

STDIN = Path("-")
_COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
_ADVICE = (
    "give the encoding of the file with encoding= (--encoding on the command line), "
    "for example cp1252 or latin-1"
)
_PIECE = 1 << 18
_ZST_PIECE = 1 << 14  # small, because a piece of repetitive text grows a hundredfold


def display_name(path: Path) -> str:
    """Name a source in ids and messages; standard input is ``"stdin"``.

    The name can always be printed and written, see `printable`.

    Examples
    --------
    >>> display_name(Path("news") / "a.txt"), display_name(STDIN)
    ('news/a.txt', 'stdin')
    """
    return "stdin" if path == STDIN else printable(path.as_posix())


def printable(name: str) -> str:
    r"""Escape what UTF-8 cannot hold: bytes of a file name that no encoding explains.

    Examples
    --------
    >>> print(printable("café"), printable("caf\udce9"))
    café caf\udce9
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def file_suffix(path: Path) -> str:
    """Return the lower-case suffix that tells the format, below any compression suffix.

    Examples
    --------
    >>> file_suffix(Path("news.CSV.gz")), file_suffix(Path("wiki.txt"))
    ('.csv', '.txt')
    """
    if path.suffix.lower() in _COMPRESSED:
        path = path.with_suffix("")
    return path.suffix.lower()


@contextmanager
def open_binary(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a file, or standard input, for reading its decompressed bytes.

    Parameters
    ----------
    path : Path
        A file, decompressed if it ends in .gz, .xz, .bz2 or .zst; ``STDIN`` for standard input.

    Yields
    ------
    stream
        Has ``read1`` and ``read``; damage found while reading is a ``FormatError``.

    Examples
    --------
    >>> import gzip, tempfile
    >>> path = Path(tempfile.mkdtemp(), "note.txt.gz")
    >>> _ = path.write_bytes(gzip.compress(b"Cats purr."))
    >>> with open_binary(path) as stream:
    ...     stream.read()
    b'Cats purr.'
    """
    if path == STDIN:
        yield _Checked(sys.stdin.buffer, path)
        return
    try:
        raw = path.open("rb")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    with raw:
        yield _Checked(_decompressed(raw, path.suffix.lower()), path)


@contextmanager
def open_text(path: Path, encoding: str, newline: str = "\n") -> Iterator[TextIO]:
    r"""Open a file, or standard input, for reading its text; a wrong byte is named exactly.

    Parameters
    ----------
    path : Path
        As in `open_binary`.
    encoding : str
        Encoding of the decompressed bytes; a byte order mark is removed.
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
    >>> with open_text(path, "utf-8") as stream:
    ...     stream.read()
    Traceback (most recent call last):
    topicvec.errors.DataError: ...note.txt: byte 0xe9 at offset 3 is not utf-8; ...
    """
    decoder = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    with open_binary(path) as binary:
        try:
            yield io.TextIOWrapper(cast(BinaryIO, binary), encoding=decoder, newline=newline)
        except UnicodeDecodeError as error:
            raise DataError(_wrong_byte(path, encoding, binary.tell(), error)) from error
        except UnicodeError as error:  # UTF-16 without its mark names no byte
            raise DataError(
                f"{display_name(path)} is not {encoding} ({error}); {_ADVICE}"
            ) from error


def _wrong_byte(path: Path, encoding: str, n_read: int, error: UnicodeDecodeError) -> str:
    # error.object is the last piece read, so its end is n_read bytes into the file
    offset = n_read - len(error.object) + error.start
    return (
        f"{display_name(path)}: byte 0x{error.object[error.start]:02x} at offset {offset} "
        f"is not {encoding}; {_ADVICE}"
    )


def _decompressed(raw: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw)
    if suffix == ".xz":
        return lzma.LZMAFile(raw)
    if suffix == ".bz2":
        return bz2.BZ2File(raw)
    if suffix == ".zst":
        return _Zst(raw)
    return raw


class _Checked(io.BufferedIOBase):
    """A stream that counts its bytes and says which file is damaged."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream = stream
        self._path = path
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._n_read

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read1(_PIECE), b""))
        return self.read1(size)

    def read1(self, size: int = -1) -> bytes:
        try:
            piece: bytes = self._stream.read1(size)
        except _DAMAGE as error:
            raise FormatError(
                f"{display_name(self._path)}: damaged or truncated after {self._n_read} bytes of "
                f"content ({error}); fetch or compress the file again"
            ) from error
        self._n_read += len(piece)
        return piece


class _Zst:
    """Reads one or more Zstandard frames; unlike the library's reader it notices a cut."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._library = require("zstandard", "readers", "reading .zst files")
        self._frame: Any = None
        self._rest = b""

    def read1(self, size: int) -> bytes:
        """Return some decompressed bytes, none at the end; ``size`` is not needed."""
        del size
        while piece := self._rest or self._raw.read(_ZST_PIECE):
            if text := self._decompress(piece):
                return text
        if self._frame is not None:
            raise EOFError("the last frame is not complete")
        return b""

    def _decompress(self, piece: bytes) -> bytes:
        if self._frame is None:
            self._frame = self._library.ZstdDecompressor().decompressobj()
        try:
            text: bytes = self._frame.decompress(piece)
        except self._library.ZstdError as error:
            raise EOFError(error) from error
        self._rest = self._frame.unused_data
        if self._frame.eof:
            self._frame = None
        return text

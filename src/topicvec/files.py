"""Files: opening, compressed or not, and writing whole or not at all."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from topicvec.errors import DataError, FormatError, require

__all__ = [
    "STDIN",
    "atomic_write",
    "check_file",
    "display_name",
    "file_suffix",
    "is_compressed",
    "open_read",
    "open_source",
    "open_text",
    "open_write",
    "printable",
]

STDIN = Path("-")
_FIRST_BYTES = {
    ".gz": re.compile(rb"\x1f\x8b"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".bz2": re.compile(rb"BZh[1-9]1AY&SY"),
}
_COMPRESSED = (*_FIRST_BYTES, ".zst")
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
_ADVICE = (
    "give the encoding of the file with encoding= (--encoding on the command line), "
    "for example cp1252 or latin-1"
)
_PIECE = 1 << 18
_ZST_PIECE = 1 << 14  # small, because a piece of repetitive text grows a hundredfold


def check_file(path: Path) -> None:
    """Refuse a path at which there is no file with something in it.

    Parameters
    ----------
    path : Path

    Examples
    --------
    >>> check_file(Path("no_such_file.txt"))
    Traceback (most recent call last):
    topicvec.errors.DataError: no such file: no_such_file.txt: check the name and the folder
    """
    if path.is_dir():
        raise DataError(f"{path} is a folder: expected a file")
    if not path.exists():
        raise DataError(f"no such file: {path}: check the name and the folder")
    if not path.stat().st_size:
        raise FormatError(f"{path}: the file is empty")


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


def is_compressed(path: Path) -> bool:
    """Say whether a file is a gzip, xz or bzip2 one, by its first bytes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "words.txt")
    >>> _ = path.write_text("cat 1")
    >>> is_compressed(path)
    False
    """
    with path.open("rb") as file:
        return _suffix_by_content(file) != ""


@contextmanager
def open_read(path: Path) -> Iterator[IO[bytes]]:
    """Open a file whose first bytes say how it is compressed; damage is a FormatError.

    Parameters
    ----------
    path : Path
        A plain, gzip, xz or bzip2 file, whatever its name.

    Yields
    ------
    binary file

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "words.gz")
    >>> with open_write(path) as file:
    ...     _ = file.write(b"cat 1")
    >>> with open_read(path) as file:
    ...     file.read()
    b'cat 1'
    """
    check_file(path)
    try:
        with path.open("rb") as raw:
            suffix = _suffix_by_content(raw)
            yield io.BufferedReader(_decompressed(raw, suffix)) if suffix else raw
    except _DAMAGE as error:
        raise FormatError(
            f"{path}: cannot be read to its end ({error}): get the file again"
        ) from error


@contextmanager
def open_source(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a file whose name says how it is compressed, or standard input.

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
    >>> with open_source(path) as stream:
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
        As in `open_source`.
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
    with open_source(path) as binary:
        try:
            yield io.TextIOWrapper(cast(BinaryIO, binary), encoding=decoder, newline=newline)
        except UnicodeDecodeError as error:
            # error.object is the last piece read, so its end is as far as the file was read
            offset = binary.tell() - len(error.object) + error.start
            raise DataError(
                f"{display_name(path)}: byte 0x{error.object[error.start]:02x} at offset {offset} "
                f"is not {encoding}; {_ADVICE}"
            ) from error
        except UnicodeError as error:  # UTF-16 without its mark names no byte
            raise DataError(
                f"{display_name(path)} is not {encoding} ({error}); {_ADVICE}"
            ) from error


@contextmanager
def open_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes, compressed if the name ends in .gz, .xz or .bz2.

    The file appears under its name when all is written, and not at all after an error.

    Parameters
    ----------
    path : Path

    Yields
    ------
    binary file

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "words.txt")
    >>> with open_write(path) as file:
    ...     _ = file.write(b"cat 1")
    >>> path.read_bytes()
    b'cat 1'
    """
    with (
        atomic_write(path) as part,
        part.open("wb") as raw,
        _compressor(path.suffix, raw) as file,
    ):
        yield file


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Give a name beside the file to write to, and rename it when the block ends well.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        Of the unfinished file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "words.txt")
    >>> with atomic_write(path) as part:
    ...     _ = part.write_text("cat 1")
    >>> [file.name for file in path.parent.iterdir()]
    ['words.txt']
    """
    if not path.parent.is_dir():
        raise DataError(f"no such folder: {path.parent}: make it first, or choose another")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _suffix_by_content(file: IO[bytes]) -> str:
    """Give the suffix that an opened file should have, "" for a plain one; rewinds it."""
    head = file.read(16)
    file.seek(0)
    return next((suffix for suffix, first in _FIRST_BYTES.items() if first.match(head)), "")


def _decompressed(raw: BinaryIO, suffix: str) -> Any:
    match suffix:
        case ".gz":
            return gzip.GzipFile(fileobj=raw)
        case ".xz":
            return lzma.LZMAFile(raw)
        case ".bz2":
            return bz2.BZ2File(raw)
        case ".zst":
            return _Zst(raw)
        case _:
            return raw


def _compressor(suffix: str, raw: IO[bytes]) -> IO[bytes]:
    match suffix:
        case ".gz":  # no name and no time inside: the same vectors give the same bytes
            return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        case ".xz":
            return cast(IO[bytes], lzma.LZMAFile(raw, "wb"))
        case ".bz2":
            return cast(IO[bytes], bz2.BZ2File(raw, "wb"))
        case _:
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

    def read1(self, size: int) -> bytes:  # noqa: ARG002
        """Return some decompressed bytes, none at the end; ``size`` is not needed."""
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

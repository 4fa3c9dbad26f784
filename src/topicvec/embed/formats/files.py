"""Opening compressed files by their content, and writing files whole or not at all."""

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from topicvec.errors import DataError, FormatError

__all__ = ["atomic_write", "check_file", "is_compressed", "open_read", "open_write"]

_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")


@contextmanager
def open_read(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain, gzip, xz or bzip2 file for reading bytes; damage is a FormatError.

    Parameters
    ----------
    path : Path

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
        with _decompressor(path) as file:
            yield file
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, OSError) as error:
        raise FormatError(
            f"{path}: cannot be read to its end ({error}): get the file again"
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
    return _decompression(path) is not None


def _decompression(path: Path) -> str | None:
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_XZ):
        return "xz"
    return "bzip2" if _BZIP2.match(head) else None


def _decompressor(path: Path) -> IO[bytes]:
    match _decompression(path):
        case "gzip":
            return io.BufferedReader(gzip.open(path))
        case "xz":
            return io.BufferedReader(lzma.open(path))
        case "bzip2":
            return io.BufferedReader(bz2.open(path))
        case _:
            return path.open("rb")


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

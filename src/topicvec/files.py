"""Files: opening, compressed or not, and writing whole or not at all."""

import bz2
import gzip
import io
import lzma
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, cast

from topicvec.errors import DataError, FormatError, require

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "STDIN",
    "atomic_write",
    "check_file",
    "display_name",
    "file_suffix",
    "hold",
    "is_compressed",
    "is_special",
    "limited_lines",
    "limited_text",
    "most_text",
    "open_read",
    "open_source",
    "open_write",
    "peek",
    "printable",
    "too_long",
]

STDIN = Path("-")
LIMIT = "TOPICVEC_MAX_TEXT"
_FIRST_BYTES = {
    ".gz": re.compile(rb"\x1f\x8b"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".bz2": re.compile(rb"BZh[1-9]1AY&SY"),
}
_COMPRESSED = (*_FIRST_BYTES, ".zst")
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
_PIECE = 1 << 18
_PART = ".part"
_LONGEST_NAME = 220  # bytes; most file systems take 255 with what is put around it
_OPEN_FILES = {Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd")}
_ZST_PIECE = 1 << 10  # small, because a piece of it can grow thirty-thousandfold
_MOST_UNPACKED = 200  # times the size of a file; word vectors shrink to a third at best
_LARGE = 100_000_000  # bytes, below which it makes no difference


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
            size = path.stat().st_size
            yield io.BufferedReader(_Bounded(_decompressed(raw, suffix), size)) if suffix else raw
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


def peek(path: Path, n_bytes: int) -> bytes:
    """Look at the beginning of a file, decompressed, or of standard input, and leave it there.

    Parameters
    ----------
    path : Path
        As in `open_source`.
    n_bytes : int
        How much at most; of a pipe it may be less, and of one with a name nothing.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "note.txt")
    >>> _ = path.write_text("Cats purr.")
    >>> peek(path, 4)
    b'Cats'
    """
    if path == STDIN:
        stream = sys.stdin.buffer
        if not stream.seekable():
            return cast(io.BufferedReader, stream).peek(n_bytes)[:n_bytes]
        place = stream.tell()
        found = stream.read(n_bytes)
        stream.seek(place)
        return found
    if not path.is_file():  # what is read from a named pipe is gone
        return b""
    with open_source(path) as source:
        pieces: list[bytes] = []
        while n_bytes > 0 and (piece := source.read1(n_bytes)):
            pieces.append(piece[:n_bytes])
            n_bytes -= len(piece)
    return b"".join(pieces)


def most_text() -> int:
    """Say how many characters a document, a line or a row of a table may have.

    A file of a few bytes can unpack to one line of gigabytes, and a device has no end: what is
    longer is refused instead of filling the memory. The environment variable TOPICVEC_MAX_TEXT
    sets the limit, in millions of characters.

    Returns
    -------
    int

    Examples
    --------
    >>> most_text()
    32000000
    """
    given = os.environ.get(LIMIT, "32")
    if not (given.isascii() and given.isdigit() and 0 < len(given) < 10 and int(given)):
        raise DataError(
            f"{LIMIT} must be a whole number, of millions of characters; found {given!r}"
        )
    return int(given) * 1_000_000


def limited_lines(stream: TextIO, where: str) -> Iterator[str]:
    r"""Read a text by its lines, none of them longer than a document may be.

    Parameters
    ----------
    stream : text stream
    where : str
        The file, for messages.

    Yields
    ------
    str
        A line with its end.

    Examples
    --------
    >>> list(limited_lines(io.StringIO("a\nb"), "note.txt"))
    ['a\n', 'b']
    """
    most = most_text()
    for number, line in enumerate(iter(partial(stream.readline, most + 1), ""), 1):
        if len(line) > most:
            raise too_long(f"{where}, line {number}")
        yield line


def limited_text(stream: TextIO, where: str) -> str:
    """Read a whole text, unless it is longer than a document may be.

    Examples
    --------
    >>> limited_text(io.StringIO("Cats purr."), "note.txt")
    'Cats purr.'
    """
    most = most_text()
    text = stream.read(most + 1)
    if len(text) > most:
        raise too_long(where)
    return text


def too_long(where: str) -> DataError:
    """Make the error for a document, a line or a row that is too long, and say what to do.

    Examples
    --------
    >>> too_long("note.txt")
    DataError('note.txt: more than 32 million characters in one document, line or row: ...')
    """
    most = most_text() // 1_000_000
    return DataError(
        f"{where}: more than {most} million characters in one document, line or row: cut it into "
        f"several, or raise the limit ({LIMIT}={10 * most}) if there is memory of twenty times that"
    )


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

    Every file of the project is written so: a reader, or a run that is killed, sees the old file
    or the new one, whole and on the disk. A link stays one, what is no file (a device, a pipe) is
    written into, the mode of a file is kept, and what a killed run has left beside it is removed.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        Of the unfinished file, which is there and empty.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "words.txt")
    >>> with atomic_write(path) as part:
    ...     _ = part.write_text("cat 1")
    >>> [file.name for file in path.parent.iterdir()]
    ['words.txt']
    """
    try:
        with _through(path) if is_special(path) else _renamed(path) as part:
            yield part
    except BrokenPipeError:
        raise  # the reader of a pipe has left
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(
            f"cannot write {printable(str(path))}: {reason}: what was there is as it was; make "
            "room or choose another place"
        ) from error


def is_special(path: Path) -> bool:
    """Say whether a path is there and no file: a device, a pipe, or what a process has open.

    Examples
    --------
    >>> is_special(Path(os.devnull)), is_special(Path("no_such_file"))
    (True, False)
    """
    if path.parent in _OPEN_FILES:
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _through(path: Path) -> Iterator[Path]:
    """Write all to a file elsewhere, then into what cannot be replaced."""
    with tempfile.TemporaryDirectory(prefix="topicvec-") as folder:
        part = Path(folder) / (path.name or "part")
        part.touch()
        yield part
        try:
            with part.open("rb") as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        except BrokenPipeError as error:
            raise DataError(f"cannot write {path}: its reader has left") from error


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    target = Path(os.path.realpath(path))  # what a link leads to is replaced, not the link
    if target.is_symlink():
        raise DataError(f"{path} is a link that leads in a circle: remove it")
    if target.is_dir():
        raise DataError(f"cannot write {path}: it is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise DataError(f"no such folder: {path.parent}: make it first, or choose another")
    _sweep(target)
    part, held = _claim(target)
    try:
        yield part
        _keep_mode(held, target)
        os.fsync(held)
        part.replace(target)
        _sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)
        os.close(held)


def _claim(target: Path) -> tuple[Path, int]:
    """Make a file of a name of its own beside the target, held as long as it is written."""
    while True:
        part = target.with_name(f"{_stem(target)}{secrets.token_hex(4)}{_PART}")
        held = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        hold(held, wait=True)
        try:
            if os.path.samestat(part.stat(), os.fstat(held)):
                return part, held
        except FileNotFoundError:
            pass
        os.close(held)  # it was swept before it was held


def hold(file: int, *, wait: bool = False) -> bool:
    """Take hold of an open file, unless another writer, of any process, has it.

    Examples
    --------
    >>> with tempfile.TemporaryFile() as file:
    ...     hold(file.fileno())
    True
    """
    if fcntl is None:  # Windows, which does not remove an open file
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # held, or the file system has no locks: then nothing is swept
        return False
    return True


def _stem(target: Path) -> str:
    """Begin the names of unfinished files of a target, no longer than names may be."""
    name = target.name
    while len(os.fsencode(name)) > _LONGEST_NAME:
        name = name[:-1]
    return f".{name}."


def _sweep(target: Path) -> None:
    """Remove what killed runs have left of a target; nobody holds that any more."""
    ours = re.compile(re.escape(_stem(target)) + r"[0-9a-f]+" + re.escape(_PART))
    with os.scandir(target.parent) as entries:
        left = [Path(entry.path) for entry in entries if ours.fullmatch(entry.name)]
    for part in left:
        with suppress(OSError):  # another process sweeps too, or it is a file of another user
            file = os.open(part, os.O_RDWR)
            try:
                if hold(file):
                    part.unlink()
            finally:
                os.close(file)


def _keep_mode(file: int, target: Path) -> None:
    """Give a new file the mode and, where that is allowed, the owner of the one it replaces."""
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "fchmod"):
        with suppress(PermissionError):
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk too."""
    if hasattr(os, "O_DIRECTORY"):
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


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
            piece: bytes = self._stream.read1(_PIECE if size < 0 else min(size, _PIECE))
        except _DAMAGE as error:
            raise FormatError(
                f"{display_name(self._path)}: damaged or truncated after {self._n_read} bytes of "
                f"content ({error}); fetch or compress the file again"
            ) from error
        self._n_read += len(piece)
        return piece


class _Bounded(io.RawIOBase):
    """A decompressed stream that ends with an error where no honest file would go on."""

    def __init__(self, stream: Any, size: int) -> None:
        self._stream = stream
        self._left = max(_MOST_UNPACKED * size, _LARGE)

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        piece = self._stream.read1(len(room))
        room[: len(piece)] = piece
        self._left -= len(piece)
        if self._left < 0:
            raise EOFError(f"it unpacks to more than {_MOST_UNPACKED} times its size")
        return len(piece)


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

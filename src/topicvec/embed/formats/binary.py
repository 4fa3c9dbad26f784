"""The binary format of word2vec: a header line, then word, space and raw float32 numbers."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.formats.parsed import ParsedVectors, RowCollector, check_shape, encode_words
from topicvec.embed.formats.text import Header, parse_header
from topicvec.errors import FormatError
from topicvec.files import is_compressed, open_read, open_write

__all__ = ["read_binary", "write_binary"]

BLOCK_BYTES = 1 << 24
MAX_WORD_BYTES = 1 << 16

Record = tuple[bytes, bytes]


def read_binary(path: Path, *, encoding: str, max_words: int | None = None) -> ParsedVectors:
    """Read word2vec's binary format, in blocks.

    Parameters
    ----------
    path : Path
        Plain or compressed.
    encoding : str
        Of the words.
    max_words : int, optional
        Stop after so many.

    Returns
    -------
    ParsedVectors

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.bin")
    >>> write_binary(path, ["cat"], np.array([[1, 2]], np.float32))
    >>> read_binary(path, encoding="utf-8").words
    ('cat',)
    """
    with open_read(path) as file:
        header = _read_header(path, file)
        rows = RowCollector(path, encoding, lambda row: f"word {row + 1}")
        n_rows = max(1, BLOCK_BYTES // (4 * header.n_dims))
        n_wanted = min(header.n_words, max_words or header.n_words)
        records = islice(_records(path, file, header), n_wanted)
        while block := list(islice(records, n_rows)):
            numbers = np.frombuffer(b"".join(raw for _, raw in block), dtype="<f4")
            rows.add([word for word, _ in block], numbers.reshape(len(block), header.n_dims))
        if len(rows) < n_wanted:
            raise FormatError(
                f"{path}: the header promises {header.n_words} words of {header.n_dims} "
                f"dimensions, found {len(rows)} whole ones: the file is cut off"
            )
    return rows.finish()


def write_binary(path: Path, words: Sequence[str], matrix: NDArray[np.float32]) -> None:
    r"""Write word2vec's binary format, as the original program does.

    Parameters
    ----------
    path : Path
        Compressed if it ends in .gz, .xz or .bz2.
    words : sequence of str
        Without white space.
    matrix : ndarray of shape (n_words, n_dims), float32

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.bin")
    >>> write_binary(path, ["cat"], np.array([[0, 1]], np.float32))
    >>> path.read_bytes()
    b'1 2\ncat \x00\x00\x00\x00\x00\x00\x80?\n'
    """
    encoded = encode_words(words)
    with open_write(path) as file:
        file.write(b"%d %d\n" % matrix.shape)
        for word, row in zip(encoded, matrix.astype("<f4", copy=False), strict=True):
            file.write(b"%b %b\n" % (word, row.tobytes()))


def _read_header(path: Path, file: IO[bytes]) -> Header:
    header = parse_header(file.readline(100))
    if header is None:
        raise FormatError(f'{path}: expected a first line "words dims", found none')
    check_shape(path, *header)
    needed = header.n_words * (4 * header.n_dims + 2)
    size = path.stat().st_size
    if not is_compressed(path) and size < needed:
        raise FormatError(
            f"{path}: the header promises {header.n_words} words of {header.n_dims} dimensions, "
            f"at least {needed} bytes, found {size}: the file is cut off, or its header is wrong"
        )
    return header


def _records(path: Path, file: IO[bytes], header: Header) -> Iterator[Record]:
    """Yield words and the bytes of their numbers; refuse what follows the last word."""
    buffer, start, n_found = b"", 0, 0
    n_bytes = 4 * header.n_dims
    while n_found < header.n_words:
        space = buffer.find(b" ", start)
        if space < 0 and len(buffer) - start > MAX_WORD_BYTES:
            raise FormatError(
                f"{path}, word {n_found + 1}: expected a space after the word, found none"
            )
        end = space + 1 + n_bytes
        if space < 0 or end > len(buffer):
            more = file.read(BLOCK_BYTES)
            if not more:
                return
            buffer, start = buffer[start:] + more, 0
            continue
        n_found += 1
        if n_found == header.n_words:
            _check_end(path, header, buffer[end:] + file.read(2))
        yield buffer[start:space].lstrip(b"\n"), buffer[space + 1 : end]
        start = end


def _check_end(path: Path, header: Header, rest: bytes) -> None:
    if rest not in (b"", b"\n"):
        raise FormatError(
            f"{path}: the header promises {header.n_words} words of {header.n_dims} dimensions, "
            "found more behind them: the header is wrong"
        )

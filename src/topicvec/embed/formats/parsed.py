"""What every reader of a vector file returns, and how rows become it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError, FormatError

__all__ = ["MAX_DIMS", "ParsedVectors", "RowCollector", "check_shape", "encode_words"]

# Far above any real vectors; a header that promises more is damaged.
MAX_DIMS = 1 << 16


class ParsedVectors(NamedTuple):
    """The contents of a vector file, before its words have probabilities.

    Attributes
    ----------
    words : tuple of str
    matrix : ndarray of shape (n_words, n_dims), float32
    counts : ndarray of shape (n_words,), float64, or None
        Counts or probabilities where the file has them.
    metadata : mapping of str to str

    Examples
    --------
    >>> ParsedVectors(("cat",), np.ones((1, 2), np.float32)).counts is None
    True
    """

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    counts: NDArray[np.float64] | None = None
    metadata: Mapping[str, str] = {}


class RowCollector:
    """Gathers blocks of rows and refuses what no vector file may hold.

    Parameters
    ----------
    path : Path
        For messages.
    encoding : str
        Of the words.
    place : callable
        Row number to the words that name its place, such as "line 7".

    Examples
    --------
    >>> rows = RowCollector(Path("x.txt"), "utf-8", "row {}".format)
    >>> rows.add([b"cat"], np.array([[1, 2]], np.float32))
    >>> rows.finish().words
    ('cat',)
    """

    def __init__(self, path: Path, encoding: str, place: Callable[[int], str]) -> None:
        self.path = path
        self.encoding = encoding
        self.place = place
        self.ids: dict[str, int] = {}
        self.blocks: list[NDArray[np.float32]] = []

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, words: Sequence[bytes], numbers: NDArray[np.float32]) -> None:
        """Take a block of rows: its words, and their numbers of shape (n_rows, n_dims)."""
        first = len(self.ids)
        for row, raw in enumerate(words, first):
            word = self._decode(raw, row)
            if self.ids.setdefault(word, row) != row:
                earlier = self.place(self.ids[word])
                raise self._error(row, f"the word {word!r} stands already at {earlier}")
        finite = np.isfinite(numbers).all(axis=1)
        if not finite.all():
            row = first + int(finite.argmin())
            raise self._error(row, "expected finite numbers, found nan or infinity")
        self.blocks.append(numbers)

    def finish(self) -> ParsedVectors:
        """Return all rows as one record; the blocks are given up on the way."""
        matrix = np.empty((len(self.ids), self.blocks[0].shape[1]), dtype=np.float32)
        end = len(matrix)
        while self.blocks:  # freed one by one, so that memory never holds the matrix twice
            block = self.blocks.pop()
            matrix[end - len(block) : end] = block
            end -= len(block)
        return ParsedVectors(tuple(self.ids), matrix)

    def _decode(self, raw: bytes, row: int) -> str:
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            problem = f"byte 0x{raw[error.start]:02x} in {raw!r} is not {self.encoding}"
            advice = (
                "give the file's own encoding with encoding= (--encoding on the command line), "
                "for example latin-1"
            )
            raise self._error(row, f"{problem}: {advice}") from error

    def _error(self, row: int, message: str) -> FormatError:
        return FormatError(f"{self.path}, {self.place(row)}: {message}")


def check_shape(path: Path, n_words: int, n_dims: int) -> None:
    """Refuse a header that no vector file can have.

    Parameters
    ----------
    path : Path
        For the message.
    n_words, n_dims : int
        What the header promises.

    Examples
    --------
    >>> check_shape(Path("x.bin"), 0, 50)
    Traceback (most recent call last):
    topicvec.errors.FormatError: x.bin: the header promises 0 words of 50 dimensions; ...
    """
    if n_words < 1 or not 1 <= n_dims <= MAX_DIMS:
        raise FormatError(
            f"{path}: the header promises {n_words} words of {n_dims} dimensions; expected at "
            f"least one word and 1 to {MAX_DIMS} dimensions: the file is damaged"
        )


def encode_words(words: Sequence[str]) -> list[bytes]:
    r"""Encode words for a format in which white space ends a word.

    Parameters
    ----------
    words : sequence of str

    Returns
    -------
    list of bytes
        In UTF-8.

    Examples
    --------
    >>> encode_words(["café"])
    [b'caf\xc3\xa9']
    >>> encode_words(["New York"])
    Traceback (most recent call last):
    topicvec.errors.DataError: the word 'New York' has white space, which word2vec, GloVe ...
    """
    for word in words:
        if not word or not _ASCII_SPACE.isdisjoint(word):
            raise DataError(
                f"the word {word!r} {'has white space' if word else 'is empty'}, which word2vec, "
                "GloVe and fastText files cannot hold: save as .safetensors, or rename the word"
            )
    try:
        return [word.encode() for word in words]
    except UnicodeEncodeError as error:
        raise DataError(f"the word {error.object!r} cannot be written in UTF-8: {error}") from error


_ASCII_SPACE = frozenset(" \t\n\r\x0b\x0c")

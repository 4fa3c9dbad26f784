"""Word vectors as text: word2vec and fastText with a header "words dims", GloVe without.

What word2vec's text and binary files have in common stands here: the header, the rows and what
they may hold.
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.formats.tensors import ParsedVectors, in_utf8
from topicvec.errors import DataError, FormatError
from topicvec.files import open_read, open_write

__all__ = [
    "Header", "check_shape", "collect_rows", "decoded", "encode_words", "is_number", "limited_rows",
    "parse_header",    "read_text", "trailing_numbers", "write_text",
]  # fmt: skip

BLOCK_BYTES = 1 << 22
SAMPLE_LINES = 100
MAX_DIMS = 1 << 16  # far above any real vectors; a header that promises more is damaged
MAX_LINE_BYTES = MAX_DIMS * 32
_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*")
_ENCODING = (
    "give the file's own encoding with encoding= (--encoding on the command line), for example "
    "latin-1"
)
_ASCII_SPACE = frozenset(" \t\n\r\x0b\x0c")


class Header(NamedTuple):
    """The first line of a word2vec file.

    Attributes
    ----------
    n_words : int
    n_dims : int

    Examples
    --------
    >>> Header(n_words=400_000, n_dims=300).n_dims
    300
    """

    n_words: int
    n_dims: int


def parse_header(line: bytes) -> Header | None:
    """Return what a first line promises, or None if it is no header.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    Header or None

    Examples
    --------
    >>> parse_header(b"3 50")
    Header(n_words=3, n_dims=50)
    >>> parse_header(b"the 0.1 0.2") is None
    True
    """
    found = _HEADER.fullmatch(line.removeprefix(codecs.BOM_UTF8))
    return Header(int(found[1]), int(found[2])) if found else None


def is_number(field: bytes) -> bool:
    """Say whether a field reads as a number; nan and infinity count.

    Parameters
    ----------
    field : bytes

    Returns
    -------
    bool

    Examples
    --------
    >>> is_number(b"-1e-5"), is_number(b"1,5")
    (True, False)
    """
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field  # Python's own notation, not one of files


def trailing_numbers(line: bytes) -> int:
    """Count the numbers at the end of a line, the first field left out.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    int

    Examples
    --------
    >>> trailing_numbers(b"at 7 p.m. 0.1 0.2")
    2
    """
    fields = line.split()[1:]
    words = (place for place, field in enumerate(reversed(fields)) if not is_number(field))
    return next(words, len(fields))


def read_text(path: Path, *, encoding: str, max_words: int | None = None) -> ParsedVectors:
    r"""Read word2vec text, fastText .vec or GloVe text, in blocks.

    Parameters
    ----------
    path : Path
        Plain or compressed.
    encoding : str
        Of the words; one in which white space and digits are as in ASCII.
    max_words : int, optional
        Stop after so many.

    Returns
    -------
    ParsedVectors

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.txt")
    >>> _ = path.write_text("cat 1 2\nice cream 3 4\n")
    >>> read_text(path, encoding="utf-8").words
    ('cat', 'ice cream')
    """
    with open_read(path) as file:
        lines_left = limited_rows(path, file)
        first = next(lines_left, b"")
        header, sample = parse_header(first), []
        if header:
            check_shape(path, *header)
        else:
            sample = [first, *islice(lines_left, SAMPLE_LINES)]
            header = Header(0, _commonest_dims(path, sample))
        first_line = 2 if header.n_words else 1
        lines = islice(_lines(chain(sample, lines_left)), max_words)
        blocks = _blocks(path, lines, first_line, header.n_dims)
        parsed = collect_rows(path, encoding, lambda row: f"line {row + first_line}", blocks)
    if header.n_words and len(parsed.words) not in (header.n_words, max_words):
        raise FormatError(
            f"{path}: the header promises {header.n_words} words, found {len(parsed.words)}: the "
            "file is cut off, or its first line is wrong"
        )
    return parsed


def limited_rows(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """Give the lines of a file; refuse one that is longer than any of word vectors.

    Parameters
    ----------
    path : Path
        For the message.
    file : binary file

    Yields
    ------
    bytes
    """
    for number, line in enumerate(iter(partial(file.readline, MAX_LINE_BYTES + 1), b""), 1):
        if len(line) > MAX_LINE_BYTES:
            raise FormatError(
                f"{path}, line {number}: longer than {MAX_LINE_BYTES} bytes, as no line of word "
                "vectors or counts is: the file is something else"
            )
        yield line


def write_text(
    path: Path, words: Sequence[str], matrix: NDArray[np.float32], *, header: bool
) -> None:
    """Write vectors as text that reads back to the same bits.

    Parameters
    ----------
    path : Path
        Compressed if it ends in .gz, .xz or .bz2.
    words : sequence of str
        Without white space.
    matrix : ndarray of shape (n_words, n_dims), float32
    header : bool
        Whether the first line is "words dims" (word2vec, fastText) or not (GloVe).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.txt")
    >>> write_text(path, ["cat"], np.array([[0.1, -2]], np.float32), header=True)
    >>> print(path.read_text(), end="")
    1 2
    cat 0.1 -2.0
    """
    encoded = encode_words(words)
    with open_write(path) as file:
        if header:
            file.write(b"%d %d\n" % matrix.shape)
        n_rows = max(1, BLOCK_BYTES // (16 * matrix.shape[1]))
        for start in range(0, len(encoded), n_rows):
            rows = _decimals(matrix[start : start + n_rows])
            names = encoded[start : start + n_rows]
            file.writelines(
                b"%b %b\n" % (name, b" ".join(row)) for name, row in zip(names, rows, strict=True)
            )


def _commonest_dims(path: Path, lines: list[bytes]) -> int:
    """Guess the dimensions of a file without header; a short first line does not mislead."""
    counts = Counter(trailing_numbers(line) for line in lines if line.strip())
    n_dims = counts.most_common(1)[0][0] if counts else 0
    if not n_dims:
        raise FormatError(
            f"{path}: expected lines of a word and its numbers, found {lines[0][:40]!r}: this is "
            "no text file of word vectors"
        )
    return n_dims


def _decimals(block: NDArray[np.float32]) -> list[list[bytes]]:
    """Write each number with the fewest digits that read back to it."""
    texts = block.astype("S32")
    # Readers go through float64, and rounding twice misses one number, ±7.038531e-26.
    wrong = texts.astype(np.float32) != block
    texts[wrong] = [b"%.9g" % number for number in block[wrong].tolist()]
    rows: list[list[bytes]] = texts.tolist()
    return rows


def _lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without the white space at their ends; empty ones at the file's end are none."""
    n_empty = 0
    for line in map(bytes.rstrip, file):
        if line:
            yield from repeat(b"", n_empty)
            yield line
        n_empty = 0 if line else n_empty + 1


def _blocks(
    path: Path, lines: Iterator[bytes], first: int, n_dims: int
) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
    """Yield words and numbers of some lines at a time; `first` is the number of the first."""
    n_lines = max(1, BLOCK_BYTES // (12 * n_dims))
    while block := list(islice(lines, n_lines)):
        fields = [_split(path, place, line, n_dims) for place, line in enumerate(block, first)]
        words, rests = zip(*fields, strict=True)
        yield list(words), _numbers(path, first, rests, n_dims)
        first += len(block)


def _split(path: Path, line_number: int, line: bytes, n_dims: int) -> tuple[bytes, bytes]:
    """Part a line into its word, which may have spaces, and its numbers."""
    if line.count(b" ") == n_dims and b"\t" not in line and not line.startswith(b" "):
        word, _, rest = line.partition(b" ")
        return word, rest
    fields = line.rsplit(None, n_dims)
    if len(fields) <= n_dims:
        raise _wrong_line(path, line_number, n_dims, f"{len(fields)} fields")
    word = fields[0]
    parts = word.split()
    if len(parts) > 1 and is_number(parts[-1]):
        found = n_dims + trailing_numbers(word)
        raise _wrong_line(path, line_number, n_dims, f"{found} numbers")
    return word, b" ".join(fields[1:])


def _numbers(path: Path, first: int, rests: Sequence[bytes], n_dims: int) -> NDArray[np.float32]:
    """Read the numbers of a block of lines; `first` is the number of its first line."""
    lines = (rest.decode("ascii") for rest in rests)
    try:
        numbers = np.loadtxt(lines, np.float32, comments=None, delimiter=" ", ndmin=2)
    except ValueError:
        numbers = np.empty((0, 0), np.float32)
    if numbers.shape == (len(rests), n_dims):
        return numbers
    fields = [_fields(path, place, rest, n_dims) for place, rest in enumerate(rests, first)]
    with np.errstate(over="ignore"):  # beyond float32: infinity, which the collector refuses
        return np.array(fields, np.float64).astype(np.float32)


def _fields(path: Path, line_number: int, rest: bytes, n_dims: int) -> list[bytes]:
    """Give the fields of one line, all of them numbers, or say what is wrong with it."""
    fields = rest.split()
    wrong = next((field for field in fields if not is_number(field)), None)
    if wrong is not None:
        raise _wrong_line(path, line_number, n_dims, repr(wrong.decode(errors="replace")))
    if len(fields) != n_dims:
        raise _wrong_line(path, line_number, n_dims, f"{len(fields)} numbers")
    return fields


def _wrong_line(path: Path, line_number: int, n_dims: int, found: str) -> FormatError:
    return FormatError(
        f"{path}, line {line_number}: expected a word and {n_dims} numbers, found {found}: mend "
        "or remove the line; the parts of a word that ends in a number need '_' between them"
    )


def collect_rows(
    path: Path,
    encoding: str,
    place: Callable[[int], str],
    blocks: Iterable[tuple[Sequence[bytes], NDArray[np.float32]]],
) -> ParsedVectors:
    """Gather blocks of rows and refuse what no vector file may hold.

    Parameters
    ----------
    path : Path
        For messages.
    encoding : str
        Of the words.
    place : callable
        Row number to the words that name its place, such as "line 7".
    blocks : iterable of (words, ndarray of shape (n_rows, n_dims), float32)

    Returns
    -------
    ParsedVectors

    Examples
    --------
    >>> rows = [([b"cat"], np.array([[1, 2]], np.float32))]
    >>> collect_rows(Path("x.txt"), "utf-8", "row {}".format, rows).words
    ('cat',)
    """
    ids: dict[str, int] = {}
    kept: list[NDArray[np.float32]] = []
    for words, numbers in blocks:
        first = len(ids)
        for row, raw in enumerate(words, first):
            word = decoded(path, place(row), raw, encoding, _ENCODING)
            if ids.setdefault(word, row) != row:
                earlier = f"the word {word!r} stands already at {place(ids[word])}"
                raise FormatError(f"{path}, {place(row)}: {earlier}")
        finite = np.isfinite(numbers).all(axis=1)
        if not finite.all():
            wrong = place(first + int(finite.argmin()))
            raise FormatError(f"{path}, {wrong}: expected finite numbers, found nan or infinity")
        kept.append(numbers)
    matrix = np.empty((len(ids), kept[0].shape[1] if kept else 0), np.float32)
    end = len(matrix)
    while kept:  # freed one by one, so that memory never holds the matrix twice
        block = kept.pop()
        matrix[end - len(block) : end] = block
        end -= len(block)
    return ParsedVectors(tuple(ids), matrix)


def decoded(path: Path, place: str, raw: bytes, encoding: str, advice: str) -> str:
    """Decode a word, or say where it stands and what to do."""
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        problem = f"byte 0x{raw[error.start]:02x} in {raw!r} is not {encoding}"
        raise FormatError(f"{path}, {place}: {problem}: {advice}") from error


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
    return in_utf8(words)

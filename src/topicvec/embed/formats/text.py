"""Word vectors as text: word2vec and fastText with a header "words dims", GloVe without."""

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.formats.decimals import is_number, parse_decimals, parse_decimals_fast
from topicvec.embed.formats.parsed import ParsedVectors, RowCollector, check_shape, encode_words
from topicvec.errors import FormatError
from topicvec.files import open_read, open_write

__all__ = ["Header", "parse_header", "read_text", "trailing_numbers", "write_text"]

BLOCK_BYTES = 1 << 22
SAMPLE_LINES = 100
MANY_NUMBERS = 200_000  # from here the compiled parser is worth its start
_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*")


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
        first = file.readline()
        header = parse_header(first)
        if header:
            check_shape(path, *header)
            return _read_rows(path, file, header, [], encoding, max_words)
        sample = [first, *(line for _, line in zip(range(SAMPLE_LINES), file, strict=False))]
        n_dims = _commonest_dims(path, sample)
        return _read_rows(path, file, Header(0, n_dims), sample, encoding, max_words)


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


def _read_rows(
    path: Path,
    file: IO[bytes],
    header: Header,
    sample: list[bytes],
    encoding: str,
    max_words: int | None,
) -> ParsedVectors:
    """Read the rows after a header; `sample` has lines that were read before."""
    first_line = 2 if header.n_words else 1
    rows = RowCollector(path, encoding, lambda row: f"line {row + first_line}")
    for lines in _blocks(file, sample):
        wanted = lines if max_words is None else lines[: max_words - len(rows)]
        place = first_line + len(rows)
        fields = [_split(path, place + i, line, header.n_dims) for i, line in enumerate(wanted)]
        numbers = _numbers(path, place, [rest for _, rest in fields], header.n_dims)
        rows.add([word for word, _ in fields], numbers)
        if len(rows) == max_words:
            return rows.finish()
    if header.n_words and len(rows) != header.n_words:
        raise FormatError(
            f"{path}: the header promises {header.n_words} words, found {len(rows)}: the file is "
            "cut off, or its first line is wrong"
        )
    return rows.finish()


def _blocks(file: IO[bytes], sample: list[bytes]) -> Iterator[list[bytes]]:
    """Yield lines in lists of bounded size, without the empty ones at the end of the file."""
    lines = sample or file.readlines(BLOCK_BYTES)
    while lines:
        following = file.readlines(BLOCK_BYTES)
        while not following and lines and not lines[-1].strip():
            lines.pop()
        yield [line.rstrip() for line in lines]
        lines = following


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


def _numbers(path: Path, first: int, rests: list[bytes], n_dims: int) -> NDArray[np.float32]:
    """Read the numbers of a block of lines; `first` is the number of its first line."""
    n_numbers = len(rests) * n_dims
    parse = parse_decimals_fast if n_numbers >= MANY_NUMBERS else parse_decimals
    numbers = parse(b" ".join(rests), n_numbers)
    if numbers is None:
        raise _find_wrong_line(path, first, rests, n_dims)
    return numbers.reshape(len(rests), n_dims)


def _find_wrong_line(path: Path, first: int, rests: list[bytes], n_dims: int) -> FormatError:
    for line_number, rest in enumerate(rests, first):
        fields = rest.split()
        wrong = next((field for field in fields if not is_number(field)), None)
        if wrong is not None:
            return _wrong_line(path, line_number, n_dims, repr(wrong.decode(errors="replace")))
        if len(fields) != n_dims:
            return _wrong_line(path, line_number, n_dims, f"{len(fields)} numbers")
    raise AssertionError("a block that cannot be read has a line that cannot be read")


def _wrong_line(path: Path, line_number: int, n_dims: int, found: str) -> FormatError:
    return FormatError(
        f"{path}, line {line_number}: expected a word and {n_dims} numbers, found {found}: mend "
        "or remove the line; the parts of a word that ends in a number need '_' between them"
    )

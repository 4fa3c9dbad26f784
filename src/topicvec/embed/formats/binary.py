"""Binary files of other programs: word2vec's, and gensim's KeyedVectors.

word2vec writes a header line, then for each word the word, a space and raw float32 numbers.
gensim is only needed when its files or objects are used.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.formats.tensors import ParsedVectors
from topicvec.embed.formats.text import (
    Header,
    check_shape,
    collect_rows,
    encode_words,
    parse_header,
)
from topicvec.errors import FormatError, require
from topicvec.files import is_compressed, open_read, open_write

__all__ = ["from_keyed", "read_binary", "read_keyed", "to_keyed", "write_binary", "write_keyed"]

BLOCK_BYTES = 1 << 24
MAX_WORD_BYTES = 1 << 16
N_TOKENS = 10**12  # probabilities become whole counts as of a corpus of so many tokens


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
        n_wanted = min(header.n_words, max_words or header.n_words)
        blocks = _blocks(islice(_records(path, file, header), n_wanted), header.n_dims)
        parsed = collect_rows(path, encoding, lambda row: f"word {row + 1}", blocks)
    if len(parsed.words) < n_wanted:
        raise FormatError(
            f"{path}: the header promises {header.n_words} words of {header.n_dims} "
            f"dimensions, found {len(parsed.words)} whole ones: the file is cut off"
        )
    return parsed


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


def _blocks(
    records: Iterator[tuple[bytes, bytes]], n_dims: int
) -> Iterator[tuple[list[bytes], NDArray[np.float32]]]:
    while block := list(islice(records, max(1, BLOCK_BYTES // (4 * n_dims)))):
        numbers = np.frombuffer(b"".join(raw for _, raw in block), dtype="<f4")
        yield [word for word, _ in block], numbers.reshape(len(block), n_dims)


def _records(path: Path, file: IO[bytes], header: Header) -> Iterator[tuple[bytes, bytes]]:
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
        if n_found == header.n_words and buffer[end:] + file.read(2) not in (b"", b"\n"):
            raise FormatError(
                f"{path}: the header promises {header.n_words} words of {header.n_dims} "
                "dimensions, found more behind them: the header is wrong"
            )
        yield buffer[start:space].lstrip(b"\n"), buffer[space + 1 : end]
        start = end


def read_keyed(path: Path, max_words: int | None = None) -> ParsedVectors:
    """Read a file that gensim saved: KeyedVectors, or a model that has them.

    Parameters
    ----------
    path : Path
    max_words : int, optional
        Only the first so many.

    Returns
    -------
    ParsedVectors

    Notes
    -----
    gensim's files are pickles, which can run any code when opened: open only those you trust.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.kv")
    >>> parsed = ParsedVectors(("cat",), np.ones((1, 2), np.float32), np.ones(1))
    >>> write_keyed(path, parsed)  # doctest: +SKIP
    >>> read_keyed(path).words  # doctest: +SKIP
    ('cat',)
    """
    models = require("gensim.models", "gensim", f"reading {path}")
    try:
        loaded = models.KeyedVectors.load(str(path))
    except Exception as error:  # a damaged pickle can raise anything
        raise FormatError(f"{path}: gensim cannot read it ({error}): save it again") from error
    words, matrix, counts, _ = from_keyed(getattr(loaded, "wv", loaded))
    counts = None if counts is None else counts[:max_words]
    return ParsedVectors(words[:max_words], matrix[:max_words], counts)


def from_keyed(keyed: Any) -> ParsedVectors:
    """Take words, numbers and, where they are true ones, counts from KeyedVectors.

    Parameters
    ----------
    keyed : gensim.models.KeyedVectors

    Returns
    -------
    ParsedVectors

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> keyed = SimpleNamespace(index_to_key=["cat", "dog"], vectors=np.eye(2), expandos={})
    >>> from_keyed(keyed).words
    ('cat', 'dog')
    """
    if not (hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors")):
        raise FormatError(f"expected gensim KeyedVectors, found {type(keyed).__name__}")
    words = tuple(keyed.index_to_key)
    matrix = np.asarray(keyed.vectors, dtype=np.float32)[: len(words)]
    return ParsedVectors(words, matrix, _true_counts(keyed, words))


def to_keyed(vectors: ParsedVectors) -> Any:
    """Make KeyedVectors; probabilities become whole counts.

    Parameters
    ----------
    vectors : ParsedVectors
        With counts or probabilities.

    Returns
    -------
    gensim.models.KeyedVectors

    Examples
    --------
    >>> parsed = ParsedVectors(("cat", "dog"), np.eye(2, dtype=np.float32), np.array([3.0, 1.0]))
    >>> to_keyed(parsed).most_similar("cat")  # doctest: +SKIP
    [('dog', 0.0)]
    """
    models = require("gensim.models", "gensim", "making gensim vectors")
    keyed = models.KeyedVectors(vectors.matrix.shape[1], dtype=np.float32)
    keyed.add_vectors(list(vectors.words), np.array(vectors.matrix))
    weights = np.asarray(vectors.counts, dtype=np.float64)
    counts = np.maximum(np.rint(weights / weights.sum() * N_TOKENS), 1).astype(np.int64)
    for word, count in zip(vectors.words, counts, strict=True):
        keyed.set_vecattr(word, "count", count)
    return keyed


def write_keyed(path: Path, vectors: ParsedVectors) -> None:
    """Write one file that gensim's ``KeyedVectors.load`` opens.

    Parameters
    ----------
    path : Path
    vectors : ParsedVectors

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.kv")
    >>> parsed = ParsedVectors(("cat",), np.ones((1, 2), np.float32), np.ones(1))
    >>> write_keyed(path, parsed)  # doctest: +SKIP
    """
    keyed = to_keyed(vectors)
    with open_write(path) as file:
        keyed.save(file)


def _true_counts(keyed: Any, words: tuple[str, ...]) -> NDArray[np.float64] | None:
    if "count" not in keyed.expandos:
        return None
    counts = np.array([keyed.get_vecattr(word, "count") for word in words], dtype=np.float64)
    # Where a file had none, gensim makes up n, n − 1, …, 1.
    made_up = np.array_equal(counts, np.arange(len(words), 0, -1))
    return None if made_up or not counts.any() else counts

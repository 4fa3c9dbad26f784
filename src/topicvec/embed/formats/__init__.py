"""Reading and writing word vectors: which format a file has, and who reads it.

Readers return plain records (:class:`~topicvec.embed.formats.tensors.ParsedVectors`); a file's
format is told from its content, not from its name.
"""

import string
from numbers import Integral
from pathlib import Path

from topicvec.embed.formats.binary import read_binary, read_keyed, write_binary, write_keyed
from topicvec.embed.formats.tensors import ParsedVectors, read_own, write_own
from topicvec.embed.formats.text import (
    Header,
    parse_header,
    read_text,
    trailing_numbers,
    write_text,
)
from topicvec.errors import DataError, FormatError
from topicvec.files import check_file, is_compressed, open_read

__all__ = [
    "FORMATS",
    "ParsedVectors",
    "check_reading",
    "detect_format",
    "read_vectors",
    "write_vectors",
]

FORMATS = ("safetensors", "word2vec", "word2vec-binary", "fasttext", "glove", "gensim")
HEAD_BYTES = 1 << 20
MAX_HEADER_BYTES = 100_000_000  # of safetensors; eight letters are a far larger number
GENSIM_SUFFIXES = (".kv", ".model", ".wordvectors", ".gensim")
_FASTTEXT_MODEL = (793712314).to_bytes(4, "little")
_PRINTABLE = string.printable.encode()

_BY_SUFFIX = {
    ".safetensors": "safetensors",
    ".txt": "word2vec",
    ".vec": "fasttext",
    ".bin": "word2vec-binary",
    **dict.fromkeys(GENSIM_SUFFIXES, "gensim"),
}


def read_vectors(
    path: Path,
    format: str | None = None,
    *,
    encoding: str = "utf-8",
    max_words: int | None = None,
    mmap: bool = False,
    trust_pickle: bool = False,
) -> ParsedVectors:
    r"""Read a vector file of any format.

    Parameters
    ----------
    path : Path
    format : str, optional
        Detected if not given.
    encoding : str
        Of the words in text and word2vec's binary files.
    max_words : int, optional
        Only the first so many.
    mmap : bool
        Leave the matrix on disk; for float32 safetensors.
    trust_pickle : bool
        Open gensim's files, which can run any code.

    Returns
    -------
    ParsedVectors

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.txt")
    >>> _ = path.write_text("cat 1 2\ndog 3 4\n")
    >>> read_vectors(path).words
    ('cat', 'dog')
    """
    check_reading(encoding, max_words)
    chosen = _checked(format) if format else detect_format(path)
    check_file(path)
    if chosen == "safetensors":
        return read_own(path, max_words=max_words, mmap=mmap)
    if mmap:
        raise DataError(
            f"{path}: mmap=True needs a safetensors file, found {chosen}: load it once, and "
            "save('….safetensors')"
        )
    if chosen == "gensim":
        _check_trusted(path, trust_pickle)
        return read_keyed(path, max_words)
    read = read_binary if chosen == "word2vec-binary" else read_text
    return read(path, encoding=encoding, max_words=max_words)


def check_reading(encoding: str, max_words: int | None) -> None:
    """Refuse an encoding that does not exist, and a number of words below one.

    Parameters
    ----------
    encoding : str
    max_words : int, optional

    Examples
    --------
    >>> check_reading("utf-88", None)
    Traceback (most recent call last):
    topicvec.errors.DataError: no encoding is called 'utf-88': try utf-8, cp1252 or latin-1
    """
    if max_words is not None and (not isinstance(max_words, Integral) or max_words < 1):
        raise DataError(
            f"max_words must be at least 1 and whole, or None for all words; found {max_words!r}"
        )
    try:
        "a".encode(encoding)  # also refuses codecs that make no text
    except (LookupError, ValueError) as error:
        raise DataError(
            f"no encoding is called {encoding!r}: try utf-8, cp1252 or latin-1"
        ) from error


def write_vectors(
    path: Path,
    vectors: ParsedVectors,
    format: str | None = None,
    *,
    quantized: bool = False,
    step: float | None = None,
) -> None:
    r"""Write vectors in the format that the name's ending or `format` says.

    Parameters
    ----------
    path : Path
    vectors : ParsedVectors
    format : str, optional
        By the ending if not given.
    quantized : bool
        Eight-bit numbers; for safetensors.
    step : float, optional
        Of the eight-bit numbers.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp(), "tiny.vec")
    >>> write_vectors(path, ParsedVectors(("cat",), np.ones((1, 2), np.float32)))
    >>> path.read_text()
    '1 2\ncat 1.0 1.0\n'
    """
    chosen = _checked(format) if format else _format_of_name(path)
    if (quantized or step is not None) and chosen != "safetensors":
        raise DataError(f"quantized vectors are saved as .safetensors, found {chosen}")
    match chosen:
        case "safetensors":
            write_own(path, vectors, quantized=quantized or step is not None, step=step)
        case "gensim":
            write_keyed(path, vectors)
        case "word2vec-binary":
            write_binary(path, vectors.words, vectors.matrix)
        case _:
            write_text(path, vectors.words, vectors.matrix, header=chosen != "glove")


def _checked(format: str) -> str:
    if format not in FORMATS:
        raise DataError(f"format must be one of {', '.join(FORMATS)}, found {format!r}")
    return format


def _format_of_name(path: Path) -> str:
    compressed = path.suffix in (".gz", ".xz", ".bz2")
    suffix = Path(path.stem).suffix if compressed else path.suffix
    found = _BY_SUFFIX.get(suffix)
    if found is None or (compressed and found in ("safetensors", "gensim")):
        raise DataError(
            f"{path}: the ending says no format; expected {', '.join(_BY_SUFFIX)}, where text "
            "and .bin may add .gz, .xz or .bz2: rename it, or give format="
        )
    return found


def detect_format(path: Path) -> str:
    r"""Return the format of a vector file, by its first bytes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    {"safetensors", "gensim", "word2vec-binary", "word2vec", "glove"}
        fastText's .vec files are "word2vec".

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.txt")
    >>> _ = path.write_text("2 1\ncat 1\ndog 2\n")
    >>> detect_format(path)
    'word2vec'
    """
    with open_read(path) as file:
        head = file.read(HEAD_BYTES)
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < MAX_HEADER_BYTES:
        return "safetensors"
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "gensim"
    if head.startswith(_FASTTEXT_MODEL):
        raise FormatError(f"{path}: a fastText model (.bin): use its .vec file instead")
    first, _, rest = head.partition(b"\n")
    header = parse_header(first)
    if header:
        return "word2vec" if _is_text(rest, header) else "word2vec-binary"
    if trailing_numbers(first) or trailing_numbers(rest.partition(b"\n")[0]):
        return "glove"
    raise FormatError(
        f"{path}: expected word vectors (word2vec text or binary, GloVe, fastText .vec, topicvec "
        f"safetensors, gensim .kv), found a file that starts with {head[:20]!r}"
    )


def _check_trusted(path: Path, trusted: bool) -> None:
    """Refuse to open a pickle unasked, whatever its name and its first bytes say."""
    if not trusted:
        raise FormatError(
            f"{path}: gensim's files are pickles, which may run any code when opened: if you trust "
            "whoever made it, load it with trust_pickle=True (topicvec vectors convert "
            "--trust-pickle writes a file that needs no trust)"
        )
    if is_compressed(path):
        raise FormatError(f"{path}: gensim reads no compressed files: unpack it first")


def _is_text(rest: bytes, header: Header) -> bool:
    """Tell text from raw numbers in what follows a header, by the first row."""
    line = rest.partition(b"\n")[0]
    if trailing_numbers(line) == header.n_dims:
        return True
    word, space, numbers = rest.partition(b" ")
    if b"\n" in word or not space:
        return True  # a line too short; the reader says so
    sample = numbers[: 4 * header.n_dims].lstrip(b"\n").partition(b"\n")[0]
    return not sample.translate(None, _PRINTABLE)

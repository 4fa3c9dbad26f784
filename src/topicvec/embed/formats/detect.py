"""Tell a vector file's format from its content."""

import string
from pathlib import Path

from topicvec.embed.formats.text import Header, parse_header, trailing_numbers
from topicvec.errors import FormatError
from topicvec.files import is_compressed, open_read

__all__ = ["detect_format"]

HEAD_BYTES = 1 << 20
MAX_HEADER_BYTES = 100_000_000  # of safetensors; eight letters are a far larger number
GENSIM_SUFFIXES = (".kv", ".model", ".wordvectors", ".gensim")
_FASTTEXT_MODEL = (793712314).to_bytes(4, "little")
_PRINTABLE = string.printable.encode()


def detect_format(path: Path) -> str:
    r"""Return the format of a vector file, by its first bytes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    {"safetensors", "gensim", "word2vec-binary", "word2vec", "glove"}
        fastText's .vec files are "word2vec".

    Notes
    -----
    A pickle is only taken for gensim's if its name says so too, because opening it may run code.

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
        return _gensim(path)
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


def _gensim(path: Path) -> str:
    if path.suffix in GENSIM_SUFFIXES and not is_compressed(path):
        return "gensim"
    raise FormatError(
        f"{path}: a pickle, which may run any code when opened. If gensim wrote it and you trust "
        f"it, name it *.kv, or load it yourself and use WordVectors.from_gensim"
    )


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

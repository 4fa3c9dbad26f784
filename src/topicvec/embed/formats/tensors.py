"""The project's own layout: one safetensors file with words, numbers and probabilities.

=============  ==================  =========================================================
tensor         type and shape      meaning
=============  ==================  =========================================================
matrix         F32 (words, dims)   the vectors, or instead of it
codes, step    I8 (dims, words),   the vectors as ``codes.T * step``; numbers of one dimension
               F32 ()              stand together, because they deflate better so
unigram        F64 or F32 (words)  probabilities, or counts
words          U8 (bytes)          all words in UTF-8, one after the other
word_lengths   U32 (words)         bytes of each word
=============  ==================  =========================================================

The header's metadata has ``format = "topicvec-vectors"``, ``version = "1"`` and what the user
gave. Nothing in the file is ever executed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from topicvec.embed.formats.parsed import ParsedVectors
from topicvec.embed.quantize import Quantized, dequantize, quantize
from topicvec.errors import DataError, FormatError
from topicvec.files import atomic_write

__all__ = ["read_tensors", "write_tensors"]

LAYOUT = "topicvec-vectors"
VERSION = 1
_DTYPES = {"F64": "<f8", "F32": "<f4", "I8": "|i1", "U8": "|u1", "U32": "<u4"}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


class _Tensor(NamedTuple):
    """Where a tensor stands in the file."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


def write_tensors(
    path: Path, vectors: ParsedVectors, *, quantized: bool = False, step: float | None = None
) -> None:
    """Write the project's own layout; the same vectors always give the same bytes.

    Parameters
    ----------
    path : Path
    vectors : ParsedVectors
        With counts or probabilities.
    quantized : bool
        Write eight-bit codes, and probabilities as float32.
    step : float, optional
        Of the codes, see :func:`topicvec.embed.quantize.quantize`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.safetensors")
    >>> parsed = ParsedVectors(("ice cream",), np.ones((1, 2), np.float32), np.ones(1))
    >>> write_tensors(path, parsed)
    >>> read_tensors(path).words
    ('ice cream',)
    """
    tensors = _tensors(vectors, quantized, step)
    with atomic_write(path) as part, part.open("wb") as file:
        file.write(_header(tensors, vectors.metadata))
        for tensor in tensors.values():
            tensor.tofile(file)


def read_tensors(path: Path, *, max_words: int | None = None, mmap: bool = False) -> ParsedVectors:
    """Read the project's own layout.

    Parameters
    ----------
    path : Path
    max_words : int, optional
        Only the first so many.
    mmap : bool
        Leave the matrix on disk, as a read-only memory map; not for eight-bit files.

    Returns
    -------
    ParsedVectors

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.safetensors")
    >>> parsed = ParsedVectors(("cat",), np.ones((1, 2), np.float32), np.ones(1), {"by": "me"})
    >>> write_tensors(path, parsed, quantized=True)
    >>> read_tensors(path)
    ParsedVectors(words=('cat',), matrix=array([[1., 1.]], dtype=float32), counts=array([1.]),
    metadata={'by': 'me'})
    """
    tensors, metadata = _read_header(path)
    _check_version(path, metadata)
    _check_tensors(path, tensors)
    n_words = min(tensors["word_lengths"].shape[0], max_words or tensors["word_lengths"].shape[0])
    counts = _read(path, tensors["unigram"], n_words).astype(np.float64)
    words = _read_words(path, tensors, n_words)
    own = {key: value for key, value in metadata.items() if key not in ("format", "version")}
    return ParsedVectors(words, _read_matrix(path, tensors, n_words, mmap), counts, own)


def _tensors(
    vectors: ParsedVectors, quantized: bool, step: float | None
) -> dict[str, NDArray[Any]]:
    """Name the arrays of a file; wide types come first, so that each is aligned."""
    try:
        encoded = [word.encode() for word in vectors.words]
    except UnicodeEncodeError as error:
        raise DataError(f"the word {error.object!r} cannot be written in UTF-8: {error}") from error
    words = {
        "word_lengths": np.array([len(word) for word in encoded], dtype="<u4"),
        "words": np.frombuffer(b"".join(encoded), dtype="|u1"),
    }
    unigram = np.asarray(vectors.counts, dtype="<f4" if quantized else "<f8")
    if not quantized:
        return {"unigram": unigram, "matrix": vectors.matrix.astype("<f4", copy=False), **words}
    codes, chosen = quantize(vectors.matrix, step=step)
    return {
        "unigram": unigram,
        "step": chosen.astype("<f4"),
        **words,
        "codes": np.ascontiguousarray(codes.T),
    }


def _header(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    # Written here and not by safetensors, whose order of metadata changes from run to run.
    reserved = {"format", "version"} & set(metadata)
    if reserved:
        raise DataError(
            f"metadata may not use the layout's own keys {sorted(reserved)}: rename them"
        )
    own = {"format": LAYOUT, "version": str(VERSION)}
    header: dict[str, Any] = {"__metadata__": own | dict(sorted(metadata.items()))}
    start = 0
    for name, tensor in tensors.items():
        end = start + tensor.nbytes
        dtype, shape = _NAMES[tensor.dtype], list(tensor.shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    padded = text.ljust(-len(text) % 8 + len(text))
    return len(padded).to_bytes(8, "little") + padded


def _read_header(path: Path) -> tuple[dict[str, _Tensor], dict[str, str]]:
    try:
        with safe_open(path, framework="numpy"):
            pass  # checks the header, and every size against the file's
    except SafetensorError as error:
        raise FormatError(
            f"{path}: not a whole safetensors file ({error}): get or write the file again"
        ) from error
    with path.open("rb") as file:
        n_bytes = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(n_bytes))
    metadata = header.pop("__metadata__", {})
    start = 8 + n_bytes
    return {
        name: _Tensor(entry["dtype"], tuple(entry["shape"]), start + entry["data_offsets"][0])
        for name, entry in header.items()
    }, metadata


def _check_version(path: Path, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != LAYOUT:
        raise FormatError(
            f'{path}: expected a safetensors file with format "{LAYOUT}" in its metadata, found '
            f"{metadata.get('format')!r}: it was not written by topicvec"
        )
    version = metadata.get("version", "")
    if not version.isdecimal() or int(version) > VERSION:
        raise FormatError(
            f"{path}: layout version {version!r}, but this topicvec reads up to {VERSION}: "
            "pip install --upgrade topicvec"
        )


def _check_tensors(path: Path, tensors: Mapping[str, _Tensor]) -> None:
    """Refuse a file in which a tensor is missing or of the wrong type or shape."""
    matrix = tensors.get("codes" if "codes" in tensors else "matrix")
    shape = matrix.shape if matrix and len(matrix.shape) == 2 else (0, 0)
    n_words, n_dims = reversed(shape) if "codes" in tensors else shape
    allowed: dict[str, list[tuple[str, tuple[int, ...]]]] = {
        "unigram": [("F64", (n_words,)), ("F32", (n_words,))],
        "word_lengths": [("U32", (n_words,))],
    }
    if "codes" in tensors:
        allowed |= {"codes": [("I8", shape)], "step": [("F32", ())]}
    else:
        allowed |= {"matrix": [("F32", shape)]}
    for name, kinds in allowed.items():
        found = tensors[name][:2] if name in tensors else None
        if found not in kinds or 0 in (n_words, n_dims):
            expected = " or ".join(f"{dtype} {shape}" for dtype, shape in kinds)
            raise FormatError(
                f"{path}: tensor {name}: expected {expected}, found {found}: this topicvec does "
                "not read such a file; get or write it again"
            )
    words = tensors.get("words")
    if words is None or words.dtype != "U8" or len(words.shape) != 1:
        raise FormatError(
            f"{path}: tensor words: expected U8 (bytes,), found {words and words[:2]}"
        )


def _read(path: Path, tensor: _Tensor, n_rows: int) -> NDArray[Any]:
    """Read the first rows of a tensor."""
    shape = (n_rows, *tensor.shape[1:])
    count = int(np.prod(shape))
    flat = np.fromfile(path, _DTYPES[tensor.dtype], count, offset=tensor.offset)
    return flat.reshape(shape)


def _read_words(path: Path, tensors: Mapping[str, _Tensor], n_words: int) -> tuple[str, ...]:
    lengths = _read(path, tensors["word_lengths"], tensors["word_lengths"].shape[0])
    blob = _read(path, tensors["words"], tensors["words"].shape[0]).tobytes()
    ends = np.cumsum(lengths, dtype=np.uint64)
    if ends[-1] != len(blob):
        raise FormatError(
            f"{path}: the words have {len(blob)} bytes, their lengths add to {ends[-1]}"
        )
    starts = [0, *ends[:-1].tolist()]
    try:
        pairs = zip(starts[:n_words], ends[:n_words].tolist(), strict=True)
        return tuple(blob[start:end].decode() for start, end in pairs)
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: a word is not UTF-8 ({error}): the file is damaged") from error


def _read_matrix(
    path: Path, tensors: Mapping[str, _Tensor], n_words: int, mmap: bool
) -> NDArray[np.float32]:
    if "codes" not in tensors:
        matrix = tensors["matrix"]
        if mmap:
            shape = (n_words, matrix.shape[1])
            return np.memmap(path, _DTYPES["F32"], "r", matrix.offset, shape)
        return _read(path, matrix, n_words)
    if mmap:
        raise DataError(
            f"{path}: mmap=True needs float32 vectors, found eight-bit ones: load without mmap, "
            "or save them unquantized first"
        )
    codes = _read(path, tensors["codes"], tensors["codes"].shape[0]).T[:n_words]
    step = _read(path, tensors["step"]._replace(shape=(1,)), 1)[0]
    return dequantize(Quantized(codes, step))

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
gave. Nothing in the file is ever executed. `write_tensors` writes any safetensors file of the
project.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open

from topicvec.errors import DataError, FormatError
from topicvec.files import atomic_write

__all__ = [
    "TENSOR_TYPES", "ParsedVectors", "dequantize", "in_utf8", "quantize", "read_own", "with_rows",
    "write_own", "write_tensors",
]  # fmt: skip

LAYOUT = "topicvec-vectors"
VERSION = 1
LARGEST_CODE = 127
BLOCK_ROWS = 4096
SPARE_ROWS = 512  # behind vectors in memory: an article has fewer new words
_TAKING = Lock()

TENSOR_TYPES = {
    "|b1": "BOOL", "|u1": "U8", "|i1": "I8", "<i2": "I16", "<u2": "U16", "<i4": "I32",
    "<u4": "U32", "<i8": "I64", "<u8": "U64", "<f2": "F16", "<f4": "F32", "<f8": "F64",
}  # fmt: skip
"""Types of arrays that a file can hold, by NumPy's names, and what safetensors calls them."""


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


def write_tensors(
    path: Path,
    tensors: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str],
    *,
    checksum: bool = False,
) -> None:
    """Write a safetensors file, whole or not at all; the same contents give the same bytes.

    Parameters
    ----------
    path : Path
    tensors : mapping of str to ndarray
        Of the types in `TENSOR_TYPES`; wide ones come first in the file, so that each is aligned.
    metadata : mapping of str to str
        For the header, in this order.
    checksum : bool
        Whether a last tensor ``checksum`` has the SHA-256 of all bytes before it.

    Examples
    --------
    >>> import tempfile
    >>> from safetensors.numpy import load_file
    >>> path = Path(tempfile.mkdtemp(), "any.safetensors")
    >>> write_tensors(path, {"x": np.arange(3.0)}, {"format": "mine"}, checksum=True)
    >>> found = load_file(path)
    >>> found["x"], found["checksum"].shape
    (array([0., 1., 2.]), (32,))
    """
    digest = hashlib.sha256()
    tensors = dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))
    names = {**tensors, "checksum": np.empty(digest.digest_size, np.uint8)} if checksum else tensors
    header = _header(names, metadata)
    digest.update(header)
    with atomic_write(path) as part, part.open("wb") as file:
        file.write(header)
        for tensor in tensors.values():
            block = np.ascontiguousarray(tensor, tensor.dtype.newbyteorder("<"))
            block.tofile(file)
            if checksum:
                digest.update(block.data)
        if checksum:
            file.write(digest.digest())
        file.flush()
        os.fsync(file.fileno())


def _header(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    # Written here and not by safetensors, whose order of metadata changes from run to run.
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    start = 0
    for name, tensor in tensors.items():
        end = start + tensor.nbytes
        dtype = TENSOR_TYPES[tensor.dtype.newbyteorder("<").str]
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    padded = text.ljust(len(text) + -len(text) % 8)
    return len(padded).to_bytes(8, "little") + padded


def in_utf8(words: Sequence[str]) -> list[bytes]:
    """Encode words; refuse what is no Unicode text."""
    try:
        return [word.encode() for word in words]
    except UnicodeEncodeError as error:
        raise DataError(f"the word {error.object!r} cannot be written in UTF-8: {error}") from error


def write_own(
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
        Of the codes, see :func:`quantize`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.safetensors")
    >>> parsed = ParsedVectors(("ice cream",), np.ones((1, 2), np.float32), np.ones(1))
    >>> write_own(path, parsed)
    >>> read_own(path).words
    ('ice cream',)
    """
    reserved = {"format", "version"} & set(vectors.metadata)
    if reserved:
        raise DataError(
            f"metadata may not use the layout's own keys {sorted(reserved)}: rename them"
        )
    own = {"format": LAYOUT, "version": str(VERSION)} | dict(sorted(vectors.metadata.items()))
    write_tensors(path, _tensors(vectors, quantized, step), own)


def read_own(path: Path, *, max_words: int | None = None, mmap: bool = False) -> ParsedVectors:
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
    >>> write_own(path, parsed, quantized=True)
    >>> read_own(path)
    ParsedVectors(words=('cat',), matrix=array([[1., 1.]], dtype=float32), counts=array([1.]),
    metadata={'by': 'me'})
    """
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = dict(sorted((file.metadata() or {}).items()))
            _check_layout(path, file, metadata)
            lengths = file.get_tensor("word_lengths")
            n_words = min(len(lengths), max_words or len(lengths))
            words = _cut_words(path, file.get_tensor("words").tobytes(), lengths, n_words)
            counts = file.get_tensor("unigram")[:n_words].astype(np.float64)
            matrix = _read_matrix(path, file, n_words, mmap)
    except SafetensorError as error:
        raise FormatError(
            f"{path}: not a whole safetensors file ({error}): get or write the file again"
        ) from error
    own = {key: value for key, value in metadata.items() if key not in ("format", "version")}
    return ParsedVectors(words, matrix, counts, own)


def _tensors(
    vectors: ParsedVectors, quantized: bool, step: float | None
) -> dict[str, NDArray[Any]]:
    """Name the arrays of a file; wide types come first, so that each is aligned."""
    encoded = in_utf8(vectors.words)
    words: dict[str, NDArray[Any]] = {
        "word_lengths": np.array([len(word) for word in encoded], np.uint32),
        "words": np.frombuffer(b"".join(encoded), np.uint8),
    }
    unigram = np.asarray(vectors.counts, np.float32 if quantized else np.float64)
    if not quantized:
        return {"unigram": unigram, "matrix": vectors.matrix, **words}
    codes, chosen = quantize(vectors.matrix, step=step)
    return {"unigram": unigram, "step": chosen, **words, "codes": codes.T}


def _check_layout(path: Path, file: Any, metadata: Mapping[str, str]) -> None:
    """Refuse a file of another layout, or with a tensor missing or of the wrong type or shape."""
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
    found = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
    shapes: dict[str, Any] = {name: tuple(tensor.get_shape()) for name, tensor in found.items()}
    name = "codes" if "codes" in found else "matrix"
    shape = shapes.get(name, ())
    n_words = shape[-1 if name == "codes" else 0] if len(shape) == 2 and all(shape) else 0
    expected = {
        "unigram": (f"F64 {(n_words,)}", f"F32 {(n_words,)}"),
        "word_lengths": (f"U32 {(n_words,)}",),
        "words": ("U8 (bytes,)",),
        name: (f"{'I8' if name == 'codes' else 'F32'} {shape}",),
    }
    if name == "codes":
        expected["step"] = ("F32 ()",)
    if len(shapes.get("words", ())) == 1:
        shapes["words"] = "(bytes,)"
    for name, kinds in expected.items():
        kind = f"{found[name].get_dtype()} {shapes[name]}" if name in found else None
        if kind not in kinds or not n_words:
            raise FormatError(
                f"{path}: tensor {name}: expected {' or '.join(kinds)}, found {kind}: this "
                "topicvec does not read such a file; get or write it again"
            )


def _cut_words(
    path: Path, blob: bytes, lengths: NDArray[np.uint32], n_words: int
) -> tuple[str, ...]:
    ends = np.cumsum(lengths, dtype=np.uint64)
    if ends[-1] != len(blob):
        raise FormatError(
            f"{path}: the words have {len(blob)} bytes, their lengths add to {ends[-1]}"
        )
    places = pairwise([0, *ends[:n_words].tolist()])
    try:
        return tuple(blob[start:end].decode() for start, end in places)
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: a word is not UTF-8 ({error}): the file is damaged") from error


def _read_matrix(path: Path, file: Any, n_words: int, mmap: bool) -> NDArray[np.float32]:
    if "codes" in file.keys():  # noqa: SIM118
        if mmap:
            raise DataError(
                f"{path}: mmap=True needs float32 vectors, found eight-bit ones: load without "
                "mmap, or save them unquantized first"
            )
        return dequantize(Quantized(file.get_tensor("codes").T[:n_words], file.get_tensor("step")))
    if not mmap:
        matrix: NDArray[np.float32] = file.get_slice("matrix")[:n_words]
        return matrix
    with path.open("rb") as raw:
        n_bytes = int.from_bytes(raw.read(8), "little")
        place = json.loads(raw.read(n_bytes))["matrix"]
    start = 8 + n_bytes + place["data_offsets"][0]
    return np.memmap(path, "<f4", "r", start, (n_words, place["shape"][1]))


class Quantized(NamedTuple):
    """A matrix as small whole numbers times a step.

    Attributes
    ----------
    codes : ndarray of shape (n_words, n_dims), int8
        Between −127 and 127.
    step : ndarray of shape (), float32
        One step for all numbers.

    Examples
    --------
    >>> Quantized(np.array([[2]], np.int8), np.float32(0.5)).codes.dtype
    dtype('int8')
    """

    codes: NDArray[np.int8]
    step: NDArray[np.float32]


def quantize(matrix: ArrayLike, *, step: float | None = None) -> Quantized:
    """Round a matrix to whole multiples of a step.

    Parameters
    ----------
    matrix : array of shape (n_words, n_dims)
    step : float, optional
        Distance of two levels. Without it, the smallest that needs no code beyond ±127. A
        larger step makes a file that compresses better.

    Returns
    -------
    Quantized

    Notes
    -----
    Each number is off by at most half a step. At a given total error, one common step costs the
    fewest bits after compression for vectors in their eigenbasis: a dimension of low variance
    uses few levels, which deflate well. Steps per dimension would spend eight bits on all.

    Examples
    --------
    >>> codes, step = quantize([[1.0, -0.5], [0.26, 0.0]], step=0.25)
    >>> codes
    array([[ 4, -2],
           [ 1,  0]], dtype=int8)
    """
    values = np.asarray(matrix, dtype=np.float32)
    smallest = _smallest_step(values)
    chosen = smallest if step is None else _checked_step(step, float(smallest))
    codes = np.rint(values / chosen)
    return Quantized(codes.astype(np.int8), chosen)


def dequantize(quantized: Quantized) -> NDArray[np.float32]:
    """Return the matrix that the codes stand for.

    Parameters
    ----------
    quantized : Quantized

    Returns
    -------
    ndarray of shape (n_words, n_dims), float32
        In memory it has room for some more rows, see `with_rows`.

    Examples
    --------
    >>> dequantize(quantize([[1.0, -0.5], [0.26, 0.0]], step=0.25))
    array([[ 1.  , -0.5 ],
           [ 0.25,  0.  ]], dtype=float32)
    """
    codes, step = quantized
    n, size = codes.shape
    room = np.empty((n + SPARE_ROWS, size), dtype=np.float32)
    room[n:, 0] = np.nan  # not taken
    matrix = room[:n]

    def fill(start: int) -> None:
        block = np.ascontiguousarray(codes[start : start + BLOCK_ROWS])
        np.multiply(block, step, out=matrix[start : start + BLOCK_ROWS], dtype=np.float32)

    starts = range(0, len(codes), BLOCK_ROWS)  # small enough for the cache
    with ThreadPoolExecutor(2) as threads:  # half of what a cold start waits for
        list(threads.map(fill, starts))
    return matrix


def with_rows(matrix: NDArray[np.float32], more: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put rows at the end of a matrix, without a copy where `dequantize` left room for them.

    New memory for all vectors would take a command on one article a third of a second. The room
    can be taken once; whoever comes later gets a copy.

    Parameters
    ----------
    matrix : ndarray of shape (n_words, n_dims), float32
    more : ndarray of shape (n_more, n_dims), float32

    Returns
    -------
    ndarray of shape (n_words + n_more, n_dims), float32
        The given rows must not change, as both may share them.

    Examples
    --------
    >>> first = dequantize(quantize([[1.0, -0.5], [0.26, 0.0]], step=0.25))
    >>> longer = with_rows(first, np.ones((1, 2), np.float32))
    >>> longer.shape, np.shares_memory(first, longer)
    ((3, 2), True)
    >>> np.shares_memory(first, with_rows(first, np.zeros((1, 2), np.float32)))
    False
    """
    room: Any = matrix.base
    n = len(matrix) + len(more)
    with _TAKING:
        if _has_room(room, matrix, n):
            room[len(matrix) :, 0] = 0
            room[len(matrix) : n] = more
            longer: NDArray[np.float32] = room[:n]
            return longer
    return np.concatenate([matrix, more])


def _has_room(room: Any, matrix: NDArray[np.float32], n: int) -> bool:
    """Tell whether an array goes on behind the rows that a matrix shows of it, and is free."""
    if not (isinstance(room, np.ndarray) and room.ndim == 2 and room.dtype == matrix.dtype):
        return False
    first = room.ctypes.data == matrix.ctypes.data and room.shape[1:] == matrix.shape[1:]
    return first and n <= len(room) and bool(np.isnan(room[len(matrix) :, 0]).all())


def _smallest_step(values: NDArray[np.float32]) -> NDArray[np.float32]:
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise DataError(
            "quantize expects a non-empty matrix (words × dimensions) of finite numbers, "
            f"found shape {values.shape}"
        )
    largest = np.abs(values).max()
    tiny = np.finfo(np.float32).tiny  # a matrix of zeros has a step too
    return np.asarray(np.maximum(largest / LARGEST_CODE, tiny), dtype=np.float32)


def _checked_step(step: float, smallest: float) -> NDArray[np.float32]:
    if not (np.isfinite(step) and step >= smallest * (1 - 1e-6)):
        raise DataError(
            f"step must be at least {smallest:.6g}, the largest number of the matrix / "
            f"{LARGEST_CODE}, found {step!r}: give a larger step, or none"
        )
    return np.array(step, dtype=np.float32)

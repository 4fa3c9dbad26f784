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
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open

from topicvec.embed.formats.files import atomic_write
from topicvec.errors import DataError, FormatError

__all__ = [
    "TENSOR_TYPES",
    "ParsedVectors",
    "Quantized",
    "dequantize",
    "quantize",
    "read_own",
    "write_own",
    "write_tensors",
]

LAYOUT = "topicvec-vectors"
VERSION = 1
LARGEST_CODE = 127
BLOCK_ROWS = 4096

TENSOR_TYPES = {
    "|b1": "BOOL", "|u1": "U8", "|i1": "I8", "<i2": "I16", "<u2": "U16", "<i4": "I32",
    "<u4": "U32", "<i8": "I64", "<u8": "U64", "<f2": "F16", "<f4": "F32", "<f8": "F64",
}  # fmt: skip
"""Types of arrays that a file can hold, by NumPy's names, and what safetensors calls them."""
_DTYPES = {name: dtype for dtype, name in TENSOR_TYPES.items()}


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


class _Tensor(NamedTuple):
    """Where a tensor stands in the file."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


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
        In the order of the file, of the types in `TENSOR_TYPES`; with wide types first, each
        is aligned.
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
    words: dict[str, NDArray[Any]] = {
        "word_lengths": np.array([len(word) for word in encoded], np.uint32),
        "words": np.frombuffer(b"".join(encoded), np.uint8),
    }
    unigram = np.asarray(vectors.counts, np.float32 if quantized else np.float64)
    if not quantized:
        return {"unigram": unigram, "matrix": vectors.matrix, **words}
    codes, chosen = quantize(vectors.matrix, step=step)
    return {"unigram": unigram, "step": chosen, **words, "codes": codes.T}


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
    places = pairwise([0, *ends[:n_words].tolist()])
    try:
        return tuple(blob[start:end].decode() for start, end in places)
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

    Examples
    --------
    >>> dequantize(quantize([[1.0, -0.5], [0.26, 0.0]], step=0.25))
    array([[ 1.  , -0.5 ],
           [ 0.25,  0.  ]], dtype=float32)
    """
    codes, step = quantized
    matrix = np.empty(codes.shape, dtype=np.float32)
    for start in range(0, len(codes), BLOCK_ROWS):  # small enough for the cache
        block = np.ascontiguousarray(codes[start : start + BLOCK_ROWS])
        np.multiply(block, step, out=matrix[start : start + BLOCK_ROWS], dtype=np.float32)
    return matrix


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

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
gave. Nothing in the file is ever executed. The last tensor is a checksum, see `topicvec.stored`;
files from before it have none.
"""

import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.errors import DataError, FormatError
from topicvec.stored import (
    ANY,
    Layout,
    Stored,
    each,
    mapping,
    number,
    open_tensors,
    parse_json,
    whole,
    write_tensors,
)

__all__ = [
    "ParsedVectors", "check_about", "dequantize", "in_utf8", "quantize", "read_own", "with_rows",
    "write_own",
]  # fmt: skip

_AGAIN = "get or write the file again"
LAYOUT = Layout("topicvec-vectors", 1, "file of word vectors", _AGAIN)
LARGEST_CODE = 127
BLOCK_ROWS = 4096
SPARE_ROWS = 512  # behind vectors in memory: an article has fewer new words
_MORE_ROWS = 8192  # behind vectors that had no room: whoever learns batches will have more
_TAKING = Lock()


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
    own = {"format": LAYOUT.name, "version": str(LAYOUT.version)} | dict(
        sorted(vectors.metadata.items())
    )
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
    with open_tensors(path, LAYOUT) as file:
        metadata = dict(sorted((file.metadata() or {}).items()))
        _check_shapes(path, file)
        small = {name: file.get_tensor(name) for name in ("word_lengths", "words", "unigram")}
        stored = Stored(path, metadata, small, LAYOUT.advice)
        words = stored.texts("words", "word_lengths", most=max_words)
        n_words = len(words)
        counts = stored.numbers("unigram", (None,), least=0)[:n_words].astype(np.float64)
        matrix = _read_matrix(path, file, n_words, mmap)
    own = {key: value for key, value in metadata.items() if key not in ("format", "version")}
    check_about(stored, own)
    return ParsedVectors(words, matrix, counts, own)


_DIGITS = re.compile(r"[0-9]{1,15}")
# Entries that are used whoever wrote them, those of vectors that learned on top of the default
# ones, and those of PSDVec; any other is only shown.
_USED = {
    "eigenvalues": each(number(0)),
    "eigenvalue_power": number(-10, 10),
    "added_words": whole(0),
}
_ON_DEFAULT = {"scale": number(0, 1e6)}
_BY_PSDVEC = {"window": mapping(ANY), "settings": mapping(ANY)}


def check_about(stored: Stored, metadata: Mapping[str, str]) -> None:
    """Refuse metadata of vectors that say what cannot be.

    Parameters
    ----------
    stored : Stored
        The file that they are from.
    metadata : mapping of str to str
    """
    learned = _DIGITS.fullmatch(metadata.get("general", "")) is not None
    by_psdvec = metadata.get("method") == "PSDVec"
    kinds = _USED | (_ON_DEFAULT if learned else {}) | (_BY_PSDVEC if by_psdvec else {})
    for name, kind in kinds.items():
        if name in metadata and not kind.fits(_parsed(metadata[name])):
            stored.refuse(name, kind.expected, metadata[name])
    if learned:
        try:
            mean = np.frombuffer(b64decode(metadata.get("mean", ""), validate=True), "<f4")
        except ValueError as error:
            stored.refuse("mean", "numbers in base 64", error)
        replace(stored, tensors={"mean": mean}).numbers("mean", (None,))


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return None  # which is of no kind


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


def _check_shapes(path: Path, file: Any) -> None:
    """Refuse a file with a tensor missing, unknown, or of the wrong type or shape."""
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
    unknown = set(found) - {*expected, "checksum"}
    if unknown:
        raise FormatError(f"{path}: a tensor {min(unknown)!r} that no vector file has: {_AGAIN}")
    for name, kinds in expected.items():
        kind = f"{found[name].get_dtype()} {shapes[name]}" if name in found else None
        if kind not in kinds or not n_words:
            raise FormatError(
                f"{path}: tensor {name}: expected {' or '.join(kinds)}, found {kind}: "
                f"this topicvec does not read such a file; {_AGAIN}"
            )


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
    """Put rows at the end of a matrix, without a copy where there is room for them.

    New memory for all vectors would take a command on one article a third of a second, so
    `dequantize` leaves room; so does a copy. It can be taken once; whoever comes later gets a copy.

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
    >>> other = with_rows(first, np.zeros((1, 2), np.float32))
    >>> np.shares_memory(first, other), longer[2], other[2]
    (False, array([1., 1.], dtype=float32), array([0., 0.], dtype=float32))
    >>> np.shares_memory(other, with_rows(other, np.zeros((1, 2), np.float32)))
    True
    """
    room: Any = matrix.base
    n = len(matrix) + len(more)
    with _TAKING:
        if _has_room(room, matrix, n):
            room[len(matrix) :, 0] = 0
            room[len(matrix) : n] = more
            return cast("NDArray[np.float32]", room[:n])
    room = np.empty((n + _MORE_ROWS, matrix.shape[1]), dtype=np.float32)
    room[: len(matrix)], room[len(matrix) : n], room[n:, 0] = matrix, more, np.nan
    return cast("NDArray[np.float32]", room[:n])


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

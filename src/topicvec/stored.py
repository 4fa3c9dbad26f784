"""Safetensors files of the project: written with a checksum, validated in full before use.

Every model, classifier, index, checkpoint, table of counts and vector file goes through here, so
that nothing of a file is believed: `read_tensors` checks the layout, the version and the checksum,
and `Stored` gives arrays only with the type, the shape and the range that the reader says. A
checksum tells accidents, not intent: whoever writes a file writes its checksum too, therefore
indices of sparse tables are checked as well, which compiled code would follow anywhere.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from math import inf, isfinite
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from scipy.sparse import csr_array

from topicvec.errors import DataError, FormatError
from topicvec.files import atomic_write

__all__ = [
    "ANY",
    "FLAG",
    "NAME",
    "SPARSE",
    "TENSOR_TYPES",
    "TEXT",
    "Kind",
    "Layout",
    "Stacked",
    "Stored",
    "each",
    "is_of",
    "mapping",
    "number",
    "one_of",
    "open_tensors",
    "pair",
    "parse_json",
    "read_tensors",
    "save_array",
    "sparse_parts",
    "whole",
    "write_tensors",
]  # fmt: skip

TENSOR_TYPES = {
    "|b1": "BOOL", "|u1": "U8", "|i1": "I8", "<i2": "I16", "<u2": "U16", "<i4": "I32",
    "<u4": "U32", "<i8": "I64", "<u8": "U64", "<f2": "F16", "<f4": "F32", "<f8": "F64",
}  # fmt: skip
"""Types of arrays that a file can hold, by NumPy's names, and what safetensors calls them."""

SPARSE = ("data", "indices", "indptr")
_DIGEST_BYTES = 32
_DEEPEST = 50  # of what JSON holds; nothing that topicvec writes is as deep
_DAMAGE = (SafetensorError, KeyError, ValueError, TypeError, OSError)


class Stacked:
    """Tables in files, one below the other: written as one tensor, but never put together.

    Parameters
    ----------
    tables : sequence of what has a length
        Arrays, or what stands for them.
    load : callable
        Gives the array of one.
    """

    def __init__(self, tables: Sequence[Any], load: Callable[[Any], NDArray[Any]]) -> None:
        first, self.load = load(tables[0]), load
        self.tables, self.dtype, self.itemsize = tables, first.dtype, first.itemsize
        self.shape = (sum(map(len, tables)), *first.shape[1:])
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.nbytes = self.size * self.itemsize

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return map(self.load, self.tables)


def _tables(tensor: NDArray[Any] | Stacked) -> Iterable[NDArray[Any]]:
    return tensor if isinstance(tensor, Stacked) else [tensor]


def write_tensors(
    path: Path, tensors: Mapping[str, NDArray[Any] | Stacked], metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file, whole or not at all; the same contents give the same bytes.

    The last tensor ``checksum`` has the SHA-256 of all bytes before it.

    Parameters
    ----------
    path : Path
    tensors : mapping of str to ndarray or Stacked
        Of the types in `TENSOR_TYPES`; wide ones come first in the file, so that each is aligned.
    metadata : mapping of str to str
        For the header, in this order.

    Examples
    --------
    >>> import tempfile
    >>> from safetensors.numpy import load_file
    >>> path = Path(tempfile.mkdtemp(), "any.safetensors")
    >>> write_tensors(path, {"x": np.arange(3.0)}, {"format": "mine"})
    >>> found = load_file(path)
    >>> found["x"], found["checksum"].shape
    (array([0., 1., 2.]), (32,))
    """
    digest = hashlib.sha256()
    tensors = dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))
    header = _header({**tensors, "checksum": np.empty(_DIGEST_BYTES, np.uint8)}, metadata)
    digest.update(header)
    with atomic_write(path) as part, part.open("wb") as file:
        file.write(header)
        for table in chain.from_iterable(map(_tables, tensors.values())):
            block = np.ascontiguousarray(table, table.dtype.newbyteorder("<"))
            file.write(block.data)
            digest.update(block.data)
        file.write(digest.digest())


def _header(tensors: Mapping[str, NDArray[Any] | Stacked], metadata: Mapping[str, str]) -> bytes:
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


def sparse_parts(name: str, table: csr_array) -> dict[str, NDArray[Any]]:
    """Name the arrays of a sparse table, columns of each row in order.

    Examples
    --------
    >>> sparse_parts("x", csr_array([[0, 5]]))["x.indices"]
    array([1], dtype=int32)
    """
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return {f"{_dotted(name)}{part}": getattr(table, part) for part in SPARSE}


def _dotted(name: str) -> str:
    return f"{name}." if name else ""


class Layout(NamedTuple):
    """What a file must say that it is.

    Attributes
    ----------
    name : str
        ``format`` in its metadata.
    version : int
        The newest that is read; older ones are too, back to ``oldest``.
    what : str
        For messages, such as "model file".
    advice : str
        What to do about a file that cannot be read.
    oldest : int
    """

    name: str
    version: int
    what: str
    advice: str
    oldest: int = 1


def is_of(path: Path, layout: Layout) -> bool:
    """Whether a file says that it is of a layout; nothing else of it is looked at.

    Examples
    --------
    >>> is_of(Path(__file__), Layout("mine", 1, "file of mine", "write it again"))
    False
    """
    try:
        with safe_open(path, framework="numpy") as file:
            return bool((file.metadata() or {}).get("format") == layout.name)
    except SafetensorError:
        return False


def save_array(file: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array to an open file in NumPy's format.

    `numpy.save` writes into a file past Python, and says nothing if the disk was full.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> save_array(file, np.array([[1, 2]]))
    >>> np.load(io.BytesIO(file.getvalue()))
    array([[1, 2]])
    """
    whole = np.ascontiguousarray(array)
    header = np.lib.format.header_data_from_array_1_0(whole)
    np.lib.format.write_array_header_1_0(file, header)
    file.write(whole.tobytes() if not whole.size else whole.data)


@contextmanager
def open_tensors(path: Path, layout: Layout, *, checksum: bool = False) -> Iterator[Any]:
    """Open a file whose layout, version and checksum are right, to read a part of it.

    Parameters
    ----------
    path : Path
    layout : Layout
    checksum : bool
        Whether one must be there; else damage to its very name could hide it.

    Yields
    ------
    open safetensors file
        What goes wrong with it is a ``FormatError``.
    """
    if not path.is_file():
        raise DataError(f"no such file: {path}: give the name of a {layout.what}")
    try:
        with safe_open(path, framework="numpy") as file:
            _check_layout(path, layout, file.metadata() or {})
            names = list(file.keys())
            for name in names:
                if file.get_slice(name).get_dtype() not in TENSOR_TYPES.values():
                    raise ValueError(f"{name} is no array of numbers")
            if "checksum" in names:
                _check_digest(path, layout)
            elif checksum:
                raise FormatError(f"{path}: it has no checksum: {layout.advice}")
            yield file
    except _DAMAGE as error:
        if isinstance(error, DataError):
            raise
        raise FormatError(f"{path}: {_damage(path, layout, error)}") from error


def _damage(path: Path, layout: Layout, error: Exception) -> str:
    """Say what is wrong with a file; one that begins otherwise never was of this kind."""
    with path.open("rb") as file:
        begins = file.read(9)[8:]
    if begins not in (b"{", b""):
        return f"this is no {layout.what}: check the name, and what the file is"
    return f"not a whole {layout.what} ({error}): {layout.advice}"


def read_tensors(path: Path, layout: Layout, *, checksum: bool = False) -> "Stored":
    """Read all of a file whose layout, version and checksum are right.

    Parameters
    ----------
    path : Path
    layout : Layout
    checksum : bool
        Whether one must be there; files of older versions of some layouts have none.

    Returns
    -------
    Stored
        Gives the arrays, checked.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "any.safetensors")
    >>> write_tensors(path, {"x": np.arange(3.0)}, {"format": "mine", "version": "1"})
    >>> stored = read_tensors(path, Layout("mine", 1, "file of mine", "write it again"))
    >>> stored.numbers("x", (3,), most=2)
    array([0., 1., 2.])
    >>> stored.numbers("x", (3,), most=1)
    Traceback (most recent call last):
    topicvec.errors.FormatError: ...: x: expected numbers of at most 1, found 2.0: write it again
    """
    with open_tensors(path, layout, checksum=checksum) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = dict(file.metadata() or {})
    tensors.pop("checksum", None)
    return Stored(path, metadata, tensors, layout.advice)


def _check_layout(path: Path, layout: Layout, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != layout.name:
        raise FormatError(
            f'{path}: expected a {layout.what} (format "{layout.name}" in its metadata), found '
            f"{metadata.get('format')!r}: {layout.advice}"
        )
    given = metadata.get("version", "")
    found = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None
    if found is None or found > layout.version:
        raise FormatError(
            f"{path}: layout version {given!r}, but this topicvec reads up to {layout.version}: "
            "pip install --upgrade topicvec"
        )
    if found < layout.oldest:
        raise FormatError(
            f"{path}: layout version {given!r}, but this topicvec reads {layout.oldest} and "
            f"later: {layout.advice}"
        )


def _check_digest(path: Path, layout: Layout) -> None:
    digest, left = hashlib.sha256(), path.stat().st_size - _DIGEST_BYTES
    with path.open("rb") as file:
        while left > 0 and (block := file.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
        if file.read() != digest.digest():
            raise FormatError(f"{path}: damaged, its checksum is wrong: {layout.advice}")


@dataclass(frozen=True)
class Stored:
    """What a file holds; arrays are given only if they are what the reader expects.

    Parameters
    ----------
    path : Path
    metadata : mapping of str to str
    tensors : mapping of str to ndarray
    advice : str
        What to do about a file that cannot be read.

    Examples
    --------
    >>> stored = Stored(Path("x"), {}, {"w": np.frombuffer(b"catdog", "u1"),
    ...                                 "n": np.array([3, 3])}, "write it again")
    >>> stored.texts("w", "n")
    ('cat', 'dog')
    """

    path: Path
    metadata: Mapping[str, str]
    tensors: Mapping[str, NDArray[Any]]
    advice: str

    def refuse(self, what: str, expected: object, found: object) -> NoReturn:
        """Say what is wrong with the file."""
        text = str(found)
        shown = text if len(text) <= 80 else f"{text[:79]}…"
        raise FormatError(f"{self.path}: {what}: expected {expected}, found {shown}: {self.advice}")

    def only(self, *names: str) -> None:
        """Refuse tensors of other names."""
        for name in sorted(set(self.tensors) - set(names)):
            self.refuse(name, "no such array", "one")

    def numbers(
        self, name: str, shape: tuple[int | None, ...], kinds: str = "f", least: float = -inf,
        most: float = inf, *, infinite: bool = False,
    ) -> NDArray[Any]:  # fmt: skip
        """Give an array of a kind, a shape (None: any length) and a range.

        ``kinds`` are NumPy's: f, i, u, b. Numbers must be finite, or may be ``infinite``.
        """
        array = self.tensors.get(name)
        if array is None:
            self.refuse(name, "an array", "none")
        fits = len(array.shape) == len(shape) and all(
            wanted in (None, n) for wanted, n in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind not in kinds:
            wanted = str(shape).replace("None", "any")
            self.refuse(name, f"shape {wanted} of kind {kinds}", f"{array.shape} of {array.dtype}")
        if array.dtype == np.float16:  # for which there are no sparse tables and compiled loops
            array = array.astype(np.float32)
        self._check_range(name, array, least, most, infinite)
        return array

    def _check_range(
        self, name: str, array: NDArray[Any], least: float, most: float, infinite: bool
    ) -> None:
        if not array.size or array.dtype.kind == "b":
            return
        low, high = array.min(), array.max()  # nan, if there is one
        if np.isnan(low) or (not infinite and not (np.isfinite(low) and np.isfinite(high))):
            self.refuse(name, "finite numbers", "nan or infinity")
        if low < least:
            self.refuse(name, f"numbers of at least {least:g}", low)
        if high > most:
            self.refuse(name, f"numbers of at most {most:g}", high)

    def table(
        self, name: str, shape: tuple[int, int], kinds: str = "f", least: float = 0
    ) -> csr_array:
        """Give a sparse table whose indices are in range and in order."""
        parts = [f"{_dotted(name)}{part}" for part in SPARSE]
        indptr = self.numbers(parts[2], (shape[0] + 1,), "iu", 0)
        indices = self.numbers(parts[1], (None,), "iu", 0, shape[1] - 1)
        data = self.numbers(parts[0], indices.shape, kinds, least)
        rises = np.diff(indptr.astype(np.int64))
        if indptr[0] or indptr[-1] != len(indices) or (rises < 0).any():
            self.refuse(parts[2], f"numbers that rise from 0 to {len(indices)}", "others")
        inside = np.ones(max(len(indices) - 1, 0), bool)  # not from the end of a row to the next
        ends = indptr[1:-1].astype(np.int64)
        inside[ends[(ends > 0) & (ends < len(indices))] - 1] = False
        if (np.diff(indices.astype(np.int64))[inside] <= 0).any():
            self.refuse(parts[1], "columns that rise in each row", "others")
        return csr_array((data, indices, indptr), shape=shape)

    def texts(
        self, letters: str, lengths: str, n: int | None = None, most: int | None = None
    ) -> tuple[str, ...]:
        """Give ``n`` texts, or the first ``most`` of them, from bytes and their lengths."""
        blob = self.numbers(letters, (None,), "u")
        sizes = self.numbers(lengths, (n,), "iu", 0, len(blob))
        ends = np.cumsum(sizes, dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        if blob.dtype != np.uint8 or total != len(blob):
            self.refuse(letters, f"{total} bytes, as {lengths} says", len(blob))
        pairs, raw = pairwise([0, *ends[:most].tolist()]), blob.tobytes()
        try:
            return tuple(raw[start:end].decode("utf-8", "surrogatepass") for start, end in pairs)
        except UnicodeDecodeError as error:
            self.refuse(letters, "text in UTF-8", error)

    def distinct(self, what: str, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse texts of which one repeats."""
        if len(set(texts)) < len(texts):
            self.refuse(what, "each once", "one twice")
        return texts

    def card(self, name: str, kinds: "Mapping[str, Kind]", *needed: str) -> dict[str, Any]:
        """Give the JSON object of an entry of the metadata, its fields checked."""
        try:
            found = parse_json(self.metadata[name])
        except (KeyError, ValueError) as error:
            self.refuse(name, "a JSON object", error)
        return self.fields(name, found, kinds, *needed)

    def fields(
        self, what: str, found: Any, kinds: "Mapping[str, Kind]", *needed: str
    ) -> dict[str, Any]:
        """Give a mapping whose fields are of their kinds; those ``needed`` must be there."""
        if not isinstance(found, dict) or not ANY.fits(found):
            self.refuse(what, "a JSON object that is not too deep", type(found).__name__)
        for name, kind in kinds.items():
            if name not in found:
                if name in needed:
                    self.refuse(f"{what}.{name}", kind.expected, "nothing")
            elif not kind.fits(found[name]):
                self.refuse(f"{what}.{name}", kind.expected, repr(found[name]))
        return found


def parse_json(text: str | bytes) -> Any:
    """Read JSON; whatever is wrong with it is a ValueError.

    Examples
    --------
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deeply
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


class Kind(NamedTuple):
    """What a field of a JSON object must be.

    Attributes
    ----------
    expected : str
        In words.
    fits : callable
        From a value to whether it is that.

    Examples
    --------
    >>> whole(1).fits(True), number(0, 1).fits(0.5), each(TEXT).fits(["a", 1])
    (False, True, False)
    """

    expected: str
    fits: Callable[[Any], bool]

    def __or__(self, other: object) -> "Kind":
        if not isinstance(other, Kind):
            return NotImplemented
        expected = f"{self.expected} or {other.expected}"
        return Kind(expected, lambda value: self.fits(value) or other.fits(value))


def _is_shallow(value: Any, depth: int = 0) -> bool:
    inside = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list)):
        return not isinstance(value, float) or isfinite(value)
    return depth < _DEEPEST and all(_is_shallow(each, depth + 1) for each in inside)


ANY = Kind("what JSON can hold", _is_shallow)
TEXT = Kind("text", lambda value: isinstance(value, str))
NAME = TEXT | Kind("null", lambda value: value is None)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))


def one_of(*values: Any) -> Kind:
    """Take one of a few values."""
    words = " or ".join(json.dumps(value) for value in values)
    return Kind(words, lambda found: any(found is v or (found == v and type(found) is type(v))
                                         for v in values))  # fmt: skip


def whole(least: int, most: float = 2**53) -> Kind:
    """Take whole numbers of a range."""
    return Kind(
        f"a whole number of at least {least}",
        lambda value: type(value) is int and least <= value <= most,
    )


def number(least: float = -inf, most: float = inf) -> Kind:
    """Take finite numbers of a range."""
    limit = "" if least == -inf else f" of at least {least:g}"
    limit += "" if most == inf else f" and at most {most:g}"
    return Kind(
        f"a number{limit}",
        # a whole number beyond all floating-point ones is no number here
        lambda value: (
            type(value) in (int, float)
            and abs(value) <= sys.float_info.max
            and isfinite(value)
            and least <= value <= most
        ),
    )


def each(kind: Kind, n: int | None = None) -> Kind:
    """Take lists, of ``n`` values, whose values are of a kind."""
    return Kind(
        f"a list of {'' if n is None else f'{n} '}times {kind.expected}",
        lambda value: (
            isinstance(value, list) and n in (None, len(value)) and all(map(kind.fits, value))
        ),
    )


def mapping(kind: Kind) -> Kind:
    """Take objects whose values are of a kind."""
    return Kind(
        f"an object of {kind.expected}",
        lambda value: isinstance(value, dict) and all(map(kind.fits, value.values())),
    )


def pair(*kinds: Kind) -> Kind:
    """Take lists of so many values, each of its kind."""
    return Kind(
        f"[{', '.join(kind.expected for kind in kinds)}]",
        lambda value: (
            isinstance(value, list)
            and len(value) == len(kinds)
            and all(kind.fits(part) for kind, part in zip(kinds, value, strict=True))
        ),
    )

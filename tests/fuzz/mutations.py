"""Ways to change an input: its bytes, a JSON tree in it, or the tensors of a safetensors file."""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

LARGEST = 1 << 18  # bytes of an input
NUMBERS = (
    0, 1, -1, 2, 3, 7, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, -(2**31), 2**32,
    2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 10**400,
    0.5, -0.0, 1e-320, 1e30, 1e300, -1e300, 1.7e308, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
TEXTS = (
    "", " ", "\0", "\n", "\r\n", "\t", '"', "'", "\\", "..", "../../x", "/etc/passwd", "//host/x",
    "\\\\host\\share\\x", "C:\\x", "NaN", "Infinity", "null", "true", "\x1b[2J", "\u202e", "\ufeff",
    "\U0001f3bb", "e\u0301", "ß", "İ", "ﬀ", "\ud83c", "\uffff", "a" * 300, "<script>", "%00", "{}",
    "text", "id", "label", "time", "corpus", "general", "default", "topicvec:original",
)  # fmt: skip
PIECES = (
    *(text.encode("utf-8", "surrogatepass") for text in TEXTS), b"\xff", b"\x80", b"\xed\xa0\x80",
    b"\x1f\x8b\x08", b"PK\x03\x04", b"PAR1", b"BZh91AY&SY", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd",
    b"\x80\x04\x95", b"99999999999999999999", b"-1", b"1e999", b"nan", b"0x1p3", b"\xef\xbb\xbf",
    b"http://", b"a@b.c", b"don't", b"1.5", b",", b'""', b"[", b"{", b"}", b"]", b"\x00" * 64,
)  # fmt: skip
DTYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4",
    "I64": "<i8", "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
Others = Sequence[bytes]


def mutate_bytes(data: bytes, rng: Random, others: Others) -> bytes:
    """Change one to a few places of a string of bytes."""
    changed = bytearray(data)
    for _ in range(1 if rng.random() < 0.5 else rng.randint(2, 6)):
        rng.choice(_BYTE_CHANGES)(changed, rng, others)
    return bytes(changed[:LARGEST])


def _flip(data: bytearray, rng: Random, others: Others) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _overwrite(data: bytearray, rng: Random, others: Others) -> None:
    if data:
        start, piece = rng.randrange(len(data)), rng.choice(PIECES)
        data[start : start + len(piece)] = piece


def _insert(data: bytearray, rng: Random, others: Others) -> None:
    start = rng.randint(0, len(data))
    data[start:start] = rng.choice(PIECES)


def _delete(data: bytearray, rng: Random, others: Others) -> None:
    start = rng.randint(0, len(data))
    del data[start : start + rng.choice((1, 2, 4, 8, 16, 64, 1024))]


def _truncate(data: bytearray, rng: Random, others: Others) -> None:
    del data[rng.randint(0, len(data)) :]


def _repeat(data: bytearray, rng: Random, others: Others) -> None:
    start = rng.randint(0, len(data))
    piece = data[start : start + rng.choice((1, 3, 10, 50))]
    times = rng.choice((2, 2, 3, 10, 100, 1000, 20_000) if rng.random() < 0.02 else (2, 3, 10))
    data[start:start] = (piece * times)[:LARGEST]


def _splice(data: bytearray, rng: Random, others: Others) -> None:
    other = rng.choice(others)
    start, place = rng.randint(0, len(other)), rng.randint(0, len(data))
    data[place:] = other[start:]


def _number(data: bytearray, rng: Random, others: Others) -> None:
    found = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", data[:4096]))
    if found:
        place = rng.choice(found)
        data[place.start() : place.end()] = repr(rng.choice(NUMBERS)).encode()


def mutate_packed(pack: Callable[[bytes], bytes], plain: bytes) -> Callable[..., bytes]:
    """Change compressed bytes, or compress changed ones."""

    def mutate(data: bytes, rng: Random, others: Others) -> bytes:
        if rng.random() < 0.5:
            return mutate_bytes(data, rng, others)
        return pack(mutate_bytes(plain, rng, [plain]))[:LARGEST]

    return mutate


def mutate_zip(data: bytes, rng: Random, others: Others) -> bytes:
    """Change a member of an archive, or the archive itself."""
    if rng.random() < 0.15:
        return mutate_bytes(data, rng, others)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
        return mutate_bytes(data, rng, others)
    name = rng.choice(list(parts) or [""])
    parts[name] = mutate_bytes(parts.get(name, b""), rng, list(parts.values()))
    if rng.random() < 0.05:
        del parts[name]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:  # stored: the changes are in what is read
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()[:LARGEST]


_BYTE_CHANGES: tuple[Callable[[bytearray, Random, Others], None], ...] = (
    _flip, _flip, _overwrite, _insert, _insert, _delete, _truncate, _repeat, _splice, _number,
)  # fmt: skip


def mutate_tree(tree: Any, rng: Random) -> Any:
    """Change one node of what JSON can hold."""
    places = list(_places(tree))
    if not places or rng.random() < 0.05:
        return _other_value(tree, rng)
    holder, key = rng.choice(places)
    act = rng.random()
    if act < 0.12:
        del holder[key]
    elif act < 0.2 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))
    elif act < 0.25 and isinstance(holder, dict):
        holder[rng.choice(TEXTS)] = holder.pop(key)
    else:
        holder[key] = _other_value(holder[key], rng)
    return tree


def _places(tree: Any) -> Any:
    pairs = enumerate(tree) if isinstance(tree, list) else ()
    for key, value in tree.items() if isinstance(tree, dict) else pairs:
        yield tree, key
        yield from _places(value)


def _other_value(value: Any, rng: Random) -> Any:
    act = rng.random()
    if act < 0.3 and isinstance(value, str):
        changed = mutate_bytes(value.encode("utf-8", "surrogatepass"), rng, [b"text"])
        return changed.decode("utf-8", "replace")
    if act < 0.6:
        return rng.choice(NUMBERS)
    if act < 0.8:
        return rng.choice(TEXTS)
    deep: Any = value
    for _ in range(rng.choice((1, 1, 2, 5, 900))):
        deep = [deep]
    return rng.choice((None, True, False, [], {}, [[]], {"a": 1}, deep, [value] * 3))


def mutate_json(data: bytes, rng: Random, others: Others) -> bytes:
    """Change a JSON text: mostly a node of it, else its bytes."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return mutate_bytes(data, rng, others)
    if rng.random() < 0.15:
        return mutate_bytes(data, rng, others)
    try:
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            tree = mutate_tree(tree, rng)
        return json.dumps(tree).encode()[:LARGEST]
    except (RecursionError, ValueError):
        return mutate_bytes(data, rng, others)


class Tensors(NamedTuple):
    """A safetensors file taken apart, so that a changed one is well formed again."""

    metadata: dict[str, str]
    arrays: dict[str, np.ndarray[Any, Any]]

    @classmethod
    def parse(cls, data: bytes) -> "Tensors":
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        metadata = header.pop("__metadata__", {})
        arrays, body = {}, data[8 + size :]
        for name, about in header.items():
            start, end = about["data_offsets"]
            array = np.frombuffer(body[start:end], DTYPES[about["dtype"]])
            arrays[name] = array.reshape(about["shape"])
        return cls(metadata, arrays)

    def dump(self) -> bytes:
        """Put the file together, with right sums over its contents."""
        if "digest" in self.metadata:
            self.metadata["digest"] = _digest(self.arrays)
        summed = "checksum" in self.arrays
        arrays = {name: array for name, array in self.arrays.items() if name != "checksum"}
        if summed:
            arrays["checksum"] = np.zeros(32, np.uint8)
        header: dict[str, Any] = {"__metadata__": self.metadata}
        start = 0
        for name, array in arrays.items():
            kind = next(k for k, v in DTYPES.items() if np.dtype(v) == array.dtype)
            end = start + array.nbytes
            header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [start, end]}
            start = end
        text = json.dumps(header).encode()
        text = text.ljust(len(text) + -len(text) % 8)
        blob = len(text).to_bytes(8, "little") + text
        blob += b"".join(array.tobytes() for array in arrays.values())
        return blob[:-32] + hashlib.sha256(blob[:-32]).digest() if summed else blob


def _digest(arrays: dict[str, Any]) -> str:
    """Sum up as counted co-occurrences do."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def mutate_tensors(data: bytes, rng: Random, others: Others) -> bytes:
    """Change a safetensors file: mostly what is in it, with the sums made again."""
    if rng.random() < 0.12:
        return mutate_bytes(data, rng, others)
    try:
        file = Tensors.parse(data)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if file.metadata and (not file.arrays or rng.random() < 0.35):
                _change_metadata(file.metadata, rng)
            elif file.arrays:
                _change_arrays(file.arrays, rng)
        return file.dump()[:LARGEST]
    except (ValueError, KeyError, TypeError, StopIteration, AttributeError, RecursionError):
        return mutate_bytes(data, rng, others)


def _change_metadata(metadata: dict[str, str], rng: Random) -> None:
    name = rng.choice(list(metadata))
    if rng.random() < 0.05:
        del metadata[name]
        return
    changed = mutate_json(metadata[name].encode("utf-8", "replace"), rng, [b"{}"])
    metadata[name] = changed.decode("utf-8", "replace")


def _change_arrays(arrays: dict[str, Any], rng: Random) -> None:
    name = rng.choice([each for each in arrays if each != "checksum"] or list(arrays))
    array, act = arrays[name], rng.random()
    if act < 0.5 and array.size:
        arrays[name] = _with_odd_numbers(array, rng)
    elif act < 0.6:
        n = rng.choice((0, 1, max(len(array) - 1, 0) if array.ndim else 0))
        arrays[name] = array[:n] if array.ndim else array.reshape(1)
    elif act < 0.68 and array.ndim:
        arrays[name] = np.concatenate([array, array[-1:]])
    elif act < 0.78:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(DTYPES[rng.choice(list(DTYPES))])
    elif act < 0.86:
        arrays[name] = rng.choice((array.ravel(), array[None], array.T, array[..., None])).copy()
    elif act < 0.9:
        del arrays[name]
    elif act < 0.95:
        other = rng.choice(list(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    else:
        order = np.random.default_rng(rng.getrandbits(32)).permutation(array.size)
        arrays[name] = array.ravel()[order].reshape(array.shape)


def _with_odd_numbers(array: Any, rng: Random) -> Any:
    changed = array.copy()
    flat = changed.reshape(-1)
    odd = np.array(rng.choice([n for n in NUMBERS if abs(n) < 2**64 or n != n]), np.float64)
    if rng.random() < 0.4:  # near what stands there, which more checks let pass
        odd = np.array(float(flat[rng.randrange(flat.size)]) + rng.choice((-1, 1, 1e3, -1e3)))
    with np.errstate(all="ignore"):
        odd = odd.astype(changed.dtype)
    if rng.random() < 0.1:
        flat[:] = odd
    else:
        flat[rng.randrange(flat.size)] = odd
    return changed

"""An index of documents as one safetensors file; nothing in it is ever executed.

The metadata are one entry, so that the same index gives the same bytes: layout and version, the
blend, and a fingerprint of the model, which is a file of its own. Names and words are bytes with
lengths.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.errors import DataError, FormatError, VocabularyMismatch
from topicvec.files import atomic_write
from topicvec.model.fitted import FittedTopics
from topicvec.model.topicvec import TopicVec as TopicModel
from topicvec.represent.matching import WordIndex
from topicvec.represent.retrieve import Blend, DocumentIndex

__all__ = ["read_index", "write_index"]

_FORMAT, _VERSION = "topicvec-index", 1
_PARTS = ("data", "indices", "indptr")
Tensors = Mapping[str, NDArray[Any]]


def write_index(index: DocumentIndex, path: str | PathLike[str]) -> None:
    """Write an index to a file, whole or not at all.

    Parameters
    ----------
    index : DocumentIndex
        What to write.
    path : path
        Of the file.
    """
    from safetensors.numpy import save_file

    tensors: dict[str, NDArray[Any]] = {
        "mixtures": index.mixtures,
        "directions": index.directions,
        "common": index.common,
        "telling": index.words.telling,
        **{f"table.{part}": getattr(index.words.table, part) for part in _PARTS},
        **{f"counts.{part}": getattr(index.counts, part) for part in _PARTS},
        **_packed("ids", index.ids),
        **_packed("words", index.words.words),
    }
    card = {
        "version": _VERSION,
        "blend": index.blend._asdict(),
        "model": _fingerprint(index.model.fitted_),
    }
    metadata = {_FORMAT: json.dumps(card)}
    with atomic_write(Path(path)) as part:
        save_file({name: np.ascontiguousarray(tensors[name]) for name in tensors}, part, metadata)


def read_index(path: str | PathLike[str], model: TopicModel) -> DocumentIndex:
    """Read an index; refuse one that is damaged or was built with another model.

    Parameters
    ----------
    path : path
        Of the file.
    model : TopicVec
        The model that the index was built with.

    Returns
    -------
    DocumentIndex
    """
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise DataError(f"no such file: {path}: give an index that was saved before")
    try:
        with safe_open(path, framework="numpy") as file:
            card = _checked_card(path, file.metadata() or {}, model)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return _index(tensors, card, model)
    except (SafetensorError, KeyError, ValueError, TypeError, IndexError) as error:
        if isinstance(error, DataError):
            raise
        raise FormatError(f"{path}: not a whole index ({error}): build it again") from error


def _checked_card(
    path: str | PathLike[str], metadata: Mapping[str, str], model: TopicModel
) -> dict[str, Any]:
    card: dict[str, Any] = json.loads(metadata.get(_FORMAT, "{}"))
    if card.get("version") != _VERSION:
        raise FormatError(
            f"{path}: expected an index of version {_VERSION}, found "
            f"{card.get('version') or 'none'}: build it again"
        )
    if card["model"] != _fingerprint(model.fitted_):
        raise VocabularyMismatch(
            f"{path} was built with another model: load that model, or build the index again"
        )
    return card


def _index(tensors: Tensors, card: Mapping[str, Any], model: TopicModel) -> DocumentIndex:
    ids, words = _unpacked("ids", tensors), _unpacked("words", tensors)
    table = csr_array(tuple(tensors[f"table.{part}"] for part in _PARTS), (len(words), len(ids)))
    counts = csr_array(tuple(tensors[f"counts.{part}"] for part in _PARTS), (len(ids), len(words)))
    return DocumentIndex(
        model=model,
        ids=ids,
        mixtures=tensors["mixtures"],
        directions=tensors["directions"],
        common=tensors["common"],
        words=WordIndex(words, tensors["telling"], table),
        counts=counts,
        blend=Blend(**card["blend"]),
    )


def _packed(name: str, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.array([len(text) for text in encoded], np.int64)
    return {f"{name}.bytes": np.frombuffer(b"".join(encoded), np.uint8), f"{name}.lengths": lengths}


def _unpacked(name: str, tensors: Tensors) -> tuple[str, ...]:
    joined = tensors[f"{name}.bytes"].tobytes()
    ends = np.cumsum(tensors[f"{name}.lengths"]).tolist()
    starts = [0, *ends[:-1]]
    return tuple(
        joined[start:end].decode("utf-8", "surrogatepass")
        for start, end in zip(starts, ends, strict=True)
    )


def _fingerprint(fitted: FittedTopics) -> str:
    digest = hashlib.sha256(fitted.vectors.content_hash.encode())
    for array in (fitted.topics, fitted.residuals, fitted.alpha):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()

"""Where EM runs stand, written so that a broken-off fit goes on to the same bits.

One safetensors file: for run i the tensors ``i.topics``, ``i.residuals``, ``i.alpha``,
``i.theta``, ``i.curvature``, ``i.iteration`` and ``i.bounds``; the metadata has a fingerprint of
the data and of the settings that the bits depend on.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError, FormatError
from topicvec.files import atomic_write
from topicvec.model.state import TopicState
from topicvec.model.training import Plan, Run

__all__ = ["Saved", "fingerprint", "load_checkpoint", "save_checkpoint"]

Saved = tuple[TopicState, tuple[float, ...]]

_FORMAT = "topicvec-checkpoint"
_VERSION = "1"


def fingerprint(plans: Sequence[Plan]) -> str:
    """Digest what must be the same for a run to go on: documents, vectors, prior, settings.

    Fixed topics are in it. The start is not, so that a fit without a seed can go on too; nor are
    ``max_iter`` and ``tol``, so that a finished fit can be given more.
    """
    digest = hashlib.sha256(plans[0].vectors.content_hash.encode())
    for plan in plans:
        given = (asdict(plan.settings), plan.n_normalizer_words, plan.group, plan.topics.shape)
        digest.update(json.dumps(given, default=_plain).encode())
        arrays = [plan.counts.indptr, plan.counts.indices, plan.counts.data, plan.alpha]
        fixed = None if plan.free is None else plan.topics[~plan.free]
        for array in [*arrays, plan.allowed, plan.free, fixed]:
            if array is not None:
                digest.update(np.ascontiguousarray(array, _wide(array.dtype)).tobytes())
    return digest.hexdigest()


def save_checkpoint(path: str | PathLike[str], mark: str, runs: Sequence[Run]) -> None:
    """Write where runs stand, whole or not at all."""
    from safetensors.numpy import save_file

    tensors = {
        f"{number}.{name}": np.ascontiguousarray(value)
        for number, run in enumerate(runs)
        for name, value in _tensors(run).items()
    }
    metadata = {"format": _FORMAT, "version": _VERSION, "fingerprint": mark}
    with atomic_write(Path(path)) as part:
        save_file(tensors, part, metadata)


def load_checkpoint(path: str | PathLike[str], mark: str, n_runs: int) -> list[Saved] | None:
    """Read where runs stood; None if there is no file yet."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).exists():
        return None
    try:
        with safe_open(path, framework="numpy") as file:
            _check(path, file.metadata() or {}, mark)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return [_saved(tensors, number) for number in range(n_runs)]
    except (SafetensorError, KeyError) as error:
        raise FormatError(
            f"{path}: not a whole checkpoint ({error}): delete it and start again"
        ) from error


def _tensors(run: Run) -> dict[str, NDArray[np.generic]]:
    arrays = {each.name: np.asarray(getattr(run.state, each.name)) for each in fields(TopicState)}
    return arrays | {"bounds": np.asarray(run.bounds, float)}


def _saved(tensors: dict[str, NDArray[np.generic]], number: int) -> Saved:
    values = {each.name: tensors[f"{number}.{each.name}"] for each in fields(TopicState)}
    scalars = {name: values[name].item() for name in ("iteration", "bound")}
    state = TopicState(**{**values, **scalars})
    return state, tuple(tensors[f"{number}.bounds"].tolist())


def _check(path: str | PathLike[str], metadata: dict[str, str], mark: str) -> None:
    if metadata.get("format") != _FORMAT or metadata.get("version") != _VERSION:
        raise FormatError(f"{path}: expected a checkpoint of this version of topicvec: delete it")
    if metadata.get("fingerprint") != mark:
        raise DataError(
            f"the checkpoint {path} belongs to a fit with other documents, vectors or settings: "
            "use the same, delete it, or give another path"
        )


def _plain(number: np.generic) -> object:
    """Give a number of NumPy as Python's, which JSON can hold."""
    value: object = number.item()
    return value


def _wide(dtype: np.dtype[np.generic]) -> str:
    return {"b": "<u1", "i": "<i8", "u": "<i8"}.get(dtype.kind, "<f8")

"""A folder in which a counting run leaves its progress, so that a killed run can go on.

A commit writes new files first and replaces the manifest last, in one step; whatever the
manifest does not name is left over from a killed run and is removed.
"""

import json
import os
import re
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.encode import Mark
from topicvec.embed.spill import RowRange
from topicvec.errors import DataError, FormatError
from topicvec.text import Vocabulary

__all__ = ["Checkpoint", "claim_folder", "load_first_pass", "save_first_pass"]

VERSION = 1
FIELDS = frozenset({"fingerprint", "n_documents", "digest", "n_tokens", "state", "runs", "files"})
OURS = re.compile(r"run-\d+-\d+-[\w-]+\.bin|state-\d+\.npy|(manifest|vocabulary)\.json\.new")
FIRST_PASS = "vocabulary.json"


class Checkpoint:
    """The committed state of a counting run.

    Parameters
    ----------
    folder : Path
    fingerprint : str
        Settings and words; a run with others is refused.
    manifest : dict, optional
        What the last commit wrote.
    """

    def __init__(self, folder: Path, fingerprint: str, manifest: dict[str, Any] | None) -> None:
        self.folder, self.fingerprint, self.manifest = folder, fingerprint, manifest

    @classmethod
    def open(cls, folder: Path, fingerprint: str) -> "Checkpoint":
        """Open a folder, making it if need be; refuse one of another run."""
        claim_folder(folder)
        path = folder / "manifest.json"
        manifest = _read(path) if path.exists() else None
        if manifest is not None and manifest["fingerprint"] != fingerprint:
            raise DataError(
                f"the folder {folder} holds a run with other words, window or tokenizer: "
                "use the same settings, or give another folder"
            )
        checkpoint = cls(folder, fingerprint, manifest)
        checkpoint._sweep()
        return checkpoint

    @property
    def mark(self) -> Mark | None:
        """How far the last commit had read; None before the first."""
        if self.manifest is None:
            return None
        return Mark(self.manifest["n_documents"], self.manifest["digest"])

    @property
    def n_tokens(self) -> int:
        """Tokens counted up to the last commit."""
        return 0 if self.manifest is None else int(self.manifest["n_tokens"])

    def restore(self, unigram: NDArray[np.int64], ranges: Sequence[RowRange]) -> None:
        """Fill unigram counts and row ranges from the last commit, if there is one."""
        if self.manifest is None:
            return
        sizes = self.manifest["files"]
        for name, size in sizes.items():
            path = self.folder / name
            if not path.exists() or path.stat().st_size != size:
                raise FormatError(f"{path} is missing or damaged: empty the folder, start again")
        parts = np.load(self.folder / self.manifest["state"], mmap_mode="r", allow_pickle=False)
        ends = np.cumsum([unigram.size, *(rows.dense.size for rows in ranges)])
        if ends[-1] != parts.size or len(ranges) != len(self.manifest["runs"]):
            raise DataError(
                f"the run in {self.folder} had another memory_budget: use the same, "
                "or give another folder"
            )
        unigram[:] = parts[: ends[0]]
        for rows, end, names in zip(ranges, ends[1:], self.manifest["runs"], strict=True):
            rows.dense[:] = parts[end - rows.dense.size : end]
            rows.files = [self.folder / name for name in names]
            rows.committed = frozenset(rows.files)

    def commit(
        self, mark: Mark, n_tokens: int, unigram: NDArray[np.int64], ranges: Sequence[RowRange]
    ) -> None:
        """Write everything counted so far; atomic: a kill at any time leaves a good commit."""
        for rows in ranges:
            rows.spill(self.folder, f"{mark.n_documents}-commit")
        state = self.folder / f"state-{mark.n_documents}.npy"
        _save(state, np.concatenate([unigram, *(rows.dense for rows in ranges)]))
        paths = [state, *(path for rows in ranges for path in rows.files)]
        self.manifest = {
            "format": "topicvec counting run",
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "n_documents": mark.n_documents,
            "digest": mark.digest,
            "n_tokens": n_tokens,
            "state": state.name,
            "runs": [[path.name for path in rows.files] for rows in ranges],
            "files": {path.name: path.stat().st_size for path in paths},
        }
        _replace(self.folder / "manifest.json", json.dumps(self.manifest))
        for rows in ranges:
            rows.committed = frozenset(rows.files)
        self._sweep()

    def _sweep(self) -> None:
        named = set() if self.manifest is None else set(self.manifest["files"])
        for path in self.folder.iterdir():
            if _ours(path) and path.name not in named:
                path.unlink()


def claim_folder(folder: Path) -> None:
    """Make a folder if need be; refuse one with files that no counting run wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {"manifest.json", FIRST_PASS}
    if (folder / "manifest.json").exists():
        return
    if not all(_ours(path) or path.name in known for path in folder.iterdir()):
        raise DataError(f"the folder {folder} has other files in it: give an empty one")


def save_first_pass(folder: Path, fingerprint: str, vocabulary: Vocabulary, end: Mark) -> None:
    """Keep the vocabulary of a whole corpus, so that a restarted run need not count it again."""
    found = {
        "version": VERSION,
        "fingerprint": fingerprint,
        "n_documents": end.n_documents,
        "digest": end.digest,
        "words": vocabulary.words,
        "counts": vocabulary.counts.tolist(),
    }
    _replace(folder / FIRST_PASS, json.dumps(found))


def load_first_pass(folder: Path, fingerprint: str) -> tuple[Vocabulary, Mark] | None:
    """Give the vocabulary that was kept and where its corpus ends; refuse other settings."""
    path = folder / FIRST_PASS
    if not path.exists():
        return None
    found = _read(path, {"fingerprint", "n_documents", "digest", "words", "counts"})
    if found["fingerprint"] != fingerprint:
        raise DataError(
            f"the folder {folder} holds the words of a run with another min_count, number of "
            "words or tokenizer: use the same settings, or give another folder"
        )
    vocabulary = Vocabulary(tuple(found["words"]), np.array(found["counts"], np.int64))
    return vocabulary, Mark(found["n_documents"], found["digest"])


def _ours(path: Path) -> bool:
    return OURS.fullmatch(path.name) is not None


def _read(path: Path, expected: Set[str] = FIELDS) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text("utf-8"))
        if manifest["version"] != VERSION:
            raise FormatError(f"{path} was written by another version of topicvec")
        if not expected <= set(manifest):
            raise KeyError(*sorted(expected - set(manifest)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(
            f"{path} is damaged: empty the folder and start again ({error})"
        ) from error
    found: dict[str, Any] = manifest
    return found


def _save(path: Path, array: NDArray[Any]) -> None:
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)

"""From what the user named to the files to read, checked before anything is read."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from topicvec.errors import DataError
from topicvec.text.compression import STDIN, printable

__all__ = ["SourceFile", "find_files", "named_paths"]


class SourceFile(NamedTuple):
    """A file to read and the class its folder gives it.

    Examples
    --------
    >>> SourceFile(Path("news/space/60123"), "space").label
    'space'
    """

    path: Path
    label: str | None = None


def named_paths(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the paths that were named, each of them there to be read and none twice.

    Parameters
    ----------
    source : path or iterable of paths
        Files, folders, or ``"-"`` for standard input.

    Returns
    -------
    list of Path
        In the order given.

    Examples
    --------
    >>> [str(path) for path in named_paths("-")]
    ['-']
    >>> named_paths("no/such/file.txt")
    Traceback (most recent call last):
    topicvec.errors.DataError: no such file or folder: no/such/file.txt ...
    """
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    paths = [Path(name) for name in source]
    if not paths:
        raise DataError("expected at least one file or folder to read; found an empty list")
    for path in paths:
        _check(path, alone=len(paths) == 1)
    path, times = Counter(paths).most_common(1)[0]
    if times > 1:
        raise DataError(f"{path} is named {times} times; name each source once, or ids repeat")
    return paths


def find_files(path: Path) -> Iterator[SourceFile]:
    """Walk a file or folder in sorted order; hidden entries are skipped.

    Parameters
    ----------
    path : Path
        A file, standard input, or a folder. In a folder the first sub-folder is the label.

    Yields
    ------
    SourceFile
        One for each regular file.

    Examples
    --------
    >>> import tempfile
    >>> news = Path(tempfile.mkdtemp())
    >>> for name in ("space", "autos"):
    ...     (news / name).mkdir()
    ...     _ = (news / name / "1.txt").write_text("words")
    >>> [(file.path.name, file.label) for file in find_files(news)]
    [('1.txt', 'autos'), ('1.txt', 'space')]
    """
    if not path.is_dir():
        yield SourceFile(path)
        return
    for file in _walk(path, frozenset()):
        parts = file.relative_to(path).parts
        yield SourceFile(file, printable(parts[0]) if len(parts) > 1 else None)


def _check(path: Path, *, alone: bool) -> None:
    if path == STDIN:
        return
    if not path.exists():
        raise DataError(f"no such file or folder: {path} (looked from {Path.cwd()})")
    if path.is_dir():
        if next(find_files(path), None) is None:
            raise DataError(f"{path} is an empty folder; expected at least one file in it")
    elif alone and path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path} is an empty file; expected some text in it")


def _walk(folder: Path, above: frozenset[str]) -> Iterator[Path]:
    here = os.path.realpath(folder)
    if here in above:  # a link to a folder above would repeat its documents for ever
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise DataError(f"cannot list {folder}: {error.strerror}") from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, above | {here})
        elif entry.is_file():
            yield entry

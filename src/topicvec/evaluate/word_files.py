"""Files of word similarity and analogy tests, told apart by their lines."""

import math
from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from topicvec.errors import DataError, FormatError

__all__ = [
    "Pair",
    "Question",
    "WordTests",
    "find_tests",
    "read_pairs",
    "read_questions",
    "unrecognised_tests",
]

Pair = tuple[str, str, float]
Question = tuple[str, str, str, str]

SAMPLE_LINES = 20
SUFFIXES = (".txt", ".tsv", ".csv")


class WordTests(NamedTuple):
    """The files of a folder, by what they are.

    Attributes
    ----------
    similarity, analogy, other : list of Path
        In order of their names.

    Examples
    --------
    >>> WordTests([Path("ws353.txt")], [], []).similarity[0].stem
    'ws353'
    """

    similarity: list[Path]
    analogy: list[Path]
    other: list[Path]


def find_tests(folder: str | PathLike[str]) -> WordTests:
    r"""Tell the word tests of a folder from its other files; hidden ones are skipped.

    Parameters
    ----------
    folder : path

    Returns
    -------
    WordTests

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mini.csv").write_text("Word 1,Word 2,Human (mean)\ncat,dog,9\n")
    >>> [path.name for path in find_tests(folder).similarity]
    ['mini.csv']
    """
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"no such folder: {root}: expected one with word tests")
    tests = WordTests([], [], [])
    for path in sorted(root.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            _list_of(path, tests).append(path)
    return tests


def unrecognised_tests(folder: str | PathLike[str]) -> list[Path]:
    r"""Name the files of a folder that are no word tests, and so are not scored.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of Path
        In order of their names; hidden files and sub-folders are not among them.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mini.txt").write_text("cat dog 9\n")
    >>> _ = (folder / "README.txt").write_text("Where this test comes from.\n")
    >>> [path.name for path in unrecognised_tests(folder)]
    ['README.txt']
    """
    return find_tests(folder).other


def read_pairs(path: Path) -> list[Pair]:
    r"""Read a similarity test: two words and a score on each line, perhaps below a header.

    Parameters
    ----------
    path : Path
        White space, tabs or commas stand between the fields.

    Returns
    -------
    list of (str, str, float)

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mini.csv")
    >>> _ = path.write_text("Word 1,Word 2,Human (mean)\ncat,dog,9\n")
    >>> read_pairs(path)
    [('cat', 'dog', 9.0)]
    """
    lines = list(_lines(path))
    start = 1 if _has_header([fields for _, fields in lines]) else 0
    for number, fields in lines[start:]:
        if not _is_pair(fields):
            raise FormatError(
                f"{path}, line {number}: expected two words and a score, found {fields}"
            )
    return [(fields[0], fields[1], float(fields[2])) for _, fields in lines[start:]]


def read_questions(path: Path) -> list[Question]:
    r"""Read an analogy test: four words on each line, the last being the answer.

    Parameters
    ----------
    path : Path
        Lines that start with a colon are headings.

    Returns
    -------
    list of (str, str, str, str)

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mini.txt")
    >>> _ = path.write_text(": family\nman king woman queen\n")
    >>> read_questions(path)
    [('man', 'king', 'woman', 'queen')]
    """
    questions = []
    for number, fields in _lines(path):
        if len(fields) != 4:
            raise FormatError(f"{path}, line {number}: expected four words, found {fields}")
        questions.append((fields[0], fields[1], fields[2], fields[3]))
    return questions


def _list_of(path: Path, tests: WordTests) -> list[Path]:
    if path.suffix.lower() not in SUFFIXES:
        return tests.other
    sample = [fields for _, fields in islice(_lines(path), SAMPLE_LINES)]
    rows = sample[1:] if _has_header(sample) else sample
    if rows and all(_is_pair(fields) for fields in rows):
        return tests.similarity
    if rows and all(_is_question(fields) for fields in rows):
        return tests.analogy
    return tests.other


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line with its number; comments and headings are left out."""
    if not path.is_file():
        raise DataError(f"no such file: {path}: check the name and the folder")
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                fields = _fields(line)
                if fields and not line.startswith((":", "#")):
                    yield number, fields
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: expected a word test in UTF-8, found byte 0x{error.object[error.start]:02x} "
            f"({error.reason}): save the file as UTF-8, or take it out of the folder"
        ) from error


def _fields(line: str) -> list[str]:
    """Split a line at tabs or commas, if that gives at least three fields, or at white space."""
    for mark in ("\t", ","):
        fields = [field.strip().strip('"') for field in line.split(mark)]
        if len(fields) >= 3:
            return [field for field in fields if field]
    return line.replace(",", " ").split()


def _has_header(rows: list[list[str]]) -> bool:
    """Say whether the first row names three columns, and the second is a scored pair."""
    if len(rows) < 2 or len(rows[0]) != 3:
        return False
    return _number(rows[0][2]) is None and _is_pair(rows[1])


def _is_pair(fields: list[str]) -> bool:
    score = _number(fields[2]) if len(fields) == 3 else None
    return score is not None and math.isfinite(score)


def _is_question(fields: list[str]) -> bool:
    return len(fields) == 4 and not any(" " in field for field in fields)  # prose has commas too


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None

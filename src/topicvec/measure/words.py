"""Word similarity and analogy tests for any word vectors."""

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.nearest import AnalogyMethod, analogy_scores
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, FormatError

__all__ = [
    "AnalogyScore",
    "SimilarityScore",
    "analogies",
    "evaluate_words",
    "unrecognised_tests",
    "word_similarity",
]

Pair = tuple[str, str, float]
Question = tuple[str, str, str, str]
Row = TypeVar("Row", Pair, Question)
Kind = Literal["pairs", "questions", "other"]  # of a file

logger = logging.getLogger(__name__)

BLOCK_WORDS = 4096
BLOCK_QUESTIONS = 256
_SAMPLE_LINES = 20  # that tell what a file is
_SUFFIXES = (".txt", ".tsv", ".csv")


@dataclass(frozen=True)
class SimilarityScore:
    """How well cosines agree with human judgements of similarity.

    Attributes
    ----------
    name : str
        Of the test.
    spearman : float
        Rank correlation over the pairs used; nan if it is not defined.
    n_used : int
        Pairs of which both words have vectors.
    n_total : int
        Pairs of the test.

    Examples
    --------
    >>> SimilarityScore("ws353", 0.7, 340, 353).value
    0.7
    """

    name: str
    spearman: float
    n_used: int
    n_total: int

    @property
    def value(self) -> float:
        """The score as one number."""
        return self.spearman

    def as_dict(self) -> dict[str, str | float | int | None]:
        """Return the record as plain data; a score that is not defined is None, for JSON."""
        return asdict(self) | {"spearman": None if math.isnan(self.spearman) else self.spearman}


@dataclass(frozen=True)
class AnalogyScore:
    """How many analogies are solved.

    Attributes
    ----------
    name : str
        Of the test and the method.
    accuracy : float
        Share of the questions used whose best answer is the right one; nan if none was.
    n_used : int
        Questions of which all four words have vectors.
    n_total : int
        Questions of the test.

    Examples
    --------
    >>> AnalogyScore("google (add)", 0.6, 18_000, 19_544).value
    0.6
    """

    name: str
    accuracy: float
    n_used: int
    n_total: int

    @property
    def value(self) -> float:
        """The score as one number."""
        return self.accuracy

    def as_dict(self) -> dict[str, str | float | int | None]:
        """Return the record as plain data; a score that is not defined is None, for JSON."""
        return asdict(self) | {"accuracy": None if math.isnan(self.accuracy) else self.accuracy}


def word_similarity(
    vectors: WordVectors, pairs: Iterable[Pair] | str | PathLike[str], *, name: str | None = None
) -> SimilarityScore:
    """Compare cosines of word pairs with human scores, by Spearman's rank correlation.

    Parameters
    ----------
    vectors : WordVectors
    pairs : iterable of (str, str, float), or path
        Or a file with two words and a score on each line, between white space, tabs or commas;
        its first line may be a header. Words are lower-cased; pairs with a word that has no
        vector are left out.
    name : str, optional
        Of the test; by default of the file.

    Returns
    -------
    SimilarityScore

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], [[1, 0], [0.8, 0.6], [0, 2]], [2, 1, 1])
    >>> word_similarity(vectors, [("Cat", "dog", 9), ("dog", "car", 5), ("cat", "car", 1)])
    SimilarityScore(name='pairs', spearman=1.0, n_used=3, n_total=3)
    """
    title, rows = _rows(pairs, _read_pairs, name, "pairs")
    lower = [(a.lower(), b.lower(), float(score)) for a, b, score in rows]
    known = [pair for pair in lower if pair[0] in vectors and pair[1] in vectors]
    first = _unit_rows(vectors, [a for a, _, _ in known])
    second = _unit_rows(vectors, [b for _, b, _ in known])
    cosines = np.einsum("ij,ij->i", first, second)
    human = np.array([score for _, _, score in known])
    return SimilarityScore(title, _spearman(cosines, human), len(known), len(rows))


def analogies(
    vectors: WordVectors,
    questions: Iterable[Question] | str | PathLike[str],
    method: AnalogyMethod = "add",
    *,
    name: str | None = None,
) -> AnalogyScore:
    """Answer questions "a is to b as c is to …" and count the right answers.

    Parameters
    ----------
    vectors : WordVectors
        All their words but the three of the question are candidates.
    questions : iterable of (str, str, str, str), or path
        Or a file with four words on each line, the last being the answer; lines that start with
        a colon are headings. Words are lower-cased; questions with a word that has no vector
        are left out; a question that stands there twice counts twice.
    method : {"add", "mul"}
        3CosAdd or 3CosMul, see :func:`topicvec.embed.nearest.analogy_scores`.
    name : str, optional
        Of the test; by default of the file.

    Returns
    -------
    AnalogyScore

    Examples
    --------
    >>> words = ["man", "king", "woman", "queen", "car"]
    >>> matrix = [[1, 0, 1], [1, 1, 1], [1, 0, -1], [1, 1, -1], [-1, 0, 0]]
    >>> vectors = WordVectors(words, matrix, [1] * 5)
    >>> analogies(vectors, [("man", "king", "woman", "queen")], "mul")
    AnalogyScore(name='questions (mul)', accuracy=1.0, n_used=1, n_total=1)
    """
    title, rows = _rows(questions, _read_questions, name, "questions")
    lower = [[word.lower() for word in row] for row in rows]
    known = [row for row in lower if all(word in vectors for word in row)]
    ids = np.array([[vectors.ids[word] for word in row] for row in known], dtype=np.intp)
    answers = _answers(vectors, ids.reshape(-1, 4)[:, :3], method)
    accuracy = float(np.mean(answers == ids[:, 3])) if known else float("nan")
    return AnalogyScore(f"{title} ({method})", accuracy, len(known), len(rows))


def evaluate_words(
    vectors: WordVectors, folder: str | PathLike[str]
) -> list[SimilarityScore | AnalogyScore]:
    r"""Score vectors on every word test of a folder.

    Parameters
    ----------
    vectors : WordVectors
    folder : path
        Its .txt, .tsv and .csv files that start with lines of two words and a number
        (similarity) or of four words (analogies, scored by both methods) are the tests; other
        files are left out with a logged warning, see :func:`unrecognised_tests`.

    Returns
    -------
    list of SimilarityScore and AnalogyScore
        In order of the file names, similarity first.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mini.txt").write_text("cat dog 9\ncat car 1\n")
    >>> vectors = WordVectors(["cat", "dog", "car"], [[1, 0], [0.8, 0.6], [0, 2]], [2, 1, 1])
    >>> [score.name for score in evaluate_words(vectors, folder)]
    ['mini']
    """
    tests = _find_tests(folder)
    if not tests["pairs"] and not tests["questions"]:
        raise DataError(
            f"no word tests in {folder}: expected .txt, .tsv or .csv files with lines of two words "
            "and a score, or of four words"
        )
    if tests["other"]:
        names = ", ".join(path.name for path in tests["other"])
        logger.warning("left out, not recognised as word tests in %s: %s", folder, names)
    methods: tuple[AnalogyMethod, ...] = ("add", "mul")
    return [
        *(word_similarity(vectors, path) for path in tests["pairs"]),
        *(analogies(vectors, path, method) for path in tests["questions"] for method in methods),
    ]


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
    return _find_tests(folder)["other"]


def _unit_rows(vectors: WordVectors, words: list[str]) -> NDArray[np.float64]:
    rows = vectors.matrix[[vectors.ids[word] for word in words]].astype(np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return unit


def _spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Pearson's correlation of the ranks; nan where one side is constant."""
    if len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
        return float("nan")
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank values from 1; equal ones share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean_ranks = np.cumsum(counts) - (counts - 1) / 2
    ranks: NDArray[np.float64] = mean_ranks[inverse]
    return ranks


def _answers(
    vectors: WordVectors, questions: NDArray[np.intp], method: AnalogyMethod
) -> NDArray[np.intp]:
    """Return the best candidate for each question, in blocks of words and of questions."""
    unit = vectors.normalized().matrix
    asked, places = np.unique(questions, return_inverse=True)
    places = places.reshape(questions.shape)
    best_scores = np.full(len(questions), -np.inf, dtype=np.float32)
    best_words = np.full(len(questions), -1, dtype=np.intp)
    for start in range(0, len(unit), BLOCK_WORDS):
        cosines = unit[asked] @ unit[start : start + BLOCK_WORDS].T  # asked words × candidates
        for first in range(0, len(questions), BLOCK_QUESTIONS):
            block = slice(first, first + BLOCK_QUESTIONS)
            a, b, c = places[block].T
            scores = analogy_scores(cosines[a], cosines[b], cosines[c], method)
            _exclude(scores, questions[block] - start)
            found = scores.argmax(axis=1)
            highest = scores[np.arange(len(found)), found]
            better = highest > best_scores[block]
            best_scores[block] = np.where(better, highest, best_scores[block])
            best_words[block] = np.where(better, found + start, best_words[block])
    return best_words


def _exclude(scores: NDArray[np.floating], columns: NDArray[np.intp]) -> None:
    """Put minus infinity where a question's own words stand; columns may be out of range."""
    rows, _ = inside = np.nonzero((columns >= 0) & (columns < scores.shape[1]))
    scores[rows, columns[inside]] = -np.inf


def _rows(
    source: Iterable[Row] | str | PathLike[str],
    read: Callable[[Path], list[Row]],
    name: str | None,
    default: str,
) -> tuple[str, list[Row]]:
    """Return a test's name and rows, from a file or as they are given."""
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        return name or path.stem, read(path)
    return name or default, list(source)


def _read_pairs(path: Path) -> list[Pair]:
    """Read a similarity test: two words and a score on each line, perhaps below a header."""
    lines = list(_lines(path))
    start = 1 if _has_header([fields for _, fields in lines]) else 0
    for number, fields in lines[start:]:
        if not _is_pair(fields):
            raise FormatError(
                f"{path}, line {number}: expected two words and a score, found {fields}"
            )
    return [(fields[0], fields[1], float(fields[2])) for _, fields in lines[start:]]


def _read_questions(path: Path) -> list[Question]:
    """Read an analogy test: four words on each line, the last being the answer."""
    questions = []
    for number, fields in _lines(path):
        if len(fields) != 4:
            raise FormatError(f"{path}, line {number}: expected four words, found {fields}")
        questions.append((fields[0], fields[1], fields[2], fields[3]))
    return questions


def _find_tests(folder: str | PathLike[str]) -> dict[Kind, list[Path]]:
    """Tell the word tests of a folder from its other files, in order; hidden ones are skipped."""
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"no such folder: {root}: expected one with word tests")
    tests: dict[Kind, list[Path]] = {kind: [] for kind in get_args(Kind)}
    for path in sorted(root.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            tests[_kind(path)].append(path)
    return tests


def _kind(path: Path) -> Kind:
    if path.suffix.lower() not in _SUFFIXES:
        return "other"
    sample = [fields for _, fields in islice(_lines(path), _SAMPLE_LINES)]
    rows = sample[1:] if _has_header(sample) else sample
    if rows and all(map(_is_pair, rows)):
        return "pairs"
    return "questions" if rows and all(map(_is_question, rows)) else "other"


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

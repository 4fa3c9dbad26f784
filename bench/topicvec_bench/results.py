"""Rows of the paper's table as we measured them, in a file that a broken run goes on from."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from topicvec.errors import DataError, FormatError
from topicvec_bench.classify import Classification, Protocol
from topicvec_bench.registry import METHODS

_TOLD = ("form", "n_features", "f1", "f1_stronger")  # of a row's scores, for whoever reads the file

__all__ = [
    "LEAST_SEEDS",
    "PAPER",
    "PaperScore",
    "Results",
    "Row",
    "Spread",
    "Summary",
    "check_again",
    "summarize",
]

LEAST_SEEDS = 3  # for a spread


class PaperScore(NamedTuple):
    """Macro precision, recall and F1 in percent, of one run.

    Examples
    --------
    >>> PAPER["20news"]["TopicVec"].f1
    71.2
    """

    precision: float
    recall: float
    f1: float


PAPER: Mapping[str, Mapping[str, PaperScore]] = {
    "20news": {
        "BOW": PaperScore(69.1, 68.5, 68.6),
        "LDA": PaperScore(61.9, 61.4, 60.3),
        "sLDA": PaperScore(61.4, 60.9, 60.9),
        "LFTM": PaperScore(63.5, 64.8, 63.7),
        "MeanWV": PaperScore(70.4, 70.3, 70.1),
        "Doc2Vec": PaperScore(56.3, 56.6, 55.4),
        "TWE": PaperScore(69.5, 69.3, 68.8),
        "GaussianLDA": PaperScore(30.9, 26.5, 22.7),
        "TopicVec": PaperScore(71.3, 71.3, 71.2),
        "TV+MeanWV": PaperScore(71.8, 71.5, 71.6),
    },
    "reuters": {
        "BOW": PaperScore(92.5, 90.3, 91.1),
        "LDA": PaperScore(76.1, 74.3, 74.8),
        "sLDA": PaperScore(88.3, 83.3, 85.1),
        "LFTM": PaperScore(84.6, 86.3, 84.9),
        "MeanWV": PaperScore(92.0, 89.6, 90.5),
        "Doc2Vec": PaperScore(84.4, 50.0, 58.5),
        "TWE": PaperScore(91.0, 89.1, 89.9),
        "GaussianLDA": PaperScore(46.2, 31.5, 35.3),
        "TopicVec": PaperScore(92.5, 92.1, 92.2),
        "TV+MeanWV": PaperScore(92.2, 91.6, 91.6),
    },
}


@dataclass(frozen=True)
class Row:
    """What one method did on one corpus with one seed.

    Attributes
    ----------
    corpus, method, seed : str, str, int
        Who ran on what.
    vectors : str
        Start of the content hash of the word vectors, whose words all methods share; with "+2"
        behind if words that the training documents have twice were added.
    settings : dict
        All parameters of the method but its seed.
    n_train, n_test : int
        Number of documents.
    seconds : float
        To learn the features and describe all documents, without the classifiers.
    scores : dict of str to Classification
        For each protocol.
    skipped : str
        Why there are no scores; empty if there are.

    Examples
    --------
    >>> Row("20news", "BOW", 0, "8f2c").is_done
    False
    """

    corpus: str
    method: str
    seed: int
    vectors: str
    settings: dict[str, Any] = field(default_factory=dict)
    n_train: int = 0
    n_test: int = 0
    seconds: float = 0.0
    scores: dict[Protocol, Classification] = field(default_factory=dict)
    skipped: str = ""

    @property
    def is_done(self) -> bool:
        """Whether there are scores."""
        return bool(self.scores)

    def is_of(self, other: "Row") -> bool:
        """Tell whether both rows are of the same run: nothing but what was measured differs."""
        return self._bare() == other._bare()

    def _bare(self) -> "Row":
        return Row(self.corpus, self.method, self.seed, self.vectors, self.settings)

    @property
    def form(self) -> str:
        """What stands for a document, see `topicvec_bench.methods.Method`."""
        return str(self.settings.get("form") or METHODS[self.method].form)

    def as_dict(self) -> dict[str, Any]:
        """Give the row as plain data, its main figures beside all of them.

        Examples
        --------
        >>> Row("20news", "TopicVec", 0, "8f2c", {"form": "proportions"}).as_dict()["form"]
        'proportions'
        """
        paper, strong = self.scores.get("paper"), self.scores.get("strong")
        return {
            **asdict(self),
            "form": self.form,
            "n_features": paper.n_features if paper else 0,
            "f1": paper.f1 if paper else None,
            "f1_stronger": strong.f1 if strong else None,
        }

    @classmethod
    def of_dict(cls, values: dict[str, Any]) -> Self:
        """Read what `as_dict` made."""
        values = {name: value for name, value in values.items() if name not in _TOLD}
        scores = {name: Classification(**each) for name, each in values["scores"].items()}
        if scores and not all(np.isfinite(each.f1) for each in scores.values()):
            raise ValueError(f"a score of {values['method']} is no number")
        if scores and "paper" not in scores:
            raise ValueError(f"{values['method']} has no score by the paper's protocol")
        return cls(**{**values, "scores": scores})


@dataclass(frozen=True)
class Results:
    """Rows, and the file they are kept in.

    Parameters
    ----------
    path : Path or None
        The file; None keeps nothing.
    rows : tuple of Row
        All rows in it.

    Examples
    --------
    >>> results = Results(None).with_row(Row("20news", "BOW", 0, "8f2c"))
    >>> len(results.rows), results.find(Row("20news", "BOW", 0, "8f2c"))
    (1, None)
    """

    path: Path | None
    rows: tuple[Row, ...] = ()

    @classmethod
    def read(cls, path: str | PathLike[str] | None) -> Self:
        """Read a file; one that is not there yet has no rows."""
        if path is None:
            return cls(None)
        file = Path(path)
        if not file.parent.is_dir():
            raise DataError(f"cannot write {file}: there is no folder {file.parent}")
        if not file.exists():
            return cls(file)
        try:
            saved = json.loads(file.read_text(encoding="utf-8"))
            return cls(file, tuple(Row.of_dict(each) for each in saved["rows"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FormatError(
                f"{path} does not hold results of table 2 ({error}): "
                "name another file or remove this one"
            ) from error

    def find(self, wanted: Row) -> Row | None:
        """Return the finished row of the same run, if there is one."""
        return next((row for row in self.rows if row.is_done and row.is_of(wanted)), None)

    def with_row(self, row: Row) -> Self:
        """Return results with one row more, which replaces an older one, and write them."""
        key = (row.corpus, row.method, row.seed)
        others = [each for each in self.rows if (each.corpus, each.method, each.seed) != key]
        results = replace(self, rows=(*others, row))
        results._write()
        return results

    def _write(self) -> None:
        if self.path is None:
            return
        text = json.dumps({"rows": [row.as_dict() for row in self.rows]}, indent=2, allow_nan=False)
        part = self.path.with_name(f"{self.path.name}.part")  # so that a broken run leaves no half
        part.write_text(f"{text}\n", encoding="utf-8")
        part.replace(self.path)


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation over seeds; that of two would say nothing.

    Examples
    --------
    >>> str(Spread.of([70.0, 71.0, 72.0])), str(Spread.of([70.0]))
    ('71.0 ± 1.0', '70.0')
    """

    mean: float
    deviation: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Summarise values."""
        found = np.array(list(values), dtype=float)
        deviation = float(found.std(ddof=1)) if len(found) >= LEAST_SEEDS else 0.0
        return cls(float(found.mean()), deviation, len(found))

    def __str__(self) -> str:
        spread = f" ± {self.deviation:.1f}" if self.n >= LEAST_SEEDS else ""
        return f"{self.mean:.1f}{spread}"


@dataclass(frozen=True)
class Summary:
    """What one method did on one corpus, over all its seeds.

    Attributes
    ----------
    corpus, method : str, str
        Who ran on what.
    n_features : int
        Number of features.
    precision, recall, f1 : Spread
        By the paper's protocol, in percent.
    strong_f1 : Spread
        By the stronger protocol; None for neighbours, which have no classifier.
    seconds : float
        Mean time to learn and describe.
    paper_f1 : float, optional
        What the paper has.
    skipped : str
        Why there are no scores.
    """

    corpus: str
    method: str
    n_features: int = 0
    precision: Spread | None = None
    recall: Spread | None = None
    f1: Spread | None = None
    strong_f1: Spread | None = None
    seconds: float = 0.0
    paper_f1: float | None = None
    skipped: str = ""


def summarize(rows: Sequence[Row], methods: Iterable[str]) -> list[Summary]:
    """Put the seeds of each corpus and method together, in the order of the methods.

    Examples
    --------
    >>> rows = [Row("20news", "BERTopic", 0, "8f2c", skipped="no PyTorch")]
    >>> [summary.skipped for summary in summarize(rows, ["BOW", "BERTopic"])]
    ['no PyTorch']
    """
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    groups = (
        [row for row in rows if (row.corpus, row.method) == (corpus, method)]
        for corpus in corpora
        for method in methods
    )
    return [_summary(group) for group in groups if group]


def _summary(rows: list[Row]) -> Summary:
    corpus, method = rows[0].corpus, rows[0].method
    paper = PAPER.get(corpus, {}).get(method)
    done = [row for row in rows if row.is_done]
    if not done:
        f1 = paper.f1 if paper else None
        return Summary(corpus, method, paper_f1=f1, skipped=rows[0].skipped)
    own = [row.scores["paper"] for row in done]
    strong = [row.scores["strong"].f1 for row in done if "strong" in row.scores]
    return Summary(
        corpus,
        method,
        n_features=max(score.n_features for score in own),
        precision=Spread.of(score.precision for score in own),
        recall=Spread.of(score.recall for score in own),
        f1=Spread.of(score.f1 for score in own),
        strong_f1=Spread.of(strong) if strong else None,
        seconds=float(np.mean([row.seconds for row in done])),
        paper_f1=paper.f1 if paper else None,
    )


def check_again(results: Results, rows: Iterable[Row]) -> None:
    """Refuse rows that were run again with other scores than the file has, to the last digit.

    Examples
    --------
    >>> check_again(Results(None), [Row("20news", "BOW", 0, "8f2c")])
    Traceback (most recent call last):
    topicvec.errors.DataError: not as in the file: 20news BOW seed 0 (the file has no such row)
    """
    told = []
    for row in rows:
        before = results.find(row)
        if before is None:
            told.append(f"{_name(row)} (the file has no such row)")
        elif _digits(before) != _digits(row):
            told.append(f"{_name(row)} ({_digits(before)} in the file, now {_digits(row)})")
    if told:
        raise DataError("not as in the file: " + "; ".join(told))


def _name(row: Row) -> str:
    return f"{row.corpus} {row.method} seed {row.seed}"


def _digits(row: Row) -> dict[str, tuple[float, ...]]:
    """Give all that a classifier or voters reached; only seconds may differ."""
    return {
        name: (score.f1, score.precision, score.recall, score.accuracy)
        for name, score in row.scores.items()
    }

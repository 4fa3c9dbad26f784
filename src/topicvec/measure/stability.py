"""How alike the topics are that a model finds from different seeds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from topicvec.checks import check_choice
from topicvec.errors import DataError
from topicvec.measure.diversity import rank_biased_overlap

__all__ = ["Likeness", "StabilityScore", "match_topics", "topic_stability"]

Likeness = Literal["cosine", "jaccard", "rbo"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StabilityScore:
    """How alike runs are.

    Attributes
    ----------
    value : float
        Mean likeness of matched topics over all pairs of runs; 1 for equal runs.
    pairs : tuple of float
        Mean likeness for each pair of runs, (0, 1), (0, 2), …, (1, 2), ….
    by : {"cosine", "jaccard", "rbo"}
        How topics were compared.

    Examples
    --------
    >>> StabilityScore(0.8, (0.8,), "cosine").value
    0.8
    """

    value: float
    pairs: tuple[float, ...]
    by: str

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)


def topic_stability(
    runs: Sequence[ArrayLike] | Sequence[Sequence[Sequence[str]]], *, by: Likeness = "cosine"
) -> StabilityScore:
    """Match the topics of each two runs and say how alike they are.

    Parameters
    ----------
    runs : sequence of at least two runs
        Of each run its topic vectors (K, N) for "cosine" (leave out the null topic), or the
        lists of its topics' words for the others.
    by : {"cosine", "jaccard", "rbo"}
        Cosine of topic vectors, share of common words, or `rank_biased_overlap` of the lists.

    Returns
    -------
    StabilityScore

    Examples
    --------
    >>> runs = [[["cat", "dog"], ["car", "bus"]], [["bus", "car"], ["cat", "cow"]]]
    >>> topic_stability(runs, by="jaccard")
    StabilityScore(value=0.666..., pairs=(0.666...,), by='jaccard')
    """
    if not hasattr(runs, "__len__") or any(hasattr(run, "topics_") for run in runs):
        raise DataError(
            "expected a list of runs, their topic vectors; found a model: give "
            "[model.topic_vectors_[1:], other.topic_vectors_[1:]]"
        )
    if len(runs) < 2:
        raise DataError(f"expected at least two runs to compare; found {len(runs)}")
    pairs = tuple(
        float(np.mean([like for _, _, like in match_topics(a, b, by=by)]))
        for a, b in combinations(runs, 2)
    )
    return StabilityScore(float(np.mean(pairs)), pairs, by)


def match_topics(
    first: Any, second: Any, *, by: Likeness = "cosine"
) -> list[tuple[int, int, float]]:
    """Pair the topics of two runs one to one so that they are as alike as possible in total.

    Parameters
    ----------
    first, second : arrays (K, N), or lists of topics' words
        As in `topic_stability`. If one has more topics, some of them stay alone.
    by : {"cosine", "jaccard", "rbo"}
        How topics are compared.

    Returns
    -------
    list of (int, int, float)
        Rows in the first and the second run, and how alike they are.

    Examples
    --------
    >>> match_topics([[1, 0], [0, 1]], [[0, 2], [3, 0]])
    [(0, 1, 1.0), (1, 0, 1.0)]
    """
    check_choice("by", by, *get_args(Likeness))
    table = _cosines(first, second) if by == "cosine" else _word_likeness(first, second, by)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return [(int(i), int(j), float(table[i, j])) for i, j in zip(rows, columns, strict=True)]


def _cosines(first: ArrayLike, second: ArrayLike) -> Floats:
    try:
        one, other = np.asarray(first, float), np.asarray(second, float)
    except (TypeError, ValueError) as error:
        raise DataError(
            'by="cosine" needs topic vectors (K, N) of numbers; found something else: for lists of '
            'words give by="jaccard" or by="rbo"'
        ) from error
    if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1]:
        raise DataError(
            "expected topic vectors (K, N) with the same N; "
            f"found the shapes {one.shape} and {other.shape}"
        )
    table: Floats = _unit(one) @ _unit(other).T
    return table


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


def _word_likeness(
    first: Sequence[Sequence[str]], second: Sequence[Sequence[str]], by: Likeness
) -> Floats:
    if not (len(first) and len(second)):
        raise DataError("expected runs with at least one topic; one of them has none")
    like = _jaccard if by == "jaccard" else rank_biased_overlap
    return np.array([[like(a, b) for b in second] for a in first])


def _jaccard(first: Sequence[str], second: Sequence[str]) -> float:
    union = {*first, *second}
    return len({*first} & {*second}) / len(union) if union else 1.0

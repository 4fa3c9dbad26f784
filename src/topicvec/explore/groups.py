"""Mean mixtures of groups of documents: by class, or by time."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["Mixtures", "class_mixtures", "parse_time", "time_mixtures"]

Floats = NDArray[np.floating]

_YEAR = 365.2425  # days


@dataclass(frozen=True)
class Mixtures:
    """Mean topic proportions of groups of documents.

    Attributes
    ----------
    names : tuple of str
        One for each group.
    proportions : array, (groups, K)
        Rows sum to 1, or are zero for a group without documents.
    n_documents : array, (groups,)
        How many documents each has.
    edges : array, (groups + 1,)
        Where the groups begin and end in time; empty for classes.
    """

    names: tuple[str, ...]
    proportions: Floats
    n_documents: NDArray[np.integer]
    edges: Floats


def class_mixtures(
    model: "TopicVec", texts: Iterable[str | Document], labels: Sequence[str] | None = None
) -> Mixtures:
    """Give the mean mixture of each class.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents.
    labels : sequence of str, optional
        Their classes; by default the documents' own.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> class_mixtures(model, ["cat", "car", "dog"], ["pet", "toy", "pet"]).names
    ('pet', 'toy')
    """
    texts = list(texts)
    given = _given(texts, labels, "label")
    names, groups = np.unique(np.asarray(given, str), return_inverse=True)
    counts = np.bincount(groups, minlength=len(names))
    means = _means(model.transform(texts), groups, len(names))
    return Mixtures(tuple(names.tolist()), means, counts, np.zeros(0))


def time_mixtures(
    model: "TopicVec",
    texts: Iterable[str | Document],
    times: Sequence[str] | None = None,
    *,
    n_bins: int | None = None,
) -> Mixtures:
    """Give the mean mixture of each of some equal spans of time.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents.
    times : sequence of str, optional
        Their times; by default the documents' own. Years, ISO dates or plain numbers.
    n_bins : int, optional
        Number of spans; by default 6 to 24, with about 20 documents each.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> time_mixtures(model, ["cat", "car"], ["2001", "2003"], n_bins=3).n_documents.tolist()
    [1, 0, 1]
    """
    if n_bins is not None and n_bins < 1:
        raise DataError(f"n_bins must be at least 1; found {n_bins}")
    texts = list(texts)
    moments = np.array([parse_time(time) for time in _given(texts, times, "time")])
    n_bins = int(n_bins or np.clip(len(texts) // 20, 6, 24))
    low, high = moments.min(), moments.max()
    edges = np.linspace(low, high if high > low else low + 1, n_bins + 1)
    groups = np.clip(np.searchsorted(edges, moments, "right") - 1, 0, n_bins - 1)
    means = _means(model.transform(texts), groups, n_bins)
    names = tuple(f"{edge:.2f}" for edge in edges[:-1])
    return Mixtures(names, means, np.bincount(groups, minlength=n_bins), edges)


def parse_time(time: str) -> float:
    """Read a year, an ISO date or a number; dates become years with a fraction.

    Examples
    --------
    >>> parse_time("2019"), parse_time("2019-07-02"), parse_time("1.5")
    (2019.0, 2019.498..., 1.5)
    """
    try:
        if re.fullmatch(r"\d{4}-\d{2}", time.strip()):
            time = f"{time.strip()}-01"
        if re.fullmatch(r"[-+]?\d+(\.\d*)?", time.strip()):
            return float(time)
        moment = datetime.fromisoformat(time.strip())
    except ValueError as error:
        raise DataError(
            f"expected a year, an ISO date such as 2019-07-02 or a number, found {time!r}"
        ) from error
    seconds = 3600 * moment.hour + 60 * moment.minute + moment.second
    return moment.year + (moment.timetuple().tm_yday - 1 + seconds / 86400) / _YEAR


def _given(texts: Sequence[str | Document], given: Sequence[str] | None, name: str) -> list[str]:
    """Take what is given for each document, or what the documents have."""
    own = [getattr(text, name, None) for text in texts]
    values = own if given is None else list(given)
    missing = sum(value is None for value in values)
    if not texts or missing or len(values) != len(texts):
        raise DataError(
            f"expected a {name} for each document, found {len(values) - missing} for {len(texts)} "
            f"documents: give {name}s, or documents that have them"
        )
    return [str(value) for value in values]


def _means(mixtures: Floats, groups: NDArray[np.integer], n_groups: int) -> Floats:
    sums = np.zeros((n_groups, mixtures.shape[1]))
    np.add.at(sums, groups, mixtures)
    counts = np.bincount(groups, minlength=n_groups)
    means: Floats = sums / np.maximum(counts, 1)[:, None]
    return means

"""Where topics start and which of them are held: seed words, fixed topics, given topics."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, OutOfVocabularyWarning, VocabularyMismatch
from topicvec.model.fitted import FittedTopics
from topicvec.model.start import START_NORM

__all__ = ["Guide", "given_topics", "guide", "hold", "seeded_topics"]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Seeds = Mapping[str, Sequence[str]] | Sequence[Sequence[str]]

_HOLD = 0.1  # of an average topic's tokens: seed words weigh as much


@dataclass(frozen=True, eq=False)
class Guide:
    """What the user wants of the first topics after the null topic.

    Parameters
    ----------
    fixed : array, (F, N)
        Topics 1 to F, which stay as they are.
    seeds : tuple of arrays
        Vector rows of the seed words of the topics after them.
    labels : tuple of str or None
        Names of both.

    Examples
    --------
    >>> Guide(np.zeros((1, 5)), (np.array([3, 4]),), ("old", "new")).n_topics
    2
    """

    fixed: Floats
    seeds: tuple[NDArray[np.intp], ...]
    labels: tuple[str | None, ...]

    @property
    def n_topics(self) -> int:
        """Number of guided topics."""
        return len(self.fixed) + len(self.seeds)

    def free(self, n_topics: int) -> Bools | None:
        """Mark the topics (K,) that may move."""
        return np.arange(n_topics) > len(self.fixed) if len(self.fixed) else None

    def all_labels(self, n_topics: int) -> tuple[str | None, ...]:
        """Name all topics, the null topic and the free ones by None."""
        return (None, *self.labels, *(None,) * (n_topics - 1 - self.n_topics))


def guide(vectors: WordVectors, seed_words: Seeds | None, fixed_topics: Any) -> Guide:
    """Resolve what the user gave.

    Parameters
    ----------
    vectors : WordVectors
        The words that seeds are looked up in.
    seed_words : mapping of str to words, or sequence of lists of words, optional
        Words of some topics, with names if it is a mapping.
    fixed_topics : FittedTopics, TopicVec or array, (F, N), optional
        Topics to keep.

    Returns
    -------
    Guide

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    >>> guide(vectors, {"pets": ["cat", "dog"]}, None).seeds
    (array([0, 1]),)
    """
    fixed, labels = _fixed(vectors, fixed_topics)
    names, seeds = _seeds(vectors, seed_words or {})
    return Guide(fixed, seeds, labels + names)


def given_topics(vectors: WordVectors, given: Any) -> tuple[Floats, tuple[str | None, ...]]:
    """Take topics (K, N) and their labels from a fitted model or an array.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog"], np.eye(2), [1, 1])
    >>> given_topics(vectors, [[0, 0, 1]])
    Traceback (most recent call last):
    topicvec.errors.DataError: topics must be finite rows of 2 numbers; found shape (1, 3)
    """
    fitted = getattr(given, "fitted_", given)
    if isinstance(fitted, FittedTopics):
        if fitted.vectors is not vectors and fitted.vectors != vectors:
            raise VocabularyMismatch(
                f"the given topics live among {fitted.vectors!r}, this model uses other vectors "
                f"({vectors!r}): give vectors=model.vectors_ of the earlier model"
            )
        return fitted.topics, fitted.labels
    topics = np.asarray(given, np.float32)
    if topics.ndim != 2 or topics.shape[1] != vectors.n_dims or not np.isfinite(topics).all():
        raise DataError(
            f"topics must be finite rows of {vectors.n_dims} numbers; found shape {topics.shape}"
        )
    return topics, (None,) * len(topics)


def seeded_topics(
    vectors: WordVectors, seeds: Sequence[NDArray[np.intp]], max_norm: float
) -> Floats:
    """Point topics (S, N) at the mean of their seed words, seen from the mean of all words."""
    topics = np.zeros((len(seeds), vectors.n_dims), np.float32)
    if not seeds:
        return topics  # the mean of all words takes a while
    centre = vectors.mean
    for topic, rows in enumerate(seeds):
        mean = vectors.matrix[rows].mean(axis=0) - centre
        topics[topic] = START_NORM * max_norm * mean / max(float(np.linalg.norm(mean)), 1e-12)
    return topics


def hold(
    counts: csr_array, allowed: Bools | None, plan: Guide, n_topics: int
) -> tuple[csr_array, Bools | None]:
    """Add for each seeded topic a document of its seed words that may use no other topic.

    These documents pull the topic towards its words as much as a tenth of an average topic's
    tokens would, and need nothing new in the equations: the bound still never falls.

    Parameters
    ----------
    counts : csr_array, (D, W)
        The user's documents.
    allowed : array, (D, K), optional
        Topics that each document may use.
    plan : Guide
        The seeds.
    n_topics : int
        K.

    Returns
    -------
    tuple of csr_array and array
        Both with the new rows at the end.
    """
    if not plan.seeds:
        return counts, allowed
    weight = _HOLD * counts.sum() / n_topics
    n_documents, n_words = counts.shape
    rows = np.concatenate(plan.seeds)
    lengths = np.array([len(seed) for seed in plan.seeds])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    held = csr_array((weight / np.repeat(lengths, lengths), rows, indptr), (len(lengths), n_words))
    own = np.zeros((len(lengths), n_topics), bool)
    own[np.arange(len(lengths)), 1 + len(plan.fixed) + np.arange(len(lengths))] = True
    theirs = np.ones((n_documents, n_topics), bool) if allowed is None else allowed
    return csr_array(vstack([counts, held], format="csr")), np.concatenate([theirs, own])


def _fixed(vectors: WordVectors, given: Any) -> tuple[Floats, tuple[str | None, ...]]:
    if given is None:
        return np.zeros((0, vectors.n_dims), np.float32), ()
    topics, labels = given_topics(vectors, given)
    kept = np.flatnonzero(topics.any(axis=1))  # the null topic is there already
    return topics[kept], tuple(labels[topic] for topic in kept)


def _seeds(
    vectors: WordVectors, given: Seeds
) -> tuple[tuple[str | None, ...], tuple[NDArray[np.intp], ...]]:
    if isinstance(given, Mapping):
        return tuple(given), tuple(_rows(vectors, words) for words in given.values())
    return (None,) * len(given), tuple(_rows(vectors, words) for words in given)


def _rows(vectors: WordVectors, words: Sequence[str]) -> NDArray[np.intp]:
    if isinstance(words, str):
        raise DataError(f"the seed words of a topic must be a list of words; found {words!r}")
    unknown = [word for word in words if word not in vectors]
    if len(unknown) == len(words):
        raise DataError(f"a seeded topic needs a word with a vector; found {list(words)}")
    if unknown:
        message = f"seed words without a vector are left out: {', '.join(unknown)}"
        warnings.warn(message, OutOfVocabularyWarning, stacklevel=5)
    return np.unique([vectors.ids[word] for word in words if word in vectors])

"""What a fit leaves behind: the one record that reading, operations and saving work on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.model import equations
from topicvec.model.state import Record

if TYPE_CHECKING:
    from topicvec.embed.vectors import WordVectors

__all__ = ["FittedTopics", "Representatives", "Setting", "empty_table", "topic_residuals"]

Floats = NDArray[np.floating]
Setting = str | int | float | bool | None | list["Setting"] | Mapping[str, "Setting"]
Representatives = tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class FittedTopics(Record):
    """Topics with everything that is known of them; arrays are read-only.

    Parameters
    ----------
    vectors : WordVectors
        The W word vectors of N dimensions that the topics live among.
    topics : array, (K, N), float32
        Topic vectors; row 0 is the null topic, all zero.
    residuals : array, (K,), float64
        Topic residuals; 0 for the null topic.
    alpha : array, (K,), float64
        Prior of the documents' mixtures.
    mass : array, (K,), float64
        Expected number of training tokens of each topic.
    word_counts : array, (W,), float64
        How often the training documents have each word.
    word_mass : csr_array, (W, K), float32
        Expected number of training tokens of each word in each topic; entries below a small
        threshold are left out.
    word_documents : array, (W,), float64
        How many training documents have each word.
    document_mass : csr_array, (W, K), float32
        Sum of the proportions of each topic in the documents that have each word, where the word
        has mass in the topic.
    labels : tuple of str or None
        Names that the user gave to topics.
    classes : tuple of str or None
        The class that each topic was learned for; None for a shared topic.
    representative : tuple of tuples of (int, float)
        For each topic the rows of the training documents with the largest proportions of it,
        and these proportions, largest first.
    max_norm : float
        Radius of the ball that holds the topics.
    n_documents : int
        Number of training documents.
    pseudo : array, (K,), float64
        How many tokens a topic's vector is worth beside ``word_mass``, from which it has words
        of its own; infinite for one that has none.
    settings : Mapping
        How the topics were learned; can be written as JSON.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec.embed.vectors import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], np.eye(2, dtype=np.float32), np.array([0.5, 0.5]))
    >>> fitted = FittedTopics.bare(vectors, np.array([[0, 0], [1, 0]], np.float32), max_norm=7.0)
    >>> fitted.n_topics, fitted.labels
    (2, (None, None))
    """

    vectors: "WordVectors"
    topics: Floats
    residuals: Floats
    alpha: Floats
    mass: Floats
    word_counts: Floats
    word_mass: csr_array
    word_documents: Floats
    document_mass: csr_array
    labels: tuple[str | None, ...]
    classes: tuple[str | None, ...]
    representative: tuple[Representatives, ...]
    max_norm: float
    n_documents: int
    pseudo: Floats
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for table in (self.word_mass, self.document_mass):
            for part in (table.data, table.indices, table.indptr):
                part.flags.writeable = False
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing in it ever changes

    def __reduce__(self) -> tuple[Any, ...]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["settings"] = dict(self.settings)  # a mapping proxy does not pickle
        return FittedTopics, tuple(values.values())

    @property
    def n_topics(self) -> int:
        """K, the null topic included."""
        return len(self.topics)

    @cached_property
    def word_totals(self) -> Floats:
        """Sums of ``word_mass`` over the words (K,)."""
        totals = np.asarray(self.word_mass.sum(axis=0, dtype=float))
        totals.setflags(write=False)
        return totals

    @classmethod
    def bare(
        cls, vectors: "WordVectors", topics: Floats, *, max_norm: float, alpha: float = 0.1
    ) -> "FittedTopics":
        """Make a record of topics that have seen no document.

        Parameters
        ----------
        vectors : WordVectors
            The word vectors.
        topics : array, (K, N)
            Topic vectors; row 0 must be zero.
        max_norm : float
            Radius of the ball that holds the topics.
        alpha : float
            Prior of each topic.

        Returns
        -------
        FittedTopics
            With the right residuals and no mass.
        """
        n_topics, n_words = len(topics), len(vectors.words)
        none = (None,) * n_topics
        return cls(
            vectors=vectors,
            topics=np.asarray(topics, np.float32),
            residuals=topic_residuals(vectors, np.asarray(topics)),
            alpha=np.full(n_topics, alpha),
            mass=np.zeros(n_topics),
            word_counts=np.zeros(n_words),
            word_mass=empty_table(n_words, n_topics),
            word_documents=np.zeros(n_words),
            document_mass=empty_table(n_words, n_topics),
            labels=none,
            classes=none,
            representative=((),) * n_topics,
            max_norm=max_norm,
            n_documents=0,
            pseudo=np.full(n_topics, np.inf),
        )


def empty_table(n_words: int, n_topics: int) -> csr_array:
    """Make a table of masses (W, K) without an entry."""
    nothing = np.zeros(0, np.int32)
    indptr = np.zeros(n_words + 1, np.int32)
    return csr_array((np.zeros(0, np.float32), nothing, indptr), shape=(n_words, n_topics))


def topic_residuals(
    vectors: "WordVectors", topics: Floats, n_normalizer_words: Any = None
) -> Floats:
    """Normalise topics over all words, or over so many of the most frequent ones."""
    matrix, unigram = vectors.matrix, np.asarray(vectors.unigram, float)
    if n_normalizer_words is not None and n_normalizer_words < len(unigram):
        common = np.argsort(-unigram, kind="stable")[:n_normalizer_words]
        matrix, unigram = matrix[common], unigram[common]
    found = equations.residuals(matrix, unigram / unigram.sum(), topics, block=4096)
    return np.where(topics.any(axis=1), found, 0.0)  # exactly, for the null topic

"""Topics as people read them: their name, their share, their words, their documents.

The paper names a topic's words by "frequency-weighted cosine", its code by posterior mass. With
m_wk the expected tokens of word w in topic k, n_w = Σ_k m_wk all its tokens, D_wk the sum of the
topic's proportions in the documents that have the word, and df_w the number of these:

- ``"joint"``, the default: cos(v_w − v̄, t_k) · m_wk / √n_w · D_wk / √df_w. A word counts as far as
  the topic owns its tokens and its documents; v̄ is the mean word vector.
- ``"documents"``: cos(v_w − v̄, t_k) · D_wk² / df_w, by documents alone.
- ``"cosine"``: cos(v_w − v̄, t_k) · √m_wk · m_wk / n_w. The frequency is the topic's own, damped,
  and counts as far as the topic owns the word.
- ``"mass"``: cos(v_w − v̄, t_k) · m_wk · (m_wk / n_w)². The frequency is not damped, but weighed by
  the square of the share that the topic owns: words that are met more often, and together more
  often.
- ``"posterior"``: m_wk / √n_w, the original code's; always for the null topic, which has no
  direction.
- a number λ from 0 to 1: p(w|k)^λ · (p(w|k) / p(w))^(1−λ), with p(w|k) = m_wk / Σ_w m_wk and
  p(w) = n_w / Σ_w n_w. Its logarithm is the relevance of LDAvis (Sievert and Shirley, 2014): 1 puts
  what is frequent in the topic first, 0 what is frequent there and nowhere else.

The default was chosen by NPMI times diversity of the first ten words on the training posts of 20
Newsgroups, those of Reuters and search snippets, 20 and 50 topics, one seed: it is .199 and .188,
.154 and .159, .113 and .107; "documents" has .176 and .136, .163 and .167, .121 and .121; "cosine"
.183 and .159, .144 and .124, .074 and .081; m_wk² / n_w without the cosine .183 and .167, .130 and
.121, .049 and .065. The mean vector is taken
away because the model cannot tell vectors from shifted ones: the residuals absorb any shift, but
plain cosines change (`test_relevance_ignores_a_shift_of_all_vectors`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array

from topicvec.embed.nearest import best, inverse_norms
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.model.fitted import FittedTopics
from topicvec.model.naming import background, name_topics

__all__ = [
    "Relevance",
    "Topic",
    "document_topics",
    "read_topics",
    "relevant_words",
    "topic_labels",
    "word_frequencies",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Relevance = Literal["joint", "documents", "cosine", "mass", "posterior"]
Pairs = tuple[tuple[str, float], ...]

_ROWS = 2048  # words at a time: no second copy of the vectors, and a block stays in the cache
_SHOWN = 6  # words in a repr
_DEAD = 0.1  # of an even share
_NAMED = 20  # words that a name is made of


@dataclass(frozen=True, repr=False)
class Topic:
    """A topic as people read it.

    Parameters
    ----------
    index : int
        Its row in the topic vectors.
    share : float
        Its part of the training tokens, between 0 and 1.
    norm : float
        Length of its vector.
    words : tuple of (str, float)
        Most relevant words of the corpus with their relevance, best first.
    label : str, optional
        Its name: the user's, or one to four words that tell it from the others.
    class_ : str, optional
        Class that it was learned for.
    nearest : tuple of (str, float)
        Nearest words of the whole vocabulary with their cosines, best first.
    documents : tuple of (int, float)
        Rows of the training documents with the largest proportions of it, and these.
    is_null : bool
        Whether it is the null topic: no vector of its own, words as in the language at large.
    is_background : bool
        Whether it tells nothing of what documents are about, see `topicvec.model.naming`.

    Examples
    --------
    >>> Topic(3, 0.123, 5.0, (("price", 1.9), ("drug", 1.2)), label="money")
    Topic 3 "money" (12.3%): price drug
    """

    index: int
    share: float
    norm: float
    words: Pairs
    label: str | None = None
    class_: str | None = None
    nearest: Pairs = ()
    documents: tuple[tuple[int, float], ...] = ()
    is_null: bool = False
    is_background: bool = False

    def __repr__(self) -> str:
        names = [f'"{self.label}"'] if self.label and not self.is_null else []
        names += [f"[{self.class_}]"] if self.class_ else []
        names += ["background"] if self.is_background else []
        names += ["null"] if self.is_null else []
        head = " ".join(["Topic", str(self.index), *names])
        shown = " ".join(word for word, _ in (self.words or self.nearest)[:_SHOWN])
        return f"{head} ({self.share:.1%}): {shown or 'no words'}"

    @property
    def title(self) -> str:
        """The label, or else the first three words, of a record that has none.

        Examples
        --------
        >>> Topic(1, 0.5, 5.0, (("price", 1.9), ("drug", 1.2))).title
        'price, drug'
        """
        if self.label:
            return self.label
        shown = [word for word, _ in (self.words or self.nearest)[:3]]
        return ", ".join(shown) or f"topic {self.index}"


def read_topics(
    fitted: FittedTopics,
    *,
    n_words: int = 10,
    n_nearest: int = 10,
    relevance: Relevance | float = "joint",
    min_mass: float = 0.5,
) -> tuple[Topic, ...]:
    """Read the live topics: the largest first, background behind them, the null topic last.

    Parameters
    ----------
    fitted : FittedTopics
        Any model; one that has seen no document has nearest words only.
    n_words, n_nearest : int
        How many words to list at most; 0 for none. A topic has fewer if it owns fewer.
    relevance : {"joint", "documents", "cosine", "mass", "posterior"} or float
        How words are ranked, see the formulas at the top of this module; a number from 0, telling
        words, to 1, frequent ones.
    min_mass : float
        Topics with fewer expected training tokens, and less than a tenth of an even share, are
        dead and left out; 0 keeps all.

    Returns
    -------
    tuple of Topic
        `Topic.index` is the row in the topic vectors.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], [[2, 0], [2, 1], [0, 3]], [1, 1, 1])
    >>> topics = np.array([[0, 0], [1, -1]], np.float32)
    >>> for topic in read_topics(FittedTopics.bare(vectors, topics, max_norm=7.0), n_nearest=2):
    ...     print(topic)
    Topic 1 "cat, dog" (0.0%): cat dog
    Topic 0 null (0.0%): no words
    """
    if not isinstance(fitted, FittedTopics):
        raise DataError(f"expected model.fitted_; found {type(fitted).__name__}")
    _check_arguments(n_words, n_nearest, relevance)
    is_background = background(fitted)
    chosen = _live(fitted, min_mass, is_background)
    cosines = _Cosines.of(fitted)
    scores = _relevances(fitted, relevance, cosines)
    words = _columns(fitted.vectors, scores, chosen, n_words)
    nearest = _nearest(fitted.vectors, cosines, chosen, n_nearest)
    labels = _labels(fitted, scores if relevance == "joint" else None, cosines)
    share = fitted.mass / max(float(fitted.mass.sum()), 1e-300)
    norm = np.linalg.norm(fitted.topics, axis=1)
    return tuple(
        Topic(
            index=k,
            share=float(share[k]),
            norm=float(norm[k]),
            words=own,
            label=labels[k],
            class_=fitted.classes[k],
            nearest=near,
            documents=fitted.representative[k],
            is_null=k == 0,
            is_background=bool(is_background[k]),
        )
        for k, own, near in zip(chosen, words, nearest, strict=True)
    )


def relevant_words(
    fitted: FittedTopics, rows: Sequence[int], n_words: int, relevance: Relevance | float = "joint"
) -> list[Pairs]:
    """Give the most relevant words of some topics, and nothing else of them.

    Examples
    --------
    >>> from dataclasses import replace
    >>> vectors = WordVectors(["cat", "dog"], np.eye(2), [1, 1])
    >>> fitted = FittedTopics.bare(vectors, np.array([[0, 0], [1, -1]], np.float32), max_norm=7.0)
    >>> table = csr_array(np.array([[0, 3], [3, 1]], np.float32))
    >>> fitted = replace(fitted, word_mass=table, word_counts=np.array([3.0, 4.0]))
    >>> [word for word, _ in relevant_words(fitted, [1], 5, "cosine")[0]]
    ['cat']
    """
    scores = _relevances(fitted, relevance, _Cosines.of(fitted))
    return list(_columns(fitted.vectors, scores, rows, n_words))


def _labels(fitted: FittedTopics, scores: csc_array | None, cosines: "_Cosines") -> list[str]:
    """Name all topics (K), the same whatever is listed of them; without words by the nearest."""
    scores = _relevances(fitted, "joint", cosines) if scores is None else scores
    rows = list(range(1, fitted.n_topics))
    words = list(_columns(fitted.vectors, scores, rows, _NAMED))
    if bare := [k for k, own in zip(rows, words, strict=True) if not own]:
        for k, near in zip(bare, _nearest(fitted.vectors, cosines, bare, 3), strict=True):
            words[k - 1] = near
    names = name_topics(words, fitted.labels[1:])
    unnamed = [name or f"topic {k}" for k, name in zip(rows, names, strict=True)]
    return [fitted.labels[0] or "null topic", *unnamed]


def topic_labels(fitted: FittedTopics) -> list[str]:
    """Give the names of all topics (K), also of those that are not read because they are dead.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], [[2, 0], [2, 1], [0, 3]], [1, 1, 1])
    >>> topics = np.array([[0, 0], [1, -1]], np.float32)
    >>> topic_labels(FittedTopics.bare(vectors, topics, max_norm=7.0))
    ['null topic', 'cat, dog']
    """
    return _labels(fitted, None, _Cosines.of(fitted))


def document_topics(
    proportions: ArrayLike, *, min_share: float = 0.01
) -> tuple[tuple[int, float], ...]:
    """List the topics of one document, the largest first.

    Parameters
    ----------
    proportions : array, (K,)
        A row of what `transform` returns.
    min_share : float
        Leave out topics with a smaller proportion.

    Returns
    -------
    tuple of (int, float)
        Rows of the topics with their proportions.

    Examples
    --------
    >>> document_topics([0.1, 0.0, 0.7, 0.2])
    ((2, 0.7), (3, 0.2), (0, 0.1))
    """
    row = np.asarray(proportions, dtype=float)
    if row.ndim != 1:
        raise DataError(
            f"expected the proportions of one document, found an array of shape {row.shape}: "
            "give one row, such as proportions[0]"
        )
    order = np.argsort(-row, kind="stable")
    return tuple((int(k), float(row[k])) for k in order if row[k] >= min_share)


def _check_arguments(n_words: int, n_nearest: int, relevance: Relevance | float) -> None:
    if min(n_words, n_nearest) < 0:
        raise DataError(
            f"n_words and n_nearest must be at least 0, found {n_words} and {n_nearest}"
        )
    named = relevance in get_args(Relevance)
    if not (named if isinstance(relevance, str) else 0 <= relevance <= 1):
        names = ", ".join(f'"{name}"' for name in get_args(Relevance))
        raise DataError(f"relevance must be {names} or a number from 0 to 1, found {relevance!r}")


def _live(fitted: FittedTopics, min_mass: float, is_background: NDArray[np.bool_]) -> list[int]:
    """Rows of the topics to read: the largest first, then background, the null topic last."""
    order = 1 + np.lexsort((-fitted.mass[1:], is_background[1:]))
    # Weights may add up to little; a model without documents has no dead topics either.
    least = min(min_mass, _DEAD * float(fitted.mass.sum()) / fitted.n_topics)
    return [int(k) for k in order if fitted.mass[k] >= least] + [0]


def _columns(
    vectors: WordVectors, scores: csc_array, chosen: Sequence[int], n_words: int
) -> Iterator[Pairs]:
    """Name the best rows of each chosen column; only positive scores count."""
    for k in chosen:
        inside = slice(scores.indptr[k], scores.indptr[k + 1])
        found = np.where(scores.data[inside] > 0, scores.data[inside], -np.inf)
        places = best(found, n_words) if n_words and len(found) else np.empty(0, np.intp)
        yield _pairs(vectors, scores.indices[inside][places], found[places])


def _relevances(
    fitted: FittedTopics, relevance: Relevance | float, cosines: "_Cosines"
) -> csc_array:
    """Relevance of each word to each topic (W, K), where the topic has some of the word."""
    if not isinstance(relevance, str):
        inside, lift = word_frequencies(fitted)
        scores = inside.data**relevance * lift.data ** (1 - relevance)
        return csc_array(csr_array((scores, inside.indices, inside.indptr), shape=inside.shape))
    table = fitted.word_mass
    rows = np.repeat(np.arange(len(fitted.vectors)), np.diff(table.indptr))
    mass = table.data.astype(float)
    count = np.maximum(fitted.word_counts[rows], mass)  # mass may exceed it by rounding
    scores = mass / np.sqrt(count)
    if relevance != "posterior":  # the null topic has no direction, it keeps that score
        weight = _weights(fitted, relevance, rows, mass, count)
        directed = weight * _cosines_at(table, cosines)
        scores = np.where(table.indices == 0, scores, directed)
    return csc_array(csr_array((scores, table.indices, table.indptr), shape=table.shape))


def _weights(
    fitted: FittedTopics, relevance: Relevance, rows: Ints, mass: Floats, count: Floats
) -> Floats:
    """What the cosine is multiplied by, at the entries of the masses."""
    if relevance == "cosine":
        return np.asarray(np.sqrt(mass) * mass / count)
    if relevance == "mass":
        return np.asarray(mass * (mass / count) ** 2)
    held = _entries(fitted.document_mass, fitted.word_mass)
    n_documents = np.maximum(fitted.word_documents[rows], np.maximum(held, 1e-300))
    if relevance == "documents":
        return np.asarray(held**2 / n_documents)
    return np.asarray(mass / np.sqrt(count) * held / np.sqrt(n_documents))


def _entries(table: csr_array, places: csr_array) -> Floats:
    """Values of a sparse table where another one has entries, 0 where it has none."""
    if np.array_equal(table.indptr, places.indptr) and np.array_equal(
        table.indices, places.indices
    ):
        return table.data.astype(float)
    rows = np.repeat(np.arange(places.shape[0]), np.diff(places.indptr))
    return np.asarray(table[rows, places.indices], float)


def word_frequencies(fitted: FittedTopics) -> tuple[csr_array, csr_array]:
    """Give how frequent words are in topics, and how much more than in the documents at large.

    Parameters
    ----------
    fitted : FittedTopics
        Any model.

    Returns
    -------
    inside : csr_array, (W, K)
        p(w|k), a word's part of the expected tokens of a topic.
    lift : csr_array, (W, K)
        p(w|k) / p(w), p(w) a word's part of all tokens; entries stand where those of ``inside`` do.

    Examples
    --------
    >>> from dataclasses import replace
    >>> vectors = WordVectors(["cat", "dog"], np.eye(2), [1, 1])
    >>> fitted = FittedTopics.bare(vectors, np.array([[0, 0], [1, -1]], np.float32), max_norm=7.0)
    >>> table = csr_array(np.array([[0, 3], [3, 1]], np.float32))
    >>> fitted = replace(fitted, word_mass=table, word_counts=np.array([3.0, 4.0]))
    >>> [table.toarray().round(2).tolist() for table in word_frequencies(fitted)]
    [[[0.0, 0.75], [1.0, 0.25]], [[0.0, 1.75], [1.75, 0.44]]]
    """
    table = fitted.word_mass
    rows = np.repeat(np.arange(len(fitted.vectors)), np.diff(table.indptr))
    inside = table.data / fitted.word_totals[table.indices]
    general = fitted.word_counts[rows] / max(float(fitted.word_counts.sum()), 1e-300)
    lift = inside / np.maximum(general, 1e-300)
    where = table.indices, table.indptr
    return csr_array((inside, *where), table.shape), csr_array((lift, *where), table.shape)


def _cosines_at(table: csr_array, cosines: "_Cosines") -> Floats:
    """Cosines of words and topics at the entries of a sparse table (W, K)."""
    lengths = np.diff(table.indptr)
    used = np.flatnonzero(lengths)
    found = np.empty(len(table.indices), np.float32)
    for start in range(0, len(used), _ROWS):
        rows = used[start : start + _ROWS]
        inside = slice(table.indptr[rows[0]], table.indptr[rows[-1] + 1])
        places = np.repeat(np.arange(len(rows)), lengths[rows])
        found[inside] = cosines(rows)[places, table.indices[inside]]
    return found


def _nearest(
    vectors: WordVectors, cosines: "_Cosines", chosen: list[int], n_nearest: int
) -> Iterator[Pairs]:
    """Name the words of the vocabulary with the highest cosines, in one pass over it."""
    scores = np.empty((len(chosen), 0), np.float32)
    rows = np.empty((len(chosen), 0), np.intp)
    for start in range(0, len(vectors) if n_nearest else 0, _ROWS):
        block = np.arange(start, min(start + _ROWS, len(vectors)))
        scores = np.hstack([scores, cosines(slice(start, start + _ROWS)).T[chosen]])
        rows = np.hstack([rows, np.broadcast_to(block, (len(chosen), len(block)))])
        n_kept = min(n_nearest, scores.shape[1])
        kept = np.argpartition(-scores, n_kept - 1, axis=1)[:, :n_kept]
        scores, rows = np.take_along_axis(scores, kept, 1), np.take_along_axis(rows, kept, 1)
    for k, row, score in zip(chosen, rows, scores, strict=True):
        order = np.lexsort((row, -score))[: n_nearest if k else 0]
        yield _pairs(vectors, row[order], score[order])


def _pairs(vectors: WordVectors, rows: NDArray[np.integer], scores: Floats) -> Pairs:
    return tuple(
        (vectors.words[row], float(score)) for row, score in zip(rows, scores, strict=True)
    )


class _Cosines(NamedTuple):
    """Gives cosines of some words with topics, the mean word vector taken away."""

    matrix: NDArray[np.float32]  # (W, N)
    mean: NDArray[np.float32]  # (N,)
    directions: NDArray[np.float32]  # (K, N), length 1, or 0 for the null topic

    @classmethod
    def of(cls, fitted: FittedTopics) -> "_Cosines":
        matrix, topics = fitted.vectors.matrix, fitted.topics
        return cls(matrix, fitted.vectors.mean, topics * inverse_norms(topics)[:, None])

    def __call__(self, rows: NDArray[np.integer] | slice) -> NDArray[np.float32]:
        """Give cosines (rows, K)."""
        centred = self.matrix[rows] - self.mean
        cosines = (centred @ self.directions.T).astype(np.float32, copy=False)
        cosines *= inverse_norms(centred)[:, None]
        return np.clip(cosines, -1, 1, out=cosines)

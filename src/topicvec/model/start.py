"""Where topics start: spread over the corpus's words or documents, at random, seeded, or given.

The topics start well inside the ball and apart from each other, and the tokens of each document
start evenly shared. From T = 0, the paper's start, all topics are alike and can never part
(test_topics_never_part_from_zero); from random directions and steps in proportion to the topics'
tokens an article collapses into one or two topics (docs/explanation/paper-figure.md,
test_a_single_document_does_not_collapse).

Words that are used alike ("go", "come", "went") lie close together whatever documents they stand
in, and topics that start among them stay there. With many documents a start among documents finds
themes instead: the mean NPMI of 50 topics of 20 Newsgroups is 0.17 (three seeds, 0.168 to 0.175)
and was 0.125 (one seed), both with the posts' own word frequencies and words ranked by
cos · m_wk² / n_w.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from topicvec.embed.telling import is_filler
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine, InPlace
from topicvec.errors import DataError, OutOfVocabularyWarning, VocabularyMismatch, warn
from topicvec.model import equations
from topicvec.model.fitted import FittedTopics
from topicvec.model.stored import StoredCounts

__all__ = [
    "MAX_DOCUMENTS",
    "START_NORM",
    "Centred",
    "Start",
    "document_frequencies",
    "document_points",
    "first_topics",
    "fixed_topics",
    "given_topics",
    "hold",
    "random_directions",
    "seed_rows",
    "spread_directions",
    "used_words",
]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Ints = NDArray[np.integer]
Rows = NDArray[np.intp]
Labels = tuple[str | None, ...]
Seeds = Mapping[str, Sequence[str]] | Sequence[Sequence[str]]
Start = Literal["auto", "spread", "documents", "random"]

START_NORM = 0.5  # share of the ball's radius
MAX_DOCUMENTS = 20_000  # among which topics start
_WORDS_PER_TOPIC = 50
_MIN_WORDS = 4000
_N_ROUNDS = 8
_N_TRIES = 4
_ROWS = 2048  # points at a time
_MANY_DOCUMENTS, _DOCUMENTS_PER_TOPIC = 1000, 10  # fewer give topics a poorer start than words
_LESS_FINE = 0.5  # topics of filler for each topic that tells something, with as many tokens
_HOLD = 0.1  # of an average topic's tokens: seed words weigh as much


def first_topics(
    vectors: WordVectors,
    counts: csr_array,
    n_topics: int,
    init: Any,
    max_norm: float,
    rng: np.random.Generator,
    *,
    fixed: Floats | Sequence[Floats] = (),
    seeds: Sequence[Rows] = (),
    allowed: Bools | None = None,
    engine: Engine | None = None,
) -> Floats:
    """Place all topics (K, N), float32: the null topic, the fixed, the seeded, then the free ones.

    Parameters
    ----------
    vectors : WordVectors
        The words.
    counts : csr_array, (D, W)
        Counts of the documents.
    n_topics : int
        K.
    init : "auto", "spread", "documents", "random", array (K, N), FittedTopics or TopicVec
        Where the free topics start, or all topics.
    max_norm : float
        Radius of the ball that holds them.
    rng : Generator
        Draws.
    fixed : array, (F, N), optional
        Topics 1 to F.
    seeds : sequence of arrays
        Vector rows of the seed words of the topics after them.
    allowed : array, (D, K), optional
        Topics that each document may use; a topic starts among its documents.
    engine : Engine, optional
        Spreads the work if its workers share memory; here and now by default.
    """
    first_free = 1 + len(fixed) + len(seeds)
    if not isinstance(init, str):
        return _given(vectors, n_topics, init, max_norm, n_guided=first_free - 1)
    if init not in get_args(Start):
        raise DataError(
            f"init must be 'auto', 'spread', 'documents', 'random' or topics; found {init!r}"
        )
    if first_free > n_topics:
        raise DataError(
            f"n_topics={n_topics - 1} leaves no room for the {first_free - 1} fixed and seeded "
            f"topics: use at least {first_free - 1}"
        )
    topics = np.zeros((n_topics, vectors.matrix.shape[1]), np.float32)
    if len(fixed):
        topics[1 : 1 + len(fixed)] = fixed
    if seeds:
        topics[1 + len(fixed) : first_free] = _seeded(vectors, seeds, START_NORM * max_norm)
    free: Ints = np.arange(first_free, n_topics)
    together = [(free, None)] if allowed is None else _neighbourhoods(free, allowed)
    for chosen, documents in together if len(free) else ():
        if init == "random":
            directions = random_directions(len(chosen), vectors.n_dims, rng)
            topics[chosen] = equations.project(directions, max_norm)
        else:
            own = counts if documents is None else counts[documents]
            near = engine if getattr(engine, "shares_memory", False) else None
            found = _directions(init, vectors, own, len(chosen), rng, topics[1:first_free], near)
            topics[chosen] = START_NORM * max_norm * found
    return topics


def random_directions(n: int, size: int, rng: np.random.Generator) -> Floats:
    """Draw unit vectors (n, size), as the original does."""
    return _unit(rng.normal(size=(n, size)))


def spread_directions(
    vectors: Floats,
    weights: Floats,
    n: int,
    rng: np.random.Generator,
    others: Floats | None = None,
    n_heaviest: int = _MIN_WORDS,
) -> Floats:
    """Spread unit vectors (n, N) over weighted word vectors (U, N): spherical k-means.

    The first centres are drawn as in k-means++, each with a chance in proportion to the weight
    of a word and its distance from the centres so far and from ``others``. Only ``n_heaviest``
    words take part, or 50 for each topic: the rest would cost much and change little.
    """
    if n == 0:
        return np.zeros((0, vectors.shape[1]))
    heavy = np.argsort(-weights, kind="stable")[: max(n_heaviest, _WORDS_PER_TOPIC * n)]
    return _spread(_unit(vectors[heavy]), weights[heavy], n, rng, others, 1, InPlace())[0]


def _spread(
    points: Floats, weights: Floats, n: int, rng: np.random.Generator, others: Floats | None,
    n_tries: int, engine: Engine,
) -> list[Floats]:  # fmt: skip
    """Spread unit vectors (n, N) over weighted unit vectors (P, N), so many times.

    Chance is drawn ahead, so that the tries can go side by side.
    """
    mass = weights.astype(points.dtype)
    chance = rng.random((n_tries, n, 2 + int(np.log(n))))
    drawn = _draw_apart(points, mass, chance, others, engine)
    return list(engine.map(partial(_gather, points, mass), drawn))


def _gather(points: Floats, mass: Floats, centres: Floats) -> Floats:
    """Move centres (n, N) to the points that are nearest to them, some rounds of k-means."""
    columns = np.arange(len(points))
    for _ in range(_N_ROUNDS):
        owner = np.argmax(points @ centres.T, axis=1)
        members = csr_array((mass, (owner, columns)), shape=(len(centres), len(points)))
        sums = members @ points
        centres = np.where(np.any(sums, axis=1, keepdims=True), _unit(sums), centres)
    return centres


@dataclass(frozen=True, eq=False)
class Centred:
    """Vectors of some words, seen from the mean of all; made when they are asked for.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog"], [[1.0], [3.0]], [1, 1])
    >>> Centred(vectors, np.array([1]))[np.array([0])]
    array([[1.]], dtype=float32)
    """

    vectors: WordVectors
    rows: Ints

    def __getitem__(self, places: Ints) -> Floats:
        return np.asarray(self.vectors.matrix[self.rows[places]] - self.vectors.mean)


def document_points(
    vectors: "Floats | Centred", counts: csr_array, rng: np.random.Generator
) -> tuple[Floats, Floats, Ints]:
    """Give directions (D, N) of documents in random order, their tokens (D,) and their rows.

    Sums of the unit vectors of a document's words, damped by their frequency in the document and
    in the corpus (log(1 + c) · log(D / df)); documents without a direction are left out, and of
    many documents 20,000 are drawn before anything is added up, in single precision. For
    `spread_directions` documents weigh as much as they have tokens: with equal weights topics
    foretell 20 Newsgroups and Reuters worse (perplexity 1,430 and 620 instead of 1,335 and 600).
    ``vectors`` (W, N) are the words of the columns of ``counts`` (D, W).
    """
    n_documents = counts.shape[0]
    seen = np.maximum(document_frequencies(counts), 1)
    rarity = np.log(n_documents / seen)
    rows = np.flatnonzero(np.diff(counts.indptr))
    many = len(rows) > MAX_DOCUMENTS  # of these most are never multiplied
    kept, sums = _first_sums(counts, rng.permutation(rows) if many else rows, rarity, vectors)
    order = slice(None) if many else rng.permutation(len(kept))
    kept = kept[order]
    return _unit(sums[order]), np.asarray(counts[kept].sum(axis=1), float), kept


def document_frequencies(counts: csr_array) -> Ints:
    """Say in how many documents each word is (W,), in memory or in files.

    Examples
    --------
    >>> document_frequencies(csr_array(np.array([[0, 3, 0, 1], [0, 2, 0, 0]])))
    array([0, 2, 0, 1])
    """
    if isinstance(counts, StoredCounts):
        return counts.frequencies()
    return np.bincount(counts.indices, minlength=counts.shape[1])


def used_words(counts: csr_array) -> tuple[Ints, csr_array]:
    """Give the words that occur (U,), and the counts with columns for these alone (D, U).

    Examples
    --------
    >>> words, counts = used_words(csr_array(np.array([[0, 3, 0, 1], [0, 2, 0, 0]])))
    >>> words, counts.toarray()
    (array([1, 3]), array([[3, 1], [2, 0]]))
    """
    if isinstance(counts, StoredCounts):
        return counts.used()
    words = np.flatnonzero(document_frequencies(counts))
    column = np.zeros(counts.shape[1], counts.indices.dtype)
    column[words] = np.arange(len(words))
    parts = counts.data, column[counts.indices], counts.indptr
    return words, csr_array(parts, (counts.shape[0], len(words)))


def _first_sums(
    counts: csr_array, rows: Ints, rarity: Floats, vectors: "Floats | Centred"
) -> tuple[Ints, Floats]:
    """Add up the words of the first documents that have a direction: their rows and sums."""
    kind = np.float32 if len(rows) > MAX_DOCUMENTS else float
    kept, sums = rows[:0], np.zeros((0, vectors[rows[:0]].shape[1]), kind)
    for start in range(0, len(rows), MAX_DOCUMENTS):
        block = rows[start : start + MAX_DOCUMENTS]
        own = counts[block]
        weights = (np.log1p(own.data) * rarity[own.indices]).astype(kind)
        used, places = np.unique(own.indices, return_inverse=True)
        words = csr_array((weights, places, own.indptr), (own.shape[0], len(used)))
        found = np.asarray(words @ _unit(vectors[used]))
        directed = found.any(axis=1)
        kept = np.concatenate([kept, block[directed]])[:MAX_DOCUMENTS]
        sums = np.concatenate([sums, found[directed]])[:MAX_DOCUMENTS]
        if len(kept) == MAX_DOCUMENTS:
            break
    return kept, sums


def _draw_apart(
    points: Floats, mass: Floats, chance: Floats, others: Floats | None, engine: Engine
) -> list[Floats]:
    """Draw centres as greedy k-means++ does: of a few candidates take the one that helps most.

    Parameters
    ----------
    points, mass : arrays, (P, N), (P,)
        Unit vectors and their weights.
    chance : array, (tries, n, candidates)
        Numbers between 0 and 1 that decide what is drawn.
    others : array, (F, N), optional
        Directions to keep away from.
    engine : Engine
        Spreads blocks of points. All tries read them once together, as reading takes longest.

    Returns
    -------
    list of arrays, (n, N)
        The centres of each try.
    """
    tries, n, n_candidates = chance.shape
    blocks = [slice(start, start + _ROWS) for start in range(0, len(points), _ROWS)]
    nearest = np.zeros((len(points), tries), points.dtype)
    if others is not None and len(others):
        cosines = (points @ _unit(others).T.astype(points.dtype)).max(1)
        nearest[:] = np.maximum(cosines, 0)[:, None]
    chosen = np.empty((tries, n), np.int64)
    for i in range(n):
        drawn = np.array([_drawn(mass, nearest[:, t], chance[t, i]) for t in range(tries)])
        candidates = points[drawn.ravel()].T
        pieces = [(points[rows], mass[rows], nearest[rows]) for rows in blocks]
        closer, helped = [], np.zeros((tries, n_candidates))
        for part, more in engine.map(partial(_closer, candidates), pieces):
            closer.append(part)
            helped += more
        best = np.argmax(helped, axis=1)
        chosen[:, i] = drawn[np.arange(tries), best]
        for rows, part in zip(blocks, closer, strict=True):
            nearest[rows] = part[:, np.arange(tries), best]
    return [points[rows] for rows in chosen]


def _drawn(mass: Floats, nearest: Floats, chance: Floats) -> Ints:
    """Draw points (candidates,) by their weight and their distance from the centres so far."""
    each = mass * np.maximum(1 - nearest, 1e-12)
    total = np.cumsum(each, dtype=float)
    drawn: Ints = np.searchsorted(total, chance * total[-1], side="right")
    return np.minimum(drawn, len(mass) - 1)


def _closer(candidates: Floats, piece: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """Give the cosine of points to their nearest centre if a candidate were one, and its sum."""
    points, mass, nearest = piece
    cosines = (points @ candidates).reshape(*nearest.shape, -1)
    closer: Floats = np.maximum(cosines, nearest[:, :, None], out=cosines)
    return closer, (mass @ closer.reshape(len(mass), -1)).reshape(closer.shape[1:])


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


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


def fixed_topics(vectors: WordVectors, given: Any) -> tuple[Floats, Labels]:
    """Take topics to keep (F, N) and their labels, of a model or an array."""
    topics, labels = given_topics(vectors, given)
    kept = np.flatnonzero(topics.any(axis=1))  # the null topic is there already
    return topics[kept], tuple(labels[topic] for topic in kept)


def seed_rows(vectors: WordVectors, given: Seeds | None) -> tuple[tuple[Rows, ...], Labels]:
    """Look up the seed words of topics: their vector rows and the topics' labels.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    >>> seed_rows(vectors, {"pets": ["cat", "dog"]})
    ((array([0, 1]),), ('pets',))
    """
    named = given if isinstance(given, Mapping) else dict(enumerate(given or ()))
    labels = tuple(name if isinstance(given, Mapping) else None for name in named)
    return tuple(_rows(vectors, words) for words in named.values()), labels  # type: ignore[return-value]


def hold(
    counts: csr_array, allowed: Bools | None, seeds: Sequence[Rows], first: int, n_topics: int
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
    seeds : sequence of arrays
        Vector rows of the seed words.
    first, n_topics : int
        The first seeded topic, and K.

    Returns
    -------
    tuple of csr_array and array
        Both with the new rows at the end.
    """
    weight = _HOLD * counts.sum() / n_topics
    n_documents, n_words = counts.shape
    rows = np.concatenate(seeds)
    lengths = np.array([len(seed) for seed in seeds])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    held = csr_array((weight / np.repeat(lengths, lengths), rows, indptr), (len(lengths), n_words))
    own = np.zeros((len(lengths), n_topics), bool)
    own[np.arange(len(lengths)), first + np.arange(len(lengths))] = True
    theirs = np.ones((n_documents, n_topics), bool) if allowed is None else allowed
    return csr_array(vstack([counts, held], format="csr")), np.concatenate([theirs, own])


def _seeded(vectors: WordVectors, seeds: Sequence[Rows], length: float) -> Floats:
    """Point topics (S, N) at the mean of their seed words, seen from the mean of all words."""
    topics = np.zeros((len(seeds), vectors.n_dims), np.float32)
    for topic, rows in enumerate(seeds):
        mean = vectors.matrix[rows].mean(axis=0) - vectors.mean
        topics[topic] = length * mean / max(float(np.linalg.norm(mean)), 1e-12)
    return topics


def _rows(vectors: WordVectors, words: Sequence[str]) -> NDArray[np.intp]:
    if isinstance(words, str):
        raise DataError(f"the seed words of a topic must be a list of words; found {words!r}")
    unknown = [word for word in words if word not in vectors]
    if len(unknown) == len(words):
        raise DataError(f"a seeded topic needs a word with a vector; found {list(words)}")
    if unknown:
        message = f"seed words without a vector are left out: {', '.join(unknown)}"
        warn(message, OutOfVocabularyWarning)
    return np.unique([vectors.ids[word] for word in words if word in vectors])


def _spread_documents(
    vectors: WordVectors, counts: csr_array, n: int, rng: np.random.Generator, others: Floats,
    engine: Engine,
) -> Floats | None:  # fmt: skip
    """Spread directions (n, N) over documents, away from other topics; None if too few have one.

    Of four tries the one that is nearest to all documents: seeds then differ less.
    """
    rows, own = used_words(counts)
    points, weights, _ = document_points(Centred(vectors, rows), own, rng)
    if len(points) < n:
        return None
    heaviest = np.argsort(-weights, kind="stable")  # as `spread_directions` takes them
    points, weights = points[heaviest], weights[heaviest]
    tries = _spread(points, weights, n, rng, others, _N_TRIES, engine)
    near = list(engine.map(partial(_nearness, points, weights), tries))
    return tries[int(np.argmax(near))]


def _nearness(points: Floats, weights: Floats, centres: Floats) -> float:
    return float(weights @ (points @ centres.T).max(axis=1))


def _directions(
    init: str,
    vectors: WordVectors,
    counts: csr_array,
    n: int,
    rng: np.random.Generator,
    others: Floats,
    engine: Engine | None,
) -> Floats:
    n_documents = int(np.count_nonzero(np.diff(counts.indptr)))
    many = n_documents >= max(_MANY_DOCUMENTS, _DOCUMENTS_PER_TOPIC * n)
    if init == "documents" or (init == "auto" and many):
        found = _spread_documents(vectors, counts, n, rng, others, engine or InPlace())
        if found is not None:
            return found
        if init == "documents":
            raise DataError(
                f"init='documents' needs at least {n} documents, one for each topic, with words "
                "that not all documents have: use init='spread'"
            )
    weights = np.asarray(counts.sum(axis=0), float)
    rows = np.flatnonzero(weights)
    centred, weights = vectors.matrix[rows] - vectors.mean, weights[rows]
    filler = is_filler(vectors)[rows] if init == "auto" else np.zeros(len(rows), bool)
    n_apart = _n_background(n, weights, filler)
    if not n_apart:
        return spread_directions(centred, weights, n, rng, others)
    told = spread_directions(centred[~filler], weights[~filler], n - n_apart, rng, others)
    apart = spread_directions(centred[filler], weights[filler], n_apart, rng, others)
    return np.concatenate([told, apart])


def _n_background(n: int, weights: Floats, filler: Bools) -> int:
    """Say how many topics start among words that tell nothing, so that the others need not.

    Half as many as filler's part of the tokens, since it needs no fine distinctions; none where
    that is less than one, or where words that tell something are too few for the others.
    """
    found = round(_LESS_FINE * n * float(weights[filler].sum() / weights.sum()))
    enough = found <= np.count_nonzero(filler) and n - found <= np.count_nonzero(~filler)
    return found if enough and found < n else 0


def _neighbourhoods(free: Ints, allowed: Bools) -> list[tuple[Ints, Ints | None]]:
    """Put topics together that the same documents may use; they start among their words."""
    patterns, numbers = np.unique(allowed[:, free].T, axis=0, return_inverse=True)
    together = ((free[numbers.ravel() == i], np.flatnonzero(row)) for i, row in enumerate(patterns))
    return [(chosen, documents) for chosen, documents in together if len(documents)]


def _given(
    vectors: WordVectors, n_topics: int, init: Any, max_norm: float, n_guided: int
) -> Floats:
    topics, _ = given_topics(vectors, init)
    if len(topics) != n_topics or topics[0].any():
        raise DataError(
            f"init must have {n_topics} rows, the first of them zero (the null topic); "
            f"found {len(topics)}"
        )
    if n_guided:
        raise DataError("init with given topics leaves no room for seed_words or fixed_topics")
    return equations.project(topics, max_norm)

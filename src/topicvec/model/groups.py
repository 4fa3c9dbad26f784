"""Which documents share which topics: all of them, those of a class, or as a mask says."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.model.equations import project
from topicvec.model.fitted import FittedTopics
from topicvec.model.guided import Guide, given_topics, hold, seeded_topics
from topicvec.model.operations import concatenate
from topicvec.model.start import (
    START_NORM,
    Start,
    document_points,
    random_directions,
    spread_directions,
)
from topicvec.model.state import Settings
from topicvec.model.training import Plan

__all__ = [
    "Options",
    "class_rows",
    "generator",
    "join",
    "plan_classes",
    "plan_corpus",
    "side_by_side",
    "wants_classes",
]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Ints = NDArray[np.integer]
Generator = np.random.Generator

_MANY_DOCUMENTS, _DOCUMENTS_PER_TOPIC = 1000, 10  # fewer give topics a poorer start than words
_LEARN_FROM = 10  # documents; a prior learned from fewer says more of chance than of topics


@dataclass(frozen=True, eq=False)
class Options:
    """What the user wants of topics, whoever shares them.

    Parameters
    ----------
    n_topics : int
        K, the null topic included.
    alpha : float or array, (K,)
        Prior of the mixtures.
    init : "auto", "spread", "documents", "random", array (K, N), FittedTopics or TopicVec
        Where the topics start.
    settings : Settings
        What the core is told.
    n_normalizer_words : int, optional
        Only so many of the most frequent words in the normaliser.
    """

    n_topics: int
    alpha: float | Floats
    init: Any
    settings: Settings
    n_normalizer_words: int | None = None

    @property
    def prior(self) -> Floats:
        """The prior of each topic, (K,)."""
        return np.broadcast_to(np.asarray(self.alpha, float), (self.n_topics,)).copy()


def plan_corpus(
    vectors: WordVectors, counts: csr_array, options: Options, guide: Guide,
    allowed: Bools | None, rng: Generator,
) -> Plan:  # fmt: skip
    """Plan one set of topics, perhaps guided and perhaps not all for every document."""
    _check_room(counts, options.n_topics)
    topics = _first_topics(vectors, counts, options, guide, allowed, rng)
    held_counts, held_allowed = hold(counts, allowed, guide, options.n_topics)
    return Plan(
        vectors=vectors,
        counts=held_counts,
        topics=topics,
        alpha=options.prior,
        settings=_settings(options.settings, counts),
        allowed=held_allowed,
        free=guide.free(options.n_topics),
        n_normalizer_words=options.n_normalizer_words,
        n_held=len(guide.seeds),
        rehearse=isinstance(options.init, str) and options.settings.solver == "newton",
    )


def class_rows(y: Sequence[object] | Ints, n_documents: int) -> dict[str, Ints]:
    """Find the rows of each class, classes in order.

    Examples
    --------
    >>> class_rows(["b", "a", "b"], 3)
    {'a': array([1]), 'b': array([0, 2])}
    """
    labels = np.asarray(y)
    if labels.shape != (n_documents,):
        raise DataError(f"y must have a class for each of the {n_documents} documents; "
                        f"found shape {labels.shape}")  # fmt: skip
    names, numbers = np.unique(labels.astype(str), return_inverse=True)
    return {str(name): np.flatnonzero(numbers == number) for number, name in enumerate(names)}


def plan_classes(
    vectors: WordVectors, counts: csr_array, classes: dict[str, Ints], options: Options,
    rng: Generator,
) -> list[Plan]:  # fmt: skip
    """Plan a set of topics for each class that has known words."""
    _check_room(counts, 2)
    plans = []
    for (name, rows), own in zip(classes.items(), rng.spawn(len(classes)), strict=True):
        mine = counts[rows]
        room = min(options.n_topics, len(np.unique(mine.indices)) + 1)
        if room < options.n_topics:
            message = f"class {name!r} has {room - 1} distinct words, so it gets {room - 1} topics"
            warnings.warn(message, UserWarning, stacklevel=4)
        fewer = replace(options, n_topics=room, alpha=options.prior[:room])
        free = Guide(np.zeros((0, vectors.n_dims), np.float32), (), ())
        plan = plan_corpus(vectors, mine, fewer, free, None, own) if room > 1 else None
        if plan is not None:
            plans.append(replace(plan, group=name))
    return plans


def join(parts: Sequence[FittedTopics], rows: Sequence[Ints], n_documents: int) -> FittedTopics:
    """Put the topics of classes side by side, their null topics merged into one.

    Parameters
    ----------
    parts : sequence of FittedTopics
        The topics of each class.
    rows : sequence of arrays
        Rows of the documents of each class.
    n_documents : int
        Number of documents in all.

    Returns
    -------
    FittedTopics
        20 classes with 15 topics make 281.
    """
    joined = concatenate(*parts)
    order = np.concatenate(rows)  # from a document's place among the classes to its row
    best = tuple(
        tuple((int(order[place]), share) for place, share in pairs)
        for pairs in joined.representative
    )
    return replace(joined, representative=best, n_documents=n_documents)


def side_by_side(
    proportions: Sequence[Floats], rows: Sequence[Ints], joined: FittedTopics
) -> Floats:
    """Put the proportions of the classes' documents into one table, zero for other classes."""
    table = np.zeros((joined.n_documents, joined.n_topics))
    table[:] = joined.alpha / joined.alpha.sum()  # of documents whose class has no known word
    first = 1
    for own, mine in zip(proportions, rows, strict=True):
        last = first + own.shape[1] - 1
        table[mine] = 0
        table[mine, 0] = own[:, 0]
        table[mine, first:last] = own[:, 1:]
        first = last
    return table


def wants_classes(share: str, y: Any, mask: Any) -> bool:
    """Say whether each class is to have its own topics.

    Examples
    --------
    >>> wants_classes("auto", ["a", "b"], None), wants_classes("auto", None, None)
    (True, False)
    """
    if share not in ("auto", "corpus", "class"):
        raise DataError(f"share must be 'auto', 'corpus' or 'class'; found {share!r}")
    if share == "class" and (y is None or mask is not None):
        raise DataError("share='class' needs y with the class of each document, and no mask")
    return share != "corpus" and y is not None and mask is None


def generator(random_state: Any) -> Generator:
    """Make a generator of what scikit-learn's users give as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def _check_room(counts: csr_array, n_topics: int) -> None:
    n_words = len(np.unique(counts.indices))
    if n_words == 0:
        raise DataError(
            "no document has a word with a vector: check language, letter case and tokenizer"
        )
    if n_topics - 1 > n_words:
        raise DataError(
            f"{n_topics} topics are too many for documents with {n_words} distinct known words: "
            f"use n_topics={min(n_words + 1, 20)} or less"
        )


def _settings(settings: Settings, counts: csr_array) -> Settings:
    """Keep the prior as it is where there are too few documents to learn it."""
    n_documents = int(np.count_nonzero(np.diff(counts.indptr)))
    if not settings.learn_alpha or n_documents >= _LEARN_FROM:
        return settings
    message = (
        f"alpha='learn' needs at least {_LEARN_FROM} documents with known words; found "
        f"{n_documents}: alpha stays at 0.1"
    )
    warnings.warn(message, UserWarning, stacklevel=4)
    return replace(settings, learn_alpha=False)


def _first_topics(
    vectors: WordVectors, counts: csr_array, options: Options, guide: Guide,
    allowed: Bools | None, rng: Generator,
) -> Floats:  # fmt: skip
    if not isinstance(options.init, str):
        return _given(vectors, options, guide)
    if options.init not in get_args(Start):
        raise DataError(
            "init must be 'auto', 'spread', 'documents', 'random' or topics; "
            f"found {options.init!r}"
        )
    first_free = 1 + guide.n_topics
    if first_free > options.n_topics:
        raise DataError(
            f"n_topics={options.n_topics} counts the null topic and the {guide.n_topics} fixed "
            f"and seeded topics: use at least {first_free}"
        )
    topics = np.zeros((options.n_topics, vectors.n_dims), np.float32)
    topics[1 : 1 + len(guide.fixed)] = guide.fixed
    max_norm = options.settings.max_norm
    topics[1 + len(guide.fixed) : first_free] = seeded_topics(vectors, guide.seeds, max_norm)
    free = np.arange(first_free, options.n_topics)
    for chosen, documents in _neighbourhoods(free, allowed):
        own = counts if documents is None else counts[documents]
        if options.init == "random":
            directions = random_directions(len(chosen), vectors.n_dims, rng)
            topics[chosen] = project(directions, max_norm)
        else:
            others = topics[1:first_free]
            directions = _directions(options.init, vectors, own, len(chosen), rng, others)
            topics[chosen] = START_NORM * max_norm * directions
    return topics


def _spread(
    vectors: WordVectors, counts: csr_array, n: int, rng: Generator, others: Floats
) -> Floats:
    """Spread directions (n, N) over the words of documents, away from other topics."""
    weights = np.asarray(counts.sum(axis=0), float)
    rows = np.flatnonzero(weights)
    centred = vectors.matrix[rows] - vectors.mean
    return spread_directions(centred, weights[rows], n, rng, others)


def _spread_documents(
    vectors: WordVectors, counts: csr_array, n: int, rng: Generator, others: Floats
) -> Floats | None:
    """Spread directions (n, N) over documents, away from other topics; None if too few have one."""
    rows = np.unique(counts.indices)
    centred = vectors.matrix[rows] - vectors.mean
    points = document_points(centred, counts[:, rows], rng)
    if len(points) < n:
        return None
    return spread_directions(points, np.ones(len(points)), n, rng, others, len(points))


def _directions(
    init: str, vectors: WordVectors, counts: csr_array, n: int, rng: Generator, others: Floats
) -> Floats:
    n_documents = int(np.count_nonzero(np.diff(counts.indptr)))
    many = n_documents >= max(_MANY_DOCUMENTS, _DOCUMENTS_PER_TOPIC * n)
    if init == "documents" or (init == "auto" and many):
        found = _spread_documents(vectors, counts, n, rng, others)
        if found is not None:
            return found
        if init == "documents":
            raise DataError(
                f"init='documents' needs at least {n} documents, one for each topic, with words "
                "that not all documents have: use init='spread'"
            )
    return _spread(vectors, counts, n, rng, others)


def _neighbourhoods(free: Ints, allowed: Bools | None) -> list[tuple[Ints, Ints | None]]:
    """Put topics together that the same documents may use; they start among their words."""
    if allowed is None or not len(free):
        return [(free, None)] if len(free) else []
    patterns, numbers = np.unique(allowed[:, free].T, axis=0, return_inverse=True)
    together = ((free[numbers.ravel() == i], np.flatnonzero(row)) for i, row in enumerate(patterns))
    return [(chosen, documents) for chosen, documents in together if len(documents)]


def _given(vectors: WordVectors, options: Options, guide: Guide) -> Floats:
    topics, _ = given_topics(vectors, options.init)
    if len(topics) != options.n_topics or topics[0].any():
        raise DataError(
            f"init must have {options.n_topics} topics, the first of them zero (the null topic); "
            f"found {len(topics)}"
        )
    if guide.n_topics:
        raise DataError("init with given topics leaves no room for seed_words or fixed_topics")
    return project(topics, options.settings.max_norm)

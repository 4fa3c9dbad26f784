"""Fitted topics to other fitted topics: drop, prune, merge, reduce, relabel, concatenate.

Each function returns a new record and leaves the given one as it is. Row 0 stays the null topic;
topics that are kept keep their order and their bits. Tokens, words and documents of the topics
are those of the fit, summed where topics merge: a new `transform` may find others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from topicvec.embed.nearest import inverse_norms
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.model.fitted import FittedTopics, Representatives, topic_residuals

__all__ = ["concatenate", "drop", "merge", "merge_similar", "prune", "reduce", "relabel"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

_NORMALIZER = "n_normalizer_words"  # the setting for how many words the residuals count
_NOBODY = -1  # the owner of a topic that is left out
_LEAST_MASS = 1e-9  # tokens; so that topics without any have a mean too


def drop(fitted: FittedTopics, indices: Iterable[int]) -> FittedTopics:
    """Leave out topics; the shares of the others are of the tokens that are left.

    Parameters
    ----------
    fitted : FittedTopics
    indices : iterable of int
        Rows of the topics to leave out; not 0, the null topic.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> drop(FittedTopics.bare(vectors, np.eye(3, 2, -1), max_norm=7.0), [1]).topics.tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    gone = set(_checked(fitted, indices))
    if len(gone) > fitted.n_topics - 2:
        raise DataError(f"all {len(gone)} topics would go: keep at least one beside the null topic")
    owner = np.arange(fitted.n_topics)
    owner[list(gone)] = _NOBODY
    return regroup(fitted, owner)


def prune(fitted: FittedTopics, min_share: float) -> FittedTopics:
    """Leave out the topics with a small share of the training tokens.

    Parameters
    ----------
    fitted : FittedTopics
    min_share : float
        Topics with less go; between 0 and 1.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> bare = FittedTopics.bare(vectors, np.eye(3, 2, -1), max_norm=7.0)
    >>> prune(replace(bare, mass=np.array([0.0, 90.0, 0.1])), 0.01).n_topics
    2
    """
    if not 0 <= min_share <= 1:
        raise DataError(f"min_share must be between 0 and 1, found {min_share}")
    if not fitted.mass.any():
        raise DataError("the topics have seen no document, so they have no shares: use drop")
    small = np.flatnonzero(fitted.mass < min_share * fitted.mass.sum())
    return drop(fitted, small[small > 0])


def merge(fitted: FittedTopics, groups: Iterable[Iterable[int]]) -> FittedTopics:
    """Make one topic of each group.

    A merged topic is the mean of its parts, weighted by their tokens, with its own residual;
    tokens and priors add. It stands where the first of its parts stood. Labels that differ are
    joined by " + "; a class stays if the parts agree on it.

    Parameters
    ----------
    fitted : FittedTopics
    groups : iterable of iterables of int
        Rows of topics; each in one group at most, and not 0, the null topic.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> merge(FittedTopics.bare(vectors, np.eye(3, 2, -1), max_norm=7.0), [(1, 2)]).topics.tolist()
    [[0.0, 0.0], [0.5, 0.5]]
    """
    owner = np.arange(fitted.n_topics)
    taken: set[int] = set()
    advice = ": one group to merge is [[1, 2]]"
    for rows in (_checked(fitted, group, advice=advice) for group in groups):
        if taken.intersection(rows):
            again = sorted(taken.intersection(rows))
            raise DataError(f"each topic may be in one group, but {again} are in two: join these")
        taken.update(rows)
        owner[rows] = min(rows, default=0)
    return regroup(fitted, owner)


def merge_similar(fitted: FittedTopics, min_cosine: float) -> FittedTopics:
    """Merge near-duplicates, the closest pair first, until no pair is that close; see `merge`.

    Parameters
    ----------
    fitted : FittedTopics
    min_cosine : float
        Pairs of topics with at least this cosine are merged; between −1 and 1.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> topics = np.array([[0, 0], [1, 0], [1, 0.1], [0, 1]], np.float32)
    >>> merge_similar(FittedTopics.bare(vectors, topics, max_norm=7.0), 0.9).n_topics
    3
    """
    if not -1 <= min_cosine <= 1:
        raise DataError(f"min_cosine must be between -1 and 1, found {min_cosine}")
    return regroup(fitted, _join(fitted, 2, min_cosine, weighted=False))


def reduce(fitted: FittedTopics, n_topics: int) -> FittedTopics:
    """Merge topics until so many are left, small and similar ones first; see `merge`.

    Each step merges the pair with the smallest √(m_a m_b / (m_a + m_b)) · (1 − cosine), between
    Ward's rule (no root), which mixes small strangers, and cosines alone, which grow one giant.

    Parameters
    ----------
    fitted : FittedTopics
    n_topics : int
        How many topics to keep beside the null topic.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> topics = np.array([[0, 0], [1, 0], [1, 0.1], [0, 1]], np.float32)
    >>> reduce(FittedTopics.bare(vectors, topics, max_norm=7.0), 2).topics[2].tolist()
    [0.0, 1.0]
    """
    is_whole = isinstance(n_topics, int | np.integer)
    if not is_whole or not 1 <= n_topics < fitted.n_topics:
        raise DataError(
            "n_topics must be a whole number between 1 and the model's "
            f"{fitted.n_topics - 1}, found {n_topics!r}"
        )
    return regroup(fitted, _join(fitted, 1 + n_topics, -np.inf, weighted=True))


def relabel(fitted: FittedTopics, labels: Mapping[int, str | None]) -> FittedTopics:
    """Name topics.

    Parameters
    ----------
    fitted : FittedTopics
    labels : mapping of int to str or None
        Names by row; None takes a name away. Other topics keep theirs.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> relabel(FittedTopics.bare(vectors, np.eye(2, 2, -1), max_norm=7.0), {1: "pets"}).labels
    (None, 'pets')
    """
    if not isinstance(labels, Mapping):
        raise DataError(f"expected names of topics such as {{3: 'sea'}}, found {labels!r}")
    rows = _checked(fitted, labels, null=True)
    wrong = [label for label in labels.values() if not (label is None or isinstance(label, str))]
    if wrong:
        raise DataError(f"labels must be str or None, found {wrong[0]!r}: convert it with str()")
    new = dict(zip(rows, labels.values(), strict=True))
    return replace(fitted, labels=tuple(new.get(k, label) for k, label in enumerate(fitted.labels)))


def concatenate(*models: FittedTopics) -> FittedTopics:
    """Put the topics of several models side by side; their null topics become one.

    20 models of 15 topics give 281. The prior of the null topic is the mean of theirs. Settings
    on which all agree stay.

    Parameters
    ----------
    *models : FittedTopics
        On the same word vectors. Their training documents are taken for different ones, each
        model's after those of the model before it.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> bare = FittedTopics.bare(vectors, np.eye(2, 2, -1), max_norm=7.0)
    >>> concatenate(bare, bare, bare).n_topics
    4
    """
    _check_models(models)
    stacked = stack(models)
    owner = np.arange(stacked.n_topics)
    owner[list(accumulate((model.n_topics for model in models[:-1]), initial=0))] = 0
    joined = regroup(stacked, owner)
    # The mean and not the sum for the null topic: a document has one, as before.
    return replace(joined, alpha=np.append(joined.alpha[0] / len(models), joined.alpha[1:]))


def _checked(
    fitted: FittedTopics, indices: Iterable[int], null: bool = False, advice: str = ""
) -> list[int]:
    """Give rows as int; refuse what is no row, and the null topic unless it may be meant."""
    if not isinstance(indices, Iterable) or isinstance(indices, str):
        raise DataError(f"expected numbers of topics such as [1, 2], found {indices!r}{advice}")
    rows = list(indices)
    for row in rows:
        if isinstance(row, bool) or not isinstance(row, (int, np.integer)):
            raise DataError(f"expected rows of topics as int, found {row!r}")
        if not 0 <= row < fitted.n_topics:
            raise DataError(f"expected topics 1 to {fitted.n_topics - 1}, found {row}")
        if row == 0 and not null:
            raise DataError("topic 0 is the null topic, which is part of every model: leave it out")
    return [int(row) for row in rows]


def _check_models(models: tuple[FittedTopics, ...]) -> None:
    if not models:
        raise DataError("expected at least one model to concatenate, found none")
    for number, model in enumerate(models[1:], 2):
        if model.vectors is not models[0].vectors and model.vectors != models[0].vectors:
            found = f"{models[0].vectors} and {model.vectors} differ"
            raise VocabularyMismatch(
                f"models 1 and {number}: {found}; fit both on the same, "
                "with vectors=model.vectors_ of the first"
            )
        if model.settings.get(_NORMALIZER) != models[0].settings.get(_NORMALIZER):
            raise DataError(f"models 1 and {number} have another {_NORMALIZER}: fit both with one")


def tidy(table: Any) -> csr_array:
    return csr_array(table, dtype=np.float32).sorted_indices()


def _scores(topics: Floats, mass: Floats, k: int, weighted: bool) -> Floats:
    """Score the pairs of topic k with each: the cosine, or minus the loss of `reduce`."""
    inverse = inverse_norms(topics)
    cosines: Floats = (topics @ topics[k]) * inverse * inverse[k]
    return (cosines - 1) * np.sqrt(mass * mass[k] / (mass + mass[k])) if weighted else cosines


def _join(fitted: FittedTopics, n_topics: int, least: float, weighted: bool) -> Ints:
    """Join the best pair while it scores enough and there are more than n_topics; give owners."""
    owner = np.arange(fitted.n_topics)
    topics, mass = fitted.topics.astype(float), np.maximum(fitted.mass, _LEAST_MASS)
    scores = np.array([_scores(topics, mass, k, weighted) for k in range(len(owner))])
    scores[0] = scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    for _ in range(fitted.n_topics - n_topics):
        a, b = sorted(divmod(int(np.argmax(scores)), len(scores)))
        if scores[a, b] < least:
            break
        topics[a] = np.average(topics[[a, b]], axis=0, weights=mass[[a, b]])
        mass[a] += mass[b]
        owner[owner == b] = a
        scores[b] = scores[:, b] = -np.inf
        alive = np.isfinite(scores[a])
        scores[a, alive] = scores[alive, a] = _scores(topics, mass, a, weighted)[alive]
    return owner


def regroup(fitted: FittedTopics, owner: Ints) -> FittedTopics:
    """Merge topics with the same owner, the first of their rows; those of nobody are left out."""
    first = np.unique(owner[owner != _NOBODY])
    members = [np.flatnonzero(owner == k).tolist() for k in first]
    joined = [k for k, rows in enumerate(members) if len(rows) > 1]
    topics, offsets = fitted.topics[first], fitted.residuals[first]
    weight = np.maximum(fitted.mass, _LEAST_MASS)
    for k in joined:
        topics[k] = np.average(fitted.topics[members[k]], axis=0, weights=weight[members[k]])
    if joined:
        limit = fitted.settings.get(_NORMALIZER)
        offsets[joined] = topic_residuals(fitted.vectors, topics[joined], limit)
    offsets[0] = 0.0  # exactly, for the null topic
    sums = csr_array(np.array([np.isin(range(fitted.n_topics), rows) for rows in members]).T)
    return replace(
        fitted,
        topics=topics,
        residuals=offsets,
        alpha=np.array([fitted.alpha[rows].sum() for rows in members]),
        mass=np.array([fitted.mass[rows].sum() for rows in members]),
        pseudo=np.array([fitted.pseudo[rows].sum() for rows in members]),
        word_mass=tidy(fitted.word_mass @ sums),
        document_mass=tidy(fitted.document_mass @ sums),
        labels=tuple(_label([fitted.labels[k] for k in rows]) for rows in members),
        classes=tuple(_shared([fitted.classes[k] for k in rows]) for rows in members),
        representative=tuple(_documents([fitted.representative[k] for k in r]) for r in members),
    )


def _label(labels: list[str | None]) -> str | None:
    return " + ".join(dict.fromkeys(label for label in labels if label)) or None


def _shared(classes: list[str | None]) -> str | None:
    return classes[0] if len(set(classes)) == 1 else None


def _documents(lists: list[Representatives]) -> Representatives:
    """Add the proportions of documents; a list is as long as the longest of its parts."""
    total: dict[int, float] = {}
    for row, proportion in (pair for pairs in lists for pair in pairs):
        total[row] = total.get(row, 0.0) + proportion
    order = sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(order[: max(map(len, lists))])


def stack(models: Sequence[FittedTopics]) -> FittedTopics:
    """Put the topics of all models below each other, null topics and all."""
    settings = dict(models[0].settings)
    for model in models:
        other = model.settings
        settings = {k: v for k, v in settings.items() if k in other and other[k] == v}
    return replace(
        models[0],
        topics=np.concatenate([model.topics for model in models]),
        residuals=np.concatenate([model.residuals for model in models]),
        alpha=np.concatenate([model.alpha for model in models]),
        mass=np.concatenate([model.mass for model in models]),
        pseudo=np.concatenate([model.pseudo for model in models]),
        word_counts=np.sum([model.word_counts for model in models], axis=0),
        word_mass=tidy(hstack([model.word_mass for model in models])),
        word_documents=np.sum([model.word_documents for model in models], axis=0),
        document_mass=tidy(hstack([model.document_mass for model in models])),
        labels=tuple(label for model in models for label in model.labels),
        classes=tuple(class_ for model in models for class_ in model.classes),
        representative=_shifted(models),
        max_norm=max(model.max_norm for model in models),
        n_documents=sum(model.n_documents for model in models),
        settings=settings,
    )


def _shifted(models: Sequence[FittedTopics]) -> tuple[Representatives, ...]:
    """Number the documents of all models in one row."""
    starts = accumulate((model.n_documents for model in models[:-1]), initial=0)
    return tuple(
        tuple((start + row, proportion) for row, proportion in pairs)
        for model, start in zip(models, starts, strict=True)
        for pairs in model.representative
    )

"""Models of separate batches put together: topics that are the same become one.

Statistics of documents add: the tokens of words in a topic, its mass, the documents behind them.
So topics that match have their statistics added, and their vector is found again from these, as
after a batch (`topicvec.model.online`); topics that match none stay. The models come in an order
that depends on what they hold, the one with most tokens first, and each is matched one to one
with what the models before it have left, so the given order changes nothing but the order of
topics (`test_the_order_of_models_changes_only_the_order_of_topics`).
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine, LocalEngine, one_blas_thread
from topicvec.errors import DataError
from topicvec.model import operations
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import word_distributions
from topicvec.model.online import climb
from topicvec.model.spaces import one_space
from topicvec.model.state import Solver

__all__ = ["MIN_SIMILARITY", "Combined", "Sources", "combine", "match"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Sources = tuple[tuple[int, int], ...]

MIN_SIMILARITY = 0.5
_ROUNDS = 3  # of moving topics; with words of their own what vectors answer for moves too
_KEPT_UNKNOWN = 1000


class Combined(NamedTuple):
    """Topics of several models, and where they come from.

    Attributes
    ----------
    fitted : FittedTopics
        All topics.
    sources : tuple of tuples of (int, int)
        For each topic the models that it comes from, counted from 0, and its row there.
    """

    fitted: FittedTopics
    sources: tuple[Sources, ...]


@one_blas_thread()
def combine(
    models: Sequence[FittedTopics],
    *,
    min_similarity: float = MIN_SIMILARITY,
    engine: Engine | None = None,
) -> Combined:
    """Put models together that were fitted on separate documents.

    Topics are matched one to one, so that the similarity of all pairs is largest, weighed by
    their tokens; topics of different classes are no pair. Tokens and documents of a pair add, and
    its vector is found from both. The prior of a topic is the mean of the models', weighed by
    their tokens, with 0 for a model that lacks it.

    Parameters
    ----------
    models : sequence of FittedTopics
        On the same word vectors or comparable ones, see `topicvec.model.spaces.one_space`. Their
        training documents are taken for different ones, each model's after those before it.
    min_similarity : float
        Topics that are less alike, by `match`, are no pair; from 0 to 1.
    engine : Engine, optional
        Spreads the work.

    Returns
    -------
    Combined
        Topics in the order of the models. One model comes back as it is.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> bare = FittedTopics.bare(vectors, 3 * np.eye(3, 2, -1), max_norm=7.0)
    >>> combine([bare, operations.drop(bare, [1])]).sources
    (((0, 0), (1, 0)), ((0, 1),), ((0, 2), (1, 1)))
    """
    _check(models, min_similarity)
    if len(models) == 1:
        return Combined(models[0], tuple(((0, k),) for k in range(models[0].n_topics)))
    engine = LocalEngine(1) if engine is None else engine
    order = sorted(range(len(models)), key=lambda i: (-models[i].mass.sum(), _digest(models[i])))
    given = [_numbered(models, order, i) for i in order]
    moved = one_space(given)
    groups = _groups(given, moved, min_similarity, engine)
    fitted = _added(moved, groups)
    turned = moved[0].vectors is not given[0].vectors
    free = np.array([turned or len(group) > 1 for group in groups])
    free[0] = False
    place = None
    for _ in range(_ROUNDS if free.any() else 0):
        solver = Solver(max_norm=fitted.max_norm)
        fitted, place = climb(fitted, solver, engine, free, place)
    sources = [tuple(sorted((order[i], k) for i, k in group)) for group in groups]
    places = sorted(range(len(groups)), key=lambda k: (k > 0, sources[k]))
    settings = {**fitted.settings, **_learned(models)}
    fitted = replace(_permuted(fitted, places), settings=settings)
    return Combined(fitted, tuple(sources[k] for k in places))


def match(first: Floats, second: Floats, weights: Floats, min_similarity: float) -> Ints:
    """Pair the columns of two tables one to one, so that the weighed sum of likeness is largest.

    Likeness of two topics is the cosine of the square roots of their words' probabilities: 1 for
    the same, 0 if they share no word.

    Parameters
    ----------
    first, second : arrays, (W, K), (W, L)
        Probabilities of words in topics.
    weights : array, (K, L)
        How much each pair counts; a pair of weight 0 is none.
    min_similarity : float
        Columns that are less alike are no pair.

    Returns
    -------
    array of int, (K,)
        The column of the second table, or −1.

    Examples
    --------
    >>> match(np.eye(3)[:, :2], np.eye(3)[:, 1:], np.ones((2, 2)), 0.5).tolist()
    [-1, 0]
    """
    from scipy.optimize import linear_sum_assignment  # takes a while to import

    alike = np.sqrt(_unit(first)).T @ np.sqrt(_unit(second))
    gain = np.where(alike >= min_similarity, alike, 0.0) * weights
    rows, columns = linear_sum_assignment(gain, maximize=True)
    pairs = np.full(first.shape[1], -1)
    found = gain[rows, columns] > 0
    pairs[rows[found]] = columns[found]
    return pairs


def _unit(P: Floats) -> Floats:
    return np.asarray(P / np.maximum(P.sum(axis=0), 1e-300))


def _check(models: Sequence[FittedTopics], min_similarity: float) -> None:
    if not models:
        raise DataError("expected at least one model to combine, found none")
    if not 0 <= min_similarity <= 1:
        raise DataError(f"min_similarity must be between 0 and 1, found {min_similarity}")
    limits = {model.settings.get("n_normalizer_words") for model in models}
    if len(limits) > 1:
        raise DataError(
            f"the models have different n_normalizer_words, {sorted(map(str, limits))}: fit all "
            "with one"
        )


def _digest(model: FittedTopics) -> str:
    arrays = model.topics, model.mass, model.word_counts
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def _numbered(models: Sequence[FittedTopics], order: Sequence[int], i: int) -> FittedTopics:
    """Number documents so that they are in the order given once models stand in their own."""
    sizes = [model.n_documents for model in models]
    mine = sum(sizes[:i]) - sum(sizes[j] for j in order[: order.index(i)])
    best = tuple(
        tuple((mine + row, share) for row, share in pairs) for pairs in models[i].representative
    )
    return replace(models[i], representative=best)


def _groups(
    given: Sequence[FittedTopics], moved: Sequence[FittedTopics], least: float, engine: Engine
) -> list[list[tuple[int, int]]]:
    """Say which topics of the models, as (model, row), become one; null topics come first."""
    seen = np.flatnonzero(np.sum([model.word_counts for model in moved], axis=0))
    seen = seen if len(seen) else np.arange(len(moved[0].vectors))  # of models without documents
    tables = [_profiles(*pair, seen, engine) for pair in zip(given, moved, strict=True)]
    groups = [[(0, k)] for k in range(given[0].n_topics)]
    total, classes = tables[0], list(given[0].classes)
    for i, model in enumerate(given[1:], 1):
        shares = [table.sum(axis=0) / table.sum() for table in (total, tables[i])]
        same = [[a is None or b is None or a == b for b in model.classes] for a in classes]
        weights = np.sqrt(np.outer(*shares)) * np.array(same)
        pairs = np.append(0, 1 + match(total[:, 1:], tables[i][:, 1:], weights[1:, 1:], least))
        alone = np.setdiff1d(np.arange(1, model.n_topics), pairs)
        paired = np.append(0, np.flatnonzero(pairs))
        for k in paired:
            groups[k].append((i, int(pairs[k])))
            total[:, k] += tables[i][:, pairs[k]]
        groups += [[(i, int(k))] for k in alone]
        total = np.hstack([total, tables[i][:, alone]])
        classes += [model.classes[k] for k in alone]
    return groups


def _profiles(given: FittedTopics, moved: FittedTopics, seen: Ints, engine: Engine) -> Floats:
    """Give tokens (S, K) of the seen words, as probable as the topics make them."""
    P = word_distributions(given, engine)
    ids = given.vectors.ids
    rows = np.array([ids.get(moved.vectors.words[row], -1) for row in seen.tolist()])
    mine = np.where((rows >= 0)[:, None], P[rows], 0.0)
    return np.asarray(_unit(mine) * np.maximum(given.mass, 1e-9))


def _added(
    models: Sequence[FittedTopics], groups: Sequence[Sequence[tuple[int, int]]]
) -> FittedTopics:
    """Add up the statistics of each group; topics in the order of the groups."""
    starts = list(accumulate((model.n_topics for model in models[:-1]), initial=0))
    members = [[starts[i] + k for i, k in group] for group in groups]
    stacked = operations.stack(models)
    owner = np.arange(stacked.n_topics)
    for rows in members:
        owner[rows] = min(rows)
    joined = operations.regroup(stacked, owner)
    tokens = np.array([model.mass.sum() + 1e-9 for model in models])
    weight = np.repeat(tokens / tokens.sum(), [model.n_topics for model in models])
    alpha = [weight[rows] @ stacked.alpha[rows] for rows in members]
    pseudo = [_pseudo(stacked.pseudo[rows], weight[rows]) for rows in members]
    places = np.argsort(np.argsort([min(rows) for rows in members]))
    joined = _permuted(joined, places.tolist())
    return replace(joined, alpha=np.array(alpha), pseudo=np.array(pseudo))


def _pseudo(values: Floats, weight: Floats) -> float:
    """Average the pseudo-tokens of the parts that have words of their own."""
    own = np.isfinite(values)
    return float(np.average(values[own], weights=weight[own])) if own.any() else float("inf")


def _permuted(fitted: FittedTopics, places: Sequence[int]) -> FittedTopics:
    """Put topics into another order."""
    rows = list(places)
    changed: dict[str, Any] = {
        name: getattr(fitted, name)[rows]
        for name in ("topics", "residuals", "alpha", "mass", "pseudo")
    }
    for name in ("labels", "classes", "representative"):
        changed[name] = tuple(getattr(fitted, name)[row] for row in rows)
    for name in ("word_mass", "document_mass"):
        changed[name] = operations.tidy(getattr(fitted, name)[:, rows])
    return replace(fitted, **changed)


def _learned(models: Sequence[FittedTopics]) -> dict[str, Any]:
    """Put together what the models know of reading documents."""
    settings: list[Any] = [model.settings for model in models]
    phrases, unknown = Counter[str](), Counter[str]()
    for each in settings:
        phrases.update(each.get("phrases") or {})
        unknown.update(each.get("unknown_words") or {})
    known = set[str]().union(*(model.vectors.words for model in models))
    left = sorted((-n, word) for word, n in unknown.items() if word not in known)
    learned: dict[str, Any] = {
        "phrases": dict(sorted(phrases.items(), key=lambda pair: (-pair[1], pair[0]))),
        "unknown_words": {word: -n for n, word in left[:_KEPT_UNKNOWN]},
        "bounds": [],
    }
    if all("stop_words" in each for each in settings):  # a word that one model knows is read
        stop = set.intersection(*(set(each["stop_words"]) for each in settings))
        learned["stop_words"] = sorted(stop)
    return learned

"""A fit, from counts to topics: plan it, train, save on the way, sum up.

A fit is one `Plan` for each set of topics: one for a corpus, one for each class where classes
have their own. The loop over iterations is `train`: when to stop, whom to tell, what to keep if
it is broken off. Checkpoints are one safetensors file: for plan i the arrays of its state as
``i.topics``, ``i.theta`` and so on; the metadata has a fingerprint of the data and of the
settings that the bits depend on, so that a broken-off fit goes on to the same bits.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine, InPlace, interrupts_held
from topicvec.errors import DataError, EngineError, warn
from topicvec.model.estep import Inferred, even_theta, one_theta
from topicvec.model.fitted import FittedTopics, Setting, empty_table, topic_residuals
from topicvec.model.gem import iterate, rehearse
from topicvec.model.inference import (
    document_masses,
    infer_corpus,
    representatives,
    word_masses,
    word_table,
)
from topicvec.model.operations import concatenate
from topicvec.model.selection import count_topics, fewer_topics
from topicvec.model.start import (
    Seeds,
    document_frequencies,
    first_topics,
    fixed_topics,
    hold,
    seed_rows,
)
from topicvec.model.state import Corpus, Lexicon, Solver, StepInfo, TopicState, loaded
from topicvec.model.stored import StoredCounts
from topicvec.model.streamed import conclude_stored
from topicvec.stored import Layout, Stacked, Stored, open_tensors, write_tensors

__all__ = [
    "Plan",
    "class_rows",
    "conclude",
    "fit_plans",
    "plan_classes",
    "plan_corpus",
    "train",
    "warn_unconverged",
]

logger = logging.getLogger(__name__)

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Ints = NDArray[np.integer]
Callback = Callable[[StepInfo], object]
AnyPath = str | PathLike[str]

_LEARN_FROM = 10  # documents; a prior learned from fewer says more of chance than of topics
# Documents that share words are what tells topics apart; in fewer, one topic could make all words
# its own, and vectors rule (test_an_article_is_ruled_by_vectors).
_OWN_FROM = 20
_TOGETHER = 5  # iterations of each of several plans before it is the next one's turn
_EVERY = 10  # iterations between checkpoints
_LEAST_TOTAL, _MOST_TOTAL = 1e-6, 1e18  # tokens; beyond them the arithmetic fails
# Of v·t for one dimension: beyond it EM stops too early or not at all, or all topics are zero.
_LEAST_REACH, _MOST_REACH = 1e-6, 1e6
_NO_WORDS = "no document has a word with a vector: check language, letter case and tokenizer"
_LAYOUT = Layout("topicvec-checkpoint", 2, "checkpoint", "delete it and start again", oldest=2)
_POSITIVE = ("alpha", "theta", "own", "pseudo", "iteration")


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan(Solver):
    """All that the EM of one set of topics starts from, and how it goes.

    Parameters
    ----------
    vectors : WordVectors
        W vectors of N dimensions.
    counts : csr_array, (D, W)
        Counts of the documents.
    topics : array, (K, N), float32
        Topics to start from; row 0 is zero.
    alpha : array, (K,)
        Prior of the mixtures.
    tol : float
        It has converged when the bound of a token rose by less, twice in a row.
    max_iter : int
        Limit of iterations.
    allowed : array, (D, K), optional
        Topics that each document may use.
    free : array, (K,), optional
        Topics that may move; all but the null topic by default.
    labels : tuple of str or None
        Names of the topics.
    rows : array, optional
        Rows of these documents among all; all by default.
    group : str, optional
        Their class.
    n_held : int
        How many documents at the end are not the user's but hold topics to their seed words.
    rehearse : bool
        Whether the first iterations may be on a part of the vocabulary, see `rehearse`.
    **solver
        As for `Solver`.
    """

    vectors: WordVectors
    counts: csr_array
    topics: Floats
    alpha: Floats
    tol: float = 1e-3
    max_iter: int = 100
    allowed: Bools | None = None
    free: Bools | None = None
    labels: tuple[str | None, ...] = ()
    rows: Ints | None = None
    group: str | None = None
    n_held: int = 0
    rehearse: bool = False

    def last_change(self, state: TopicState) -> float:
        """The larger of the last two changes of the bound; infinite before there are two."""
        if self.pseudo_tokens != np.inf and not len(state.own):
            return float("inf")  # its topics have no words of their own yet
        latest = state.bounds[-3:]
        return float(np.abs(np.diff(latest)).max()) if len(latest) == 3 else float("inf")

    def is_done(self, state: TopicState | None) -> bool:
        """Whether there is nothing more to do."""
        return state is not None and (
            self.last_change(state) < self.tol or len(state.bounds) >= self.max_iter
        )

    def steps(
        self, engine: Engine, state: TopicState | None = None
    ) -> Iterator[tuple[TopicState, StepInfo]]:
        """Run EM until it is done, from its start or from a state, see `iterate`."""
        if self.is_done(state):
            return
        corpus = self.corpus
        lexicon = Lexicon.of(
            self.vectors.matrix, self.vectors.unigram, corpus.types, self.n_normalizer_words
        )
        first = self.first() if state is None else state
        if self.rehearse and state is None:
            first = rehearse(corpus, lexicon, first, self, engine, self.free, self.max_iter)
        for found, info in iterate(corpus, lexicon, first, self, engine, self.free):
            yield found, replace(info, max_iter=self.max_iter, group=self.group)
            if self.is_done(found):
                return

    @cached_property
    def corpus(self) -> Corpus:
        """The counts, laid out for an E-step."""
        if isinstance(self.counts, StoredCounts):
            return self.counts.corpus(len(self.topics))
        return Corpus.of(self.counts, len(self.topics), self.allowed)

    def first(self, corpus: Corpus | None = None) -> TopicState:
        """Give the state before the first iteration."""
        n_topics, alpha = len(self.topics), np.asarray(self.alpha, float)
        corpus = corpus or self.corpus
        return TopicState(
            topics=np.asarray(self.topics, np.float32),
            residuals=np.zeros(n_topics),
            alpha=alpha,
            theta=even_theta(corpus, alpha) if self.start == "even" else one_theta(corpus),
            curvature=np.ones(n_topics),
            own=np.zeros((0, n_topics), np.float32),
            pseudo=np.full(n_topics, np.inf),
        )


def plan_corpus(
    vectors: WordVectors,
    counts: csr_array,
    n_topics: int,
    alpha: float | Floats,
    init: Any,
    solver: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    seed_words: Seeds | None = None,
    fixed: Any = None,
    allowed: Bools | None = None,
    engine: Engine | None = None,
    **more: Any,
) -> Plan:
    """Plan one set of topics, perhaps guided and perhaps not all for every document.

    ``solver`` are fields of `Solver`, ``more`` further ones of the plan; the ``engine`` spreads
    the work of finding where topics start.
    """
    if isinstance(init, str) and init == "auto" and solver.get("start") == "paper":
        init = "random"
    solver = {"max_norm": Solver.max_norm, **solver}
    types = np.flatnonzero(document_frequencies(counts))
    if len(types) == 0:
        raise DataError(_NO_WORDS)
    _check_reach(vectors.matrix[types], solver["max_norm"])
    if not _LEAST_TOTAL < (total := float(counts.sum())) < _MOST_TOTAL:
        raise DataError(f"counts and weights add up to {total:g}: scale them to numbers of words")
    kept, kept_labels = ((), ()) if fixed is None else fixed_topics(vectors, fixed)
    seeds, seed_labels = ((), ()) if seed_words is None else seed_rows(vectors, seed_words)
    topics = first_topics(
        vectors, counts, n_topics, init, solver["max_norm"], rng,
        fixed=kept, seeds=seeds, allowed=allowed, engine=engine,
    )  # fmt: skip
    if solver.get("learn_alpha") and not _enough_to_learn(counts):
        solver = {**solver, "learn_alpha": False}
    none_free = len(kept) == n_topics - 1  # a fit would wait for their own words, and never end
    if none_free or np.count_nonzero(np.diff(counts.indptr)) < _OWN_FROM:
        solver = {**solver, "pseudo_tokens": np.inf}
    if seeds:
        counts, allowed = hold(counts, allowed, seeds, 1 + len(kept), n_topics)
    labels = (None, *kept_labels, *seed_labels)
    return Plan(
        vectors=vectors,
        counts=counts,
        topics=topics,
        alpha=np.broadcast_to(np.asarray(alpha, float), (n_topics,)).copy(),
        allowed=allowed,
        free=np.arange(n_topics) > len(kept) if len(kept) else None,
        labels=labels + (None,) * (n_topics - len(labels)),
        n_held=len(seeds),
        rehearse=isinstance(init, str) and solver.get("method", "newton") == "newton",
        **solver,
        **more,
    )


def _check_reach(matrix: Floats, max_norm: float) -> None:
    """Refuse vectors and a ball for which v·t is beyond what the arithmetic can tell apart."""
    with np.errstate(over="ignore"):
        reach = float(np.abs(matrix).max()) * float(max_norm)
    if np.isfinite(max_norm) and (reach > _MOST_REACH or 0 < reach < _LEAST_REACH):
        raise DataError(
            f"numbers of the word vectors times max_norm reach {reach:.3g}, expected between "
            f"{_LEAST_REACH:g} and {_MOST_REACH:g}: scale the vectors to lengths near 1, or "
            f"change max_norm={max_norm:g}"
        )


def _check_finite(fitted: FittedTopics) -> None:
    """Refuse to give out topics that the arithmetic has lost."""
    parts = {"topics": fitted.topics, "residuals": fitted.residuals, "prior": fitted.alpha}
    parts |= {"mass": fitted.mass, "words": fitted.word_mass.data}
    wrong = [name for name, part in parts.items() if not np.isfinite(part).all()]
    if wrong:
        raise DataError(
            f"the fit ended with {' and '.join(wrong)} that are no finite numbers: the word "
            "vectors, alpha, max_norm or weights are too large or too small for the arithmetic"
        )


def plan_classes(
    vectors: WordVectors, counts: csr_array, classes: dict[str, Ints], number: int | str,
    prior: Callable[[int], Floats], init: Any, solver: Mapping[str, Any],
    rng: np.random.Generator, **more: Any,
) -> list[Plan]:  # fmt: skip
    """Plan a set of topics for each class that has known words, so many beside the null topic."""
    plans = []
    for (name, rows), own in zip(classes.items(), rng.spawn(len(classes)), strict=True):
        mine = counts[rows]
        asked = count_topics(vectors, mine) if isinstance(number, str) else number
        if room := fewer_topics(asked, mine, f"class {name!r}"):
            alpha = prior(1 + asked)[: 1 + room]
            plan = plan_corpus(vectors, mine, 1 + room, alpha, init, solver, own, **more)
            plans.append(replace(plan, group=name, rows=rows))
    if not plans:
        raise DataError(_NO_WORDS)
    return plans


def class_rows(y: Sequence[object] | Ints, n_documents: int) -> dict[str, Ints]:
    """Find the rows of each class, classes in order.

    Examples
    --------
    >>> class_rows(["b", "a", "b"], 3)
    {'a': array([1]), 'b': array([0, 2])}
    """
    labels = np.asarray(y)
    if labels.shape != (n_documents,):
        raise DataError(
            f"y must have a class for each of the {n_documents} documents; "
            f"found shape {labels.shape}"
        )
    names, numbers = np.unique(labels.astype(str), return_inverse=True)
    return {str(name): np.flatnonzero(numbers == number) for number, name in enumerate(names)}


def fit_plans(
    plans: Sequence[Plan], engine: Engine, n_documents: int, *,
    callback: Callback | None = None, checkpoint: AnyPath | None = None,
) -> tuple[FittedTopics, Floats | None]:  # fmt: skip
    """Train all plans and sum up.

    Parameters
    ----------
    plans : sequence of Plan
        One for each set of topics.
    engine : Engine
        Spreads the work.
    n_documents : int
        Number of documents of all plans, and of those without known words.
    callback : callable, optional
        Told of each iteration.
    checkpoint : path, optional
        Where to save the states now and then, and to go on from.

    Returns
    -------
    FittedTopics, array (D, K)
        All topics, their history among the settings; and the mixtures of the documents, unless
        these are a prepared corpus.
    """
    # Threads share the plans and take one each; any other engine spreads the pieces of each plan.
    spread = engine if getattr(engine, "shares_memory", False) else InPlace()
    states, history = train(plans, engine, spread, callback, checkpoint)
    with interrupts_held() as held:
        pairs = list(zip(plans, states, strict=True))
        parts = list(spread.map(lambda pair: conclude(*pair, engine), pairs))
        mixtures = [found.proportions for _, found in parts if found is not None]
        if len(parts) == 1 and plans[0].rows is None:
            fitted, proportions = parts[0][0], mixtures[0] if mixtures else None
        else:
            rows = [np.asarray(plan.rows) for plan in plans]
            fitted = _join([part[0] for part in parts], rows, n_documents)
            proportions = _side_by_side(mixtures, rows, fitted)
    if held:
        warn("interrupted after the last iteration: this is the whole model", RuntimeWarning)
        history |= {"interrupted": True}
    return replace(fitted, settings={**fitted.settings, **history}), proportions


def train(
    plans: Sequence[Plan], engine: Engine, spread: Engine, callback: Callback | None = None,
    checkpoint: AnyPath | None = None,
) -> tuple[list[TopicState], dict[str, Setting]]:  # fmt: skip
    """Improve all sets of topics until they are done; Ctrl-C keeps what there is.

    ``spread`` maps over plans, ``engine`` over the pieces of each.

    Returns
    -------
    list of TopicState, dict
        Where each plan ended; and the history of all, see `_history`.
    """
    mark, states = "", cast("list[TopicState | None]", [None] * len(plans))
    if checkpoint is not None:
        mark = _fingerprint(plans)
        states = _load(checkpoint, mark, plans)
    runs = [plan.steps(engine, state) for plan, state in zip(plans, states, strict=True)]
    left, n_steps = list(range(len(plans))), 1 if len(plans) == 1 else _TOGETHER
    try:
        while left:
            news: list[StepInfo] = []
            rounds = spread.map(lambda run: list(islice(run, n_steps)), [runs[i] for i in left])
            for i, steps in zip(tuple(left), rounds, strict=True):
                states[i] = steps[-1][0] if steps else states[i]
                news += [info for _, info in steps]
                if len(steps) < n_steps:
                    left.remove(i)
            for info in news:
                where = "" if info.group is None else f"{info.group}, "
                facts = info.iteration, info.bound, info.change
                logger.info("%siteration %d: bound %.5f, change %.2g", where, *facts)
                if callback is not None:
                    callback(info)
            if checkpoint is not None and any(info.iteration % _EVERY == 0 for info in news):
                _save(checkpoint, mark, states)
    except EngineError as error:
        if checkpoint is None:
            raise
        raise EngineError(f"{error}; {_kept(checkpoint, mark, states)}") from error
    except KeyboardInterrupt:
        if not any(states):
            raise
        n_iterations = max(len(state.bounds) for state in states if state)
        warn(
            f"interrupted after {n_iterations} iterations: this is the model so far", RuntimeWarning
        )
    with interrupts_held() as held:
        if checkpoint is not None:
            _save(checkpoint, mark, states)
        ended = [state or plan.first() for plan, state in zip(plans, states, strict=True)]
        history = _history(plans, ended, interrupted=bool(left))
    return ended, history | ({"interrupted": True} if held else {})


def _history(
    plans: Sequence[Plan], states: Sequence[TopicState], interrupted: bool
) -> dict[str, Setting]:
    """Sum up how fits went: the bound for each token of all, after each iteration.

    One that is done keeps its last bound, so that this bound never falls either; one that was
    broken off before its first iteration has none and is left out.
    """
    pairs = list(zip(plans, states, strict=True))
    begun = [(plan.counts.sum(), state.bounds) for plan, state in pairs if state.bounds]
    n_iterations = max(len(bounds) for _, bounds in begun)
    tokens = np.array([n_tokens for n_tokens, _ in begun], float)
    filled = [(*bounds, *bounds[-1:] * (n_iterations - len(bounds))) for _, bounds in begun]
    change = max(plan.last_change(state) for plan, state in pairs)
    total: list[Setting] = ((tokens @ np.array(filled)) / tokens.sum()).tolist()
    # one that ended by itself before its limit had only rounding left to improve
    ended = [not interrupted and len(state.bounds) < plan.max_iter for plan, state in pairs]
    return {
        "bounds": total,
        "n_iter": n_iterations,
        "converged": all(
            plan.last_change(state) < plan.tol or end
            for (plan, state), end in zip(pairs, ended, strict=True)
        ),
        "interrupted": interrupted,
        "last_change": change if np.isfinite(change) else None,  # JSON has no infinity
    }


def warn_unconverged(history: Mapping[str, Any], tol: float, max_iter: int) -> None:
    """Say that a fit stopped before it had converged, and what to do."""
    from sklearn.exceptions import ConvergenceWarning

    change = history["last_change"]
    rise = "still rises" if change is None else f"last rose by {change:.2g}"
    warn(
        f"not converged after {history['n_iter']} iterations: the bound for a token {rise}, "
        f"tol is {tol:g}; raise max_iter={max_iter}, or tol if this is good enough",
        ConvergenceWarning,
    )


def conclude(plan: Plan, state: TopicState, engine: Engine) -> tuple[FittedTopics, Inferred | None]:
    """Make the record of what EM has found, and the mixtures of documents in memory."""
    n_documents = int(plan.counts.shape[0]) - plan.n_held
    if isinstance(plan.counts, StoredCounts):
        bare = _record(plan, state, plan.counts)
        whole = conclude_stored(bare, plan.counts, state, engine)
        _check_finite(whole)
        return whole, None
    corpus, start, counts = plan.corpus, state.theta, plan.counts
    if plan.n_held:
        counts = counts[:n_documents]
        allowed = None if plan.allowed is None else plan.allowed[:n_documents]
        corpus = Corpus.of(counts, len(plan.topics), allowed)
        start = corpus.cut(np.concatenate(start)[:n_documents])
    fitted = _record(plan, state, counts)
    found = infer_corpus(fitted, corpus, engine, start)
    masses = word_masses(found, len(plan.vectors))
    n_having, documents = document_masses(found, masses, engine)
    seen = replace(fitted, mass=found.mass, word_mass=masses, word_documents=n_having)
    best = representatives(found.proportions)
    _check_finite(seen)
    return replace(seen, document_mass=documents, representative=best), found


def _record(plan: Plan, state: TopicState, counts: csr_array) -> FittedTopics:
    """Make the record of topics of which it is not yet known what the documents say."""
    n_words = len(plan.vectors.words)
    residuals, limit = state.residuals.astype(float), plan.n_normalizer_words
    if state.iteration == 0:  # broken off before its first iteration
        residuals = topic_residuals(plan.vectors, state.topics, limit)
    residuals[0] = 0  # not only up to rounding
    masses = empty_table(n_words, len(state.topics))
    if len(state.own):
        types = np.flatnonzero(document_frequencies(plan.counts))
        masses = word_table(state.own, types, n_words)
    return FittedTopics(
        pseudo=state.pseudo,
        vectors=plan.vectors,
        topics=state.topics,
        residuals=residuals,
        alpha=state.alpha,
        mass=np.zeros(len(state.topics)),
        word_counts=np.asarray(counts.sum(axis=0), float),
        word_mass=masses,
        word_documents=np.zeros(n_words),
        document_mass=empty_table(n_words, len(state.topics)),
        labels=plan.labels,
        classes=(None,) + (plan.group,) * (len(state.topics) - 1),
        representative=((),) * len(state.topics),
        max_norm=plan.max_norm,
        n_documents=int(counts.shape[0]),
        settings={"n_normalizer_words": limit},
    )


def _join(parts: Sequence[FittedTopics], rows: Sequence[Ints], n_documents: int) -> FittedTopics:
    """Put the topics of classes side by side, their null topics merged: 20 × 15 make 281."""
    joined = concatenate(*parts)
    order = np.concatenate(rows)  # from a document's place among the classes to its row
    best = tuple(
        tuple((int(order[place]), proportion) for place, proportion in pairs)
        for pairs in joined.representative
    )
    return replace(joined, representative=best, n_documents=n_documents)


def _side_by_side(
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


def _enough_to_learn(counts: csr_array) -> bool:
    """Say whether there are enough documents to learn the prior from; warn if not."""
    n_documents = int(np.count_nonzero(np.diff(counts.indptr)))
    if n_documents < _LEARN_FROM:
        warn(
            f"alpha='learn' needs at least {_LEARN_FROM} documents with known words; found "
            f"{n_documents}: alpha stays at 0.1"
        )
    return n_documents >= _LEARN_FROM


def _fingerprint(plans: Sequence[Plan]) -> str:
    """Digest what must be the same for a fit to go on: documents, vectors, prior, solver.

    Fixed topics are in it. The start is not, so that a fit without a seed can go on too; nor are
    ``max_iter`` and ``tol``, so that a finished fit can be given more.
    """
    digest = hashlib.sha256(plans[0].vectors.content_hash.encode())
    for plan in plans:
        how = {each.name: getattr(plan, each.name) for each in fields(Solver)}
        given = (how, plan.group, plan.topics.shape)
        digest.update(json.dumps(given, default=np.generic.item).encode())
        fixed = None if plan.free is None else plan.topics[~plan.free]
        for array in chain(_arrays(plan.counts), [plan.alpha, plan.allowed, plan.free, fixed]):
            if array is not None:
                wide = {"b": "<u1", "i": "<i8", "u": "<i8"}.get(array.dtype.kind, "<f8")
                digest.update(np.ascontiguousarray(array, wide).tobytes())
    return digest.hexdigest()


def _arrays(counts: csr_array) -> Iterator[NDArray[Any]]:
    """Give the arrays of counts, those in files a piece at a time."""
    if isinstance(counts, StoredCounts):
        return counts.arrays()
    return iter([counts.indptr, counts.indices, counts.data])


def _save(path: AnyPath, mark: str, states: Sequence[TopicState | None]) -> None:
    """Write where all plans stand, whole or not at all."""
    tensors = {
        f"{number}.{each.name}": _tensor(getattr(state, each.name))
        for number, state in enumerate(states)
        if state is not None
        for each in fields(TopicState)
    }
    about = {"format": _LAYOUT.name, "version": str(_LAYOUT.version), "fingerprint": mark}
    try:
        write_tensors(Path(path), tensors, about)
    except DataError as error:
        if not Path(path).parent.is_dir():
            raise
        raise EngineError(f"no checkpoint could be written: {error}") from error


def _kept(path: AnyPath, mark: str, states: Sequence[TopicState | None]) -> str:
    """Save what there is, if that can be done; say what a fit can go on from."""
    if any(states):
        with suppress(EngineError):  # the disk is full, or mixtures are lost
            _save(path, mark, states)
            return f"the fit so far is in {path}: with this checkpoint it goes on"
    if Path(path).exists():
        return f"the last checkpoint is {path}: with it the fit goes on from there"
    return f"there was nothing yet to save in {path}"


def _tensor(value: Any) -> Any:
    """Make one array of a field of a state; mixtures come shard by shard."""
    if not (isinstance(value, Sequence) and len(value)) or isinstance(value[0], float):
        return np.asarray(value)
    if all(isinstance(each, np.ndarray) for each in value):
        return np.concatenate(value)
    return Stacked(value, loaded)


def _load(path: AnyPath, mark: str, plans: Sequence[Plan]) -> list[TopicState | None]:
    """Read where plans stood; None for one that had not begun, or if there is no file yet."""
    if not Path(path).exists():
        return [None] * len(plans)
    filed = {
        f"{number}.theta": cast("StoredCounts", plan.counts)
        for number, plan in enumerate(plans)
        if isinstance(plan.counts, StoredCounts)
    }
    with open_tensors(Path(path), _LAYOUT, checksum=True) as file:
        metadata = file.metadata()
        _check_mark(path, metadata.get("fingerprint"), mark)
        names = [name for name in file.keys() if name != "checksum"]  # noqa: SIM118
        tensors = {name: file.get_tensor(name) for name in names if name not in filed}
        theta = {
            name: _mixtures(file.get_slice(name), filed[name], plans[0])
            for name in names
            if name in filed
        }
    stored = Stored(Path(path), metadata, tensors, _LAYOUT.advice)
    return [
        _state(stored, number, plan, theta.get(f"{number}.theta"))
        if any(name.startswith(f"{number}.") for name in stored.tensors)
        else None
        for number, plan in enumerate(plans)
    ]


def _check_mark(path: AnyPath, found: str | None, mark: str) -> None:
    if found != mark:
        raise DataError(
            f"the checkpoint {path} belongs to a fit with other documents, vectors or settings: "
            "use the same, delete it, or give another path"
        )


def _mixtures(table: Any, counts: StoredCounts, plan: Plan) -> Sequence[Any]:
    """Cut mixtures into shards without holding all of them; refuse what is none."""
    expected = [counts.shape[0], len(plan.topics)]
    if table.get_dtype() != "F32" or list(table.get_shape()) != expected:
        raise ValueError(f"expected mixtures of shape {expected}, found {table.get_shape()}")
    found = counts.cut(table)
    for part in map(loaded, found):
        if not (np.isfinite(part).all() and (part >= 0).all()):
            raise ValueError("mixtures that are negative or not finite")
    return found


def _state(
    stored: Stored, number: int, plan: Plan, theta: Sequence[Any] | None = None
) -> TopicState:
    """Give the state of a plan, of the right shapes; mixtures in files come by themselves."""
    n_topics, size = plan.topics.shape
    shapes: dict[str, tuple[int | None, ...]] = {
        "topics": (n_topics, size),
        "residuals": (n_topics,),
        "alpha": (n_topics,),
        "theta": (plan.counts.shape[0], n_topics),
        "curvature": (n_topics,),
        "own": (None, n_topics),
        "pseudo": (n_topics,),
        "iteration": (),
        "bound": (),
        "bounds": (None,),
    }
    if theta is not None:
        del shapes["theta"]
    values: dict[str, Any] = {
        name: stored.numbers(
            f"{number}.{name}",
            shape,
            "iu" if name == "iteration" else "f",
            least=0 if name in _POSITIVE else -np.inf,
            infinite=name in ("pseudo", "bound"),
        )
        for name, shape in shapes.items()
    }
    counts = plan.counts
    types = counts.types if isinstance(counts, StoredCounts) else np.unique(counts.indices)
    n_types = len(types)
    if len(values["own"]) not in (0, n_types):
        stored.refuse(f"{number}.own", f"0 or {n_types} rows", len(values["own"]))
    for name in ("iteration", "bound"):
        values[name] = values[name].item()
    if not 0 < values["iteration"] == len(values["bounds"]):
        wanted = f"a bound for each of {values['iteration']} iterations, at least one"
        stored.refuse(f"{number}.bounds", wanted, len(values["bounds"]))
    values |= {
        "bounds": tuple(values["bounds"].tolist()),
        "theta": theta or plan.corpus.cut(values["theta"]),
    }
    return TopicState(**values)

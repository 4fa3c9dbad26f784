"""One or several EM runs, from a plan to fitted topics.

The loop over iterations is here: when to stop, whom to tell, and what to keep if it is broken off.
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.model.corpus import Corpus, Lexicon
from topicvec.model.fitted import FittedTopics, Setting, empty_table
from topicvec.model.gem import iterate
from topicvec.model.inference import (
    Inferred,
    infer,
    representatives,
    word_masses,
)
from topicvec.model.mixtures import even_theta
from topicvec.model.rehearsal import rehearse
from topicvec.model.state import Settings, StepInfo, TopicState
from topicvec.model.tables import evaluate

__all__ = ["Plan", "Progress", "Run", "Watcher", "conclude", "train"]

logger = logging.getLogger(__name__)

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]

_TOGETHER = 5  # iterations of each of several runs before anyone is told


@dataclass(frozen=True, eq=False)
class Plan:
    """All that an EM run starts from.

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
    settings : Settings
        What the core is told.
    allowed : array, (D, K), optional
        Topics that each document may use.
    free : array, (K,), optional
        Topics that may move; all but the null topic by default.
    n_normalizer_words : int, optional
        Only so many of the most frequent words in the normaliser.
    group : str, optional
        The class of these documents.
    n_held : int
        How many documents at the end are not the user's but hold topics to their seed words.
    rehearse : bool
        Whether the first iterations may be on a part of the vocabulary, see `rehearse`.
    """

    vectors: WordVectors
    counts: csr_array
    topics: Floats
    alpha: Floats
    settings: Settings
    allowed: Bools | None = None
    free: Bools | None = None
    n_normalizer_words: int | None = None
    group: str | None = None
    n_held: int = 0
    rehearse: bool = False

    @property
    def n_documents(self) -> int:
        """Number of the user's documents."""
        return int(self.counts.shape[0]) - self.n_held


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each iteration.

    Parameters
    ----------
    iteration, max_iter : int
        Which iteration this was, and at most how many there will be.
    bound, change : float
        The bound for each token, and its rise in this iteration; infinite in the first.
    group : str or None
        The class, where each has its own topics.
    step : StepInfo
        Everything that the core tells.
    """

    iteration: int
    max_iter: int
    bound: float
    change: float
    group: str | None
    step: StepInfo


@dataclass(eq=False)
class Run:
    """An EM run that is advanced a few iterations at a time; the one mutable thing here.

    Parameters
    ----------
    plan : Plan
        Where it started.
    state : TopicState
        Where it is.
    steps : iterator of (TopicState, StepInfo)
        What comes next.
    tol : float
        It has converged when the bound of a token rose by less, twice in a row.
    max_iter : int
        Limit of iterations.
    bounds : list of float
        The bound for each token after each iteration so far.
    exhausted, interrupted : bool
        Whether only rounding was left to improve; whether the user broke it off.
    """

    plan: Plan
    state: TopicState
    steps: Iterator[tuple[TopicState, StepInfo]]
    tol: float
    max_iter: int
    bounds: list[float] = field(default_factory=list)
    exhausted: bool = False
    interrupted: bool = False

    @property
    def last_change(self) -> float:
        """The larger of the last two changes of the bound; infinite before there are two."""
        if len(self.bounds) < 3:
            return float("inf")
        return float(np.abs(np.diff(self.bounds[-3:])).max())

    @property
    def converged(self) -> bool:
        """Whether the bound has stopped rising."""
        return self.exhausted or self.last_change < self.tol

    @property
    def done(self) -> bool:
        """Whether there is nothing more to do."""
        return self.converged or len(self.bounds) >= self.max_iter

    def advance(self, n_iterations: int) -> list[Progress]:
        """Go on for some iterations, fewer if the run is done before."""
        news: list[Progress] = []
        while len(news) < n_iterations and not self.done:
            found = next(self.steps, None)
            if found is None:
                self.exhausted = True
                break
            self.state, step = found
            news.append(self._progress(step))
            self.bounds.append(step.bound_per_token)
        return news

    def _progress(self, step: StepInfo) -> Progress:
        return Progress(
            iteration=step.iteration,
            max_iter=self.max_iter,
            bound=step.bound_per_token,
            change=step.bound_per_token - (self.bounds[-1] if self.bounds else -np.inf),
            group=self.plan.group,
            step=step,
        )


Watcher = Callable[[Sequence[Run], Sequence[Progress]], None]


def begin(
    plan: Plan, engine: Engine, *, tol: float, max_iter: int,
    state: TopicState | None = None, bounds: Sequence[float] = (),
) -> Run:  # fmt: skip
    """Make a run of a plan, from its start or from a saved state."""
    corpus = Corpus.of(plan.counts, len(plan.topics), plan.allowed)
    lexicon = Lexicon.of(
        plan.vectors.matrix, plan.vectors.unigram, corpus.types, plan.n_normalizer_words
    )
    first = state or _first_state(plan, corpus)

    def steps() -> Iterator[tuple[TopicState, StepInfo]]:
        given = (plan.settings, engine, plan.free)
        fresh = plan.rehearse and state is None
        start = rehearse(corpus, lexicon, first, *given, max_iter) if fresh else first
        yield from iterate(corpus, lexicon, start, *given)

    return Run(plan, first, steps(), tol, max_iter, list(bounds))


def train(runs: Sequence[Run], engine: Engine, watch: Watcher) -> None:
    """Advance runs until all are done; Ctrl-C keeps what there is.

    Parameters
    ----------
    runs : sequence of Run
        A single run spreads its own work; several are spread over the engine.
    engine : Engine
        Spreads the runs.
    watch : callable
        Told of all runs and of their latest iterations.
    """
    try:
        while live := [run for run in runs if not run.done]:
            if len(runs) == 1:
                watch(runs, runs[0].advance(1))
                continue
            # All first, then the watcher: it must not see a run that is on its way.
            rounds = list(engine.map(lambda run: run.advance(_TOGETHER), live))
            watch(runs, [each for news in rounds for each in news])
    except KeyboardInterrupt:
        n_iterations = max(len(run.bounds) for run in runs)
        if n_iterations == 0:
            raise
        for run in runs:
            run.interrupted = True
        message = f"interrupted after {n_iterations} iterations: this is the model so far"
        warnings.warn(message, RuntimeWarning, stacklevel=6)


def conclude(
    run: Run, engine: Engine, settings: Mapping[str, Setting], labels: tuple[str | None, ...]
) -> tuple[FittedTopics, Inferred]:
    """Make the record of what a run has found, and the mixtures of its documents."""
    plan, state = run.plan, run.state
    counts, n_words = plan.counts[: plan.n_documents], len(plan.vectors)
    allowed = None if plan.allowed is None else plan.allowed[: plan.n_documents]
    fitted = FittedTopics(
        vectors=plan.vectors,
        topics=state.topics,
        residuals=_residuals(run, engine),
        alpha=state.alpha,
        mass=np.zeros(len(state.topics)),
        word_counts=np.asarray(counts.sum(axis=0), float),
        word_mass=empty_table(n_words, len(state.topics)),
        labels=labels,
        classes=(None,) + (plan.group,) * (len(state.topics) - 1),
        representative=((),) * len(state.topics),
        max_norm=plan.settings.max_norm,
        n_documents=plan.n_documents,
        settings={**settings, "n_normalizer_words": plan.n_normalizer_words},
    )
    start = state.theta[: plan.n_documents]
    found = infer(fitted, counts, engine, allowed=allowed, theta=start, compiled=None)
    masses = word_masses(found, n_words, engine)
    best = representatives(found.proportions)
    return replace(fitted, mass=found.mass, word_mass=masses, representative=best), found


def _first_state(plan: Plan, corpus: Corpus) -> TopicState:
    n_topics = len(plan.topics)
    return TopicState(
        topics=np.asarray(plan.topics, np.float32),
        residuals=np.zeros(n_topics),
        alpha=np.asarray(plan.alpha, float),
        theta=even_theta(corpus, np.asarray(plan.alpha, float)),
        curvature=np.ones(n_topics),
    )


def _residuals(run: Run, engine: Engine) -> Floats:
    residuals = run.state.residuals.astype(float)
    if run.state.iteration == 0:  # broken off before its first iteration
        plan, nothing = run.plan, np.zeros(0, np.int64)
        vectors, n_words = plan.vectors, plan.n_normalizer_words
        lexicon = Lexicon.of(vectors.matrix, vectors.unigram, nothing, n_words)
        residuals = -evaluate(engine, lexicon, run.state.topics).log_partition
    residuals[0] = 0  # not only up to rounding
    return residuals

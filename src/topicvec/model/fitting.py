"""From plans to one fitted record: train, watch, save on the way, drop what is not needed."""

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine, InPlace
from topicvec.model.checkpoint import fingerprint, load_checkpoint, save_checkpoint
from topicvec.model.fitted import FittedTopics, Setting
from topicvec.model.operations import merge_similar, prune
from topicvec.model.training import Plan, Progress, Run, begin, conclude, train

__all__ = ["Job", "Outcome", "fit_plans", "summary", "warn_unconverged"]

logger = logging.getLogger(__name__)

Floats = NDArray[np.floating]

_EVERY = 10  # iterations between checkpoints


@dataclass(frozen=True, eq=False)
class Job:
    """How to run EM, whatever the topics.

    Parameters
    ----------
    engine : Engine
        Spreads the work.
    tol, max_iter
        When to stop, see `Run`.
    callback : callable, optional
        Told of each iteration.
    checkpoint : path, optional
        Where to save the state now and then, and to go on from.
    verbose : int
        Whether to log each iteration.
    min_share, max_cosine : float, optional
        Drop topics with a smaller share of the tokens, merge those with a larger cosine, and go
        on with the rest.
    """

    engine: Engine
    tol: float
    max_iter: int
    callback: Callable[[Progress], object] | None = None
    checkpoint: str | PathLike[str] | None = None
    verbose: int = 0
    min_share: float | None = None
    max_cosine: float | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a plan.

    Parameters
    ----------
    fitted : FittedTopics
        The topics.
    proportions : array, (D, K)
        Mixtures of the user's documents.
    """

    fitted: FittedTopics
    proportions: Floats


def fit_plans(
    plans: Sequence[Plan], labels: tuple[str | None, ...] | None, job: Job
) -> tuple[list[Outcome], dict[str, Setting]]:
    """Train all plans and sum up.

    Parameters
    ----------
    plans : sequence of Plan
        One for each set of topics.
    labels : tuple of str or None, optional
        Names of the topics of a single plan.
    job : Job
        How to run them.

    Returns
    -------
    list of Outcome, dict
        For each plan its topics; and the history of the runs.
    """
    runs = _run(plans, job)
    history = summary(runs)
    if len(runs) > 1:  # each concludes on its own, side by side
        single = InPlace()
        outcomes = list(job.engine.map(lambda run: _conclude(run, single, None), runs))
    else:
        outcomes = [_conclude(runs[0], job.engine, labels)]
        outcomes, history = _refined(runs[0], outcomes[0], history, job)
    return outcomes, history


def summary(runs: Sequence[Run]) -> dict[str, Setting]:
    """Sum up runs: the bound for each token of all, after each iteration.

    A run that is done keeps its last bound, so that this bound never falls either; one that was
    broken off before its first iteration has none and is left out.
    """
    begun = [run for run in runs if run.bounds]
    n_iterations = max(len(run.bounds) for run in begun)
    tokens = np.array([run.plan.counts.sum() for run in begun], float)
    bounds = np.array([_filled(run.bounds, n_iterations) for run in begun])
    change = max(run.last_change for run in runs)
    total: list[Setting] = ((tokens @ bounds) / tokens.sum()).tolist()
    return {
        "bounds": total,
        "n_iter": n_iterations,
        "converged": all(run.converged for run in runs),
        "interrupted": any(run.interrupted for run in runs),
        "last_change": change if np.isfinite(change) else None,  # JSON has no infinity
    }


def _run(plans: Sequence[Plan], job: Job) -> list[Run]:
    mark = "" if job.checkpoint is None else fingerprint(plans)
    saved = None if job.checkpoint is None else load_checkpoint(job.checkpoint, mark, len(plans))
    engine: Engine = job.engine if len(plans) == 1 else InPlace()
    runs = [
        begin(
            plan, engine, tol=job.tol, max_iter=job.max_iter,
            state=saved[number][0] if saved else None, bounds=saved[number][1] if saved else (),
        )
        for number, plan in enumerate(plans)
    ]  # fmt: skip
    train(runs, job.engine, lambda runs, news: _watch(runs, news, job, mark))
    if job.checkpoint is not None:
        save_checkpoint(job.checkpoint, mark, runs)
    return runs


def _watch(runs: Sequence[Run], news: Sequence[Progress], job: Job, mark: str) -> None:
    for each in news:
        if job.verbose:
            where = "" if each.group is None else f"{each.group}, "
            logger.info(
                "%siteration %d: bound %.5f, change %.2g",
                where, each.iteration, each.bound, each.change,
            )  # fmt: skip
        if job.callback is not None:
            job.callback(each)
    due = any(each.iteration % _EVERY == 0 for each in news)
    if job.checkpoint is not None and due:
        save_checkpoint(job.checkpoint, mark, runs)


def _conclude(run: Run, engine: Engine, labels: tuple[str | None, ...] | None) -> Outcome:
    named = (None,) * len(run.state.topics) if labels is None else labels
    fitted, inferred = conclude(run, engine, {}, named)
    return Outcome(fitted, inferred.proportions)


def _refined(
    run: Run, outcome: Outcome, history: dict[str, Setting], job: Job
) -> tuple[list[Outcome], dict[str, Setting]]:
    """Drop and merge topics and go on with the rest, until nothing is left to drop.

    The history is that of the last run: bounds of more and of fewer topics are no one curve.
    """
    once = replace(job, checkpoint=None)  # its state has the number of topics it began with
    while not run.interrupted:
        fewer = _fewer(outcome.fitted, job)
        if fewer.n_topics == outcome.fitted.n_topics:
            break
        plan = replace(run.plan, topics=fewer.topics, alpha=fewer.alpha)
        run = _run([plan], once)[0]
        outcome, history = _conclude(run, job.engine, fewer.labels), summary([run])
    return [outcome], history


def _fewer(fitted: FittedTopics, job: Job) -> FittedTopics:
    if job.max_cosine is not None:
        fitted = merge_similar(fitted, job.max_cosine)
    if job.min_share is None:
        return fitted
    largest = float(fitted.mass[1:].max() / fitted.mass.sum())  # stays, however small
    return prune(fitted, min(job.min_share, largest))


def _filled(bounds: Sequence[float], length: int) -> list[float]:
    return [*bounds, *[bounds[-1]] * (length - len(bounds))]


def warn_unconverged(history: Mapping[str, Setting], job: Job) -> None:
    """Say that a fit stopped before it had converged, and what to do."""
    if history["converged"] or history["interrupted"]:  # of which there was a warning already
        return
    from sklearn.exceptions import ConvergenceWarning

    change = history["last_change"]
    warnings.warn(
        f"not converged after {history['n_iter']} iterations: the bound for a token "
        f"{'still rises' if change is None else f'last rose by {change:.2g}'}, "
        f"tol is {job.tol:g}; raise max_iter={job.max_iter}, or tol "
        "if this is good enough",
        ConvergenceWarning,
        stacklevel=3,
    )

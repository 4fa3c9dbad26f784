"""Topics that go on learning, a batch of documents at a time.

Stepwise EM (Cappé & Moulines 2009): the statistics of a token are a running mean, in which a new
batch has the weight ρ = (tokens of the batch / tokens so far, its own included)^κ. For batches of
one size this is the usual t^−κ; a small batch after a large fit changes little.

The record of fitted topics holds all statistics that are needed (its masses of words give the
moments), so a saved model can go on learning.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.model import equations
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import (
    better,
    document_masses,
    infer,
    infer_corpus,
    log_unigram,
    representatives,
    word_masses,
)
from topicvec.model.mstep import Tables, evaluate, m_step
from topicvec.model.own import own_moment
from topicvec.model.state import DocStats, Lexicon, Solver, TopicState

__all__ = ["batch_weight", "climb", "learn_batch"]

Floats = NDArray[np.floating]

_KAPPA = 0.7
_N_STEPS = 5  # of the topics after a batch, at most
_LEAST_RISE = 3e-3  # nats a token; after less, more steps bring nothing: later batches correct it
_ROWS = 4096  # words at a time


class Place(NamedTuple):
    """Tables of topics where they stand, with which the next batch begins."""

    topics: Floats
    vectors: WordVectors
    tables: Tables

    def is_of(self, fitted: FittedTopics) -> bool:
        """Say whether these topics still stand there, over the same words."""
        same = self.vectors is fitted.vectors
        return same and np.array_equal(self.topics, fitted.topics)


class Learned(NamedTuple):
    """What a batch has taught.

    Attributes
    ----------
    fitted : FittedTopics
        Masses are in tokens, of all documents so far; a topic's mass fades as newer documents
        have less of it.
    proportions : array, (D, K)
        Of the documents of the batch.
    place : Place, optional
        For the next batch.
    """

    fitted: FittedTopics
    proportions: Floats
    place: Place | None


def batch_weight(n_batch: float, n_before: float) -> float:
    """Say how much a batch counts in the running mean.

    Examples
    --------
    >>> batch_weight(100.0, 0.0)
    1.0
    >>> round(batch_weight(100.0, 300.0), 3) == round(4**-0.7, 3)
    True
    """
    return float((n_batch / (n_before + n_batch)) ** _KAPPA)


def learn_batch(
    fitted: FittedTopics,
    counts: csr_array,
    solver: Solver,
    engine: Engine,
    free: NDArray[np.bool_] | None = None,
    start: FittedTopics | None = None,
    place: Place | None = None,
) -> Learned:
    """Learn from more documents.

    Parameters
    ----------
    fitted : FittedTopics
        The topics so far.
    counts : csr_array, (D, W)
        Counts of the new documents over the rows of the vectors.
    solver : Solver
        How topics move.
    engine : Engine
        Spreads the work.
    free : array, (K,), optional
        Topics that may move; all but the null topic by default.
    start : FittedTopics, optional
        What to find the documents' mixtures with: the same topics, where some that are new have
        words of their own already.
    place : Place, optional
        What the batch before has left.

    Returns
    -------
    Learned
    """
    found = infer(fitted if start is None else start, counts, engine)
    if found.n_tokens == 0:
        return Learned(fitted, found.proportions, place)
    new_mass = word_masses(found, len(fitted.vectors))
    n_having, new_documents = document_masses(found, new_mass, engine)
    n_before = float(fitted.mass.sum())
    weight = batch_weight(found.n_tokens, n_before)
    total = n_before + found.n_tokens
    fade = total * (1 - weight) / max(n_before, 1e-300)
    gain = total * weight / found.n_tokens
    blended = replace(
        fitted,
        mass=fade * fitted.mass + gain * found.mass,
        word_mass=_faded(fade * fitted.word_mass + gain * new_mass),
        word_counts=fitted.word_counts + np.asarray(counts.sum(axis=0), float),
        word_documents=fitted.word_documents + n_having,
        document_mass=_faded(fade * fitted.document_mass + gain * new_documents),
        representative=tuple(
            better(old, new, fitted.n_documents)
            for old, new in zip(
                fitted.representative, representatives(found.proportions), strict=True
            )
        ),
        n_documents=fitted.n_documents + int(counts.shape[0]),
    )
    free = np.arange(fitted.n_topics) > 0 if free is None else free
    learned, place = climb(blended, solver, engine, free, place)
    near = found.corpus.cut(found.theta)  # where the mixtures are nearly already
    again = infer_corpus(learned, found.corpus, engine, near)
    return Learned(learned, again.proportions, place)


def _faded(table: csr_array) -> csr_array:
    data = table.data.astype(np.float32)
    data[data < 1e-3] = 0
    table = csr_array((data, table.indices, table.indptr), shape=table.shape)
    table.eliminate_zeros()
    table.sort_indices()
    return table


def climb(
    fitted: FittedTopics, solver: Solver, engine: Engine, free: NDArray[np.bool_],
    place: Place | None = None,
) -> tuple[FittedTopics, Place]:  # fmt: skip
    """Move the topics a few steps up, for the statistics that the record has.

    Parameters
    ----------
    fitted, solver, engine
        As for `learn_batch`.
    free : array, (K,)
        Topics that may move.
    place : Place, optional
        Where topics stand, if that is known.

    Returns
    -------
    FittedTopics
        With other topics and their residuals, and all else as it was.
    Place
        Where they stand now.
    """
    stats = _statistics(fitted)
    state = TopicState(
        topics=fitted.topics,
        residuals=fitted.residuals,
        alpha=fitted.alpha,
        theta=(),
        curvature=np.ones(fitted.n_topics),
        own=np.zeros((0, fitted.n_topics), np.float32),
        pseudo=fitted.pseudo,
    )
    n_normalizer = fitted.settings.get("n_normalizer_words")
    lexicon = Lexicon.of(
        fitted.vectors.matrix,
        fitted.vectors.unigram,
        np.zeros(0, np.int64),
        n_normalizer if isinstance(n_normalizer, int) else None,
    )
    known = place is not None and place.is_of(fitted)
    tables = place.tables if known else evaluate(engine, lexicon, state.topics)  # type: ignore[union-attr]
    for _ in range(_N_STEPS):
        state, tables, rise, _ = m_step(engine, lexicon, state, stats, tables, solver, free)
        state = replace(state, iteration=state.iteration + 1)
        if solver.method == "newton" and rise < _LEAST_RISE * stats.n_tokens:
            break
    residuals = state.residuals.astype(float)
    residuals[0] = 0  # not only up to rounding
    moved = replace(fitted, topics=state.topics, residuals=residuals)
    return moved, Place(moved.topics, moved.vectors, tables)


def _statistics(fitted: FittedTopics) -> DocStats:
    # The mass is that of the kept entries, so that moment / mass is a true mean.
    used = np.flatnonzero(np.diff(fitted.word_mass.indptr))
    kept = fitted.word_mass[used]
    mass = np.asarray(kept.sum(axis=0), float)
    if np.isfinite(fitted.pseudo).any():
        drawn, moment = _drawn(fitted, used)
    else:
        drawn, moment = mass, np.asarray(kept.T @ fitted.vectors.matrix[used], float)
    return DocStats(
        mass=mass,
        drawn=drawn,
        moment=moment,
        log_phi=np.zeros(fitted.n_topics),
        bound=0.0,
        n_tokens=float(fitted.mass.sum()),
        n_documents=fitted.n_documents,
        n_passes=0,
    )


def _drawn(fitted: FittedTopics, used: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Give the tokens that vectors answer for, and their moment, where topics have own words."""
    drawn, moment = np.zeros(fitted.n_topics), np.zeros(fitted.topics.shape)
    for start in range(0, len(used), _ROWS):
        words = used[start : start + _ROWS]
        V, C = fitted.vectors.matrix[words], fitted.word_mass[words].toarray()
        unigram, dots = np.exp(log_unigram(fitted, words)), equations.logits(V, fitted.topics)
        _, S, part, _ = own_moment(fitted.residuals, fitted.pseudo, V, dots, C, unigram, C)
        drawn, moment = drawn + S, moment + part
    return drawn, moment

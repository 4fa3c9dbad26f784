"""The loop: generalised EM whose bound never falls.

`iterate` is a generator: progress, early stop, checkpoints and live plots are the caller's loop.
An iteration is an E-step (`expect`), which finds the documents' mixtures and adds up what they
say, and a step of the topics (`m_step`) and, if asked, of the prior.
"""

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from topicvec.engine import Engine
from topicvec.model.corpus import Corpus, Lexicon
from topicvec.model.mixtures import mass_of_words, mix
from topicvec.model.prior import learn_alpha
from topicvec.model.solvers import accept, propose
from topicvec.model.state import DocStats, Settings, StepInfo, TopicState
from topicvec.model.tables import Tables, evaluate, exp_table

__all__ = ["expect", "iterate", "m_step"]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]


def iterate(
    corpus: Corpus,
    lexicon: Lexicon,
    state: TopicState,
    settings: Settings,
    engine: Engine,
    free: Bools | None = None,
) -> Iterator[tuple[TopicState, StepInfo]]:
    """Improve a state for as long as the caller asks and the bound rises.

    Parameters
    ----------
    corpus, lexicon : Corpus, Lexicon
        The counts and the words.
    state : TopicState
        Where to start or to go on, see `topicvec.model.start`.
    settings : Settings
        How to go.
    engine : Engine
        How work is spread; the result does not depend on it.
    free : array of bool, (K,), optional
        Topics that may move. The null topic never does.

    Yields
    ------
    state, info : TopicState, StepInfo
        After each iteration. With the default solver the loop ends by itself when rounding is
        all that is left, so that the bound never falls.
    """
    movable = np.ones(len(state.topics), bool) if free is None else np.array(free, bool)
    movable[0] = False
    tables = evaluate(engine, lexicon, state.topics)
    while True:
        started = perf_counter()
        theta, stats = expect(engine, corpus, lexicon, tables, state, settings)
        middle = perf_counter()
        found = replace(state, theta=theta)
        found, tables, gained, n_accepted = m_step(
            engine, lexicon, found, stats, tables, settings, movable
        )
        if settings.learn_alpha:
            alpha, more = learn_alpha(corpus, stats, found.alpha)
            found, gained = replace(found, alpha=alpha), gained + more
        bound = stats.bound + gained
        if settings.solver == "newton" and bound < state.bound:
            return
        change = (bound - state.bound) / stats.n_tokens
        state = replace(found, bound=bound, iteration=state.iteration + 1)
        yield (
            state,
            StepInfo(
                iteration=state.iteration,
                bound=bound,
                bound_per_token=bound / stats.n_tokens,
                change=change,
                topic_mass=stats.mass,
                n_accepted=n_accepted,
                n_passes=stats.n_passes,
                seconds_e=middle - started,
                seconds_m=perf_counter() - middle,
            ),
        )


def expect(
    engine: Engine,
    corpus: Corpus,
    lexicon: Lexicon,
    tables: Tables,
    state: TopicState,
    settings: Settings,
) -> tuple[Floats, DocStats]:
    """E-step: the documents' mixtures (D, K) and their statistics."""
    table, peak, rounding = exp_table(engine, tables.dots, tables.log_partition)
    found = mix(
        engine, corpus, table, state.alpha, state.theta, settings.inner_tol, settings.max_passes
    )
    # The residuals were rounded to the table's precision; the bound is linear in them.
    bound = found.bound + corpus.type_counts @ peak + found.mass @ rounding
    moment = np.zeros((len(found.mass), lexicon.vectors.shape[1]))

    def block(words: slice) -> Floats:
        # Cᵀ V over the block's words: the third unavoidable matrix product. The vectors are taken
        # anew each time: kept side by side, those of all classes would fill the memory.
        return mass_of_words(corpus, found, words).T @ lexicon.vectors[lexicon.rows[words]]

    for part in engine.map(block, corpus.blocks):
        moment += part
    stats = DocStats(
        mass=found.mass,
        moment=moment,
        log_phi=_log_phi(engine, corpus, found.theta, settings.learn_alpha),
        bound=float(bound + corpus.type_counts @ lexicon.log_unigram),
        n_tokens=float(corpus.type_counts.sum()),
        n_documents=corpus.n_documents,
        n_passes=found.n_passes,
    )
    return found.theta, stats


def m_step(
    engine: Engine,
    lexicon: Lexicon,
    state: TopicState,
    stats: DocStats,
    tables: Tables,
    settings: Settings,
    free: Bools,
) -> tuple[TopicState, Tables, float, int]:
    """Move the topics; give also their tables, the rise of the bound, and how many moved."""
    proposal = propose(engine, lexicon, state, stats, tables, settings, free)
    proposed = evaluate(engine, lexicon, proposal.topics)
    moves, gained, curvature = accept(state, stats, proposal, tables, proposed, settings)
    tables = proposed.where(moves, tables)
    state = replace(
        state,
        topics=np.where(moves[:, None], proposal.topics, state.topics),
        residuals=-tables.log_partition + 0.0,
        curvature=curvature,
    )
    return state, tables, float(gained.sum()), int(moves.sum())


def _log_phi(engine: Engine, corpus: Corpus, theta: Floats, wanted: bool) -> Floats:
    """Sum E[log φ_dk] over the documents that may use topic k."""
    total = np.zeros(theta.shape[1])
    if not wanted:
        return total

    def shard(documents: slice) -> Floats:
        part = theta[documents]
        logs = digamma(np.where(part > 0, part, 1.0)) - digamma(part.sum(1, keepdims=True))
        return np.asarray(np.where(part > 0, logs, 0.0).sum(0))

    for part in engine.map(shard, corpus.shards):
        total += part
    return total

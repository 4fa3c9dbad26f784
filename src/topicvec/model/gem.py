"""The loop: generalised EM whose bound never falls.

`iterate` is a generator: progress, early stop, checkpoints and live plots are the caller's loop.
An iteration is an E-step (`expect`), which finds the documents' mixtures and adds up what they
say, and a step of the topics (`m_step`) and, if asked, of the prior.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from topicvec.engine import Engine
from topicvec.model.corpus import Corpus, Lexicon
from topicvec.model.kernels import e_step, weight_floor, word_mass
from topicvec.model.prior import learn_alpha
from topicvec.model.solvers import accept, propose
from topicvec.model.state import DocStats, Settings, StepInfo, TopicState
from topicvec.model.tables import Tables, evaluate, exp_table

__all__ = ["Mixtures", "even_theta", "expect", "infer", "iterate", "m_step", "word_topic_mass"]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Mixtures:
    """What the documents' pass of the E-step finds.

    Parameters
    ----------
    theta : array, (D, K)
        Dirichlet parameters.
    mass : array, (K,)
        Expected number of tokens of each topic.
    bound : float
        The bound, without the unigram probabilities.
    n_passes : int
        Passes over documents.
    table, weight, ratio : arrays, (U, K), (D, K), (nnz,)
        What `word_mass` needs.
    """

    theta: Floats
    mass: Floats
    bound: float
    n_passes: int
    table: Floats
    weight: Floats
    ratio: Floats


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
    found = _mix(engine, corpus, tables.dots, tables.log_partition, state, settings)
    moment = np.zeros((len(found.mass), lexicon.vectors.shape[1]))

    def block(words: slice) -> Floats:
        # Cᵀ V over the block's words: the third unavoidable matrix product.
        return _mass_of(corpus, found, words).T @ lexicon.vectors[lexicon.rows[words]]

    for part in engine.map(block, corpus.blocks):
        moment += part
    stats = DocStats(
        mass=found.mass,
        moment=moment,
        log_phi=_log_phi(engine, corpus, found.theta, settings.learn_alpha),
        bound=found.bound + float(corpus.type_counts @ lexicon.log_unigram),
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


def infer(
    engine: Engine,
    corpus: Corpus,
    vectors: Floats,
    state: TopicState,
    settings: Settings,
) -> Mixtures:
    """Find the mixtures of documents under fixed topics.

    Parameters
    ----------
    engine : Engine
        How work is spread.
    corpus : Corpus
        The documents; may have words that the training corpus had not.
    vectors : array, (U, N)
        Vectors of the corpus's word types.
    state : TopicState
        The topics; ``theta`` is where the documents start, see `even_theta`. From an even start
        and with one pass, ``theta - alpha`` is the original's feature: the expected counts
        without a document prior.
    settings : Settings
        ``inner_tol`` and ``max_passes`` are used.
    """
    dots = vectors @ np.ascontiguousarray(state.topics.T)
    return _mix(engine, corpus, dots, -state.residuals, state, settings)


def even_theta(corpus: Corpus, alpha: Floats) -> Floats:
    """Share the tokens of each document evenly among its topics, (D, K).

    A start at ones instead lets the first topic to grow take a whole document (collapse).
    """
    allowed = corpus.allowed[corpus.group]
    share = corpus.lengths / allowed.sum(1)
    return np.where(allowed, alpha + share[:, None], 0.0)


def word_topic_mass(engine: Engine, corpus: Corpus, lexicon: Lexicon, state: TopicState) -> Floats:
    """Give the expected count of each word type in each topic, (U, K), in one more pass."""
    vectors = lexicon.vectors[lexicon.rows]
    found = infer(engine, corpus, vectors, state, Settings(max_passes=1))
    return np.concatenate(list(engine.map(lambda w: _mass_of(corpus, found, w), corpus.blocks)))


def _mix(
    engine: Engine,
    corpus: Corpus,
    dots: Floats,
    log_partition: Floats,
    state: TopicState,
    settings: Settings,
) -> Mixtures:
    table, peak, rounding = exp_table(engine, dots, log_partition)
    alpha = corpus.allowed * state.alpha
    theta = np.empty_like(state.theta)
    weight = np.empty(theta.shape, table.dtype)
    ratio = np.empty(len(corpus.counts), table.dtype)

    def shard(documents: slice) -> tuple[Floats, float, int]:
        a, b = documents.start, documents.stop
        cells = slice(corpus.indptr[a], corpus.indptr[b])
        mass = np.zeros(len(log_partition))
        bound, n_passes = e_step(
            corpus.indptr[a : b + 1] - cells.start, corpus.words[cells], corpus.counts[cells],
            table, alpha, corpus.group[documents], state.theta[documents],
            settings.inner_tol, settings.max_passes, weight_floor(table.dtype),
            theta[documents], weight[documents], ratio[cells], mass,
        )  # fmt: skip
        return mass, bound, n_passes

    parts = list(engine.map(shard, corpus.shards))
    mass = np.sum([part[0] for part in parts], axis=0) if parts else np.zeros(len(log_partition))
    # The residuals were rounded to the table's precision; the bound is linear in them.
    bound = sum(part[1] for part in parts) + corpus.type_counts @ peak + mass @ rounding
    n_passes = sum(part[2] for part in parts)
    return Mixtures(theta, mass, float(bound), n_passes, table, weight, ratio)


def _mass_of(corpus: Corpus, found: Mixtures, words: slice) -> Floats:
    indptr = corpus.word_indptr[words.start : words.stop + 1]
    return np.asarray(
        word_mass(
            indptr, corpus.documents, corpus.cells, found.ratio, found.weight, found.table[words]
        )
    )


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

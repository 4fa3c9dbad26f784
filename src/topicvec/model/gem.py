"""The loop: generalised EM whose bound never falls.

`iterate` is a generator: progress, early stop, checkpoints and live plots are the caller's loop.
An iteration is an E-step (`expect`), which finds the documents' mixtures and adds up what they
say, and a step of the topics (`m_step`) and, if asked, of the prior.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine, Part, near
from topicvec.errors import DataError
from topicvec.model.estep import Link, Sums, likelihoods, sum_shards, words_moment
from topicvec.model.mstep import Tables, evaluate, learn_alpha, m_step
from topicvec.model.own import OwnWords, better_pseudo, find_pseudo, own_moment
from topicvec.model.state import Corpus, DocStats, Lexicon, Solver, StepInfo, TopicState

__all__ = ["N_FREQUENT", "expect", "iterate", "rehearse"]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]

N_FREQUENT = 16_000  # words of a rehearsal, besides those of the documents
_WORTH = 0.5  # of the vocabulary; a larger part would save too little
_SETTLED = 3e-2  # nats a token, of an iteration after which topics may have words of their own
_DOCUMENTS = 20  # whose words a topic's vector outweighs
_LESS = 0.98  # m moves if it falls by more: an iteration has better things to do
_TOL = 2e-3  # nats a token; when a rehearsal is over


def iterate(
    corpus: Corpus,
    lexicon: Lexicon,
    state: TopicState,
    solver: Solver,
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
    solver : Solver
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
        theta, C, stats = expect(engine, corpus, lexicon, tables, state, solver)
        middle = perf_counter()
        state = replace(state, theta=theta, own=state.own if C is None or not len(state.own) else C)
        found, moved, gained, n_accepted = _move(
            engine, lexicon, state, stats, tables, solver, movable
        )
        if solver.learn_alpha:
            alpha, more = learn_alpha(corpus, stats, found.alpha)
            found, gained = replace(found, alpha=alpha), gained + more
        bound = stats.bound + gained
        _check_bound(bound, state.iteration + 1)
        if solver.method == "newton" and bound < state.bound:
            if C is None or len(state.own):
                return
            # Vectors have settled before topics had words of their own: these come now.
            state = _give_own_words(
                engine, corpus, lexicon, solver, tables, state, C, -np.inf, movable
            )
            if len(state.own):
                continue
            return
        tables = moved
        each, before = bound / stats.n_tokens, state.bounds[-1] if state.bounds else -np.inf
        if C is not None:
            found = _give_own_words(
                engine, corpus, lexicon, solver, tables, found, C, each - before, movable
            )
        state = replace(
            found, bound=bound, iteration=state.iteration + 1, bounds=(*state.bounds, each)
        )
        yield (
            state,
            StepInfo(
                iteration=state.iteration,
                bound=each,
                change=each - before,
                topic_mass=stats.mass,
                n_accepted=n_accepted,
                n_passes=stats.n_passes,
                seconds_e=middle - started,
                seconds_m=perf_counter() - middle,
            ),
        )


def _check_bound(bound: float, iteration: int) -> None:
    if not np.isfinite(bound):
        raise DataError(
            f"the bound became {bound} in iteration {iteration}: the word vectors, alpha, "
            "max_norm or weights are too large for the arithmetic, or the engine lost results"
        )


def _move(
    engine: Engine, lexicon: Lexicon, state: TopicState, stats: DocStats, tables: Tables,
    solver: Solver, free: Bools,
) -> tuple[TopicState, Tables, float, int]:  # fmt: skip
    """Take the steps of topics that follow an E-step, numbered on from those before."""
    gained, n_accepted, n_before = 0.0, 0, solver.n_steps * state.iteration
    for number in range(solver.n_steps):
        state = replace(state, iteration=n_before + number)
        state, tables, rise, n_accepted = m_step(
            engine, lexicon, state, stats, tables, solver, free
        )
        gained += rise
    return state, tables, gained, n_accepted


def expect(
    engine: Engine, corpus: Corpus, lexicon: Lexicon, tables: Tables, state: TopicState,
    solver: Solver,
) -> tuple[Sequence[Floats], Floats | None, DocStats]:  # fmt: skip
    """E-step: mixtures of documents (D, K), tokens of words in topics (U, K), their statistics.

    Tokens of words are asked for only if topics have words of their own, or may get them; else
    their moment is enough, and much smaller where it is sent.
    """
    own = _own_words(lexicon, state)
    # In the table's precision, but for words of their own, whose pseudo-tokens are tiny.
    residuals = -tables.log_partition
    residuals = residuals if own else residuals.astype(state.topics.dtype)
    table, peak, price = likelihoods(engine, tables.dots, residuals, own=own)
    paper = own is None and solver.pseudo_tokens == np.inf
    theta, found = sum_shards(
        engine, corpus, table, state.alpha, state.theta, solver.inner_tol, solver.max_passes,
        solver.learn_alpha, Link(state.topics, residuals, lexicon) if paper else None,
    )  # fmt: skip
    # What the residuals lost by rounding: the bound is linear in them.
    rounding = -tables.log_partition - residuals
    bound = found.bound + corpus.type_counts @ peak + found.mass @ rounding + price
    drawn, moment, rise = found.mass, found.words.astype(float), 0.0
    if not paper:
        drawn, moment, rise = _sum_words(engine, corpus, lexicon, tables, found, residuals, own)
    stats = DocStats(
        mass=found.mass,
        drawn=drawn,
        moment=moment,
        log_phi=found.log_phi,
        bound=float(bound + rise + corpus.type_counts @ lexicon.log_unigram),
        n_tokens=float(corpus.type_counts.sum()),
        n_documents=corpus.n_documents,
        n_passes=found.n_passes,
    )
    return theta, None if paper else found.words, stats


def _own_words(lexicon: Lexicon, state: TopicState) -> OwnWords | None:
    if not len(state.own):
        return None
    return OwnWords(state.own, np.exp(lexicon.log_unigram), state.pseudo)


def _sum_words(
    engine: Engine, corpus: Corpus, lexicon: Lexicon, tables: Tables, found: Sums,
    residuals: Floats, own: OwnWords | None,
) -> tuple[Floats, Floats, float]:  # fmt: skip
    """Sum up words: how many of their tokens vectors answer for, their moment, a rise."""
    if own is None:
        everything = np.arange(len(found.words))
        return found.mass, words_moment(engine, lexicon, found.words, everything), 0.0
    vectors = [Part(lexicon.vectors, lexicon.rows[words]) for words in corpus.blocks]
    moment = np.zeros((len(found.mass), lexicon.vectors.shape[1]))
    drawn, gained = np.zeros(len(found.mass)), np.zeros(len(found.mass))
    arrays = [np.concatenate(tables.dots), own.counts, own.unigram, found.words]
    parts = [[array[words] for words in corpus.blocks] for array in arrays]
    block = partial(_own_moment, residuals, own.pseudo)
    for S, part, rise in near(engine).map(block, zip(vectors, *parts, strict=True)):
        drawn, gained = drawn + S, gained + rise
        moment += part
    return drawn, moment, own.rise(found.words, gained)


def _own_moment(residuals: Floats, pseudo: Floats, piece: tuple[Any, ...]) -> tuple[Floats, ...]:
    V, *rows = piece
    return own_moment(residuals, pseudo, V.take(), *rows)[1:]


def _give_own_words(
    engine: Engine, corpus: Corpus, lexicon: Lexicon, solver: Solver, tables: Tables,
    state: TopicState, C: Floats, change: float, free: Bools,
) -> TopicState:  # fmt: skip
    """Give topics words of their own once their vectors begin to settle; then learn m.

    m only ever falls, and the bound rises as it does. It stays above the words of twenty average
    documents: what a topic has in fewer is theirs rather than its own.
    """
    given, first = solver.pseudo_tokens, not len(state.own)
    if not free.any() or (first and change > _SETTLED):
        return state
    if first:
        m = C.sum(dtype=float) / len(free) if given is None else given
        state = replace(state, own=C, pseudo=np.where(free, m, np.inf))
    own = _own_words(lexicon, state)
    if own is None or given is not None:
        return state
    know = engine, own, tables.dots, -tables.log_partition
    before = np.inf if first else float(state.pseudo[free][0])
    m = find_pseudo(*know) if first else better_pseudo(*know, before)
    m = max(m, _DOCUMENTS * C.sum(dtype=float) / corpus.n_documents)
    return replace(state, pseudo=np.where(free, m, np.inf)) if m < _LESS * before else state


def rehearse(
    corpus: Corpus, lexicon: Lexicon, state: TopicState, solver: Solver, engine: Engine,
    free: Bools | None, max_iter: int,
) -> TopicState:  # fmt: skip
    """Do the first iterations on a part of the vocabulary: nearly as good, and much cheaper.

    The normaliser of a topic sums over the whole vocabulary, most of which is rare words that
    the documents do not have. While topics still move far, the frequent words and those of the
    documents tell enough. What is found so is only a start: the iterations over all words begin
    anew, and their bound is the first that counts
    (`test_a_rehearsal_saves_iterations_and_ends_as_well`). A large corpus gains nothing, as its
    documents cost more than the vocabulary.

    Parameters
    ----------
    corpus, lexicon, state, solver, engine, free
        As for `iterate`.
    max_iter : int
        Limit of iterations.

    Returns
    -------
    TopicState
        To begin with; the given one if the part is not much smaller than the whole, or the
        documents have more cells than the vocabulary has words.
    """
    u = lexicon.unigram
    needed = np.union1d(np.argsort(-u, kind="stable")[:N_FREQUENT], lexicon.rows)
    if corpus.n_cells >= len(u) or len(needed) > _WORTH * len(u):
        return state
    total = u[needed].sum()
    part = Lexicon(
        lexicon.vectors[needed],
        u[needed] / total,
        lexicon.log_unigram - np.log(total),
        np.searchsorted(needed, lexicon.rows),
    )
    solver = replace(solver, pseudo_tokens=np.inf)  # words of their own come later
    for found, info in islice(iterate(corpus, part, state, solver, engine, free), max_iter):
        state = found
        if info.change < _TOL:
            break
    return replace(state, iteration=0, bound=-np.inf, bounds=())

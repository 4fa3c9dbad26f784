"""The M-step: how topics and prior move, given what the documents say about them.

What topics imply for all words (`Tables`: log-partitions, mean vectors) is evaluated over fixed
blocks of the vocabulary: an iteration's unavoidable matrix products V Tᵀ and Pᵀ V. Entry k of
every result depends on topic k alone, to the bit, so the results of two evaluations can be mixed
topic by topic.

Given q, each topic has its own concave problem on the ball ‖t‖ ≤ γ,

    maximise f(t) = s̄·t − A(t),    s̄ = S_k / m̄_k,    A(t) = log Σ_w u_w exp(v_w·t),

with gradient s̄ − E_{P(w|k)}[v] and Hessian −Cov_{P(w|k)}[v]; the bound is Σ_k m̄_k f_k plus terms
without topics.

``newton``: P(w|k) is concentrated, so the covariance is that of the topic's most probable words
(its head, exactly) plus a multiple of the identity for all others (its tail, by the trace). The
best point of this quadratic model on the ball is found exactly. Before it is proposed, it is
checked on a finer model, in which the head's words keep their exponentials. A topic moves only
if its f, over the whole vocabulary, rises: the bound cannot fall. One that does not move takes a
shorter step in the next iteration. So each iteration needs exactly one evaluation over the
vocabulary.

``paper``: the paper's gradient step with its decaying rate, which may lower the bound.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from topicvec.engine import Engine, Part, near
from topicvec.model import equations
from topicvec.model.state import ROWS, Corpus, DocStats, Lexicon, Record, Solver, TopicState

__all__ = ["HEAD_SIZE", "LocalModel", "Tables", "evaluate", "learn_alpha", "m_step"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
Step = tuple[Floats, Floats, Floats, Floats]  # topics, and their curvature, slope and bend

HEAD_SIZE = 32  # probable words kept for each topic; with 64 a step is no better, but dearer
_HEAD_SHARE = 1 / 512  # a word of the head has at least this probability
_SLACK = 1e-3  # more than rounding: which words are in a head must not depend on it
_LEAST_MASS = 1e-6  # tokens; a topic with less has no direction to go
_LEAST_RISE = 1e-6  # nats a token
_MAX_CURVATURE = 1e6
_N_TRIES = 8
_TOGETHER = 25  # topics; enough to amortise the calls, few enough for several workers
_TAIL_DIMENSIONS = 0.5  # share over which the tail spreads; makes measured curvatures near 1
_LEAST_ALPHA, _MOST_ALPHA = 1e-3, 1e3
_N_ROUNDS = 20  # of Minka's fixed point


@dataclass(frozen=True)
class Tables(Record):
    """What follows from the topics. The first axis is the topic, but the last of ``dots``.

    Parameters
    ----------
    log_partition : array, (K,)
        log Σ_w u_w exp(v_w·t_k), which is −r.
    mean : array, (K, N)
        E_{P(w|k)}[v].
    spread : array, (K,)
        Trace of Cov_{P(w|k)}[v].
    head_rows, head_shares : arrays, (K, HEAD_SIZE)
        The most probable words and their P(w|k); share 0 where there are fewer.
    dots : tuple of arrays, (n, K)
        v_w·t_k for the word types of the corpus, a block of the vocabulary after the other.
    """

    log_partition: Floats
    mean: Floats
    spread: Floats
    head_rows: Ints
    head_shares: Floats
    dots: tuple[Floats, ...]

    def where(self, chosen: NDArray[np.bool_], other: "Tables") -> "Tables":
        """Take the chosen topics from here and the rest from another evaluation."""
        if chosen.all():
            return self
        mixed = {}
        for name in ("log_partition", "mean", "spread", "head_rows", "head_shares"):
            mixed[name] = getattr(self, name).copy()
            mixed[name][~chosen] = getattr(other, name)[~chosen]
        dots = [mine.copy() for mine in self.dots]
        for mine, theirs in zip(dots, other.dots, strict=True):
            mine[:, ~chosen] = theirs[:, ~chosen]
        return Tables(**mixed, dots=tuple(dots))


def evaluate(engine: Engine, lexicon: Lexicon, topics: Floats) -> Tables:
    """Compute the tables of topics (K, N) over fixed blocks of the vocabulary."""
    sums = np.stack([np.ones_like(lexicon.squares), lexicon.squares])
    least = topics @ lexicon.centre - _SLACK  # log-partitions are no less (Jensen)
    pieces = [
        (lexicon.vectors[rows], lexicon.unigram[rows].astype(topics.dtype), sums[:, rows], own)
        for rows, own in lexicon.blocks()
    ]
    # laid out as the product wants it: T.T of this is contiguous
    block = partial(_evaluate_block, np.ascontiguousarray(topics.T).T, least)
    return _merge(near(engine).map(block, pieces), topics)


def _evaluate_block(topics: Floats, least: Floats, piece: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sum up a block of the vocabulary, shifted by its largest dots.

    Returns
    -------
    peak, total, square, moment : arrays, (K,), (K,), (K,), (K, N)
        Largest dot; Σ p, Σ p ‖v‖² and Σ p v, with p = u exp(dot − peak).
    probable, values : arrays
        Candidates for the heads: places in the flattened block, and their p.
    dots : array, (n, K)
        Dots of the block's words that the corpus has.
    """
    V, u, sums, own = piece
    p = equations.logits(V, topics)
    dots = p.take(own, axis=0)
    peak = p.max(axis=0)
    p -= peak
    p = equations.word_probabilities(u, p, out=p)
    total, square = (sums @ p).astype(float)
    least_total = np.maximum(total, np.exp(np.minimum(least - peak, 10)))  # p is at most 1
    probable = np.flatnonzero(p > (_HEAD_SHARE * least_total).astype(p.dtype))
    moment = equations.moment(V, p)
    return peak, total, square, moment, probable, p.ravel()[probable], dots


def _merge(blocks: Iterable[tuple[Any, ...]], topics: Floats) -> Tables:
    peak = np.full(len(topics), -np.inf)
    total, square, moment = np.zeros(len(topics)), np.zeros(len(topics)), np.zeros(topics.shape)
    candidates, dots = [], []
    for i, (its_peak, *sums, probable, values, its_dots) in enumerate(blocks):
        top = np.maximum(peak, its_peak)
        old, new = np.exp(peak - top), np.exp(its_peak - top)
        total = total * old + sums[0] * new
        square = square * old + sums[1] * new
        lower = old != 1  # multiplying the others by 1 would only take time
        moment[lower] *= old[lower, None]
        moment += sums[2] * new.astype(topics.dtype)[:, None]
        rows, owners = np.divmod(probable, len(topics))
        candidates.append((rows + i * ROWS, owners, np.log(values) + its_peak[owners]))
        dots.append(its_dots)
        peak = top
    log_partition = peak + np.log(total)
    mean = moment / total[:, None]
    spread = np.maximum(square / total - (mean**2).sum(1), 1e-12)
    rows, owners, logs = (np.concatenate(parts) for parts in zip(*candidates, strict=True))
    shares = np.exp(logs - log_partition[owners])
    kept = np.flatnonzero(shares > _HEAD_SHARE)  # sorted by topic and share, the first of each
    kept = kept[np.lexsort((-shares[kept], owners[kept]))]
    sizes = np.bincount(owners[kept], minlength=len(topics))
    rank = np.arange(len(kept)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept, rank = kept[rank < HEAD_SIZE], rank[rank < HEAD_SIZE]
    head_rows = np.zeros((len(topics), HEAD_SIZE), np.int64)
    head_shares = np.zeros((len(topics), HEAD_SIZE))
    head_rows[owners[kept], rank] = rows[kept]
    head_shares[owners[kept], rank] = shares[kept]
    return Tables(log_partition, mean, spread, head_rows, head_shares, tuple(dots))


def m_step(
    engine: Engine, lexicon: Lexicon, state: TopicState, stats: DocStats, tables: Tables,
    solver: Solver, free: Bools,
) -> tuple[TopicState, Tables, float, int]:  # fmt: skip
    """Move the topics; give also their tables, the rise of the bound, and how many moved."""
    moving = free & (stats.drawn > _LEAST_MASS)
    propose = _paper_step if solver.method == "paper" else _newton_step
    proposal, used, slope, bend = propose(engine, lexicon, state, stats, tables, solver, moving)
    topics = proposal.astype(state.topics.dtype)
    proposed = evaluate(engine, lexicon, topics)
    # which topics move, and how much that adds to the bound
    step = topics.astype(float) - state.topics
    rise = ((stats.moment / np.maximum(stats.drawn, _LEAST_MASS)[:, None]) * step).sum(1)
    rise -= proposed.log_partition - tables.log_partition
    moves = (step != 0).any(1)
    if solver.method == "newton":
        moves &= rise > 0
    gained = np.where(moves, stats.drawn * rise, 0.0)
    # Their curvatures as measured; when the expected rise drowns in rounding, the step tells none.
    measured = 2 * (slope - rise) / np.maximum(bend, 1e-300)
    change = np.clip(measured / used, 0.25, 4.0)
    curvature = np.where((slope > _LEAST_RISE) & (bend > 0), used * change, state.curvature)
    tables = proposed.where(moves, tables)
    state = replace(
        state,
        topics=np.where(moves[:, None], topics, state.topics),
        residuals=-tables.log_partition + 0.0,
        curvature=np.clip(curvature, 1 / _MAX_CURVATURE, _MAX_CURVATURE),
    )
    return state, tables, float(gained.sum()), int(moves.sum())


def _paper_step(
    engine: Engine, lexicon: Lexicon, state: TopicState, stats: DocStats, tables: Tables,  # noqa: ARG001
    solver: Solver, moving: Bools,
) -> Step:  # fmt: skip
    rate = equations.learning_rate(
        state.iteration + 1, stats.n_tokens, solver.base_length, solver.learning_rate
    )
    slope = equations.gradient(stats.drawn, stats.moment, tables.mean)
    step = rate * np.where(moving[:, None], slope, 0)
    topics = equations.project(state.topics + step, solver.max_norm)
    nothing = np.zeros(len(topics))
    return topics, state.curvature, nothing, nothing


def _newton_step(
    engine: Engine, lexicon: Lexicon, state: TopicState, stats: DocStats, tables: Tables,
    solver: Solver, moving: Bools,
) -> Step:  # fmt: skip
    topics = state.topics.astype(float)
    curvature, slope, bend = state.curvature.copy(), np.zeros(len(topics)), np.zeros(len(topics))
    where = np.flatnonzero(moving)
    parts = [where[start : start + _TOGETHER] for start in range(0, len(where), _TOGETHER)]
    pieces = [
        (
            topics[k],
            equations.gradient(
                np.ones(len(k)), stats.moment[k] / stats.drawn[k][:, None], tables.mean[k]
            ),
            Part(lexicon.vectors, tables.head_rows[k]),
            tables.head_shares[k],
            tables.mean[k],
            tables.spread[k],
            curvature[k],
        )
        for k in parts
    ]
    found = near(engine).map(partial(_newton_piece, solver.max_norm), pieces)
    for k, part in zip(parts, found, strict=True):
        topics[k], curvature[k], slope[k], bend[k] = part
    return topics, curvature, slope, bend


def _newton_piece(max_norm: float, piece: tuple[Any, ...]) -> Step:
    """Shorten the Newton steps of some topics until the finer model agrees that they are good."""
    topics, slope, head, *about, curvature = piece
    model = LocalModel(topics, slope, head.take(), *about)
    for _ in range(_N_TRIES):
        topics = model.best_on_ball(curvature, max_norm)
        step = topics - model.topics
        slope = (model.slope * step).sum(axis=1)
        bend = (model.values * _along(model.axes, step) ** 2).sum(axis=1)
        bend = bend + model.tail * (step * step).sum(axis=1)
        good = model.finer_rise(step) >= 0.5 * (slope - 0.5 * curvature * bend)
        if good.all():
            break
        curvature = np.where(good, curvature, 2 * curvature)
    return topics, curvature, slope, bend


class LocalModel:
    """Problems of some topics near their current place: B = axesᵀ diag(values) axes + tail · I.

    The first axis is the topic. Where a head has fewer words or axes than H, the rest are zero.

    Parameters
    ----------
    topics, slope : arrays, (K, N)
        Where they are, and the gradient of f there.
    head, shares : arrays, (K, H, N), (K, H)
        Vectors of the most probable words and their probabilities.
    mean, spread : arrays, (K, N), (K,)
        Mean and trace of the covariance of all words.
    """

    def __init__(
        self, topics: Floats, slope: Floats, head: Floats, shares: Floats, mean: Floats,
        spread: Floats,
    ) -> None:  # fmt: skip
        self.topics, self.slope, self.shares = topics, slope, shares
        dtype = head.dtype  # precise enough for a proposal
        self.head = head - mean.astype(dtype)[:, None]
        scaled = np.sqrt(shares).astype(dtype)[..., None] * self.head
        values, mix = np.linalg.eigh(scaled @ scaled.transpose(0, 2, 1))
        kept = values > 1e-5 * spread[:, None]
        self.values = np.where(kept, values, 0.0)
        inverse_roots = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
        self.axes = (inverse_roots[..., None] * mix.transpose(0, 2, 1)) @ scaled
        left = np.maximum(spread - self.values.sum(axis=1), 1e-4 * spread)
        self.tail = left / (_TAIL_DIMENSIONS * topics.shape[1])

    def finer_rise(self, step: Floats) -> Floats:
        """Give the rise of f if the tail were Gaussian; exact for the head."""
        mass = np.maximum(1 - self.shares.sum(axis=1), 1e-12)
        # The tail's centre relative to the topic's mean is minus the head's, by their masses.
        centre = -_combined(self.shares, self.head) / mass[:, None]
        tail = (centre * step).sum(axis=1) + 0.5 * self.tail / mass * (step * step).sum(axis=1)
        # The places of words that a short head does not have must stay at zero, not become 0 · inf.
        along = np.where(self.shares > 0, _along(self.head, step).astype(float), 0.0)
        with np.errstate(over="ignore"):  # a step that is far too long
            inside = (self.shares * np.exp(along)).sum(axis=1) + mass * np.exp(tail)
            return np.asarray((self.slope * step).sum(axis=1) - np.log(inside))

    def best_on_ball(self, curvature: Floats, radius: float) -> Floats:
        """Maximise slope·d − curvature/2 d·B·d over ‖topic + d‖ ≤ radius, exactly."""
        rest = curvature * self.tail
        along = curvature[:, None] * self.values + rest[:, None]
        pull = rest[:, None] * self.topics + self.slope
        stretched = curvature[:, None] * self.values * _along(self.axes, self.topics)
        pull = pull + _combined(stretched, self.axes)
        inside = _along(self.axes, pull)
        outside = pull - _combined(inside, self.axes)
        lagrange = _multipliers(
            np.column_stack([along, rest]),
            np.column_stack([inside, np.linalg.norm(outside, axis=1)]),
            radius,
        )[:, None]
        topics = _combined(inside / (along + lagrange), self.axes)
        return equations.project(topics + outside / (rest[:, None] + lagrange), radius)


def _along(rows: Floats, vectors: Floats) -> Floats:
    """Inner products (K, H) of rows (K, H, N) with a vector (K, N) each."""
    return np.asarray((rows @ vectors.astype(rows.dtype)[..., None])[..., 0])


def _combined(weights: Floats, rows: Floats) -> Floats:
    """Weighted sums (K, N) of rows (K, H, N)."""
    return np.asarray((weights.astype(rows.dtype)[:, None] @ rows)[:, 0])


def _multipliers(stiffness: Floats, pull: Floats, radius: float) -> Floats:
    """Find μ ≥ 0 with ‖pull / (stiffness + μ)‖ = radius; zero if the norm is less at zero.

    Newton's method on 1/radius − 1/‖·‖ rises to the root from below in a few steps.
    """
    lagrange = np.zeros(len(pull))
    for _ in range(50):
        stiff = stiffness + lagrange[:, None]
        place = pull / stiff
        norm = np.linalg.norm(place, axis=1)
        outside = norm > radius * (1 + 1e-9)
        if not outside.any():
            break
        rise = (
            norm**2
            / np.maximum((place * (place / stiff)).sum(axis=1), 1e-300)
            * (norm / radius - 1)
        )
        lagrange = np.where(outside, lagrange + rise, lagrange)
    return lagrange


def learn_alpha(corpus: Corpus, stats: DocStats, alpha: Floats) -> tuple[Floats, float]:
    """Raise the bound in α by Minka's fixed point, and give the rise.

    With groups of documents that may use different topics, ψ(α_k) is set to the mean over the
    documents d that may use k of ψ(Σ_{j allowed in d} α_j) + E[log φ_dk]. Every round raises the
    bound, also when it is cut off at the limits, for the bound is concave in each log-prior.
    """
    sizes = corpus.sizes.astype(float)
    allowed = corpus.allowed.astype(float)
    users = np.maximum(sizes @ allowed, 1.0)
    new = alpha
    for _ in range(_N_ROUNDS):
        pull = (sizes * digamma(allowed @ new)) @ allowed + stats.log_phi
        new = np.clip(equations.inverse_digamma(pull / users), _LEAST_ALPHA, _MOST_ALPHA)
    rise = _objective(sizes, allowed, stats, new) - _objective(sizes, allowed, stats, alpha)
    return (new, rise) if rise > 0 else (alpha, 0.0)


def _objective(sizes: Floats, allowed: Floats, stats: DocStats, alpha: Floats) -> float:
    """Give the part of the bound that depends on α."""
    normalizers = gammaln(allowed @ alpha) - allowed @ gammaln(alpha)
    return float(sizes @ normalizers + alpha @ stats.log_phi)

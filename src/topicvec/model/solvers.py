"""M-steps: how the topics move, given what the documents say about them.

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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine
from topicvec.model.corpus import Lexicon
from topicvec.model.equations import learning_rate, project
from topicvec.model.state import DocStats, Settings, TopicState
from topicvec.model.tables import Tables

__all__ = ["Proposal", "accept", "propose"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]

_LEAST_MASS = 1e-6  # tokens; a topic with less has no direction to go
_LEAST_RISE = 1e-6  # nats a token
_MAX_CURVATURE = 1e6
_N_TRIES = 8
_TOGETHER = 25  # topics; enough to amortise the calls, few enough for several workers
_TAIL_DIMENSIONS = 0.5  # share over which the tail spreads; makes measured curvatures near 1


@dataclass(frozen=True)
class Proposal:
    """Where the topics would go.

    Parameters
    ----------
    topics : array, (K, N)
        The proposed topics.
    curvature : array, (K,)
        The factor of the covariance that was used.
    slope, bend : arrays, (K,)
        g·d and d·B·d along the step d, with gradient g and model covariance B.
    """

    topics: Floats
    curvature: Floats
    slope: Floats
    bend: Floats


@dataclass(frozen=True)
class _Models:
    """Problems of some topics near their current place: B = axesᵀ diag(values) axes + tail · I.

    The first axis is the topic. Where a head has fewer words or axes than H, the rest are zero.
    """

    topics: Floats  # (K, N)
    slope: Floats  # (K, N) gradient of f
    values: Floats  # (K, H) variances of the head along its axes
    axes: Floats  # (K, H, N) orthonormal
    tail: Floats  # (K,) variance of the tail in every direction
    head: Floats  # (K, H, N) vectors of the head, centred on the topic's mean
    shares: Floats  # (K, H)


def propose(
    engine: Engine,
    lexicon: Lexicon,
    state: TopicState,
    stats: DocStats,
    tables: Tables,
    settings: Settings,
    free: Bools,
) -> Proposal:
    """Say where the topics should go."""
    moving = free & (stats.mass > _LEAST_MASS)
    if settings.solver == "paper":
        return _paper_step(state, stats, tables, settings, moving)
    topics = state.topics.astype(float)
    curvature, slope, bend = state.curvature.copy(), np.zeros(len(topics)), np.zeros(len(topics))

    def some(k: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        gradient = stats.moment[k] / stats.mass[k][:, None] - tables.mean[k]
        models = _models(lexicon, tables, topics[k], gradient, k)
        return _newton_steps(models, state.curvature[k], settings.max_norm)

    where = np.flatnonzero(moving)
    parts = [where[start : start + _TOGETHER] for start in range(0, len(where), _TOGETHER)]
    for k, found in zip(parts, engine.map(some, parts), strict=True):
        topics[k], curvature[k], slope[k], bend[k] = found
    return Proposal(topics.astype(state.topics.dtype), curvature, slope, bend)


def _paper_step(
    state: TopicState, stats: DocStats, tables: Tables, settings: Settings, moving: Bools
) -> Proposal:
    rate = learning_rate(
        state.iteration + 1, stats.n_tokens, settings.base_length, settings.learning_rate
    )
    gradient = np.where(moving[:, None], stats.moment - stats.mass[:, None] * tables.mean, 0)
    topics = project(state.topics + rate * gradient, settings.max_norm)
    nothing = np.zeros(len(topics))
    return Proposal(topics.astype(state.topics.dtype), state.curvature, nothing, nothing)


def _models(lexicon: Lexicon, tables: Tables, topics: Floats, slope: Floats, k: Ints) -> _Models:
    shares, spread = tables.head_shares[k], tables.spread[k]
    dtype = lexicon.vectors.dtype  # precise enough for a proposal
    head = lexicon.vectors[tables.head_rows[k]] - tables.mean[k].astype(dtype)[:, None]  # (K, H, N)
    scaled = np.sqrt(shares).astype(dtype)[..., None] * head
    values, mix = np.linalg.eigh(scaled @ scaled.transpose(0, 2, 1))
    kept = values > 1e-5 * spread[:, None]
    values = np.where(kept, values, 0.0)
    inverse_roots = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    axes = (inverse_roots[..., None] * mix.transpose(0, 2, 1)) @ scaled
    left = np.maximum(spread - values.sum(axis=1), 1e-4 * spread)
    tail = left / (_TAIL_DIMENSIONS * topics.shape[1])
    return _Models(topics, slope, values, axes, tail, head, shares)


def _newton_steps(
    models: _Models, curvature: Floats, radius: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Shorten the Newton steps until the finer model agrees that they are good."""
    for _ in range(_N_TRIES):
        topics = _best_on_ball(models, curvature, radius)
        step = topics - models.topics
        slope, bend = _dot(models.slope, step), _bend(models, step)
        good = _finer_rise(models, step) >= 0.5 * (slope - 0.5 * curvature * bend)
        if good.all():
            break
        curvature = np.where(good, curvature, 2 * curvature)
    return topics, curvature, slope, bend


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray((a * b).sum(axis=-1))


def _along(rows: Floats, vectors: Floats) -> Floats:
    """Inner products (K, H) of rows (K, H, N) with a vector (K, N) each."""
    return np.asarray((rows @ vectors.astype(rows.dtype)[..., None])[..., 0])


def _combined(weights: Floats, rows: Floats) -> Floats:
    """Weighted sums (K, N) of rows (K, H, N)."""
    return np.asarray((weights.astype(rows.dtype)[:, None] @ rows)[:, 0])


def _bend(models: _Models, step: Floats) -> Floats:
    along = _along(models.axes, step)
    return _dot(models.values, along**2) + models.tail * _dot(step, step)


def _finer_rise(models: _Models, step: Floats) -> Floats:
    """Give the rise of f if the tail were Gaussian; exact for the head."""
    mass = np.maximum(1 - models.shares.sum(axis=1), 1e-12)
    # The tail's centre relative to the topic's mean is minus the head's, by their masses.
    centre = -_combined(models.shares, models.head) / mass[:, None]
    tail = _dot(centre, step) + 0.5 * models.tail / mass * _dot(step, step)
    # The places of words that a short head does not have must stay at zero, not become 0 · inf.
    along = np.where(models.shares > 0, _along(models.head, step).astype(float), 0.0)
    with np.errstate(over="ignore"):  # a step that is far too long
        inside = _dot(models.shares, np.exp(along)) + mass * np.exp(tail)
        return np.asarray(_dot(models.slope, step) - np.log(inside))


def _best_on_ball(models: _Models, curvature: Floats, radius: float) -> Floats:
    """Maximise slope·d − curvature/2 d·B·d over ‖topic + d‖ ≤ radius, exactly."""
    rest = curvature * models.tail
    along = curvature[:, None] * models.values + rest[:, None]
    pull = rest[:, None] * models.topics + models.slope
    stretched = curvature[:, None] * models.values * _along(models.axes, models.topics)
    pull = pull + _combined(stretched, models.axes)
    inside = _along(models.axes, pull)
    outside = pull - _combined(inside, models.axes)
    lagrange = _multipliers(
        np.column_stack([along, rest]),
        np.column_stack([inside, np.linalg.norm(outside, axis=1)]),
        radius,
    )[:, None]
    topics = _combined(inside / (along + lagrange), models.axes)
    return project(topics + outside / (rest[:, None] + lagrange), radius)


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
        rise = norm**2 / np.maximum(_dot(place, place / stiff), 1e-300) * (norm / radius - 1)
        lagrange = np.where(outside, lagrange + rise, lagrange)
    return lagrange


def accept(
    state: TopicState,
    stats: DocStats,
    proposal: Proposal,
    before: Tables,
    after: Tables,
    settings: Settings,
) -> tuple[Bools, Floats, Floats]:
    """Say which topics move, how much that adds to the bound, and their new curvatures."""
    step = proposal.topics.astype(float) - state.topics
    mass = np.maximum(stats.mass, _LEAST_MASS)
    rise = ((stats.moment / mass[:, None]) * step).sum(1)
    rise -= after.log_partition - before.log_partition
    moves = (step != 0).any(1)
    if settings.solver == "newton":
        moves &= rise > 0
    measured = 2 * (proposal.slope - rise) / np.maximum(proposal.bend, 1e-300)
    change = np.clip(measured / proposal.curvature, 0.25, 4.0)
    # When the expected rise drowns in rounding, the step says nothing about curvature.
    telling = (proposal.slope > _LEAST_RISE) & (proposal.bend > 0)
    curvature = np.where(telling, proposal.curvature * change, state.curvature)
    gained = np.where(moves, stats.mass * rise, 0.0)
    return moves, gained, np.clip(curvature, 1 / _MAX_CURVATURE, _MAX_CURVATURE)

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
Bools = NDArray[np.bool_]

_LEAST_MASS = 1e-6  # tokens; a topic with less has no direction to go
_LEAST_RISE = 1e-6  # nats a token
_MAX_CURVATURE = 1e6
_N_TRIES = 8
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
class _Model:
    """A topic's problem near its current place: B = axesᵀ diag(values) axes + tail · I."""

    topic: Floats  # (N,)
    slope: Floats  # (N,) gradient of f
    values: Floats  # (H,) variances of the head along its axes
    axes: Floats  # (H, N) orthonormal
    tail: float  # variance of the tail in every direction
    head: Floats  # (n_head, N) vectors of the head, centred on the topic's mean
    shares: Floats  # (n_head,)


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

    def one(k: int) -> tuple[Floats, float, float, float]:
        gradient = stats.moment[k] / stats.mass[k] - tables.mean[k]
        model = _model(lexicon, tables, topics[k], gradient, k)
        return _newton_step(model, state.curvature[k], settings.max_norm)

    where = [int(k) for k in np.flatnonzero(moving)]
    for k, found in zip(where, engine.map(one, where), strict=True):
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


def _model(lexicon: Lexicon, tables: Tables, topic: Floats, slope: Floats, k: int) -> _Model:
    shares = tables.head_shares[k][tables.head_shares[k] > 0]
    rows = tables.head_rows[k][: len(shares)]
    head = lexicon.vectors[rows] - tables.mean[k]  # (n_head, N)
    scaled = np.sqrt(shares)[:, None] * head
    values, mix = np.linalg.eigh(scaled @ scaled.T)
    kept = values > 1e-8 * tables.spread[k]
    values, mix = values[kept], mix[:, kept]
    axes = (mix.T @ scaled) / np.sqrt(values)[:, None]
    left = max(tables.spread[k] - values.sum(), 1e-4 * tables.spread[k])
    tail = left / (_TAIL_DIMENSIONS * len(topic))
    return _Model(topic, slope, values, axes, tail, head, shares)


def _newton_step(
    model: _Model, curvature: float, radius: float
) -> tuple[Floats, float, float, float]:
    """Shorten the Newton step until the finer model agrees that it is good."""
    for _ in range(_N_TRIES):
        topic = _best_on_ball(model, curvature, radius)
        step = topic - model.topic
        slope, bend = float(model.slope @ step), _bend(model, step)
        if _finer_rise(model, step) >= 0.5 * (slope - 0.5 * curvature * bend):
            break
        curvature *= 2
    return topic, curvature, slope, bend


def _bend(model: _Model, step: Floats) -> float:
    return float(model.values @ (model.axes @ step) ** 2 + model.tail * (step @ step))


def _finer_rise(model: _Model, step: Floats) -> float:
    """Give the rise of f if the tail were Gaussian; exact for the head."""
    mass = max(1 - float(model.shares.sum()), 1e-12)
    centre = -(model.shares @ model.head) / mass  # of the tail, relative to the topic's mean
    tail = centre @ step + 0.5 * model.tail / mass * (step @ step)
    with np.errstate(over="ignore"):  # a step that is far too long
        inside = model.shares @ np.exp(model.head @ step) + mass * np.exp(tail)
    return float(model.slope @ step - np.log(inside))


def _best_on_ball(model: _Model, curvature: float, radius: float) -> Floats:
    """Maximise slope·d − curvature/2 d·B·d over ‖topic + d‖ ≤ radius, exactly."""
    along, rest = curvature * (model.values + model.tail), curvature * model.tail
    pull = curvature * model.tail * model.topic + model.slope
    pull = pull + ((curvature * model.values) * (model.axes @ model.topic)) @ model.axes
    inside = model.axes @ pull
    outside = pull - inside @ model.axes
    lagrange = _multiplier(
        np.append(along, rest), np.append(inside, np.linalg.norm(outside)), radius
    )
    topic = (inside / (along + lagrange)) @ model.axes + outside / (rest + lagrange)
    return np.asarray(project(topic[None], radius)[0])


def _multiplier(stiffness: Floats, pull: Floats, radius: float) -> float:
    """Find μ ≥ 0 with ‖pull / (stiffness + μ)‖ = radius; zero if the norm is less at zero.

    Newton's method on 1/radius − 1/‖·‖ rises to the root from below in a few steps.
    """
    lagrange = 0.0
    for _ in range(50):
        place = pull / (stiffness + lagrange)
        norm = float(np.linalg.norm(place))
        if norm <= radius * (1 + 1e-9):
            break
        lagrange += norm**2 / float(place @ (place / (stiffness + lagrange))) * (norm / radius - 1)
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

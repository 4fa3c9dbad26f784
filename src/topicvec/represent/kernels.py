"""The compiled loops of transport between mixtures; the tests hold them against linear programming.

Where the costs are a metric, mass that two mixtures have in common may stay where it is, by the
triangle inequality. So only what differs is moved, and all loops here work on that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.kernels import compiled

__all__ = ["all_bounds", "all_distances", "nearest", "solve"]

Array = NDArray[Any]


@compiled
def solve(supply: Array, demand: Array, costs: Array) -> float:
    """Give the least cost of moving what A places have to B places that need as much.

    Shortest augmenting paths: sources are emptied one after the other along paths that are
    cheapest by reduced costs c − u − v ≥ 0, in which flow stands only where they are 0. When all is
    moved, that is the proof that no plan is cheaper. ``supply`` (A,) and ``demand`` (B,) are used
    up; ``costs`` is (A, B).
    """
    n_sources, n_sinks = costs.shape
    flow = np.zeros((n_sources, n_sinks))
    v = np.full(n_sinks, np.inf)
    u = np.full(n_sources, np.inf)
    for i in range(n_sources):
        for j in range(n_sinks):
            v[j] = min(v[j], costs[i, j])
    for i in range(n_sources):
        for j in range(n_sinks):
            u[i] = min(u[i], costs[i, j] - v[j])
    for i in range(n_sources):
        while supply[i] > 0 and _send(i, supply, demand, costs, flow, u, v):
            pass
    return float((flow * costs).sum())


@compiled
def _send(
    start: int, supply: Array, demand: Array, costs: Array, flow: Array, u: Array, v: Array
) -> bool:
    """Search the cheapest paths from a source and send along them until it is empty or one is cut.

    The prices u (A,) and v (B,) are then such that all paths cost 0. Tells whether a sink in need
    was found; if none was, what is left of the source is rounding.
    """
    n_sources, n_sinks = costs.shape
    distance = costs[start] - u[start] - v
    through = np.full(n_sinks, start)  # the source from which a sink is reached
    back = np.full(n_sources, -1)  # the sink from which a source is reached, against its flow
    row_distance = np.zeros(n_sources)
    back[start] = n_sinks
    done = np.zeros(n_sinks, np.bool_)
    found = False
    while True:
        near, shortest = -1, np.inf
        for j in range(n_sinks):
            if not done[j] and distance[j] < shortest:
                near, shortest = j, distance[j]
        if near < 0:
            return found
        done[near] = True
        if demand[near] > 0:
            found = True
            if _push(start, near, supply, demand, flow, through, back) or supply[start] <= 0:
                break
        for i in range(n_sources):
            if flow[i, near] > 0 and back[i] < 0:
                back[i], row_distance[i] = near, shortest
                for j in range(n_sinks):
                    longer = shortest + costs[i, j] - u[i] - v[j]
                    if not done[j] and longer < distance[j]:
                        distance[j], through[j] = longer, i
    for i in range(n_sources):
        if back[i] >= 0:
            u[i] += shortest - row_distance[i]
    for j in range(n_sinks):
        if done[j]:
            v[j] -= shortest - distance[j]
    return True


@compiled
def _push(
    start: int, end: int, supply: Array, demand: Array, flow: Array, through: Array, back: Array
) -> bool:
    """Send as much as the path from start to end bears; tell whether that cuts it in the middle."""
    amount, j = min(supply[start], demand[end]), end
    while through[j] != start:
        i = through[j]
        j = back[i]
        amount = min(amount, flow[i, j])
    cut, j = False, end
    while through[j] != start:
        i = through[j]
        flow[i, j] += amount
        j = back[i]
        flow[i, j] -= amount
        cut |= flow[i, j] <= 0
    flow[start, j] += amount
    supply[start] -= amount
    demand[end] -= amount
    return cut


@compiled
def _differences(p: Array, q: Array, places: Array, masses: Array) -> tuple[int, int]:
    """List where p has more than q (row 0), and where q has more (row 1), and how much."""
    n_more, n_less = 0, 0
    for k in range(len(p)):
        more = p[k] - q[k]
        if more > 0:
            places[0, n_more], masses[0, n_more] = k, more
            n_more += 1
        elif more < 0:
            places[1, n_less], masses[1, n_less] = k, -more
            n_less += 1
    return n_more, n_less


@compiled
def _distance(p: Array, q: Array, costs: Array, places: Array, masses: Array) -> float:
    n_more, n_less = _differences(p, q, places, masses)
    if n_more == 0 or n_less == 0:
        return 0.0
    between = np.empty((n_more, n_less))
    for i in range(n_more):
        for j in range(n_less):
            between[i, j] = costs[places[0, i], places[1, j]]
    return solve(masses[0, :n_more], masses[1, :n_less], between)


@compiled
def _bound(p: Array, q: Array, costs: Array, order: Array) -> float:
    """Give the relaxed bound: each topic's surplus goes where it is nearest.

    A place takes no more than it needs from any one; what it takes from all is not looked at. The
    larger of both directions counts.
    """
    there, back = 0.0, 0.0
    for k in range(len(p)):
        surplus = p[k] - q[k]
        left = abs(surplus)
        for place in order[k]:
            if left <= 0:
                break
            need = q[place] - p[place] if surplus > 0 else p[place] - q[place]
            if need > 0:
                moved = min(left, need)
                left -= moved
                if surplus > 0:
                    there += moved * costs[k, place]
                else:
                    back += moved * costs[k, place]
    return max(there, back)


@compiled
def all_distances(first: Array, second: Array, costs: Array) -> Array:
    """Give the least cost (A, B) between mixtures (A, K) and (B, K) for each pair."""
    places = np.empty((2, len(costs)), np.int64)
    masses = np.empty((2, len(costs)))
    found = np.empty((len(first), len(second)))
    for a in range(len(first)):
        for b in range(len(second)):
            found[a, b] = _distance(first[a], second[b], costs, places, masses)
    return found


@compiled
def all_bounds(first: Array, second: Array, costs: Array, order: Array) -> Array:
    """Give the relaxed bounds (A, B); ``order`` (K, K) lists the topics by nearness to each."""
    found = np.empty((len(first), len(second)))
    for a in range(len(first)):
        for b in range(len(second)):
            found[a, b] = _bound(first[a], second[b], costs, order)
    return found


@compiled
def nearest(
    query: Array,
    candidates: Array,
    costs: Array,
    order: Array,
    centroid: Array,
    n: int,
    slack: float,
) -> tuple[Array, Array]:
    """Give rows (n,) and distances (n,) of the candidates (B, K) nearest to a query (K,).

    Those with the least centroid bound (B,) come first; when it is beyond the n-th distance so far,
    so are all others. The relaxed bound spares more. Bounds are rounded, hence the slack. Of two
    at the same distance the earlier row comes first.
    """
    places = np.empty((2, len(costs)), np.int64)
    masses = np.empty((2, len(costs)))
    rows, distances = np.full(n, -1), np.full(n, np.inf)
    for row in np.argsort(centroid):
        limit = distances[n - 1] + slack
        if centroid[row] > limit:
            break
        if _bound(query, candidates[row], costs, order) > limit:
            continue
        found = _distance(query, candidates[row], costs, places, masses)
        last = distances[n - 1]
        if found < last or (found == last and row < rows[n - 1]):
            place = n - 1
            while place > 0 and (
                found < distances[place - 1]
                or (found == distances[place - 1] and row < rows[place - 1])
            ):
                distances[place], rows[place] = distances[place - 1], rows[place - 1]
                place -= 1
            distances[place], rows[place] = found, row
    return rows, distances

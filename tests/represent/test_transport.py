import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from topicvec.errors import DataError
from topicvec.represent import (
    hellinger_distance,
    nearest_by_transport,
    transport_bounds,
    transport_distance,
)
from topicvec.represent.kernels import all_bounds, all_distances, solve
from topicvec.represent.transport import topic_distances


@pytest.fixture
def mixtures(model, documents):
    return model.transform(documents)


@pytest.fixture
def random_mixtures(model):
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.full(model.fitted_.n_topics, 0.3), 150)


def by_linear_programming(supply, demand, costs):
    """The least cost, the slow way: all plans with these sums of rows and columns."""
    n_sources, n_sinks = costs.shape
    rows = np.kron(np.eye(n_sources), np.ones(n_sinks))
    columns = np.kron(np.ones(n_sources), np.eye(n_sinks))
    sums = np.concatenate([supply, demand])
    table = np.vstack([rows, columns])[:-1]  # the last sum follows from the others
    exact = {"primal_feasibility_tolerance": 1e-10}  # by default it leaves masses of 1e-7 behind
    found = linprog(costs.ravel(), A_eq=table, b_eq=sums[:-1], options=exact)
    assert found.success
    return found.fun


# Small whole numbers have many ties and zeros, which is what paths may run in circles on.
whole = st.integers(1, 4)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n_sources=st.integers(1, 6), n_sinks=st.integers(1, 6))
def test_no_plan_is_cheaper_than_the_solvers(data, n_sources, n_sinks):
    costs = data.draw(arrays(float, (n_sources, n_sinks), elements=st.integers(0, 4)))
    supply = data.draw(arrays(float, n_sources, elements=whole))
    demand = data.draw(arrays(float, n_sinks, elements=whole))
    supply, demand = supply / supply.sum(), demand / demand.sum()
    expected = by_linear_programming(supply, demand, costs)
    assert solve(supply.copy(), demand.copy(), costs) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("concentration", [0.05, 0.3, 3.0])
def test_distances_of_random_mixtures_are_those_of_linear_programming(concentration):
    rng = np.random.default_rng(1)
    costs = cdist(*[rng.normal(size=(15, 4))] * 2)
    first, second = rng.dirichlet(np.full(15, concentration), (2, 4))
    found = all_distances(first, second, costs)
    expected = [[by_linear_programming(p, q, costs) for q in second] for p in first]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_large_problems_are_solved_too():
    rng = np.random.default_rng(2)
    costs = rng.random((60, 45))
    supply, demand = rng.dirichlet(np.ones(60)), rng.dirichlet(np.ones(45))
    expected = by_linear_programming(supply, demand, costs)
    assert solve(supply, demand, costs) == pytest.approx(expected, abs=1e-9)


def test_transport_is_a_metric_that_knows_which_topics_are_near(model, mixtures):
    distances = transport_distance(model, mixtures[:8])
    np.testing.assert_allclose(distances, distances.T, atol=1e-9)
    for through in range(8):
        assert (distances <= distances[:, [through]] + distances[[through]] + 1e-9).all()


def test_transport_of_pure_topics_is_the_distance_of_their_vectors(model):
    pure, between = np.eye(model.fitted_.n_topics), topic_distances(model)
    for method in ("exact", "entropic"):
        found = transport_distance(model, pure, method=method)
        np.testing.assert_allclose(found, between, atol=1e-6)


def test_bounds_are_never_above_the_distance(model, random_mixtures):
    distances = transport_distance(model, random_mixtures)
    for bound in transport_bounds(model, random_mixtures):
        assert (bound <= distances + 1e-9).all()
    relaxed = transport_bounds(model, random_mixtures)[1]
    different = distances > 0
    assert (relaxed[different] / distances[different]).mean() > 0.8


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n_topics=st.integers(2, 8), n_dims=st.integers(1, 3))
def test_the_relaxed_bound_holds_for_any_points(seed, n_topics, n_dims):
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, (n_topics, n_dims)).astype(float)
    costs = cdist(points, points)
    masses = rng.integers(0, 4, (5, n_topics)) + np.eye(5, n_topics)
    masses[:, 0] += masses.sum(axis=1) == 0
    mixtures = masses / masses.sum(axis=1, keepdims=True)
    bounds = all_bounds(mixtures, mixtures, costs, np.argsort(costs, axis=1))
    assert (bounds <= all_distances(mixtures, mixtures, costs) + 1e-9).all()


@pytest.mark.parametrize("keep", [None, 3])
def test_pruning_finds_what_all_distances_find(model, random_mixtures, keep):
    queries, candidates = random_mixtures[:20], random_mixtures[20:]
    rows, found = nearest_by_transport(model, queries, candidates, 7, keep=keep)
    distances = transport_distance(model, queries, candidates, keep=keep)
    expected = np.argsort(distances, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(found, np.take_along_axis(distances, expected, axis=1))


def test_of_equals_the_first_is_found_first(model, random_mixtures):
    same = random_mixtures[[3, 5, 5, 5, 4]]
    rows, distances = nearest_by_transport(model, random_mixtures[5], same, 3)
    assert rows.tolist() == [[1, 2, 3]]
    assert (distances == 0).all()


def test_no_more_are_found_than_there_are(model, random_mixtures):
    rows, _ = nearest_by_transport(model, random_mixtures[0], random_mixtures[1:4], 10)
    assert sorted(rows[0]) == [0, 1, 2]


def test_entropic_work_is_never_less_and_tends_to_the_exact(model, random_mixtures):
    some = random_mixtures[:25]
    exact = transport_distance(model, some)
    errors = []
    for strength in (0.5, 0.1, 0.03, 0.01):
        found = transport_distance(model, some, method="entropic", strength=strength)
        assert (found >= exact - 1e-9).all()
        errors.append((found - exact).mean() / exact.mean())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01 < 0.1 < errors[0]


def test_only_the_largest_topics_count_if_so_many_are_kept(model):
    n_topics = model.fitted_.n_topics
    mixture, rest = np.zeros((2, n_topics))
    mixture[[1, 2, 3]] = 0.6, 0.3, 0.1
    rest[[1, 2]] = 2 / 3, 1 / 3
    found = transport_distance(model, mixture, rest, keep=2).item()
    assert found == pytest.approx(0, abs=1e-12)
    assert transport_distance(model, mixture, rest, keep=n_topics).item() > 0.01


def test_documents_of_one_class_are_near_by_transport(model, documents, mixtures):
    labels = np.array([document.label for document in documents])
    rows, _ = nearest_by_transport(model, mixtures, mixtures, 6)
    right = (labels[rows[:, 1:]] == labels[:, None]).mean()
    plain = np.argsort(hellinger_distance(mixtures), axis=1)[:, 1:6]
    assert right > 0.9 * (labels[plain] == labels[:, None]).mean()


def test_what_cannot_be_compared_is_refused(model, mixtures):
    with pytest.raises(DataError, match="topics"):
        transport_distance(model, [[0.5, 0.5]])
    with pytest.raises(DataError, match="sum to 1"):
        transport_distance(model, 2 * mixtures[:2])
    with pytest.raises(DataError, match="method"):
        transport_distance(model, mixtures[:2], method="greedy")
    with pytest.raises(DataError, match="strength"):
        transport_distance(model, mixtures[:2], method="entropic", strength=0.0)
    for wrong in ({"keep": 0}, {"n": 0}):
        with pytest.raises(DataError, match="at least 1"):
            nearest_by_transport(model, mixtures[:2], mixtures, **wrong)


@pytest.mark.parametrize("value", [np.nan, None, np.inf])
def test_a_mixture_that_is_no_number_is_refused(model, value):
    wrong = [[value] * model.fitted_.n_topics]
    with pytest.raises(DataError, match="sum to 1"):
        transport_distance(model, wrong)

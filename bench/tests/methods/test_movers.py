import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from topicvec.embed import WordVectors
from topicvec.errors import DataError
from topicvec_bench.movers import (
    TopicMover,
    WordMover,
    exact_costs,
    relaxed_costs,
    word_bags,
    word_costs,
)


def movers(vectors, **params):
    return [WordMover(vectors, **params), TopicMover(4, vectors, **params)]


def least_cost(supply, demand, costs):
    rows = np.kron(np.eye(len(supply)), np.ones(len(demand)))
    columns = np.kron(np.ones(len(supply)), np.eye(len(demand)))
    table, sums = np.vstack([rows, columns])[:-1], np.concatenate([supply, demand])[:-1]
    exact = {"primal_feasibility_tolerance": 1e-10}
    return linprog(costs.ravel(), A_eq=table, b_eq=sums, options=exact).fun


def test_word_movers_distances_are_those_of_linear_programming(planted):
    bags = word_bags(planted.documents[:6], planted.vectors)
    packed, costs = word_costs(bags[[0]], bags, planted.vectors)
    asked = bags[[0]]
    found = exact_costs(asked.data, asked.indices, packed, costs, np.arange(6))
    matrix = planted.vectors.matrix.astype(float)
    for row, distance in enumerate(found):
        other = bags[[row]]
        between = cdist(matrix[asked.indices], matrix[other.indices])
        assert distance == pytest.approx(least_cost(asked.data, other.data, between), abs=1e-5)
    relaxed = relaxed_costs(asked.data, packed, costs)
    assert (relaxed <= found + 1e-9).all()
    assert relaxed[1] > 0.3 * found[1]
    assert found[0] == 0


def test_neighbours_tell_the_planted_groups(planted):
    for mover in movers(planted.vectors, n_neighbors=5):
        mover.fit(planted.documents, [str(label) for label in planted.labels])
        found = mover.predict(planted.new_documents)
        assert (found == [str(label) for label in planted.new_labels]).mean() > 0.9
        votes = mover.transform(planted.new_documents)
        assert votes.shape == (15, 3)
        assert (votes.sum(axis=1) == 5).all()


def test_the_same_seed_gives_the_same_bits(planted):
    for make in (lambda: movers(planted.vectors)[0], lambda: movers(planted.vectors)[1]):
        first, second = (make().fit_transform(planted.documents, planted.labels) for _ in range(2))
        assert first.tobytes() == second.tobytes()


def test_training_documents_do_not_vote_for_themselves(planted):
    documents = [["g0w1"], ["g0w2"], ["g1w1"]]  # each has a class of its own
    for mover in movers(planted.vectors, n_neighbors=1):
        assert np.array_equal(mover.fit(documents, ["a", "b", "c"]).transform(documents), np.eye(3))
        assert not (mover.fit_transform(documents, ["a", "b", "c"]) * np.eye(3)).any()


def test_equal_votes_are_decided_by_distance():
    vectors = WordVectors(["here", "near", "far"], [[0.0, 1], [1, 1], [5, 1]], [1, 1, 1])
    mover = WordMover(vectors, n_neighbors=2).fit([["far"], ["near"]], ["a", "b"])
    assert mover.transform([["here"]]).tolist() == [[1, 1]]
    assert mover.predict([["here"]]).tolist() == ["b"]


@pytest.mark.filterwarnings("ignore::topicvec.errors.OutOfVocabularyWarning")
def test_a_document_of_unknown_words_has_no_neighbours(planted):
    labels = [str(min(label, 1)) for label in planted.labels]  # two thirds are of class 1
    for mover in movers(planted.vectors):
        mover.fit(planted.documents, labels)
        assert not mover.transform([["qqq"], []]).any()
        assert mover.predict([["qqq"], []]).tolist() == ["1", "1"]


def test_pruning_that_looks_at_all_documents_finds_the_nearest(planted):
    wide = WordMover(planted.vectors, n_prefetched=60, n_exact=60)
    wide.fit(planted.documents, planted.labels)
    bags = word_bags(planted.documents, planted.vectors)
    for document in planted.new_documents[:3]:
        asked = word_bags([document], planted.vectors)
        packed, costs = word_costs(asked, bags, planted.vectors)
        all_costs = exact_costs(asked.data, asked.indices, packed, costs, np.arange(60))
        rows, distances = wide._nearest([document], 10)
        np.testing.assert_allclose(distances[0], np.sort(all_costs)[:10])
        np.testing.assert_allclose(all_costs[rows[0]], distances[0])


def test_neighbours_without_classes_are_refused(planted):
    for mover in movers(planted.vectors):
        with pytest.raises(DataError, match="a class for each"):
            mover.fit(planted.documents)
        with pytest.raises(DataError, match="n_neighbors"):
            mover.set_params(n_neighbors=0).fit(planted.documents, planted.labels)

import numpy as np
import pytest

from topicvec.errors import DataError
from topicvec.measure.stability import match_topics, topic_stability


def test_shuffled_topics_are_found_again():
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(8, 5))
    order = rng.permutation(8)
    pairs = match_topics(topics, 3 * topics[order])
    assert [order[j] for _, j, _ in pairs] == [i for i, _, _ in pairs] == list(range(8))
    assert topic_stability([topics, topics[order], topics]).value == pytest.approx(1)


def test_matching_is_the_best_in_total_not_greedy():
    # Greedy would take 0–0 (0.9) and be left with 1–1 (0.1); the best is 0.8 + 0.8.
    first = [list("abcdefghi"), list("abcdefghj")]
    second = [list("abcdefghi"), ["z"]]
    assert [(i, j) for i, j, _ in match_topics(first, second, by="jaccard")] == [(0, 0), (1, 1)]
    table = np.array([[0.9, 0.8], [0.8, 0.1]])
    rows = np.linalg.cholesky(np.block([[np.eye(2), table / 2], [table.T / 2, np.eye(2)]]))
    found = match_topics(rows[:2], rows[2:])
    assert [(i, j) for i, j, _ in found] == [(0, 1), (1, 0)]
    assert [like for _, _, like in found] == pytest.approx([0.4, 0.4])


def test_stability_is_the_mean_over_pairs_of_runs_by_hand():
    runs = [[["a", "b"]], [["a", "b"]], [["a", "c"]]]
    found = topic_stability(runs, by="jaccard")
    assert found.pairs == pytest.approx((1, 1 / 3, 1 / 3))
    assert found.value == pytest.approx(5 / 9)
    assert topic_stability(runs, by="rbo").value > found.value  # the first word counts most
    assert found.as_dict()["by"] == "jaccard"


def test_runs_with_different_numbers_of_topics_and_zero_vectors_are_compared():
    assert len(match_topics(np.eye(3), np.eye(3)[:2])) == 2
    assert topic_stability([np.zeros((2, 3)), np.eye(3)]).value == 0


def test_bad_arguments_are_refused():
    with pytest.raises(DataError, match="at least two runs"):
        topic_stability([np.eye(2)])
    with pytest.raises(DataError, match="with the same N"):
        match_topics(np.eye(2), np.eye(3))
    with pytest.raises(DataError, match="by must be"):
        match_topics(np.eye(2), np.eye(2), by="euclid")
    with pytest.raises(DataError, match="at least one topic"):
        match_topics([], [["a"]], by="rbo")

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec.errors import DataError
from topicvec_bench.classify import RowScaler, classify


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 40)
    centres = np.repeat(3 * np.eye(3, 6), 40, axis=0)
    return tuple((centres + rng.normal(size=(120, 6)), labels) for _ in range(2))


@pytest.mark.parametrize("protocol", ["paper", "strong"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_separate_classes_are_told_apart(blobs, protocol, kind):
    (train, known), (test, wanted) = blobs
    score = classify(kind(train), known, kind(test), wanted, protocol)
    assert score.f1 > 90
    assert score.accuracy > 90
    assert score.n_features == 6
    assert score.converged


def test_scores_are_means_over_classes_and_not_over_documents():
    train, known = np.array([[1.0], [1.0], [-1.0], [-1.0]]), ["a", "a", "b", "b"]
    test, wanted = np.array([[1.0], [1.0], [1.0], [1.0], [-1.0]]), ["a", "a", "a", "b", "b"]
    score = classify(train, known, test, wanted, "strong")
    assert score.precision == pytest.approx(100 * (3 / 4 + 1) / 2)
    assert score.recall == pytest.approx(100 * (1 + 1 / 2) / 2)
    assert score.f1 == pytest.approx(100 * (6 / 7 + 2 / 3) / 2)
    assert score.accuracy == pytest.approx(80)


def test_the_papers_protocol_takes_features_as_they_are(blobs):
    (train, known), (test, wanted) = blobs
    score = classify(train, known, test, wanted)
    small = classify(train * 1e-4, known, test * 1e-4, wanted)
    assert (score.penalty, score.scaling) == (1.0, "none")
    assert small.f1 < score.f1 - 20  # C = 1 leaves hardly a weight


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_the_strong_protocol_does_not_judge_by_scale(blobs, factor):
    (train, known), (test, wanted) = blobs
    score = classify(train, known, test, wanted, "strong")
    scaled = classify(factor * train, known, factor * test, wanted, "strong")
    assert scaled.f1 == pytest.approx(score.f1, abs=1e-9)


def test_features_of_uneven_scale_are_standardised_where_this_helps(blobs):
    (train, known), (test, wanted) = blobs
    uneven = np.array([1e-3, 1e-3, 1e-3, 1e3, 1e3, 1e3])
    score = classify(uneven * train, known, uneven * test, wanted, "strong")
    assert score.scaling == "standard"
    assert score.f1 > 90


@pytest.mark.parametrize("protocol", ["paper", "strong"])
def test_the_same_features_give_the_same_scores(blobs, protocol):
    (train, known), (test, wanted) = blobs
    first, second = (classify(train, known, test, wanted, protocol) for _ in range(2))
    assert (first.f1, first.accuracy) == (second.f1, second.accuracy)


@pytest.mark.parametrize("kind", ["rows", "standard"])
def test_scaled_rows_have_length_one_in_the_median(blobs, kind):
    features = blobs[0][0]
    scaled = RowScaler(kind).fit_transform(features)
    assert np.median(np.linalg.norm(scaled, axis=1)) == pytest.approx(1)
    assert np.array_equal(RowScaler(kind).fit_transform(np.zeros((3, 2))), np.zeros((3, 2)))


def test_a_fit_that_ran_out_of_iterations_says_so(blobs, monkeypatch):
    monkeypatch.setattr("topicvec_bench.classify._MOST_ITERATIONS", {"paper": 1, "strong": 1})
    (train, known), (test, wanted) = blobs
    for protocol in ("paper", "strong"):
        assert not classify(train, known, test, wanted, protocol).converged


@pytest.mark.parametrize(
    ("train", "known", "test", "wanted", "protocol", "message"),
    [
        (np.eye(2), ["a"], np.eye(2), ["a", "b"], "paper", "one label a row"),
        (np.eye(2), ["a", "b"], np.eye(3), ["a", "b", "a"], "paper", "same features"),
        (np.eye(2), ["a", "a"], np.eye(2), ["a", "a"], "paper", "two classes"),
        (np.eye(2), ["a", "b"], np.eye(2), ["a", "b"], "strong", "at least two"),
        (np.eye(2), ["a", "b"], np.eye(2), ["a", "b"], "best", "protocol"),
    ],
)
def test_what_cannot_be_scored_is_refused(train, known, test, wanted, protocol, message):
    with pytest.raises(DataError, match=message):
        classify(train, known, test, wanted, protocol)


@pytest.mark.parametrize("protocol", ["paper", "strong"])
def test_the_number_of_processes_changes_nothing(blobs, protocol):
    (train, known), (test, wanted) = blobs
    one, two = (classify(train, known, test, wanted, protocol, n_jobs=n) for n in (1, 2))
    assert replace(two, seconds=one.seconds) == one

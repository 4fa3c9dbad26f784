"""Every fit ends with finite results or an error that says what is too large or too small."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicvec import TopicVec, WordVectors
from topicvec.errors import DataError
from topicvec.model import PaperSolver
from topicvec.model.fit import _check_reach

WORDS = [f"w{number}" for number in range(30)]
RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(30, 5))
TEXTS = [[WORDS[i] for i in RNG.integers(0, 10, 20) + 10 * (n % 3)] for n in range(25)]


def vectors(scale=1.0, unigram=None):
    return WordVectors(WORDS, MATRIX * scale, np.ones(30) if unigram is None else unigram)


def fitted(given=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TopicVec(2, given or vectors(), random_state=0, **params).fit(TEXTS)


def assert_finite(model):
    fitted = model.fitted_
    for part in (fitted.topics, fitted.residuals, fitted.alpha, fitted.mass, fitted.word_mass.data):
        assert np.isfinite(part).all()
    assert np.isfinite(model.doc_topic_).all()
    assert np.isfinite(model.transform(TEXTS)).all()


@pytest.mark.parametrize("alpha", [1e300, 1e100, 1e10, np.inf, np.nan, -1, 0])
def test_a_prior_beyond_all_documents_is_refused(alpha):
    with pytest.raises(DataError, match="alpha must be positive and at most 1e\\+09"):
        fitted(alpha=alpha)


@pytest.mark.parametrize("scale", [1e30, 1e20, 1e18, 1e10, 1e-10, 1e-30])
def test_vectors_that_the_arithmetic_cannot_tell_apart_are_refused(scale):
    with pytest.raises(DataError, match="scale the vectors to lengths near 1"):
        fitted(vectors(scale))


@pytest.mark.parametrize("max_norm", [1e30, 1e300, 1e-30])
def test_a_ball_beyond_the_arithmetic_is_refused(max_norm):
    with pytest.raises(DataError, match="change max_norm="):
        fitted(max_norm=max_norm)


def test_the_limits_of_v_times_t_are_allowed():
    _check_reach(np.array([[1e5]]), 10.0)
    _check_reach(np.array([[1e-7]]), 10.0)
    with pytest.raises(DataError, match=r"reach 1\.1e\+06"):
        _check_reach(np.array([[1.1e5]]), 10.0)


def test_a_step_beyond_all_balls_is_refused():
    with pytest.raises(DataError, match="learning_rate must be a number between"):
        fitted(solver=PaperSolver(learning_rate=1e300))


@settings(max_examples=40, deadline=None)
@given(
    alpha=st.floats(-320, 308).map(lambda power: 10.0**power),
    scale=st.floats(-37, 37).map(lambda power: 10.0**power),
    max_norm=st.floats(-320, 308).map(lambda power: 10.0**power),
    first=st.floats(-300, 300).map(lambda power: 10.0**power),
    solver=st.sampled_from(["newton", "paper"]),
    own_words=st.sampled_from([True, False, 1e-300, 1e300]),
)
def test_any_fit_is_finite_or_refused(alpha, scale, max_norm, first, solver, own_words):
    unigram = np.ones(30)
    unigram[0] = first
    params = {"alpha": alpha, "max_norm": max_norm, "solver": solver, "own_words": own_words}
    try:
        model = fitted(vectors(scale, unigram), max_iter=5, **params)
    except DataError:
        return
    assert_finite(model)


@settings(max_examples=40, deadline=None)
@given(
    scale=st.floats(-5, 4).map(lambda power: 10.0**power),
    alpha=st.floats(-30, 8).map(lambda power: 10.0**power),
)
def test_a_fit_within_the_limits_is_finite(scale, alpha):
    assert_finite(fitted(vectors(scale), alpha=alpha, max_iter=5))

"""The bundled texts with the default vectors: what a first user sees."""

import subprocess
import sys
import warnings
from itertools import islice

import numpy as np
import oracles
import pytest
from sklearn.exceptions import ConvergenceWarning

from topicvec.datasets import sample_article, sample_corpus
from topicvec.embed import WordVectors, load_vectors
from topicvec.engine import LocalEngine
from topicvec.model import equations as eq
from topicvec.model import gem, state
from topicvec.model.counts import DocumentCounter
from topicvec.model.fit import plan_corpus
from topicvec.model.topicvec import TopicVec

WATCHED = (1, 2, 3, 8, 9, 20, 21, 38, 39, 40)


@pytest.fixture(scope="module")
def vectors():
    return load_vectors(None)


def true_bound(vectors, counts, state):
    """The bound in double precision, from the equations alone."""
    V, u = vectors.matrix, vectors.unigram.astype(float)
    u, T = u / u.sum(), state.topics.astype(float)
    r = eq.residuals(V, u, T, block=10_000)
    total = 0.0
    for d in range(counts.shape[0]):
        row = counts[[d]]
        logits = eq.logits(V[row.indices].astype(float), T, r)
        n, theta = row.data.astype(float), np.concatenate(state.theta)[d].astype(float)
        total += oracles.bound_short(logits, u[row.indices], state.alpha, theta, n)
    return total / counts.sum()


def test_the_true_bound_of_the_sample_corpus_never_falls(vectors):
    counts = DocumentCounter().count(sample_corpus(), vectors).counts
    rng = np.random.default_rng(0)
    plan = plan_corpus(vectors, counts, 12, 0.1, "spread", {}, rng)
    steps = islice(plan.steps(LocalEngine(2)), max(WATCHED))
    seen = [(state, info) for state, info in steps if info.iteration in WATCHED]
    bounds = np.array([true_bound(vectors, counts, state) for state, _ in seen])
    told = np.array([info.bound for _, info in seen])
    assert len(seen) >= 5
    assert np.diff(bounds).min() > -1e-6
    # The loop tells the bound at the responsibilities from before the topics moved, so never more.
    assert (bounds - told).min() > -1e-5
    assert bounds[-1] == pytest.approx(told[-1], abs=1e-3)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_sample_article_does_not_collapse(vectors, seed):
    model = TopicVec(19, vectors, random_state=seed).fit([sample_article()])
    share = model.fitted_.mass / model.fitted_.mass.sum()
    live = 1 + np.flatnonzero(share[1:] > 0.02)
    assert len(live) >= 8
    units = model.topic_vectors_[live]
    units = units / np.linalg.norm(units, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -1)
    assert cosines.max() < 0.8


def test_a_rehearsal_saves_iterations_and_ends_as_well(monkeypatch):
    article = [sample_article()]
    rehearsed = TopicVec(19, init="spread", random_state=0).fit(article)
    monkeypatch.setattr(gem, "_WORTH", 0.0)  # never worth it
    plain = TopicVec(19, init="spread", random_state=0).fit(article)
    assert rehearsed.n_iter_ <= plain.n_iter_ / 2
    assert rehearsed.bounds_[-1] > plain.bounds_[-1] - 0.02


@pytest.mark.parametrize("compiled", [False, True])
def test_the_bound_of_an_article_never_falls_in_either_kind_of_loop(monkeypatch, compiled):
    monkeypatch.setattr(state, "FEW_DOCUMENTS", 0 if compiled else 8)
    model = TopicVec(19, random_state=0, tol=0.0, max_iter=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        bounds = model.fit([sample_article()]).bounds_
    assert len(bounds) > 10
    assert np.diff(bounds).min() >= 0


def test_an_article_needs_no_compiled_loops(tmp_path):
    script = (
        "import sys; from topicvec import TopicVec, datasets\n"
        "TopicVec(9, random_state=0).fit([datasets.sample_article()])\n"
        "assert 'numba' not in sys.modules and 'sklearn' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_another_link_function_gives_an_article_other_topics(monkeypatch):
    article = [sample_article()]
    before = TopicVec(9, random_state=0).fit(article)
    link = eq.logits
    monkeypatch.setattr(eq, "logits", lambda V, T, r=None: link(0.5 * V, T, r))
    after = TopicVec(9, random_state=0).fit(article)
    assert not np.allclose(before.topic_vectors_, after.topic_vectors_, atol=1e-3)
    assert before.topics_ != after.topics_


def test_a_link_on_other_features_is_the_model_on_them(monkeypatch, vectors):
    article = [sample_article()]
    shorter = WordVectors(vectors.words, vectors.matrix / 1.5, vectors.unigram)
    expected = TopicVec(9, shorter, random_state=0, tol=1e-4).fit(article)
    link, moment = eq.logits, eq.moment
    monkeypatch.setattr(eq, "logits", lambda V, T, r=None: link(V / 1.5, T, r))
    monkeypatch.setattr(eq, "moment", lambda V, C: moment(V / 1.5, C))
    found = TopicVec(9, vectors, random_state=0, tol=1e-4).fit(article)
    assert found.score(article) == pytest.approx(found.bounds_[-1], abs=2e-3)
    assert found.bounds_[-1] == pytest.approx(expected.bounds_[-1], abs=2e-2)
    assert np.diff(found.bounds_).min() >= 0


@pytest.mark.filterwarnings("ignore:not converged")
def test_each_equation_runs_in_the_fit_of_an_article(monkeypatch):
    called = set()

    def counted(name, function):
        def wrapper(*args, **kwargs):
            called.add(name)
            return function(*args, **kwargs)

        return wrapper

    for name in eq.__all__:
        monkeypatch.setattr(eq, name, counted(name, getattr(eq, name)))
    model = TopicVec(5, random_state=0).fit([sample_article()])
    model.responsibilities(sample_article())
    model.merge([[1, 2]])
    model.conditional("water", ["drinking"], 1)
    TopicVec(5, random_state=0, solver="paper", max_iter=2, tol=10.0).fit([sample_article()])
    TopicVec(2, random_state=0, alpha="learn", max_iter=6, tol=10.0).fit(sample_corpus())
    assert called == set(eq.__all__)


def test_there_are_at_most_twenty_parameters():
    assert len(TopicVec().get_params()) <= 20

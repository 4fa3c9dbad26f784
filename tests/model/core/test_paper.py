"""The paper's solver, step by step, and the equations that learning does without."""

from dataclasses import replace
from itertools import islice, product

import numpy as np
import oracles
import pytest
from sklearn.exceptions import NotFittedError

from topicvec import PSDVec
from topicvec.embed.association import measure_margins
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.model import PaperSolver, Solver, TopicVec
from topicvec.model import equations as eq
from topicvec.model.gem import iterate

TEXTS = [
    "the cat and the dog sleep in the house",
    "a car and a bus stop at the house",
    "the dog and a cat see the bus",
] * 2


def run(world, engine, solver, n, given="random", n_topics=6):
    solver = replace(solver, max_norm=3.0, inner_tol=1e-12)
    corpus = world.corpus(n_topics)
    state = world.start(corpus, solver, n_topics, given=given)
    return state, list(islice(iterate(corpus, world.lexicon(corpus), state, solver, engine), n))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"learning_rate": 0.5, "length": 1e9},
        {"length": 100.0, "n_passes": 3},
        {"n_steps": 5, "n_passes": 2},
    ],
)
def test_the_papers_solver_is_the_papers_loop(world, engine, given):
    how = {"learning_rate": 0.1, "length": 10000.0, "n_passes": 1, "n_steps": 1} | given
    state, steps = run(world, engine, PaperSolver(**given), 6)
    expected = oracles.paper_iterations(
        world.V, world.u, world.counts.toarray(), state.topics, state.alpha,
        rate=how["learning_rate"], length=how["length"], max_norm=3.0,
        n_passes=how["n_passes"], n_steps=how["n_steps"],
    )  # fmt: skip
    moved = 0.0
    for (found, _), (T, theta) in zip(steps, expected, strict=False):
        np.testing.assert_allclose(found.topics, T, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(found.theta[0], theta, rtol=1e-6)
        moved = max(moved, np.abs(found.topics - state.topics).max())
    assert len(steps) == 6
    assert moved > 0.01


def test_the_papers_start_is_random_unit_vectors_and_ones(world, engine):
    state, _ = run(world, engine, PaperSolver(), 1, given="auto")
    np.testing.assert_allclose(np.linalg.norm(state.topics, axis=1), [0, 1, 1, 1, 1, 1], rtol=1e-6)
    assert (state.theta[0] == 1).all()
    cosines = state.topics[1:] @ state.topics[1:].T - np.eye(5)
    assert np.abs(cosines).max() < 0.9


def test_topics_never_part_from_zero(world, engine):
    _, steps = run(
        world, engine, PaperSolver(learning_rate=0.5), 10, np.zeros((6, world.V.shape[1]))
    )
    topics = steps[-1][0].topics
    assert np.linalg.norm(topics[1]) > 0.1
    np.testing.assert_allclose(topics[2:], np.tile(topics[1], (4, 1)), atol=1e-12)


def test_a_start_at_ones_or_even_is_the_same(world, engine):
    ends = [
        run(world, engine, PaperSolver(start=start), 20)[1][-1][0].topics
        for start in ("paper", "even")
    ]
    np.testing.assert_allclose(*ends, atol=1e-9)


def fit(planted, **params):
    model = TopicVec(4, planted.vectors, max_iter=3, tol=100.0, random_state=0, **params)
    return model.fit(planted.documents).topic_vectors_


def test_the_name_paper_is_the_papers_solver(planted):
    named = fit(planted, solver="paper")
    np.testing.assert_array_equal(named, fit(planted, solver=PaperSolver(), init="random"))
    assert np.abs(named - fit(planted, solver="paper", init="spread")).max() > 0.1
    assert np.abs(named - fit(planted, solver=Solver(method="paper"))).max() > 0.1
    assert np.abs(named - fit(planted, solver=PaperSolver(learning_rate=0.2))).max() > 0.01


def test_the_papers_solver_is_saved_with_the_model(planted, tmp_path):
    solver = PaperSolver(learning_rate=0.05, length=2500, n_passes=2, n_steps=5)
    model = TopicVec(2, planted.vectors, solver=solver, max_iter=3, tol=100.0, random_state=0)
    model.fit(planted.documents).save(tmp_path / "a.topicvec")
    assert TopicVec.load(tmp_path / "a.topicvec").solver == solver


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learning_rate": -1}, "learning_rate must be"),
        ({"length": "long"}, "length must be"),
        ({"n_passes": 0}, "n_passes must be"),
        ({"n_steps": 1.5}, "n_steps must be"),
        ({"start": "zero"}, "start must be"),
    ],
)
def test_a_bad_paper_solver_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        PaperSolver(**given)


@pytest.fixture(scope="module")
def psdvec():
    return PSDVec(3, min_count=1, window=3, direction="left", weighting="flat", smoothing=0.02).fit(
        TEXTS
    )


@pytest.fixture(scope="module")
def model(psdvec):
    return TopicVec(2, psdvec.vectors_, own_words=False, stop_words=None, random_state=0).fit(TEXTS)


def smoothed(psdvec, before):
    """P~(w | l) of all words, from sentences that are counted here."""
    words, x = psdvec.vectors_.words, np.zeros((len(psdvec.vectors_),) * 2)
    for text in TEXTS:
        tokens = text.split()
        for j, token in enumerate(tokens):
            for earlier in tokens[max(j - 3, 0) : j]:
                x[words.index(earlier), words.index(token)] += 1
    u = x.sum(axis=0) / x.sum()
    row = words.index(before)
    return 0.98 * x[row] / x[row].sum() + 0.02 * u


@pytest.mark.parametrize("before", ["the", "cat", "at"])
def test_one_word_of_context_in_the_null_topic_is_exact(model, psdvec, before):
    found = model.conditional(model.vocabulary_, [before], residuals=psdvec)
    np.testing.assert_allclose(found, smoothed(psdvec, before), rtol=1e-6)
    assert found.sum() == pytest.approx(1)


def test_residuals_are_what_the_vectors_leave_open(psdvec):
    words = psdvec.vectors_.words
    margins = measure_margins(psdvec.counts_, smoothing=0.02)
    x = psdvec.counts_.counts.toarray()
    ratio = 0.98 * x / np.maximum(margins.row_totals, 1)[:, None] + 0.02 * margins.unigram
    V = psdvec.vectors_.matrix.astype(float)
    ratio[margins.row_totals == 0] = psdvec.vectors_.unigram  # nothing follows: as by chance
    expected = np.log(ratio / psdvec.vectors_.unigram) - V @ V.T
    found = psdvec.bigram_residuals(words, words)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert np.abs(found - found.T).max() > 0.1  # it matters who comes first


def test_a_word_without_context_has_the_probability_of_its_topic(model, psdvec):
    for topic in range(3):
        found = model.conditional(model.vocabulary_, topic=topic, residuals=psdvec)
        np.testing.assert_allclose(found, model.topic_word_[:, topic])
        assert found.sum() == pytest.approx(1, abs=1e-5)


def test_context_and_topic_are_equation_2(model, psdvec):
    words = model.vocabulary_
    V, u = model.vectors_.matrix.astype(float), model.vectors_.unigram
    A = psdvec.bigram_residuals(words, words)
    T, r = model.topic_vectors_.astype(float), model.topic_residuals_
    context = ["the", "cat", "and"]
    for word, topic in product(["dog", "bus"], range(3)):
        known = [words.index(each) for each in (word, *context)]
        expected = oracles.in_context(V, u, T, r, A, known[0], known[1:], topic)
        found = model.conditional(word, context, topic, residuals=psdvec)
        assert found == pytest.approx(expected, rel=1e-5)
        expected = oracles.in_context(V, u, T, r, 0 * A, known[0], known[1:], topic)
        assert model.conditional(word, context, topic) == pytest.approx(expected, rel=1e-5)


def test_words_may_come_one_by_one(model, psdvec):
    words, context = model.vocabulary_[:3], [model.vocabulary_[0]]
    given = model.conditional(words, context, residuals=psdvec)
    found = model.conditional(iter(words), iter(context), residuals=psdvec)
    assert np.array_equal(given, found)


def test_a_word_without_neighbours_follows_as_by_chance():
    texts = [["cat", "dog", "cat"], ["solo"], ["dog", "cow", "cat"], ["solo"]] * 3
    psdvec = PSDVec(2, min_count=1, window=1).fit(texts)
    model = TopicVec(1, psdvec.vectors_, random_state=0, stop_words=None).fit(texts)
    assert np.isfinite(psdvec.bigram_residuals(["solo", "cat"], ["solo", "cat"])).all()
    after = model.conditional(model.vocabulary_, ["solo"], residuals=psdvec)
    assert np.allclose(after, psdvec.vectors_.unigram, rtol=1e-5)


@pytest.mark.parametrize(
    "given",
    [{"topic": True}, {"topic": 1.0}, {"topic": 99}, {"context": "cat"}, {"residuals": "psdvec"},
     {"residuals": PSDVec()}],
)  # fmt: skip
def test_what_is_no_topic_context_or_residuals_is_refused(model, given):
    with pytest.raises((DataError, NotFittedError)):
        model.conditional(model.vocabulary_[0], **{"context": [], **given})


@pytest.mark.parametrize("given", [{"learning_rate": 0}, {"length": 0}])
def test_a_solver_that_does_not_move_is_refused(given):
    with pytest.raises(DataError, match="must be"):
        PaperSolver(**given)


def test_residuals_of_other_vectors_and_unknown_names_are_refused(model, psdvec):
    other = PSDVec(2, min_count=1, window=2).fit(TEXTS)
    with pytest.raises(VocabularyMismatch, match="other word vectors"):
        model.conditional("cat", ["the"], residuals=other)
    with pytest.raises(DataError, match="from 0 to 2; found 3"):
        model.conditional("cat", ["the"], 3)
    with pytest.raises(DataError, match="must be a list of words"):
        model.conditional("cat", "the")
    with pytest.raises(VocabularyMismatch, match="xylophone"):
        model.conditional("xylophone", ["the"])
    with pytest.raises(NotFittedError, match="no vectors yet"):
        PSDVec().bigram_residuals(["the"], ["cat"])


@pytest.fixture
def document():
    """Four tokens in order, three topics, residuals, and some q."""
    rng = np.random.default_rng(5)
    V, u = rng.normal(size=(9, 4)), rng.dirichlet(np.ones(9))
    T = np.vstack([np.zeros(4), rng.normal(size=(2, 4))])
    tokens, alpha = np.array([2, 5, 1, 7]), np.array([0.3, 0.7, 1.1])
    A = rng.normal(size=(9, 9)) / 5
    pi, theta = rng.dirichlet(np.ones(3), size=4), rng.uniform(0.5, 3, 3)
    return V, u, T, eq.residuals(V, u, T), tokens, alpha, A, pi, theta


def context_terms(V, A, tokens):
    """What the two words before each token (L,) add to its link, by the equation that runs."""
    found = []
    for j, word in enumerate(tokens):
        before = tokens[max(j - 2, 0) : j]
        found += eq.context_logits(V[[word]], V[before], A[before][:, [word]]).tolist()
    return np.array(found)


def test_the_bound_is_the_mean_of_the_joint_and_the_entropy(document):
    V, u, T, r, tokens, alpha, A, pi, theta = document
    context, ones = context_terms(V, A, tokens), np.ones(4)
    words = np.log(u[tokens])[:, None] + eq.logits(V[tokens], T, r) + context[:, None]
    total, log_phi = oracles.entropy(theta, ones, pi), eq.expected_log_phi(theta)
    for z in product(range(3), repeat=4):  # eq. 9: E_q[log p(D, Z, φ)] + H(q)
        chance = np.prod(pi[np.arange(4), z])
        total += chance * oracles.log_joint(alpha, log_phi, z, words)
    plain = oracles.bound_long(V[tokens], u[tokens], T, r, alpha, theta, ones, pi)
    assert np.abs(context[1:]).min() > 0.01
    assert total == pytest.approx(plain + context.sum())  # constant in q and T: it is in C_1


def test_the_gap_to_the_evidence_is_a_divergence(document):
    V, u, T, r, tokens, alpha, _, pi, theta = document
    words = np.log(u[tokens])[:, None] + eq.logits(V[tokens], T, r)
    evidence, gaps = oracles.log_evidence(alpha, words), []
    for _ in range(30):
        bound = oracles.bound_long(V[tokens], u[tokens], T, r, alpha, theta, np.ones(4), pi)
        gaps.append(evidence - bound)  # KL(q ‖ p), eq. 10
        pi = oracles.responsibilities(theta, words)
        theta = oracles.dirichlet(alpha, np.ones(4), pi)
    assert min(gaps) > 0
    assert gaps[-1] < 0.3 * gaps[0]


def test_the_best_theta_is_where_the_bound_is_level(document):
    V, u, T, r, tokens, alpha, _, pi, _ = document
    best = oracles.dirichlet(alpha, np.ones(4), pi)
    for step in 1e-4 * np.eye(3):  # eq. 25 is zero there
        bounds = [
            oracles.bound_long(V[tokens], u[tokens], T, r, alpha, best + x, np.ones(4), pi)
            for x in (-step, 0, step)
        ]
        assert bounds[1] > max(bounds[0], bounds[2])
        assert bounds[2] - bounds[0] == pytest.approx(0, abs=1e-9)

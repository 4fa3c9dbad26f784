from dataclasses import replace
from itertools import islice

import numpy as np
import oracles
import pytest

from topicvec.engine import InPlace, LocalEngine
from topicvec.errors import DataError
from topicvec.model import equations as eq
from topicvec.model.estep import even_theta, mix
from topicvec.model.gem import expect, iterate
from topicvec.model.mstep import HEAD_SIZE, LocalModel, _multipliers, _newton_step, evaluate, m_step
from topicvec.model.state import Lexicon, Solver, cut_evenly

SOLVER = Solver(max_norm=5.0)


def prepare(world, n_topics=6, solver=SOLVER, dtype=np.float64, allowed=None, **options):
    corpus = world.corpus(n_topics, allowed, dtype)
    lexicon = world.lexicon(corpus, dtype)
    return corpus, lexicon, world.start(corpus, solver, n_topics, dtype, **options)


def fit(world, n, engine=None, solver=SOLVER, free=None, **options):
    corpus, lexicon, state = prepare(world, solver=solver, **options)
    steps = iterate(corpus, lexicon, state, solver, engine or LocalEngine(1), free)
    states, infos = zip(*islice(steps, n), strict=True)
    return corpus, lexicon, states, infos


@pytest.mark.parametrize("learn_alpha", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bound_never_falls(world, dtype, learn_alpha):
    solver = replace(SOLVER, learn_alpha=learn_alpha)
    _, _, _, infos = fit(world, 100, solver=solver, dtype=dtype)
    bounds = np.array([info.bound for info in infos])
    assert len(bounds) > 10
    assert np.diff(bounds).min() >= 0


def test_the_bound_is_the_papers_at_the_state_it_comes_with(world, engine):
    solver = replace(SOLVER, inner_tol=1e-9, max_passes=500)
    corpus, _, states, infos = fit(world, 150, solver=solver)
    state, V, u = states[-1], world.V, world.u
    r = eq.residuals(V, u, state.topics)
    np.testing.assert_allclose(state.residuals, r, atol=1e-10)
    logits, total = eq.logits(V, state.topics, r), 0.0
    for d in range(corpus.n_documents):
        cells = slice(corpus.shards[0].indptr[d], corpus.shards[0].indptr[d + 1])
        words, n = corpus.types[corpus.shards[0].words[cells]], corpus.shards[0].counts[cells]
        total += oracles.bound_short(logits[words], u[words], state.alpha, state.theta[0][d], n)
    assert state.bound == pytest.approx(total, rel=1e-6)
    assert infos[-1].bound == state.bounds[-1] == state.bound / corpus.type_counts.sum()


@pytest.mark.parametrize("solver", ["newton", "paper"])
def test_results_are_the_same_bits_for_1_2_and_4_workers(world, solver):
    solver = replace(SOLVER, method=solver, learn_alpha=True)
    runs = [fit(world, 5, LocalEngine(n), solver, dtype=np.float32)[2:] for n in (1, 2, 4)]
    for states, infos in runs[1:]:
        for name in ("topics", "residuals", "alpha", "theta", "curvature", "bound"):
            first, other = getattr(runs[0][0][-1], name), getattr(states[-1], name)
            np.testing.assert_array_equal(first, other)
        assert [i.bound for i in infos] == [i.bound for i in runs[0][1]]


def test_going_on_from_a_state_gives_the_same_bits(world, engine):
    corpus, lexicon, states, infos = fit(world, 8, dtype=np.float32)
    steps = iterate(corpus, lexicon, states[3], SOLVER, engine)
    resumed, info = next(islice(steps, 3, None))
    np.testing.assert_array_equal(resumed.topics, states[7].topics)
    np.testing.assert_array_equal(resumed.theta[0], states[7].theta[0])
    assert (info.bound, info.change) == (infos[7].bound, infos[7].change)


def test_planted_topics_are_recovered(world):
    _, _, states, _ = fit(world, 40, n_topics=6)
    found = states[-1].topics[1:]
    cosines = eq.project(world.T[1:], 1.0) @ (found / np.linalg.norm(found, axis=1)[:, None]).T
    assert cosines.max(1).min() > 0.9


def test_mass_sums_to_tokens_and_the_null_topic_stays(world):
    corpus, _, states, infos = fit(world, 6)
    assert infos[-1].topic_mass.sum() == pytest.approx(corpus.type_counts.sum())
    assert not states[-1].topics[0].any()
    assert states[-1].residuals[0] == pytest.approx(0, abs=1e-12)


def test_topics_stay_on_the_ball(world):
    for solver in ("newton", "paper"):
        solver = replace(SOLVER, method=solver, max_norm=2.0, learning_rate=10.0)
        norms = np.linalg.norm(fit(world, 10, solver=solver)[2][-1].topics, axis=1)
        assert norms.max() == pytest.approx(2.0)


def test_topics_that_are_not_free_stay_and_others_move(world):
    free = np.array([True, False, True, True, False, True])
    given = world.T.astype(np.float32)
    given[5] /= 2
    _, _, states, _ = fit(world, 5, free=free, given=given)
    moved = (states[-1].topics != states[0].topics).any(1)
    np.testing.assert_array_equal(states[-1].topics[[1, 4]], given[[1, 4]])
    np.testing.assert_array_equal(moved, [False, False, True, True, False, True])


def test_masks_of_allowed_topics_are_respected(world):
    allowed = np.zeros((80, 6), bool)
    allowed[:40, 1:4] = allowed[40:, 3:6] = allowed[:, 0] = True
    _, _, states, infos = fit(world, 20, solver=replace(SOLVER, learn_alpha=True), allowed=allowed)
    assert not states[-1].theta[0][~allowed].any()
    assert (states[-1].theta[0][allowed] > 0).all()
    assert np.diff([info.bound for info in infos]).min() >= 0
    np.testing.assert_allclose((states[-1].theta[0] > 0).sum(1), 4)


def test_an_all_true_mask_is_no_mask(world):
    plain = fit(world, 3)[2][-1]
    masked = fit(world, 3, allowed=np.ones((80, 6), bool))[2][-1]
    np.testing.assert_array_equal(plain.topics, masked.topics)


def test_the_default_solver_is_far_faster_and_ends_higher_than_the_papers(world):
    paper = fit(world, 100, solver=replace(SOLVER, method="paper"))[3]
    ours = fit(world, 60)[3]
    final = paper[-1].bound
    needed = next(i.iteration for i in ours if i.bound >= final)
    assert needed <= 10
    assert ours[-1].bound > final


def test_one_newton_step_closes_most_of_the_gap(world, engine):
    corpus, lexicon, state = prepare(world)
    tables = evaluate(engine, lexicon, state.topics)
    _, _, stats = expect(engine, corpus, lexicon, tables, state, SOLVER)
    free = np.arange(6) > 0
    gains = []
    for _ in range(12):
        state, tables, gained, _ = m_step(engine, lexicon, state, stats, tables, SOLVER, free)
        gains.append(gained)
    assert min(gains) >= 0
    assert sum(gains[:2]) > 0.7 * sum(gains)
    _, _, slope, _ = _newton_step(engine, lexicon, state, stats, tables, SOLVER, free)
    assert slope.max() < 1e-3


def test_tables_are_the_equations(world, engine):
    _, lexicon, state = prepare(world)
    tables = evaluate(engine, lexicon, state.topics)
    r = eq.residuals(world.V, world.u, state.topics)
    P = oracles.word_probabilities(world.V, world.u, state.topics, r)
    np.testing.assert_allclose(-tables.log_partition, r, atol=1e-12)
    np.testing.assert_allclose(tables.mean, eq.moment(world.V, P), atol=1e-12)
    spread = [np.trace(np.cov(world.V.T, aweights=p, ddof=0)) for p in P.T]
    np.testing.assert_allclose(tables.spread, spread)
    for k in range(6):
        rows = tables.head_rows[k][tables.head_shares[k] > 0]
        np.testing.assert_allclose(P[rows, k], tables.head_shares[k][: len(rows)])
        np.testing.assert_array_equal(np.sort(P[:, k])[::-1][: len(rows)], P[rows, k])


def test_no_probable_word_is_missing_from_the_heads(engine):
    rng = np.random.default_rng(0)
    V, u = rng.normal(size=(5000, 6)), rng.random(5000) ** 4  # three blocks
    T = np.vstack([np.zeros(6), rng.normal(size=(9, 6))]) * np.linspace(0, 2, 10)[:, None]
    lexicon = Lexicon.of(V, u, np.arange(0, 5000, 7))
    P = oracles.word_probabilities(V, u / u.sum(), T, eq.residuals(V, u / u.sum(), T))
    tables = evaluate(engine, lexicon, T)
    probable = (P > 1 / 512).sum(axis=0)
    assert (probable > 0).any()
    assert (probable < HEAD_SIZE).any()
    for k in range(10):
        n = min(HEAD_SIZE, probable[k])
        np.testing.assert_allclose(tables.head_shares[k, :n], np.sort(P[:, k])[::-1][:n])
        assert not tables.head_shares[k, n:].any()


@pytest.mark.filterwarnings("error")
def test_a_head_with_fewer_words_than_places_is_no_trouble_for_long_vectors():
    shares = np.array([[0.5, 0.0]])
    head = np.array([[[1.0, 0.0], [200.0, 0.0]]], np.float32)  # the second place is empty
    none = np.zeros((1, 2))
    model = LocalModel(none, np.array([[3.0, 0.0]]), head, shares, none, np.array([0.5]))
    tail = model.tail[0] / 0.5
    expected = 3 - np.log(0.5 * np.exp(1) + 0.5 * np.exp(-1 + tail / 2))
    assert model.finer_rise(np.array([[1.0, 0.0]]))[0] == pytest.approx(expected, rel=1e-5)


def test_statistics_are_the_equations(world, engine):
    corpus, lexicon, state = prepare(world)
    tables = evaluate(engine, lexicon, state.topics)
    solver = replace(SOLVER, max_passes=1)
    _, _, stats = expect(engine, corpus, lexicon, tables, state, solver)
    logits = eq.logits(world.V, state.topics, -tables.log_partition)
    mass, moment = 0, 0
    for d in range(corpus.n_documents):
        cells = slice(corpus.shards[0].indptr[d], corpus.shards[0].indptr[d + 1])
        words, n = corpus.types[corpus.shards[0].words[cells]], corpus.shards[0].counts[cells]
        pi = oracles.responsibilities(state.theta[0][d], logits[words])
        m, S = oracles.moments(world.V[words], n, pi)
        mass, moment = mass + m, moment + S
    np.testing.assert_allclose(stats.mass, mass)
    np.testing.assert_allclose(stats.moment, moment, atol=1e-9)


def test_a_normaliser_of_frequent_words_is_a_distribution(world, engine):
    corpus = world.corpus(6)
    lexicon = world.lexicon(corpus, n_normalizer_words=50)
    assert (lexicon.unigram > 0).sum() == 50
    assert lexicon.unigram.sum() == pytest.approx(1)
    np.testing.assert_array_equal(lexicon.vectors[lexicon.rows], world.V[corpus.types])
    common = np.argsort(-world.u)[:50]
    u = world.u[common] / world.u[common].sum()
    tables = evaluate(engine, lexicon, world.T)
    np.testing.assert_allclose(-tables.log_partition, eq.residuals(world.V[common], u, world.T))


def test_inference_is_as_good_as_training(world, engine):
    solver = replace(SOLVER, inner_tol=1e-8, max_passes=500)
    corpus, lexicon, states, infos = fit(world, 60, solver=solver)
    state = states[-1]
    even = replace(state, theta=even_theta(corpus, state.alpha))
    tables = evaluate(engine, lexicon, state.topics)
    _, _, stats = expect(engine, corpus, lexicon, tables, even, solver)
    # A document may have several good mixtures, so the bounds are compared, not the mixtures.
    per_token = stats.bound / corpus.type_counts.sum()
    assert per_token == pytest.approx(infos[-1].bound, abs=0.02)


def test_learned_alpha_tells_common_topics_from_rare_ones(world):
    _, _, states, infos = fit(world, 30, solver=replace(SOLVER, learn_alpha=True))
    order = np.argsort(infos[-1].topic_mass)
    assert states[-1].alpha[order[-1]] > states[-1].alpha[order[0]]


def test_records_are_read_only(world):
    states = fit(world, 1)[2]
    with pytest.raises(ValueError, match="read-only"):
        states[0].topics[0] = 1


def test_pieces_cover_everything_once():
    for n in (0, 1, 5, 200):
        pieces = cut_evenly(np.ones(n), 16, least_cost=1.0)
        covered = [i for piece in pieces for i in range(piece.start, piece.stop)]
        assert covered == list(range(n))
        assert len(pieces) <= 16


def test_small_work_is_one_piece():
    assert cut_evenly(np.ones(50)) == (slice(0, 50),)


def test_words_are_counted_once_for_each_token(world, engine):
    corpus, _, state = prepare(world)
    table = np.random.default_rng(0).random((len(corpus.types), 6)) + 0.1
    found = mix(engine, corpus, table, state.alpha, state.theta, 1e-3, 3)
    C = found.words
    np.testing.assert_allclose(C.sum(1), corpus.type_counts)
    np.testing.assert_allclose(C.sum(0), found.mass)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:Mean of empty")
def test_a_bound_that_is_not_finite_stops_the_fit(world):
    corpus, lexicon, state = prepare(world)
    broken = replace(state, alpha=np.full(6, np.nan))
    with pytest.raises(DataError, match="the bound became nan in iteration 1"):
        next(iterate(corpus, lexicon, broken, SOLVER, InPlace()))


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_a_multiplier_brings_steps_of_any_size_onto_the_ball(size):
    rng = np.random.default_rng(0)
    stiffness, pull = rng.random((5, 3)) + 0.1, rng.normal(size=(5, 3)) * size
    found = _multipliers(stiffness, pull, radius=size / 10)
    norms = np.linalg.norm(pull / (stiffness + found[:, None]), axis=1)
    np.testing.assert_allclose(norms, size / 10, rtol=1e-6)
    assert np.array_equal(_multipliers(stiffness, pull, radius=100 * size), np.zeros(5))

from itertools import islice

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.model.gem import iterate
from topicvec.model.start import (
    START_NORM,
    _draw_apart,
    document_points,
    first_topics,
    random_directions,
    spread_directions,
)
from topicvec.model.state import Solver

SOLVER = Solver(max_norm=6.0)


def prepare(world, start="spread", seed=0):
    corpus = world.corpus(6)
    return corpus, world.start(corpus, SOLVER, given=start, seed=seed)


def test_spread_topics_find_the_clusters(world):
    _, state = prepare(world)
    cosines = (world.T[1:] / 4) @ (
        state.topics[1:] / np.linalg.norm(state.topics[1:], axis=1)[:, None]
    ).T
    assert (cosines.max(1) > 0.8).sum() >= 4


@pytest.mark.parametrize(("start", "norm"), [("spread", START_NORM * 6.0), ("random", 1.0)])
def test_topics_start_inside_the_ball_and_documents_evenly(world, start, norm):
    _, state = prepare(world, start)
    norms = np.linalg.norm(state.topics, axis=1)
    np.testing.assert_allclose(norms[1:], norm, rtol=1e-6)
    assert norms[0] == 0
    np.testing.assert_allclose(state.theta[0].sum(1), world.counts.sum(axis=1) + 0.6)
    assert np.ptp(state.theta[0], axis=1).max() == pytest.approx(0)


def test_the_same_seed_gives_the_same_start(world):
    np.testing.assert_array_equal(prepare(world)[1].topics, prepare(world)[1].topics)
    assert (prepare(world)[1].topics != prepare(world, seed=1)[1].topics).any()


def test_more_topics_than_words_still_start():
    rng = np.random.default_rng(0)
    found = spread_directions(rng.normal(size=(3, 4)), np.ones(3), 5, rng)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(random_directions(2, 4, rng), axis=1), 1)


def article(world, seed, n_themes=10, n_tokens=640):
    """One document of ten themes with the vectors of a vocabulary of 3,000 words."""
    rng = np.random.default_rng(seed)
    themes = rng.normal(size=(60, 50))
    V = np.repeat(themes, 50, axis=0) / 4 + rng.normal(size=(3000, 50)) / 5
    u = 1 / (3 + rng.permutation(3000))
    u /= u.sum()
    inside = np.repeat(np.arange(60) < n_themes, 50) * u
    counts = rng.multinomial(n_tokens, inside / inside.sum())
    return type(world)(V, u, themes, csr_array(counts[None]))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_single_document_does_not_collapse(world, engine, seed):
    world = article(world, seed)
    corpus = world.corpus(20, dtype=np.float32)
    lexicon = world.lexicon(corpus, np.float32)
    state = world.start(corpus, SOLVER, 20, np.float32, seed=seed)
    state, info = list(islice(iterate(corpus, lexicon, state, SOLVER, engine), 60))[-1]
    live = np.flatnonzero(info.topic_mass > 0.02 * info.topic_mass.sum())
    live = live[live > 0]
    assert len(live) >= 8
    units = state.topics[live] / np.linalg.norm(state.topics[live], axis=1)[:, None]
    assert (units @ units.T - 2 * np.eye(len(live))).max() < 0.8


def test_documents_with_the_same_words_point_the_same_way():
    counts = csr_array([[3, 1, 0, 1], [1, 2, 0, 1], [0, 0, 4, 1], [0, 0, 0, 1]])
    points, tokens, rows = document_points(np.eye(4), counts, np.random.default_rng(0))
    assert points.shape == (3, 4)  # the last has only a word that all have
    assert sorted(rows) == [0, 1, 2]
    np.testing.assert_array_equal(tokens, np.array([5, 4, 5])[rows])
    assert (points[:, 3] == 0).all()
    cosines = np.sort((points @ points.T)[np.triu_indices(3, 1)])
    np.testing.assert_allclose(cosines[:2], 0)
    assert cosines[2] > 0.8


def test_rare_words_of_a_document_count_more_than_frequent_ones():
    counts = csr_array([[1, 1, 0], [0, 1, 1], [0, 1, 1], [0, 0, 1]])
    points, _, _ = document_points(np.eye(3), counts, np.random.default_rng(0))
    own = points[np.argmax(points[:, 0])]
    np.testing.assert_allclose(own[0] / own[1], np.log(4) / np.log(4 / 3))


def all_multiplied(vectors, counts, rng):
    """What `document_points` gives, by the sums of all documents."""
    seen = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
    values = np.log1p(counts.data) * np.log(counts.shape[0] / seen)[counts.indices]
    damped = csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
    sums = damped @ (vectors / np.linalg.norm(vectors, axis=1)[:, None])
    kept = rng.permutation(np.flatnonzero(sums.any(axis=1)))
    return sums[kept] / np.linalg.norm(sums[kept], axis=1)[:, None], counts.sum(axis=1)[kept], kept


def some_documents(rng, n_documents=60):
    """Documents of which a third has no word."""
    counts = rng.poisson(0.5, (n_documents, 9)) * (np.arange(n_documents) % 3 > 0)[:, None]
    return csr_array(counts), rng.normal(size=(9, 4))


def test_few_documents_come_in_the_order_that_was_always_drawn():
    counts, vectors = some_documents(np.random.default_rng(1))
    found = document_points(vectors, counts, np.random.default_rng(0))
    for mine, wanted in zip(
        found, all_multiplied(vectors, counts, np.random.default_rng(0)), strict=True
    ):
        np.testing.assert_array_equal(mine, wanted)


def test_of_many_documents_as_many_as_wanted_are_drawn_if_so_many_have_a_direction(monkeypatch):
    counts, vectors = some_documents(np.random.default_rng(1))
    points, tokens, rows = all_multiplied(vectors, counts, np.random.default_rng(0))
    for most in (7, len(rows) - 1):
        monkeypatch.setattr("topicvec.model.start.MAX_DOCUMENTS", most)
        some, theirs, drawn = document_points(vectors, counts, np.random.default_rng(0))
        assert len(set(drawn)) == len(drawn) == most
        same = [list(rows).index(row) for row in drawn]
        np.testing.assert_allclose(some, points[same], atol=1e-6)
        np.testing.assert_array_equal(theirs, tokens[same])


def test_many_documents_without_a_direction_are_all_left_out(monkeypatch):
    monkeypatch.setattr("topicvec.model.start.MAX_DOCUMENTS", 4)
    counts = csr_array(np.column_stack([np.ones(31, int), np.arange(31) == 17]).astype(int))
    _, _, rows = document_points(np.eye(2), counts, np.random.default_rng(0))
    assert rows.tolist() == [17]


FILLER = ["early", "several", "announced", "made", "year", "began", "late", "included"]
TELLING = ["church", "priest", "violin", "flute", "telescope", "planet", "inflation", "tax"]


def starts(weights, n_topics, init="auto"):
    """Whether each topic of a text of these words starts nearest to filler."""
    vectors = load_vectors().subset([*FILLER, *TELLING])
    counts = csr_array(np.repeat(weights, 8)[None])
    rng = np.random.default_rng(0)
    topics = first_topics(vectors, counts, 1 + n_topics, init, 7.0, rng)
    centred = vectors.matrix - vectors.mean
    cosines = (centred / np.linalg.norm(centred, axis=1)[:, None]) @ topics[1:].T
    return [vectors.words[row] in FILLER for row in cosines.argmax(axis=0)]


def test_half_as_many_topics_as_filler_has_tokens_start_among_it():
    assert sum(starts([3, 3], 8)) == 2  # half of the tokens
    assert sum(starts([9, 3], 8)) == 3  # three quarters
    assert sum(starts([1, 15], 8)) == 0


def test_topics_of_filler_alone_or_of_none_start_among_what_there_is():
    assert all(starts([3, 0], 4))
    assert not any(starts([0, 3], 4))
    assert len(starts([3, 3], 1)) == 1


def test_more_topics_than_telling_words_start_all_the_same():
    assert len(starts([1, 1], 15)) == 15


def test_a_start_that_is_asked_for_keeps_no_filler_apart():
    vectors = load_vectors().subset([*FILLER, *TELLING])
    counts = csr_array(np.full((1, 16), 3))
    found = [
        first_topics(vectors, counts, 9, init, 7.0, np.random.default_rng(0))
        for init in ("auto", "spread")
    ]
    assert not np.array_equal(*found)


def drawn_one_by_one(points, mass, n, rng):
    """Greedy k-means++ as it is written down, one candidate set after the other."""
    nearest, chosen = np.zeros(len(points)), []
    for _ in range(n):
        chance = mass * np.maximum(1 - nearest, 1e-12)
        drawn = rng.choice(len(points), 2 + int(np.log(n)), p=chance / chance.sum())
        closer = np.maximum(nearest, points[drawn] @ points.T)
        best = int(np.argmax(closer @ mass))
        chosen.append(int(drawn[best]))
        nearest = closer[best]
    return points[chosen]


def test_tries_that_go_side_by_side_draw_what_they_would_one_by_one(engine, monkeypatch):
    monkeypatch.setattr("topicvec.model.start._ROWS", 7)
    rng = np.random.default_rng(3)
    points, mass = rng.normal(size=(60, 5)), rng.random(60)
    points /= np.linalg.norm(points, axis=1)[:, None]
    chance = np.random.default_rng(0).random((3, 8, 2 + int(np.log(8))))
    rng = np.random.default_rng(0)
    for found in _draw_apart(points, mass, chance, None, engine):
        np.testing.assert_array_equal(found, drawn_one_by_one(points, mass, 8, rng))


def test_a_start_among_documents_is_the_same_for_any_number_of_workers(monkeypatch):
    monkeypatch.setattr("topicvec.model.start._ROWS", 100)
    rng = np.random.default_rng(2)
    vectors = WordVectors([f"w{i}" for i in range(200)], rng.normal(size=(200, 6)), np.ones(200))
    counts = csr_array(rng.poisson(0.1, (1200, 200)))
    found = [
        first_topics(vectors, counts, 11, "documents", 7.0, np.random.default_rng(0), engine=engine)
        for engine in (None, LocalEngine(1), LocalEngine(3))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])

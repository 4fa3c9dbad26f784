"""General vectors that learn from a corpus."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicvec.embed import adapt as module
from topicvec.embed.adapt import WINDOW, Learned, Pairs, adapt, count_pairs, learned_from
from topicvec.embed.eigen import Rows
from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.text.prepared import Tokens

ENGINE = LocalEngine(1)
SCALE = 0.7  # of all vectors of a corpus


def slow_pairs(documents, n_words):
    """Pairs of different words at most a window apart, one by one."""
    counts = np.zeros((n_words, n_words), np.int64)
    for tokens in documents:
        for i, a in enumerate(tokens):
            for b in tokens[i + 1 : i + 1 + WINDOW]:
                if a != b and min(a, b) >= 0:
                    counts[a, b] += 1
                    counts[b, a] += 1
    return counts


def flat(documents, size=None):
    """Documents in numbers, as one block or in blocks of so many documents."""
    size = size or max(len(documents), 1)
    parts = [documents[start : start + size] for start in range(0, len(documents), size)]
    return [
        Tokens(
            np.array([word for tokens in part for word in tokens], np.int32),
            np.array([len(tokens) for tokens in part], np.int64),
        )
        for part in parts
    ]


def table(pairs):
    """All counts of pairs, of the core words and of the rarer ones."""
    return np.vstack([pairs.core, *(rare.take().toarray() for rare in pairs.rest)])


@settings(deadline=None)  # the first one compiles
@given(st.lists(st.lists(st.integers(-1, 6), max_size=25), max_size=6))
def test_pairs_are_those_of_a_slow_count(documents):
    pairs = count_pairs(flat(documents), 7, ENGINE)
    expected = slow_pairs(documents, 7)
    np.testing.assert_array_equal(table(pairs), expected)
    np.testing.assert_array_equal(pairs.totals, expected.sum(axis=1))


@pytest.mark.parametrize("size", [1, 7, 50])
@pytest.mark.parametrize("cells", [20, 10_000])
def test_pairs_do_not_depend_on_the_pieces(monkeypatch, size, cells):
    rng = np.random.default_rng(0)
    documents = [rng.integers(-1, 30, rng.integers(0, 40)).tolist() for _ in range(50)]
    monkeypatch.setattr(module, "N_CORE", 8)
    monkeypatch.setattr(module, "_CELLS", cells)
    for engine in (ENGINE, LocalEngine(2)):
        pairs = count_pairs(flat(documents, size), 30, engine)
        np.testing.assert_array_equal(table(pairs), slow_pairs(documents, 30)[:, :8])


def test_rare_words_are_counted_with_the_core_only_but_have_all_their_pairs(monkeypatch):
    monkeypatch.setattr(module, "N_CORE", 3)
    documents = [[0, 4, 1], [4, 3, 2, 3]]
    pairs = count_pairs(flat(documents), 5, ENGINE)
    full = slow_pairs(documents, 5)
    np.testing.assert_array_equal(table(pairs), full[:, :3])
    np.testing.assert_array_equal(pairs.totals, full.sum(axis=1))


def pairs_of(G, expected=4000.0):
    """Pairs of a corpus in which smoothed log ratios of words are G and chance has all alike."""
    smoothing = float(module._SMOOTHING)
    counts = np.maximum(expected * (np.exp(G) - smoothing) / (1 - smoothing), 0)
    return Pairs(counts.astype(np.float32), np.full(len(G), len(G) * expected))


def geometry(n=40, size=6, seed=0):
    """Vectors of one length, short enough for log ratios above those of no pair at all."""
    V = np.random.default_rng(seed).normal(size=(n, size)).astype(np.float32)
    return np.float32(0.45) * V / np.linalg.norm(V, axis=1, keepdims=True)


@pytest.mark.parametrize("a", [0.3, 0.7, 1.0])
def test_a_corpus_that_uses_words_as_the_vectors_say_gives_back_how_far(a):
    V = geometry()
    found = adapt(pairs_of(a * V @ V.T), V, ENGINE)
    assert found.scale == pytest.approx(SCALE * np.sqrt(a), rel=1e-3)
    left = found.residual @ found.residual.T
    np.fill_diagonal(left, 0)
    assert np.abs(left).max() < 0.05 * np.abs(V @ V.T - np.diag(np.diag(V @ V.T))).max()


def test_a_corpus_never_trusts_vectors_more_than_they_trust_themselves():
    V = geometry()
    assert adapt(pairs_of(3 * V @ V.T), V, ENGINE).scale == pytest.approx(SCALE)


def test_a_corpus_that_contradicts_vectors_has_the_residual_and_leaves_them_a_tenth():
    V, other = geometry(), geometry(seed=1)
    found = adapt(pairs_of(other @ other.T - 0.5 * V @ V.T), V, ENGINE)
    assert found.scale == pytest.approx(SCALE * np.sqrt(0.1))
    assert found.residual.shape[1] > 1
    joint = np.hstack([found.scale * V, 2 * found.residual])  # ½ R is kept
    off = ~np.eye(len(V), dtype=bool)
    told_here = np.corrcoef((joint @ joint.T)[off], (other @ other.T)[off])[0, 1]
    in_general = np.corrcoef((V @ V.T)[off], (other @ other.T)[off])[0, 1]
    assert told_here > 0.6 > 0.3 > in_general


def test_a_large_table_has_the_eigenvalues_of_an_exact_one():
    rng = np.random.default_rng(0)
    n = module._SMALL + 100
    basis = np.linalg.qr(rng.normal(size=(n, 150)))[0]
    S = ((basis * np.linspace(30, 1, 150)) @ basis.T).astype(np.float32)
    np.fill_diagonal(S, 0)
    values, Q = module._solve(Rows(n, ENGINE), S.copy())
    exact = np.linalg.eigvalsh(S.astype(float))[::-1][: len(values)]
    np.testing.assert_allclose(values, exact, rtol=0.01)
    residual = np.linalg.norm(S @ Q - Q * values, axis=0)
    assert (residual < 0.04 * values).all()


def test_without_general_vectors_all_is_residual():
    other = geometry(seed=1)
    found = adapt(pairs_of(other @ other.T), np.zeros((40, 0), np.float32), ENGINE)
    assert found.scale == 0
    gram, off = 4 * found.residual @ found.residual.T, ~np.eye(40, dtype=bool)
    assert np.corrcoef(gram[off], (other @ other.T)[off])[0, 1] > 0.9


def subjects(n_documents=900, n_words=160, n_subjects=4, seed=0):
    """Token numbers of documents of a subject each, more frequent words first."""
    rng = np.random.default_rng(seed)
    rate = 1 / (1 + np.arange(n_words)) ** 0.7
    documents = []
    for number in range(n_documents):
        own = rate * (np.arange(n_words) % n_subjects == number % n_subjects)
        documents.append(rng.choice(n_words, 12, p=own / own.sum()).tolist())
    return documents


def test_rare_words_lie_near_the_words_that_they_are_seen_with(monkeypatch):
    monkeypatch.setattr(module, "N_CORE", 100)
    pairs = count_pairs(flat(subjects()), 160, ENGINE)
    found = adapt(pairs, np.zeros((160, 0), np.float32), ENGINE).residual
    assert found.shape[0] == 160
    rare, core = found[100:], found[:100]
    unit = core / np.linalg.norm(core, axis=1, keepdims=True)
    near = np.argsort(-(rare @ unit.T), axis=1)[:, :10]
    same = near % 4 == np.arange(100, 160)[:, None] % 4
    assert same.mean() > 0.95


def test_a_word_that_was_seen_seldom_has_a_short_residual():
    pairs = count_pairs(flat(subjects()), 160, ENGINE)
    lengths = np.linalg.norm(adapt(pairs, np.zeros((160, 0), np.float32), ENGINE).residual, axis=1)
    assert lengths[:16].min() > 1.3 * lengths[-16:].max()


@pytest.mark.parametrize("n_words", [160, 900])
def test_the_same_bits_for_any_workers(monkeypatch, n_words):
    monkeypatch.setattr(module, "N_CORE", 3 * n_words // 4)  # above and below what LAPACK solves
    documents, rng = subjects(2500, n_words), np.random.default_rng(0)
    V = rng.normal(size=(n_words, 5)).astype(np.float32) / 4
    found = []
    for engine in (LocalEngine(1), LocalEngine(2), LocalEngine(3)):
        found.append(adapt(count_pairs(flat(documents), n_words, engine), V, engine))
    for other in found[1:]:
        assert other.scale == found[0].scale
        np.testing.assert_array_equal(other.residual, found[0].residual)


def learned(n_residual=3, seed=0):
    rng = np.random.default_rng(seed)
    words = [f"word{number}" for number in range(30)]
    general = WordVectors(words, rng.normal(size=(30, 5)), rng.uniform(1, 9, 30))
    places = np.arange(2, 20, 3) if n_residual else np.zeros(0, int)
    residual = rng.normal(size=(len(places), n_residual)).astype(np.float32)
    rows = rng.normal(size=(4, 5 + n_residual)).astype(np.float32)
    mean = general.mean if n_residual else np.zeros(5, np.float32)
    unigram = rng.dirichlet(np.ones(34))
    new = ("new", "words", "of the", "text")
    return general, Learned(new, rows, places, residual, mean, 0.7 if n_residual else 1.0, unigram)


@pytest.mark.parametrize("n_residual", [0, 3])
def test_what_was_learned_comes_apart_and_together_again_to_the_bit(n_residual):
    general, first = learned(n_residual)
    vectors = first.join(general)
    apart = learned_from(vectors, general)
    again = apart.join(general)
    assert again == vectors
    assert again.matrix.tobytes() == vectors.matrix.tobytes()
    assert dict(again.metadata) == dict(vectors.metadata)
    assert (apart.words, apart.scale) == (first.words, first.scale)
    for name in ("rows", "places", "residual", "mean", "unigram"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(first, name))


def test_joined_vectors_are_scaled_general_ones_beside_the_residual():
    general, first = learned()
    vectors = first.join(general)
    centred = np.float32(0.7) * (general.matrix - general.mean)
    np.testing.assert_allclose(vectors.matrix[:30, :5], centred, rtol=1e-6)
    np.testing.assert_array_equal(vectors.matrix[first.places, 5:], first.residual)
    assert not np.delete(vectors.matrix[:30, 5:], first.places, axis=0).any()
    np.testing.assert_array_equal(vectors.matrix[30:], first.rows)
    assert vectors.words == (*general.words, *first.words)


def test_a_residual_of_minus_zeros_comes_back_too():
    general, first = learned()
    residual = first.residual.copy()
    residual[1] = -0.0  # as a word that was never seen with another may have
    vectors = first._replace(residual=residual).join(general)
    again = learned_from(vectors, general).join(general)
    assert again == vectors

"""Topics with words of their own: φ_k ~ Dir(m P(·|t_k))."""

from dataclasses import replace
from itertools import islice

import cloudpickle
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.model import equations as eq
from topicvec.model import gem
from topicvec.model.estep import even_theta, likelihoods
from topicvec.model.gem import iterate
from topicvec.model.mstep import evaluate
from topicvec.model.online import _statistics
from topicvec.model.own import OwnWords, own_moment
from topicvec.model.state import Corpus, Lexicon, Solver, TopicState
from topicvec.model.topicvec import TopicVec

SOLVER = Solver(max_norm=5.0, pseudo_tokens=None)
GIVEN = 60.0  # pseudo-tokens


def fit(world, n=60, engine=None, solver=SOLVER, free=None, n_topics=6, allowed=None, **options):
    """States and infos of an EM in which topics get words of their own."""
    corpus = world.corpus(n_topics, allowed, options.get("dtype", np.float64))
    lexicon = world.lexicon(corpus, options.get("dtype", np.float64))
    state = world.start(corpus, solver, n_topics, **options)
    steps = iterate(corpus, lexicon, state, solver, engine or LocalEngine(1), free)
    states, infos = zip(*islice(steps, n), strict=True)
    return corpus, lexicon, states, infos


def drawn_words(world, corpus, state):
    """P and P~ of all words (W, K), and C, the long way."""
    P = oracles.word_probabilities(
        world.V, world.u, state.topics, eq.residuals(world.V, world.u, state.topics)
    )
    C = np.zeros_like(P)
    C[corpus.types] = state.own
    finite = np.isfinite(state.pseudo)
    m = np.where(finite, state.pseudo, 1.0)
    return P, np.where(finite, (C + m * P) / (C.sum(axis=0) + m), P), C


def price(P, drawn, pseudo):
    """−Σ_k m_k KL(P_k ‖ P~_k)."""
    k = np.isfinite(pseudo)
    kl = (P[:, k] * np.log(P[:, k] / drawn[:, k])).sum(axis=0)
    return -pseudo[k] @ kl


def long_bound(world, corpus, state):
    """The bound of a state, document by document."""
    P, drawn, _ = drawn_words(world, corpus, state)
    logits, total = np.log(drawn / world.u[:, None]), price(P, drawn, state.pseudo)
    for d in range(corpus.n_documents):
        cells = slice(corpus.shards[0].indptr[d], corpus.shards[0].indptr[d + 1])
        words, n = corpus.types[corpus.shards[0].words[cells]], corpus.shards[0].counts[cells]
        may = corpus.allowed[corpus.shards[0].group[d]]
        total += oracles.bound_short(
            logits[words][:, may], world.u[words], state.alpha[may], state.theta[0][d][may], n
        )
    return total


def assert_it_climbs(world, corpus, states, infos, most=1e-4):
    """The bound rose until little was left, and it is the one of the equations."""
    assert np.isfinite(states[-1].pseudo).any()
    assert len(infos) > 8
    assert infos[-1].change < most  # the loop would end by itself at the first fall
    assert np.diff([info.bound for info in infos]).min() >= 0
    own = [state for state in states if len(state.own)][::3]
    exact = np.array([long_bound(world, corpus, state) for state in own])
    assert np.diff(exact).min() > -1e-6
    # The mixtures are not yet the best for these words, so what EM counts is never more.
    assert (exact - [state.bound for state in own]).min() > -1e-6


@pytest.mark.parametrize("pseudo", [None, 5.0, GIVEN, 1000.0])
@pytest.mark.parametrize(("seed", "n_topics"), [(0, 3), (1, 6), (2, 11)])
def test_the_bound_with_own_words_never_falls(world, seed, n_topics, pseudo):
    solver = replace(SOLVER, pseudo_tokens=pseudo)
    corpus, _, states, infos = fit(world, solver=solver, n_topics=n_topics, seed=seed)
    assert_it_climbs(world, corpus, states, infos, most=1e-3)


@pytest.mark.parametrize("pseudo", [None, GIVEN])
def test_the_bound_with_own_words_never_falls_with_masks_fixed_topics_and_a_learned_prior(
    world, pseudo
):
    allowed = np.zeros((80, 6), bool)
    allowed[:40, 1:4] = allowed[40:, 3:6] = allowed[:, 0] = True
    free = np.array([True, True, False, True, True, True])
    solver = replace(SOLVER, learn_alpha=True, pseudo_tokens=pseudo)
    corpus, _, states, infos = fit(
        world, solver=solver, free=free, allowed=allowed, given=world.T.astype(np.float32)
    )
    assert_it_climbs(world, corpus, states, infos, most=1e-3)
    assert np.isfinite(states[-1].pseudo).tolist() == [False, True, False, True, True, True]
    np.testing.assert_array_equal(states[-1].topics[2], world.T[2].astype(np.float32))


@pytest.mark.parametrize("case", ["classes", "seed words", "fixed topics", "mask", "learned prior"])
@pytest.mark.parametrize("own_words", [True, GIVEN])
def test_the_estimators_bound_never_falls_with(planted, case, own_words):
    mask = np.ones((60, 5), bool)
    mask[::2, 1:3] = False
    parameters, options = {
        "classes": ({"n_topics": 2, "share": "class"}, {"y": ["even", "odd"] * 30}),
        "seed words": ({"seed_words": [["aaxy", "abxy"], ["baxy"]]}, {}),
        "fixed topics": ({"fixed_topics": planted.vectors.matrix[:1]}, {}),
        "mask": ({}, {"mask": mask}),
        "learned prior": ({"alpha": "learn"}, {}),
    }[case]
    given = {"n_topics": 4, "own_words": own_words, "tol": 1e-4, "random_state": 0, **parameters}
    model = TopicVec(vectors=planted.vectors, **given).fit(planted.documents, **options)
    assert np.diff(model.bounds_).min() >= 0
    assert model.converged_
    assert np.isfinite(model.fitted_.pseudo[1:]).sum() >= 3
    assert model.topic_word_.sum(axis=0) == pytest.approx(1)


def test_the_bound_with_own_words_is_that_of_the_equations(world):
    solver = replace(SOLVER, inner_tol=1e-9, max_passes=500, pseudo_tokens=GIVEN)
    corpus, _, states, _ = fit(world, 150, solver=solver)
    for state in states[-3:]:
        assert state.bound == pytest.approx(long_bound(world, corpus, state), rel=1e-6)
    # one iteration's bound is never more than that of the state it comes with
    early = [state for state in states if len(state.own)][1]
    assert early.bound <= long_bound(world, corpus, early) + 1e-6


@pytest.fixture
def somewhere(world, engine):
    """A state in the middle of a fit, with its word types and tables."""
    solver = replace(SOLVER, pseudo_tokens=GIVEN)
    corpus, lexicon, states, _ = fit(world, 12, solver=solver)
    state = states[-1]
    assert len(state.own)
    return corpus, lexicon, state, evaluate(engine, lexicon, state.topics)


def test_the_table_of_the_e_step_is_between_counts_and_vectors(world, engine, somewhere):
    corpus, lexicon, state, tables = somewhere
    own = OwnWords(state.own, np.exp(lexicon.log_unigram), state.pseudo)
    table, peak, paid = likelihoods(engine, tables.dots, -tables.log_partition, own=own)
    P, drawn, _ = drawn_words(world, corpus, state)
    found = table * np.exp(peak + lexicon.log_unigram)[:, None]
    np.testing.assert_allclose(found, drawn[corpus.types], rtol=1e-9)
    assert np.abs(drawn - P).max() > 1e-3
    # the price is of all words, also of those that no document has
    assert len(corpus.types) < len(world.V)
    assert paid == pytest.approx(price(P, drawn, state.pseudo), rel=1e-9)
    assert paid < 0


def test_vectors_answer_for_the_tokens_of_tables(world, somewhere):
    corpus, lexicon, state, tables = somewhere
    P, _, C = drawn_words(world, corpus, state)
    finite, a = np.isfinite(state.pseudo), GIVEN * P
    S = np.where(finite, a * np.log1p(C / a), C)[corpus.types]
    given = (
        -tables.log_partition, state.pseudo, world.V[corpus.types], np.concatenate(tables.dots),
        state.own, np.exp(lexicon.log_unigram),
    )  # fmt: skip
    kept, drawn, moment, gained = own_moment(*given, state.own)
    other = own_moment(*given, state.own.copy())  # as if the tokens had moved
    for mine, theirs in zip((kept, drawn, moment, gained), other, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(kept, state.own)
    np.testing.assert_allclose(drawn, S.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(moment, S.T @ world.V[corpus.types], atol=1e-8)
    assert (drawn[finite] < 0.9 * C.sum(axis=0)[finite]).all()


positive = st.floats(1e-6, 1e6)


@given(st.floats(0, 1e6), positive)
def test_vectors_answer_for_no_more_than_the_tokens_there_are(C, a):
    S = a * float(eq.own_lift(C, a))
    assert S <= C * (1 + 1e-9) + 1e-12
    assert S >= 0


@given(st.lists(st.tuples(st.floats(0, 1e4), positive, positive), min_size=1, max_size=9))
def test_the_tangent_of_the_m_step_is_a_lower_bound(words):
    C, a, other = np.array(words).T

    def share(a):
        """What a word has in the bound at the best P~: (C + a) log(C + a) − a log a."""
        return (C * np.log(C + a) + a * eq.own_lift(C, a)).sum()

    S = a * eq.own_lift(C, a)
    tangent = share(a) + S @ (np.log(other) - np.log(a))
    assert tangent <= share(other) + 1e-9 * (1 + np.abs(S).sum() + C.sum()) * 20


def test_pseudo_tokens_only_fall_and_stay_above_twenty_documents(world):
    corpus, _, states, _ = fit(world)
    pseudo = [state.pseudo[1] for state in states if np.isfinite(state.pseudo[1])]
    assert (np.diff(pseudo) <= 0).all()
    assert pseudo[-1] >= 20 * corpus.type_counts.sum() / corpus.n_documents - 1e-6


class CopyingEngine:
    """Sends functions, items and results as bytes."""

    def map(self, function, items):
        for item in items:
            copied, own = cloudpickle.loads(cloudpickle.dumps((function, item)))
            yield cloudpickle.loads(cloudpickle.dumps(copied(own)))


@pytest.mark.parametrize("pseudo", [None, GIVEN])
def test_own_words_are_the_same_bits_for_any_engine(pseudo):
    rng = np.random.default_rng(0)
    V = rng.normal(size=(5000, 10)).astype(np.float32) / 2  # several blocks of words
    counts = csr_array(rng.poisson(0.02, (600, 5000)) * (rng.random((600, 5000)) < 0.8))
    corpus = Corpus.of(counts, 4)
    assert min(len(corpus.shards), len(corpus.blocks)) > 1
    lexicon, found = Lexicon.of(V, np.ones(5000), corpus.types), []
    topics = np.vstack([np.zeros(10), V[:3]]).astype(np.float32)
    solver = Solver(pseudo_tokens=pseudo)
    theta = even_theta(corpus, np.full(4, 0.1))
    state = TopicState(
        topics, np.zeros(4), np.full(4, 0.1), theta, np.ones(4),
        np.zeros((0, 4), np.float32), np.full(4, np.inf),
    )  # fmt: skip
    for engine in (LocalEngine(1), LocalEngine(2), CopyingEngine()):
        steps = iterate(corpus, lexicon, state, solver, engine)
        found.append(next(islice(steps, 8, None))[0])
    assert len(found[0].own)
    for other in found[1:]:
        for name in ("topics", "residuals", "own", "pseudo", "bound"):
            np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))
        for mine, theirs in zip(found[0].theta, other.theta, strict=True):
            np.testing.assert_array_equal(mine, theirs)


# the estimator


def topics_of(planted, model):
    """The main topic of the documents of each block."""
    main = model.doc_topic_.argmax(axis=1)
    return [int(np.bincount(main[planted.blocks == block]).argmax()) for block in range(4)]


def test_many_pseudo_tokens_are_the_papers_model(planted):
    parameters = {"tol": 1e-7, "max_iter": 300, "random_state": 0}
    paper = TopicVec(4, planted.vectors, own_words=False, **parameters).fit(planted.documents)
    many = TopicVec(4, planted.vectors, own_words=1e12, **parameters).fit(planted.documents)
    few = TopicVec(4, planted.vectors, own_words=10, **parameters).fit(planted.documents)
    np.testing.assert_allclose(many.topic_vectors_, paper.topic_vectors_, atol=1e-2)
    np.testing.assert_allclose(many.topic_word_, paper.topic_word_, atol=1e-3)
    assert np.abs(few.topic_word_ - paper.topic_word_).max() > 1e-2


def test_few_pseudo_tokens_leave_only_the_counts(planted):
    model = TopicVec(4, planted.vectors, own_words=1e-3, random_state=0).fit(planted.documents)
    masses = model.fitted_.word_mass.toarray()[:, 1:]
    np.testing.assert_allclose(model.topic_word_[:, 1:], masses / masses.sum(0), atol=1e-4)


def test_no_pseudo_tokens_are_refused(planted):
    with pytest.raises(DataError, match="own_words must be True, False or a positive number"):
        TopicVec(4, planted.vectors, own_words=0).fit(planted.documents)


def test_an_article_is_ruled_by_vectors(planted):
    fits = [
        TopicVec(4, planted.vectors, own_words=own_words, random_state=0).fit(documents)
        for documents in (planted.documents[:19], planted.documents[:1])
        for own_words in (True, GIVEN, False)
    ]
    for number, model in enumerate(fits):
        assert np.isinf(model.fitted_.pseudo).all()
        paper = fits[number // 3 * 3 + 2]
        np.testing.assert_array_equal(model.topic_vectors_, paper.topic_vectors_)
        np.testing.assert_array_equal(model.doc_topic_, paper.doc_topic_)
    more = TopicVec(4, planted.vectors, random_state=0).fit(planted.documents[:20])
    assert np.isfinite(more.fitted_.pseudo[1:]).all()


def test_a_fit_of_fixed_topics_alone_ends(planted):
    model = TopicVec(4, planted.vectors, random_state=0).fit(planted.documents)
    fixed = TopicVec(4, planted.vectors, fixed_topics=model.topic_vectors_[1:], random_state=0)
    assert fixed.fit(planted.documents).converged_
    assert fixed.n_iter_ < 20


def test_the_papers_solver_has_no_own_words(planted):
    model = TopicVec(4, planted.vectors, solver="paper", max_iter=400, tol=1e-2, random_state=0)
    assert np.isinf(model.fit(planted.documents).fitted_.pseudo).all()


def test_a_word_without_a_vector_is_placed_by_its_own_tokens(planted):
    old = planted.vectors
    words, matrix = (*old.words, "quoxel"), np.vstack([old.matrix, np.zeros(old.n_dims)])
    vectors = WordVectors(words, matrix, np.append(old.unigram, 1 / len(old)))
    documents = [
        [*tokens, *["quoxel"] * 3] if block == 2 else tokens
        for tokens, block in zip(planted.documents, planted.blocks, strict=True)
    ]
    shares = {}
    for own_words in (True, False):
        model = TopicVec(4, vectors, own_words=own_words, random_state=0).fit(documents)
        right = topics_of(planted, model)[2]
        P = model.topic_word_[-1]
        shares[own_words] = P[right] / P.sum()
    assert shares[True] > 0.6 > shares[False]


@pytest.fixture(scope="module")
def denied():
    """A corpus that uses every third word of a block as if it were of the next block."""
    rng = np.random.default_rng(3)
    words = [f"{block}{number}" for block in "abcd" for number in range(15)]
    matrix = np.repeat(2.5 * np.eye(4, 8), 15, axis=0) + rng.normal(0, 0.3, (60, 8))
    used = (np.arange(60) // 15 + (np.arange(60) % 3 == 0)) % 4
    documents = [
        [words[row] for row in rng.choice(np.flatnonzero(used == number % 4), 40)]
        for number in range(1500)
    ]
    return WordVectors(words, matrix, np.ones(60)), documents, used


def test_a_large_corpus_is_ruled_by_its_documents(denied):
    vectors, documents, used = denied
    model = TopicVec(4, vectors, random_state=0, tol=1e-4).fit(documents)
    fitted, main = model.fitted_, model.doc_topic_.argmax(axis=1)
    topics = [int(np.bincount(main[block::4]).argmax()) for block in range(4)]
    assert len(set(topics)) == 4
    assert (fitted.pseudo[topics] < 0.2 * fitted.mass[topics]).all()
    assert (model.topic_word_[:, topics].argmax(axis=1) == used).all()
    paper = TopicVec(4, vectors, own_words=False, random_state=0, tol=1e-4).fit(documents)
    main = paper.doc_topic_.argmax(axis=1)
    topics = [int(np.bincount(main[block::4]).argmax()) for block in range(4)]
    assert (paper.topic_word_[:, topics].argmax(axis=1) == used).mean() < 0.8


@pytest.fixture(scope="module")
def model(planted):
    return TopicVec(4, planted.vectors, own_words=GIVEN, random_state=0).fit(planted.documents)


def test_words_of_topics_sum_to_1(model):
    assert model.topic_word_.sum(axis=0) == pytest.approx(1)
    fitted = model.fitted_
    C, m = fitted.word_mass.toarray()[:, 1:].astype(float), GIVEN
    P = oracles.word_probabilities(
        fitted.vectors.matrix.astype(float), fitted.vectors.unigram,
        fitted.topics.astype(float), fitted.residuals,
    )[:, 1:]  # fmt: skip
    np.testing.assert_allclose(model.topic_word_[:, 1:], (C + m * P) / (C.sum(0) + m), rtol=1e-5)


def test_a_document_has_the_same_mixture_alone_and_in_company(planted, model):
    together = model.transform(planted.texts)
    alone = np.vstack([model.transform([text]) for text in planted.texts])
    assert np.array_equal(alone, together)


def test_a_saved_model_has_its_own_words_to_the_bit(planted, model, tmp_path):
    path = tmp_path / "model.topicvec"
    model.save(path)
    loaded = TopicVec.load(path)
    assert loaded.own_words == GIVEN
    assert np.array_equal(loaded.fitted_.pseudo, model.fitted_.pseudo)
    assert np.array_equal(loaded.topic_word_, model.topic_word_)
    assert np.array_equal(loaded.transform(planted.texts), model.transform(planted.texts))
    more, again = (each.partial_fit(planted.texts[:7]) for each in (loaded, TopicVec.load(path)))
    assert np.array_equal(more.topic_vectors_, again.topic_vectors_)


class KilledError(Exception):
    pass


@pytest.mark.parametrize("own_words", [True, GIVEN])
@pytest.mark.filterwarnings("ignore:not converged")
def test_a_fit_with_own_words_that_was_broken_off_goes_on_to_the_same_bits(
    planted, tmp_path, own_words
):
    def kill(info):
        if info.iteration == 14:
            raise KilledError

    def run(**options):
        model = TopicVec(4, planted.vectors, own_words=own_words, tol=0, max_iter=20)
        return model.set_params(random_state=0).fit(planted.documents, **options)

    path = tmp_path / "state.safetensors"
    with pytest.raises(KilledError):
        run(callback=kill, checkpoint=path)
    heard = []
    resumed, whole = run(checkpoint=path, callback=heard.append), run()
    assert heard[0].iteration == 11
    assert np.array_equal(resumed.topic_vectors_, whole.topic_vectors_)
    assert np.array_equal(resumed.fitted_.pseudo, whole.fitted_.pseudo)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert resumed.bounds_ == whole.bounds_


def test_a_checkpoint_with_other_own_words_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    TopicVec(4, planted.vectors, own_words=GIVEN).fit(planted.documents, checkpoint=path)
    with pytest.raises(DataError, match="other documents, vectors or settings"):
        TopicVec(4, planted.vectors, own_words=2 * GIVEN).fit(planted.documents, checkpoint=path)


def test_operations_keep_own_words(planted, model):
    C, m = model.fitted_.word_mass.toarray(), model.fitted_.pseudo
    merged = model.merge([[1, 3]])
    assert merged.fitted_.pseudo.tolist() == [np.inf, m[1] + m[3], m[2], m[4]]
    np.testing.assert_allclose(merged.fitted_.word_mass.toarray()[:, 1], C[:, 1] + C[:, 3])
    dropped = model.drop([2])
    kept = model.topic_word_[:, [1, 3, 4]]
    np.testing.assert_allclose(dropped.topic_word_[:, 1:], kept, rtol=1e-5, atol=1e-12)
    both = model.concatenate(dropped)
    assert both.fitted_.pseudo.tolist() == [np.inf, *m[1:], *m[[1, 3, 4]]]
    words = model.topic_word_[:, 1:]
    np.testing.assert_allclose(both.topic_word_[:, 1:5], words, rtol=1e-5, atol=1e-12)
    named = model.relabel({1: "first"})
    assert np.array_equal(named.topic_word_, model.topic_word_)
    for each in (merged, dropped, both, named, model.reduce(3)):
        assert each.topic_word_.sum(axis=0) == pytest.approx(1)
        assert each.transform(planted.texts).sum(axis=1) == pytest.approx(1)


def test_batches_add_to_own_words(planted):
    pairs = zip(planted.documents, planted.blocks, strict=True)
    documents = [[*tokens, "zaaxy", "zaaxy"] if block == 1 else tokens for tokens, block in pairs]
    model = TopicVec(4, planted.vectors, own_words=GIVEN, random_state=0)
    model.partial_fit(planted.documents)
    right, row = topics_of(planted, model)[1], planted.vectors.ids["zaaxy"]
    before, pseudo = model.topic_word_[row, right], model.fitted_.pseudo
    model.partial_fit(documents)
    assert np.array_equal(model.fitted_.pseudo, pseudo)
    assert model.topic_word_.sum(axis=0) == pytest.approx(1)
    assert model.topic_word_[row, right] > 3 * before
    assert model.topic_word_[row].argmax() == right


def test_a_batch_moves_topics_by_the_tokens_that_vectors_answer_for(model):
    fitted = model.fitted_
    C, finite = fitted.word_mass.toarray().astype(float), np.isfinite(fitted.pseudo)
    V, u = fitted.vectors.matrix.astype(float), fitted.vectors.unigram
    a = GIVEN * oracles.word_probabilities(V, u, fitted.topics.astype(float), fitted.residuals)
    S = np.where(finite, a * np.log1p(C / a), C)
    stats = _statistics(fitted)
    np.testing.assert_allclose(stats.mass, C.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(stats.drawn, S.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(stats.moment, S.T @ V, rtol=1e-4, atol=1e-3)


def test_new_words_do_not_push_a_text_into_the_null_topic():
    rng = np.random.default_rng(0)
    names = [f"{side}{number}" for side in "ab" for number in range(30)]
    matrix = np.repeat([[3.0, 0.0], [0.0, 3.0]], 30, axis=0) + rng.normal(0, 0.1, (60, 2))
    vectors = WordVectors(names, matrix, np.ones(60))
    texts = [list(rng.choice([f"{side}{n}" for n in range(15)], 12)) for side in "ab" * 100]
    new = [[f"a{number}" for number in range(20, 28)], [f"b{number}" for number in range(20, 28)]]
    model = TopicVec(2, vectors, own_words=50.0, random_state=0).fit(texts)
    plain = TopicVec(2, vectors, own_words=False, random_state=0).fit(texts)
    found, expected = model.transform(new), plain.transform(new)
    assert (found[:, 0] < expected[:, 0] + 0.02).all()
    assert found[0].argmax() != found[1].argmax()
    np.testing.assert_allclose(model.topic_word_.sum(axis=0), 1, rtol=1e-5)


def test_topics_that_have_settled_to_the_last_bit_still_get_words_of_their_own(monkeypatch):
    monkeypatch.setattr(gem, "_SETTLED", -np.inf)  # no change is small enough but a fall
    rng = np.random.default_rng(0)
    vectors = WordVectors(["a", "b", "c", "d"], np.eye(4)[[0, 0, 1, 1]] * 3, np.ones(4))
    texts = [list(rng.choice(["ab"[n % 2], "cd"[n % 2]], 8)) for n in range(60)]
    model = TopicVec(2, vectors, own_words=40.0, max_iter=500, random_state=0).fit(texts)
    assert model.converged_
    assert np.isfinite(model.fitted_.pseudo[1:]).all()

"""Learning a batch at a time."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.model import online as online_
from topicvec.model import words
from topicvec.model.fitted import topic_residuals
from topicvec.model.online import _faded, learn_batch
from topicvec.model.state import Solver
from topicvec.model.topicvec import TopicVec


def quick(*args, **params):
    """A model with a coarse tolerance."""
    return TopicVec(*args, **{"tol": 1e-3, **params})


def batches(documents, size=20):
    return [documents[start : start + size] for start in range(0, len(documents), size)]


def purity(planted, proportions):
    main = proportions.argmax(axis=1)
    same = [np.bincount(planted.blocks[main == topic]).max() for topic in np.unique(main)]
    return sum(same) / len(main)


@pytest.fixture(scope="module")
def online(planted):
    model = quick(4, planted.vectors, random_state=0)
    for batch in batches(planted.documents):
        model.partial_fit(batch)
    return model


def test_batches_find_the_planted_topics(planted, online):
    assert purity(planted, online.transform(planted.documents)) == 1.0


def test_batches_come_near_the_bound_of_a_fit(planted, online):
    whole = quick(4, planted.vectors, random_state=0).fit(planted.documents)
    assert online.score(planted.documents) > whole.score(planted.documents) - 0.1


def test_the_steps_after_a_batch_are_counted_one_by_one(planted, monkeypatch):
    real, seen = online_.m_step, []

    def watched(engine, lexicon, state, *others):
        seen.append(state.iteration)
        return real(engine, lexicon, state, *others)

    monkeypatch.setattr(online_, "m_step", watched)
    model = quick(4, planted.vectors, solver="paper", random_state=0)
    for batch in batches(planted.documents)[:2]:
        model.partial_fit(batch)
    assert seen[-online_._N_STEPS :] == [*range(seen[-1] - online_._N_STEPS + 1, seen[-1] + 1)]


def test_batches_add_up(planted, online):
    assert online.fitted_.n_documents == 60
    n_tokens = sum(map(len, planted.documents))
    assert online.fitted_.word_counts.sum() == n_tokens
    assert online.fitted_.mass.sum() == pytest.approx(n_tokens, rel=1e-4)
    rows = [row for best in online.fitted_.representative for row, _ in best]
    assert max(rows) >= 40
    assert online.doc_topic_.shape == (20, 5)  # of the last batch
    having = np.zeros(len(planted.vectors))
    for tokens in planted.documents:
        having[[planted.vectors.ids[word] for word in set(tokens)]] += 1
    np.testing.assert_array_equal(online.fitted_.word_documents, having)
    held = online.fitted_.document_mass
    assert held.shape == online.fitted_.word_mass.shape
    assert held.sum() == pytest.approx(having.sum(), rel=0.1)  # older batches fade


def test_batches_of_the_same_documents_keep_their_relevant_words(planted, online):
    whole = quick(4, planted.vectors, random_state=0).fit(planted.documents)
    for topic in online.topics_[:-1]:
        words = {word for word, _ in topic.words[:5]}
        same = [{word for word, _ in other.words} for other in whole.topics_]
        assert max(len(words & other) for other in same) >= 4


def test_a_small_batch_changes_a_large_model_little(planted):
    model = quick(4, planted.vectors, random_state=0).fit(planted.documents)
    before = model.topic_vectors_
    model.partial_fit([planted.documents[0][:2]])
    assert np.linalg.norm(model.topic_vectors_ - before) < 0.2 * np.linalg.norm(before)


def test_topics_follow_the_documents(planted):
    first = [t for t, b in zip(planted.documents, planted.blocks, strict=True) if b == 0]
    rest = [t for t, b in zip(planted.documents, planted.blocks, strict=True) if b > 0]
    model = quick(4, planted.vectors, random_state=0).partial_fit(planted.documents)
    faded = int(model.transform(first)[0].argmax())
    before = model.fitted_.mass / model.fitted_.mass.sum()
    for _ in range(5):
        model.partial_fit(rest)
    after = model.fitted_.mass / model.fitted_.mass.sum()
    assert after[faded] < before[faded] / 5


def test_batches_give_the_same_bits_for_any_number_of_workers(planted, online):
    for n_jobs in (1, 4):
        other = quick(4, planted.vectors, random_state=0, n_jobs=n_jobs)
        for batch in batches(planted.documents):
            other.partial_fit(batch)
        assert np.array_equal(other.topic_vectors_, online.topic_vectors_)


def test_a_saved_model_goes_on_learning(planted, tmp_path):
    first, second, _ = batches(planted.documents)
    model = quick(4, planted.vectors, random_state=0).partial_fit(first)
    model.save(tmp_path / "model")
    loaded = TopicVec.load(tmp_path / "model").partial_fit(second)
    model.partial_fit(second)
    assert np.array_equal(loaded.topic_vectors_, model.topic_vectors_)


def test_a_batch_starts_from_the_tables_of_the_one_before(planted, monkeypatch):
    first, second, _ = batches(planted.documents)
    model = quick(4, planted.vectors, random_state=0).fit(first).partial_fit(first)
    apart = pickle.loads(pickle.dumps(model))
    evaluated, evaluate = [], online_.evaluate
    spy = lambda *given: (evaluated.append(1), evaluate(*given))[1]  # noqa: E731
    monkeypatch.setattr(online_, "evaluate", spy)
    model.partial_fit(second)
    assert not evaluated
    apart.partial_fit(second)
    assert evaluated
    assert np.array_equal(model.topic_vectors_, apart.topic_vectors_)


def test_a_small_batch_after_a_large_fit_takes_one_step(planted, monkeypatch):
    steps, m_step = [], online_.m_step
    spy = lambda *given: (steps.append(1), m_step(*given))[1]  # noqa: E731
    monkeypatch.setattr(online_, "m_step", spy)
    model = quick(4, planted.vectors, random_state=0).fit(planted.documents)
    model.partial_fit([planted.documents[0][:1]])
    assert len(steps) == 1


def test_mixtures_of_a_batch_are_those_that_transform_finds(planted, online):
    last = batches(planted.documents)[-1]
    np.testing.assert_allclose(online.doc_topic_, online.transform(last), atol=0.02)


def test_a_batch_without_known_words_changes_nothing(planted, online):
    before = online.topic_vectors_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        online.partial_fit([["unheard"]])
    assert np.array_equal(online.topic_vectors_, before)


def test_fixed_topics_stay_while_batches_come(planted):
    fixed = planted.vectors.matrix[:1]
    model = quick(4, planted.vectors, fixed_topics=fixed, random_state=0)
    for batch in batches(planted.documents):
        model.partial_fit(batch)
    assert np.array_equal(model.topic_vectors_[1], fixed[0])


def test_the_residual_of_the_null_topic_is_exactly_zero(online):
    assert online.topic_residuals_[0] == 0


def test_mixtures_are_found_with_the_topics_that_are_given_for_it(planted, online):
    counts = np.random.default_rng(0).poisson(0.1, (5, len(planted.vectors))).astype(float)
    counts, fitted = csr_array(counts), online.fitted_
    swapped = replace(fitted, alpha=fitted.alpha[[0, 2, 1, 3, 4]] * [1, 50, 1, 1, 1])
    plain = learn_batch(fitted, counts, Solver(), LocalEngine(1)).fitted
    same = learn_batch(fitted, counts, Solver(), LocalEngine(1), start=fitted).fitted
    other = learn_batch(fitted, counts, Solver(), LocalEngine(1), start=swapped).fitted
    np.testing.assert_array_equal(plain.topics, same.topics)
    assert other.mass[1] > 1.02 * plain.mass[1]  # more was found of what its prior prefers
    assert other.alpha[1] == fitted.alpha[1]  # but the topics learned from are the first ones


@pytest.mark.parametrize("more", [None, -3, 0, 2, 9])
def test_topics_are_normalised_over_new_words_as_if_over_all_at_once(planted, online, more):
    old, topics = planted.vectors, online.fitted_.topics
    limit = None if more is None else len(old) + more
    rows = np.random.default_rng(0).normal(size=(4, old.n_dims)).astype(np.float32)
    unigram = np.append(old.unigram, np.full(4, old.unigram.min()))
    wider = WordVectors((*old.words, *"pqrs"), np.vstack([old.matrix, rows]), unigram)
    before = replace(
        online.fitted_,
        residuals=topic_residuals(old, topics, limit),
        settings={"n_normalizer_words": limit},
    )
    found = words._widened(before, wider).residuals
    np.testing.assert_allclose(found, topic_residuals(wider, topics, limit), atol=1e-6)
    assert found[0] == 0
    changed = more is None or more > 0
    assert (np.abs(found - before.residuals).max() > 1e-4) == changed


def test_what_has_nearly_faded_is_left_out():
    table = csr_array(np.array([[1e-3, 9e-4], [2.0, 0.0]], np.float32))
    found = _faded(table)
    np.testing.assert_array_equal(found.toarray(), np.float32([[1e-3, 0], [2, 0]]))
    assert found.nnz == 2

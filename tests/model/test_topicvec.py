"""The estimator: topics come back, bits stay the same, results have their promised form."""

import logging
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from topicvec.embed import WordVectors
from topicvec.errors import DataError
from topicvec.model.counts import DocumentCounter
from topicvec.model.fit import plan_corpus
from topicvec.model.state import Solver
from topicvec.model.topicvec import TopicVec


def quick(*args, **params):
    """A model with a coarse tolerance."""
    return TopicVec(*args, **{"tol": 1e-3, **params})


@pytest.fixture(scope="module")
def model(planted):
    return quick(4, planted.vectors, random_state=0).fit(planted.documents)


def purity(planted, proportions):
    """Share of documents whose block is that of most documents with the same main topic."""
    main = proportions.argmax(axis=1)
    same = [np.bincount(planted.blocks[main == topic]).max() for topic in np.unique(main)]
    return sum(same) / len(main)


def test_planted_topics_are_recovered(planted, model):
    assert purity(planted, model.doc_topic_) == 1.0
    assert len(set(model.doc_topic_.argmax(axis=1))) == 4
    for topic in model.topics_:
        if not topic.is_null:
            assert len({planted.block_of(word) for word, _ in topic.words[:5]}) == 1


def test_learned_attributes_have_their_shapes(planted, model):
    assert model.topic_vectors_.shape == (5, planted.vectors.n_dims)
    assert not model.topic_vectors_[0].any()
    assert model.topic_residuals_[0] == 0
    assert model.alpha_.tolist() == [1 / 5] * 5
    assert model.doc_topic_.shape == (60, 5)
    assert len(model.bounds_) == model.n_iter_
    assert model.converged_
    assert model.vocabulary_ == planted.vectors.words
    assert model.vectors_ is planted.vectors


def test_the_bound_never_falls(model):
    assert np.diff(model.bounds_).min() > -1e-7


def test_masses_add_up_to_the_tokens(planted, model):
    n_tokens = sum(map(len, planted.documents))
    assert model.fitted_.mass.sum() == pytest.approx(n_tokens, rel=1e-5)
    assert model.fitted_.word_counts.sum() == n_tokens
    assert model.fitted_.word_mass.sum() == pytest.approx(n_tokens, rel=1e-2)


def test_results_are_the_same_bits_for_any_number_of_workers(planted, model):
    for n_jobs in (1, 2, 4):
        other = quick(4, planted.vectors, random_state=0, n_jobs=n_jobs).fit(planted.documents)
        assert np.array_equal(other.topic_vectors_, model.topic_vectors_)
        assert np.array_equal(other.doc_topic_, model.doc_topic_)
        assert other.bounds_ == model.bounds_
        assert np.array_equal(other.transform(planted.texts), model.transform(planted.texts))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_results_are_the_same_bits_for_any_number_of_blas_threads():
    rng = np.random.default_rng(0)
    n_words, n_cells = 30_000, 60_000  # BLAS spreads even a dot product of so many
    vectors = WordVectors(
        [f"w{row}" for row in range(n_words)],
        rng.normal(size=(n_words, 8)),
        rng.integers(1, 100, n_words),
    )
    cells = (rng.integers(1, 4, n_cells), rng.integers(0, n_words, n_cells))
    counts = csr_array((*cells, np.arange(0, n_cells + 1, 600)), shape=(100, n_words))
    found = []
    for n_threads in (1, 4):
        with threadpool_limits(n_threads, "blas"):
            found.append(TopicVec(2, vectors, max_iter=3, random_state=0, n_jobs=1).fit(counts))
    assert found[0].bounds_ == found[1].bounds_
    assert np.array_equal(found[0].topic_vectors_, found[1].topic_vectors_)
    assert np.array_equal(found[0].transform(counts), found[1].transform(counts))


def test_texts_token_lists_and_counts_give_the_same_bits(planted, model):
    counts = DocumentCounter().count(planted.documents, planted.vectors).counts
    for documents in (planted.texts, iter(planted.documents), counts, counts.toarray()):
        other = quick(4, planted.vectors, random_state=0).fit(documents)
        assert np.array_equal(other.topic_vectors_, model.topic_vectors_)


def test_fit_transform_is_fit_then_transform(planted, model):
    other = quick(4, planted.vectors, random_state=0)
    assert np.array_equal(other.fit_transform(iter(planted.texts)), model.transform(planted.texts))


def test_one_document_is_a_corpus(planted):
    document = planted.documents[0] + planted.documents[1]
    model = quick(3, planted.vectors, random_state=0).fit([document])
    assert model.doc_topic_.shape == (1, 4)
    assert (np.sort(model.doc_topic_[0])[-2:] > 0.2).all()


def test_alpha_can_be_given_or_learned(planted):
    alpha = np.array([0.5, 0.1, 0.1, 0.2, 0.3])
    given = quick(4, planted.vectors, alpha=alpha, random_state=0).fit(planted.documents)
    assert np.array_equal(given.alpha_, alpha)
    learned = quick(4, planted.vectors, alpha="learn", random_state=0).fit(planted.documents)
    assert len(set(learned.alpha_.tolist())) > 1
    assert (learned.alpha_ > 0).all()


def test_given_topics_are_where_a_fit_starts(planted, model):
    again = quick(4, planted.vectors, init=model).fit(planted.documents)
    assert again.n_iter_ < model.n_iter_
    assert again.bounds_[0] > model.bounds_[0]
    assert again.bounds_[-1] > model.bounds_[-1] - 1e-2
    same = quick(4, planted.vectors, init=model.topic_vectors_).fit(planted.documents)
    assert np.array_equal(same.topic_vectors_, again.topic_vectors_)


def test_a_start_among_documents_finds_planted_topics_and_needs_enough_documents(planted):
    first = quick(4, planted.vectors, init="documents", random_state=0).fit(planted.documents)
    assert purity(planted, first.doc_topic_) == 1.0
    again = quick(4, planted.vectors, init="documents", random_state=0, n_jobs=1)
    assert np.array_equal(again.fit(planted.documents).topic_vectors_, first.topic_vectors_)
    with pytest.raises(DataError, match=r"at least 4 documents.*use init='spread'"):
        quick(4, planted.vectors, init="documents").fit(planted.documents[:3])


def test_random_start_and_paper_solver_run(planted):
    with pytest.warns(Warning, match="not converged"):
        paper = quick(
            4, planted.vectors, init="random", solver="paper", max_iter=5, random_state=0
        ).fit(planted.documents)
    assert paper.n_iter_ == 5


def test_a_normaliser_of_frequent_words_is_used_everywhere(planted):
    few = Solver(n_normalizer_words=40)
    model = quick(4, planted.vectors, solver=few, random_state=0).fit(planted.documents)
    full = quick(4, planted.vectors, random_state=0).fit(planted.documents)
    assert model.score(planted.documents) == pytest.approx(model.bounds_[-1], abs=0.05)
    assert full.score(planted.documents) < model.score(planted.documents) - 0.5


def test_start_large_and_prune_finds_the_number_of_topics(planted):
    large = quick(11, planted.vectors, max_norm=3, random_state=0).fit(planted.documents)
    fewer = large.merge_similar(0.3).prune(0.1)
    n_topics = fewer.n_topics_
    assert n_topics == 4
    model = quick(n_topics, planted.vectors, max_norm=3, init=fewer).fit(planted.documents)
    assert purity(planted, model.doc_topic_) == 1.0
    assert model.doc_topic_.shape[1] == 5


def test_a_fit_that_does_not_converge_says_what_to_do(planted):
    with pytest.warns(ConvergenceWarning, match=r"raise max_iter=2, or tol"):
        quick(4, planted.vectors, max_iter=2, random_state=0).fit(planted.documents)


def test_callbacks_hear_of_each_iteration(planted):
    heard = []
    model = quick(4, planted.vectors, random_state=0)
    model.fit(planted.documents, callback=heard.append)
    assert [each.iteration for each in heard] == list(range(1, model.n_iter_ + 1))
    assert tuple(each.bound for each in heard) == model.bounds_
    assert heard[0].change == np.inf
    assert heard[1].change == pytest.approx(model.bounds_[1] - model.bounds_[0])


def test_iterations_are_logged_and_nothing_is_printed(planted, caplog, capsys):
    with caplog.at_level(logging.INFO, logger="topicvec.model.fit"):
        model = quick(4, planted.vectors, random_state=0).fit(planted.documents)
    assert len(caplog.records) == model.n_iter_
    assert "iteration 1: bound" in caplog.text
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_returns_the_model_so_far(planted):
    def interrupt(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    model = quick(4, planted.vectors, random_state=0)
    with pytest.warns(RuntimeWarning, match="interrupted after 3 iterations"):
        model.fit(planted.documents, callback=interrupt)
    assert model.n_iter_ == 3
    assert model.transform(planted.documents).shape == (60, 5)


def test_a_saved_model_gives_the_same_bits(planted, model, tmp_path):
    path = tmp_path / "model.topicvec"
    model.save(path)
    loaded = TopicVec.load(path)
    assert np.array_equal(loaded.topic_vectors_, model.topic_vectors_)
    assert np.array_equal(loaded.transform(planted.texts), model.transform(planted.texts))
    assert loaded.score(planted.texts) == model.score(planted.texts)
    assert loaded.bounds_ == model.bounds_
    assert (loaded.n_topics, loaded.random_state, loaded.n_iter_) == (4, 0, model.n_iter_)
    assert loaded.topics_ == model.topics_


def test_a_saved_model_remembers_how_to_cut_texts(planted, tmp_path):
    model = quick(4, planted.vectors, tokenizer=str.split, stop_words={"aaxy"}, random_state=0)
    model.fit(planted.texts).save(tmp_path / "model")
    loaded = TopicVec.load(tmp_path / "model", tokenizer=str.split)
    assert np.array_equal(loaded.transform(planted.texts), model.transform(planted.texts))
    with pytest.raises(ValueError, match="give it again"):
        TopicVec.load(tmp_path / "model").transform(planted.texts)


def test_models_pickle(planted, model):
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.transform(planted.texts), model.transform(planted.texts))


def test_operations_return_a_new_model(planted, model):
    before = model.topic_vectors_.copy()
    smaller = model.reduce(2)
    named = model.relabel({1: "first"})
    assert smaller.transform(planted.texts).shape == (60, 3)
    assert named.fitted_.labels[1] == "first"
    assert model.drop([1]).fitted_.n_topics == 4
    assert model.merge([[1, 2]]).fitted_.n_topics == 4
    assert model.prune(0.01).fitted_.n_topics <= 5
    assert model.concatenate(smaller).fitted_.n_topics == 7
    assert np.array_equal(model.topic_vectors_, before)
    assert model.fitted_.labels[1] is None


def start(planted, init, max_norm):
    counts = DocumentCounter().count(planted.documents, planted.vectors).counts
    rng = np.random.default_rng(0)
    return plan_corpus(planted.vectors, counts, 5, 0.1, init, {"max_norm": max_norm}, rng)


def test_given_topics_start_on_the_ball(planted, model):
    far = 10 * model.topic_vectors_
    plan = start(planted, far, 2.0)
    assert np.linalg.norm(plan.topics, axis=1) == pytest.approx([0, 2, 2, 2, 2])


def test_random_topics_start_as_unit_vectors(planted):
    plan = start(planted, "random", 7.0)
    assert np.linalg.norm(plan.topics, axis=1) == pytest.approx([0, 1, 1, 1, 1])


def test_alpha_is_not_learned_from_few_documents(planted):
    model = quick(2, planted.vectors, alpha="learn", random_state=0)
    with pytest.warns(UserWarning, match="needs at least 10 documents .* found 9"):
        model.fit(planted.documents[:9])
    assert model.alpha_.tolist() == [0.1] * 3


def test_a_token_that_is_no_word_is_as_an_unknown_one(model):
    word = model.vectors_.words[0]
    tokens, proportions = model.token_proportions([word, None, 3])
    assert (tokens, len(proportions)) == ([word], 1)


def test_token_proportions_sum_to_the_expected_counts(planted, model):
    text = planted.documents[0]
    tokens, proportions = model.token_proportions(text)
    assert tokens == [token for token in text if token in model.vectors_]
    np.testing.assert_allclose(proportions.sum(axis=1), 1)
    np.testing.assert_allclose(
        proportions.sum(axis=0), model.expected_counts([text])[0], atol=0.01 * len(tokens)
    )
    assert [t.topic for t in model.responsibilities(text) if t.topic is not None] == list(
        proportions.argmax(axis=1)
    )


def test_topics_start_among_documents_only_where_there_are_many(planted):
    few, many = planted.documents, planted.documents * 17
    for documents, same in ((few, "spread"), (many, "documents")):
        runs = [
            TopicVec(4, planted.vectors, init=init, random_state=0, max_iter=5, tol=1.0)
            for init in ("auto", same)
        ]
        first, second = (run.fit(documents).topic_vectors_ for run in runs)
        assert np.array_equal(first, second)


def test_documents_that_all_have_the_same_words_start_among_words(planted):
    documents = [["aaxy", "abxy", "caxy"]] * 1000
    model = TopicVec(2, planted.vectors, random_state=0).fit(documents)
    assert np.isfinite(model.topic_vectors_).all()

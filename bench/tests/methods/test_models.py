"""What holds for every compared topic model."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec_bench import tokens
from topicvec_bench.docnade import DocNADE
from topicvec_bench.gaussian_lda import GaussianLDA
from topicvec_bench.lda import SklearnLDA, SklearnNMF
from topicvec_bench.lftm import LFTM
from topicvec_bench.plsa import PLSA
from topicvec_bench.replicated_softmax import ReplicatedSoftmax
from topicvec_bench.slda import SLDA
from topicvec_bench.twe import TWE


def make(kind, planted, **params):
    if kind is TWE:
        pytest.importorskip("gensim", reason="TWE trains its word vectors with gensim")
        params = {"n_dims": 8, "n_iter": 60, "min_count": 1, **params}
    if kind in (LFTM, SLDA):
        params = {"n_initial": 60, "n_iter": 10, **params}
    if kind in (LFTM, GaussianLDA):
        params = {"vectors": planted.vectors, **params}
    if kind is GaussianLDA:
        params = {"n_iter": 10, **params}
    return kind(n_topics=3, **params)


every_model = pytest.mark.parametrize("kind", [LFTM, SLDA, TWE, GaussianLDA])


@every_model
def test_planted_topics_are_found(kind, planted):
    model = make(kind, planted).fit(planted.documents, planted.labels)
    groups = [{planted.group(word) for word in words} for words in model.topic_words(8)]
    assert sorted(map(sorted, groups)) == [[0], [1], [2]]
    assert [len(words) for words in model.topic_words(3)] == [3, 3, 3]


@every_model
def test_features_of_new_documents_tell_their_groups(kind, planted):
    model = make(kind, planted).fit(planted.documents, planted.labels)
    known, new = model.transform(planted.documents), model.transform(planted.new_documents)
    assert new.shape == (15, 16 if kind is TWE else 3)
    assert LinearSVC().fit(known, planted.labels).score(new, planted.new_labels) == 1
    if kind is not TWE:
        np.testing.assert_allclose(new.sum(1), 1)
        assert (
            len({(int(a), b) for a, b in zip(new.argmax(1), planted.new_labels, strict=True)}) == 3
        )


def most_blas_threads():
    """Count the threads of the libraries that can be asked; not every BLAS can."""
    found = (each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
    return max(found, default=1)


@every_model
def test_blas_has_one_thread_while_a_model_works(kind, planted, monkeypatch):
    seen = []

    def spied(work):
        def spy(*args, **options):
            seen.append(most_blas_threads())
            return work(*args, **options)

        return spy

    module = sys.modules[kind.__module__]
    monkeypatch.setattr(module, "learn_words", spied(tokens.learn_words))
    with threadpool_limits(2, "blas"):
        before = most_blas_threads()
        model = make(kind, planted).fit(planted.documents, planted.labels)
        assert seen == [1]
        if kind in (TWE, GaussianLDA):  # the others infer without products
            monkeypatch.setattr(module, "number_tokens", spied(tokens.number_tokens))
            model.transform(planted.documents)
            assert seen[1:] == [1]
        assert most_blas_threads() == before


@pytest.mark.parametrize("kind", [SklearnLDA, SklearnNMF, PLSA, ReplicatedSoftmax, DocNADE])
def test_blas_has_one_thread_while_factors_are_fitted(kind, planted, monkeypatch):
    seen = []

    def spy(*given):
        seen.append(most_blas_threads())
        return tokens.number_tokens(*given)

    monkeypatch.setattr(sys.modules[kind.__module__], "number_tokens", spy)
    with threadpool_limits(2, "blas"):
        kind(3).fit(planted.documents).transform(planted.documents)
    assert set(seen) == {1}


def test_bits_do_not_depend_on_the_threads_of_blas():
    # Products as large as these have other last bits on two threads, which the sampler then takes
    # to other topics.
    rng = np.random.default_rng(0)
    words = [f"w{row}" for row in range(2000)]
    vectors = WordVectors(words, rng.normal(size=(2000, 50)), np.arange(2000, 0, -1))
    documents = [[words[row] for row in rng.integers(0, 2000, 40)] for _ in range(200)]
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, "blas"):
            model = LFTM(20, vectors=vectors, n_initial=2, n_iter=3)
            found.append(model.fit_transform(documents))
    np.testing.assert_array_equal(*found)


@every_model
def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(kind, planted):
    model = make(kind, planted)
    first, second = (
        clone(model).fit_transform(planted.documents, planted.labels) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    other = clone(model).set_params(random_state=1)
    assert np.any(other.fit_transform(planted.documents, planted.labels) != first)


@every_model
def test_a_document_has_the_same_features_alone_and_beside_others(kind, planted):
    model = make(kind, planted).fit(planted.documents, planted.labels)
    together = model.transform(planted.new_documents)
    alone = [model.transform([document])[0] for document in planted.new_documents]
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-8)


@every_model
def test_a_document_without_a_known_word_has_the_features_of_no_evidence(kind, planted):
    model = make(kind, planted).fit([*planted.documents, []], [*planted.labels, 0])
    found = model.transform([["unheard", "of"], []])
    np.testing.assert_allclose(found, 0 if kind is TWE else 1 / 3)


@every_model
def test_transform_before_fit_and_texts_for_token_lists_are_refused(kind, planted):
    with pytest.raises(NotFittedError):
        make(kind, planted).transform(planted.documents)
    with pytest.raises(NotFittedError):
        make(kind, planted).topic_words()
    with pytest.raises(DataError, match="expected token lists; found str in row 1"):
        make(kind, planted).fit([["a"], "a text"], [0, 1])


@every_model
@pytest.mark.parametrize("params", [{"n_topics": 0}, {"alpha": 0}, {"n_iter": 0}])
def test_parameters_out_of_range_are_refused(kind, params, planted):
    model = make(kind, planted).set_params(**params)
    with pytest.raises(DataError, match=f"{next(iter(params))} must be"):
        model.fit(planted.documents, planted.labels)

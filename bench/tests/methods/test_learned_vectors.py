"""Word vectors that TopicVec learns from its documents, by every method alike."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec.errors import DataError, MissingExtra
from topicvec.text import Vocabulary
from topicvec_bench import glove, huang, learned_vectors, neural_vectors
from topicvec_bench.classify import classify
from topicvec_bench.glove import Cells, Glove
from topicvec_bench.huang import OnHuang, Ranking
from topicvec_bench.learned_vectors import NORM, OnPPMI, OnPSDVec, OnSVD, OnWord2Vec, rescaled
from topicvec_bench.neural_vectors import LanguageModel, OnNNLM
from topicvec_bench.tokens import number_tokens

SMALL = {
    OnPSDVec: {},
    OnPPMI: {"n_dims": 30},
    OnSVD: {},
    OnWord2Vec: {"n_epochs": 60},
    glove.OnGloVe: {"n_epochs": 30},
    OnNNLM: {"n_epochs": 60},
    OnHuang: {"n_epochs": 60},
}
WITH_PASSES = [kind for kind, params in SMALL.items() if "n_epochs" in params]


def make(kind, seed=0):
    if kind is OnWord2Vec:
        pytest.importorskip("gensim", reason="skip-gram is gensim's")
    return kind(3, random_state=seed, options={"tol": 1e-2}, **{"n_dims": 10, **SMALL[kind]})


@pytest.fixture(scope="module", params=SMALL, ids=lambda kind: kind.__name__)
def fitted(request, planted):
    return make(request.param).fit(planted.documents, [str(each) for each in planted.labels])


def test_words_that_share_contexts_are_nearer_to_each_other(fitted, planted):
    vectors = fitted.vectors_.normalized()
    cosines = vectors.matrix @ vectors.matrix.T
    groups = np.array([planted.group(word) for word in vectors.words])
    same = groups[:, None] == groups
    np.fill_diagonal(cosines, np.nan)
    inside = np.nanmean(np.where(same, cosines, np.nan), axis=1)
    outside = np.nanmean(np.where(same, np.nan, cosines), axis=1)
    assert len(groups) == 36
    assert (inside > outside + 0.1).all()


def test_vectors_are_centred_and_of_one_scale(fitted):
    vectors = fitted.vectors_
    norm = np.sqrt(vectors.unigram @ np.square(vectors.matrix).sum(1))
    assert np.isclose(norm, NORM, rtol=1e-5)
    assert np.abs(vectors.mean).max() < 1e-6


def test_features_are_proportions_that_tell_planted_classes(fitted, planted):
    own, new = (fitted.transform(each) for each in (planted.documents, planted.new_documents))
    assert own.shape == (60, 3 * 3 - 2)
    assert np.allclose(own.sum(1), 1)
    score = classify(own, np.array(planted.labels), new, np.array(planted.new_labels), "strong")
    assert score.accuracy > 90


@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.__name__)
def test_the_same_seed_gives_the_same_bits(kind, planted):
    first, again = (make(kind).fit(planted.documents).vectors_ for _ in range(2))
    assert first == again


@pytest.mark.parametrize("kind", WITH_PASSES, ids=lambda kind: kind.__name__)
def test_another_seed_gives_other_vectors(kind, planted):
    first, other = (make(kind, seed).fit(planted.documents).vectors_ for seed in (0, 1))
    assert first != other


def test_rare_words_are_left_out_and_known_by_no_one(planted):
    model = make(OnSVD).fit([*planted.documents, ["once", *planted.documents[0]]])
    assert "once" not in model.vectors_


def test_word2vec_does_not_depend_on_pythons_hash():
    pytest.importorskip("gensim", reason="skip-gram is gensim's")
    program = (
        "from topicvec_bench.learned_vectors import OnWord2Vec\n"
        "documents = [['cat', 'dog', 'cat'], ['car', 'bus', 'bus']] * 20\n"
        "print(OnWord2Vec(2, n_dims=3).fit(documents).vectors_.content_hash)"
    )
    paths = os.pathsep.join(sys.path)
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": salt},
            capture_output=True, check=True, text=True,
        ).stdout
        for salt in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1


def test_without_gensim_the_hint_says_what_to_install(planted, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtra, match=r"word2vec needs gensim: pip install \./bench"):
        OnWord2Vec(3).fit(planted.documents)


def test_documents_that_tell_no_contexts_are_refused():
    with pytest.raises(DataError, match="differ in their contexts"):
        OnPPMI(2).fit([["cat"], ["cat"], ["dog"], ["dog"]])


def test_parameters_that_make_no_sense_are_refused(planted):
    with pytest.raises(DataError, match="n_dims"):
        OnSVD(2, n_dims=0).fit(planted.documents)
    with pytest.raises(DataError, match="n_epochs"):
        OnNNLM(2, n_epochs=0).fit(planted.documents)


def test_centring_leaves_differences_in_proportion():
    vocabulary = Vocabulary.from_counts({"cat": 5, "cow": 2, "dog": 1})
    matrix = np.random.default_rng(0).normal(size=(3, 4)) + 7
    found = rescaled(vocabulary, matrix).matrix
    ratio = (found[0] - found[1]) / (matrix[0] - matrix[1])
    np.testing.assert_allclose(found[0] - found[2], ratio[0] * (matrix[0] - matrix[2]), rtol=1e-5)


def test_positive_pmi_is_that_of_its_definition():
    counts = np.random.default_rng(0).integers(0, 5, size=(6, 6))
    smooth = counts.sum(0) ** 0.75
    with np.errstate(divide="ignore"):
        pmi = np.log(counts / counts.sum(1)[:, None] / (smooth / smooth.sum()))
    found = learned_vectors.positive_pmi(csr_array(counts)).toarray()
    np.testing.assert_allclose(found, np.maximum(pmi, 0), atol=1e-12)


def glove_problem(dtype):
    rng = np.random.default_rng(0)
    cells = Cells(
        rng.integers(0, 6, 40).astype(np.int32), rng.integers(0, 6, 40).astype(np.int32),
        rng.normal(size=40).astype(dtype), rng.random(40).astype(dtype),
    )  # fmt: skip
    shapes = ((6, 3), (6, 3), (6,), (6,))
    model = Glove(*(rng.normal(size=shape).astype(dtype) for shape in shapes))
    return cells, model, Glove(*(np.ones(shape, dtype) for shape in shapes))


def test_the_compiled_pass_of_glove_is_its_twin():
    cells, model, squares = glove_problem(np.float64)
    order = np.random.default_rng(1).permutation(40)
    twin, twin_squares = (Glove(*(table.copy() for table in each)) for each in (model, squares))
    glove.glove_pass(order, *cells, *model, *squares, 0.05)
    glove.glove_pass_reference(order, cells, twin, twin_squares, 0.05)
    for found, expected in zip([*model, *squares], [*twin, *twin_squares], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_step_of_glove_goes_down_the_slope_of_its_loss():
    cells, model, squares = glove_problem(np.float64)
    one = Cells(*(array[7:8] for array in cells))
    slopes = differences(lambda: glove.glove_loss(one, model), model)
    before = [table.copy() for table in model]
    glove.glove_pass(np.array([0]), *one, *model, *squares, 1.0)  # plain: squares are ones
    for table, old, slope in zip(model, before, slopes, strict=True):
        np.testing.assert_allclose(old - table, slope, atol=1e-6)


def test_passes_of_glove_lower_its_loss():
    cells, model, squares = glove_problem(np.float32)
    losses = [glove.glove_loss(cells, model)]
    for _ in range(5):
        glove.glove_pass(np.arange(40), *cells, *model, *squares, np.float32(0.05))
        losses.append(glove.glove_loss(cells, model))
    assert (np.diff(losses) < 0).all()


def differences(loss, tables, step=1e-5):
    """Give the slope of a loss at every number of some tables, by central differences."""
    found = [np.empty(table.shape) for table in tables]
    for table, slopes in zip(tables, found, strict=True):
        for place in np.ndindex(table.shape):
            kept = table[place]
            table[place] = kept + step
            above = loss()
            table[place] = kept - step
            slopes[place] = (above - loss()) / (2 * step)
            table[place] = kept
    return found


def assert_slopes(loss, tables, slopes):
    for table, slope, expected in zip(tables, slopes, differences(loss, tables), strict=True):
        dense = np.zeros_like(table)
        np.add.at(dense, slice(None) if slope.rows is None else slope.rows, slope.gradient)
        assert np.abs(expected).max() > 1e-3
        np.testing.assert_allclose(dense, expected, atol=1e-6)


def doubles(rng, tables):
    return [rng.normal(scale=0.5, size=table.shape) for table in tables]


@pytest.fixture
def few_hidden(monkeypatch):
    for module in (neural_vectors, huang):
        monkeypatch.setattr(module, "N_HIDDEN", 5)


def test_the_slopes_of_the_language_model_are_those_of_its_loss(few_hidden):
    rng = np.random.default_rng(0)
    model = LanguageModel(*doubles(rng, LanguageModel.random(np.full(7, 1 / 7), 3, rng)))
    contexts, targets = rng.integers(0, 8, (6, 4)), rng.integers(0, 7, 6)
    noise, log_noise = rng.integers(0, 7, 9), rng.normal(size=7)

    def loss():
        return neural_vectors.language_model_loss(model, contexts, targets, noise, log_noise)

    assert_slopes(lambda: loss()[0], model, loss()[1])


def test_the_slopes_of_the_ranking_are_those_of_its_loss(few_hidden):
    rng = np.random.default_rng(0)
    model = Ranking(*doubles(rng, Ranking.random(7, 3, rng)))
    windows, noise = rng.integers(0, 7, (6, 5)), rng.integers(0, 7, 6)
    windows[0, :2] = 7  # before the first word
    shares = csr_array(rng.random((2, 7)) * (rng.random((2, 7)) < 0.6))
    owner = np.array([0, 0, 0, 1, 1, 1])

    def loss():
        return huang.ranking_loss(model, windows, noise, owner, shares)

    assert_slopes(lambda: loss()[0], model, loss()[1])


def test_words_of_the_same_documents_are_near_though_no_window_has_two_of_them():
    rng = np.random.default_rng(0)
    documents = [far_apart(rng, number % 2) for number in range(100)]
    model = OnHuang(2, n_dims=10, n_epochs=30, options={"tol": 1e-2}).fit(documents)
    vectors = model.vectors_.normalized()
    first, second = (vectors.subset([f"g{group}w{i}" for i in range(4)]).matrix for group in (0, 1))
    assert (first @ first.T).mean() > (first @ second.T).mean() + 0.3
    assert (second @ second.T).mean() > (first @ second.T).mean() + 0.3


def far_apart(rng, group):
    """Make a document with words of a group, and five words of all documents between two."""
    own = [f"g{group}w{rng.integers(4)}" for _ in range(6)]
    return [word for each in own for word in (each, *(f"c{rng.integers(8)}" for _ in range(5)))]


def test_windows_begin_anew_with_each_document():
    tokens = number_tokens([["a", "b"], [], ["c"]], {"a": 0, "b": 1, "c": 2})
    windows = neural_vectors.left_windows(tokens, 3, 9)
    assert windows.tolist() == [[9, 9, 0], [9, 0, 1], [9, 9, 2]]


def test_shares_of_an_empty_document_are_none():
    shares = huang.document_shares(number_tokens([["a"], []], {"a": 0}), 1)
    assert shares.sum(axis=1).tolist() == [1, 0]

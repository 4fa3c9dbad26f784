from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import word_probabilities
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.model.fitted import FittedTopics
from topicvec.model.operations import (
    _join,
    concatenate,
    drop,
    merge,
    merge_similar,
    prune,
    reduce,
    relabel,
)

N_WORDS, N_DIMS = 60, 5


def vectors_of(seed=0):
    rng = np.random.default_rng(seed)
    names = [f"w{i}" for i in range(N_WORDS)]
    return WordVectors(names, rng.normal(size=(N_WORDS, N_DIMS)), rng.random(N_WORDS) + 0.1)


VECTORS = vectors_of()


def model(n_topics=7, seed=1, vectors=VECTORS):
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(n_topics, N_DIMS)).astype(np.float32)
    topics[0] = 0
    table = rng.gamma(0.3, size=(N_WORDS, n_topics)).astype(np.float32)
    table[table < 0.05] = 0
    held = np.where(table > 0, rng.random(table.shape), 0).astype(np.float32)
    bare = FittedTopics.bare(vectors, topics, max_norm=7.0)
    return replace(
        bare,
        residuals=np.append(0.0, bare.residuals[1:]),
        alpha=rng.random(n_topics) + 0.05,
        mass=table.sum(axis=0).astype(float),
        word_counts=table.sum(axis=1).astype(float),
        word_mass=csr_array(table),
        word_documents=np.ceil(held.sum(axis=1)).astype(float),
        document_mass=csr_array(held),
        classes=(None, *("ab"[k % 2] for k in range(1, n_topics))),
        representative=tuple(((k, 0.5), (9, 0.2)) for k in range(n_topics)),
        n_documents=10,
        settings={"solver": "newton", "seed": seed},
    )


OPERATIONS = {
    "drop": lambda fitted: drop(fitted, [2, 5]),
    "prune": lambda fitted: prune(fitted, 0.12),
    "merge": lambda fitted: merge(fitted, [(1, 4), (6, 2, 3)]),
    "merge_similar": lambda fitted: merge_similar(fitted, 0.3),
    "reduce": lambda fitted: reduce(fitted, 3),
    "relabel": lambda fitted: relabel(fitted, {3: "x"}),
    "concatenate": lambda fitted: concatenate(fitted, model(4, seed=2)),
}


@pytest.fixture(params=OPERATIONS)
def operation(request):
    return OPERATIONS[request.param]


def test_every_operation_leaves_a_whole_model(operation):
    new = operation(model())
    n_topics = len(new.topics)
    assert new.topics.dtype == new.word_mass.dtype == new.document_mass.dtype == np.float32
    assert new.word_mass.shape == new.document_mass.shape == (N_WORDS, n_topics)
    assert new.word_documents.shape == (N_WORDS,)
    for part in (new.residuals, new.alpha, new.mass):
        assert part.shape == (n_topics,)
        assert part.dtype == np.float64
    assert len(new.labels) == len(new.classes) == len(new.representative) == n_topics
    assert not new.topics.flags.writeable


def test_every_operation_keeps_the_null_topic_in_row_0(operation):
    new = operation(model())
    assert not new.topics[0].any()
    assert new.residuals[0] == 0


def test_every_operation_keeps_word_probabilities_that_sum_to_1(operation):
    new = operation(model())
    P = word_probabilities(VECTORS.matrix, VECTORS.unigram, new.topics, new.residuals)
    np.testing.assert_allclose(P.sum(axis=0), 1, rtol=1e-5)


def test_every_operation_leaves_the_given_model_as_it_was(operation):
    fitted, same = model(), model()
    operation(fitted)
    for name in ("topics", "residuals", "alpha", "mass", "word_counts", "word_documents"):
        np.testing.assert_array_equal(getattr(fitted, name), getattr(same, name))
    assert (fitted.word_mass != same.word_mass).nnz == 0
    assert (fitted.document_mass != same.document_mass).nnz == 0
    assert fitted.labels == same.labels


def test_every_operation_keeps_words_and_topics_in_agreement(operation):
    new = operation(model())
    np.testing.assert_allclose(new.word_mass.sum(axis=0), new.mass, rtol=1e-5)


def test_drop_keeps_the_other_topics_to_the_bit_and_in_order():
    fitted = model()
    new = drop(fitted, [2, 5])
    kept = [0, 1, 3, 4, 6]
    for name in ("topics", "residuals", "alpha", "mass"):
        np.testing.assert_array_equal(getattr(new, name), getattr(fitted, name)[kept])
    assert new.classes == tuple(fitted.classes[k] for k in kept)
    held = fitted.document_mass.toarray()
    np.testing.assert_array_equal(new.document_mass.toarray(), held[:, kept])
    np.testing.assert_array_equal(new.word_documents, fitted.word_documents)


def test_drop_of_nothing_changes_nothing():
    np.testing.assert_array_equal(drop(model(), []).topics, model().topics)


def test_prune_drops_the_topics_below_the_share():
    fitted = model()
    share = fitted.mass / fitted.mass.sum()
    new = prune(fitted, 0.12)
    assert 1 < new.n_topics < fitted.n_topics
    np.testing.assert_array_equal(new.mass[1:], fitted.mass[1:][share[1:] >= 0.12])


def test_merge_adds_mass_and_prior_and_takes_the_weighted_mean():
    fitted = model()
    new = merge(fitted, [(4, 1)])
    assert new.mass[1] == fitted.mass[1] + fitted.mass[4]
    assert new.alpha[1] == fitted.alpha[1] + fitted.alpha[4]
    mean = (fitted.mass[[1, 4]] @ fitted.topics[[1, 4]]) / new.mass[1]
    np.testing.assert_allclose(new.topics[1], mean, rtol=1e-5)
    held = fitted.document_mass.toarray()
    found = new.document_mass.toarray()
    np.testing.assert_allclose(found[:, 1], held[:, 1] + held[:, 4], rtol=1e-6)
    np.testing.assert_array_equal(found[:, 2:], held[:, [2, 3, 5, 6]])
    np.testing.assert_array_equal(new.word_documents, fitted.word_documents)
    np.testing.assert_array_equal(new.topics[2:], fitted.topics[[2, 3, 5, 6]])
    np.testing.assert_array_equal(new.residuals[2:], fitted.residuals[[2, 3, 5, 6]])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_merging_any_groups_conserves_tokens_words_and_priors(group_of):
    fitted = model()
    groups = [[k + 1 for k in range(6) if group_of[k] == group] for group in range(4)]
    new = merge(fitted, [group for group in groups if group])
    assert new.n_topics == 1 + len(set(group_of))
    assert new.mass.sum() == pytest.approx(fitted.mass.sum())
    assert new.alpha.sum() == pytest.approx(fitted.alpha.sum())
    np.testing.assert_allclose(
        new.word_mass.sum(axis=1), fitted.word_mass.sum(axis=1), rtol=1e-5, atol=1e-6
    )


def test_merge_joins_labels_classes_and_documents():
    fitted = relabel(model(), {1: "red", 3: "blue", 2: "red"})
    new = merge(fitted, [(1, 3), (2, 4)])
    assert new.labels[1:3] == ("red + blue", "red")
    assert new.classes[1:3] == ("b", "a")
    assert new.representative[1] == ((1, 0.5), (3, 0.5))
    assert merge(fitted, [(1, 2)]).classes[1] is None


def test_merged_topics_without_tokens_have_the_plain_mean():
    bare = FittedTopics.bare(VECTORS, model().topics, max_norm=7.0)
    new = merge(bare, [(1, 2, 3)])
    np.testing.assert_allclose(new.topics[1], bare.topics[1:4].mean(axis=0), rtol=1e-5)


def test_merging_uses_the_normaliser_of_the_fit():
    fitted = replace(model(), settings={"n_normalizer_words": 20})
    new = merge(fitted, [(1, 2)])
    common = np.argsort(-VECTORS.unigram)[:20]
    weight = VECTORS.unigram[common] / VECTORS.unigram[common].sum()
    total = weight @ np.exp(VECTORS.matrix[common] @ new.topics[1] + new.residuals[1])
    assert total == pytest.approx(1, rel=1e-5)


def test_merge_similar_leaves_no_close_pair():
    new = merge_similar(model(12), 0.3)
    unit = new.topics[1:] / np.linalg.norm(new.topics[1:], axis=1, keepdims=True)
    cosines = unit @ unit.T - 2 * np.eye(len(unit))
    assert new.n_topics < 12
    assert cosines.max() < 0.3


def test_merge_similar_keeps_different_topics():
    assert merge_similar(model(), 0.999).n_topics == 7


@pytest.mark.parametrize("n_topics", range(1, 7))
def test_reduce_gives_the_number_asked_for(n_topics):
    new = reduce(model(), n_topics)
    assert new.n_topics == n_topics + 1  # and the null topic
    assert new.mass.sum() == pytest.approx(model().mass.sum())
    held = [fitted.document_mass.sum(axis=1) for fitted in (new, model())]
    np.testing.assert_allclose(held[0], held[1], rtol=1e-5)


def test_reduce_merges_duplicates_and_empty_topics_first():
    topics = np.array([[0, 0], [1, 0], [0, 1], [1, 0.01], [-1, 0]], np.float32)
    vectors = WordVectors(["a", "b"], [[1, 0], [0, 1]], [1, 1])
    bare = FittedTopics.bare(vectors, topics, max_norm=7.0)
    heavy = replace(bare, mass=np.array([0.0, 50.0, 50.0, 50.0, 0.0]))
    np.testing.assert_allclose(reduce(heavy, 2).topics[1:], [[1, 0.005], [0, 1]], atol=1e-6)


def test_reduce_weighs_a_merged_topic_with_all_its_tokens():
    angles = np.radians([0.0, 4.0, 24.0, 180.0, 203.0])
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vectors = WordVectors(["a", "b"], [[1, 0], [0, 1]], [1, 1])
    bare = FittedTopics.bare(vectors, np.vstack([[0, 0], directions]), max_norm=7.0)
    equal = replace(bare, mass=np.array([0.0, 40.0, 40.0, 40.0, 40.0, 40.0]))
    # 0° and 4° join at 2°. 24° is nearer to it than 180° to 203°, but with 80 tokens it costs more.
    np.testing.assert_allclose(reduce(equal, 3).mass, [0, 80, 40, 80])


def test_relabel_names_some_topics_and_unnames_others():
    named = relabel(model(), {0: "rest", np.int64(3): "x"})
    assert relabel(named, {3: None}).labels == ("rest", *[None] * 6)


def test_concatenate_has_one_null_topic_and_all_others():
    first, second = model(15, seed=3), model(15, seed=4)
    new = concatenate(first, second)
    assert new.n_topics == 29
    np.testing.assert_array_equal(new.topics[15:], second.topics[1:])
    np.testing.assert_array_equal(new.residuals[1:15], first.residuals[1:])
    assert new.mass[0] == first.mass[0] + second.mass[0]
    assert new.alpha[0] == (first.alpha[0] + second.alpha[0]) / 2
    np.testing.assert_array_equal(new.word_counts, first.word_counts + second.word_counts)
    having = first.word_documents + second.word_documents
    np.testing.assert_array_equal(new.word_documents, having)
    held, one, other = (m.document_mass.toarray() for m in (new, first, second))
    np.testing.assert_array_equal(held[:, 15:], other[:, 1:])
    np.testing.assert_array_equal(held[:, 1:15], one[:, 1:])
    np.testing.assert_allclose(held[:, 0], one[:, 0] + other[:, 0], rtol=1e-6)


def test_concatenate_numbers_documents_of_all_models_in_one_row():
    new = concatenate(model(3), model(3), model(3))
    assert new.n_documents == 30
    assert new.representative[-1] == ((22, 0.5), (29, 0.2))


def test_concatenate_keeps_the_settings_on_which_all_agree():
    assert dict(concatenate(model(seed=1), model(seed=2)).settings) == {"solver": "newton"}


def test_concatenate_of_one_model_is_that_model():
    np.testing.assert_array_equal(concatenate(model()).alpha, model().alpha)


def test_concatenate_takes_equal_vectors_for_the_same():
    assert concatenate(model(), model(vectors=vectors_of())).n_topics == 13


def test_concatenate_refuses_models_on_other_vectors():
    with pytest.raises(
        VocabularyMismatch, match=r"models 1 and 2: .* differ; fit both .*vectors=model.vectors_"
    ):
        concatenate(model(), model(vectors=vectors_of(5)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fitted: drop(fitted, [0]), "null topic"),
        (lambda fitted: drop(fitted, [7]), "topics 1 to 6"),
        (lambda fitted: drop(fitted, [-1]), "topics 1 to 6"),
        (lambda fitted: drop(fitted, ["1"]), "as int"),
        (lambda fitted: drop(fitted, [True]), "as int"),
        (lambda fitted: drop(fitted, range(1, 7)), "keep at least one"),
        (lambda fitted: prune(fitted, 1.5), "between 0 and 1"),
        (lambda fitted: prune(fitted, 0.9), "keep at least one"),
        (lambda fitted: prune(replace(fitted, mass=np.zeros(7)), 0.1), "no document"),
        (lambda fitted: merge(fitted, [(1, 2), (2, 3)]), r"\[2\] are in two"),
        (lambda fitted: merge(fitted, [(0, 2)]), "null topic"),
        (lambda fitted: merge_similar(fitted, 2.0), "min_cosine"),
        (lambda fitted: reduce(fitted, 0), "between 1"),
        (lambda fitted: reduce(fitted, 7), "model's 6"),
        (lambda fitted: relabel(fitted, {1: 5}), "str or None"),
        (lambda fitted: relabel(fitted, {9: "x"}), "topics"),
        (lambda fitted: concatenate(), "at least one model"),
        (
            lambda fitted: concatenate(fitted, replace(fitted, settings={"n_normalizer_words": 5})),
            "n_normalizer_words",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(call, message):
    with pytest.raises(DataError, match=message):
        call(model())


def test_prune_below_nothing_keeps_all():
    fitted = model()
    assert prune(fitted, 0).n_topics == fitted.n_topics


def test_topics_that_score_just_enough_are_joined():
    vectors = WordVectors(["a", "b"], np.eye(2), [1, 1])
    twins = FittedTopics.bare(
        vectors, np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), max_norm=7.0
    )
    twins = replace(twins, mass=np.ones(4))
    assert _join(twins, 1, 1.0, weighted=False).tolist() == [0, 1, 1, 3]

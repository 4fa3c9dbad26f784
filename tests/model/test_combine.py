"""Models of separate batches put together."""

import numpy as np
import pytest

from conftest import LETTERS, N_BLOCKS, plant
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.model.combine import match
from topicvec.model.topicvec import TopicVec


def quick(n_topics, vectors, **params):
    return TopicVec(n_topics, vectors, random_state=0, **params)


@pytest.fixture(scope="module")
def large():
    return plant(160)


@pytest.fixture(scope="module")
def halves(large):
    """A model of each half; the first has never seen block 3, the second not block 0."""
    pairs = list(zip(large.documents, large.blocks, strict=True))
    parts = [[t for t, b in pairs[:80] if b != 3], [t for t, b in pairs[80:] if b != 0]]
    return [quick(3, large.vectors).fit(part) for part in parts]


def recovered(planted, model):
    """Give the share of the ten best words of topics that are of their block, for each block."""
    found = np.zeros(N_BLOCKS)
    for topic in model.topics_:
        blocks = [planted.block_of(word) for word, _ in topic.words[:10]]
        for block in range(N_BLOCKS):
            found[block] = max(found[block], blocks.count(block) / 10)
    return found


def purity(planted, model):
    main = model.transform(planted.documents).argmax(axis=1)
    best = [np.bincount(main[planted.blocks == block]).max() for block in range(N_BLOCKS)]
    usual = {int(np.bincount(main[planted.blocks == block]).argmax()) for block in range(N_BLOCKS)}
    return sum(best) / len(main) * len(usual) / N_BLOCKS


def test_halves_together_recover_the_topics_as_a_fit_on_all_and_one_half_does_not(large, halves):
    both, whole = TopicVec.combine(halves), quick(4, large.vectors).fit(large.documents)
    assert both.n_topics_ == 4  # six side by side
    assert halves[0].concatenate(halves[1]).n_topics_ == 6
    assert recovered(large, both).min() >= recovered(large, whole).min() - 0.1
    assert recovered(large, halves[0]).min() < 0.5
    assert purity(large, both) == 1.0
    assert both.score(large.documents) > whole.score(large.documents) - 0.05
    assert max(half.score(large.documents) for half in halves) < both.score(large.documents)


def test_statistics_add(halves):
    both, parts = TopicVec.combine(halves).fitted_, [half.fitted_ for half in halves]
    assert both.n_documents == sum(part.n_documents for part in parts)
    for name in ("word_counts", "word_documents"):
        added = getattr(parts[0], name) + getattr(parts[1], name)
        np.testing.assert_allclose(getattr(both, name), added)
    total = sum(part.word_mass.sum(axis=1) for part in parts)
    np.testing.assert_allclose(both.word_mass.sum(axis=1), total, rtol=1e-5)
    assert both.mass.sum() == pytest.approx(sum(part.mass.sum() for part in parts))
    assert both.alpha.sum() == pytest.approx(np.mean([part.alpha.sum() for part in parts]), rel=0.1)
    assert max(row for best in both.representative for row, _ in best) >= parts[0].n_documents


def test_topics_that_match_none_keep_their_bits(halves):
    both = TopicVec.combine(halves)
    alone = [(k, parts[0]) for k, parts in enumerate(both.sources_) if len(parts) == 1]
    assert len(alone) == 2
    for k, (i, row) in alone:
        np.testing.assert_array_equal(both.topic_vectors_[k], halves[i].topic_vectors_[row])


def test_one_model_comes_back_unchanged(large, halves):
    again = TopicVec.combine(halves[:1])
    texts = large.documents
    np.testing.assert_array_equal(again.transform(texts), halves[0].transform(texts))
    assert again is not halves[0]


def test_the_order_of_models_changes_only_the_order_of_topics(large, halves):
    third = quick(2, large.vectors).fit([t for t in large.documents if t[0][0] in "ad"])
    one, other = TopicVec.combine([*halves, third]), TopicVec.combine([third, *halves[::-1]])
    place = {frozenset((2 - i, k) for i, k in row): n for n, row in enumerate(other.sources_)}
    order = [place[frozenset(row)] for row in one.sources_]
    np.testing.assert_array_equal(one.topic_vectors_, other.topic_vectors_[order])
    np.testing.assert_array_equal(one.fitted_.mass, other.fitted_.mass[order])
    again = TopicVec.combine([*halves, third])
    np.testing.assert_array_equal(one.topic_vectors_, again.topic_vectors_)


def test_a_combined_model_is_saved_shown_and_goes_on_learning(large, halves, tmp_path):
    both = TopicVec.combine(halves)
    both.save(tmp_path / "both")
    loaded = TopicVec.load(tmp_path / "both")
    texts = large.documents[:9]
    np.testing.assert_array_equal(loaded.transform(texts), both.transform(texts))
    more = loaded.partial_fit(large.documents[:20])
    assert more.fitted_.n_documents == both.fitted_.n_documents + 20
    assert len(more.topics_) == 5


def test_words_of_all_models_are_known_and_shared_ones_are_averaged(large):
    vectors, cut = large.vectors, {word for word in large.vectors.words if word[1] in "ab"}
    parts = []
    for number, letter in enumerate("ab"):
        words = [word for word in vectors.words if word not in cut or word[1] == letter]
        rows = vectors.find(words)
        some = WordVectors(words, vectors.matrix[rows] + 0.01 * number, vectors.unigram[rows])
        texts = [[w for w in t if w in some] for t in large.documents[80 * number :][:80]]
        parts.append(quick(4, some).fit(texts))
    both = TopicVec.combine(parts)
    assert set(both.vocabulary_) == set(vectors.words)
    assert both.n_topics_ >= 4
    shift = both.vectors_["aaxy"] - vectors["aaxy"]
    np.testing.assert_allclose(shift, 0, atol=1e-6)
    assert 0 < (both.vectors_["acxy"] - vectors["acxy"]).mean() < 0.01
    assert purity(large, both) > 0.9


def test_vectors_that_texts_taught_alone_are_compared_by_what_they_say():
    rng = np.random.default_rng(0)
    names = [[f"{block}{word}ox" for word in LETTERS[:12]] for block in LETTERS[:4]]
    texts = [list(rng.choice(names[i % 4], 30)) for i in range(200)]
    parts = [TopicVec(4, "corpus", random_state=0).fit(half) for half in (texts[:100], texts[100:])]
    both = TopicVec.combine(parts)
    assert both.n_topics_ == 4
    main = both.transform(texts).argmax(axis=1).reshape(-1, 4)
    assert (main == main[0]).mean() > 0.95
    assert len(set(main[0].tolist())) == 4


def test_adapted_vectors_become_one_space_and_are_saved(tmp_path):
    rng = np.random.default_rng(1)
    names = [
        ["rain", "wind", "storm", "cloud", "snow", "weather", "zorblax", "ice"],
        ["bank", "money", "credit", "loan", "quixelor", "debt", "market", "price"],
        ["dog", "cat", "horse", "cow", "sheep", "vimblor", "bird", "pig"],
    ]
    texts = [list(rng.choice(names[i % 3], 100)) for i in range(240)]
    parts = [TopicVec(3, random_state=0).fit(half) for half in (texts[:120], texts[120:])]
    assert parts[0].vectors_ != parts[1].vectors_
    both = TopicVec.combine(parts)
    assert both.n_topics_ == 3
    assert "zorblax" in both.vectors_
    main = both.transform(texts).argmax(axis=1).reshape(-1, 3)
    assert (main == main[0]).mean() > 0.95
    whole = TopicVec(3, random_state=0).fit(texts)
    assert both.score(texts) > whole.score(texts) - 0.15
    both.save(tmp_path / "both")
    loaded = TopicVec.load(tmp_path / "both")
    np.testing.assert_array_equal(loaded.transform(texts[:6]), both.transform(texts[:6]))
    loaded.partial_fit([["rain", "wind", "plumfrix", "plumfrix"]] * 3)
    assert "plumfrix" in loaded.vectors_


def test_classes_are_not_mixed(large):
    texts = large.documents[:40]
    one, other = (
        quick(1, large.vectors, share="class").fit(texts, [name] * 40) for name in ("red", "blue")
    )
    assert TopicVec.combine([one, other]).fitted_.classes == (None, "red", "blue")


def test_pairs_are_one_to_one_and_heavy_ones_count_more():
    P = np.array([[0.6, 0.4], [0.4, 0.6]])
    assert match(P, P, np.ones((2, 2)), 0.5).tolist() == [0, 1]
    assert match(P, P[:, :1], np.array([[0.1], [9.0]]), 0.5).tolist() == [-1, 0]


def test_what_cannot_be_combined_is_refused_with_a_reason(large, halves):
    rng = np.random.default_rng(0)
    n = len(large.vectors)
    flat = WordVectors(large.vectors.words, rng.normal(size=(n, 3)), np.ones(n))
    turned = WordVectors(large.vectors.words, rng.normal(size=(n, 12)), np.ones(n))
    others = [quick(2, each).fit(large.documents[:30]) for each in (flat, turned)]
    for models, message in [
        ([], "at least one"),
        (5, "found int"),
        ([halves[0], "a"], "found str"),
        ([halves[0], quick(3, large.vectors, stop_words=None).fit(large.documents)], "stop_words"),
    ]:
        with pytest.raises(DataError, match=message):
            TopicVec.combine(models)
    with pytest.raises(DataError, match="min_similarity"):
        TopicVec.combine(halves, min_similarity=2)
    with pytest.raises(ValueError, match="call fit first"):
        TopicVec.combine([TopicVec(3)])
    for other, message in zip(others, ("dimensions", "point elsewhere"), strict=True):
        with pytest.raises(VocabularyMismatch, match=message):
            TopicVec.combine([halves[0], other])

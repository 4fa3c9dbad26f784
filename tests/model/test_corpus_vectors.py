"""Vectors from the documents alone: any language, saved with the model."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec.errors import DataError
from topicvec.model import choose_n_topics
from topicvec.model.counts import corpus_vectors
from topicvec.model.topicvec import TopicVec

SUBJECTS = [
    "gatto cane coniglio criceto veterinario zampa",
    "mare spiaggia onda vela scoglio marea",
    "treno binario stazione biglietto vagone ritardo",
]
FILLER = "molto sempre anche ancora"


def texts(n_each=40, seed=0):
    """Documents of a subject each, in a language that the general vectors do not know."""
    rng = np.random.default_rng(seed)
    subjects = [subject.split() for subject in SUBJECTS]
    found = [
        " ".join(rng.permutation([*rng.choice(words, 8), *rng.choice(FILLER.split(), 3)]))
        for words in subjects
        for _ in range(n_each)
    ]
    return found, np.repeat(range(len(SUBJECTS)), n_each)


def fit(**params):
    documents, subjects = texts()
    model = TopicVec(4, "corpus", random_state=0, **params).fit(iter(documents))
    return model, documents, subjects


def test_topics_of_another_language_are_found():
    model, _, subjects = fit()
    main = model.doc_topic_[:, 1:].argmax(axis=1)
    for subject in range(3):
        assert len(set(main[subjects == subject])) == 1
    assert len(set(main)) == 3
    assert set(model.vocabulary_) == {*" ".join(SUBJECTS).split(), *FILLER.split()}
    assert not model.unknown_words_


def test_the_same_bits_for_any_number_of_workers():
    first, other = fit(n_jobs=1)[0], fit(n_jobs=2)[0]
    assert first.vectors_ == other.vectors_
    assert np.array_equal(first.topic_vectors_, other.topic_vectors_)


def test_a_saved_model_brings_its_vectors(tmp_path):
    model, documents, _ = fit()
    model.save(tmp_path / "model.topicvec")
    loaded = TopicVec.load(tmp_path / "model.topicvec")
    assert loaded.vectors_ == model.vectors_
    assert np.array_equal(loaded.transform(documents), model.transform(documents))


def test_later_batches_keep_the_vectors_of_the_first():
    documents, _ = texts()
    model = TopicVec(4, "corpus", random_state=0).partial_fit(documents[::2])
    vectors = model.vectors_
    assert model.partial_fit(documents[1::2]).vectors_ is vectors


def test_numbers_of_topics_are_tried_on_the_same_vectors():
    documents, _ = texts()
    choice = choose_n_topics(
        documents, [2, 4], model=TopicVec(vectors="corpus", tol=1e-2), random_state=0
    )
    assert choice.best == 4


def test_stop_words_get_no_vector():
    documents, _ = texts()
    found = corpus_vectors(documents, stop_words=FILLER.split())
    assert set(found.words) == set(" ".join(SUBJECTS).split())


def test_general_is_the_default():
    general, default = (TopicVec(2, vectors, random_state=0) for vectors in ("general", None))
    text = ["rain and wind and snow and sun"]
    assert general.fit(text).vectors_ is default.fit(text).vectors_


def test_too_little_text_is_refused_with_advice():
    with pytest.raises(DataError, match=r"found 0: use vectors='general'"):
        TopicVec(3, "corpus").fit(["one short article about rain"])


def test_counts_have_no_neighbours():
    with pytest.raises(DataError, match="learned from texts or token lists"):
        TopicVec(3, "corpus").fit(csr_array([[1, 2]]))

import numpy as np
import pytest

from topicvec import TopicVec, WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.measure.heldout import document_completion, held_out_perplexity, split_tokens
from topicvec.model.inference import completion_score


class TwoTopics:
    """A model whose every number can be worked out by hand."""

    words_ = ("a", "b", "c", "d")
    topic_word_ = np.array([[0.5, 0.25, 0.125, 0.125], [0.0, 0.25, 0.5, 0.25]])

    def transform(self, documents):
        return np.array([[0.5, 0.5] if "c" in document else [1.0, 0.0] for document in documents])


def test_perplexity_by_hand():
    found = held_out_perplexity(TwoTopics(), [["a", "a", "b"], ["c", "yak"], ["yak"]])
    logs = np.log([0.5, 0.5, 0.25, (0.125 + 0.5) / 2])
    assert found.log_probability == pytest.approx(logs.mean())
    assert found.perplexity == pytest.approx(np.exp(-logs.mean()))
    assert (found.n_tokens, found.n_documents) == (4, 2)


def test_topics_are_normalised_over_the_vocabulary_of_the_comparison():
    found = held_out_perplexity(TwoTopics(), [["a", "b", "d"]], vocabulary=["b", "a"])
    assert found.log_probability == pytest.approx(np.log([2 / 3, 1 / 3]).mean())
    assert found.n_tokens == 2


def test_completion_takes_the_mixture_from_one_part_and_scores_the_other():
    documents = [["a", "b"], ["c", "d"]] * 10
    known, held_out = split_tokens(documents, 0.5, 3)
    model = TwoTopics()
    logs = [
        np.log(model.transform([k])[0] @ model.topic_word_[:, model.words_.index(h[0])])
        for k, h in zip(known, held_out, strict=True)
    ]
    found = document_completion(model, documents, random_state=3)
    assert found.log_probability == pytest.approx(np.mean(logs))
    assert found.n_tokens == 20


def test_a_split_keeps_every_token_once_and_depends_on_the_seed():
    documents = [[f"w{i}" for i in range(n)] for n in (2, 3, 10, 101)]
    known, held_out = split_tokens(documents, 0.3, 0)
    for before, kept, out in zip(documents, known, held_out, strict=True):
        assert sorted(kept + out) == sorted(before)
        assert kept
        assert out
    assert [len(out) for out in held_out] == [1, 1, 3, 30]
    assert split_tokens(documents, 0.3, 0) == (known, held_out)
    assert split_tokens(documents, 0.3, 1) != (known, held_out)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    vectors = WordVectors(words, rng.normal(size=(30, 4)), rng.random(30) + 0.1)
    documents = [[words[i] for i in rng.integers(0, 10, 12) + 10 * (n % 3)] for n in range(60)]
    model = TopicVec(3, vectors, random_state=0, stop_words=None, n_jobs=1).fit(documents)
    return model, documents


def test_topicvec_is_scored_as_its_own_inference_does(fitted):
    model, documents = fitted
    known, held_out = split_tokens(documents, 0.5, 1)
    counts = [model._count(part).counts for part in (known, held_out)]
    expected = completion_score(model.fitted_, *counts, LocalEngine(1))
    found = document_completion(model, documents, random_state=1)
    assert found.log_probability == pytest.approx(expected, rel=1e-5)


def test_topics_foretell_better_than_single_words(fitted):
    model, documents = fitted
    counts = np.bincount([int(word[1:]) for row in documents for word in row], minlength=30)
    alone = counts[counts > 0] / counts.sum()
    assert document_completion(model, documents).log_probability > (alone @ np.log(alone))


def test_bad_arguments_are_refused():
    model = TwoTopics()
    with pytest.raises(DataError, match="1 words that the model does not know, 'yak' among them"):
        held_out_perplexity(model, [["a"]], vocabulary=["a", "yak"])
    with pytest.raises(DataError, match="found a str"):
        held_out_perplexity(model, ["a b"])
    with pytest.raises(DataError, match="nothing to foretell"):
        document_completion(model, [["a"]])
    with pytest.raises(DataError, match="share must be between"):
        document_completion(model, [["a", "b"]], share=1.0)
    model.topic_word_ = model.topic_word_ * [1, 0, 1, 1]
    with pytest.raises(DataError, match="probability 0"):
        held_out_perplexity(model, [["b"]])

"""What fixed topics say about documents."""

import numpy as np
import pytest
from oracles import bound_short
from scipy.sparse import csr_array

from topicvec.engine import LocalEngine
from topicvec.errors import DataError, OutOfVocabularyWarning
from topicvec.model.counts import DocumentCounter
from topicvec.model.equations import logits
from topicvec.model.inference import document_masses, infer, word_masses
from topicvec.model.topicvec import TopicVec


def quick(*args, **params):
    """A model with a coarse tolerance."""
    return TopicVec(*args, **{"tol": 1e-3, **params})


@pytest.fixture(scope="module")
def model(planted):
    return quick(4, planted.vectors, random_state=0).fit(planted.documents)


@pytest.fixture(scope="module")
def paper(planted):
    """Topics whose words are what their vectors say."""
    return quick(4, planted.vectors, random_state=0, own_words=False).fit(planted.documents)


def test_proportions_sum_to_1(planted, model):
    proportions = model.transform(planted.texts)
    assert proportions.sum(axis=1) == pytest.approx(1)
    assert (proportions > 0).all()


def test_a_document_without_known_words_gets_the_prior_mean_and_is_reported(planted, model):
    with pytest.warns(OutOfVocabularyWarning, match=r"1 of 2 documents have no known word.*row 1"):
        proportions = model.transform([planted.texts[0], "unheard of"])
    assert proportions[1] == pytest.approx(model.alpha_ / model.alpha_.sum())


def test_a_document_gets_the_same_mixture_alone_and_in_company(planted, model):
    together = model.transform(planted.texts)
    alone = np.vstack([model.transform([text]) for text in planted.texts])
    assert alone == pytest.approx(together, abs=1e-9)


def test_expected_counts_sum_to_the_known_tokens(planted, model):
    lengths = [len(tokens) for tokens in planted.documents]
    assert model.expected_counts(planted.texts).sum(axis=1) == pytest.approx(lengths, rel=1e-5)
    one_pass = model.expected_counts(planted.texts, prior=False)
    assert one_pass.sum(axis=1) == pytest.approx(lengths, rel=1e-5)


def scores_of(model, rows):
    """log P(w|k) − log u_w of words, in the long way and from all words of the model."""
    fitted = model.fitted_
    scores = logits(fitted.vectors.matrix.astype(float), fitted.topics, fitted.residuals)
    own = np.isfinite(fitted.pseudo)
    C, m = fitted.word_mass.toarray().astype(float)[:, own], fitted.pseudo[own]
    P = fitted.vectors.unigram[:, None] * np.exp(scores[:, own])
    mixed = (C + m * P) / (C.sum(axis=0) + m)
    scores[:, own] = np.log(mixed / fitted.vectors.unigram[:, None])
    return scores[rows]


@pytest.mark.parametrize("kind", ["model", "paper"])
def test_a_pass_without_prior_is_a_softmax_for_each_token(planted, request, kind):
    model = request.getfixturevalue(kind)
    rows = [planted.vectors.ids[token] for token in planted.documents[0]]
    scores = scores_of(model, rows)
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    found = model.expected_counts([planted.documents[0]], prior=False)[0]
    assert found == pytest.approx(softmax.sum(axis=0), rel=1e-5)


@pytest.mark.parametrize("prior", [True, False])
def test_square_roots_have_length_1(planted, model, prior):
    with pytest.warns(OutOfVocabularyWarning):
        roots = model.sqrt_proportions([*planted.texts, "unheard"], prior=prior)
    assert np.linalg.norm(roots, axis=1) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["model", "paper"])
def test_the_score_is_the_bound_of_the_equations(planted, request, kind):
    model = request.getfixturevalue(kind)
    fitted = model.fitted_
    text = planted.documents[:1]
    rows, n = np.unique([planted.vectors.ids[token] for token in text[0]], return_counts=True)
    scores = scores_of(model, rows)
    theta = model.expected_counts(text)[0] + fitted.alpha
    bound = bound_short(scores, planted.vectors.unigram[rows], fitted.alpha, theta, n)
    assert model.score(text) == pytest.approx(bound / n.sum(), abs=1e-3)
    assert model.perplexity(text) == pytest.approx(np.exp(-model.score(text)))


def test_a_score_needs_a_known_word(model):
    with pytest.warns(OutOfVocabularyWarning), pytest.raises(DataError, match="at least one known"):
        model.score(["unheard of"])


def test_each_token_gets_its_topic(planted, model):
    text = f"The {planted.texts[0]} unheard"
    records = model.responsibilities(text)
    assert [record.token for record in records] == ["the", *planted.documents[0], "unheard"]
    assert records[0].topic is None
    assert records[-1] == ("unheard", None, 0.0)
    main = int(model.transform([text])[0].argmax())
    own = [record for record in records[1:-1] if planted.block_of(record.token) == 0]
    assert all(record.topic == main and record.probability > 0.5 for record in own)


def test_held_out_documents_score_better_with_the_true_number_of_topics(planted):
    from topicvec.model.selection import choose_n_topics

    choice = choose_n_topics(
        planted.texts, [1, 4], model=quick(vectors=planted.vectors), random_state=0
    )
    assert choice.best == 4
    assert set(choice.scores) == {1, 4}
    assert choice.scores[4] > choice.scores[1]


def test_words_without_a_vector_are_told_when_numbers_are_tried(planted):
    from topicvec.model.selection import choose_n_topics

    model = quick(vectors=planted.vectors)
    with pytest.warns(OutOfVocabularyWarning, match="unheard"):
        choose_n_topics([f"{text} {'unheard ' * 40}" for text in planted.texts], [1], model=model)


def slow_document_masses(documents, proportions, vectors):
    """Documents of each word, and sums of their proportions, one document after the other."""
    n_having = np.zeros(len(vectors))
    sums = np.zeros((len(vectors), proportions.shape[1]))
    for tokens, row in zip(documents, proportions, strict=True):
        for word in set(tokens):
            n_having[vectors.ids[word]] += 1
            sums[vectors.ids[word]] += row
    return n_having, sums


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_document_masses_are_sums_over_the_documents_of_each_word(planted, model, n_jobs):
    engine = LocalEngine(n_jobs)
    documents = planted.documents[:30]
    counts = DocumentCounter().count(documents, planted.vectors).counts
    found = infer(model.fitted_, counts, engine)
    masses = word_masses(found, len(planted.vectors))
    n_having, table = document_masses(found, masses, engine)
    expected, sums = slow_document_masses(documents, found.proportions, planted.vectors)
    np.testing.assert_array_equal(n_having, expected)
    inside = masses.toarray() > 0
    np.testing.assert_allclose(table.toarray(), np.where(inside, sums, 0), rtol=1e-5)
    assert table.dtype == np.float32
    assert inside.sum() < inside.size  # some words are in some topics only


def test_a_fit_has_the_document_masses_of_its_training_documents(planted, model):
    fitted = model.fitted_
    expected, sums = slow_document_masses(planted.documents, model.doc_topic_, planted.vectors)
    np.testing.assert_array_equal(fitted.word_documents, expected)
    inside = fitted.word_mass.toarray() > 0
    found = fitted.document_mass.toarray()
    np.testing.assert_allclose(found, np.where(inside, sums, 0), rtol=1e-4, atol=1e-6)
    assert (found.sum(axis=1) <= expected + 1e-4).all()


def test_documents_without_known_words_have_no_document_masses(planted, model):
    counts = DocumentCounter().count([["unheard"]], planted.vectors).counts
    found = infer(model.fitted_, counts, LocalEngine(1))
    masses = word_masses(found, len(planted.vectors))
    n_having, table = document_masses(found, masses, LocalEngine(1))
    assert not n_having.any()
    assert table.nnz == 0


def test_documents_of_seeds_and_of_classes_are_not_counted_twice(planted):
    expected, _ = slow_document_masses(planted.documents, np.zeros((60, 1)), planted.vectors)
    seeded = quick(4, planted.vectors, seed_words=[["aaxy", "abxy"]], random_state=0)
    by_class = quick(2, planted.vectors, random_state=0, share="class")
    seeded.fit(planted.documents)
    by_class.fit(planted.documents, planted.classes)
    for model in (seeded, by_class):
        np.testing.assert_array_equal(model.fitted_.word_documents, expected)
        assert model.fitted_.document_mass.shape == model.fitted_.word_mass.shape


def test_no_documents_have_no_mixtures(model):
    nothing = csr_array((0, len(model.vectors_)))
    found = infer(model.fitted_, nothing, LocalEngine(1))
    assert (found.n_tokens, found.bound, len(found.words)) == (0, 0, 0)

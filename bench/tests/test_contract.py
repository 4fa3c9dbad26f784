"""One contract for all compared methods, and what is special about each."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone

from topicvec.embed import WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.measure.heldout import WordTopics, document_completion
from topicvec.model.inference import word_distributions
from topicvec.represent.documents import count_words
from topicvec_bench.base import Baseline, TopicBaseline
from topicvec_bench.classify import classify
from topicvec_bench.mixtures import class_likelihoods, settled_shares, topics_of
from topicvec_bench.registry import METHODS, find_method, make, names
from topicvec_bench.simple import MeanVectors
from topicvec_bench.topicvec import TopicVecFeatures

ROLES = ("features", "topics")
READ_TEXTS = {
    "BERTopic",
    "BERTopicKMeans",
    "FASTopic",
    "KeyNMF",
    "Top2Vec",
}  # as well as token lists
NO_PROPORTIONS = {"TWE", "TWE2", "TWE3", "KeyNMF", "Top2Vec"}  # features, or weights of words

# small and quick, for the 80 planted documents
QUICK = {
    "LDA": {"n_topics": 6, "n_passes": 10},
    "LDA, advised": {"n_topics": 6, "n_passes": 10},
    "LDA-Gibbs": {"n_topics": 6, "n_sweeps": 100, "n_inference_sweeps": 20},
    "PLSA": {"n_topics": 6},
    "ReplicatedSoftmax": {"n_hidden": 12, "n_epochs": 60, "batch_size": 10},
    "DocNADE": {"n_hidden": 12, "n_epochs": 60},
    "sLDA": {"n_topics": 6, "n_initial": 20, "n_iter": 10},
    "LFTM": {"n_topics": 6, "n_initial": 20, "n_iter": 5},
    "LF-DMM": {"n_topics": 6, "n_initial": 20, "n_iter": 5},
    "TWE": {"n_topics": 6, "n_dims": 20, "n_epochs": 5, "n_iter": 40},
    "TWE-2": {"n_topics": 6, "n_dims": 20, "n_iter": 40},
    "TWE-3": {"n_topics": 6, "n_dims": 20, "n_iter": 40},
    "GaussianLDA": {"n_topics": 6, "n_dims": 5, "n_iter": 10},
    "ETM": {"n_topics": 6, "n_epochs": 20},
    "BERTopic": {"n_topics": 6},
    "BERTopic (k-means)": {"n_topics": 6},
    "FASTopic": {"n_topics": 6, "n_epochs": 20},
    "KeyNMF": {"n_topics": 6},
    "Top2Vec": {"n_topics": 6, "min_count": 1},
    "Doc2Vec": {"n_dims": 20, "n_epochs": 40},
    "LDA (scikit-learn)": {"n_topics": 6, "max_iter": 50},
    "NMF (scikit-learn)": {"n_topics": 6},
    **{
        name: {"n_topics": 3, "options": {"tol": 1e-2}}
        for name in (
            "TopicVec",
            "TV+MeanWV",
            "TopicVec, square roots",
            "TopicVec, default",
            "TopicVec, likelihoods",
            "own-words",
            "own-words+MeanWV",
        )
    },
    "random groups": {"n_topics": 3},
    "random groups, likelihoods": {"n_topics": 3},
    "TopicVec, supervised": {"n_topics": 3},
    "random groups, supervised": {"n_topics": 3},
    "TopicVec on PSDVec": {"n_topics": 3, "n_dims": 10, "options": {"tol": 1e-2}},
    "TopicVec on word2vec": {"n_topics": 3, "n_dims": 10, "n_epochs": 60},
    "TopicVec on GloVe": {"n_topics": 3, "n_dims": 10, "n_epochs": 30},
    "TopicVec on PPMI": {"n_topics": 3, "n_dims": 30, "options": {"tol": 1e-2}},
    "TopicVec on SVD": {"n_topics": 3, "n_dims": 10, "options": {"tol": 1e-2}},
    "TopicVec on NNLM": {"n_topics": 3, "n_dims": 10, "n_epochs": 60},
    "TopicVec on Huang": {"n_topics": 3, "n_dims": 10, "n_epochs": 60},
    "TMD kNN": {"n_topics": 6},
}


def quick(name, vectors=None, seed=0, role="features"):
    method = find_method(name, role)
    params = QUICK.get(method.name, {})
    if (method.name, role) == ("TopicVec", "topics"):
        params = {"n_topics": 6}
    return make(name, role, vectors=vectors, random_state=seed, n_jobs=1, **params)


def dense(features):
    return features.toarray() if issparse(features) else np.asarray(features)


ROWS = [(role, name) for role in ROLES for name in names(role)]


@pytest.fixture(scope="session", params=ROWS, ids=[f"{role} {name}" for role, name in ROWS])
def fitted(request, planted):
    """Every class of the registry that can run here."""
    role, name = request.param
    if needs := find_method(name, role).needs:
        pytest.importorskip(needs, reason=f"{name} needs {needs}")
    train = planted.train
    return quick(name, planted.vectors, role=role).fit(train.documents, train.labels)


def test_every_method_has_a_role_and_says_what_it_is():
    for method in METHODS.values():
        assert method.features or method.topics
        assert method.about.endswith(".")
        assert bool(method.extra) <= bool(method.needs)


@pytest.mark.parametrize("role", ROLES)
def test_every_class_of_the_registry_keeps_to_its_contract(role):
    for name in names(role):
        kind = find_method(name, role).load(role)
        assert issubclass(kind, TopicBaseline if role == "topics" else Baseline)
    if role == "topics":  # whose seeds, numbers and columns are asked for
        assert all(find_method(name, role).is_random(role) for name in names(role))
        assert all(make(name, role, n_topics=7).n_topics == 7 for name in names(role))


def test_features_have_a_row_for_each_document(fitted, planted):
    features = fitted.transform(planted.test.documents)
    assert features.shape[0] == len(planted.test.documents)
    assert np.isfinite(dense(features)).all()


def test_features_of_new_documents_tell_their_class(fitted, planted):
    train, test = planted.train, planted.test
    own, other = fitted.transform(train.documents), fitted.transform(test.documents)
    score = classify(own, train.labels, other, test.labels, "strong")
    assert score.accuracy > 90


def test_describing_twice_gives_the_same_features(fitted, planted):
    documents = planted.test.documents[:4]
    together, again = fitted.transform(documents), fitted.transform(documents)
    assert np.array_equal(dense(together), dense(again))


@pytest.mark.filterwarnings("ignore::topicvec.errors.OutOfVocabularyWarning")
def test_unknown_words_and_empty_documents_are_no_reason_to_fail(fitted):
    features = dense(fitted.transform([["qqqzzz"], []]))
    assert features.shape[0] == 2
    assert np.isfinite(features).all()


def test_fitting_again_gives_the_same_bits(fitted, planted):
    train, test = planted.train, planted.test
    again = clone(fitted).fit(train.documents, train.labels)
    first, second = (dense(model.transform(test.documents)) for model in (fitted, again))
    assert first.tobytes() == second.tobytes()


def test_parameters_and_input_stay_as_they_were_given(fitted, planted):
    documents = [tuple(tokens) for tokens in planted.test.documents[:3]]  # cannot be changed
    before = repr(fitted.get_params())
    fitted.transform(documents)
    assert repr(fitted.get_params()) == before


def test_topics_have_words(fitted, planted):
    if not isinstance(fitted, TopicBaseline):
        pytest.skip("not a topic model")
    known = {word for document in planted.train.documents for word in document}
    topics = fitted.topic_words(5)
    assert len(topics) >= 4
    assert all(len(words) <= 5 and set(words) <= known for words in topics)
    assert len({word for words in topics for word in words}) > 10


def test_topics_are_distributions_that_foretell_words(fitted, planted):
    if not isinstance(fitted, WordTopics) or type(fitted).__name__ in NO_PROPORTIONS:
        pytest.skip("no table of topics and words, or one that is no probabilities")
    documents = planted.test.documents
    assert fitted.topic_word_.shape[1] == len(fitted.words_)
    assert document_completion(fitted, documents).perplexity < len(planted.vectors)


def test_texts_are_refused(fitted):
    if type(fitted).__name__ in READ_TEXTS:
        pytest.skip("reads texts")
    with pytest.raises(DataError, match="token lists"):
        fitted.transform(["a text"])
    with pytest.raises(DataError, match="at least one"):
        clone(fitted).fit([])


def test_another_seed_gives_other_features(planted):
    train, test = planted.train, planted.test
    for name in ("LDA-Gibbs", "TopicVec"):
        pytest.importorskip("tomotopy")
        features = [
            quick(name, planted.vectors, seed)
            .fit(train.documents, train.labels)
            .transform(test.documents)
            for seed in (0, 1)
        ]
        assert not np.allclose(*features)


def test_doc2vec_does_not_depend_on_pythons_hash(planted, monkeypatch):
    gensim = pytest.importorskip("gensim.models.doc2vec")
    monkeypatch.setattr(gensim, "pseudorandom_weak_vector", lambda *_, **__: pytest.fail("hash"))
    quick("Doc2Vec").fit(planted.train.documents).transform(planted.test.documents)


def test_doc2vec_without_a_frequent_word_is_refused():
    pytest.importorskip("gensim")
    with pytest.raises(DataError, match="min_count"):
        make("Doc2Vec").fit([["cat"]])


def test_mean_vectors_count_each_token():
    vectors = WordVectors(["cat", "dog"], [[3.0, 0.0], [0.0, 3.0]], [1, 1])
    found = MeanVectors(vectors).fit([["cat"]]).transform([["cat", "cat", "dog"]])
    assert found.tolist() == [[2.0, 1.0]]


def test_topics_of_each_class_share_one_null_topic(planted):
    train = planted.train
    model = quick("TopicVec", planted.vectors).fit(train.documents, train.labels)
    assert model.transform(train.documents).shape[1] == 4 * 3 - 3
    without = quick("TopicVec", planted.vectors).fit(train.documents)
    assert without.transform(train.documents).shape[1] == 3


def features_of(planted, documents=None, **params):
    train = planted.train
    model = TopicVecFeatures(3, planted.vectors, options={"tol": 1e-2}, **params)
    return model.fit(train.documents, train.labels).transform(documents or train.documents)


def test_the_papers_features_are_the_posterior_after_one_e_step(planted):
    train = planted.train
    model = TopicVecFeatures(3, planted.vectors, options={"tol": 1e-2})
    found = model.fit(train.documents, train.labels).transform(train.documents)
    fitted, ids = model.model_.fitted_, planted.vectors.ids
    logits = fitted.vectors.matrix @ fitted.topics.T + fitted.residuals
    for tokens, row in zip(train.documents, found, strict=True):
        exponent = logits[[ids[word] for word in tokens]]
        pi = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        theta = 0.1 + (pi / pi.sum(axis=1, keepdims=True)).sum(axis=0)
        assert np.allclose(row, theta / theta.sum(), atol=1e-5)


def test_square_roots_are_of_the_papers_features(planted):
    assert np.allclose(features_of(planted, form="square roots") ** 2, features_of(planted))


def test_mixtures_that_settle_are_those_of_the_model(planted):
    train = planted.train
    model = TopicVecFeatures(3, planted.vectors, options={"tol": 1e-2}, n_passes=None)
    found = model.fit(train.documents, train.labels).transform(train.documents)
    assert np.allclose(found, model.model_.transform(train.documents))


@pytest.mark.parametrize("wrong", [{"form": "log"}, {"n_passes": 2}])
def test_an_unknown_form_is_refused(planted, wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        features_of(planted, **wrong)


def test_both_kinds_of_features_stand_side_by_side(planted):
    documents = planted.train.documents
    means = MeanVectors(planted.vectors).fit(documents).transform(documents)
    both = features_of(planted, with_mean=True)
    assert np.allclose(both[:, 9:], means)
    assert np.array_equal(both[:, :9], features_of(planted))


@pytest.mark.parametrize("form", ["proportions", "likelihoods"])
def test_topics_with_own_words_do_not_know_their_training_documents_better(planted, form):
    """A word that one document alone has gives its class away only to topics that counted it."""
    train = planted.train
    rare = [f"only{row}" for row in range(len(train.documents))]
    documents = [[*tokens, *[word] * 8] for tokens, word in zip(train.documents, rare, strict=True)]
    matrix = np.vstack([planted.vectors.matrix, np.zeros((len(rare), 6))])
    words = [*planted.vectors.words, *rare]
    vectors = WordVectors(words, matrix, np.ones(len(words)))
    options = {"tol": 1e-2, "own_words": 50.0}
    model = TopicVecFeatures(3, vectors, form=form, n_passes=None, options=options)
    unseen = model.fit_transform(documents, train.labels)
    seen = model.transform(documents)
    classes = np.array([str(name) for name in model.model_.fitted_.classes])
    own = train.labels[:, None] == (classes if form == "proportions" else classes[1:])
    assert unseen[:, : own.shape[1]][own].sum() < 0.98 * seen[:, : own.shape[1]][own].sum()


def test_likelihoods_are_those_of_the_classs_own_topics(planted):
    train = planted.train
    model = quick("TopicVec", planted.vectors).fit(train.documents, train.labels).model_
    counts, fitted = count_words(model, train.documents[:5]), model.fitted_
    P = word_distributions(fitted, LocalEngine(1))
    wanted = np.zeros((5, 4))
    for column, name in enumerate(sorted(set(train.labels.tolist()))):
        rows = np.flatnonzero([each in (None, name) for each in fitted.classes])
        shares = settled_shares(topics_of(fitted, rows), counts, LocalEngine(1))
        wanted[:, column] = (counts.toarray() * np.log(shares @ P[:, rows].T)).sum(axis=1)
    wanted -= wanted.mean(axis=1, keepdims=True)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    found = class_likelihoods(fitted, counts, LocalEngine(1))
    assert np.allclose(found, wanted, atol=1e-5)
    assert np.array_equal(found.argmax(axis=1) % 4, np.arange(5) % 4)


def test_methods_are_found_by_name():
    assert find_method("bow").features == "simple:WordCounts"
    with pytest.raises(DataError, match="unknown method 'nothing'"):
        make("nothing")


def test_settings_are_for_a_corpus():
    assert make("TopicVec", corpus="reuters").n_topics == 12
    assert make("TopicVec", corpus="20news").n_topics == 15
    assert make("TopicVec", corpus="20news", n_topics=4).n_topics == 4

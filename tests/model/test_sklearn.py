"""scikit-learn takes the estimator for one of its own."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from topicvec import BagOfWords, PSDVec, TopicClassifier, TopicFeatures
from topicvec.engine import LocalEngine
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.model.topicvec import TopicVec
from topicvec.pictures import by_class

NO_COUNTS = {  # also in docs/how-to/scikit-learn.md
    TopicClassifier: {
        "check_classifiers_train": "the places of points on a plane are no counts of two words"
    }
}


def estimators_checks():
    """All checks of scikit-learn of the public estimators themselves."""
    estimators = [
        TopicVec(3),
        TopicFeatures(),
        TopicClassifier(),
        BagOfWords(),
        PSDVec(),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TopicVec has the rules and not the base class
        return parametrize_with_checks(
            estimators,
            expected_failed_checks=lambda estimator: NO_COUNTS.get(type(estimator), {}),
        ).mark


every = estimators_checks()
# older versions make the checks, and warn, only when they are asked for
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    with_each_check = pytest.mark.parametrize(every.args[0], list(every.args[1]), **every.kwargs)


@pytest.mark.filterwarnings("ignore")
@with_each_check
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def test_no_more_checks_fail_than_the_docs_say():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "scikit-learn.md").read_text("utf-8")
    for checks in NO_COUNTS.values():
        for name in checks:
            assert name in page


def test_a_clone_has_the_same_parameters_and_shares_what_is_large(planted):
    fitted = TopicVec(2, planted.vectors, tol=1e-2, random_state=0).fit(planted.documents)
    seeds = {"first": ["aaxy"]}
    model = TopicVec(3, planted.vectors, seed_words=seeds, fixed_topics=fitted)
    copy = clone(model)
    assert copy.vectors is planted.vectors
    assert copy.fixed_topics is fitted
    assert copy.seed_words == seeds
    assert copy.seed_words is not seeds
    assert not hasattr(copy, "topic_vectors_")


def test_parameters_are_stored_untouched():
    seeds = [["cat"]]
    model = TopicVec(6, seed_words=seeds, random_state=3)
    assert model.get_params()["seed_words"] is seeds
    assert model.set_params(n_topics=8).n_topics == 8
    with pytest.raises(DataError, match="no parameter 'topics'"):
        model.set_params(topics=3)
    assert repr(TopicVec()) == "TopicVec()"
    assert repr(model) == "TopicVec(n_topics=8, seed_words=[['cat']], random_state=3)"


def test_a_model_without_topics_says_so(planted):
    with pytest.raises(NotFittedError, match="call fit first"):
        TopicVec(2, planted.vectors).transform(planted.texts)
    assert not hasattr(TopicVec(2), "topics_")


def test_pipelines_classify_by_topics(planted):
    pipeline = make_pipeline(
        TopicVec(4, planted.vectors, tol=1e-2, random_state=0), LogisticRegression()
    )
    pipeline.fit(planted.texts, planted.classes)
    assert pipeline.score(planted.texts, planted.classes) == 1.0


def test_searches_try_parameters(planted):
    model = TopicVec(vectors=planted.vectors, tol=1e-2, random_state=0)
    search = GridSearchCV(model, {"n_topics": [1, 4]}, cv=2).fit(planted.texts)
    assert search.best_params_ == {"n_topics": 4}
    pipeline = Pipeline([("topics", model), ("classify", LogisticRegression())])
    scores = cross_val_score(
        pipeline.set_params(topics__n_topics=4), planted.texts, planted.classes, cv=2
    )
    assert scores.mean() > 0.9


def test_columns_have_names(planted):
    model = TopicVec(2, planted.vectors, tol=1e-2, random_state=0)
    union = FeatureUnion([("topics", model)]).fit(planted.texts)
    names = union.get_feature_names_out()
    assert [name.split(":")[0] for name in names] == [f"topics__topic {row}" for row in range(3)]


def test_importing_the_estimator_does_not_import_scikit_learn():
    code = (
        "import sys, topicvec.model.topicvec; "
        "print([name for name in ('sklearn', 'scipy.stats', 'pandas') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_clone_shares_callables_and_engines():
    class Cutter:
        def __call__(self, text):
            return text.split()

        def __deepcopy__(self, memo):
            raise TypeError("a model of another library cannot be copied")

    model = TopicVec(tokenizer=Cutter(), n_jobs=LocalEngine(2))
    copied = clone(model)
    assert copied.tokenizer is model.tokenizer
    assert copied.n_jobs is model.n_jobs


def bag_pipeline(**params):
    return Pipeline([("count", CountVectorizer()), ("topics", TopicVec(4, **params))])


def test_a_pipeline_takes_the_words_of_a_vectorizer_along(planted):
    params = {"vectors": planted.vectors, "tol": 1e-2, "random_state": 0}
    pipeline = bag_pipeline(**params).fit(planted.texts)
    expected = TopicVec(4, **params).fit(planted.texts)
    found, wanted = pipeline.transform(planted.texts), expected.transform(planted.texts)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert pipeline["topics"].topics_[0].words[0][0] in planted.vectors


def test_words_are_taken_along_in_searches_files_and_longer_pipelines(planted, tmp_path):
    params = {"vectors": planted.vectors, "tol": 1e-2, "random_state": 0}
    pipeline = make_pipeline(
        FeatureUnion([("words", CountVectorizer())], verbose_feature_names_out=False),
        TfidfTransformer(use_idf=False, norm=None),
        TopicFeatures(TopicVec(4, **params), form="sqrt"),
        LogisticRegression(),
    )
    search = GridSearchCV(pipeline, {"topicfeatures__model__n_topics": [2, 4]}, cv=2, n_jobs=2)
    assert search.fit(planted.texts, planted.classes).best_score_ > 0.9
    features = search.best_estimator_["topicfeatures"]
    features.model_.save(tmp_path / "a.topicvec")
    counts = pipeline[:1].fit(planted.texts).transform(planted.texts)
    again = TopicVec.load(tmp_path / "a.topicvec").transform(counts)
    assert np.array_equal(again, features.model_.transform(counts))


def test_a_step_before_without_names_gives_none(planted):
    plain = make_pipeline(FunctionTransformer(lambda texts: CountVectorizer().fit_transform(texts)))
    pipeline = Pipeline([*plain.steps, ("topics", TopicVec(2, planted.vectors))])
    with pytest.raises(VocabularyMismatch, match="needs vocabulary="):
        pipeline.fit(["aaxy abxy", "aaxy"])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_proportions_come_as_a_table_if_that_is_set(planted, kind):
    model = TopicVec(2, planted.vectors, tol=1e-2, random_state=0).set_output(transform=kind)
    texts = pandas.Series(planted.texts, index=[f"d{row}" for row in range(60)])
    table = clone(model).fit_transform(texts)
    assert type(table).__module__.split(".")[0] == kind
    assert list(table.columns) == model.fit(texts).get_feature_names_out().tolist()
    plain = np.asarray(model.set_output(transform="default").transform(texts))
    assert np.array_equal(np.asarray(table), plain)
    if kind == "pandas":
        assert table.index.tolist() == texts.index.tolist()


def test_tables_may_be_set_for_all_estimators(planted):
    model = TopicVec(2, planted.vectors, tol=1e-2, random_state=0).fit(planted.texts)
    features = TopicFeatures(model, form="both").fit(planted.texts)
    with config_context(transform_output="pandas"):
        assert model.transform(planted.texts).shape == (60, 3)
        assert isinstance(model.transform(planted.texts), pandas.DataFrame)
        assert features.transform(planted.texts).columns.tolist()[-1] == "dim11"
        assert isinstance(model.sqrt_proportions(planted.texts), np.ndarray)
        assert by_class(model, planted.texts, labels=planted.classes).width == 800
    with pytest.raises(DataError, match="'default' or 'pandas' or 'polars'; found 'excel'"):
        model.set_output(transform="excel")


def test_columns_are_named_after_the_topics(planted):
    model = TopicVec(2, planted.vectors, tol=1e-2, random_state=0).fit(planted.texts)
    named = model.relabel({1: "first"})
    assert named.get_feature_names_out().tolist()[:2] == ["topic 0: null topic", "topic 1: first"]
    labels = {topic.index: topic.label for topic in model.topics_}
    assert model.get_feature_names_out()[2] == f"topic 2: {labels[2]}"
    features = TopicFeatures(TopicVec(2, planted.vectors, random_state=0)).fit(planted.texts)
    assert features.get_feature_names_out()[0] == "topic 0: null topic"

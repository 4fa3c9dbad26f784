"""scikit-learn takes the estimator for one of its own."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.model.topicvec import TopicVec


class CountsTopicVec(TopicVec):
    """Takes numbers as scikit-learn's checks have them for weighted counts of as many words."""

    def __init__(self, n_topics=1, max_iter=15, tol=1e-2, random_state=0):
        super().__init__(
            n_topics, max_iter=max_iter, tol=tol, random_state=random_state, share="corpus"
        )  # fmt: skip

    @property
    def vectors(self):
        return _vectors(self.n_features_in_)

    @vectors.setter
    def vectors(self, value):
        """The words are as many as the columns."""

    def fit(self, X, y=None):
        X = self._checked(X, reset=True)
        return super().fit(X)

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def partial_fit(self, X, y=None):
        X = self._checked(X, reset=not hasattr(self, "n_features_in_"))
        return super().partial_fit(X)

    def transform(self, X):
        check_is_fitted(self)
        return super().transform(self._checked(X, reset=False))

    def score(self, X, y=None):
        check_is_fitted(self)
        return super().score(self._checked(X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.string = False
        return tags

    def _checked(self, X, reset):
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True
        )


def _vectors(n_words):
    rng = np.random.default_rng(n_words)
    return WordVectors(
        [f"w{i}" for i in range(n_words)], rng.normal(size=(n_words, 5)), np.ones(n_words)
    )


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that it has the rules and not the base class
    every = parametrize_with_checks([CountsTopicVec()]).mark
    # older versions make the checks, and warn, only when they are asked for
    with_each_check = pytest.mark.parametrize(every.args[0], list(every.args[1]), **every.kwargs)


@pytest.mark.filterwarnings("ignore")
@with_each_check
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


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
        TopicVec(2, planted.vectors, tol=1e-2, random_state=0), LogisticRegression()
    )
    pipeline.fit(planted.texts, planted.classes)
    assert pipeline.score(planted.texts, planted.classes) == 1.0


def test_searches_try_parameters(planted):
    model = TopicVec(vectors=planted.vectors, share="corpus", tol=1e-2, random_state=0)
    search = GridSearchCV(model, {"n_topics": [1, 4]}, cv=2).fit(planted.texts)
    assert search.best_params_ == {"n_topics": 4}
    pipeline = Pipeline([("topics", model), ("classify", LogisticRegression())])
    scores = cross_val_score(
        pipeline.set_params(topics__n_topics=4), planted.texts, planted.classes, cv=2
    )
    assert scores.mean() > 0.9


def test_columns_have_names(planted):
    model = TopicVec(2, planted.vectors, share="corpus", tol=1e-2, random_state=0)
    union = FeatureUnion([("topics", model)]).fit(planted.texts)
    expected = ["topics__topicvec0", "topics__topicvec1", "topics__topicvec2"]
    assert union.get_feature_names_out().tolist() == expected


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

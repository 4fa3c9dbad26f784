"""scikit-learn's own estimators: apart, since they alone import its base at once."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from topicvec.model.counts import as_documents, check_columns
from topicvec.model.topicvec import TopicVec
from topicvec.represent.classifier import LightClassifier
from topicvec.represent.documents import Form, feature_names, represent, represent_training

__all__ = ["TopicClassifier", "TopicFeatures"]


def _with_inputs(tags: Any) -> Any:
    """Say that texts are taken, and counts, dense or sparse."""
    tags.input_tags.sparse = tags.input_tags.string = tags.input_tags.positive_only = True
    return tags


class TopicClassifier(ClassifierMixin, BaseEstimator, LightClassifier):  # type: ignore[misc]
    """Tell the class of documents by their topics.

    Topics are learned for each class, whatever the model's ``share``; a document's features are
    its topics, the mean direction of its words and the words themselves, and a linear support
    vector machine weighs them.

    Parameters
    ----------
    model : TopicVec, optional
        How to learn topics; it is not changed. By default a topic for ten documents of a class,
        at least one and at most 14.
    form : str
        What the features are, see `topicvec.represent.represent`. The words themselves, weighted
        by TF-IDF, are put beside "own-directions", the default: with few labels vectors know words
        that the training documents did not have, with many the words know better.
    prior : bool
        Whether mixtures have a prior; without one they are better for classifiers. The own forms
        never have one.
    strength : float, optional
        Inverse of the regularisation: larger fits the training documents more closely. The
        default is 0.3 for "own-directions" (`docs/explanation/retrieval.md`). Other forms are
        weighed by a logistic regression, its strength 300 over the number of documents, near the
        best on held-out training documents of 20 Newsgroups and of Reuters.
    sharpness : float, optional
        How sharply words are shared among topics, as for `topicvec.represent.represent`.

    Attributes
    ----------
    model_ : TopicVec
        The fitted topics.
    classes_ : array, (C,)
        The classes, sorted, of the kind of the labels.
    coef_, intercept_ : arrays, (C, F), (C,)
        The linear model on scaled features.

    Notes
    -----
    `score` is the share of documents in the right class, as everywhere in scikit-learn; for the
    macro-averaged F1 give a search ``scoring="f1_macro"``.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> topics = TopicVec(1, vectors, random_state=0)
    >>> classifier = TopicClassifier(topics).fit(["cat dog cat", "car bus"], ["pet", "road"])
    >>> classifier.predict(["a dog", "the bus"]).tolist()
    ['pet', 'road']
    """

    def __sklearn_tags__(self) -> Any:
        return _with_inputs(super().__sklearn_tags__())


class TopicFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn topics and turn documents into vectors, as a step of a pipeline.

    Parameters
    ----------
    model : TopicVec, optional
        How to learn topics; it is cloned, not changed. By default
        ``TopicVec(random_state=0)``. In a search its parameters are called ``model__n_topics`` and
        so on.
    form : str
        What the features are, see `topicvec.represent.represent`.
    prior : bool
        Whether mixtures have a prior; without one they are better for classifiers. The own forms
        never have one.

    Attributes
    ----------
    model_ : TopicVec
        The fitted model. It has topics for each class if the given one has ``share="class"``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> topics = TopicVec(1, vectors, random_state=0)
    >>> pipeline = make_pipeline(TopicFeatures(topics), LogisticRegression())
    >>> pipeline.fit(["cat dog cat", "car bus"], ["pet", "road"]).predict(["a dog"])
    array(['pet'], dtype='<U4')
    """

    def __init__(
        self, model: TopicVec | None = None, *, form: Form = "own-words", prior: bool = False
    ) -> None:
        self.model = model
        self.form = form
        self.prior = prior

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics.

        Parameters
        ----------
        X : documents
            As for `TopicVec.fit`.
        y : sequence of D classes, optional
            For a model that learns topics for each class.

        Returns
        -------
        TopicFeatures
            This object.
        """
        documents = as_documents(X)
        check_columns(self, documents, reset=True)
        model = TopicVec(random_state=0) if self.model is None else clone(self.model)
        self.model_ = model.fit(documents, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.floating]:
        """Learn topics and give the features of the same documents.

        With the own forms these differ from what `transform` would give:
        a topic knows the words of its own documents too well, so each document is described by
        topics whose words were counted without it. A pipeline does this by itself.

        Parameters
        ----------
        X, y
            As for `fit`.
        **fit_params
            None are known.

        Returns
        -------
        array, (D, F)
        """
        documents = as_documents(X)
        self.fit(documents, y, **fit_params)
        return represent_training(self.model_, documents, y, self.form, prior=self.prior)

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Give each document's features.

        Parameters
        ----------
        X : documents
            As for `TopicVec.transform`.

        Returns
        -------
        array, (D, F)
        """
        check_is_fitted(self)
        check_columns(self, X, reset=False)
        return represent(self.model_, X, self.form, prior=self.prior)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name the features.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.

        Returns
        -------
        array of str, (F,)
        """
        check_is_fitted(self)
        topics = self.model_.get_feature_names_out()
        called = dict(zip(feature_names(self.model_, "sqrt"), topics, strict=True))
        names = feature_names(self.model_, self.form)
        return np.array([called.get(name, name) for name in names], dtype=object)

    def __sklearn_tags__(self) -> Any:
        return _with_inputs(super().__sklearn_tags__())

"""Topic features for scikit-learn's pipelines: apart, since they alone import it at once."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import Form, feature_names, represent, represent_training

__all__ = ["TopicFeatures"]


class TopicFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn topics and turn documents into vectors, as a step of a pipeline.

    Parameters
    ----------
    model : TopicVec, optional
        How to learn topics; it is cloned, not changed. By default ``TopicVec()``. In a search
        its parameters are called ``model__n_topics`` and so on.
    form : str
        What the features are, see `topicvec.represent.represent`.
    prior : bool
        Whether mixtures have a prior; without one they are better for classifiers. The own forms
        never have one.

    Attributes
    ----------
    model_ : TopicVec
        The fitted model. With y, it has topics for each class, unless ``share="corpus"``.

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
            Learn topics for each class.

        Returns
        -------
        TopicFeatures
            This object.
        """
        model = TopicVec() if self.model is None else clone(self.model)
        self.model_ = model.fit(X, y)
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
        documents = X if hasattr(X, "shape") else list(X)
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
        return np.array(feature_names(self.model_, self.form), dtype=object)

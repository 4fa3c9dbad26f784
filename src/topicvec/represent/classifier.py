"""A classifier on topic features: topics of each class, a linear model, a file without pickle.

Of scikit-learn only what learns the linear model is needed, and only to learn: a command that
reads a classifier does not wait for it. `TopicClassifier`, with its base, is in `estimators`.
"""

from collections import Counter
from collections.abc import Sequence
from math import isnan
from os import PathLike
from typing import Any, NamedTuple, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack

from topicvec.engine import interrupts_held
from topicvec.errors import DataError, FormatError
from topicvec.estimator import not_fitted
from topicvec.model import bundle
from topicvec.model.counts import as_documents, check_columns
from topicvec.model.fit import Callback
from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import (
    Form,
    check_form,
    count_words,
    feature_names,
    represent,
    represent_training,
    sharpness_of,
)
from topicvec.represent.words import how_telling
from topicvec.stored import FLAG, TEXT, Stored, each, number, one_of

__all__ = ["LightClassifier", "Prediction", "default_topics", "macro_f1"]

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

_CARD = "classifier"  # of the file: what is kept beside the model
_KEPT = ("form", "prior", "strength")
_KINDS = {
    "classes": each(TEXT | FLAG | number()), "form": one_of(*get_args(Form)), "prior": FLAG,
    "strength": number(0) | one_of(None), "scale": number(), "sharpness": number(0) | one_of(None),
}  # fmt: skip
_STRENGTH = 300.0  # for all training documents together
_STRENGTH_OF_UNITS = 0.3  # for features whose parts have length 1
_LOG_ODDS = 4.0  # for a margin of 1; probabilities are then as good as those of a regression
_WITH_WORDS: Form = "own-directions"  # the form that the words themselves stand beside
_MOST_TOPICS, _LABELS_A_TOPIC = 14, 10  # of a class


class Prediction(NamedTuple):
    """The class of a document, and how sure the classifier is.

    Examples
    --------
    >>> Prediction("pet", 0.9).label
    'pet'
    """

    label: str
    probability: float


class TellingWords(NamedTuple):
    """The words of the training documents, and how much each tells.

    Attributes
    ----------
    rows : array, (V,)
        Their rows among the word vectors.
    telling : array, (V,)
        Their inverse document frequencies.

    Examples
    --------
    >>> words = TellingWords.of(csr_array([[2, 0, 1], [0, 0, 1]]))
    >>> words.rows.tolist()
    [0, 2]
    >>> words.weighted(csr_array([[0, 5, 3]])).toarray()
    array([[0., 1.]])
    """

    rows: NDArray[np.int64]
    telling: NDArray[np.float32]

    @classmethod
    def of(cls, counts: csr_array) -> Self:
        """Find the words of documents (D, W)."""
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        rows = np.flatnonzero(frequency)
        return cls(rows.astype(np.int64), how_telling(frequency[rows], counts.shape[0]))

    def weighted(self, counts: csr_array) -> csr_array:
        """Give documents (D, W) as rows (D, V) of length 1, by TF-IDF."""
        part = csr_array(counts[:, self.rows]).astype(float)
        often = 1 + np.log(np.maximum(part.data, 1))  # weights below 1 count as they are
        part.data = np.minimum(part.data, often) * self.telling[part.indices]
        norms = np.maximum(np.sqrt((part * part).sum(axis=1)), 1e-300)
        part.data /= np.repeat(norms, np.diff(part.indptr))
        return part


class LightClassifier:
    """`topicvec.TopicClassifier` without scikit-learn's base, for which a command would wait.

    Parameters
    ----------
    model, form, prior, strength, sharpness
        As for `topicvec.TopicClassifier`.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> topics = TopicVec(1, vectors, random_state=0)
    >>> LightClassifier(topics).fit(["cat dog cat", "car bus"], ["pet", "road"]).classify(["a dog"])
    [Prediction(label='pet', probability=...)]
    """

    def __init__(
        self,
        model: TopicVec | None = None,
        *,
        form: Form = "own-directions",
        prior: bool = False,
        strength: float | None = None,
        sharpness: float | None = None,
    ) -> None:
        self.model = model
        self.form = form
        self.prior = prior
        self.strength = strength
        self.sharpness = sharpness

    def fit(self, X: Any, y: Any, *, callback: Callback | None = None) -> Self:
        """Learn topics and the classifier.

        Parameters
        ----------
        X : iterable of str, Document or token lists; or matrix of counts
            The documents, at least one of each class.
        y : sequence of D labels
            The class of each document: texts, numbers or truth values.
        callback : callable, optional
            Told of each iteration of the topics, as by `TopicVec.fit`.

        Returns
        -------
        TopicClassifier
            This object.
        """
        texts = as_documents(X)
        check_columns(self, texts, reset=True)
        classes, places = checked_labels(y)
        names = classes.astype(str)[places].tolist()
        check_form(self.form)
        model = default_topics(names) if self.model is None else self.model
        self.model_ = model.__sklearn_clone__().set_params(share="class")
        self.model_.fit(texts, names, callback=callback)
        with interrupts_held() as held:
            features = represent_training(
                self.model_, texts, names, self.form, prior=self.prior, sharpness=self.sharpness
            )
            if self.form == _WITH_WORDS:
                self._words = TellingWords.of(count_words(self.model_, texts))
            learned = self._machine if self.form == _WITH_WORDS else self._regression
            self._adopt(classes, *learned(self._with_words(features, texts), places))
        if held:
            self.model_._say_interrupted()
        return self

    def _with_words(self, features: NDArray[np.floating], texts: Any) -> Any:
        """Put the words themselves beside directions: they know jargon, and many labels."""
        if self.form != _WITH_WORDS:
            return features
        words = self._words.weighted(count_words(self.model_, texts))
        return hstack([csr_array(features), words], format="csr")

    def _machine(self, features: csr_array, places: Ints) -> tuple[Floats, Floats]:
        """Learn a support vector machine; its margins become log odds."""
        from sklearn.svm import LinearSVC

        self._scale = 1.0
        strength = _STRENGTH_OF_UNITS if self.strength is None else self.strength
        if features.nnz < 2**31:  # liblinear reads short indices only; given counts may have longer
            features.indices = features.indices.astype(np.int32)
            features.indptr = features.indptr.astype(np.int32)
        machine = LinearSVC(C=strength, max_iter=10_000, random_state=0).fit(features, places)
        return _LOG_ODDS * machine.coef_, _LOG_ODDS * machine.intercept_

    def _regression(self, features: Any, places: Ints) -> tuple[Floats, Floats]:
        """Scale features and learn a logistic regression."""
        from sklearn.linear_model import LogisticRegression

        self._scale = 1 / max(float(features.std()), 1e-12)
        strength = _STRENGTH / len(places) if self.strength is None else self.strength
        regression = LogisticRegression(C=strength, max_iter=1000)
        regression.fit(features * self._scale, places)
        return regression.coef_, regression.intercept_

    def predict_proba(self, X: Any) -> Floats:
        """Give each class's probability for each document.

        Parameters
        ----------
        X : documents
            As for `fit`.

        Returns
        -------
        array, (D, C)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        if not hasattr(self, "coef_"):
            raise not_fitted(self, "classes")
        texts = as_documents(X)  # read twice
        check_columns(self, texts, reset=False)
        features = represent(
            self.model_, texts, self.form, prior=self.prior, sharpness=self.sharpness
        )
        features = self._with_words(features, texts)
        logits = features * self._scale @ self.coef_.T + self.intercept_
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the most probable class of each document.

        Parameters
        ----------
        X : documents
            As for `fit`.

        Returns
        -------
        array, (D,)
            Of the kind of the labels.
        """
        best = self.predict_proba(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def classify(self, documents: Any) -> list[Prediction]:
        """Give the most probable class of each document with its probability.

        Parameters
        ----------
        documents : documents
            As for `fit`.

        Returns
        -------
        list of Prediction
        """
        table = self.predict_proba(documents)
        rows = enumerate(table.argmax(axis=1))
        names = self.classes_.tolist()
        return [Prediction(names[best], float(table[row, best])) for row, best in rows]

    def save(self, path: str | PathLike[str]) -> None:
        """Write topics and classifier to one model file, which `TopicVec.load` reads too.

        Parameters
        ----------
        path : path
            Of the file; one that is there is replaced.
        """
        if not hasattr(self, "coef_"):
            raise not_fitted(self, "classes")
        about = {
            "classes": self.classes_.tolist(),
            **{name: getattr(self, name) for name in _KEPT},
            "scale": self._scale,
            # the one that was used: a later default must not change a saved classifier
            "sharpness": sharpness_of(self.form, self.sharpness),
        }
        arrays: dict[str, NDArray[Any]] = {"coef": self.coef_, "intercept": self.intercept_}
        if self.form == _WITH_WORDS:
            arrays |= self._words._asdict()
        self.model_.save(path, extra={_CARD: about}, arrays=arrays)

    @classmethod
    def load(cls, path: str | PathLike[str], **params: Any) -> Self:
        """Read a classifier that `save` wrote; it gives the same classes.

        Parameters
        ----------
        path : path
            The file.
        **params
            Parameters of the model to change, as for `TopicVec.load`.

        Returns
        -------
        TopicClassifier
        """
        found = bundle.read(path)
        if _CARD not in found.extra:
            raise FormatError(
                f"{path}: a topic model without a classifier: make one with TopicClassifier, or "
                "with topicvec classify train"
            )
        stored = cast(Stored, found.stored)
        about = stored.fields(_CARD, found.extra[_CARD], _KINDS, "classes", "scale", *_KEPT)
        classifier = cls(**{name: about[name] for name in _KEPT})
        classifier.sharpness = about.get("sharpness", 1.0)  # that of the first files
        classifier.model_ = TopicVec.load(path, **params)
        classifier._scale = about["scale"]
        n_features = len(feature_names(classifier.model_, classifier.form))
        if classifier.form == _WITH_WORDS:
            last = len(found.fitted.vectors) - 1
            rows = stored.numbers("extra.rows", (None,), "i", 0, last)
            telling = stored.numbers("extra.telling", rows.shape, least=0)
            classifier._words = TellingWords(rows, telling)
            n_features += len(rows)
        classes = stored.distinct("classes", tuple(about["classes"]))
        n_rows = len(classes)
        if n_rows < 2:
            stored.refuse("classes", "at least two", n_rows)
        coef = stored.numbers("extra.coef", (n_rows, n_features))
        classifier._adopt(classes, coef, stored.numbers("extra.intercept", (n_rows,)))
        return classifier

    def _adopt(self, classes: ArrayLike, coef: ArrayLike, intercept: ArrayLike) -> None:
        """Keep a linear model; one row for two classes becomes two that differ in sign."""
        self.classes_: NDArray[Any] = np.asarray(classes)
        self.coef_: Floats = np.asarray(coef, float)
        self.intercept_: Floats = np.asarray(intercept, float)
        if len(self.coef_) == 1:
            self.coef_ = np.vstack([-self.coef_, self.coef_]) / 2
            self.intercept_ = np.hstack([-self.intercept_, self.intercept_]) / 2


def checked_labels(y: Any) -> tuple[NDArray[Any], Ints]:
    """Find the classes of labels, sorted, and the place of each label among them.

    Parameters
    ----------
    y : iterable of texts, numbers or truth values
        At least two different ones.

    Returns
    -------
    classes : array, (C,)
    places : array of int, (D,)

    Examples
    --------
    >>> classes, places = checked_labels([10, 2, 10])
    >>> classes.tolist(), places.tolist()
    ([2, 10], [1, 0, 1])
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if y is None:
        raise DataError(
            "a classifier requires y to be passed, but the target y is None: give each document's "
            "class"
        )
    try:
        given = y if hasattr(y, "__array__") else list(y)
        _check_no_gap(np.asarray(given, object).ravel().tolist())
        labels = column_or_1d(given, warn=True)
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(str(error)) from error
    classes, places = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        found = f"one class: {classes[0]}" if len(classes) else "none"
        raise DataError(f"a classifier needs at least two classes; found {found}")
    return classes, places


def _check_no_gap(labels: Sequence[Any]) -> None:
    """Refuse a document without a class; a table has NaN where there is none."""
    gaps = [row for row, label in enumerate(labels)
            if label is None or (isinstance(label, float) and isnan(label))]  # fmt: skip
    if gaps:
        raise DataError(
            f"each document needs a class; found none for {len(gaps)} of {len(labels)}, the first "
            f"in row {gaps[0]}: leave these documents out"
        )


def _labels_a_class(labels: Sequence[str]) -> int:
    return int(np.median([*Counter(labels).values()]))


def default_topics(labels: Sequence[str] = (), **params: Any) -> TopicVec:
    """Make the model that a classifier learns topics with by default.

    Parameters
    ----------
    labels : sequence of str
        The classes of the documents, if known: if the middle class has fewer than 140, it has
        fewer topics, one for ten documents and at least one.
    **params
        Parameters of `TopicVec` to change.

    Returns
    -------
    TopicVec

    Examples
    --------
    >>> default_topics(max_norm=12)
    TopicVec(n_topics=14, max_norm=12, share='class', random_state=0)
    >>> default_topics(["pet", "road"] * 40).n_topics
    4
    """
    enough = _labels_a_class(labels) // _LABELS_A_TOPIC if labels else _MOST_TOPICS
    n_topics = min(max(enough, 1), _MOST_TOPICS)
    return TopicVec(**{"n_topics": n_topics, "share": "class", "random_state": 0, **params})


def macro_f1(labels: Sequence[str | None], found: Sequence[str]) -> float:
    """Give the mean of the classes' F1, between 0 and 1.

    Examples
    --------
    >>> macro_f1(["pet", "road", "pet"], ["pet", "road", "road"])
    0.6666666666666666
    """
    from sklearn.metrics import f1_score

    return float(f1_score(list(labels), list(found), average="macro"))

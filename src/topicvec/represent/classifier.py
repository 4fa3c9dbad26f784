"""A classifier on topic features: topics of each class, a linear model, a file without pickle."""

from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack

from topicvec.errors import DataError, FormatError
from topicvec.model import bundle
from topicvec.model.fit import Callback
from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import (
    Form,
    check_form,
    count_words,
    represent,
    represent_training,
    sharpness_of,
)
from topicvec.represent.words import how_telling

__all__ = ["Prediction", "TopicClassifier"]

Floats = NDArray[np.float64]

_CARD = "classifier"  # of the file: what is kept beside the model
_KEPT = ("form", "prior", "strength")
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


class TopicClassifier:
    """Tell the class of documents by their topics.

    Topics are learned for each class; a document's features are its topics, the mean direction of
    its words and the words themselves, and a linear support vector machine weighs them.

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
    classes_ : tuple of str
        The C classes, sorted.
    coef_, intercept_ : arrays, (C, F), (C,)
        The linear model on scaled features.

    Examples
    --------
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> topics = TopicVec(1, vectors, random_state=0)
    >>> classifier = TopicClassifier(topics).fit(["cat dog cat", "car bus"], ["pet", "road"])
    >>> classifier.predict(["a dog", "the bus"])
    ['pet', 'road']
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

    def fit(
        self, documents: Any, labels: Iterable[str], *, callback: Callback | None = None
    ) -> Self:
        """Learn topics and the classifier.

        Parameters
        ----------
        documents : iterable of str, Document or token lists; or matrix of counts
            At least one of each class.
        labels : iterable of str
            The class of each document.
        callback : callable, optional
            Told of each iteration of the topics, as by `TopicVec.fit`.

        Returns
        -------
        TopicClassifier
            This object.
        """
        texts = documents if hasattr(documents, "shape") else list(documents)
        names = [str(label) for label in labels]
        if len(set(names)) < 2:
            raise DataError(f"a classifier needs at least two classes; found {sorted(set(names))}")
        check_form(self.form)
        model = default_topics(names) if self.model is None else self.model
        self.model_ = model.__sklearn_clone__().fit(texts, names, callback=callback)
        features = represent_training(
            self.model_, texts, names, self.form, prior=self.prior, sharpness=self.sharpness
        )
        if self.form == _WITH_WORDS:
            self._words = TellingWords.of(count_words(self.model_, texts))
        learned = self._machine if self.form == _WITH_WORDS else self._regression
        self._adopt(*learned(self._with_words(features, texts), names))
        return self

    def _with_words(self, features: NDArray[np.floating], texts: Any) -> Any:
        """Put the words themselves beside directions: they know jargon, and many labels."""
        if self.form != _WITH_WORDS:
            return features
        words = self._words.weighted(count_words(self.model_, texts))
        return hstack([csr_array(features), words], format="csr")

    def _machine(self, features: csr_array, names: list[str]) -> tuple[Any, Floats, Floats]:
        """Learn a support vector machine; its margins become log odds."""
        from sklearn.svm import LinearSVC

        self._scale = 1.0
        strength = _STRENGTH_OF_UNITS if self.strength is None else self.strength
        if features.nnz < 2**31:  # liblinear reads short indices only; given counts may have longer
            features.indices = features.indices.astype(np.int32)
            features.indptr = features.indptr.astype(np.int32)
        machine = LinearSVC(C=strength, max_iter=10_000, random_state=0).fit(features, names)
        return machine.classes_, _LOG_ODDS * machine.coef_, _LOG_ODDS * machine.intercept_

    def _regression(self, features: Any, names: list[str]) -> tuple[Any, Floats, Floats]:
        """Scale features and learn a logistic regression."""
        from sklearn.linear_model import LogisticRegression

        self._scale = 1 / max(float(features.std()), 1e-12)
        strength = _STRENGTH / len(names) if self.strength is None else self.strength
        regression = LogisticRegression(C=strength, max_iter=1000)
        regression.fit(features * self._scale, names)
        return regression.classes_, regression.coef_, regression.intercept_

    def predict_proba(self, documents: Any) -> Floats:
        """Give each class's probability for each document.

        Parameters
        ----------
        documents : documents
            As for `fit`.

        Returns
        -------
        array, (D, C)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        if not hasattr(self, "coef_"):
            raise DataError("this classifier has learned nothing yet: call fit first")
        texts = documents if hasattr(documents, "shape") else list(documents)  # read twice
        features = represent(
            self.model_, texts, self.form, prior=self.prior, sharpness=self.sharpness
        )
        features = self._with_words(features, texts)
        logits = features * self._scale @ self.coef_.T + self.intercept_
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, documents: Any) -> list[str]:
        """Give the most probable class of each document.

        Parameters
        ----------
        documents : documents
            As for `fit`.

        Returns
        -------
        list of str
        """
        return [found.label for found in self.classify(documents)]

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
        return [Prediction(self.classes_[best], float(table[row, best])) for row, best in rows]

    def score(self, documents: Any, labels: Sequence[str]) -> float:
        """Give the macro-averaged F1 on documents whose classes are known.

        Parameters
        ----------
        documents : documents
            As for `fit`.
        labels : sequence of str
            Their classes.

        Returns
        -------
        float
            Between 0 and 1.
        """
        return macro_f1([str(label) for label in labels], self.predict(documents))

    def save(self, path: str | PathLike[str]) -> None:
        """Write topics and classifier to one model file, which `TopicVec.load` reads too.

        Parameters
        ----------
        path : path
            Of the file; one that is there is replaced.
        """
        if not hasattr(self, "coef_"):
            raise DataError("this classifier has learned nothing yet: call fit first")
        about = {
            "classes": list(self.classes_),
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
        about = found.extra[_CARD]
        classifier = cls(**{name: about[name] for name in _KEPT})
        classifier.sharpness = about.get("sharpness", 1.0)  # that of the first files
        classifier.model_ = TopicVec.load(path, **params)
        classifier._scale = about["scale"]
        if classifier.form == _WITH_WORDS:
            classifier._words = TellingWords(*(found.arrays[name] for name in TellingWords._fields))
        classifier._adopt(about["classes"], found.arrays["coef"], found.arrays["intercept"])
        return classifier

    def _adopt(self, classes: Iterable[str], coef: ArrayLike, intercept: ArrayLike) -> None:
        """Keep a linear model; one row for two classes becomes two that differ in sign."""
        self.classes_ = tuple(str(name) for name in classes)
        self.coef_: Floats = np.asarray(coef, float)
        self.intercept_: Floats = np.asarray(intercept, float)
        if len(self.coef_) == 1:
            self.coef_ = np.vstack([-self.coef_, self.coef_]) / 2
            self.intercept_ = np.hstack([-self.intercept_, self.intercept_]) / 2


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
    TopicVec(n_topics=14, max_norm=12, random_state=0)
    >>> default_topics(["pet", "road"] * 40).n_topics
    4
    """
    enough = _labels_a_class(labels) // _LABELS_A_TOPIC if labels else _MOST_TOPICS
    n_topics = min(max(enough, 1), _MOST_TOPICS)
    return TopicVec(**{"n_topics": n_topics, "random_state": 0, **params})


def macro_f1(labels: Sequence[str | None], found: Sequence[str]) -> float:
    """Give the mean of the classes' F1, between 0 and 1.

    Examples
    --------
    >>> macro_f1(["pet", "road", "pet"], ["pet", "road", "road"])
    0.6666666666666666
    """
    from sklearn.metrics import f1_score

    return float(f1_score(list(labels), list(found), average="macro"))

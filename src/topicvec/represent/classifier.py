"""A classifier on topic features: topics of each class, a linear model, a file without pickle."""

from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Self

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
_STRENGTH_OF_UNITS = 10.0  # for features whose parts have length 1
_FEW: Form = "own-directions"  # the form for few labels
_MANY: Form = "own-words"
_MANY_LABELS = 200  # in the middle class
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
        part.data = (1 + np.log(part.data)) * self.telling[part.indices]
        norms = np.maximum(np.sqrt((part * part).sum(axis=1)), 1e-300)
        part.data /= np.repeat(norms, np.diff(part.indptr))
        return part


class TopicClassifier:
    """Tell the class of documents by their topics.

    Topics are learned for each class; a document's features are its topics, and a logistic
    regression weighs them.

    Parameters
    ----------
    model : TopicVec, optional
        How to learn topics; it is not changed. By default a topic for ten documents of a class,
        at least one and at most 14.
    form : str
        What the features are, see `topicvec.represent.represent`. By default "auto":
        "own-directions" if the middle class has fewer than 200 labels, else "own-words". The
        words themselves, weighted by TF-IDF, are put beside "own-directions".
    prior : bool
        Whether mixtures have a prior; without one they are better for classifiers. The own forms
        never have one.
    strength : float, optional
        Inverse of the regularisation: larger fits the training documents more closely. The
        default is 10 for "own-directions", else 300 over their number, near the best on held-out
        training documents of 20 Newsgroups and of Reuters.
    sharpness : float, optional
        How sharply words are shared among topics, as for `topicvec.represent.represent`.

    Attributes
    ----------
    model_ : TopicVec
        The fitted topics.
    form_ : str
        What the features are.
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
        form: Form | Literal["auto"] = "auto",
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
        self.form_ = form_for(names) if self.form == "auto" else self.form
        check_form(self.form_)
        model = default_topics(names) if self.model is None else self.model
        self.model_ = model.__sklearn_clone__().fit(texts, names, callback=callback)
        features = represent_training(
            self.model_, texts, names, self.form_, prior=self.prior, sharpness=self.sharpness
        )
        if self.form_ == _FEW:
            self._words = TellingWords.of(count_words(self.model_, texts))
        self._scale, regression = self._learned(self._with_words(features, texts), names)
        self._adopt(regression.classes_, regression.coef_, regression.intercept_)
        return self

    def _with_words(self, features: NDArray[np.floating], texts: Any) -> Any:
        """Put the words themselves beside directions: with jargon they tell more."""
        if self.form_ != _FEW:
            return features
        words = self._words.weighted(count_words(self.model_, texts))
        return hstack([csr_array(features), words], format="csr")

    def _learned(self, features: Any, names: list[str]) -> tuple[float, Any]:
        """Scale features and learn a linear model on them."""
        from sklearn.linear_model import LogisticRegression

        units = self.form_ == _FEW
        scale = 1.0 if units else 1 / max(float(features.std()), 1e-12)
        usual = _STRENGTH_OF_UNITS if units else _STRENGTH / len(names)
        strength = usual if self.strength is None else self.strength
        regression = LogisticRegression(C=strength, max_iter=1000)
        return scale, regression.fit(features * scale, names)

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
        features = represent(
            self.model_, documents, self.form_, prior=self.prior, sharpness=self.sharpness
        )
        features = self._with_words(features, documents)
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
        return macro_f1(labels, self.predict(documents))

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
            # those that were used: a later default must not change a saved classifier
            "form": self.form_,
            "sharpness": sharpness_of(self.form_, self.sharpness),
        }
        arrays: dict[str, NDArray[Any]] = {"coef": self.coef_, "intercept": self.intercept_}
        if self.form_ == _FEW:
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
        classifier.form_ = about["form"]
        classifier.sharpness = about.get("sharpness", 1.0)  # that of the first files
        classifier.model_ = TopicVec.load(path, **params)
        classifier._scale = about["scale"]
        if classifier.form_ == _FEW:
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


def form_for(labels: Sequence[str]) -> Form:
    """Choose what the features are by how many labels the middle class has.

    With few, words that the training documents did not have must be understood by their vectors;
    with many, counts of words by class know better. On held-out training documents the two forms
    change places near 200 (`docs/how-to/classify.md`).

    Examples
    --------
    >>> form_for(["pet", "road"] * 10), form_for(["pet", "road"] * 500)
    ('own-directions', 'own-words')
    """
    return _FEW if _labels_a_class(labels) < _MANY_LABELS else _MANY


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

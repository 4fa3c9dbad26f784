"""How well a linear classifier tells classes apart by given features."""

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.extmath import row_norms
from threadpoolctl import threadpool_limits

from topicvec.engine import LocalEngine
from topicvec.errors import DataError

__all__ = ["Classification", "Features", "Protocol", "classify"]

Features = NDArray[np.floating] | csr_array
Protocol = Literal["paper", "strong"]

_PENALTIES = (0.1, 1.0, 10.0)  # C, for rows of median length 1
_FOLDS = 3
_MOST_ITERATIONS: dict[Protocol, int] = {"paper": 1000, "strong": 100}  # of unlike methods
_TOLERANCE = 1e-2  # of the strong protocol; 1e-4 takes up to ten times longer and gains nothing


@dataclass(frozen=True)
class Classification:
    """How a classifier did on documents it had not seen; scores in percent.

    Attributes
    ----------
    precision, recall, f1 : float
        Means over the classes, each class with the same weight ("macro").
    accuracy : float
        Share of documents in the right class.
    n_features : int
        Number of columns.
    penalty : float
        C of the support vector machine.
    scaling : str
        "none", "rows" (one factor for all) or "standard" (each feature by its deviation).
    converged : bool
        Whether the final fit ended before its limit of iterations.
    seconds : float
        Time to choose, fit and predict.

    Examples
    --------
    >>> Classification(70.0, 71.0, 70.2, 71.5, 281, 1.0, "none", True, 2.0).as_dict()["f1"]
    70.2
    """

    precision: float
    recall: float
    f1: float
    accuracy: float
    n_features: int
    penalty: float
    scaling: str
    converged: bool
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)

    @classmethod
    def of_predictions(cls, wanted: ArrayLike, found: ArrayLike, seconds: float) -> Self:
        """Score classes that a method named by itself, without a support vector machine.

        Examples
        --------
        >>> Classification.of_predictions(["a", "b"], ["a", "b"], 0.0).f1
        100.0
        """
        precision, recall, f1, accuracy = _scores(np.asarray(wanted), np.asarray(found))
        return cls(precision, recall, f1, accuracy, 0, 0.0, "none", True, seconds)


def classify(
    train: Features,
    train_labels: ArrayLike,
    test: Features,
    test_labels: ArrayLike,
    protocol: Protocol = "paper",
    *,
    n_jobs: int | None = 1,
) -> Classification:
    """Fit a linear support vector machine on some documents and score it on others.

    Parameters
    ----------
    train, test : array or csr_array, (D, F) and (E, F)
        Features of the documents.
    train_labels, test_labels : array of str, (D,) and (E,)
        Their classes.
    protocol : {"paper", "strong"}
        "paper": l1 penalty with C = 1 on the features as they are. "strong": l2 penalty, C and
        whether features are standardised chosen by cross-validation on the training documents,
        so that no features are judged by their scale. Both one class against the rest.
    n_jobs : int or None
        Processes for the fits; None for one a core. The result does not depend on it.

    Returns
    -------
    Classification

    Examples
    --------
    >>> train, test = np.array([[0, 1], [0, 2], [1, 0], [2, 0]]), np.array([[0, 3], [3, 0]])
    >>> classify(train, ["a", "a", "b", "b"], test, ["a", "b"], "strong").f1
    100.0
    """
    if protocol not in get_args(Protocol):
        raise DataError(f'protocol must be "paper" or "strong"; found {protocol!r}')
    n_processes = LocalEngine(n_jobs).n_jobs
    known, wanted = np.asarray(train_labels), np.asarray(test_labels)
    _check_shapes(train, known, test, wanted)
    start = time.perf_counter()
    with (
        warnings.catch_warnings(),
        threadpool_limits(1, "blas"),  # its vectors are short
        parallel_config("loky", inner_max_num_threads=1),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)  # said in the result
        model = _FITS[protocol](train, known, n_processes)
    precision, recall, f1, accuracy = _scores(wanted, model.predict(test))
    return Classification(
        precision,
        recall,
        f1,
        accuracy,
        n_features=int(train.shape[1]),
        penalty=float(model[-1].estimator.C),
        scaling=model[0].kind if len(model) > 1 else "none",
        converged=all(np.max(each.n_iter_) < each.max_iter for each in model[-1].estimators_),
        seconds=time.perf_counter() - start,
    )


class RowScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scale features so that rows have length 1 in the median, after standardising them or not.

    One grid of penalties then suits all features.

    Parameters
    ----------
    kind : {"rows", "standard"}
        "standard" first divides each feature by its standard deviation and, in a dense matrix,
        takes its mean away.

    Examples
    --------
    >>> RowScaler().fit_transform(np.array([[3.0, 0.0], [0.0, 3.0]]))
    array([[1., 0.], [0., 1.]])
    """

    def __init__(self, kind: Literal["rows", "standard"] = "rows") -> None:
        self.kind = kind

    def fit(self, X: Features, y: object = None) -> Self:  # noqa: ARG002
        """Learn the factor and, if asked for, the deviations."""
        self.standard_ = None
        if self.kind == "standard":
            self.standard_ = StandardScaler(with_mean=not issparse(X)).fit(X)
        length = float(np.median(row_norms(self._standard(X))))  # a mean would follow the longest
        self.factor_ = 1.0 / length if length > 0 else 1.0
        return self

    def transform(self, X: Features) -> Features:
        """Scale features (D, F)."""
        scaled: Features = self._standard(X) * self.factor_
        return scaled

    def _standard(self, X: Features) -> Any:
        return X if self.standard_ is None else self.standard_.transform(X)


def _fit_paper(train: Features, labels: NDArray[np.str_], n_jobs: int) -> Any:
    svm = LinearSVC(
        penalty="l1", dual=False, C=1.0, random_state=0, max_iter=_MOST_ITERATIONS["paper"]
    )
    return Pipeline([("svm", OneVsRestClassifier(svm, n_jobs=n_jobs))]).fit(train, labels)


def _fit_strong(train: Features, labels: NDArray[np.str_], n_jobs: int) -> Any:
    smallest = int(np.unique(labels, return_counts=True)[1].min())
    if smallest < 2:
        raise DataError(
            "cross-validation needs at least two training documents of each class; found a class "
            "with one: give more documents or drop the class"
        )
    folds = StratifiedKFold(min(_FOLDS, smallest), shuffle=True, random_state=0)
    svm = LinearSVC(dual=False, tol=_TOLERANCE, max_iter=_MOST_ITERATIONS["strong"])
    grid = {"scaler__kind": ["rows", "standard"], "svm__estimator__C": list(_PENALTIES)}
    steps = Pipeline([("scaler", RowScaler()), ("svm", OneVsRestClassifier(svm))])
    search = GridSearchCV(steps, grid, scoring="f1_macro", cv=folds, n_jobs=n_jobs)
    return search.fit(train, labels).best_estimator_


_FITS: dict[Protocol, Callable[[Features, NDArray[np.str_], int], Any]] = {
    "paper": _fit_paper,
    "strong": _fit_strong,
}


def _scores(wanted: NDArray[np.str_], found: NDArray[np.str_]) -> list[float]:
    means = precision_recall_fscore_support(wanted, found, average="macro", zero_division=0)[:3]
    return [100.0 * float(score) for score in (*means, accuracy_score(wanted, found))]


def _check_shapes(
    train: Features, known: NDArray[np.str_], test: Features, wanted: NDArray[np.str_]
) -> None:
    for name, features, labels in (("train", train, known), ("test", test, wanted)):
        if features.shape[0] != len(labels):
            raise DataError(
                f"{name} must have one label a row; found {features.shape[0]} rows and "
                f"{len(labels)} labels"
            )
    if train.shape[1] != test.shape[1]:
        raise DataError(
            f"train and test must have the same features; found {train.shape[1]} "
            f"and {test.shape[1]}"
        )
    if len(np.unique(known)) < 2:
        raise DataError("a classifier needs at least two classes in train; found fewer")

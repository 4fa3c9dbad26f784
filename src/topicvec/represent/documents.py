"""A document as a vector, in several forms."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import Engine, resolve_engine
from topicvec.errors import DataError
from topicvec.model.counts import DocumentCounter, report_unknown
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import infer, one_pass
from topicvec.model.topicvec import TopicVec
from topicvec.represent.own_words import own_word_features, unseen_features
from topicvec.represent.similarity import unit_rows

__all__ = ["FORMS", "SHARPNESS", "Form", "feature_names", "represent", "represent_training"]

Floats = NDArray[np.floating]
Form = Literal[
    "proportions",
    "sqrt",
    "counts",
    "topic-mean",
    "word-mean",
    "both",
    "own-words",
    "own-both",
    "own-directions",
]

FORMS: tuple[Form, ...] = get_args(Form)
# How sharply words are shared among topics. Words of a document repeat each other's evidence:
# alone, shares that are less sharp are better by 0.1 to 0.2 points of macro F1 on held-out training
# documents of Reuters and worse by 0.1 to 0.3 on those of 20 Newsgroups; beside mean vectors, which
# are not sharp at all, they are worse by 0.5 to 1.4 points there (benchmarks/choices.py).
SHARPNESS: Mapping[str, float] = {"own-words": 0.6, "own-both": 1.0, "own-directions": 0.6}
_BESIDE = ("both", "own-both", "own-directions")  # topics and dimensions side by side


def represent(
    model: TopicVec,
    documents: Any,
    form: Form = "sqrt",
    *,
    prior: bool = True,
    sharpness: float | None = None,
) -> Floats:
    """Give each document as a vector.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    documents : iterable of str, Document or token lists; or matrix of counts
        The documents.
    form : str
        - "proportions": topic proportions φ, as from ``transform``; rows sum to 1.
        - "sqrt": their square roots, of length 1; products are Hellinger affinities.
        - "counts": expected number of tokens of each topic.
        - "topic-mean": the mean topic vector Σ_k φ_k t_k, a point among the words.
        - "word-mean": the mean of the vectors of the known words.
        - "both": "sqrt" and "word-mean" side by side.
        - "own-words": how much of each topic's words the document has, where the training
          documents correct the vectors, see `topicvec.represent.own_words`; the best for
          classifiers, and without a prior in any case. To train one, see `represent_training`.
        - "own-both": the same, words shared more sharply, and "word-mean" beside it.
        - "own-directions": "own-words" and the mean direction of the known words side by side,
          each of length 1; the best for classifiers that have few labels.
    prior : bool
        False takes one pass without a prior on the mixture. Each token then counts for itself,
        which keeps more of a document and is better for classifiers.
    sharpness : float, optional
        For the own forms: how sharply words are shared among topics, see
        `topicvec.represent.own_words`. By default 1 for "own-both" and 0.6 for the others.

    Returns
    -------
    array, (D, K), (D, N) or (D, K + N)
        A document without a known word has the prior's mixture and a mean of zeros.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> [represent(model, ["cat dog"], form).shape[1] for form in ("sqrt", "word-mean", "both")]
    [2, 3, 5]
    >>> represent(model, ["cat dog"], "word-mean")
    array([[1., 1., 0.]])
    """
    check_form(form)
    counts, fitted = count_words(model, documents), model.fitted_
    if form == "word-mean":
        return _word_mean(fitted, counts)
    engine = resolve_engine(model.n_jobs)
    if form in SHARPNESS:
        found = own_word_features(fitted, counts, engine, sharpness=sharpness_of(form, sharpness))
    else:
        found = _mixtures(fitted, counts, engine, form, prior)
    return _with_word_mean(found, form, fitted, counts)


def check_form(form: str) -> None:
    """Refuse a form that `represent` does not know.

    Examples
    --------
    >>> check_form("log")
    Traceback (most recent call last):
    topicvec.errors.DataError: form must be one of proportions, sqrt, ...; found 'log'
    """
    if form not in FORMS:
        raise DataError(f"form must be one of {', '.join(FORMS)}; found {form!r}")


def sharpness_of(form: Form, sharpness: float | None = None) -> float:
    """Give the sharpness that is meant: the given one, or the form's own.

    Examples
    --------
    >>> sharpness_of("own-words"), sharpness_of("own-words", 0.5)
    (0.6, 0.5)
    """
    return SHARPNESS.get(form, 1.0) if sharpness is None else sharpness


def represent_training(
    model: TopicVec,
    documents: Any,
    y: Any,
    form: Form = "sqrt",
    *,
    prior: bool = True,
    sharpness: float | None = None,
) -> Floats:
    """Give the documents that a model learned from as vectors, to train a classifier on.

    A topic knows the words of its own documents too well: for "own-words" and "own-both" each
    document is described by topics whose words were counted without it. For the other forms
    this is `represent`.

    Parameters
    ----------
    model : TopicVec
        A model fitted to these documents.
    documents, form, prior, sharpness
        As for `represent`.
    y : sequence of D classes, or None
        What the model was fitted with.

    Returns
    -------
    array, (D, K), (D, N) or (D, K + N)

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> texts = ["cat dog", "car car", "cat", "car", "dog"]
    >>> model = TopicVec(1, vectors, random_state=0).fit(texts)
    >>> represent_training(model, texts, None, "own-words").shape
    (5, 2)
    """
    if form not in SHARPNESS:
        return represent(model, documents, form, prior=prior)
    counts, fitted = count_words(model, documents), model.fitted_
    allowed, engine = allowed_topics(fitted, y), resolve_engine(model.n_jobs)
    sharp = sharpness_of(form, sharpness)
    found = unseen_features(fitted, counts, engine, allowed=allowed, sharpness=sharp)
    return _with_word_mean(found, form, fitted, counts)


def allowed_topics(fitted: FittedTopics, y: Any) -> NDArray[np.bool_] | None:
    """Say which topics (D, K) documents could use while learning: shared and of their class."""
    if all(name is None for name in fitted.classes):
        return None
    labels = np.asarray(y).astype(str)
    shared = np.array([name is None for name in fitted.classes])
    own = labels[:, None] == np.array([str(name) for name in fitted.classes])
    return np.asarray(own | shared)


def feature_names(model: TopicVec, form: Form = "sqrt") -> list[str]:
    """Name the columns of what `represent` returns.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    form : str
        As for `represent`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> feature_names(model, "both")
    ['topic0', 'topic1', 'dim0', 'dim1', 'dim2']
    """
    topics = [f"topic{row}" for row in range(model.fitted_.n_topics)]
    dims = [f"dim{column}" for column in range(model.vectors_.n_dims)]
    if form in _BESIDE:
        return topics + dims
    return dims if form.endswith("-mean") else topics


def counter_of(model: TopicVec) -> DocumentCounter:
    """Give what reads documents as the model does.

    Examples
    --------
    >>> from topicvec import TopicVec
    >>> counter_of(TopicVec()).tokens("Cats purr.")
    ['cats', 'purr']
    """
    if not hasattr(model, "_counter"):
        raise DataError(f"expected a TopicVec, and then documents; found {type(model).__name__}")
    return model._counter()


def count_words(model: TopicVec, documents: Any) -> csr_array:
    """Count the known words (D, W) of documents, and report what is unknown.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> count_words(model, ["A cat, a car."]).toarray().tolist()
    [[1, 0, 1]]
    """
    counted = counter_of(model).count(documents, model.vectors_)
    report_unknown(counted.report)
    return counted.counts


def _mixtures(
    fitted: FittedTopics, counts: csr_array, engine: Engine, form: Form, prior: bool
) -> Floats:
    """Give how much of each topic the documents have, as counts, shares, roots or a mean."""
    if prior:
        expected: Floats = infer(fitted, counts, engine).theta - fitted.alpha
    else:
        expected = one_pass(fitted, counts, engine)
    if form == "counts":
        return expected
    if prior:
        expected = expected + fitted.alpha
    else:
        expected[expected.sum(axis=1) == 0] = fitted.alpha
    shares: Floats = expected / expected.sum(axis=1, keepdims=True)
    if form == "topic-mean":
        shares = shares @ fitted.topics.astype(float)
    return shares if form in ("proportions", "topic-mean") else np.sqrt(shares)


def _with_word_mean(found: Floats, form: Form, fitted: FittedTopics, counts: csr_array) -> Floats:
    if form == "own-directions":
        directions = _word_mean(fitted, counts, unit=True)
        return np.hstack([unit_rows(found.astype(float)), unit_rows(directions.astype(float))])
    return np.hstack([found, _word_mean(fitted, counts)]) if form in _BESIDE else found


def _word_mean(fitted: FittedTopics, counts: csr_array, unit: bool = False) -> Floats:
    types = np.unique(counts.indices)  # a corpus has few of the vectors' words
    totals = np.asarray(counts.sum(axis=1), float)
    vectors = fitted.vectors.matrix[types].astype(float)
    sums = counts[:, types].astype(float) @ (unit_rows(vectors) if unit else vectors)
    return np.asarray(sums / np.maximum(totals, 1e-300)[:, None])

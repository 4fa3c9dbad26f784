"""Topics that are taught to tell classes apart: mixtures of tilted topics, and class scores."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from topicvec.checks import check_choice, check_number, check_whole
from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.model.fitted import FittedTopics
from topicvec.represent.documents import allowed_topics, count_words
from topicvec.represent.own_words import damped, masses_without, topics_of_words
from topicvec.represent.similarity import unit_rows
from topicvec_bench.base import ABOVE_ZERO, Baseline, Floats, Ints, TokenLists, checked
from topicvec_bench.controls import RandomGroups
from topicvec_bench.mixtures import weigh
from topicvec_bench.topicvec import TopicVecFeatures

__all__ = ["SupervisedTopics", "WordWeights", "tilted"]

_SHARPNESS = 0.6  # as in the row own-words
_MOST_ITERATIONS = 100  # as on the held-out documents; a few words still move then


class WordWeights(NamedTuple):
    """How much each word speaks for each class.

    Attributes
    ----------
    table : array, (W, C)
        Weights; 0 for words that no training document has.
    bias : array, (C,)
        How likely classes are without a word.
    """

    table: Floats
    bias: Floats


class SupervisedTopics(Baseline):
    """Proportions of topics whose words are tilted towards their class, beside class scores.

    Topics of each class are learned as for `TopicVecFeatures`, and a logistic regression learns
    from the same documents how much each word speaks for each class, δ_wc. One E-step from an even
    start then shares a word among topics by P̃(w|k)^0.6 exp(tilt δ_wc(k)), where P̃(w|k) is what
    own-words have; the null topic is not tilted. The proportions have length 1, and beside them
    stand the scores Σ_w x_w δ_wc, less their mean, at the length ``weight``. Training documents are
    described in five folds by words counted, and weights learned, without them.

    Parameters
    ----------
    n_topics : int
        Number of topics of each class, the null topic among them.
    vectors : WordVectors, optional
        By default those that come with the package.
    groups : {"topics", "random"}
        "random" is the control: random groups of each class's documents in place of topics.
    tilt : float
        How much the weights of words change the topics; 0 leaves them as they are.
    pull : float
        Penalty ``pull / 2`` on the squares of the weights.
    weight : float
        Length of the class scores beside the proportions.
    random_state : int
        Seed.

    Examples
    --------
    >>> documents = [["cat"], ["cat", "cow"], ["car"], ["car", "bus"]] * 5
    >>> model = SupervisedTopics(3, groups="random").fit(documents, ["a", "a", "b", "b"] * 5)
    >>> model.transform([["cat"]]).shape
    (1, 7)
    """

    def __init__(
        self,
        n_topics: int = 15,
        vectors: WordVectors | None = None,
        *,
        groups: Literal["topics", "random"] = "topics",
        tilt: float = 0.3,
        pull: float = 0.1,
        weight: float = 0.3,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.groups = groups
        self.tilt = tilt
        self.pull = pull
        self.weight = weight
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn topics of each class, and how much words speak for classes."""
        tokens = checked(documents)
        self._check(tokens, y)
        self._classes = np.asarray(y)
        self.classes_ = np.unique(self._classes)
        kind: Any = RandomGroups if self.groups == "random" else TopicVecFeatures
        self._start = kind(self.n_topics, self.vectors, random_state=self.random_state)
        self._start.fit(tokens, y)
        counts = self._counts(tokens)
        self.weights_ = self._learn(counts, np.arange(len(tokens)))
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Give proportions of topics beside class scores (D, K + C)."""
        counts = self._counts(checked(documents))
        return self._features(counts, self._fitted().word_mass, self.weights_)

    def fit_transform(self, documents: TokenLists, y: Sequence[str] | None = None) -> Floats:
        """Learn, and describe the same documents as if they were new (D, K + C)."""
        tokens = checked(documents)
        counts = self.fit(tokens, y)._counts(tokens)
        parts, order = [], []
        for rows, masses in self._folds(counts):
            weights = self._learn(counts, np.setdiff1d(np.arange(len(tokens)), rows))
            parts.append(self._features(counts[rows], masses, weights))
            order.append(rows)
        return np.asarray(np.concatenate(parts)[np.argsort(np.concatenate(order))])

    def _check(self, tokens: list[list[str]], y: Sequence[str] | None) -> None:
        check_whole("n_topics", self.n_topics, 2)
        check_choice("groups", self.groups, "topics", "random")
        check_number("tilt", self.tilt)
        check_number("pull", self.pull, ABOVE_ZERO)
        check_number("weight", self.weight)
        if y is None or len(y) != len(tokens):
            raise DataError(
                f"expected a class for each of the {len(tokens)} documents as y; found "
                f"{'none' if y is None else len(y)}"
            )

    def _fitted(self) -> FittedTopics:
        random = isinstance(self._start, RandomGroups)
        found: FittedTopics = self._start.fitted_ if random else self._start.model_.fitted_
        return found

    def _counts(self, tokens: list[list[str]]) -> csr_array:
        if isinstance(self._start, RandomGroups):
            return self._start.count(tokens)
        return count_words(self._start.model_, tokens)

    def _folds(self, counts: csr_array) -> Iterator[tuple[Ints, csr_array]]:
        if isinstance(self._start, RandomGroups):
            return self._start.folds()
        fitted = self._fitted()
        allowed = allowed_topics(fitted, self._classes)
        return masses_without(fitted, counts, LocalEngine(1), allowed=allowed)

    def _learn(self, counts: csr_array, rows: Ints) -> WordWeights:
        weighed = _unit(weigh(self._fitted(), counts[rows]))
        return _word_weights(weighed, self._classes[rows], self.classes_, self.pull)

    def _features(self, counts: csr_array, masses: csr_array, weights: WordWeights) -> Floats:
        fitted, types = self._fitted(), np.unique(counts.indices)
        shares = topics_of_words(
            fitted, types, LocalEngine(1), sharpness=_SHARPNESS, word_mass=masses
        )
        shares = tilted(shares, self.tilt * weights.table[types], self._owners(fitted))
        proportions = damped(counts)[:, types] @ shares
        scores = _unit(weigh(fitted, counts)) @ weights.table + weights.bias
        centred = scores - scores.mean(axis=1, keepdims=True)
        return np.hstack([unit_rows(proportions), self.weight * unit_rows(centred)])

    def _owners(self, fitted: FittedTopics) -> Ints:
        """Give the class of each topic, -1 for the null topic."""
        place = {name: number for number, name in enumerate(self.classes_.astype(str).tolist())}
        return np.array([-1 if name is None else place[str(name)] for name in fitted.classes])


def tilted(shares: Floats, offsets: Floats, owners: Ints) -> Floats:
    """Multiply shares of words in topics (U, K) by exp of the offsets (U, C) of their classes.

    Examples
    --------
    >>> shares = np.array([[0.2, 0.4, 0.4]])
    >>> tilted(shares, np.log([[2.0, 1.0]]), np.array([-1, 0, 1])).round(3)
    array([[0.143, 0.571, 0.286]])
    """
    untilted = np.zeros((len(offsets), 1))
    changed = shares * np.exp(np.hstack([offsets, untilted])[:, owners])  # -1 is the last column
    return np.asarray(changed / changed.sum(axis=1, keepdims=True))


def _word_weights(weighed: csr_array, classes: Any, names: Any, pull: float) -> WordWeights:
    """Learn weights by multinomial logistic regression; a class without documents has none."""
    model = LogisticRegression(C=1 / pull, max_iter=_MOST_ITERATIONS)
    there = np.searchsorted(names, np.unique(classes))
    table, bias = np.zeros((weighed.shape[1], len(names))), np.zeros(len(names))
    if len(there) < 2:
        return WordWeights(table, bias)
    types = np.unique(weighed.indices)
    model.fit(weighed[:, types], classes)
    coefficients, intercept = model.coef_, model.intercept_
    if len(there) == 2:  # which has one row, for the second class
        coefficients = np.vstack([-coefficients, coefficients]) / 2
        intercept = np.concatenate([-intercept, intercept]) / 2
    table[np.ix_(types, there)] = coefficients.T
    bias[there] = intercept
    return WordWeights(table, bias)


def _unit(counts: csr_array) -> csr_array:
    """Scale rows to length 1; a row without words stays empty."""
    sizes = np.diff(counts.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    lengths = np.sqrt(np.bincount(rows, counts.data**2, len(sizes)))
    return csr_array((counts.data / lengths[rows], counts.indices, counts.indptr), counts.shape)

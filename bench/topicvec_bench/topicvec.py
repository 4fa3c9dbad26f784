"""TopicVec itself: how much of each class's topics a document has, and topics to be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine, LocalEngine
from topicvec.errors import DataError
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import infer, one_pass
from topicvec.model.reading import read_topics
from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import (
    allowed_topics,
    count_words,
    represent,
    represent_training,
)
from topicvec.represent.own_words import masses_without
from topicvec.represent.similarity import unit_rows
from topicvec_bench.base import Floats, TokenLists, TopicBaseline, checked
from topicvec_bench.mixtures import PSEUDO_TOKENS, likelihood_features

__all__ = ["DefaultTopics", "FeatureForm", "TopicVecFeatures", "TopicVecTopics"]

FeatureForm = Literal["proportions", "square roots", "own-words", "likelihoods"]

# The rows of the tables are the paper's model: vectors as they are, topics without own words.
PAPER: Mapping[str, Any] = {"own_words": False, "alpha": 0.1}


class TopicVecFeatures(TopicBaseline):
    """The paper's features: topic proportions of the posterior after one E-step.

    Parameters
    ----------
    n_topics : int
        Number of topics of each class if `fit` is given classes, or of the corpus; the null
        topic is one of them.
    vectors : WordVectors or path, optional
        By default those that come with the package.
    max_norm : float
        Longest topic vector allowed, the paper's γ.
    form : {"proportions", "square roots", "own-words", "likelihoods"}
        "proportions" are the posterior means E[φ_k] = (α_k + m_k) / Σ_j (α_j + m_j) after one
        E-step from an even start. "square roots" are theirs. "own-words" are no proportions:
        damped counts of words, each shared among the topics by what the training documents had
        of it, see `topicvec.represent.represent`. "likelihoods" are square roots of settled
        proportions beside the likelihood of each class, see `topicvec_bench.mixtures`, of topics
        that are given words of their own once they have been learned; parts have length 1.
    with_mean : bool
        Whether the mean word vector stands beside them.
    weighted : bool
        Whether words are weighed for "likelihoods", see `topicvec_bench.mixtures`.
    sharpness : float
        How sharply "own-words" shares words among topics.
    n_passes : int, optional
        E-steps of a document; None goes on until the mixture has settled. Not for "own-words".
    options : mapping, optional
        Further parameters of `topicvec.TopicVec`.
    random_state : int
        Seed.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    >>> model = TopicVecFeatures(2, vectors).fit([["cat"], ["dog", "car"]], ["a", "b"])
    >>> model.transform([["cat"]]).shape, float(model.transform([["cat"]]).sum().round(6))
    ((1, 3), 1.0)
    """

    _options: ClassVar[Mapping[str, Any]] = PAPER

    def __init__(
        self,
        n_topics: int = 15,
        vectors: WordVectors | str | PathLike[str] | None = None,
        *,
        max_norm: float = 7.0,
        form: FeatureForm = "proportions",
        with_mean: bool = False,
        weighted: bool = False,
        sharpness: float = 1.0,
        n_passes: Literal[1] | None = 1,
        options: Mapping[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.max_norm = max_norm
        self.form = form
        self.with_mean = with_mean
        self.weighted = weighted
        self.sharpness = sharpness
        self.n_passes = n_passes
        self.options = options
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn topics of each class, or without classes of all documents."""
        tokens = checked(documents)
        if self.form not in get_args(FeatureForm):
            known = ", ".join(get_args(FeatureForm))
            raise DataError(f"form must be one of {known}; found {self.form!r}")
        if self.form == "likelihoods" and y is None:
            raise DataError("likelihoods are of classes: expected the documents' classes as y")
        if self.n_passes not in (1, None):
            raise DataError(f"n_passes must be 1 or None; found {self.n_passes!r}")
        model = TopicVec(
            self.n_topics - 1,  # which has the null topic beside them
            self._given_vectors(),
            max_norm=self.max_norm,
            stop_words=None,
            share="corpus" if y is None else "class",
            random_state=self.random_state,
            **{**self._options, **(self.options or {})},
        )
        self.model_ = model.fit(tokens, y)
        return self

    def transform(self, documents: TokenLists) -> NDArray[np.floating]:
        """Describe documents by their topics (D, K), and means (D, N) where they are asked for."""
        tokens = checked(documents)
        if self.form == "own-words":
            found = represent(self.model_, tokens, "own-words", sharpness=self.sharpness)
        else:
            counts = count_words(self.model_, tokens)
            found = self._described(self._fitted(), counts, LocalEngine())
        return self._joined(found, tokens)

    def fit_transform(
        self, documents: TokenLists, y: Sequence[str] | None = None
    ) -> NDArray[np.floating]:
        """Learn topics and describe the same documents (D, K) as if they were new.

        Topics that have words of their own know the documents that these were counted in, so
        they are counted, in five folds, without the documents that are described.
        """
        fitted = self.fit(documents, y)._fitted()
        tokens = checked(documents)
        if self.form == "own-words":
            found = represent_training(
                self.model_, tokens, y, "own-words", sharpness=self.sharpness
            )
            return self._joined(found, tokens)
        if not np.isfinite(fitted.pseudo).any():
            return self.transform(tokens)
        return self._joined(self._unseen(fitted, count_words(self.model_, tokens), y), tokens)

    def _fitted(self) -> FittedTopics:
        """Give the topics; for likelihoods with words of their own, where they have none yet."""
        fitted = self.model_.fitted_
        if self.form != "likelihoods" or np.isfinite(fitted.pseudo).any():
            return fitted
        pseudo = np.full(fitted.n_topics, PSEUDO_TOKENS)
        pseudo[0] = np.inf  # the null topic has all words of the language
        return replace(fitted, pseudo=pseudo)

    def _unseen(self, fitted: FittedTopics, counts: csr_array, y: Any) -> Floats:
        engine, parts, order = LocalEngine(), [], []
        folds = masses_without(
            self.model_.fitted_, counts, engine, allowed=allowed_topics(fitted, y)
        )
        for rows, others in folds:
            parts.append(self._described(replace(fitted, word_mass=others), counts[rows], engine))
            order.append(rows)
        return np.asarray(np.concatenate(parts)[np.argsort(np.concatenate(order))])

    def _described(self, fitted: FittedTopics, counts: csr_array, engine: Engine) -> Floats:
        if self.form == "likelihoods":
            return likelihood_features(fitted, counts, engine, self.weighted)
        if self.n_passes == 1:
            return self._shares(one_pass(fitted, counts, engine))
        return self._shares(infer(fitted, counts, engine).theta - fitted.alpha)

    def _given_vectors(self) -> Any:
        return "general" if self.vectors is None else self.vectors

    def _shares(self, masses: Floats) -> Floats:
        theta = self.model_.fitted_.alpha + masses
        shares: Floats = theta / theta.sum(axis=1, keepdims=True)
        return np.sqrt(shares) if self.form == "square roots" else shares

    def _joined(self, found: Floats, tokens: list[list[str]]) -> Floats:
        if not self.with_mean:
            return found
        means = represent(self.model_, tokens, "word-mean")
        return np.hstack(
            [found, unit_rows(means.astype(float)) if self.form == "likelihoods" else means]
        )

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the n most relevant words of each live topic but the null topic."""
        topics = read_topics(self.model_.fitted_, n_words=n, n_nearest=0)
        return [[word for word, _ in topic.words] for topic in topics if not topic.is_null]


class DefaultTopics(TopicVecFeatures):
    """Topics of each class by the defaults of `TopicVec`, and mixtures that have settled.

    Vectors learn from the training documents, topics have words of their own and α is 1 / K.

    Parameters
    ----------
    n_topics, vectors, max_norm, form, with_mean, weighted, sharpness, n_passes, options
        As in `TopicVecFeatures`; `vectors` is not used.

    Examples
    --------
    >>> DefaultTopics(form="square roots", n_passes=None).form
    'square roots'
    """

    _options: ClassVar[Mapping[str, Any]] = {}

    def _given_vectors(self) -> Any:
        return None


class TopicVecTopics(TopicBaseline):
    """TopicVec as it is by default, from token lists; the null topic is neither counted nor listed.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    vectors : WordVectors, optional
        The word vectors; by default general ones that learn from the documents.
    random_state : int
        Seed.
    n_jobs : int, engine or None
        As for `TopicVec`.

    Attributes
    ----------
    model_ : TopicVec
        The fitted model.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1] * 4)
    >>> model = TopicVecTopics(2, vectors).fit([["cat", "dog"], ["bus", "car"]] * 5)
    >>> sorted(sorted(words) for words in model.topic_words(2))
    [['bus', 'car'], ['cat', 'dog']]
    """

    def __init__(
        self,
        n_topics: int = 20,
        vectors: WordVectors | None = None,
        *,
        random_state: int = 0,
        n_jobs: int | Engine | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn topics from token lists."""
        self.model_ = TopicVec(
            self.n_topics,
            self.vectors,
            stop_words=None,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(checked(documents))
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Give the proportions (D, K) of all topics but the null topic."""
        return np.asarray(self.model_.transform(checked(documents)))[:, 1:]

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the first words of each topic that lives, in the order of their rows."""
        read = read_topics(self.model_.fitted_, n_words=n, n_nearest=0)
        live = sorted((topic for topic in read if not topic.is_null), key=lambda t: t.index)
        return [[word for word, _ in topic.words] for topic in live]

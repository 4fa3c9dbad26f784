"""What can be done with topics once they are there: describe documents, operate, save."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import DataError
from topicvec.model import operations
from topicvec.model.checks import checked_engine
from topicvec.model.estimator import Estimator, not_fitted
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import Inferred, TokenTopic, infer, one_pass
from topicvec.model.inputs import Counted, Reader, Text, report_unknown
from topicvec.model.params import from_settings
from topicvec.model.reading import Topic, read_topics

__all__ = ["TopicModel"]

Floats = NDArray[np.floating]


class TopicModel(Estimator):
    """The part of `TopicVec` that needs fitted topics."""

    tokenizer: Callable[[str], list[str]] | None
    stop_words: Any
    vocabulary: Any
    weighted: bool
    n_jobs: int | Engine | None
    _fitted: FittedTopics

    @property
    def fitted_(self) -> FittedTopics:
        """Everything that is known of the topics, as one record."""
        if "_fitted" not in vars(self):
            raise not_fitted(self)
        return self._fitted

    @property
    def vectors_(self) -> WordVectors:
        """The word vectors in use."""
        return self.fitted_.vectors

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The words that the model knows, one for each vector."""
        return self.fitted_.vectors.words

    @cached_property
    def topics_(self) -> tuple[Topic, ...]:
        """The live topics as people read them, the largest first and the null topic last."""
        return read_topics(self.fitted_)

    def transform(self, X: Any) -> Floats:
        """Give each document's topic proportions.

        Parameters
        ----------
        X : iterable of str, Document or token lists; or matrix of counts
            The documents.

        Returns
        -------
        array, (D, K)
            Rows sum to 1. A document without a known word gets the prior mean.

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.transform(["the cat"]).sum(axis=1).round(6)
        array([1.])
        """
        return self._infer(X).proportions

    def expected_counts(self, X: Any, *, prior: bool = True) -> Floats:
        """Give the expected number of tokens of each topic in each document.

        Parameters
        ----------
        X : documents
            As for `transform`.
        prior : bool
            False takes one pass without a prior on the mixture, as the original program did
            for its features; each token then counts for itself, whatever the document.

        Returns
        -------
        array, (D, K)
            Rows sum to the number of known tokens.

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.expected_counts(["cat and dog"], prior=False).sum().round(6)
        np.float64(2.0)
        """
        if prior:
            inferred = self._infer(X)
            expected: Floats = inferred.theta - self.fitted_.alpha
            return expected
        return one_pass(self.fitted_, self._count(X).counts, self._engine())

    def sqrt_proportions(self, X: Any, *, prior: bool = True) -> Floats:
        """Give square roots of the topic proportions: unit vectors, good for classifiers.

        Parameters
        ----------
        X : documents
            As for `transform`.
        prior : bool
            As for `expected_counts`.

        Returns
        -------
        array, (D, K)
            Rows have length 1.

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> np.linalg.norm(model.sqrt_proportions(["cat"])).round(6)
        np.float64(1.0)
        """
        if prior:
            return np.sqrt(self.transform(X))
        expected = self.expected_counts(X, prior=False)
        expected[expected.sum(axis=1) == 0] = self.fitted_.alpha
        shares: Floats = expected / expected.sum(axis=1, keepdims=True)
        return np.sqrt(shares)

    def responsibilities(self, text: Text) -> list[TokenTopic]:
        """Say for each token of a text which topic it most probably comes from.

        Parameters
        ----------
        text : str, Document or token list
            One document.

        Returns
        -------
        list of TokenTopic
            All tokens in order; topic None for stop words and words without a vector.

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.responsibilities("the cat")[0]
        TokenTopic(token='the', topic=None, probability=0.0)
        """
        reader = self._reader()
        tokens = reader.tokens(text)
        counted = reader.known(tokens, self.fitted_.vectors)
        inferred = self._infer([tokens])
        rows = np.array(list(dict.fromkeys(counted.values())), dtype=np.int64)
        found = dict(zip(rows.tolist(), inferred.responsibilities(0, rows), strict=True))
        return [_record(token, found.get(counted.get(token, -1))) for token in tokens]

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002
        """Give the bound on the log-likelihood for each known token; higher is better.

        Parameters
        ----------
        X : documents
            As for `transform`.
        y : ignored
            For scikit-learn.

        Returns
        -------
        float
            In nats a token.

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.score(["cat"]) < 0
        True
        """
        inferred = self._infer(X)
        if inferred.n_tokens == 0:
            raise DataError("a score needs at least one known word; found none")
        return inferred.bound / inferred.n_tokens

    def perplexity(self, X: Any) -> float:
        """Give exp(−score): as uncertain as a choice among so many words; lower is better.

        Parameters
        ----------
        X : documents
            As for `transform`.

        Returns
        -------
        float

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.perplexity(["cat"]) > 1
        True
        """
        return float(np.exp(-self.score(X)))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name the columns of what `transform` returns.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn.

        Returns
        -------
        array of str, (K,)

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> model.get_feature_names_out()
        array(['topicvec0', 'topicvec1'], dtype=object)
        """
        prefix = type(self).__name__.lower()
        names = [f"{prefix}{topic}" for topic in range(self.fitted_.n_topics)]
        return np.array(names, dtype=object)

    def drop(self, topics: Iterable[int]) -> Self:
        """Return a model without some topics, see `topicvec.model.operations.drop`."""
        return self._with(operations.drop(self.fitted_, topics))

    def prune(self, min_share: float = 0.001) -> Self:
        """Return a model without small topics, see `topicvec.model.operations.prune`."""
        return self._with(operations.prune(self.fitted_, min_share))

    def merge(self, groups: Iterable[Iterable[int]]) -> Self:
        """Return a model with groups of topics merged, see `topicvec.model.operations.merge`."""
        return self._with(operations.merge(self.fitted_, groups))

    def reduce(self, n_topics: int) -> Self:
        """Return a model with so many topics, see `topicvec.model.operations.reduce`."""
        return self._with(operations.reduce(self.fitted_, n_topics))

    def relabel(self, labels: Mapping[int, str | None]) -> Self:
        """Return a model with named topics, see `topicvec.model.operations.relabel`."""
        return self._with(operations.relabel(self.fitted_, labels))

    def concatenate(self, *others: "TopicModel") -> Self:
        """Return a model with all topics, see `topicvec.model.operations.concatenate`."""
        return self._with(
            operations.concatenate(self.fitted_, *(other.fitted_ for other in others))
        )

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the model to one file; options as for `topicvec.model.bundle.save`."""
        from topicvec.model import bundle

        bundle.save(self.fitted_, path, **options)

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, vectors: WordVectors | None = None, **params: Any
    ) -> Self:
        """Read a model that `save` wrote; it gives the same bits.

        Parameters
        ----------
        path : path
            The file.
        vectors : WordVectors, optional
            The word vectors, if they were not saved with the model.
        **params
            Parameters to change, for example ``n_jobs``, or a tokenizer of your own.

        Returns
        -------
        TopicVec
        """
        from topicvec.model import bundle

        return cls._of(bundle.load(path, vectors), params)

    @classmethod
    def _of(cls, fitted: FittedTopics, params: Mapping[str, Any]) -> Self:
        saved = from_settings(fitted.settings.get("params") or {})  # type: ignore[arg-type]
        known = {name: value for name, value in saved.items() if name in cls._defaults()}
        model = cls(**{**known, "vectors": fitted.vectors, **params})
        model._adopt(fitted)
        return model

    def _with(self, fitted: FittedTopics) -> Self:
        model = self.__sklearn_clone__()
        model._adopt(fitted)
        return model

    def _adopt(self, fitted: FittedTopics) -> None:
        """Copy a record into the attributes that users read."""
        vars(self).pop("topics_", None)
        history: Any = fitted.settings
        self._fitted = fitted
        self.topic_vectors_ = fitted.topics
        self.topic_residuals_ = fitted.residuals
        self.alpha_ = fitted.alpha
        self.bounds_: Sequence[float] = tuple(history.get("bounds") or ())
        self.n_iter_ = int(history.get("n_iter") or 0)
        self.converged_ = bool(history.get("converged"))
        self.unknown_words_: dict[str, int] = dict(history.get("unknown_words") or {})

    def _reader(self) -> Reader:
        return Reader(self.tokenizer, self.stop_words, self.vocabulary, self.weighted)

    def _engine(self) -> Engine:
        return checked_engine(self.n_jobs)

    def _count(self, X: Any) -> Counted:
        counted = self._reader().count(X, self.fitted_.vectors)
        report_unknown(counted.report)
        return counted

    def _infer(self, X: Any) -> Inferred:
        return infer(self.fitted_, self._count(X).counts, self._engine())


def _record(token: str, pi: Floats | None) -> TokenTopic:
    if pi is None:
        return TokenTopic(token, None, 0.0)
    topic = int(pi.argmax())
    return TokenTopic(token, topic, float(pi[topic]))

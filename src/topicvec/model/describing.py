"""What topics say of documents: proportions, expected counts, tokens, scores."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import DataError
from topicvec.estimator import Estimator, not_fitted
from topicvec.model.checks import checked_engine
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import Inferred, TokenTopic, infer, one_pass
from topicvec.model.inputs import Counted, Reader, Text, report_unknown
from topicvec.model.reading import Topic, read_topics

__all__ = ["DocumentModel"]

Floats = NDArray[np.floating]


class DocumentModel(Estimator):
    """The part of `TopicVec` that describes documents by fitted topics."""

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
        return [_record(token, pi) for token, pi in self._by_token(text)]

    def token_proportions(self, text: Text) -> tuple[list[str], Floats]:
        """Give the probabilities of all topics for each known token of a text.

        Parameters
        ----------
        text : str, Document or token list
            One document.

        Returns
        -------
        tokens : list of str
            The known tokens in order, L of them.
        proportions : array, (L, K)
            Rows sum to 1; their sum over the tokens is `expected_counts`.

        Examples
        --------
        >>> from topicvec.model.topicvec import TopicVec
        >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
        >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
        >>> tokens, proportions = model.token_proportions("the cat and the dog")
        >>> tokens, proportions.shape
        (['cat', 'dog'], (2, 2))
        """
        known = [(token, pi) for token, pi in self._by_token(text) if pi is not None]
        rows = np.array([pi for _, pi in known], float).reshape(-1, self.fitted_.n_topics)
        return [token for token, _ in known], rows

    def _by_token(self, text: Text) -> list[tuple[str, Floats | None]]:
        """Pair each token with the topics' probabilities; None without a vector."""
        reader = self._reader()
        tokens = reader.tokens(text)
        counted = reader.known(tokens, self.fitted_.vectors)
        inferred = self._infer([tokens])
        rows = np.array(list(dict.fromkeys(counted.values())), dtype=np.int64)
        found = dict(zip(rows.tolist(), inferred.responsibilities(0, rows), strict=True))
        return [(token, found.get(counted.get(token, -1))) for token in tokens]

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

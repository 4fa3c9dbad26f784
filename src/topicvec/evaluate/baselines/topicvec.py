"""TopicVec: how much of each class's topics a document has."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.evaluate.baselines.base import TokenLists, TopicBaseline, checked
from topicvec.evaluate.baselines.mean_vectors import MeanVectors
from topicvec.model import TopicVec, read_topics

__all__ = ["Form", "TopicVecFeatures", "TopicVecMean"]

Form = Literal["sqrt", "proportions", "counts"]


class TopicVecFeatures(TopicBaseline):
    """Topic proportions of TopicVec, in one pass without a prior on the mixture.

    Parameters
    ----------
    n_topics : int
        Number of topics of each class if `fit` is given classes, or of the corpus; the null
        topic is one of them.
    vectors : WordVectors or path, optional
        By default those that come with the package.
    max_norm : float
        Longest topic vector allowed.
    form : {"sqrt", "proportions", "counts"}
        Square roots of proportions, proportions, or expected counts as in the original program.
    options : mapping, optional
        Further parameters of `topicvec.TopicVec`.
    random_state : int
        Seed.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    >>> model = TopicVecFeatures(2, vectors).fit([["cat"], ["dog", "car"]], ["a", "b"])
    >>> model.transform([["cat"]]).shape
    (1, 3)
    """

    def __init__(
        self,
        n_topics: int = 15,
        vectors: WordVectors | str | PathLike[str] | None = None,
        *,
        max_norm: float = 7.0,
        form: Form = "sqrt",
        options: Mapping[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.max_norm = max_norm
        self.form = form
        self.options = options
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn topics of each class, or without classes of all documents."""
        if self.form not in _FORMS:
            raise DataError(f"form must be one of {', '.join(_FORMS)}; found {self.form!r}")
        model = TopicVec(
            self.n_topics,
            self.vectors,
            max_norm=self.max_norm,
            stop_words=None,
            random_state=self.random_state,
            **(self.options or {}),
        )
        self.model_ = model.fit(checked(documents), y)
        return self

    def transform(self, documents: TokenLists) -> NDArray[np.floating]:
        """Describe documents by their topics (D, K)."""
        return _FORMS[self.form](self.model_, checked(documents))

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the n most relevant words of each live topic but the null topic."""
        topics = read_topics(self.model_.fitted_, n_words=n, n_nearest=0)
        return [[word for word, _ in topic.words] for topic in topics if not topic.is_null]


class TopicVecMean(TopicVecFeatures):
    """Topic proportions of TopicVec and mean word vectors, side by side.

    Parameters
    ----------
    n_topics, vectors, max_norm, form, options, random_state
        As in `TopicVecFeatures`.
    mean_weight : float
        The mean vectors are multiplied by it.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    >>> model = TopicVecMean(2, vectors).fit([["cat"], ["dog", "car"]], ["a", "b"])
    >>> model.transform([["cat"]])[0, 3:].tolist()
    [1.0, 0.0, 0.0]
    """

    def __init__(
        self,
        n_topics: int = 15,
        vectors: WordVectors | str | PathLike[str] | None = None,
        *,
        max_norm: float = 7.0,
        form: Form = "sqrt",
        options: Mapping[str, Any] | None = None,
        random_state: int = 0,
        mean_weight: float = 1.0,
    ) -> None:
        super().__init__(
            n_topics,
            vectors,
            max_norm=max_norm,
            form=form,
            options=options,
            random_state=random_state,
        )
        self.mean_weight = mean_weight

    def transform(self, documents: TokenLists) -> NDArray[np.floating]:
        """Describe documents by topics and mean vectors (D, K + N)."""
        means = MeanVectors(self.model_.vectors_).fit(documents).transform(documents)
        return np.hstack([super().transform(documents), self.mean_weight * means])


def _counts(model: TopicVec, documents: list[list[str]]) -> NDArray[np.floating]:
    return model.expected_counts(documents, prior=False)


def _square_roots(model: TopicVec, documents: list[list[str]]) -> NDArray[np.floating]:
    return model.sqrt_proportions(documents, prior=False)


def _proportions(model: TopicVec, documents: list[list[str]]) -> NDArray[np.floating]:
    proportions: NDArray[np.floating] = np.square(_square_roots(model, documents))
    return proportions


_FORMS = {"sqrt": _square_roots, "proportions": _proportions, "counts": _counts}

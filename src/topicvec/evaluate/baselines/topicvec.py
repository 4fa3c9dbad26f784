"""TopicVec: how much of each class's topics a document has."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors
from topicvec.evaluate.baselines.base import TokenLists, TopicBaseline, checked
from topicvec.model import TopicVec, read_topics
from topicvec.represent.documents import (
    SHARPNESS,
    Form,
    check_form,
    represent,
    represent_training,
)

__all__ = ["TopicVecFeatures", "TopicVecMean"]


class TopicVecFeatures(TopicBaseline):
    """How much of each topic a document has, without a prior on the mixture.

    Parameters
    ----------
    n_topics : int
        Number of topics of each class if `fit` is given classes, or of the corpus; the null
        topic is one of them.
    vectors : WordVectors or path, optional
        By default those that come with the package.
    max_norm : float
        Longest topic vector allowed.
    form : str
        What the features are, see `topicvec.represent.represent`; the original program's are
        "counts".
    sharpness : float
        How sharply words are shared among topics, as for `topicvec.represent.represent`.
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
        form: Form = "own-words",
        sharpness: float = SHARPNESS["own-words"],
        options: Mapping[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.max_norm = max_norm
        self.form = form
        self.sharpness = sharpness
        self.options = options
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Learn topics of each class, or without classes of all documents."""
        check_form(self.form)
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
        return represent(
            self.model_, checked(documents), self.form, prior=False, sharpness=self.sharpness
        )

    def fit_transform(
        self, documents: TokenLists, y: Sequence[str] | None = None
    ) -> NDArray[np.floating]:
        """Learn topics and describe the same documents (D, K), see `represent_training`."""
        self.fit(documents, y)
        return represent_training(
            self.model_, checked(documents), y, self.form, prior=False, sharpness=self.sharpness
        )

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the n most relevant words of each live topic but the null topic."""
        topics = read_topics(self.model_.fitted_, n_words=n, n_nearest=0)
        return [[word for word, _ in topic.words] for topic in topics if not topic.is_null]


class TopicVecMean(TopicVecFeatures):
    """Features like those of TopicVec, words shared more sharply, and mean word vectors.

    Parameters
    ----------
    n_topics, vectors, max_norm, form, sharpness, options, random_state
        As in `TopicVecFeatures`.

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
        form: Form = "own-both",
        sharpness: float = SHARPNESS["own-both"],
        options: Mapping[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            n_topics,
            vectors,
            max_norm=max_norm,
            form=form,
            sharpness=sharpness,
            options=options,
            random_state=random_state,
        )

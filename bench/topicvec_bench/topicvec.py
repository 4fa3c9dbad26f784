"""TopicVec itself: how much of each class's topics a document has, and topics to be compared."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.model.reading import read_topics
from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import (
    SHARPNESS,
    Form,
    check_form,
    represent,
    represent_training,
)
from topicvec_bench.base import Floats, TokenLists, TopicBaseline, checked

__all__ = ["TopicVecFeatures", "TopicVecMean", "TopicVecTopics"]

# The rows of the tables are the paper's model: vectors as they are, topics without own words.
PAPER: Mapping[str, Any] = {"own_words": False, "alpha": 0.1}


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
            self.n_topics - 1,  # which has the null topic beside them
            "general" if self.vectors is None else self.vectors,
            max_norm=self.max_norm,
            stop_words=None,
            random_state=self.random_state,
            **{**PAPER, **(self.options or {})},
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
        return self.model_.transform(checked(documents))[:, 1:]

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the first words of each topic that lives, in the order of their rows."""
        read = read_topics(self.model_.fitted_, n_words=n, n_nearest=0)
        live = sorted((topic for topic in read if not topic.is_null), key=lambda t: t.index)
        return [[word for word, _ in topic.words] for topic in live]

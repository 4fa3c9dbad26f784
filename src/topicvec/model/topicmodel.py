"""What can be done with topics once they are there: operate on them, save them."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np

from topicvec.embed.vectors import WordVectors
from topicvec.model import operations
from topicvec.model.describing import DocumentModel
from topicvec.model.fitted import FittedTopics
from topicvec.model.params import from_settings

__all__ = ["TopicModel"]


class TopicModel(DocumentModel):
    """The part of `TopicVec` that needs fitted topics."""

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
        for name in ("topics_", "classes_"):  # of an earlier fit
            vars(self).pop(name, None)
        if classes := list(dict.fromkeys(name for name in fitted.classes if name is not None)):
            self.classes_ = np.array(classes, dtype=object)
        history: Any = fitted.settings
        self._fitted = fitted
        self.topic_vectors_ = fitted.topics
        self.topic_residuals_ = fitted.residuals
        self.alpha_ = fitted.alpha
        self.bounds_: Sequence[float] = tuple(history.get("bounds") or ())
        self.n_iter_ = int(history.get("n_iter") or 0)
        self.converged_ = bool(history.get("converged"))
        self.unknown_words_: dict[str, int] = dict(history.get("unknown_words") or {})

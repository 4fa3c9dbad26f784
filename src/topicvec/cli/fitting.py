"""Topics as commands learn them: with a bar, and an orderly end when interrupted."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topicvec.cli.main import INTERRUPTED
from topicvec.cli.render import Advance, progress_bar
from topicvec.errors import DataError
from topicvec.model import StepInfo, TopicVec
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.represent import TopicClassifier

__all__ = [
    "fit_classifier",
    "fit_topics",
    "labels_of",
    "load_model",
    "load_or_fit",
    "stop_if_interrupted",
]

_LEARNING = "learning topics"
_LATEST = 4  # iterations to judge the speed of convergence by


def fit_topics(
    documents: Sequence[Document | str],
    labels: Sequence[str] | None = None,
    *,
    checkpoint: Path | None = None,
    **params: Any,
) -> TopicVec:
    """Learn topics of documents, or of each of their classes, with a bar."""
    model = TopicVec(**params, share="corpus" if labels is None else "class")
    with _watching(model.tol) as callback:
        return model.fit(documents, labels, callback=callback, checkpoint=checkpoint)


def fit_classifier(documents: Sequence[Document], **params: Any) -> "TopicClassifier":
    """Learn a classifier with a bar; what ``params`` do not say is as in the class."""
    from topicvec.represent.classifier import TopicClassifier, default_topics

    labels = labels_of(documents)
    model = default_topics(labels, **params)
    with _watching(model.tol) as callback:
        return TopicClassifier(model).fit(documents, labels, callback=callback)


@contextmanager
def _watching(tol: float) -> "Iterator[_Watch]":
    """Show a bar for a fit: the bound, its change, and the time left."""
    with progress_bar() as advance:
        advance(_LEARNING, 0)
        yield _Watch(advance, tol)


def load_model(path: Path, jobs: int | None = None) -> TopicVec:
    """Read a model file."""
    return TopicVec.load(path, n_jobs=jobs)


def load_or_fit(path: Path | None, documents: Sequence[Document], **params: Any) -> TopicVec:
    """Read a model file, or learn the documents' own topics if there is none."""
    return fit_topics(documents, **params) if path is None else load_model(path)


def labels_of(documents: Sequence[Document]) -> list[str]:
    """Give the class of each document; refuse one that has none."""
    labels = [document.label for document in documents if document.label is not None]
    if len(labels) < len(documents):
        first = next(document.id for document in documents if document.label is None)
        raise DataError(
            f"{len(documents) - len(labels)} of {len(documents)} documents have no class, the "
            f"first is {first}: put files into a sub-folder for each class, or name the column "
            "of the class with --label-column"
        )
    return labels


def stop_if_interrupted(model: TopicVec) -> None:
    """Leave with the exit code of an interrupt, after what there is has been kept or shown."""
    if model.fitted_.settings.get("interrupted"):
        raise typer.Exit(INTERRUPTED)


class _Watch:
    """Turns news of a fit into moves of a bar; remembers the changes of each class."""

    def __init__(self, advance: Advance, tol: float) -> None:
        self.advance, self.tol = advance, tol
        self.changes: dict[str | None, list[float]] = {}
        self.bounds: dict[str | None, float] = {}

    def __call__(self, news: StepInfo) -> None:
        self.changes.setdefault(news.group, []).append(news.change)
        self.bounds[news.group] = news.bound
        latest = self.changes[news.group][-_LATEST:]
        total = min(news.max_iter, news.iteration + iterations_left(latest, self.tol))
        bound = sum(self.bounds.values()) / len(self.bounds)
        change = f" {news.change:+.2g}" if math.isfinite(news.change) else ""
        classes = f"of {len(self.bounds)} classes, " if len(self.bounds) > 1 else ""
        detail = f"{classes}bound {bound:.4f}{change}"
        self.advance(_LEARNING, news.iteration, total, detail)


def iterations_left(changes: Sequence[float], tol: float) -> int:
    """Guess how many iterations remain, if changes go on to shrink as they did.

    Examples
    --------
    >>> iterations_left([0.8, 0.4, 0.2, 0.1], 0.01)
    5
    """
    first, last = changes[0], changes[-1]
    if not (math.isfinite(first) and 0 < last < first):
        return 1_000_000  # no guess yet: the limit of iterations holds
    if last <= tol:
        return 1
    rate = math.log(first / last) / (len(changes) - 1)
    return 1 + math.ceil(math.log(last / tol) / rate)

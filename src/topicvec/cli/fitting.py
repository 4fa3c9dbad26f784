"""What commands that learn topics share: reading, a bar, and an orderly end when interrupted."""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topicvec.cli.main import INTERRUPTED
from topicvec.cli.options import Reading
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.cli.render import Advance
    from topicvec.model import TopicVec
    from topicvec.model.state import StepInfo as Progress
    from topicvec.text import Document

__all__ = [
    "check_writable",
    "fit_model",
    "load_model",
    "one_label_each",
    "read_all",
    "stop_if_interrupted",
    "told",
    "watching",
]

_LEARNING = "learning topics"
_LATEST = 4  # iterations to judge the speed of convergence by
_EVERY = 100  # documents between moves of the bar


def read_all(reading: Reading, sources: list[str], *, quiet: bool) -> "list[Document]":
    """Read all documents of the sources, with a bar that counts them."""
    from topicvec.cli.render import progress

    with progress(quiet=quiet) as advance:
        return list(told(reading.documents(sources), advance))


def told(
    documents: "Iterable[Document]",
    advance: "Advance",
    stage: str = "reading",
    total: int | None = None,
) -> "Iterator[Document]":
    """Pass documents on and count them on a bar, with the time left if it is known how many."""
    n_read = 0
    for n_read, document in enumerate(documents, 1):
        if n_read % _EVERY == 0:
            advance(stage, n_read, total)
        yield document
    advance(stage, n_read, n_read)


def fit_model(
    model: "TopicVec", documents: "Sequence[Document]", labels: Any = None, *, quiet: bool
) -> "TopicVec":
    """Fit a model with a bar, see `watching`."""
    with watching(model, quiet=quiet):
        return model.fit(documents, labels)


@contextmanager
def watching(model: "TopicVec", *, quiet: bool) -> "Iterator[TopicVec]":
    """Show a bar for the fits of a model: the bound, its change, and the time left."""
    from topicvec.cli.render import progress

    with progress(quiet=quiet) as advance:
        advance(_LEARNING, 0)
        yield model.set_params(callback=_Watch(advance, model.tol), verbose=1)
    model.set_params(callback=None)


def load_model(path: Path, jobs: int | None = None) -> "TopicVec":
    """Read a model file."""
    from topicvec.model import TopicVec

    return TopicVec.load(path, n_jobs=jobs)


def one_label_each(documents: "Sequence[Document]") -> list[str]:
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


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, so that no long work is lost at its end."""
    if path.is_dir():
        raise DataError(f"{path} is a folder: give the name of a file as --output")
    if not path.parent.is_dir():
        raise DataError(f"no such folder: {path.parent}; create it, or choose another --output")
    if not os.access(path.parent, os.W_OK):
        raise DataError(f"no files can be written in {path.parent}; choose another --output")


def stop_if_interrupted(model: "TopicVec") -> None:
    """Leave with the exit code of an interrupt, after what there is has been kept or shown."""
    if model.fitted_.settings.get("interrupted"):
        raise typer.Exit(INTERRUPTED)


class _Watch:
    """Turns news of a fit into moves of a bar; remembers the changes of each class."""

    def __init__(self, advance: "Advance", tol: float) -> None:
        self.advance, self.tol = advance, tol
        self.changes: dict[str | None, list[float]] = {}
        self.bounds: dict[str | None, float] = {}

    def __call__(self, news: "Progress") -> None:
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

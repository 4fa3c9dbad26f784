"""Topics as commands learn them: with a bar, and an orderly end when interrupted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from topicvec.cli.main import INTERRUPTED
from topicvec.cli.options import number_of_topics, read_settings, refuse_learning
from topicvec.cli.render import note, progress_bar
from topicvec.engine import interrupts_held
from topicvec.errors import DataError
from topicvec.model import TopicVec
from topicvec.model.progress import LEARNING, Watch
from topicvec.text import Document, PreparedCorpus

if TYPE_CHECKING:
    from topicvec.cli.options import SourceTexts
    from topicvec.represent.classifier import LightClassifier

__all__ = [
    "fit_classifier",
    "fit_topics",
    "keeping",
    "labels_of",
    "learn",
    "load_model",
    "load_or_learn",
    "stop_if_interrupted",
    "topic_params",
    "workers",
]

Read = TypeVar("Read", bound=Sequence[Document] | PreparedCorpus)


def fit_topics(
    documents: Sequence[Document | str] | PreparedCorpus,
    labels: Sequence[str] | None = None,
    *,
    checkpoint: Path | None = None,
    memory: str | None = None,
    **params: Any,
) -> TopicVec:
    """Learn topics of documents, or of each of their classes, with a bar."""
    model = TopicVec(**params, share="corpus" if labels is None else "class")
    try:
        with _watching(model.tol) as callback:
            model.fit(documents, labels, callback=callback, checkpoint=checkpoint, memory=memory)
    except KeyboardInterrupt:
        if "_fitted" not in vars(model):
            raise
        model._say_interrupted()  # it came when the model was whole, and the bar went
    return model


def learn(
    read: Callable[[], Read],
    learning: Mapping[str, Any],
    checkpoint: Path | None = None,
    memory: str | None = None,
) -> tuple[Read, TopicVec]:
    """Read the documents and learn their topics as the options of learning say."""
    params = topic_params(learning)  # said before the work, not after it
    with workers(learning["engine"], learning["jobs"]) as n_jobs:
        documents = read()
        labels = labels_of(documents) if learning["by_class"] else None
        model = fit_topics(
            documents, labels, checkpoint=checkpoint, memory=memory, n_jobs=n_jobs, **params
        )
    return documents, model


def topic_params(learning: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the options of learning into parameters of TopicVec, but for the workers."""
    others = ("k", "by_class", "seed", "settings", "jobs", "engine")
    params = {name: value for name, value in learning.items() if name not in others}
    params |= {"n_topics": number_of_topics(learning["k"]), "random_state": learning["seed"]}
    return params | read_settings(learning["settings"])


@contextmanager
def keeping(model: TopicVec) -> Iterator[None]:
    """Write what was learned although Ctrl-C comes; then leave with its exit code."""
    with interrupts_held() as held:
        yield
    if held:
        raise typer.Exit(INTERRUPTED)
    stop_if_interrupted(model)


@contextmanager
def workers(engine: str | None, jobs: int | None) -> Iterator[Any]:
    """Give the ``n_jobs`` of a fit: so many threads, or the client of a Dask cluster."""
    if engine is None:
        yield jobs
        return
    from topicvec.engine.dask import connect

    with connect(engine, jobs) as client:
        note(f"dashboard: {client.dashboard_link}")
        yield client


def fit_classifier(documents: Sequence[Document], **params: Any) -> "LightClassifier":
    """Learn a classifier with a bar; what ``params`` do not say is as in the class."""
    from topicvec.represent.classifier import LightClassifier, default_topics

    labels = labels_of(documents)
    model = default_topics(labels, **params)
    classifier = LightClassifier(model)
    try:
        with _watching(model.tol) as callback:
            classifier.fit(documents, labels, callback=callback)
    except KeyboardInterrupt:
        if "coef_" not in vars(classifier):
            raise
        classifier.model_._say_interrupted()
    return classifier


@contextmanager
def _watching(tol: float) -> Iterator[Watch]:
    """Show a bar for a fit: the bound, its change, and the time left."""
    with progress_bar() as advance:
        advance(LEARNING, 0)
        yield Watch(advance, tol)


def load_model(path: Path, jobs: int | None = None) -> TopicVec:
    """Read a model file."""
    return TopicVec.load(path, n_jobs=jobs)


def load_or_learn(
    path: Path | None, texts: "SourceTexts", learning: Mapping[str, Any]
) -> tuple[list[Document], TopicVec]:
    """Read the documents, and a model file or, if there is none, the documents' own topics."""
    if path is None:
        return learn(texts.read, learning)
    refuse_learning(learning)
    model = load_model(path, learning["jobs"])
    return texts.read(), model


def labels_of(documents: Sequence[Document] | PreparedCorpus) -> list[str]:
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

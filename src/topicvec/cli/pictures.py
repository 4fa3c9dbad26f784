"""``topicvec cloud`` and ``topicvec picture``: what a model found, to look at."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import Output, Quiet, Reading, Seed, VectorsOption, with_reading

if TYPE_CHECKING:
    from topicvec.explore.picture import Picture
    from topicvec.model import TopicVec
    from topicvec.text import Document

__all__ = ["Kind", "cloud", "picture"]

_SomeSources = Annotated[
    list[str] | None,
    typer.Argument(help="Files or folders to read; - is standard input.", show_default=False),
]
_Label = Annotated[
    str | None, typer.Option("--label", help="Only documents, or topics, of this class.")
]


class Kind(StrEnum):
    """The kinds of pictures beside the cloud."""

    TOPIC_MAP = "topic-map"
    DOCUMENT_MAP = "document-map"
    HIERARCHY = "hierarchy"
    HEATMAP = "heatmap"
    BY_CLASS = "by-class"
    OVER_TIME = "over-time"
    BOUND = "bound"
    TOKENS = "tokens"


_OF_DOCUMENTS = {Kind.DOCUMENT_MAP, Kind.BY_CLASS, Kind.OVER_TIME, Kind.TOKENS}


@with_reading
def cloud(
    reading: Reading,
    sources: _SomeSources = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="A saved model; without it one is fitted.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Topics to fit, the null topic included.")] = 20,
    seed: Seed = 0,
    label: _Label = None,
    topics: Annotated[int, typer.Option("--topics", help="Topics to show at most.")] = 12,
    words: Annotated[int, typer.Option("--words", help="Words of a topic at most.")] = 20,
    width: Annotated[int, typer.Option("--width", help="Width in pixels.")] = 800,
    vectors: VectorsOption = None,
    output: Output = Path("cloud.svg"),
    quiet: Quiet = False,
) -> None:
    """Draw the topic cloud of some text, or of a model, as SVG or PNG.

    Example: topicvec cloud article.txt -k 12 -o cloud.svg
    """
    from topicvec.explore import pictures
    from topicvec.explore.picture import check_path

    check_path(output)  # said before the work, not after it
    documents = list(reading.documents(sources)) if sources else None
    fitted = _model(model, documents, n_topics=k, vectors=vectors, random_state=seed)
    drawn = pictures.cloud(
        fitted,
        documents if model is not None or label is not None else None,
        label=label,
        width=width,
        max_topics=topics,
        n_words=words,
    )
    _save(drawn, output, quiet)


@with_reading
def picture(
    reading: Reading,
    kind: Annotated[Kind, typer.Argument(help="What to draw.", show_default=False)],
    model: Annotated[Path, typer.Argument(help="A saved model.", show_default=False)],
    sources: _SomeSources = None,
    width: Annotated[int, typer.Option("--width", help="Width in pixels.")] = 800,
    output: Output = Path("picture.svg"),
    quiet: Quiet = False,
) -> None:
    """Draw a model, or documents as it sees them, as SVG or PNG.

    The kinds document-map, by-class, over-time and tokens (the first document) need sources.

    Example: topicvec picture topic-map corpus.topicvec -o map.svg
    """
    from topicvec.errors import DataError
    from topicvec.explore.picture import check_path

    check_path(output)
    if (kind in _OF_DOCUMENTS) != bool(sources):
        verb = "needs" if kind in _OF_DOCUMENTS else "takes no"
        raise DataError(f"a picture of the kind {kind} {verb} documents to read after the model")
    documents = list(reading.documents(sources)) if sources else []
    _save(_draw(kind, _model(model, None), documents, width), output, quiet)


def _model(path: Path | None, documents: "list[Document] | None", **params: Any) -> "TopicVec":
    from topicvec.errors import DataError
    from topicvec.model import TopicVec

    if path is not None:
        return TopicVec.load(path)
    if not documents:
        raise DataError("a cloud needs text to read or --model; found neither")
    return TopicVec(**params, share="corpus").fit(documents)


def _draw(kind: Kind, model: "TopicVec", documents: "list[Document]", width: int) -> "Picture":
    from topicvec.explore import pictures

    match kind:
        case Kind.DOCUMENT_MAP:
            labels = _labels(documents)
            return pictures.document_map(model, documents, labels=labels, width=width)
        case Kind.BY_CLASS:
            return pictures.by_class(model, documents, width=width)
        case Kind.OVER_TIME:
            return pictures.over_time(model, documents, width=width)
        case Kind.TOKENS:
            return pictures.tokens(model, documents[0], width=width)
        case Kind.TOPIC_MAP:
            return pictures.topic_map(model, width=width)
        case Kind.HIERARCHY:
            return pictures.hierarchy(model, width=width)
        case Kind.HEATMAP:
            return pictures.heatmap(model, width=width)
        case Kind.BOUND:
            return pictures.bound(model, width=width)


def _labels(documents: "list[Document]") -> list[str] | None:
    """Give the documents' classes, if each has one."""
    labels = [document.label for document in documents if document.label is not None]
    return labels if len(labels) == len(documents) else None


def _save(drawn: "Picture", output: Path, quiet: bool) -> None:
    from topicvec.cli.render import note

    path = drawn.save(output)
    if not quiet:
        note(f"picture written: {path}")

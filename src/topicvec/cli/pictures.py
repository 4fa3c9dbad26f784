"""``topicvec cloud`` and ``topicvec picture``: what a model found, to look at."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import Output, Quiet, Reading, Seed, VectorsOption, with_reading
from topicvec.pictures import KINDS, draw

if TYPE_CHECKING:
    from topicvec.model import TopicVec
    from topicvec.pictures.svg import Picture
    from topicvec.text import Document

__all__ = ["Kind", "cloud", "picture"]

_SomeSources = Annotated[
    list[str] | None,
    typer.Argument(help="Files or folders to read; - is standard input.", show_default=False),
]
_Label = Annotated[str | None, typer.Option("--label", help="Only this class.")]
_Document = Annotated[
    str | None,
    typer.Option("--document", help="Only the document with this id, or at this place from 0."),
]
_Width = Annotated[int, typer.Option("--width", min=480, help="Width in pixels.")]


_KINDS = {name: kind for name, kind in KINDS.items() if name != "cloud"}  # a command of its own
_OPTIONS = {
    "--document": [name for name, kind in _KINDS.items() if kind.needs == "one document"],
    "--label": [name for name, kind in _KINDS.items() if kind.needs],
    "--bins": [name for name, kind in _KINDS.items() if "n_bins" in kind.limits],
    "--topics": [name for name, kind in _KINDS.items() if "max_topics" in kind.limits],
}


class Kind(StrEnum):
    """The kinds of pictures beside the cloud, as their table has them."""

    vars().update({name.upper().replace("-", "_"): name for name in _KINDS})


def _listed(option: str) -> str:
    *names, last = _OPTIONS[option]
    return f"{', '.join(names)} and {last}" if names else last


@with_reading
def cloud(
    reading: Reading,
    sources: _SomeSources = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="A saved model; without it one is fitted.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Topics to fit, the null topic included.")] = 20,
    seed: Seed = 0,
    document: _Document = None,
    label: _Label = None,
    topics: Annotated[int, typer.Option("--topics", min=1, help="Topics to show at most.")] = 12,
    words: Annotated[int, typer.Option("--words", min=1, help="Words of a topic at most.")] = 20,
    width: _Width = 800,
    vectors: VectorsOption = None,
    output: Output = Path("cloud.svg"),
    quiet: Quiet = False,
) -> None:
    """Draw the topic cloud of some text, or of a model, as SVG or PNG.

    With --document or --label it shows the topics as they are in that document or class.

    Example: topicvec cloud article.txt -k 12 -o cloud.svg
    """
    from topicvec import pictures

    _check_output(output)
    documents = list(reading.documents(sources)) if sources else None
    shown = _chosen(documents, document, label)
    fitted = _model(model, documents, n_topics=k, vectors=vectors, random_state=seed)
    drawn = pictures.cloud(
        fitted,
        shown if model is not None or shown is not documents else None,
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
    document: _Document = None,
    label: _Label = None,
    bins: Annotated[
        int | None, typer.Option("--bins", min=1, help=f"Spans of time, in {_listed('--bins')}.")
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option("--topics", min=1, help=f"Topics at most, in {_listed('--topics')}."),
    ] = None,
    width: _Width = 800,
    output: Output = Path("picture.svg"),
    quiet: Quiet = False,
) -> None:
    """Draw a model, or documents as it sees them, as SVG or PNG.

    The kinds document-map, by-class, over-time and tokens need sources; tokens shows the first
    document, or the one that --document names.

    Example: topicvec picture topic-map corpus.topicvec -o map.svg
    """
    _check_output(output)
    given = {"--document": document, "--label": label, "--bins": bins, "--topics": topics}
    _check_kind(kind, bool(sources), {name for name, value in given.items() if value is not None})
    documents = list(reading.documents(sources)) if sources else []
    shown = _chosen(documents, document, label) or []
    limits = {"n_bins": bins, "max_topics": topics}
    extra = {name: value for name, value in limits.items() if value is not None}
    drawn = draw(kind, _model(model, None), shown, width=width, **extra)
    _save(drawn, output, quiet)


def _check_output(output: Path) -> None:
    """Say before the work, not after it, that the picture cannot be saved."""
    from topicvec.cli.fitting import check_writable
    from topicvec.pictures.svg import check_path

    check_path(output)
    check_writable(output)


def _check_kind(kind: Kind, has_sources: bool, options: set[str]) -> None:
    from topicvec.errors import DataError

    needs = bool(_KINDS[kind].needs)
    if needs != has_sources:
        verb = "needs" if needs else "takes no"
        raise DataError(f"a picture of the kind {kind} {verb} documents to read after the model")
    for option in sorted(options):
        if kind not in _OPTIONS[option]:
            kinds = ", ".join(sorted(_OPTIONS[option]))
            raise DataError(f"{option} is for the kinds {kinds}; found it with {kind}")


def _chosen(
    documents: "list[Document] | None", document: str | None, label: str | None
) -> "list[Document] | None":
    """Take the document, or those of the class, that is asked for; else all."""
    from topicvec.errors import DataError
    from topicvec.pictures.seen import of_class

    if document is not None:
        if documents is None or label is not None:
            lack = "needs files or folders to read" if documents is None else "takes no --label"
            raise DataError(f"--document {lack}")
        return [_named(documents, document)]
    return documents if label is None or documents is None else of_class(documents, label)


def _named(documents: "list[Document]", name: str) -> "Document":
    from topicvec.errors import DataError

    found = next((each for each in documents if each.id == name), None)
    if found is not None:
        return found
    if name.isdecimal() and int(name) < len(documents):
        return documents[int(name)]
    raise DataError(
        f"no document has the id {name!r}, and there are {len(documents):,}, from 0: "
        "give one of their ids, or a place"
    )


def _model(path: Path | None, documents: "list[Document] | None", **params: Any) -> "TopicVec":
    from topicvec.errors import DataError
    from topicvec.model import TopicVec

    if path is not None:
        return TopicVec.load(path)
    if not documents:
        raise DataError("a cloud needs text to read or --model; found neither")
    return TopicVec(**params, share="corpus").fit(documents)


def _save(drawn: "Picture", output: Path, quiet: bool) -> None:
    from topicvec.cli.render import note

    path = drawn.save(output)
    if not quiet:
        note(f"picture written: {path}")

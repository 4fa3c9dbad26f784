"""``topicvec cloud`` and ``topicvec picture``: what a model found, to look at."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.errors import DataError
from topicvec.pictures import KINDS, draw

if TYPE_CHECKING:
    from topicvec.pictures.svg import Picture
    from topicvec.text import Document

__all__ = ["Kind", "cloud", "picture"]

_Documents = Annotated[
    opts.SourceTexts | None, opts.argument("Files or folders to read; - is standard input.")
]
_Label = Annotated[str | None, opts.flag("--label", "Only this class.")]
_Document = Annotated[
    str | None, opts.flag("--document", "Only the document with this id, or at this place from 0.")
]
_Width = Annotated[int, opts.flag("--width", "Width in pixels.", min=480)]


_KINDS = {name: kind for name, kind in KINDS.items() if name != "cloud"}  # a command of its own
_OPTIONS = {
    "--document": [name for name, kind in _KINDS.items() if kind.needs == "one document"],
    "--label": [name for name, kind in _KINDS.items() if kind.needs],
    "--bins": [name for name, kind in _KINDS.items() if "n_bins" in kind.limits],
    "--topics": [name for name, kind in _KINDS.items() if "max_topics" in kind.limits],
    "--topic": [name for name, kind in _KINDS.items() if "topic" in kind.limits],
    "--words": [name for name, kind in _KINDS.items() if "n_words" in kind.limits],
}


class Kind(StrEnum):
    """The kinds of pictures beside the cloud, as their table has them."""

    vars().update({name.upper().replace("-", "_"): name for name in _KINDS})


def _listed(option: str) -> str:
    *names, last = _OPTIONS[option]
    return f"{', '.join(names)} and {last}" if names else last


@opts.reads_texts
def cloud(
    learning: opts.Learning,
    texts: _Documents = None,
    model: opts.ModelOption = None,
    document: _Document = None,
    label: _Label = None,
    topics: Annotated[int, opts.flag("--topics", "Topics to show at most.", min=1)] = 12,
    words: Annotated[int, opts.flag("--words", "Words of a topic at most.", min=1)] = 20,
    width: _Width = 800,
    output: opts.Output = Path("cloud.svg"),
) -> None:
    """Draw the topic cloud of some text, or of a model, as SVG or PNG.

    With --document or --label it shows the topics as they are in that document or class.

    Example: topicvec cloud article.txt -k 12 -o cloud.svg
    """
    from topicvec import pictures
    from topicvec.cli import fitting

    _check_output(output)
    if model is None and texts is None:
        raise DataError("a cloud needs text to read or --model; found neither")
    if texts is None:
        opts.refuse_learning(learning)
        _chosen(None, document, label)  # refuses a document
        documents, fitted = None, fitting.load_model(cast(Path, model), learning["jobs"])
    else:
        documents, fitted = fitting.load_or_learn(model, texts, learning)
    shown = _chosen(documents, document, label)
    drawn = pictures.cloud(
        fitted,
        shown if model is not None or shown is not documents else None,
        label=label,
        width=width,
        max_topics=topics,
        n_words=words,
    )
    _save(drawn, output)


@opts.reads_texts
def picture(
    kind: Annotated[Kind, opts.argument("What to draw.")],
    model: Annotated[Path, opts.argument("A saved model.")],
    texts: _Documents = None,
    document: _Document = None,
    label: _Label = None,
    bins: Annotated[
        int | None, opts.flag("--bins", f"Spans of time, in {_listed('--bins')}.", min=1)
    ] = None,
    topics: Annotated[
        int | None, opts.flag("--topics", f"Topics at most, in {_listed('--topics')}.", min=1)
    ] = None,
    topic: Annotated[
        int | None, opts.flag("--topic", f"Only this topic, in {_listed('--topic')}.", min=1)
    ] = None,
    words: Annotated[
        int | None,
        opts.flag("--words", f"Words of each span at most, in {_listed('--words')}.", min=0),
    ] = None,
    width: _Width = 800,
    output: opts.Output = Path("picture.svg"),
) -> None:
    """Draw a model, or documents as it sees them, as SVG or PNG.

    The kinds document-map, by-class, over-time and tokens need sources; tokens shows the first
    document, or the one that --document names.

    Example: topicvec picture topic-map corpus.topicvec -o map.svg
    """
    from topicvec.cli import fitting

    _check_output(output)
    limits = {"n_bins": bins, "max_topics": topics, "topic": topic, "n_words": words}
    given = {
        "--document": document, "--label": label, "--bins": bins, "--topics": topics,
        "--topic": topic, "--words": words,
    }  # fmt: skip
    _check_kind(kind, bool(texts), {name for name, value in given.items() if value is not None})
    documents = list(texts) if texts else []
    shown = _chosen(documents, document, label) or []
    extra = {name: value for name, value in limits.items() if value is not None}
    drawn = draw(kind, fitting.load_model(model), shown, width=width, **extra)
    _save(drawn, output)


def _check_output(output: Path) -> None:
    """Say before the work, not after it, that the picture cannot be saved."""
    from topicvec.pictures.svg import check_path

    check_path(output)
    opts.check_writable(output)


def _check_kind(kind: Kind, has_sources: bool, options: set[str]) -> None:
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
    from topicvec.pictures.seen import of_class

    if document is not None:
        if documents is None or label is not None:
            lack = "needs files or folders to read" if documents is None else "takes no --label"
            raise DataError(f"--document {lack}")
        return [_named(documents, document)]
    return documents if label is None or documents is None else of_class(documents, label)


def _named(documents: "list[Document]", name: str) -> "Document":
    found = next((each for each in documents if each.id == name), None)
    if found is not None:
        return found
    if name.isdecimal() and int(name) < len(documents):
        return documents[int(name)]
    raise DataError(
        f"no document has the id {name!r}, and there are {len(documents):,}, from 0: "
        "give one of their ids, or a place"
    )


def _save(drawn: "Picture", output: Path) -> None:
    path = drawn.save(output)
    render.note(f"picture written: {path}")

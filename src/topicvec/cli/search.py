"""``topicvec search`` and ``topicvec similar``: documents that fit a query or another document."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import Jobs, Json, ModelFile, Quiet, Reading, with_reading
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.represent import DocumentIndex, Hit
    from topicvec.text import Document

__all__ = ["search", "similar"]

NOTHING_FOUND = 1
_SHOWN = 80  # characters of a text

_Documents = Annotated[
    list[str] | None,
    typer.Argument(help="Files or folders to look in; - is standard input.", show_default=False),
]
_IndexFile = Annotated[
    Path | None,
    typer.Option(
        "--index",
        help="With sources: keep the index in this file. Without: look in the index kept there.",
    ),
]
_Many = Annotated[int, typer.Option("-n", help="Documents to list.")]


@with_reading
def search(
    model: ModelFile,
    query: Annotated[str, typer.Argument(help="What to look for, in quotes.", show_default=False)],
    reading: Reading,
    sources: _Documents = None,
    index: _IndexFile = None,
    n: _Many = 10,
    json: Json = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Find the documents that fit a few words, by topics, by meaning and by the words themselves.

    The exit code is 1 if nothing is found.

    Example: topicvec search corpus.topicvec "water for the orchards" corpus/ --index corpus.index
    """
    found, beginnings = _index(model, sources, reading, index, jobs, quiet)
    _report(found.search(query, n), beginnings, {"query": query}, json)


@with_reading
def similar(
    model: ModelFile,
    reading: Reading,
    to: Annotated[str, typer.Option("--to", help="Id of the document, or its place from 0.")],
    sources: _Documents = None,
    index: _IndexFile = None,
    n: _Many = 10,
    json: Json = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Find the documents most like one of them.

    Example: topicvec similar corpus.topicvec corpus/ --to corpus/a.txt
    """
    found, beginnings = _index(model, sources, reading, index, jobs, quiet)
    row = found.row(int(to) if to.isdigit() and to not in found.ids else to)
    _report(found.similar(row, n), beginnings, {"id": found.ids[row]}, json)


def _index(
    model: Path, sources: list[str] | None, reading: Reading, kept: Path | None,
    jobs: int | None, quiet: bool,
) -> "tuple[DocumentIndex, list[str]]":  # fmt: skip
    """Build the index, or load it; give it with the beginnings of the texts, if these are read."""
    from topicvec.cli import fitting
    from topicvec.cli.render import progress
    from topicvec.represent import DocumentIndex

    if not sources and kept is None:
        raise DataError("nothing to look in: name files or folders, or an --index made before")
    fitted = fitting.load_model(model, jobs)
    if not sources:
        return DocumentIndex.load(str(kept), fitted), []
    if kept is not None:
        fitting.check_writable(kept)
    beginnings: list[str] = []
    with progress(quiet=quiet) as advance:
        documents = fitting.told(reading.documents(sources), advance)
        found = DocumentIndex.build(fitted, _remembered(documents, beginnings))
    if kept is not None:
        found.save(kept)
    return found, beginnings


def _remembered(documents: "Iterator[Document]", beginnings: list[str]) -> "Iterator[Document]":
    for document in documents:
        beginnings.append(" ".join(document.text[: 4 * _SHOWN].split())[:_SHOWN])
        yield document


def _report(hits: "list[Hit]", beginnings: list[str], head: dict[str, Any], json: bool) -> None:
    from topicvec.cli.render import note, show_json, show_table

    if json:
        show_json({**head, "hits": [asdict(hit) for hit in hits]})
    elif hits:
        show_table([_row(hit, beginnings) for hit in hits], wide=["text"])
    if not hits:
        note("nothing found")
        raise typer.Exit(NOTHING_FOUND)


def _row(hit: "Hit", beginnings: list[str]) -> dict[str, object]:
    row: dict[str, object] = {"score": hit.score, "id": hit.id}
    return row | {"text": beginnings[hit.index]} if beginnings else row

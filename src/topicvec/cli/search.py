"""``topicvec search`` and ``topicvec similar``: documents that fit a query or another document."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.cli.main import NOTHING_FOUND
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.represent import DocumentIndex, Hit
    from topicvec.text import Document

__all__ = ["search", "similar"]

_SHOWN = 80  # characters of a text

_Documents = Annotated[
    opts.SourceTexts | None, opts.argument("Files or folders to look in; - is standard input.")
]
_IndexFile = Annotated[
    Path | None,
    opts.flag(
        "--index",
        "With sources: keep the index in this file. Without: look in the index kept there.",
    ),
]
_Many = Annotated[int, opts.flag("-n", "Documents to list.")]
_ByTransport = Annotated[
    bool,
    opts.flag("--rerank", "Put the best in the order of the work that moves topics into topics."),
]


@opts.reads_texts
def search(
    model: opts.ModelFile,
    query: Annotated[str, opts.argument("What to look for, in quotes.")],
    texts: _Documents = None,
    index: _IndexFile = None,
    n: _Many = 10,
    rerank: _ByTransport = False,
    json: opts.Json = False,
    jobs: opts.Jobs = None,
) -> None:
    """Find the documents that fit a few words, by topics, by meaning and by the words themselves.

    The exit code is 1 if nothing is found.

    Example: topicvec search corpus.topicvec "water for the orchards" corpus/ --index corpus.index
    """
    found, beginnings = _index(model, texts, index, jobs)
    hits = found.search(query, n, rerank="transport" if rerank else None)
    _report(hits, beginnings, {"query": query}, json)


@opts.reads_texts
def similar(
    model: opts.ModelFile,
    to: Annotated[str, opts.flag("--to", "Id of the document, or its place from 0.")],
    texts: _Documents = None,
    index: _IndexFile = None,
    n: _Many = 10,
    rerank: _ByTransport = False,
    json: opts.Json = False,
    jobs: opts.Jobs = None,
) -> None:
    """Find the documents most like one of them.

    Example: topicvec similar corpus.topicvec corpus/ --to corpus/a.txt
    """
    found, beginnings = _index(model, texts, index, jobs)
    row = found.row(
        int(to) if to.isdecimal() and len(to) < opts.MANY_DIGITS and to not in found.ids else to
    )
    hits = found.similar(row, n, rerank="transport" if rerank else None)
    _report(hits, beginnings, {"id": found.ids[row]}, json)


def _index(
    model: Path, texts: opts.SourceTexts | None, kept: Path | None, jobs: int | None
) -> "tuple[DocumentIndex, list[str]]":
    """Build the index, or load it; give it with the beginnings of the texts, if these are read."""
    from topicvec.cli import fitting
    from topicvec.represent import DocumentIndex

    if texts is None and kept is None:
        raise DataError("nothing to look in: name files or folders, or an --index made before")
    fitted = fitting.load_model(model, jobs)
    if texts is None:
        return DocumentIndex.load(str(kept), fitted), []
    if kept is not None:
        opts.check_writable(kept)
    beginnings: list[str] = []
    found = DocumentIndex.build(fitted, _remembered(render.counted(texts), beginnings))
    if kept is not None:
        found.save(kept)
    return found, beginnings


def _remembered(documents: "Iterator[Document]", beginnings: list[str]) -> "Iterator[Document]":
    for document in documents:
        beginnings.append(" ".join(document.text[: 4 * _SHOWN].split())[:_SHOWN])
        yield document


def _report(hits: "list[Hit]", beginnings: list[str], head: dict[str, Any], json: bool) -> None:
    if json:
        render.show_json({**head, "hits": [asdict(hit) for hit in hits]})
    else:
        shown = [{"text": beginnings[hit.index]} if beginnings else {} for hit in hits]
        found = zip(hits, shown, strict=True)
        rows = [{"score": hit.score, "id": hit.id, **text} for hit, text in found]
        render.show_table(rows, wide=["text"])
    if not hits:
        render.note("nothing found")
        raise typer.Exit(NOTHING_FOUND)

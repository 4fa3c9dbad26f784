"""``topicvec search`` and ``topicvec similar``: documents that fit a query or another document."""

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
    from topicvec.represent.search import Rerank

__all__ = ["search", "similar"]

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
    found = _index(model, texts, index, jobs)
    hits = found.search(query, n, rerank="transport" if rerank else None)
    _report(hits, {"query": query}, json)


@opts.reads_texts
def similar(
    model: opts.ModelFile,
    to: Annotated[
        str, opts.flag("--to", "Id of the document, its place from 0, or a text of several words.")
    ],
    texts: _Documents = None,
    index: _IndexFile = None,
    n: _Many = 10,
    rerank: _ByTransport = False,
    json: opts.Json = False,
    jobs: opts.Jobs = None,
) -> None:
    """Find the documents most like one of them, or like any text.

    Example: topicvec similar corpus.topicvec corpus/ --to corpus/a.txt
    """
    found = _index(model, texts, index, jobs)
    how: Rerank | None = "transport" if rerank else None
    if to not in found.ids and len(to.split()) > 1:
        _report(found.search(to, n, rerank=how), {"text": to}, json)
        return
    row = found.row(
        int(to) if to.isdecimal() and len(to) < opts.MANY_DIGITS and to not in found.ids else to
    )
    _report(found.similar(row, n, rerank=how), {"id": found.ids[row]}, json)


def _index(
    model: Path, texts: opts.SourceTexts | None, kept: Path | None, jobs: int | None
) -> "DocumentIndex":
    """Build the index, or load it."""
    from topicvec.cli import fitting
    from topicvec.represent import DocumentIndex

    if texts is None and kept is None:
        raise DataError("nothing to look in: name files or folders, or an --index made before")
    fitted = fitting.load_model(model, jobs)
    if texts is None:
        return DocumentIndex.load(str(kept), fitted)
    if kept is not None:
        opts.check_writable(kept)
    found = DocumentIndex.build(fitted, render.counted(texts.cut(fitted.tokenizer)))
    if kept is not None:
        found.save(kept)
    return found


def _report(hits: "list[Hit]", head: dict[str, Any], json: bool) -> None:
    if json:
        render.show_json({**head, "hits": [asdict(hit) for hit in hits]})
    else:
        rows = [{"score": hit.score, "id": hit.id, "text": hit.text} for hit in hits]
        render.show_table(rows, wide=["text"])
    if not hits:
        render.note("nothing found")
        raise typer.Exit(NOTHING_FOUND)

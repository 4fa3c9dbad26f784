"""``topicvec report`` and ``topicvec explore``: pages that show a model and a corpus."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicvec.cli import options as opts
from topicvec.cli import render

if TYPE_CHECKING:
    from topicvec.explore import Collection

__all__ = ["explore", "report"]

Title = Annotated[str | None, opts.flag("--title", "Heading; the names of the sources by default.")]

_IndexFile = Annotated[
    Path | None,
    opts.flag(
        "--index",
        "Keep in this file what takes long to make of the texts; the next start is quick.",
    ),
]


@opts.reads_texts
def report(
    model: opts.ModelFile,
    texts: opts.Texts,
    output: opts.Output,
    title: Title = None,
    documents: Annotated[
        int, opts.flag("--documents", "Documents in the report at most.", min=1)
    ] = 300,
    index: _IndexFile = None,
) -> None:
    """Write one HTML file that shows topics and documents; it works from disk, offline.

    Example: topicvec report news.topicvec news/ -o report.html
    """
    from topicvec.errors import require
    from topicvec.explore.report import write_report

    require("jinja2", "explore", "making a report")  # said before the work, not after it
    opts.check_writable(output)
    collection = _collect(model, texts, title, index)
    with render.progress_bar() as advance:
        path = write_report(
            output, collection, n_documents=documents, advance=partial(advance, "writing")
        )
    render.note(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


@opts.reads_texts
def explore(
    model: opts.ModelFile,
    texts: opts.Texts,
    title: Title = None,
    port: Annotated[int, opts.flag("--port", "Port; 0 takes a free one.", min=0, max=65535)] = 8765,
    browser: Annotated[
        bool, opts.flag("--browser/--no-browser", "Open the page in the browser.")
    ] = True,
    index: _IndexFile = None,
) -> None:
    """Serve pages to explore topics and documents, on this computer only; Ctrl-C ends it.

    Example: topicvec explore news.topicvec news/ --port 8765
    """
    from topicvec.explore.server import check_server, serve

    check_server(port)  # said before the work, not after it

    def ready(address: str) -> None:
        render.show_text(address)
        if browser:
            typer.launch(address)

    serve(_collect(model, texts, title, index), port=port, ready=ready)


def _collect(
    model: Path, texts: opts.SourceTexts, title: str | None, index: Path | None
) -> "Collection":
    from topicvec.cli import fitting
    from topicvec.explore import Collection

    if index is not None:
        opts.check_writable(index)
    name = title or ", ".join(Path(source).name or source for source in texts.sources)
    loaded = fitting.load_model(model)
    documents = texts.read()
    counted = render.counted(documents, "preparing", len(documents))
    return Collection.build(loaded, counted, name, index)

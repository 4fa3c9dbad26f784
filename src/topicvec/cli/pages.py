"""``topicvec report`` and ``topicvec explore``: pages that show a model and a corpus."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicvec.cli.options import ModelFile, Output, Quiet, Reading, Sources, with_reading

if TYPE_CHECKING:
    from topicvec.explore import Collection

__all__ = ["explore", "report"]

Title = Annotated[
    str | None,
    typer.Option("--title", help="Heading; the names of the sources by default."),
]


@with_reading
def report(
    model: ModelFile,
    sources: Sources,
    output: Output,
    reading: Reading,
    title: Title = None,
    documents: Annotated[
        int, typer.Option("--documents", min=1, help="Documents in the report at most.")
    ] = 300,
    quiet: Quiet = False,
) -> None:
    """Write one HTML file that shows topics and documents; it works from disk, offline.

    Example: topicvec report news.topicvec news/ -o report.html
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import note, progress
    from topicvec.errors import require
    from topicvec.explore.report import write_report

    require("jinja2", "explore", "making a report")  # said before the work, not after it
    fitting.check_writable(output)
    collection = _collect(model, sources, reading, title, quiet)
    with progress(quiet=quiet) as advance:
        path = write_report(
            output, collection, n_documents=documents, advance=partial(advance, "writing")
        )
    note(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


@with_reading
def explore(
    model: ModelFile,
    sources: Sources,
    reading: Reading,
    title: Title = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 8765,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Serve pages to explore topics and documents, on this computer only; Ctrl-C ends it.

    Example: topicvec explore news.topicvec news/ --port 8765
    """
    from topicvec.cli.render import show_text
    from topicvec.explore.server import check_server, serve

    check_server(port)  # said before the work, not after it

    def ready(address: str) -> None:
        show_text(address)
        if browser:
            typer.launch(address)

    serve(_collect(model, sources, reading, title, quiet), port=port, ready=ready)


def _collect(
    model: Path, sources: list[str], reading: Reading, title: str | None, quiet: bool
) -> "Collection":
    from topicvec.cli import fitting
    from topicvec.cli.render import progress
    from topicvec.explore import Collection

    name = title or ", ".join(Path(source).name or source for source in sources)
    loaded = fitting.load_model(model)
    documents = fitting.read_all(reading, sources, quiet=quiet)
    with progress(quiet=quiet) as advance:
        counted = fitting.told(documents, advance, "preparing", len(documents))
        return Collection.build(loaded, counted, name)

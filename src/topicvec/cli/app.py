"""The tree of commands. Each command imports what it needs when it runs, so help is instant."""

from typing import Annotated

import typer

from topicvec.cli import (
    classify,
    demo,
    explain,
    fit,
    info,
    pages,
    pictures,
    search,
    show,
    summarize,
    topics,
    transform,
    vectors,
)
from topicvec.errors import DataError

__all__ = ["app"]

app = typer.Typer(
    name="topicvec",
    help="Topics as vectors: find, read and use the topics of one article or a whole corpus.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="On every command: --debug shows the traceback of an error.",
)
app.command("topics")(topics.topics)
app.command("fit")(fit.fit)
app.command("transform")(transform.transform)
app.command("info")(info.info)
app.command("show")(show.show)
app.command("explain")(explain.explain)
app.command("search")(search.search)
app.command("similar")(search.similar)
app.command("summarize")(summarize.summarize)
app.add_typer(classify.app, name="classify")
app.command("cloud")(pictures.cloud)
app.command("picture")(pictures.picture)
app.add_typer(vectors.app, name="vectors")
app.command("report")(pages.report)
app.command("explore")(pages.explore)
app.command("demo")(demo.demo)


@app.command(
    "bench",
    hidden=True,
    context_settings={
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "help_option_names": [],
    },
)
def _bench() -> None:
    raise DataError(
        "the laboratory is a package of its own: pip install ./bench, then topicvec-bench …"
    )


def _version(wanted: bool) -> None:
    if wanted:
        import topicvec
        from topicvec.cli.render import show_text

        show_text(topicvec.__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Topics as vectors: find, read and use the topics of one article or a whole corpus."""

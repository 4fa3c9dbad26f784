"""The ``topicvec`` command: what its subcommands are and how errors leave it.

Exit codes: 0 done, 1 found nothing, 2 bad input, 130 interrupted. Errors are one line; the
traceback comes only with ``--debug``. A command's module is imported when the command is named, and
imports what it needs when it runs, so that help is instant and no command waits for another's.
"""

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Annotated, Any

from topicvec.cli import INTERRUPTED, run

if TYPE_CHECKING:
    import typer

__all__ = ["INTERRUPTED", "NOTHING_FOUND", "call", "make_app", "run"]

NOTHING_FOUND = 1

# The commands in the order of the help, and the modules that they are in.
_HOME = {
    "topics": "topics", "prepare": "topics", "fit": "topics", "choose": "topics",
    "combine": "combine", "relabel": "change", "merge": "change", "transform": "transform",
    "info": "show", "show": "show", "over-time": "show", "by-class": "show", "explain": "explain",
    "search": "search", "similar": "search", "summarize": "explain", "classify": "classify",
    "cloud": "pictures", "picture": "pictures", "vectors": "vectors", "report": "pages",
    "explore": "pages", "demo": "topics",
}  # fmt: skip
_RENAMED = {"trends": "over-time"}


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : list of str
        What stands after ``topicvec``.

    Returns
    -------
    int
        0 done, 1 found nothing, 2 bad input, 130 interrupted.
    """
    from topicvec.cli.render import complain, note

    given = [argument for argument in arguments if argument != "--debug"]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: note(str(message))
            app = make_app(next(iter(given), None))
            result = app(args=given, prog_name="topicvec", standalone_mode=False)
        code, message = result if isinstance(result, int) else 0, ""
    except BaseException as error:
        if given != arguments:
            raise
        code, message = _verdict(error)
    if code == INTERRUPTED:  # typer makes this of Ctrl-C, and we after keeping what there is
        message = "interrupted"
    if message:
        complain(message)
    return code


def make_app(name: str | None = None) -> "typer.Typer":
    """Make the tree of commands.

    Parameters
    ----------
    name : str, optional
        The only command that is asked for; all of them if it is none's name.

    Returns
    -------
    typer.Typer
    """
    import typer

    from topicvec.errors import DataError

    if name == "bench":
        raise DataError(
            "the laboratory is a package of its own: pip install ./bench, then topicvec-bench …"
        )
    if name in _RENAMED:
        raise DataError(f"topicvec {name} is now called topicvec {_RENAMED[name]}")
    app = typer.Typer(
        name="topicvec",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="On every command: --debug shows the traceback of an error.",
    )
    version = typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")

    @app.callback()
    def main(version: Annotated[bool, version] = False) -> None:
        """Topics as vectors: find, read and use the topics of one article or a whole corpus."""

    for each in [name] if name in _HOME else _HOME:
        module = importlib.import_module(f"topicvec.cli.{_HOME[each]}")
        found = getattr(module, each.replace("-", "_"))
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=each)
        else:
            app.command(each)(found)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        import typer

        import topicvec
        from topicvec.cli.render import show_text

        show_text(topicvec.__version__)
        raise typer.Exit


def _verdict(error: BaseException) -> tuple[int, str]:
    """Give the exit code of an error and what to say of it, in one line."""
    import typer

    from topicvec.errors import TopicVecError

    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        error = error.__context__  # which typer has made an exit with code 1
    if isinstance(error, typer.Exit):
        return int(error.exit_code), ""
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED, ""
    if isinstance(error, BrokenPipeError):  # the reader of our pipe, head for example, has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0, ""
    if isinstance(error, TopicVecError | OSError):
        return 2, str(error)
    if isinstance(error, MemoryError):
        about = f" ({error})" if str(error) else ""
        return 2, f"not enough memory{about}: give fewer or shorter documents, or fewer words"
    if hasattr(error, "format_message"):  # wrong usage; typer has its own or click's class for it
        return 2, _wrong_usage(error)
    raise error


def _wrong_usage(error: Any) -> str:
    """Say in one line what is wrong with the arguments, and where to read more."""
    message = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    where = "topicvec" if context is None else context.command_path
    # without a message there were no arguments, and the help has been shown
    return message and f"{message}; {where} -h tells more"

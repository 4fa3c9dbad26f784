"""The ``topicvec`` command: what its subcommands are and how errors leave it.

Exit codes: 0 done, 1 found nothing, 2 bad input, 130 interrupted. Errors are one line; the
traceback comes only with ``--debug``.
"""

import os
import sys
import warnings
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "call", "run"]

INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    try:
        _load()
    except KeyboardInterrupt:  # before there is anything that could print it
        sys.stderr.write("topicvec: interrupted\n")
        sys.exit(INTERRUPTED)
    sys.exit(call(sys.argv[1:]))


def _load() -> None:
    try:
        import typer  # noqa: F401
        from rich import console  # noqa: F401
    except ModuleNotFoundError:
        sys.stderr.write('topicvec: the command line needs typer: pip install "topicvec[cli]"\n')
        sys.exit(2)
    import topicvec.cli.app
    import topicvec.cli.render  # noqa: F401


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
    from topicvec.cli.app import app
    from topicvec.cli.render import complain, note

    debug = "--debug" in arguments
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: note(str(message))
            given = [argument for argument in arguments if argument != "--debug"]
            result = app(args=given, prog_name="topicvec", standalone_mode=False)
    except BaseException as error:
        if debug:
            raise
        return _exit_code(error)
    if result == INTERRUPTED:  # typer makes this of Ctrl-C, and we after keeping what there is
        complain("interrupted")
    return result if isinstance(result, int) else 0


def _exit_code(error: BaseException) -> int:
    import typer

    from topicvec.cli.render import complain
    from topicvec.errors import TopicVecError

    if isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError):
        error = error.__context__  # which typer has made an exit with code 1
    if isinstance(error, typer.Exit):
        return int(error.exit_code)
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        complain("interrupted")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):  # the reader of our pipe, head for example, has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, TopicVecError | OSError):
        complain(str(error))
        return 2
    if hasattr(error, "format_message"):  # wrong usage; typer has its own or click's class for it
        _explain(error)
        return 2
    raise error


def _explain(error: Any) -> None:
    """Say in one line what is wrong with the arguments, and where to read more."""
    from topicvec.cli.render import complain

    message = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
    if message:  # else there were no arguments, and the help has been shown
        context = getattr(error, "ctx", None)
        where = "topicvec" if context is None else context.command_path
        complain(f"{message}; {where} -h tells more")

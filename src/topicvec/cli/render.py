"""The only file that prints: tables, progress and one-line complaints.

Results go to standard output, everything else to standard error, so pipes stay clean.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

__all__ = ["Advance", "complain", "note", "progress", "show_json", "show_table", "show_text"]

_out = Console(highlight=False, soft_wrap=False)
_err = Console(stderr=True, highlight=False, soft_wrap=True)


class Advance(Protocol):
    """Called with the stage of the work, how much of it is done, and how much there is."""

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        """Move the bar."""
        ...


def show_text(text: str) -> None:
    """Print a line of result."""
    _out.print(escape(text), soft_wrap=True)


def show_json(value: Any) -> None:
    """Print a result as JSON, for a script to read."""
    print(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def show_table(
    rows: Sequence[Mapping[str, object]], *, title: str = "", wide: Sequence[str] = ()
) -> None:
    """Print records as a table; numbers to the right, ``wide`` columns take the spare room."""
    if not rows:
        return
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for name, value in rows[0].items():
        number = isinstance(value, int | float)
        table.add_column(
            name, justify="right" if number else "left", ratio=1 if name in wide else None
        )
    for row in rows:
        table.add_row(*(escape(_cell(value)) for value in row.values()))
    _out.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def note(message: str) -> None:
    """Say something on the side, to standard error."""
    _err.print(f"[dim]{escape(message)}[/dim]")


def complain(message: str) -> None:
    """Say what went wrong, in one line, to standard error."""
    line = " ".join(message.split())
    _err.print(f"[bold red]topicvec:[/bold red] {escape(line)}")


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Advance]:
    """Show a bar a stage with the time left, only where a person looks on.

    Yields
    ------
    Advance
        A function to call with (stage, done, total).
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    hidden = quiet or not _err.is_terminal
    with Progress(*columns, console=_err, transient=True, disable=hidden) as bar:
        stages: dict[str, TaskID] = {}

        def advance(stage: str, done: int, total: int | None = None) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=total)
            bar.update(stages[stage], completed=done, total=total)

        yield advance

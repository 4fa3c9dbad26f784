"""The only file that prints: tables, progress and one-line complaints.

Results go to standard output, everything else to standard error, so pipes stay clean. Whatever
is printed comes through `visible`: texts, names and messages may be a stranger's, and a terminal
obeys what it is sent.
"""

import csv
import json
import logging
import re
import sys
import warnings
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Protocol, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

__all__ = [
    "Advance",
    "complain",
    "counted",
    "is_quiet",
    "note",
    "progress_bar",
    "remarks",
    "show_csv",
    "show_facts",
    "show_json",
    "show_legend",
    "show_marked",
    "show_table",
    "show_text",
    "standard_output",
    "visible",
]

Item = TypeVar("Item")
_SOME = 0.01  # of the words; fewer unknown ones are not worth a remark
_EVERY = 100  # documents between moves of a bar

_out = Console(highlight=False, soft_wrap=False)
_err = Console(stderr=True, highlight=False, soft_wrap=True)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)  # heard even when quiet


# What a terminal obeys instead of showing it: control characters but tab and line end, marks that
# turn the direction of writing, and halves of characters, which cannot be written at all.
_OBEYED = re.compile(
    r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    r"\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Show what a terminal would obey, or what cannot be written, by its escape.

    Examples
    --------
    >>> print(visible("\x1b[2Jcafé\u202e"))
    \x1b[2Jcafé\u202e
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Advance(Protocol):
    """Called with the stage of the work, how much of it is done, and how much there is."""

    def __call__(self, stage: str, done: int, total: int | None = None, detail: str = "") -> None:
        """Move the bar."""
        ...


def show_text(text: str) -> None:
    """Print a line of result."""
    _out.print(escape(visible(text)), soft_wrap=True)


def show_json(value: Any) -> None:
    """Print a result as JSON, for a script to read."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    print(_OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def show_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print records as CSV, with all digits, for a spreadsheet or a script to read."""
    writer = csv.DictWriter(sys.stdout, rows[0] if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def standard_output() -> IO[str]:
    """Give where results go, for what is written in pieces."""
    return sys.stdout


def is_quiet() -> bool:
    """Say whether only results are asked for."""
    return _err.quiet


def show_table(
    rows: Sequence[Mapping[str, object]],
    *,
    title: str = "",
    wide: Sequence[str] = (),
    faint: Container[int] = (),
) -> None:
    """Print records as a table; numbers to the right, ``wide`` columns take the spare room."""
    if not rows:
        return
    if title:  # a line of its own: above a narrow table it would be broken
        _out.print(f"[italic]{escape(visible(title))}[/italic]", soft_wrap=True)
    table = Table(header_style="bold")
    for name, value in rows[0].items():
        is_number = isinstance(value, int | float) or str(value).endswith("%")
        table.add_column(
            escape(visible(name)),
            justify="right" if is_number else "left",
            ratio=1 if name in wide else None,
        )
    for number, row in enumerate(rows):
        table.add_row(*map(_cell, row.values()), style="dim" if number in faint else None)
    _out.print(table)


def show_facts(facts: Mapping[str, str | None]) -> None:
    """Print facts under their names, one a row."""
    show_table([{"": name, "value": value} for name, value in facts.items()], wide=["value"])


def _cell(value: object) -> str | Text:
    if isinstance(value, Text):
        return value
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else escape(visible(str(value)))


def show_marked(pieces: Iterable[tuple[str, int | None]]) -> None:
    """Print a text whose pieces belong to topics, or to none.

    Parameters
    ----------
    pieces : iterable of (str, int or None)
        Pieces of the text in order, with their topics. In colour where there is any; else the
        topic's number stands behind the piece, in brackets.
    """
    plain = _out.no_color or not _out.is_terminal
    text = Text()
    for piece, topic in ((visible(piece), topic) for piece, topic in pieces):
        if topic is None:
            text.append(piece)
        elif plain:
            text.append(f"{piece}[{topic}]")
        else:
            text.append(piece, style=_style(topic))
    _out.print(text, soft_wrap=plain)


def show_legend(topics: Iterable[tuple[int, int, str]]) -> None:
    """Print what the colours of `show_marked` mean: topic, tokens of it in the text, words."""
    show_table(
        [
            {
                "topic": Text(f" {topic} ", _style(topic), justify="right"),
                "tokens": n,
                "words": words,
            }
            for topic, n, words in topics
        ]
    )


def _style(topic: int) -> str:
    if topic == 0:  # the null topic
        return "italic"
    from topicvec.pictures.palette import COLOURS

    turn, place = divmod(topic - 1, len(COLOURS))
    return f"{'underline ' if turn % 2 else ''}#ffffff on {COLOURS[place]}"


@contextmanager
def remarks(*, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Say nothing on the side while quiet; while verbose, say also what the library logs.

    At the end the share of unknown words is said, in one line whatever the number of batches.
    """
    handler = _Remarks(verbose)
    logger = logging.getLogger("topicvec")
    before = _err.quiet, logger.level
    _err.quiet = quiet
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\S+% of the words are unknown")
            yield
        handler.tell_unknown()
    except Exception:
        handler.tell_unknown(many_only=True)  # which may be why nothing was found, or too little
        raise
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[1])
        _err.quiet = before[0]


class _Remarks(logging.Handler):
    """Says what was read, all that is logged if verbose, and how many words are unknown."""

    def __init__(self, verbose: bool) -> None:
        super().__init__()
        self.verbose, self.n_tokens, self.n_unknown = verbose, 0, 0
        self.words: Counter[str] = Counter()
        self.hint = ""
        self.said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record of the library."""
        if self.verbose or (hasattr(record, "said") and record.getMessage() not in self.said):
            note(record.getMessage())
            self.said.add(record.getMessage())  # sources may be read twice
        if (report := getattr(record, "report", None)) is not None:
            self.n_tokens += report.n_tokens
            self.n_unknown += report.n_unknown
            self.words.update(report.unknown)
            self.hint = getattr(record, "hint", "")

    def tell_unknown(self, *, many_only: bool = False) -> None:
        """Say how many words stay unknown, if they are a hundredth, and what helps, if a tenth."""
        if self.n_unknown <= _SOME * self.n_tokens:
            return
        # imported with what has logged the reports
        from topicvec.model.counts import LARGE_SHARE
        from topicvec.text.bag import BagReport

        report = BagReport(0, self.n_tokens, self.n_unknown, self.words, (), ())  # type: ignore[arg-type]
        if report.unknown_share > LARGE_SHARE:
            note(f"{report.unknown_message()}; {self.hint}")
        elif not many_only:
            note(report.unknown_message())


def note(message: str) -> None:
    """Say something on the side, to standard error."""
    _err.print(f"[dim]{escape(visible(message))}[/dim]")


def complain(message: str) -> None:
    """Say what went wrong, in one line, to standard error."""
    line = " ".join(message.split())
    _errors.print(f"[bold red]topicvec:[/bold red] {escape(visible(line))}")


@contextmanager
def progress_bar() -> Iterator[Advance]:
    """Show a bar a stage with the time left, only where a person looks on.

    Yields
    ------
    Advance
        A function to call with (stage, done, total).
    """
    if _err.quiet or not _err.is_terminal:
        yield lambda *_, **__: None
        return
    from rich import progress as bars  # takes a while to import

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=_err, transient=True) as bar:
        stages: dict[str, bars.TaskID] = {}

        def advance(stage: str, done: int, total: int | None = None, detail: str = "") -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=total)
            text = f"{stage} {detail}".rstrip()
            bar.update(stages[stage], completed=done, total=total, description=text)

        yield advance


def counted(
    items: Iterable[Item], stage: str = "reading", total: int | None = None
) -> Iterator[Item]:
    """Pass documents on and count them on a bar, with the time left if it is known how many."""
    n_read = 0
    with progress_bar() as advance:
        for n_read, item in enumerate(items, 1):
            if n_read % _EVERY == 0:
                advance(stage, n_read, total)
            yield item
        advance(stage, n_read, n_read)

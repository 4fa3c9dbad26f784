"""Options that several commands share, written once."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.text import Document

__all__ = ["SourceOptions", "argument", "flag", "read_pairs", "read_settings", "reads_sources"]

Command = Callable[..., Any]
Table = Mapping[str, tuple[Any, Any, Any]]  # of options: kind, default and description of each


def flag(*names_and_help: str, **details: Any) -> Any:
    """Describe an option by its names, if the parameter's will not do, and its help."""
    *names, text = names_and_help
    return typer.Option(*names, help=text, **details)


def argument(text: str, **details: Any) -> Any:
    """Describe what is given by its place."""
    return typer.Argument(help=text, show_default=False, **details)


Sources = Annotated[list[str], argument("Files or folders to read; - is standard input.")]
Json = Annotated[bool, flag("--json", "Print one JSON object instead of a table.")]
Seed = Annotated[int, flag("--seed", "Start of the random numbers.")]
Vectors = Annotated[
    str | None, flag("--vectors", "Word vectors to use; the embedded ones by default.")
]
Output = Annotated[Path, flag("--output", "-o", "File to write.")]
Jobs = Annotated[int | None, flag("--jobs", "-j", "Workers; all cores by default.")]
ModelFile = Annotated[Path, argument("Model that topicvec fit wrote.", metavar="MODEL")]
ModelOption = Annotated[
    Path | None, flag("--model", "-m", "Model of a corpus; topics of the text itself by default.")
]
NTopics = Annotated[int, flag("-k", "Number of topics, the null topic included.")]
Settings = Annotated[
    list[str] | None,
    flag(
        "--set",
        "Any other parameter of TopicVec, for example alpha=learn, max_norm=12 or max_iter=50; "
        "may be repeated.",
        metavar="NAME=VALUE",
    ),
]

# Parameters of TopicVec that a command line can say and that have no option of their own.
_SETTABLE = {
    "alpha": "NUMBER|learn",
    "max_norm": "NUMBER",
    "solver": "newton|paper",
    "max_iter": "WHOLE_NUMBER",
    "tol": "NUMBER",
    "init": "auto|spread|documents|random",
}
_KINDS: Mapping[str, Callable[[str], float]] = {"NUMBER": float, "WHOLE_NUMBER": int}
_DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";"}


def read_pairs(texts: list[str] | None, expected: str) -> dict[str, str]:
    """Read KEY=VALUE pairs.

    Examples
    --------
    >>> read_pairs(["licence=CC BY-SA"], "a note is KEY=VALUE")
    {'licence': 'CC BY-SA'}
    """
    pairs = [text.partition("=") for text in texts or []]
    for key, sign, _ in pairs:
        if not (key and sign):
            raise DataError(f"{expected}; found {key!r}")
    return {key: value for key, _, value in pairs}


def read_settings(texts: list[str] | None) -> dict[str, Any]:
    """Read parameters of TopicVec.

    Examples
    --------
    >>> read_settings(["alpha=learn", "max_norm=12"])
    {'alpha': 'learn', 'max_norm': 12.0}
    >>> read_settings(["max_iter=many"])
    Traceback (most recent call last):
    topicvec.errors.DataError: --set takes alpha=NUMBER|learn, ...; found 'max_iter=many'
    """
    expected = f"--set takes {', '.join(f'{name}={kind}' for name, kind in _SETTABLE.items())}"
    return {
        name: _value(name, text, expected) for name, text in read_pairs(texts, expected).items()
    }


def _value(name: str, text: str, expected: str) -> Any:
    for choice in _SETTABLE.get(name, "").split("|"):
        try:
            return _KINDS[choice](text)
        except KeyError:
            if text == choice:
                return text
        except ValueError:
            continue
    raise DataError(f"{expected}; found {f'{name}={text}'!r}")


def option_table(panel: str, **options: tuple[Any, ...]) -> Table:
    """Describe options of one panel of the help: kind, default, then names if any and help."""
    return {
        name: (kind, default, flag(*texts, rich_help_panel=panel, show_default=False))
        for name, (kind, default, *texts) in options.items()
    }


_SOURCE_OPTIONS: Table = {
    "quiet": (bool, False, flag("--quiet", "-q", "No progress bar and no remarks.")),
    "verbose": (bool, False, flag("--verbose", "-v", "Tell what is going on.")),
    **option_table(
        "Reading",
        format=(
            str,
            "auto",
            "auto, text, lines, csv, tsv, jsonl or parquet; behind a table's format and a comma "
            "no-header, quoting, no-quoting or delimiter=tab.",
        ),
        encoding=(str, "utf-8", "Of the text; utf-8 by default."),
        text_column=(str | None, None, "Column or field of the text."),
        id_column=(str | None, None, "Column or field of the id."),
        label_column=(str | None, None, "Column or field of the class."),
        time_column=(str | None, None, "Column or field of the time."),
    ),
}


class SourceOptions:
    """How the sources are read; the same options on every command that reads text."""

    def __init__(self, format: str, **options: str | None) -> None:
        self.given: dict[str, Any] = options | _table_details(format)
        if not self.given.get("header", True):  # columns are numbers then: 0 is the first
            digits = {name: value for name, value in options.items() if value and value.isdigit()}
            self.given |= {name: int(value) for name, value in digits.items()}

    def documents(self, sources: list[str]) -> "Iterator[Document]":
        """Stream the documents of the sources."""
        from topicvec.text import read_documents

        return read_documents(sources, **self.given)

    def read(self, sources: list[str]) -> "list[Document]":
        """Read all documents of the sources, with a bar that counts them."""
        from topicvec.cli.render import progress_bar, told

        with progress_bar() as advance:
            return list(told(self.documents(sources), advance))


def _table_details(text: str) -> dict[str, Any]:
    """Read a format and how its tables are written.

    Examples
    --------
    >>> _table_details("csv,no-header,delimiter=semicolon")
    {'format': 'csv', 'header': False, 'delimiter': ';'}
    """
    name, *details = text.split(",")
    found: dict[str, Any] = {"format": name}
    for detail in details:
        key, _, value = detail.partition("=")
        delimiter = _DELIMITERS.get(value, value)
        if key == "delimiter" and len(delimiter) == 1:
            found[key] = delimiter
        elif detail in ("header", "no-header", "quoting", "no-quoting"):
            found[detail.removeprefix("no-")] = not detail.startswith("no-")
        else:
            raise DataError(
                "--format takes header, no-header, quoting, no-quoting and delimiter=comma, tab, "
                f"semicolon or a character behind the format; found {detail!r}"
            )
    return found


def reads_sources(command: Command) -> Command:
    """Give a command `SourceOptions` as its parameter ``options``, and --quiet and --verbose."""

    @takes(_SOURCE_OPTIONS, "options")
    @wraps(command)
    def wrapper(options: dict[str, Any], **given: Any) -> Any:
        from topicvec.cli.render import remarks

        with remarks(quiet=options.pop("quiet"), verbose=options.pop("verbose")):
            return command(options=SourceOptions(**options), **given)

    return wrapper


def takes(table: Table, place: str) -> Callable[[Command], Command]:
    """Put the options of a table in place of a parameter, which is given them as a dict."""
    kind = inspect.Parameter.KEYWORD_ONLY
    new = [
        inspect.Parameter(name, kind, default=default, annotation=Annotated[hint, about])
        for name, (hint, default, about) in table.items()
    ]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapper(**given: Any) -> Any:
            return command(**{place: {name: given.pop(name) for name in table}}, **given)

        own = inspect.signature(command).parameters.values()
        parameters: list[inspect.Parameter] = []
        for each in sorted(own, key=lambda each: each.name == "options"):  # which come last
            parameters += new if each.name == place else [each.replace(kind=kind)]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {each.name: each.annotation for each in parameters}
        return wrapper

    return decorate

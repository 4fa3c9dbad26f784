"""Options that several commands share, written once."""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import render
from topicvec.errors import DataError
from topicvec.files import is_special

if TYPE_CHECKING:
    from topicvec.text import Document, PreparedCorpus

__all__ = [
    "SourceTexts", "check_writable", "flag", "number_of_topics", "read_pairs", "read_settings",
    "reads_texts", "refuse_learning", "refuse_reading",
]  # fmt: skip

MANY_DIGITS = 10  # no number that a command takes has so many
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
Command = Callable[..., Any]
Table = Mapping[str, tuple[Any, Any, Any]]  # of options: kind, default and description of each


def flag(*names_and_help: str, **details: Any) -> Any:
    """Describe an option by its names, if the parameter's will not do, and its help."""
    *names, text = names_and_help
    return typer.Option(*names, help=text, **details)


def argument(text: str, **details: Any) -> Any:
    """Describe what is given by its place."""
    return typer.Argument(help=text, show_default=False, **details)


Json = Annotated[bool, flag("--json", "Print one JSON object instead of a table.")]
Seed = Annotated[int, flag("--seed", "Start of the random numbers.")]
Output = Annotated[Path, flag("--output", "-o", "File to write.")]
Jobs = Annotated[int | None, flag("--jobs", "-j", "Workers; all cores by default.")]
EngineOption = Annotated[
    str | None,
    flag(
        "--engine",
        "dask (worker processes of this machine, as many as --jobs) or the address of a Dask "
        "scheduler; threads of this machine by default.",
        metavar="dask|tcp://HOST:PORT",
    ),
]
Memory = Annotated[
    str | None,
    flag(
        "--memory",
        "What a fit of a prepared corpus may use at most, such as 3GB; it is refused before the "
        "start if that cannot be enough.",
        metavar="SIZE",
    ),
]
ModelFile = Annotated[Path, argument("Model that topicvec fit wrote.", metavar="MODEL")]
ModelOption = Annotated[
    Path | None, flag("--model", "-m", "Model of a corpus; topics of the text itself by default.")
]
NTopics = Annotated[
    str,
    flag("-k", "Number of topics, or auto: as many as the text supports.", metavar="NUMBER|auto"),
]
ByClass = Annotated[bool, flag("--by-class", "So many topics for each class of the documents.")]
Csv = Annotated[bool, flag("--csv", "Print the table as CSV.")]
Settings = Annotated[
    list[str] | None,
    flag(
        "--set",
        "A parameter of TopicVec: alpha, max_norm, solver, max_iter, tol or init, for example "
        "alpha=learn or max_norm=12; with solver=paper also learning_rate, length, n_passes, "
        "n_steps and start of PaperSolver; may be repeated.",
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
# Those of the paper's solver.
_PAPER = {
    "learning_rate": "NUMBER",
    "length": "NUMBER",
    "n_passes": "WHOLE_NUMBER",
    "n_steps": "WHOLE_NUMBER",
    "start": "paper|even",
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
    >>> read_settings(["solver=paper", "length=2500"])["solver"].base_length
    2500.0
    >>> read_settings(["max_iter=many"])
    Traceback (most recent call last):
    topicvec.errors.DataError: --set takes alpha=NUMBER|learn, ...; found 'max_iter=many'
    """
    kinds = {**_SETTABLE, **_PAPER}
    expected = f"--set takes {', '.join(f'{name}={kind}' for name, kind in kinds.items())}"
    pairs = read_pairs(texts, expected)
    found = {
        name: _value(kinds.get(name, ""), text, f"{expected}; found {f'{name}={text}'!r}")
        for name, text in pairs.items()
    }
    paper = {name: found.pop(name) for name in _PAPER if name in found}
    if paper:
        if found.get("solver") != "paper":
            raise DataError(
                f"--set {next(iter(paper))} is of the paper's solver: add --set solver=paper"
            )
        from topicvec.model import PaperSolver

        found["solver"] = PaperSolver(**paper)
    return found


def _value(kind: str, text: str, message: str) -> Any:
    for choice in kind.split("|"):
        try:
            return _KINDS[choice](text)
        except KeyError:
            if text and text == choice:
                return text
        except ValueError:
            continue
    raise DataError(message)


def number_of_topics(text: str) -> int | str:
    """Read what -k was given.

    Examples
    --------
    >>> number_of_topics("8"), number_of_topics("auto")
    (8, 'auto')
    """
    if text != "auto" and not (text.isdecimal() and len(text) < MANY_DIGITS):
        raise DataError(f"-k takes a number of topics, or auto; found {text!r}")
    return text if text == "auto" else int(text)


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, so that no long work is lost at its end."""
    if path.is_dir():
        raise DataError(f"{path} is a folder: give the name of a file as --output")
    if is_special(path):  # a device or a pipe, which is written into
        return
    if not path.parent.is_dir():
        raise DataError(f"no such folder: {path.parent}; create it, or choose another --output")
    if not os.access(path.parent, os.W_OK):
        raise DataError(f"no files can be written in {path.parent}; choose another --output")


def option_table(panel: str, **options: tuple[Any, ...]) -> Table:
    """Describe options of one panel of the help: kind, default, then names if any and help."""
    return {
        name: (kind, default, flag(*texts, rich_help_panel=panel, show_default=False))
        for name, (kind, default, *texts) in options.items()
    }


_TEXT_OPTIONS: Table = {
    "quiet": (bool, False, flag("--quiet", "-q", "No progress bar and no remarks.")),
    "verbose": (bool, False, flag("--verbose", "-v", "Tell what is going on.")),
    **option_table(
        "Reading",
        format=(
            str,
            "auto",
            "auto (told by each file's bytes and name), text, lines (a document each), csv, tsv, "
            "jsonl, json, excel, parquet, html, markdown, docx, epub, email, mbox or pdf; behind a "
            "table's format and a comma no-header, quoting, no-quoting or delimiter=tab.",
        ),
        encoding=(str, "auto", "Of the text; told by the bytes of each file by default."),
        errors=(
            str,
            "skip",
            "What becomes of a document that cannot be read: skip, replace (its wrong bytes) or "
            "strict (the first ends all); skip by default, and counted.",
        ),
        text_column=(str | None, None, "Column or field of the text."),
        id_column=(str | None, None, "Column or field of the id."),
        label_column=(str | None, None, "Column or field of the class."),
        time_column=(str | None, None, "Column or field of the time."),
    ),
}


# How words are read and learned, on every command that learns topics; each is a parameter of
# TopicVec, so that a command hands the values on as they are.
_WORDS: Table = option_table(
    "Words",
    vectors=(
        str | None,
        None,
        "general (the embedded English ones), corpus (learned from the texts alone, in any "
        "language) or a file; by default general ones that learn from a corpus.",
    ),
    stop_words=(
        str,
        "english",
        "english, paper, sklearn, none, corpus (found in the texts), a language by its name or "
        "code (italian, it), or a file of words; english by default.",
    ),
    own_words=(
        bool,
        True,
        "--own-words/--no-own-words",
        "Whether topics have words of their own beside those of their vectors.",
    ),
    phrases=(
        bool,
        True,
        "--phrases/--no-phrases",
        "Whether collocations of a corpus, such as new york, are words.",
    ),
)
_ABOUT_TOPICS: dict[str, tuple[Any, Any]] = {
    "k": (NTopics, "auto"),
    "by_class": (ByClass, False),
    "seed": (Seed, 0),
    "settings": (Settings, None),
    "jobs": (Jobs, None),
    "engine": (EngineOption, None),
}
Words = Annotated[dict[str, Any], _WORDS]
# The same on fit and on every command that can learn topics of its own.
Learning = Annotated[
    dict[str, Any],
    {
        **_WORDS,
        **{
            name: (kind.__origin__, default, kind.__metadata__[0])
            for name, (kind, default) in _ABOUT_TOPICS.items()
        },
    },
]


def refuse_learning(given: Mapping[str, Any]) -> None:
    """Refuse options of learning beside a model that has its topics.

    Examples
    --------
    >>> refuse_learning({"k": "8"})
    Traceback (most recent call last):
    topicvec.errors.DataError: -k is for topics that are learned, and a model has its own: ...
    """
    table: Table = Learning.__metadata__[0]  # type: ignore[attr-defined]
    if option := _changed(table, {**given, "jobs": None}):
        raise DataError(
            f"{option} is for topics that are learned, and a model has its own: leave out "
            f"{option}, or the model"
        )


def refuse_reading(given: Mapping[str, Any]) -> None:
    """Refuse options of reading where no text is read.

    Examples
    --------
    >>> refuse_reading({"text_column": "body"})
    Traceback (most recent call last):
    topicvec.errors.DataError: --text-column is for reading texts, and none are read here: ...
    """
    if option := _changed(_TEXT_OPTIONS, given):
        raise DataError(
            f"{option} is for reading texts, and none are read here: leave out {option}, or name "
            "files to read"
        )


def _changed(table: Table, given: Mapping[str, Any]) -> str | None:
    """Name the first option that is not as it is by default."""
    for name, (_, default, about) in table.items():
        if given.get(name, default) != default:
            # typer keeps the first name of an option, if it was given one, in place of its default
            named = about.default if isinstance(about.default, str) else None
            return (named or f"--{name.replace('_', '-')}").split("/")[0]
    return None


class SourceTexts:
    """The documents of the sources, which can be read more than once."""

    def __init__(self, sources: list[str], format: str, **options: str | None) -> None:
        self.sources = sources
        self.options: dict[str, Any] = options | _table_details(format)

    def __iter__(self) -> "Iterator[Document]":
        from topicvec.text import read_documents

        if self.prepared is not None:
            raise DataError(
                f"{self.sources[0]} is a prepared corpus, which has kept words and no texts: name "
                "the files that it was made of"
            )
        return read_documents(self.sources, **self.options)

    @cached_property
    def prepared(self) -> "PreparedCorpus | None":
        """The corpus that ``topicvec prepare`` wrote, if that is the source."""
        from topicvec.text.prepared import PreparedCorpus, is_prepared

        known = [source for source in self.sources if is_prepared(source)]
        if known and len(self.sources) > 1:
            raise DataError(
                f"{known[0]} is a prepared corpus, which is read alone: prepare all sources "
                "together, or name it only"
            )
        return PreparedCorpus.open(known[0]) if known else None

    def cut(self, tokenizer: Any = None) -> "Iterable[Document]":
        """Give the documents, those of a prepared corpus as the words that the tokenizer cut."""
        if self.prepared is None:
            return self
        self.prepared.check_tokenizer(tokenizer)
        return self.prepared

    def source(self) -> "list[Document] | PreparedCorpus":
        """Give what a fit takes: a prepared corpus, which stays in its files, or all documents."""
        return self.read() if self.prepared is None else self.prepared

    def read(self) -> "list[Document]":
        """Read all documents, with a bar that counts them."""
        return list(render.counted(self))


Texts = Annotated[SourceTexts, argument("Files or folders to read; - is standard input.")]


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


def reads_texts(command: Command) -> Command:
    """Make a command that reads text out of a function with a parameter ``texts``.

    It is given `SourceTexts`, or None if there need be no sources and there are none. The command
    has the options of reading, --quiet and --verbose. A parameter that is annotated with a table of
    options is given their values as a dict.
    """
    parameters: list[inspect.Parameter] = []
    tables: dict[str, Table] = {}
    for each in inspect.signature(command).parameters.values():
        (about, *_) = getattr(each.annotation, "__metadata__", [None])
        if each.name == "texts":
            kind = list[str] if each.default is inspect.Parameter.empty else list[str] | None
            sources = each.replace(name="sources", annotation=Annotated[kind, about])
            parameters.append(sources.replace(kind=_KEYWORD))
        elif isinstance(about, Mapping):
            tables[each.name] = about
            parameters += _parameters(about)
        else:
            parameters.append(each.replace(kind=_KEYWORD))
    parameters += _parameters(_TEXT_OPTIONS)

    @wraps(command)
    def wrapper(sources: list[str] | None, quiet: bool, verbose: bool, **given: Any) -> Any:
        how = {name: given.pop(name) for name in _TEXT_OPTIONS if name in given}
        for place, table in tables.items():
            given[place] = {name: given.pop(name) for name in table}
        with render.remarks(quiet=quiet, verbose=verbose):
            if given.get("json") and given.get("csv"):
                raise DataError("--json and --csv are two forms of one table: choose one")
            if not sources:
                refuse_reading(how)
            texts = SourceTexts(sources, **how) if sources else None
            return command(texts=texts, **given)

    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapper


def _parameters(table: Table) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(name, _KEYWORD, default=default, annotation=Annotated[kind, about])
        for name, (kind, default, about) in table.items()
    ]

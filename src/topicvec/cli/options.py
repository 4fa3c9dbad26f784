"""Options that several commands share, written once."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "Iterations",
    "Jobs",
    "Json",
    "ModelFile",
    "ModelOption",
    "NTopics",
    "Notes",
    "Output",
    "Quantized",
    "Quiet",
    "Reading",
    "Seed",
    "Sources",
    "VectorsOption",
    "with_reading",
]

Sources = Annotated[
    list[str],
    typer.Argument(help="Files or folders to read; - is standard input.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no remarks.")]
Seed = Annotated[int, typer.Option("--seed", help="Start of the random numbers.")]
VectorsOption = Annotated[
    str | None,
    typer.Option("--vectors", help="Word vectors to use; the embedded ones by default."),
]

Output = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Workers; all cores by default.")]
Quantized = Annotated[bool, typer.Option("--quantized", help="One byte a number.")]
Notes = Annotated[
    list[str] | None,
    typer.Option("--note", help="KEY=VALUE to keep in the file; may be repeated."),
]

ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model that topicvec fit wrote.", show_default=False),
]
ModelOption = Annotated[
    Path | None,
    typer.Option("--model", "-m", help="Model of a corpus; topics of the text itself by default."),
]
NTopics = Annotated[int, typer.Option("-k", help="Number of topics, the null topic included.")]
Iterations = Annotated[int, typer.Option("--iterations", help="Most iterations of a fit.")]
_Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Tell what is going on.")]

_PANEL = "Reading"


def _option(name: str, text: str) -> Any:
    return typer.Option(name, help=text, rich_help_panel=_PANEL, show_default=False)


@dataclass(frozen=True)
class Reading:
    """How the sources are read; the same options on every command that reads text."""

    format: Annotated[
        str, _option("--format", "auto, text, lines, csv, tsv, jsonl or parquet.")
    ] = "auto"
    encoding: Annotated[str, _option("--encoding", "Of the text; utf-8 by default.")] = "utf-8"
    text_column: Annotated[str | None, _option("--text-column", "Column or field of the text.")] = (
        None
    )
    id_column: Annotated[str | None, _option("--id-column", "Column or field of the id.")] = None
    label_column: Annotated[
        str | None, _option("--label-column", "Column or field of the class.")
    ] = None
    time_column: Annotated[str | None, _option("--time-column", "Column or field of the time.")] = (
        None
    )
    header: Annotated[
        bool, _option("--header/--no-header", "Whether a table's first row names its columns.")
    ] = True

    delimiter: Annotated[
        str | None, _option("--delimiter", "Between fields; a comma in CSV, a tab in TSV.")
    ] = None
    quoting: Annotated[
        bool | None,
        _option("--quoting/--no-quoting", "Fields may stand in quotes; in CSV they may."),
    ] = None

    def documents(self, sources: list[str]) -> Iterator[Any]:
        """Stream the documents of the sources."""
        from topicvec.text import read_documents

        options: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in options:
            if name.endswith("_column"):
                options[name] = self._column(options[name])
        return read_documents(sources, **options)

    def _column(self, name: str | None) -> str | int | None:
        # without a header row, columns are numbers: 0 is the first
        return int(name) if name is not None and not self.header and name.isdigit() else name


def with_reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of ``Reading`` for its ``reading`` parameter, and ``-v``."""
    hints = get_type_hints(Reading, include_extras=True)
    extra = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(Reading)
    ]
    verbose = inspect.Parameter(
        "verbose", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_Verbose
    )
    extra.insert(0, verbose)

    @wraps(command)
    def wrapper(**given: Any) -> Any:
        from topicvec.cli.render import remarks

        reading = Reading(**{field.name: given.pop(field.name) for field in fields(Reading)})
        with remarks(quiet=given.get("quiet", False), verbose=given.pop("verbose")):
            return command(reading=reading, **given)

    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command).parameters.values()
        if parameter.name != "reading"
    ]
    wrapper.__signature__ = inspect.Signature([*own, *extra])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in [*own, *extra]}
    return wrapper

"""``topicvec vectors train`` and ``add``: word vectors from text."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import (
    Jobs,
    Notes,
    Output,
    Quantized,
    Quiet,
    Reading,
    Sources,
    with_reading,
)
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.embed import WordVectors

__all__ = ["add", "check_output", "read_notes", "train"]

# What the papers on PSDVec used, where the defaults differ.
PAPER: dict[str, Any] = {
    "window": 3,
    "direction": "left",
    "weighting": "flat",
    "smoothing": 0.02,
    "unseen_weight": 0.0,
    "frequency_power": 0.0,
    "n_iter": 4,
    "eigenvalue_power": 0.5,
}
_PANEL = "PSDVec"


def _option(name: str, text: str) -> Any:
    return typer.Option(name, help=text, rich_help_panel=_PANEL, show_default=False)


@with_reading
def train(
    sources: Sources,
    output: Output,
    reading: Reading,
    dims: Annotated[int | None, _option("--dims", "Dimensions; 400.")] = None,
    core: Annotated[
        int | None, _option("--core", "Words factorised together; 20,000 or fewer.")
    ] = None,
    words: Annotated[int | None, _option("--words", "Words in all; 80,000.")] = None,
    min_count: Annotated[int | None, _option("--min-count", "Leave rarer words out; 5.")] = None,
    paper: Annotated[
        bool, _option("--paper", "The papers' settings where no other option says otherwise.")
    ] = False,
    window: Annotated[int | None, _option("--window", "Words to look at on a side; 10.")] = None,
    direction: Annotated[str | None, _option("--direction", "left, right or both; both.")] = None,
    weighting: Annotated[
        str | None, _option("--weighting", "flat, harmonic or linear in distance; harmonic.")
    ] = None,
    smoothing: Annotated[float | None, _option("--smoothing", "κ; 0.2.")] = None,
    unseen_weight: Annotated[
        float | None, _option("--unseen-weight", "Weight of pairs never seen; 1.")
    ] = None,
    frequency_power: Annotated[
        float | None, _option("--frequency-power", "Of the weights of words; 0.2.")
    ] = None,
    context_power: Annotated[
        float | None, _option("--context-power", "Of the words' probabilities; 1.")
    ] = None,
    subsample: Annotated[
        float | None, _option("--subsample", "Thin out words more frequent than this; off.")
    ] = None,
    n_iter: Annotated[
        int | None, _option("--iterations", "Of the weighted approximation; 1.")
    ] = None,
    eigenvalue_power: Annotated[
        float | None, _option("--eigenvalue-power", "Scale of the dimensions; 0.25.")
    ] = None,
    ridge: Annotated[float | None, _option("--ridge", "Of the other words; 2.")] = None,
    memory: Annotated[
        float | None, _option("--memory", "Gigabytes for counting and for the core; 4.")
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(help="Folder for counts: an interrupted run goes on from there."),
    ] = None,
    description: Annotated[
        str, typer.Option(help="What the corpus is and its licence, kept in the file.")
    ] = "",
    notes: Notes = None,
    quantized: Quantized = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Learn word vectors from text with PSDVec.

    Example: topicvec vectors train corpus/ -o my.safetensors --dims 300
    """
    chosen = {
        "n_dims": dims, "n_core": core, "n_words": words, "min_count": min_count,
        "window": window, "direction": direction, "weighting": weighting,
        "smoothing": smoothing, "unseen_weight": unseen_weight,
        "frequency_power": frequency_power, "context_power": context_power,
        "subsample": subsample, "n_iter": n_iter, "eigenvalue_power": eigenvalue_power,
        "ridge": ridge, "memory_budget": None if memory is None else int(memory * 2**30),
    }  # fmt: skip
    settings = (PAPER if paper else {}) | {k: v for k, v in chosen.items() if v is not None}
    facts = ({"corpus": description} if description else {}) | read_notes(notes)
    check_output(output, quantized=quantized)
    if work is not None and "-" in sources:
        raise DataError("--work reads the text twice, which standard input cannot be: name a file")
    vectors = _learn(settings, _Again(reading, sources), work, jobs, quiet).with_metadata(**facts)
    vectors.save(output, quantized=quantized)
    _tell(vectors, output, quiet)


def _learn(
    settings: dict[str, Any], texts: "_Again", work: Path | None, jobs: int | None, quiet: bool
) -> "WordVectors":
    from topicvec.cli.render import progress
    from topicvec.embed import PSDVec

    with progress(quiet=quiet) as advance:
        model = PSDVec(**settings, n_jobs=jobs, work_folder=work, progress=advance)
        return model.fit(texts).vectors_


def _tell(vectors: "WordVectors", output: Path, quiet: bool, more: str = "") -> None:
    from topicvec.cli.render import note

    if not quiet:
        note(f"{output}: {len(vectors):,} words, {vectors.n_dims} dimensions{more}")


class _Again:
    """Documents that can be read a second time."""

    def __init__(self, reading: Reading, sources: list[str]) -> None:
        self.reading, self.sources = reading, sources

    def __iter__(self) -> Iterator[Any]:
        return self.reading.documents(self.sources)


@with_reading
def add(
    vectors_file: Annotated[str, typer.Argument(metavar="VECTORS", help="Vectors to extend.")],
    sources: Sources,
    output: Output,
    reading: Reading,
    words: Annotated[
        list[str] | None,
        typer.Option("--word", help="A word to add or estimate anew; may be repeated."),
    ] = None,
    most: Annotated[int | None, typer.Option("--most", help="At most so many new words.")] = None,
    min_count: Annotated[int, typer.Option(help="Rarer words are left out.")] = 5,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Add words of another corpus to vectors; the old vectors stay as they are, to the bit.

    Vectors that were made by topicvec are extended with the settings they were made with.

    Example: topicvec vectors add my.safetensors medicine/ -o both.safetensors --most 2000
    """
    from topicvec.cli.render import progress
    from topicvec.embed import PSDVec, load_vectors

    check_output(output)
    old = load_vectors(vectors_file)
    with progress(quiet=quiet) as advance:
        model = PSDVec(**_settings(old), min_count=min_count, n_jobs=jobs, progress=advance)
        new = model.add_words(old, _Again(reading, sources), words or None, max_new=most)
    new.save(output)
    _tell(new, output, quiet, f", {len(new) - len(old):,} of the words new")


def _settings(vectors: "WordVectors") -> dict[str, Any]:
    if vectors.metadata.get("method") != "PSDVec":
        return {}
    near = json.loads(vectors.metadata["window"])
    near = {name: near[name] for name in ("window", "direction", "weighting")}
    return {**json.loads(vectors.metadata["settings"]), **near}


def check_output(path: Path, format: str | None = None, *, quantized: bool = False) -> None:
    """Write something tiny where the result will go, so that no long work is lost at its end."""
    from topicvec.embed import WordVectors

    if not path.parent.is_dir():
        raise DataError(f"no such folder: {path.parent}; create it, or choose another --output")
    trial = path.with_name(f".trial-{path.name}")
    try:
        WordVectors(["trial"], [[1.0]], [1.0]).save(trial, format, quantized=quantized)
    finally:
        trial.unlink(missing_ok=True)


def read_notes(notes: list[str] | None) -> dict[str, str]:
    """Read KEY=VALUE pairs.

    Examples
    --------
    >>> read_notes(["licence=CC BY-SA"])
    {'licence': 'CC BY-SA'}
    """
    pairs = [note.partition("=") for note in notes or []]
    for key, sign, _ in pairs:
        if not (key and sign):
            raise DataError(f"a note is KEY=VALUE; found {key!r}")
    return {key: value for key, _, value in pairs}

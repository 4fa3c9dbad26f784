"""``topicvec vectors``: train, extend, score, convert and look at word vectors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.embed import WordVectors

__all__ = ["vectors"]

vectors = typer.Typer(
    help="Word vectors: train (PSDVec), add words, evaluate, convert, look.", no_args_is_help=True
)

_Files = Annotated[list[str] | None, opts.argument("Vector files; none means the embedded ones.")]
_OneFile = Annotated[
    str | None, opts.flag("--vectors", "Vector file; the embedded one by default.")
]
_Tests = Annotated[Path, opts.flag("Folder of word similarity and analogy tests.")]
_Quantized = Annotated[bool, opts.flag("--quantized", "One byte a number.")]
_Notes = Annotated[
    list[str] | None, opts.flag("--note", "KEY=VALUE to keep in the file; may be repeated.")
]

# What the papers on PSDVec used, where the defaults differ.
PAPER: dict[str, Any] = {
    "window": 3, "direction": "left", "weighting": "flat", "smoothing": 0.02, "unseen_weight": 0.0,
    "frequency_power": 0.0, "n_iter": 4, "eigenvalue_power": 0.5,
}  # fmt: skip
_NOTE = "a note is KEY=VALUE"
# Parameters of PSDVec; where none is given, its own default holds.
_PSDVEC = opts.option_table(
    "PSDVec",
    n_dims=(int | None, None, "--dims", "Dimensions; 400."),
    n_core=(int | None, None, "--core", "Words factorised together; 20,000 or fewer."),
    n_words=(int | None, None, "--words", "Words in all; 80,000."),
    min_count=(int | None, None, "Leave rarer words out; 5."),
    paper=(bool, False, "--paper", "The papers' settings where no other option says otherwise."),
    window=(int | None, None, "Words to look at on a side; 10."),
    direction=(str | None, None, "left, right or both; both."),
    weighting=(str | None, None, "flat, harmonic or linear in distance; harmonic."),
    smoothing=(float | None, None, "κ; 0.2."),
    unseen_weight=(float | None, None, "Weight of pairs never seen; 1."),
    frequency_power=(float | None, None, "Of the weights of words; 0.2."),
    context_power=(float | None, None, "Of the words' probabilities; 1."),
    subsample=(float | None, None, "Thin out words more frequent than this; off."),
    n_iter=(int | None, None, "--iterations", "Of the weighted approximation; 1."),
    eigenvalue_power=(float | None, None, "Scale of the dimensions; 0.25."),
    ridge=(float | None, None, "Of the other words; 2."),
    memory_budget=(float | None, None, "--memory", "Gigabytes for counting and for the core; 4."),
)


@vectors.command()
@opts.reads_texts
def train(
    texts: opts.Texts,
    output: opts.Output,
    settings: Annotated[dict[str, Any], _PSDVEC],
    work: Annotated[
        Path | None, opts.flag("Folder for counts: an interrupted run goes on from there.")
    ] = None,
    description: Annotated[
        str, opts.flag("What the corpus is and its licence, kept in the file.")
    ] = "",
    notes: _Notes = None,
    quantized: _Quantized = False,
    jobs: opts.Jobs = None,
    engine: opts.EngineOption = None,
) -> None:
    """Learn word vectors from text with PSDVec.

    Example: topicvec vectors train corpus/ -o my.safetensors --dims 300
    """
    from topicvec.cli.fitting import workers

    chosen = dict(PAPER) if settings.pop("paper") else {}
    chosen |= {name: value for name, value in settings.items() if value is not None}
    if "memory_budget" in chosen:
        chosen["memory_budget"] = int(chosen["memory_budget"] * 2**30)
    facts = ({"corpus": description} if description else {}) | opts.read_pairs(notes, _NOTE)
    _check_output(output, quantized=quantized)
    if work is not None and "-" in texts.sources:
        raise DataError("--work reads the text twice, which standard input cannot be: name a file")
    with workers(engine, jobs) as n_jobs:
        learned = _learn(chosen, texts, work, n_jobs).with_metadata(**facts)
    learned.save(output, quantized=quantized)
    _tell(learned, output)


def _learn(
    settings: dict[str, Any], texts: opts.SourceTexts, work: Path | None, n_jobs: Any
) -> "WordVectors":
    from topicvec.embed import PSDVec

    with render.progress_bar() as advance:
        model = PSDVec(**settings, n_jobs=n_jobs, work_folder=work, progress=advance)
        return model.fit(texts.cut()).vectors_


def _tell(vectors: "WordVectors", output: Path, more: str = "") -> None:
    render.note(f"{output}: {len(vectors):,} words, {vectors.n_dims} dimensions{more}")


@vectors.command()
@opts.reads_texts
def add(
    vectors_file: Annotated[str, opts.argument("Vectors to extend.", metavar="VECTORS")],
    texts: opts.Texts,
    output: opts.Output,
    words: Annotated[
        list[str] | None, opts.flag("--word", "A word to add or estimate anew; may be repeated.")
    ] = None,
    most: Annotated[int | None, opts.flag("--most", "At most so many new words.")] = None,
    min_count: Annotated[int, opts.flag("Rarer words are left out.")] = 5,
    jobs: opts.Jobs = None,
    engine: opts.EngineOption = None,
) -> None:
    """Add words of another corpus to vectors; the old vectors stay as they are, to the bit.

    Vectors that were made by topicvec are extended with the settings they were made with.

    Example: topicvec vectors add my.safetensors medicine/ -o both.safetensors --most 2000
    """
    from topicvec.cli.fitting import workers
    from topicvec.embed import PSDVec, load_vectors
    from topicvec.embed.psdvec import settings_of

    _check_output(output)
    old = load_vectors(vectors_file)
    with workers(engine, jobs) as n_jobs, render.progress_bar() as advance:
        model = PSDVec(**settings_of(old), min_count=min_count, n_jobs=n_jobs, progress=advance)
        new = model.add_words(old, texts.cut(), words or None, max_new=most)
    new.save(output)
    _tell(new, output, f", {len(new) - len(old):,} of the words new")


def _check_output(path: Path, format: str | None = None, *, quantized: bool = False) -> None:
    """Write something tiny of the same name, so that no long work is lost at its end."""
    from topicvec.embed import WordVectors

    opts.check_writable(path)
    with TemporaryDirectory(prefix="topicvec-") as folder:
        trial = Path(folder, path.name)
        WordVectors(["trial"], [[1.0]], [1.0]).save(trial, format, quantized=quantized)


@vectors.command("eval")
def evaluate(
    files: _Files = None,
    tests: _Tests = Path("words"),
    json: opts.Json = False,
) -> None:
    """Score vectors on word similarity and analogies, side by side.

    Example: topicvec vectors eval mine.safetensors glove.txt --tests words/
    """
    from topicvec.embed import load_vectors
    from topicvec.measure.words import evaluate_words

    chosen: list[str | None] = [*files] if files else [None]
    scores = {name or "embedded": evaluate_words(load_vectors(name), tests) for name in chosen}
    if json:
        render.show_json({name: [row.as_dict() for row in scores[name]] for name in scores})
    else:
        render.show_table(_side_by_side(scores))


def _side_by_side(scores: Mapping[str, Sequence[Any]]) -> list[dict[str, object]]:
    short = {name: Path(name).name for name in scores}
    if len(set(short.values())) < len(short):
        short = {name: name for name in scores}
    rows: dict[str, dict[str, object]] = {}
    for name, results in scores.items():
        for score in results:
            row = rows.setdefault(score.name, {"test": score.name})
            row[short[name]] = f"{score.value:.3f} ({score.n_used:,} of {score.n_total:,})"
    return list(rows.values())


@vectors.command()
def convert(
    source: Annotated[str, opts.argument("Vector file to read.")],
    output: opts.Output,
    to: Annotated[
        str | None, opts.flag("--to", "safetensors, word2vec, word2vec-binary, glove or fasttext.")
    ] = None,
    frequencies: Annotated[
        Path | None, opts.flag("File of words and counts, for the word probabilities.")
    ] = None,
    most: Annotated[int | None, opts.flag("--most", "Only the first so many.")] = None,
    encoding: Annotated[str, opts.flag("--encoding", "Of a text file.")] = "utf-8",
    notes: _Notes = None,
    quantized: _Quantized = False,
    trust_pickle: Annotated[
        bool,
        opts.flag("--trust-pickle", "Open a gensim file, which can run any code: do you trust it?"),
    ] = False,
) -> None:
    """Write vectors in another format.

    Example: topicvec vectors convert glove.6B.100d.txt -o glove.safetensors
    """
    from topicvec.embed import load_vectors

    facts = opts.read_pairs(notes, _NOTE)
    _check_output(output, to, quantized=quantized)
    found = load_vectors(
        source, frequencies=frequencies, max_words=most, encoding=encoding,
        trust_pickle=trust_pickle,
    )  # fmt: skip
    found.with_metadata(**facts).save(output, format=to, quantized=quantized)


@vectors.command()
def info(file: Annotated[str | None, typer.Argument()] = None, json: opts.Json = False) -> None:
    """Tell what is in a vector file.

    Example: topicvec vectors info
    """
    from topicvec.embed import load_vectors

    known = load_vectors(file)
    facts: dict[str, object] = {
        "words": len(known),
        "dimensions": known.n_dims,
        "most frequent": " ".join(known.words[:10]),
        "rarest": " ".join(known.words[-5:]),
        "content hash": known.content_hash,
        **known.metadata,
    }
    if json:
        render.show_json(facts)
    else:
        texts = {name: str(value) for name, value in facts.items()}
        render.show_facts({k: v if len(v) <= 300 else f"{v[:299]}…" for k, v in texts.items()})


@vectors.command()
def nearest(
    words: Annotated[list[str], opts.argument("Words to look up.")],
    file: _OneFile = None,
    n: Annotated[int, opts.flag("-n", "Neighbours a word.")] = 10,
    json: opts.Json = False,
) -> None:
    """List the nearest words by cosine.

    Example: topicvec vectors nearest drought orchard -n 5
    """
    from topicvec.embed import load_vectors

    known = load_vectors(file)
    found = {word: known.nearest(word, n) for word in words}
    if json:
        pairs = {each: [{"word": w, "cosine": c} for w, c in found[each]] for each in found}
        render.show_json(pairs)
    else:
        columns = [[f"{w} {c:.2f}" for w, c in pairs] for pairs in found.values()]
        rows = zip(*columns, strict=True)
        render.show_table([dict(zip(found, row, strict=True)) for row in rows])

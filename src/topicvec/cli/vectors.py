"""``topicvec vectors``: train, extend, score, convert and look at word vectors."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from topicvec.cli.options import Json, Quiet, Reading, Sources, with_reading

__all__ = ["app"]

app = typer.Typer(
    help="Word vectors: train (PSDVec), add words, evaluate, convert, look.", no_args_is_help=True
)

VectorFiles = Annotated[
    list[str] | None,
    typer.Argument(help="Vector files; none means the embedded ones.", show_default=False),
]
OneFile = Annotated[
    str | None, typer.Option("--vectors", help="Vector file; the embedded one by default.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Workers; all cores by default.")]


@app.command()
@with_reading
def train(
    sources: Sources,
    output: Output,
    reading: Reading,
    dims: Annotated[int, typer.Option(help="Dimensions.")] = 400,
    core: Annotated[int, typer.Option(help="Most frequent words, factorised together.")] = 20_000,
    words: Annotated[int, typer.Option(help="Words in all.")] = 80_000,
    window: Annotated[int, typer.Option(help="Words to look at on each side.")] = 10,
    min_count: Annotated[int, typer.Option(help="Rarer words are left out.")] = 5,
    work: Annotated[
        Path | None,
        typer.Option(help="Folder for counts: an interrupted run goes on from there."),
    ] = None,
    description: Annotated[
        str, typer.Option(help="What the corpus is and its licence, kept in the file.")
    ] = "",
    quantized: Annotated[bool, typer.Option("--quantized", help="One byte a number.")] = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Learn word vectors from text with PSDVec.

    Example: topicvec vectors train corpus/ -o my.safetensors --dims 300
    """
    from topicvec.cli.render import note, progress
    from topicvec.embed import PSDVec

    with progress(quiet=quiet) as advance:
        model = PSDVec(
            dims,
            n_core=core,
            n_words=words,
            min_count=min_count,
            window=window,
            n_jobs=jobs,
            work_folder=work,
            progress=advance,
        ).fit(_Again(reading, sources))
    vectors = model.vectors_
    if description:
        vectors = vectors.with_metadata(corpus=description)
    vectors.save(output, quantized=quantized)
    if not quiet:
        note(f"{output}: {len(vectors):,} words, {vectors.n_dims} dimensions")


class _Again:
    """Documents that can be read a second time."""

    def __init__(self, reading: Reading, sources: list[str]) -> None:
        self.reading, self.sources = reading, sources

    def __iter__(self) -> Any:
        return self.reading.documents(self.sources)


@app.command()
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

    Example: topicvec vectors add my.safetensors medicine/ -o both.safetensors --most 2000
    """
    from topicvec.cli.render import note, progress
    from topicvec.embed import PSDVec, load_vectors

    old = load_vectors(vectors_file)
    with progress(quiet=quiet) as advance:
        model = PSDVec(min_count=min_count, n_jobs=jobs, progress=advance)
        new = model.add_words(old, _Again(reading, sources), words or None, max_new=most)
    new.save(output)
    if not quiet:
        note(f"{output}: {len(new):,} words, {len(new) - len(old):,} of them new")


@app.command("eval")
def evaluate(
    files: VectorFiles = None,
    tests: Annotated[
        Path, typer.Option(help="Folder of word similarity and analogy tests.")
    ] = Path("words"),
    json: Json = False,
) -> None:
    """Score vectors on word similarity and analogies, side by side.

    Example: topicvec vectors eval mine.safetensors glove.txt --tests words/
    """
    from topicvec.cli.render import show_json, show_table
    from topicvec.embed import load_vectors
    from topicvec.evaluate.words import evaluate_words

    chosen: list[str | None] = [*files] if files else [None]
    scores = {name or "embedded": evaluate_words(load_vectors(name), tests) for name in chosen}
    if json:
        show_json({name: [score.as_dict() for score in rows] for name, rows in scores.items()})
        return
    show_table(_side_by_side(scores))


def _side_by_side(scores: Mapping[str, Any]) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    for name, results in scores.items():
        for score in results:
            row = rows.setdefault(score.name, {"test": score.name})
            row[Path(name).name] = score.value
            row[
                f"used of {score.n_total:,}" if len(scores) == 1 else f"used, {Path(name).name}"
            ] = score.n_used
    return list(rows.values())


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="Vector file to read.")],
    output: Output,
    to: Annotated[
        str | None,
        typer.Option("--to", help="safetensors, word2vec, word2vec-binary or glove."),
    ] = None,
    frequencies: Annotated[
        Path | None, typer.Option(help="File of words and counts, for the word probabilities.")
    ] = None,
    most: Annotated[int | None, typer.Option("--most", help="Only the first so many.")] = None,
    quantized: Annotated[bool, typer.Option("--quantized", help="One byte a number.")] = False,
) -> None:
    """Write vectors in another format.

    Example: topicvec vectors convert glove.6B.100d.txt -o glove.safetensors
    """
    from topicvec.embed import load_vectors

    vectors = load_vectors(source, frequencies=frequencies, max_words=most)
    vectors.save(output, format=to, quantized=quantized)


@app.command()
def info(file: Annotated[str | None, typer.Argument()] = None, json: Json = False) -> None:
    """Tell what is in a vector file.

    Example: topicvec vectors info
    """
    from topicvec.cli.render import show_json, show_table
    from topicvec.embed import load_vectors

    vectors = load_vectors(file)
    facts: dict[str, object] = {
        "words": len(vectors),
        "dimensions": vectors.n_dims,
        "most frequent": " ".join(vectors.words[:10]),
        "rarest": " ".join(vectors.words[-5:]),
        "content hash": vectors.content_hash,
        **vectors.metadata,
    }
    if json:
        show_json(facts)
    else:
        show_table([{"": name, "value": str(value)} for name, value in facts.items()])


@app.command()
def nearest(
    words: Annotated[list[str], typer.Argument(help="Words to look up.")],
    file: OneFile = None,
    n: Annotated[int, typer.Option("-n", help="Neighbours a word.")] = 10,
    json: Json = False,
) -> None:
    """List the nearest words by cosine.

    Example: topicvec vectors nearest drought orchard -n 5
    """
    from topicvec.cli.render import show_json, show_table
    from topicvec.embed import load_vectors

    vectors = load_vectors(file)
    found = {word: vectors.nearest(word, n) for word in words}
    if json:
        show_json({w: [{"word": x, "cosine": c} for x, c in pairs] for w, pairs in found.items()})
        return
    columns = [[f"{w} {c:.2f}" for w, c in pairs] for pairs in found.values()]
    rows = [dict(zip(found, row, strict=True)) for row in zip(*columns, strict=True)]
    show_table(rows)

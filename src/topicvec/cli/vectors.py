"""``topicvec vectors``: train, extend, score, convert and look at word vectors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from topicvec.cli import train
from topicvec.cli.options import Json, Notes, Output, Quantized

__all__ = ["app"]

app = typer.Typer(
    help="Word vectors: train (PSDVec), add words, evaluate, convert, look.", no_args_is_help=True
)
app.command("train")(train.train)
app.command("add")(train.add)

VectorFiles = Annotated[
    list[str] | None,
    typer.Argument(help="Vector files; none means the embedded ones.", show_default=False),
]
OneFile = Annotated[
    str | None, typer.Option("--vectors", help="Vector file; the embedded one by default.")
]


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
    from topicvec.measure.words import evaluate_words

    chosen: list[str | None] = [*files] if files else [None]
    scores = {name or "embedded": evaluate_words(load_vectors(name), tests) for name in chosen}
    if json:
        show_json({name: [score.as_dict() for score in rows] for name, rows in scores.items()})
    else:
        show_table(_side_by_side(scores))


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


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="Vector file to read.")],
    output: Output,
    to: Annotated[
        str | None,
        typer.Option("--to", help="safetensors, word2vec, word2vec-binary, glove or fasttext."),
    ] = None,
    frequencies: Annotated[
        Path | None, typer.Option(help="File of words and counts, for the word probabilities.")
    ] = None,
    most: Annotated[int | None, typer.Option("--most", help="Only the first so many.")] = None,
    encoding: Annotated[str, typer.Option("--encoding", help="Of a text file.")] = "utf-8",
    notes: Notes = None,
    quantized: Quantized = False,
) -> None:
    """Write vectors in another format.

    Example: topicvec vectors convert glove.6B.100d.txt -o glove.safetensors
    """
    from topicvec.embed import load_vectors

    facts = train.read_notes(notes)
    train.check_output(output, to, quantized=quantized)
    vectors = load_vectors(source, frequencies=frequencies, max_words=most, encoding=encoding)
    vectors.with_metadata(**facts).save(output, format=to, quantized=quantized)


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
        show_table([{"": name, "value": _shortened(str(value))} for name, value in facts.items()])


def _shortened(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


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

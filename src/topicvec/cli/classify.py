"""``topicvec classify``: learn the classes of documents, and tell those of others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import (
    Iterations,
    Jobs,
    Json,
    NTopics,
    Output,
    Quiet,
    Reading,
    Seed,
    Sources,
    VectorsOption,
    with_reading,
)
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.represent import Prediction, TopicClassifier
    from topicvec.text import Document

__all__ = ["app"]

app = typer.Typer(
    help="Learn the classes of documents from examples, and tell those of others.",
    no_args_is_help=True,
)


@app.command()
@with_reading
def train(
    sources: Sources,
    output: Output,
    reading: Reading,
    k: NTopics = 15,
    seed: Seed = 0,
    max_norm: Annotated[
        float, typer.Option("--max-norm", help="Longest topic vector; longer is more specific.")
    ] = 12.0,
    iterations: Iterations = 100,
    held_out: Annotated[
        float,
        typer.Option("--held-out", help="Part of the documents to test on first; 0 for no test."),
    ] = 0.2,
    vectors: VectorsOption = None,
    json: Json = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Learn a classifier from documents with classes: sub-folders, or a column of a table.

    First a part of the documents is held out and the macro F1 on it is printed; then all of
    them are learned from. The file is a topic model too, with so many topics for each class.

    Example: topicvec classify train news/ -o news.classifier
    """
    from topicvec.cli import fitting

    fitting.check_writable(output)
    if not 0 <= held_out < 1:
        raise DataError(f"--held-out must be at least 0 and less than 1; found {held_out}")
    documents = fitting.read_all(reading, sources, quiet=quiet)
    fitting.one_label_each(documents)
    params = {
        "n_topics": k, "vectors": vectors, "max_norm": max_norm, "max_iter": iterations,
        "random_state": seed, "n_jobs": jobs,
    }  # fmt: skip
    score = _held_out_score(documents, held_out, seed, params, quiet) if held_out else None
    classifier = _learn(documents, params, quiet)
    classifier.save(output)
    _tell(classifier, documents, score, output, json)
    fitting.stop_if_interrupted(classifier.model_)


@app.command()
@with_reading
def predict(
    classifier: Annotated[
        Path, typer.Argument(help="File that classify train wrote.", show_default=False)
    ],
    sources: Sources,
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write a table: .csv, .tsv, .jsonl or .parquet."),
    ] = None,
    json: Json = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Tell the class of each document and how probable it is.

    If the documents have classes of their own, the macro F1 is told too.

    Example: topicvec classify predict news.classifier inbox/ -o classes.csv
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import note, show_json, show_table
    from topicvec.represent import TopicClassifier

    if output is not None:
        _check_table(output)
    learned = TopicClassifier.load(classifier, n_jobs=jobs)
    documents = fitting.read_all(reading, sources, quiet=quiet)
    found = learned.classify(documents)
    score = _macro_f1(documents, found)
    rows = [
        {"id": document.id, "label": guess.label, "probability": guess.probability}
        for document, guess in zip(documents, found, strict=True)
    ]
    if output is not None:
        _write(output, rows)
    if json:
        show_json({"macro_f1": score, "documents": rows})
    elif output is None:
        show_table(rows)
    if score is not None and not json:
        note(f"macro F1 {score:.1%} on {len(documents):,} documents with classes of their own")


def _learn(documents: "list[Document]", params: dict[str, Any], quiet: bool) -> "TopicClassifier":
    from topicvec.cli.fitting import watching
    from topicvec.model import TopicVec
    from topicvec.represent import TopicClassifier

    with watching(TopicVec(**params, share="class"), quiet=quiet) as model:
        labels = [str(document.label) for document in documents]
        return TopicClassifier(model).fit(documents, labels)


def _held_out_score(
    documents: "list[Document]", part: float, seed: int, params: dict[str, Any], quiet: bool
) -> float:
    from sklearn.model_selection import train_test_split

    from topicvec.cli.fitting import stop_if_interrupted

    labels = [document.label for document in documents]
    try:
        known, others = train_test_split(
            documents, test_size=part, random_state=seed, stratify=labels
        )
    except ValueError as error:
        raise DataError(
            f"too few documents of a class to hold {part:.0%} out ({error}): "
            "give more, or --held-out 0"
        ) from error
    classifier = _learn(known, params, quiet)
    stop_if_interrupted(classifier.model_)
    return classifier.score(others, [str(document.label) for document in others])


def _tell(
    classifier: "TopicClassifier", documents: "list[Document]", score: float | None,
    output: Path, json: bool,
) -> None:  # fmt: skip
    from topicvec.cli.render import note, show_json

    facts = {
        "documents": len(documents),
        "classes": list(classifier.classes_),
        "topics": classifier.model_.fitted_.n_topics,
        "held_out_macro_f1": score,
    }
    if json:
        show_json(facts)
        return
    tested = "not tested" if score is None else f"held-out macro F1 {score:.1%}"
    note(f"{output}: {len(classifier.classes_)} classes, {facts['topics']} topics, {tested}")


def _macro_f1(documents: "list[Document]", found: "list[Prediction]") -> float | None:
    if any(document.label is None for document in documents):
        return None
    from sklearn.metrics import f1_score

    own = [document.label for document in documents]
    return float(f1_score(own, [guess.label for guess in found], average="macro"))


def _check_table(output: Path) -> None:
    from topicvec.cli import fitting
    from topicvec.represent.export import check_suffix

    fitting.check_writable(output)
    if check_suffix(output) == ".npy":
        raise DataError(f"{output}: classes are words: use .csv, .tsv, .jsonl or .parquet")


def _write(output: Path, rows: list[dict[str, Any]]) -> None:
    import numpy as np

    from topicvec.represent.export import open_table

    with open_table(output) as write:
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in ("id", "label")}
        write(columns | {"probability": np.array([row["probability"] for row in rows])})

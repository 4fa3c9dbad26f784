"""``topicvec classify``: learn the classes of documents, and tell those of others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import options as opts
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.text import Document

__all__ = ["classify"]

classify = typer.Typer(
    help="Learn the classes of documents from examples, and tell those of others.",
    no_args_is_help=True,
)


@classify.command()
@opts.reads_sources
def train(
    sources: opts.Sources,
    output: opts.Output,
    options: opts.SourceOptions,
    k: Annotated[
        int | None, opts.flag("-k", "Topics of each class, the null topic included; 15 by default.")
    ] = None,
    seed: opts.Seed = 0,
    settings: opts.Settings = None,
    held_out: Annotated[
        float, opts.flag("--held-out", "Part of the documents to test on first; 0 for no test.")
    ] = 0.2,
    vectors: opts.Vectors = None,
    json: opts.Json = False,
    jobs: opts.Jobs = None,
) -> None:
    """Learn a classifier from documents with classes: sub-folders, or a column of a table.

    First a part of the documents is held out and the macro F1 on it is printed; then all of
    them are learned from. The file is a topic model too, with so many topics for each class.

    Example: topicvec classify train news/ -o news.classifier
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import note, show_json

    fitting.check_writable(output)
    if not 0 <= held_out < 1:
        raise DataError(f"--held-out must be at least 0 and less than 1; found {held_out}")
    params = {
        "vectors": vectors,
        "random_state": seed,
        "n_jobs": jobs,
        **opts.read_settings(settings),
    }
    if k is not None:
        params["n_topics"] = k
    documents = options.read(sources)
    fitting.one_label_each(documents)
    score = _held_out_score(documents, held_out, seed, params) if held_out else None
    classifier = fitting.fit_classifier(documents, **params)
    classifier.save(output)
    n_topics = classifier.model_.fitted_.n_topics
    if json:
        classes = list(classifier.classes_)
        facts = {"documents": len(documents), "classes": classes, "topics": n_topics}
        show_json({**facts, "held_out_macro_f1": score})
    else:
        tested = "not tested" if score is None else f"held-out macro F1 {score:.1%}"
        note(f"{output}: {len(classifier.classes_)} classes, {n_topics} topics, {tested}")
    fitting.stop_if_interrupted(classifier.model_)


def _held_out_score(
    documents: "list[Document]", part: float, seed: int, params: dict[str, Any]
) -> float:
    from sklearn.model_selection import train_test_split

    from topicvec.cli import fitting

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
    classifier = fitting.fit_classifier(known, **params)
    fitting.stop_if_interrupted(classifier.model_)
    return classifier.score(others, [str(document.label) for document in others])


@classify.command()
@opts.reads_sources
def predict(
    classifier: Annotated[Path, opts.argument("File that classify train wrote.")],
    sources: opts.Sources,
    options: opts.SourceOptions,
    output: Annotated[
        Path | None, opts.flag("--output", "-o", "Write a table: .csv, .tsv, .jsonl or .parquet.")
    ] = None,
    json: opts.Json = False,
    jobs: opts.Jobs = None,
) -> None:
    """Tell the class of each document and how probable it is.

    If the documents have classes of their own, the macro F1 is told too.

    Example: topicvec classify predict news.classifier inbox/ -o classes.csv
    """
    from topicvec.cli.render import note, show_json, show_table
    from topicvec.represent import TopicClassifier

    if output is not None:
        _check_table(output)
    learned = TopicClassifier.load(classifier, n_jobs=jobs)
    documents = options.read(sources)
    found = learned.classify(documents)
    score = _macro_f1(documents, [guess.label for guess in found])
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


def _macro_f1(documents: "list[Document]", found: list[str]) -> float | None:
    own = [document.label for document in documents]
    if None in own:
        return None
    from sklearn.metrics import f1_score

    return float(f1_score(own, found, average="macro"))


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

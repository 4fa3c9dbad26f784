"""``topicvec classify``: learn the classes of documents, and tell those of others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.text import Document

__all__ = ["classify"]

classify = typer.Typer(
    help="Learn the classes of documents from examples, and tell those of others.",
    no_args_is_help=True,
)


@classify.command()
@opts.reads_texts
def train(
    texts: opts.Texts,
    output: opts.Output,
    reading: opts.Words,
    k: Annotated[
        str | None,
        opts.flag(
            "-k",
            "Topics of each class, or auto; by default one for ten documents, 1 to 14.",
            metavar="NUMBER|auto",
        ),
    ] = None,
    seed: opts.Seed = 0,
    settings: opts.Settings = None,
    held_out: Annotated[
        float, opts.flag("--held-out", "Part of the documents to test on first; 0 for no test.")
    ] = 0.2,
    json: opts.Json = False,
    jobs: opts.Jobs = None,
) -> None:
    """Learn a classifier from documents with classes: sub-folders, or a column of a table.

    First a part of the documents is held out and the macro F1 on it is printed; then all of
    them are learned from. The file is a topic model too, with so many topics for each class.

    Example: topicvec classify train news/ -o news.classifier
    """
    from topicvec.cli import fitting

    opts.check_writable(output)
    if not 0 <= held_out < 1:
        raise DataError(f"--held-out must be at least 0 and less than 1; found {held_out}")
    params = {"random_state": seed, "n_jobs": jobs, **reading, **opts.read_settings(settings)}
    if k is not None:
        params["n_topics"] = opts.number_of_topics(k)
    documents = texts.read()
    fitting.labels_of(documents)
    score = _held_out_score(documents, held_out, seed, params) if held_out else None
    classifier = fitting.fit_classifier(documents, **params)
    n_topics = classifier.model_.n_topics_
    with fitting.keeping(classifier.model_):
        classifier.save(output)
        if json:
            classes = list(classifier.classes_)
            facts = {"documents": len(documents), "classes": classes, "topics": n_topics}
            render.show_json({**facts, "held_out_macro_f1": score})
        else:
            tested = "not tested" if score is None else f"held-out macro F1 {score:.1%}"
            n_classes = len(classifier.classes_)
            render.note(f"{output}: {n_classes} classes, {n_topics} topics, {tested}")


def _held_out_score(
    documents: "list[Document]", part: float, seed: int, params: dict[str, Any]
) -> float:
    from sklearn.model_selection import train_test_split

    from topicvec.cli import fitting
    from topicvec.represent.classifier import macro_f1

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
    found = [guess.label for guess in classifier.classify(others)]
    return macro_f1([document.label for document in others], found)


@classify.command()
@opts.reads_texts
def predict(
    classifier: Annotated[Path, opts.argument("File that classify train wrote.")],
    texts: opts.Texts,
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
    import numpy as np

    from topicvec.represent.classifier import LightClassifier, macro_f1
    from topicvec.represent.export import check_suffix, open_table

    if output is not None:
        opts.check_writable(output)
        if check_suffix(output) == ".npy":
            raise DataError(f"{output}: classes are words: use .csv, .tsv, .jsonl or .parquet")
    learned = LightClassifier.load(classifier, n_jobs=jobs)
    documents = texts.read()
    found = learned.classify(documents)
    columns: dict[str, Any] = {
        "id": [document.id for document in documents],
        "label": [guess.label for guess in found],
        "probability": np.array([guess.probability for guess in found]),
    }
    if output is not None:
        with open_table(output) as write:
            write(columns)
    own = [document.label for document in documents]
    score = None if None in own else macro_f1(own, columns["label"])
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if json:
        render.show_json({"macro_f1": score, "documents": rows})
        return
    if output is None:
        render.show_table(rows)
    if score is not None:
        n_documents = f"{len(documents):,} documents with classes of their own"
        render.note(f"macro F1 {score:.1%} on {n_documents}")

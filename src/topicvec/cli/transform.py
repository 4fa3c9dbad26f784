"""``topicvec transform``: documents as vectors, to a file."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import (
    Jobs,
    ModelFile,
    Output,
    Quiet,
    Reading,
    Sources,
    with_reading,
)

if TYPE_CHECKING:
    from topicvec.model import TopicVec
    from topicvec.text import Document

__all__ = ["FormName", "FormOption", "transform"]

_BATCH = 4096  # documents in memory at a time


class FormName(StrEnum):
    """Forms of a document as a vector."""

    proportions = "proportions"
    sqrt = "sqrt"
    counts = "counts"
    topic_mean = "topic-mean"
    word_mean = "word-mean"
    both = "both"
    own_words = "own-words"
    own_both = "own-both"


FormOption = Annotated[
    FormName,
    typer.Option(
        "--form",
        help="Topic proportions, their square roots, expected counts, the mean topic vector, "
        "the mean word vector, or roots and word vector.",
    ),
]


@with_reading
def transform(
    model: ModelFile,
    sources: Sources,
    output: Output,
    reading: Reading,
    form: FormOption = FormName.proportions,
    prior: Annotated[
        bool,
        typer.Option("--prior/--no-prior", help="Without, each word counts for itself."),
    ] = True,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Describe documents by the topics of a model, in a table.

    The name of the output says its format: .csv, .tsv, .jsonl, .parquet or .npy. There is a
    row for each document, with its id and its class if it has one; .npy has numbers only.

    Example: topicvec transform corpus.topicvec corpus/ -o shares.csv
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import note, progress
    from topicvec.represent.export import check_suffix, open_table

    check_suffix(output)
    fitting.check_writable(output)
    fitted = fitting.load_model(model, jobs)
    n_documents = 0
    with progress(quiet=quiet) as advance, open_table(output) as write:
        documents = fitting.told(reading.documents(sources), advance)
        for batch in _batches(documents):
            write(_columns(fitted, batch, form, prior))
            n_documents += len(batch)
    note(f"{output}: {n_documents:,} documents")


def _batches(documents: "Iterator[Document]") -> "Iterator[list[Document]]":
    while batch := list(islice(documents, _BATCH)):
        yield batch


def _columns(
    model: "TopicVec", documents: "list[Document]", form: FormName, prior: bool
) -> dict[str, Any]:
    from topicvec.represent.documents import feature_names, represent

    table = represent(model, documents, form.value, prior=prior)
    return {
        "id": [document.id for document in documents],
        "label": [document.label for document in documents],
        **dict(zip(feature_names(model, form.value), table.T, strict=True)),
    }

"""``topicvec transform``: documents as vectors, to a file."""

from contextlib import nullcontext
from enum import StrEnum
from itertools import islice
from typing import Annotated

from topicvec.cli import options as opts
from topicvec.cli import render

__all__ = ["FormName", "transform"]

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
    own_directions = "own-directions"


@opts.reads_texts
def transform(
    model: opts.ModelFile,
    texts: opts.Texts,
    output: opts.Output,
    form: Annotated[
        FormName,
        opts.flag(
            "--form",
            "Topic proportions, their square roots, expected counts, the mean topic vector, "
            "the mean word vector, or roots and word vector.",
        ),
    ] = FormName.proportions,
    prior: Annotated[
        bool, opts.flag("--prior/--no-prior", "Without, each word counts for itself.")
    ] = True,
    jobs: opts.Jobs = None,
) -> None:
    """Describe documents by the topics of a model, in a table.

    The name of the output says its format: .csv, .tsv, .jsonl, .parquet or .npy. There is a
    row for each document, with its id and its class if it has one; .npy has numbers only. With
    -o - the table goes to standard output as CSV.

    Example: topicvec transform corpus.topicvec corpus/ -o shares.csv
    """
    from topicvec.cli import fitting
    from topicvec.files import STDIN
    from topicvec.represent.documents import feature_names, represent
    from topicvec.represent.export import check_suffix, delimited, open_table

    if output != STDIN:
        check_suffix(output)
        opts.check_writable(output)
    fitted = fitting.load_model(model, jobs)
    names = feature_names(fitted, form.value)
    n_documents = 0
    piped = nullcontext(delimited(render.standard_output())) if output == STDIN else None
    with piped or open_table(output) as write:
        documents = render.counted(texts.cut(fitted.tokenizer))
        while batch := list(islice(documents, _BATCH)):
            table = represent(fitted, batch, form.value, prior=prior)
            ids, labels = [each.id for each in batch], [each.label for each in batch]
            write({"id": ids, "label": labels, **dict(zip(names, table.T, strict=True))})
            n_documents += len(batch)
    name = "standard output" if output == STDIN else output
    render.note(f"{name}: {n_documents:,} documents")

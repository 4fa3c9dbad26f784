"""``topicvec fit``: learn topics and keep them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicvec.cli.options import (
    Iterations,
    Jobs,
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
    from topicvec.model import TopicVec
    from topicvec.text import Document

__all__ = ["fit"]


@with_reading
def fit(
    sources: Sources,
    output: Output,
    reading: Reading,
    k: NTopics = 20,
    by_class: Annotated[
        bool, typer.Option("--by-class", help="So many topics for each class of the documents.")
    ] = False,
    seed: Seed = 0,
    alpha: Annotated[
        str, typer.Option("--alpha", help="Prior of the mixtures: a number, or learn.")
    ] = "0.1",
    max_norm: Annotated[
        float, typer.Option("--max-norm", help="Longest topic vector; longer is more specific.")
    ] = 7.0,
    iterations: Iterations = 100,
    vectors: VectorsOption = None,
    learn_words: Annotated[
        bool, typer.Option("--learn-words", help="Learn vectors of frequent words that have none.")
    ] = False,
    stop_words: Annotated[
        str, typer.Option(help="english, english-extended, sklearn, none, or a file of words.")
    ] = "english",
    checkpoint: Annotated[
        Path | None, typer.Option(help="File to go on from if the fit is broken off.")
    ] = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Learn the topics of documents and write them to a model file.

    Ctrl-C ends the fit early: the model so far is written, and the exit code is 130.

    Example: topicvec fit corpus/ -o corpus.topicvec -k 50
    """
    from topicvec.cli import fitting
    from topicvec.model import TopicVec

    fitting.check_writable(output)
    documents = fitting.read_all(reading, sources, quiet=quiet)
    labels = fitting.one_label_each(documents) if by_class else None
    model = TopicVec(
        k,
        vectors,
        alpha=_alpha(alpha),
        max_norm=max_norm,
        max_iter=iterations,
        stop_words=stop_words,
        share="class" if by_class else "corpus",
        unknown_words="learn" if learn_words else "report",
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
    )
    fitting.fit_model(model, documents, labels, quiet=quiet)
    _save(model, documents, output)
    fitting.stop_if_interrupted(model)


def _alpha(text: str) -> "float | str":
    try:
        return text if text == "learn" else float(text)
    except ValueError as error:
        raise DataError(f"--alpha must be a number or learn; found {text!r}") from error


def _save(model: "TopicVec", documents: "list[Document]", output: Path) -> None:
    from topicvec.cli.render import note

    fitted = model.fitted_
    rows = sorted({row for best in fitted.representative for row, _ in best})
    model.save(output, extra={"names": {str(row): documents[row].id for row in rows}})
    bound = f", bound {model.bounds_[-1]:.4f}" if model.bounds_ else ""
    note(
        f"{output}: {fitted.n_topics} topics of {fitted.n_documents:,} documents, "
        f"{model.n_iter_} iterations{bound}"
    )

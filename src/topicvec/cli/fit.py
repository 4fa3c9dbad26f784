"""``topicvec fit``: learn topics and keep them."""

from pathlib import Path
from typing import Annotated

from topicvec.cli import options as opts

__all__ = ["fit"]


@opts.reads_sources
def fit(
    sources: opts.Sources,
    output: opts.Output,
    options: opts.SourceOptions,
    k: opts.NTopics = 20,
    by_class: Annotated[
        bool, opts.flag("--by-class", "So many topics for each class of the documents.")
    ] = False,
    seed: opts.Seed = 0,
    settings: opts.Settings = None,
    vectors: opts.Vectors = None,
    learn_words: Annotated[
        bool, opts.flag("--learn-words", "Learn vectors of frequent words that have none.")
    ] = False,
    stop_words: Annotated[
        str, opts.flag("english, english-extended, sklearn, none, or a file of words.")
    ] = "english",
    checkpoint: Annotated[
        Path | None, opts.flag("File to go on from if the fit is broken off.")
    ] = None,
    jobs: opts.Jobs = None,
) -> None:
    """Learn the topics of documents and write them to a model file.

    Ctrl-C ends the fit early: the model so far is written, and the exit code is 130.

    Example: topicvec fit corpus/ -o corpus.topicvec -k 50
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import note

    fitting.check_writable(output)
    params = opts.read_settings(settings)
    documents = options.read(sources)
    model = fitting.fit_topics(
        documents,
        fitting.one_label_each(documents) if by_class else None,
        learn_words=learn_words,
        checkpoint=checkpoint,
        n_topics=k,
        vectors=vectors,
        stop_words=stop_words,
        random_state=seed,
        n_jobs=jobs,
        **params,
    )
    fitted = model.fitted_
    rows = sorted({row for best in fitted.representative for row, _ in best})
    model.save(output, extra={"names": {str(row): documents[row].id for row in rows}})
    bound = f", bound {model.bounds_[-1]:.4f}" if model.bounds_ else ""
    note(
        f"{output}: {fitted.n_topics} topics of {fitted.n_documents:,} documents, "
        f"{model.n_iter_} iterations{bound}"
    )
    fitting.stop_if_interrupted(model)

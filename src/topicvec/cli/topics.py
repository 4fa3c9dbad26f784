"""``topicvec topics``, ``fit`` and ``demo``: find topics, and show or keep them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from topicvec.cli import options as opts
from topicvec.cli import render

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["demo", "fit", "topics"]

_SHOWN = 0.0005  # share of the null topic; less is none

_Folder = Annotated[Path, opts.flag("--output", "-o", "Folder for the pages.")]


@opts.reads_texts
def topics(
    texts: opts.Texts,
    reading: opts.Words,
    k: opts.NTopics = "auto",
    seed: opts.Seed = 0,
    settings: opts.Settings = None,
    words: Annotated[int, opts.flag("--words", "Words to show of each topic.")] = 10,
    page: Annotated[Path | None, opts.flag("--page", "Also write an HTML report.")] = None,
    json: opts.Json = False,
) -> None:
    """Find and print the topics of the given text.

    Example: topicvec topics article.txt -k 10
    """
    from topicvec.embed.load import load_vectors
    from topicvec.errors import require

    if page is not None:
        require("jinja2", "explore", "making a page")  # said before the work, not after it
    params: dict[str, Any] = {"n_topics": opts.number_of_topics(k), "random_state": seed}
    params |= {**reading, **opts.read_settings(settings)}
    ahead = ThreadPoolExecutor(1).submit(load_vectors)  # beside the slow imports; they are kept
    from topicvec.cli import fitting
    from topicvec.model import read_topics

    documents = texts.read()
    ahead.result()
    model = fitting.fit_topics(documents, **params)
    if json:
        found = [
            {
                "index": topic.index,
                "label": topic.label,
                "share": topic.share,
                "is_background": topic.is_background,
                "is_null": topic.is_null,
                "words": [{"word": word, "relevance": value} for word, value in topic.words],
            }
            for topic in read_topics(model.fitted_, n_words=words, n_nearest=0)
        ]
        pairs = zip(documents, model.doc_topic_.tolist(), strict=True)
        mixtures = [{"id": document.id, "proportions": row} for document, row in pairs]
        render.show_json({"topics": found, "documents": mixtures})
    else:
        _show_topics(model, words)
    if page is not None:
        from topicvec.explore import Collection, write_report

        write_report(page, Collection.build(model, documents, ", ".join(texts.sources)))
        render.note(f"page written: {page}")
    fitting.stop_if_interrupted(model)


@opts.reads_texts
def fit(
    texts: opts.Texts,
    output: opts.Output,
    reading: opts.Words,
    k: opts.NTopics = "auto",
    by_class: Annotated[
        bool, opts.flag("--by-class", "So many topics for each class of the documents.")
    ] = False,
    seed: opts.Seed = 0,
    settings: opts.Settings = None,
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

    opts.check_writable(output)
    params: dict[str, Any] = {"n_topics": opts.number_of_topics(k), "random_state": seed}
    params |= {"n_jobs": jobs, **reading, **opts.read_settings(settings)}
    documents = texts.read()
    labels = fitting.labels_of(documents) if by_class else None
    model = fitting.fit_topics(documents, labels, checkpoint=checkpoint, **params)
    fitted = model.fitted_
    rows = sorted({row for best in fitted.representative for row, _ in best})
    model.save(output, extra={"names": {str(row): documents[row].id for row in rows}})
    bound = f", bound {model.bounds_[-1]:.4f}" if model.bounds_ else ""
    render.note(
        f"{output}: {model.n_topics_} topics of {fitted.n_documents:,} documents, "
        f"{model.n_iter_} iterations{bound}"
    )
    fitting.stop_if_interrupted(model)


def demo(output: _Folder = Path("demo")) -> None:
    """Show the topics of a bundled article and of a small bundled corpus.

    Example: topicvec demo
    """
    from topicvec import datasets
    from topicvec.cli import fitting
    from topicvec.explore import Collection, write_report

    article = datasets.sample_article()
    one = fitting.fit_topics([article], random_state=0)
    _show_topics(one, title="Topics of one article of a thousand words")
    documents = datasets.sample_corpus()
    many = fitting.fit_topics(documents, random_state=0)
    _show_topics(many, title="Topics of a small corpus: 96 documents on eight subjects")
    pages = [
        write_report(output / "article.html", Collection.build(one, [article], "One article")),
        write_report(output / "corpus.html", Collection.build(many, documents, "A small corpus")),
    ]
    render.show_text("Pages with a map, the words, and the texts in colour:")
    for page in pages:
        render.show_text(f"  {page.resolve().as_uri()}")


def _show_topics(model: "TopicVec", n_words: int = 10, title: str = "") -> None:
    """Print a model's topics as a table, the largest first, background grey and behind them."""
    from topicvec.model import read_topics

    topics = read_topics(model.fitted_, n_words=n_words, n_nearest=0)
    rows = [
        {
            "topic": topic.index,
            "label": topic.title,
            "share": f"{topic.share:.1%}",
            "words": " ".join(word for word, _ in topic.words),
        }
        for topic in topics
        if not topic.is_null
    ]
    faint = [place for place, topic in enumerate(topics) if topic.is_background]
    render.show_table(rows, title=title, wide=["words"], faint=faint)
    behind = sum(topic.share for topic in topics if topic.is_background)
    if behind:
        render.show_text(f"grey: background, {behind:.1%} of the words, which tell nothing")
    if topics[-1].share >= _SHOWN:
        render.show_text(f"null topic, words that belong nowhere: {topics[-1].share:.1%}")

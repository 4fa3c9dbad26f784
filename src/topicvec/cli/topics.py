"""``topicvec topics``: the topics of one article or many, in seconds."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import (
    Json,
    NTopics,
    Quiet,
    Reading,
    Seed,
    Sources,
    VectorsOption,
    with_reading,
)

if TYPE_CHECKING:
    from topicvec.model import TopicVec
    from topicvec.text import Document

__all__ = ["show_topics", "topics"]


@with_reading
def topics(
    sources: Sources,
    reading: Reading,
    k: NTopics = 20,
    seed: Seed = 0,
    words: Annotated[int, typer.Option("--words", help="Words to show of each topic.")] = 10,
    vectors: VectorsOption = None,
    page: Annotated[Path | None, typer.Option("--page", help="Also write an HTML report.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find and print the topics of the given text.

    Example: topicvec topics article.txt -k 10
    """
    from topicvec.embed.load import load_vectors
    from topicvec.errors import require

    if page is not None:
        require("jinja2", "explore", "making a page")  # said before the work, not after it
    loading = ThreadPoolExecutor(1).submit(load_vectors, vectors)  # beside the slow imports
    from topicvec.cli import fitting
    from topicvec.cli.render import note, show_json
    from topicvec.model import TopicVec

    documents = fitting.read_all(reading, sources, quiet=quiet)
    model = TopicVec(n_topics=k, vectors=loading.result(), random_state=seed, share="corpus")
    fitting.fit_model(model, documents, quiet=quiet)
    if json:
        show_json(_as_json(model, documents, words))
    else:
        show_topics(model, words)
    if page is not None:
        from topicvec.explore import Collection, write_report

        write_report(page, Collection.build(model, documents, ", ".join(sources)))
        note(f"page written: {page}")
    fitting.stop_if_interrupted(model)


def show_topics(model: "TopicVec", n_words: int = 10, title: str = "") -> None:
    """Print a model's topics as a table, the largest first."""
    from topicvec.cli.render import show_table
    from topicvec.model import read_topics

    rows = [
        {
            "topic": topic.index,
            "share": f"{topic.share:.1%}",
            "words": " ".join(word for word, _ in topic.words),
        }
        for topic in read_topics(model.fitted_, n_words=n_words, n_nearest=0)
        if topic.words
    ]
    show_table(rows, title=title, wide=["words"])


def _as_json(model: "TopicVec", documents: "list[Document]", n_words: int) -> dict[str, Any]:
    from topicvec.model import read_topics

    found = read_topics(model.fitted_, n_words=n_words, n_nearest=0)
    return {
        "topics": [
            {
                "index": topic.index,
                "share": topic.share,
                "words": [{"word": w, "relevance": r} for w, r in topic.words],
            }
            for topic in found
        ],
        "documents": [
            {"id": document.id, "proportions": [float(p) for p in row]}
            for document, row in zip(documents, model.doc_topic_, strict=True)
        ],
    }

"""``topicvec show``: one topic, looked at from all sides."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import Json, ModelFile, Quiet, Reading, with_reading
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.model import Topic, TopicVec

__all__ = ["show"]

_SOME_DOCUMENTS = typer.Argument(
    help="Files or folders whose documents to list; those of the fit by default.",
    show_default=False,
)


@with_reading
def show(
    model: ModelFile,
    topic: Annotated[int, typer.Argument(help="Number of the topic.", show_default=False)],
    reading: Reading,
    sources: Annotated[list[str] | None, _SOME_DOCUMENTS] = None,
    n: Annotated[int, typer.Option("-n", help="Words, topics and documents to list.")] = 10,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show one topic: its words, the nearest words, similar topics and its documents.

    Example: topicvec show corpus.topicvec 3
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import show_json

    fitted = fitting.load_model(model)
    found = _find(fitted, topic, n)
    documents = (
        _best_documents(fitted, topic, fitting.read_all(reading, sources, quiet=quiet), n)
        if sources
        else _own_documents(model, found, n)
    )
    facts = _facts(fitted, found, n) | {"documents": documents}
    if json:
        show_json(facts)
    else:
        _print(facts)


def _find(model: "TopicVec", topic: int, n: int) -> "Topic":
    from topicvec.model import read_topics

    n_topics = model.fitted_.n_topics
    if not 0 <= topic < n_topics:
        raise DataError(f"the model has topics 0 to {n_topics - 1}; found {topic}")
    topics = read_topics(model.fitted_, n_words=n, n_nearest=n, min_mass=0)
    return next(each for each in topics if each.index == topic)


def _facts(model: "TopicVec", topic: "Topic", n: int) -> dict[str, Any]:
    from topicvec.represent.topics import nearest_topics

    titles = {each.index: each.title for each in model.topics_}
    near = nearest_topics(model, topic.index, n) if topic.index else []
    return {
        "index": topic.index,
        "title": topic.title,
        "label": topic.label,
        "class": topic.class_,
        "share": topic.share,
        "norm": topic.norm,
        "words": [{"word": word, "relevance": value} for word, value in topic.words],
        "nearest_words": [{"word": word, "cosine": value} for word, value in topic.nearest],
        "similar_topics": [
            {"index": index, "title": titles.get(index, f"topic {index}"), "cosine": cosine}
            for index, cosine in near
        ],
    }


def _own_documents(path: Path, topic: "Topic", n: int) -> list[dict[str, Any]]:
    """List the documents of the fit with most of the topic, by the names that fit kept."""
    from topicvec.model import bundle

    names = bundle.read(path).extra.get("names", {})
    return [
        {"id": names.get(str(row), f"row {row}"), "share": share}
        for row, share in topic.documents[:n]
    ]


def _best_documents(
    model: "TopicVec", topic: int, documents: list[Any], n: int
) -> list[dict[str, Any]]:
    shares = model.transform(documents)[:, topic]
    order = (-shares).argsort(kind="stable")[:n]
    return [{"id": documents[row].id, "share": float(shares[row])} for row in order]


def _print(facts: dict[str, Any]) -> None:
    from topicvec.cli.render import show_table, show_text

    of_class = f", class {facts['class']}" if facts["class"] else ""
    show_text(f"Topic {facts['index']}: {facts['title']} ({facts['share']:.1%}{of_class})")
    show_table(facts["words"], title="Words of the corpus")
    show_table(facts["nearest_words"], title="Nearest words of the vocabulary")
    show_table(facts["similar_topics"], title="Similar topics")
    show_table(facts["documents"], title="Documents")

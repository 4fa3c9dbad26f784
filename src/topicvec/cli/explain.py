"""``topicvec explain``: a text with each word in the colour of its topic."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import (
    Json,
    ModelOption,
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

__all__ = ["explain"]


@with_reading
def explain(
    sources: Sources,
    reading: Reading,
    model: ModelOption = None,
    k: NTopics = 10,
    seed: Seed = 0,
    vectors: VectorsOption = None,
    least: Annotated[
        float, typer.Option(help="Leave words uncoloured whose topic is less probable.")
    ] = 0.0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a text with each word in the colour of its topic, and what the colours mean.

    Without --model the topics are those of the text itself. Where there are no colours, the
    number of the topic stands behind the word, in brackets.

    Example: topicvec explain article.txt --model corpus.topicvec
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import show_json

    documents = fitting.read_all(reading, sources, quiet=quiet)
    topics = _topics(model, documents, quiet, n_topics=k, vectors=vectors, random_state=seed)
    found = [_tokens(topics, document, least) for document in documents]
    if json:
        show_json(_as_json(topics, documents, found))
    else:
        for document, tokens in zip(documents, found, strict=True):
            _print(topics, document, tokens, named=len(documents) > 1)
    if model is None:
        fitting.stop_if_interrupted(topics)


def _topics(path: Any, documents: "list[Document]", quiet: bool, **params: Any) -> "TopicVec":
    from topicvec.cli import fitting
    from topicvec.model import TopicVec

    if path is not None:
        return fitting.load_model(path)
    model = TopicVec(share="corpus", **params)
    return fitting.fit_model(model, documents, quiet=quiet)


def _tokens(model: "TopicVec", document: "Document", least: float) -> list[dict[str, Any]]:
    """List the words that have a topic, with their places in the text."""
    from topicvec.pictures.coloured import locate

    tokens = [
        token
        for token in model.responsibilities(document)
        if token.topic is not None and token.probability >= least
    ]
    places = locate(document.text, [token.token for token in tokens])
    return [
        {**token._asdict(), "start": place[0], "end": place[1]}
        for token, place in zip(tokens, places, strict=True)
        if place is not None
    ]


def _as_json(
    model: "TopicVec", documents: "list[Document]", found: list[list[dict[str, Any]]]
) -> dict[str, Any]:
    mixtures = model.transform(documents)
    return {
        "topics": [
            {"index": topic.index, "share": topic.share, "words": [w for w, _ in topic.words]}
            for topic in model.topics_
        ],
        "documents": [
            {"id": document.id, "proportions": row.tolist(), "tokens": tokens}
            for document, row, tokens in zip(documents, mixtures, found, strict=True)
        ],
    }


def _print(
    model: "TopicVec", document: "Document", tokens: list[dict[str, Any]], *, named: bool
) -> None:
    from topicvec.cli.render import show_legend, show_marked, show_text

    n_tokens: dict[int, int] = {}
    for token in tokens:
        n_tokens[token["topic"]] = n_tokens.get(token["topic"], 0) + 1
    if named:
        show_text(f"── {document.id}")
    show_marked(_pieces(document.text, tokens))
    titles = {topic.index: topic for topic in model.topics_}
    order = sorted(n_tokens, key=lambda topic: (-n_tokens[topic], topic))
    show_legend(
        [
            (topic, n_tokens[topic], " ".join(word for word, _ in titles[topic].words[:8]))
            for topic in order
            if topic in titles
        ]
    )


def _pieces(text: str, tokens: list[dict[str, Any]]) -> list[tuple[str, int | None]]:
    pieces: list[tuple[str, int | None]] = []
    end = 0
    for token in tokens:
        pieces.append((text[end : token["start"]], None))
        pieces.append((text[token["start"] : token["end"]], token["topic"]))
        end = token["end"]
    return [*pieces, (text[end:], None)]

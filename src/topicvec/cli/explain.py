"""``topicvec explain``: a text with each word in the colour of its topic."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from topicvec.cli import options as opts

if TYPE_CHECKING:
    from topicvec.model import TopicVec
    from topicvec.text import Document

__all__ = ["explain"]

Words = list[dict[str, Any]]


@opts.reads_sources
def explain(
    sources: opts.Sources,
    options: opts.SourceOptions,
    model: opts.ModelOption = None,
    k: opts.NTopics = 10,
    seed: opts.Seed = 0,
    vectors: opts.Vectors = None,
    least: Annotated[
        float, opts.flag("Leave words uncoloured whose topic is less probable.")
    ] = 0.0,
    json: opts.Json = False,
) -> None:
    """Show a text with each word in the colour of its topic, and what the colours mean.

    Without --model the topics are those of the text itself. Where there are no colours, the
    number of the topic stands behind the word, in brackets.

    Example: topicvec explain article.txt --model corpus.topicvec
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import show_json, show_text

    documents = options.read(sources)
    fitted = fitting.load_or_fit(model, documents, n_topics=k, vectors=vectors, random_state=seed)
    found = [_coloured(fitted, document, least) for document in documents]
    if json:
        show_json(_as_json(fitted, documents, found))
    else:
        for document, words in zip(documents, found, strict=True):
            if len(documents) > 1:
                show_text(f"── {document.id}")
            _print(fitted, document.text, words)
    if model is None:
        fitting.stop_if_interrupted(fitted)


def _coloured(model: "TopicVec", document: "Document", least: float) -> Words:
    """List the words that have a topic, with their places in the text."""
    from topicvec.explore.prepare import locate

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


def _as_json(model: "TopicVec", documents: "list[Document]", found: list[Words]) -> dict[str, Any]:
    mixtures = model.transform(documents)
    return {
        "topics": [
            {"index": topic.index, "share": topic.share, "words": [w for w, _ in topic.words]}
            for topic in model.topics_
        ],
        "documents": [
            {"id": document.id, "proportions": row.tolist(), "tokens": words}
            for document, row, words in zip(documents, mixtures, found, strict=True)
        ],
    }


def _print(model: "TopicVec", text: str, words: Words) -> None:
    from topicvec.cli.render import show_legend, show_marked

    pieces: list[tuple[str, int | None]] = []
    end = 0
    for word in words:
        pieces.append((text[end : word["start"]], None))
        pieces.append((text[word["start"] : word["end"]], word["topic"]))
        end = word["end"]
    show_marked([*pieces, (text[end:], None)])
    n_words = Counter(word["topic"] for word in words)
    titles = {
        topic.index: " ".join(word for word, _ in topic.words[:8])
        for topic in model.topics_
        if topic.index in n_words
    }
    order = sorted(titles, key=lambda topic: (-n_words[topic], topic))
    show_legend([(topic, n_words[topic], titles[topic]) for topic in order])

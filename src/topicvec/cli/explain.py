"""``topicvec explain`` and ``summarize``: a text in colours, and in a few of its own sentences."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.cli.main import NOTHING_FOUND

if TYPE_CHECKING:
    from topicvec.model import TopicVec
    from topicvec.text import Document

__all__ = ["explain", "summarize"]


Words = list[dict[str, Any]]


@opts.reads_texts
def explain(
    texts: opts.Texts,
    reading: opts.Words,
    model: opts.ModelOption = None,
    k: opts.NTopics = "auto",
    seed: opts.Seed = 0,
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

    documents = texts.read()
    params = {"n_topics": opts.number_of_topics(k), "random_state": seed, **reading}
    fitted = fitting.load_or_fit(model, documents, **params)
    found = [_coloured(fitted, document, least) for document in documents]
    if json:
        render.show_json(_as_json(fitted, documents, found))
    else:
        for document, words in zip(documents, found, strict=True):
            if len(documents) > 1:
                render.show_text(f"── {document.id}")
            _print(fitted, document.text, words)
    if model is None:
        fitting.stop_if_interrupted(fitted)


def _coloured(model: "TopicVec", document: "Document", least: float) -> Words:
    """List the words that have a topic, with their places in the text."""
    from topicvec.pictures.coloured import read_text

    words = read_text(model, document.text).tokens
    return [word._asdict() for word in words if word.probability >= least]


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
    pieces: list[tuple[str, int | None]] = []
    end = 0
    for word in words:
        pieces.append((text[end : word["start"]], None))
        pieces.append((text[word["start"] : word["end"]], word["topic"]))
        end = word["end"]
    render.show_marked([*pieces, (text[end:], None)])
    n_words = Counter(word["topic"] for word in words)
    titles = {
        topic.index: " ".join(word for word, _ in topic.words[:8])
        for topic in model.topics_
        if topic.index in n_words
    }
    order = sorted(titles, key=lambda topic: (-n_words[topic], topic))
    render.show_legend([(topic, n_words[topic], titles[topic]) for topic in order])


@opts.reads_texts
def summarize(
    texts: opts.Texts,
    reading: opts.Words,
    model: opts.ModelOption = None,
    n: Annotated[int, opts.flag("-n", "Sentences of each text.")] = 3,
    seed: opts.Seed = 0,
    json: opts.Json = False,
) -> None:
    """Print the sentences of each text that cover its topics best, in their order.

    The exit code is 1 if no text has a sentence with known words.

    Example: topicvec summarize article.txt -n 3
    """
    from topicvec.cli import fitting
    from topicvec.represent import summarize as choose

    documents = texts.read()
    whole = None if model is None else fitting.load_model(model)
    params = {"random_state": seed, **reading}
    summaries = [choose(whole or _own_model(each, **params), each, n) for each in documents]
    found = list(zip(documents, summaries, strict=True))
    if json:
        records = [
            {"id": each.id, "sentences": [s._asdict() for s in chosen]} for each, chosen in found
        ]
        render.show_json({"documents": records})
    else:
        for document, sentences in found:
            if len(found) > 1:
                render.show_text(f"── {document.id}")
            for sentence in sentences:
                render.show_text(" ".join(sentence.text.split()))
    if not any(summaries):
        render.note("nothing found: no sentence has a known word")
        raise typer.Exit(NOTHING_FOUND)


def _own_model(document: "Document", **params: Any) -> "TopicVec":
    """Learn the topics of one text."""
    from topicvec.cli import fitting

    model = fitting.fit_topics([document], **params)
    fitting.stop_if_interrupted(model)
    return model

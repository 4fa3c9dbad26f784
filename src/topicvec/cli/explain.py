"""``topicvec explain`` and ``summarize``: a text in colours, and in a few of its own sentences."""

from collections import Counter
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.cli.main import NOTHING_FOUND

if TYPE_CHECKING:
    from topicvec.model import Topic, TopicVec
    from topicvec.text import Document

__all__ = ["explain", "summarize"]


Words = list[dict[str, Any]]


@opts.reads_texts
def explain(
    texts: opts.Texts,
    learning: opts.Learning,
    model: opts.ModelOption = None,
    least: Annotated[
        float, opts.flag("Leave words uncoloured whose topic is less probable.", min=0, max=1)
    ] = 0.0,
    json: opts.Json = False,
) -> None:
    """Show a text with each word in the colour of its topic, and what the colours mean.

    Without --model the topics are those of the text itself. Where there are no colours, the
    number of the topic stands behind the word, in brackets.

    Example: topicvec explain article.txt --model corpus.topicvec
    """
    from topicvec.cli import fitting

    documents, fitted = fitting.load_or_learn(model, texts, learning)
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
    titles = {topic.index: _called(topic) for topic in model.topics_ if topic.index in n_words}
    order = sorted(titles, key=lambda topic: (-n_words[topic], topic))
    render.show_legend([(topic, n_words[topic], titles[topic]) for topic in order])


def _called(topic: "Topic") -> str:
    """Give the words of a topic, behind its name if that is not made of them."""
    words = [word for word, _ in topic.words[:8]]
    is_own = topic.label is not None and not set(topic.title.split(", ")) <= set(words)
    return " ".join([f"{topic.title}:", *words] if is_own else words)


@opts.reads_texts
def summarize(
    texts: opts.Texts,
    learning: opts.Learning,
    model: opts.ModelOption = None,
    n: Annotated[int, opts.flag("-n", "Sentences of each text.")] = 3,
    json: opts.Json = False,
) -> None:
    """Print the sentences of each text that cover its topics best, in their order.

    Without --model the topics are those of each text itself.
    The exit code is 1 if no text has a sentence with known words.

    Example: topicvec summarize article.txt -n 3
    """
    from topicvec.represent import summarize as choose

    documents, models = _models(texts, model, learning)
    pairs = zip(models, documents, strict=True)
    summaries = [choose(fitted, document, n) for fitted, document in pairs]
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


def _models(
    texts: opts.SourceTexts, path: Path | None, learning: dict[str, Any]
) -> "tuple[list[Document], Iterator[TopicVec]]":
    """Read the documents, and give the model of each: that of the file, or its own topics."""
    from topicvec.cli import fitting

    if path is not None:
        documents, model = fitting.load_or_learn(path, texts, learning)
        return documents, repeat(model, len(documents))
    params = fitting.topic_params(learning)
    documents = texts.read()
    return documents, _own_models(documents, learning, params)


def _own_models(
    documents: "list[Document]", learning: dict[str, Any], params: dict[str, Any]
) -> "Iterator[TopicVec]":
    from topicvec.cli import fitting

    labels = fitting.labels_of(documents) if learning["by_class"] else []
    with fitting.workers(learning["engine"], learning["jobs"]) as n_jobs:
        for place, document in enumerate(documents):
            of_class = labels[place : place + 1] or None
            model = fitting.fit_topics([document], of_class, n_jobs=n_jobs, **params)
            fitting.stop_if_interrupted(model)
            yield model

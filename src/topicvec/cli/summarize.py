"""``topicvec summarize``: a text in a few of its own sentences."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli import options as opts
from topicvec.cli.main import NOTHING_FOUND

if TYPE_CHECKING:
    from topicvec.represent import Sentence
    from topicvec.text import Document

__all__ = ["summarize"]

_MOST_TOPICS = 10  # of a text by itself
_WORDS_A_TOPIC = 10  # distinct ones; fewer do not make a topic


@opts.reads_sources
def summarize(
    sources: opts.Sources,
    options: opts.SourceOptions,
    model: opts.ModelOption = None,
    n: Annotated[int, opts.flag("-n", "Sentences of each text.")] = 3,
    seed: opts.Seed = 0,
    vectors: opts.Vectors = None,
    json: opts.Json = False,
) -> None:
    """Print the sentences of each text that cover its topics best, in their order.

    The exit code is 1 if no text has a sentence with known words.

    Example: topicvec summarize article.txt -n 3
    """
    from topicvec.cli.render import note, show_json, show_text

    documents = options.read(sources)
    summaries = _summaries(documents, model, n, vectors=vectors, random_state=seed)
    found = list(zip(documents, summaries, strict=True))
    if json:
        records = [
            {"id": each.id, "sentences": [s._asdict() for s in chosen]} for each, chosen in found
        ]
        show_json({"documents": records})
    else:
        for document, sentences in found:
            if len(found) > 1:
                show_text(f"── {document.id}")
            for sentence in sentences:
                show_text(" ".join(sentence.text.split()))
    if not any(summaries):
        note("nothing found: no sentence has a known word")
        raise typer.Exit(NOTHING_FOUND)


def _summaries(
    documents: "list[Document]", path: Path | None, n: int, **params: Any
) -> "list[list[Sentence]]":
    from topicvec.cli import fitting
    from topicvec.represent import summarize as choose

    if path is not None:
        model = fitting.load_model(path)
        return [choose(model, document, n) for document in documents]
    return [choose(_own_model(document, **params), document, n) for document in documents]


def _own_model(document: "Document", **params: Any) -> Any:
    from topicvec.cli import fitting
    from topicvec.text import Tokenizer

    n_words = len(set(Tokenizer()(document.text)))
    n_topics = min(max(n_words // _WORDS_A_TOPIC, 2), _MOST_TOPICS)
    model = fitting.fit_topics([document], n_topics=n_topics, **params)
    fitting.stop_if_interrupted(model)
    return model

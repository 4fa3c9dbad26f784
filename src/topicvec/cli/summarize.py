"""``topicvec summarize``: a text in a few of its own sentences."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicvec.cli.options import (
    Json,
    ModelOption,
    Quiet,
    Reading,
    Seed,
    Sources,
    VectorsOption,
    with_reading,
)

if TYPE_CHECKING:
    from topicvec.represent import Sentence
    from topicvec.text import Document

__all__ = ["summarize"]

NOTHING_FOUND = 1
_MOST_TOPICS = 10  # of a text by itself
_WORDS_A_TOPIC = 10  # distinct ones; fewer do not make a topic


@with_reading
def summarize(
    sources: Sources,
    reading: Reading,
    model: ModelOption = None,
    n: Annotated[int, typer.Option("-n", help="Sentences of each text.")] = 3,
    seed: Seed = 0,
    vectors: VectorsOption = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the sentences of each text that cover its topics best, in their order.

    The exit code is 1 if no text has a sentence with known words.

    Example: topicvec summarize article.txt -n 3
    """
    from topicvec.cli import fitting
    from topicvec.cli.render import note, show_json

    documents = fitting.read_all(reading, sources, quiet=quiet)
    params = {"vectors": vectors, "random_state": seed}
    found = _summaries(documents, model, n, params, quiet)
    if json:
        show_json({"documents": [_as_json(*pair) for pair in zip(documents, found, strict=True)]})
    else:
        _print(documents, found)
    if not any(found):
        note("nothing found: no sentence has a known word")
        raise typer.Exit(NOTHING_FOUND)


def _summaries(
    documents: "list[Document]", path: Path | None, n: int, params: dict[str, Any], quiet: bool
) -> "list[list[Sentence]]":
    from topicvec.cli import fitting
    from topicvec.represent import summarize as choose

    if path is not None:
        model = fitting.load_model(path)
        return [choose(model, document, n) for document in documents]
    return [choose(_own_model(document, params, quiet), document, n) for document in documents]


def _own_model(document: "Document", params: dict[str, Any], quiet: bool) -> Any:
    from topicvec.cli import fitting
    from topicvec.model import TopicVec
    from topicvec.text import Tokenizer

    n_words = len(set(Tokenizer()(document.text)))
    n_topics = min(max(n_words // _WORDS_A_TOPIC, 2), _MOST_TOPICS)
    model = fitting.fit_model(TopicVec(n_topics, **params), [document], quiet=quiet)
    fitting.stop_if_interrupted(model)
    return model


def _as_json(document: "Document", sentences: "list[Sentence]") -> dict[str, Any]:
    return {"id": document.id, "sentences": [sentence._asdict() for sentence in sentences]}


def _print(documents: "list[Document]", found: "list[list[Sentence]]") -> None:
    from topicvec.cli.render import show_text

    for document, sentences in zip(documents, found, strict=True):
        if len(documents) > 1:
            show_text(f"── {document.id}")
        for sentence in sentences:
            show_text(" ".join(sentence.text.split()))

"""From a model and texts to plain records that a page can show.

Nothing here knows HTML; nothing in the page knows the model.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topicvec.explore.palette import topic_colours
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["DocumentView", "PageData", "Span", "TopicView", "locate", "prepare"]


@dataclass(frozen=True)
class TopicView:
    """One topic as a reader sees it."""

    index: int
    name: str
    share: float
    colour: str
    words: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Span:
    """A piece of a text; ``topic`` is None for what belongs to no topic."""

    text: str
    topic: int | None = None
    probability: float = 0.0


@dataclass(frozen=True)
class DocumentView:
    """One document: its mixture and its text cut where topics change."""

    id: str
    label: str | None
    proportions: tuple[tuple[int, float], ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class PageData:
    """Everything a page shows."""

    title: str
    topics: tuple[TopicView, ...]
    documents: tuple[DocumentView, ...]
    n_documents: int


def prepare(
    model: "TopicVec",
    texts: Iterable[str | Document],
    *,
    title: str = "Topics",
    max_documents: int = 20,
) -> PageData:
    """Collect what a page shows of a fitted model and some documents.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document
        The documents to show; the first ``max_documents`` are shown with their text.
    title : str
        Heading of the page.
    max_documents : int
        How many documents are shown.

    Returns
    -------
    PageData
        Plain records, ready for a template or for JSON.
    """
    documents = [_document(i, text) for i, text in enumerate(texts)]
    shown = documents[:max_documents]
    mixtures = model.transform([document.text for document in shown])
    views = tuple(
        DocumentView(
            document.id, document.label, _largest(row), tuple(_spans(model, document.text))
        )
        for document, row in zip(shown, mixtures, strict=True)
    )
    return PageData(title, _topic_views(model.topics_), views, len(documents))


def _document(number: int, text: str | Document) -> Document:
    return text if isinstance(text, Document) else Document(id=str(number + 1), text=text)


def _topic_views(topics: Sequence[Any]) -> tuple[TopicView, ...]:
    colours = topic_colours(topics)
    return tuple(
        TopicView(
            topic.index,
            topic.label or ", ".join(word for word, _ in topic.words[:3]),
            topic.share,
            colours[topic.index],
            tuple(topic.words),
        )
        for topic in topics
        if topic.words
    )


def _largest(row: Any, least: float = 0.02) -> tuple[tuple[int, float], ...]:
    pairs = [(int(k), float(row[k])) for k in (-row).argsort(kind="stable") if row[k] >= least]
    return tuple(pairs)


def _spans(model: "TopicVec", text: str) -> Iterable[Span]:
    tokens = [t for t in model.responsibilities(text) if t.topic is not None]
    end = 0
    for token, place in zip(tokens, locate(text, [t.token for t in tokens]), strict=True):
        if place is None:
            continue
        yield Span(text[end : place[0]])
        yield Span(text[place[0] : place[1]], token.topic, token.probability)
        end = place[1]
    yield Span(text[end:])


def locate(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """Find where tokens, in their order, stand in a text, whatever their case.

    Parameters
    ----------
    text : str
        The text as it was read.
    tokens : sequence of str
        Lower-case tokens, a subsequence of the text's words.

    Returns
    -------
    list of (start, end) or None
        None for a token that is not found as it stands.

    Examples
    --------
    >>> locate("Rain, rain: GO away", ["rain", "rain", "away"])
    [(0, 4), (6, 10), (15, 19)]
    """
    letters = [character.lower().replace("’", "'") for character in text]
    origin = [i for i, letter in enumerate(letters) for _ in letter]  # lower() may lengthen
    flat, start = "".join(letters), 0
    places: list[tuple[int, int] | None] = []
    for token in tokens:
        at = _find_word(flat, token, start)
        if at < 0:
            places.append(None)
            continue
        start = at + len(token)
        places.append((origin[at], origin[start - 1] + 1))
    return places


def _find_word(flat: str, token: str, start: int) -> int:
    at = flat.find(token, start)
    while at >= 0 and (
        (at > 0 and flat[at - 1].isalnum())
        or (at + len(token) < len(flat) and flat[at + len(token)].isalnum())
    ):
        at = flat.find(token, at + 1)
    return at

"""The records that pages show; nothing here knows HTML, nothing in a page knows the model."""

from dataclasses import dataclass

from topicvec.explore.prepare.documents import DocumentView, Span
from topicvec.explore.prepare.topics import TopicView
from topicvec.represent import Sentence

__all__ = ["DocumentCard", "DocumentPage", "Found", "Missing", "Overview", "TextPart", "TopicPage"]


class Missing(LookupError):
    """There is no topic or document with such a number."""


@dataclass(frozen=True)
class DocumentCard:
    """A document in a list."""

    index: int
    id: str
    label: str | None
    title: str
    snippet: str
    proportions: tuple[tuple[int, float], ...]
    score: float | None = None


@dataclass(frozen=True)
class DocumentPage:
    """A document with what is known of it; ``cut`` if the text goes on elsewhere."""

    index: int | None
    title: str
    n_words: int
    view: DocumentView
    summary: tuple[Sentence, ...]
    similar: tuple[DocumentCard, ...]
    cut: bool = False


@dataclass(frozen=True)
class TextPart:
    """A part of a long text, and where the next begins."""

    spans: tuple[Span, ...]
    next: int | None


@dataclass(frozen=True)
class TopicPage:
    """A topic with its documents, its classes and the topics near to it."""

    topic: TopicView
    n_main: int
    similar: tuple[tuple[int, float], ...]
    labels: tuple[tuple[str, float], ...]
    documents: tuple[DocumentCard, ...]


@dataclass(frozen=True)
class Found:
    """A part of the documents that were found."""

    total: int
    offset: int
    documents: tuple[DocumentCard, ...]


@dataclass(frozen=True)
class Overview:
    """What the first page shows."""

    title: str
    n_documents: int
    n_words: int
    labels: tuple[str, ...]
    topics: tuple[TopicView, ...]
    map_height: float
    note: str = ""

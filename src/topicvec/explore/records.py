"""The records that pages show; nothing here knows HTML, nothing in a page knows the model."""

from dataclasses import dataclass

from topicvec.pictures.coloured import Piece
from topicvec.represent import Sentence

Pairs = tuple[tuple[str, float], ...]


class Missing(LookupError):
    """There is no topic or document with such a number."""


@dataclass(frozen=True)
class TopicView:
    """One topic as a reader sees it.

    Parameters
    ----------
    index : int
        Its row in the topic vectors.
    name : str
        Its label, or its first words.
    share : float
        Its part of the training tokens.
    colour : str
        As ``#rrggbb``.
    sign : int
        Tells topics of the same colour apart: 0 for the first of it, 1 for the second, …
    words : tuple of (str, float)
        Most relevant words with their relevance, best first.
    nearest : tuple of (str, float)
        Nearest words of the whole vocabulary with their cosines.
    place : tuple of float, optional
        Centre and radius on a map of width 1; None if it is not on the map.
    class_ : str, optional
        Class that it was learned for.
    is_null : bool
        Whether it takes what belongs to no other topic.
    is_background : bool
        Whether it tells nothing of what documents are about.
    """

    index: int
    name: str
    share: float
    colour: str
    words: Pairs
    sign: int = 0
    nearest: Pairs = ()
    place: tuple[float, float, float] | None = None
    class_: str | None = None
    is_null: bool = False
    is_background: bool = False


@dataclass(frozen=True)
class DocumentView:
    """One document: its mixture and its text cut where topics change.

    Parameters
    ----------
    id, label : str
        As the reader named them.
    proportions : tuple of (int, float)
        Topics with their proportions, the largest first.
    spans : tuple of Piece
        A part of the text; put together they are that part.
    next : int, optional
        Where the text goes on, in characters; None at its end.
    """

    id: str
    label: str | None
    proportions: tuple[tuple[int, float], ...]
    spans: tuple[Piece, ...]
    next: int | None = None


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

    spans: tuple[Piece, ...]
    next: int | None


@dataclass(frozen=True)
class TopicPage:
    """A topic with its documents, its classes and the topics near to it.

    ``frequencies`` has the words that can be ranked otherwise: log p(w|k), how frequent a word is
    in the topic, and log (p(w|k) / p(w)), how much more than in all documents.
    """

    topic: TopicView
    frequencies: tuple[tuple[str, float, float], ...]
    n_main: int
    similar: tuple[tuple[int, float], ...]
    labels: Pairs
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

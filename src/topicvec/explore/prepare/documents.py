"""One document as a reader sees it: its mixture, and its text cut where topics change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from topicvec.explore.prepare.quiet import quietly
from topicvec.model import document_topics
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = [
    "DocumentView",
    "Span",
    "as_document",
    "headline",
    "locate",
    "mixture",
    "page",
    "shortened",
    "spans",
]

PAGE = 20_000  # characters of a text at a time: a browser colours them within a blink


class Span(NamedTuple):
    """A piece of a text; ``topic`` is None for what belongs to no topic."""

    text: str
    topic: int | None = None
    probability: float = 0.0


@dataclass(frozen=True)
class DocumentView:
    """One document: its mixture and its text cut where topics change.

    Parameters
    ----------
    id, label : str
        As the reader named them.
    proportions : tuple of (int, float)
        Topics with their proportions, the largest first.
    spans : tuple of Span
        A part of the text; put together they are that part.
    next : int, optional
        Where the text goes on, in characters; None at its end.
    """

    id: str
    label: str | None
    proportions: tuple[tuple[int, float], ...]
    spans: tuple[Span, ...]
    next: int | None = None


def as_document(number: int, text: str | Document) -> Document:
    """Name a bare text by its number, counted from 1.

    Examples
    --------
    >>> as_document(0, "Rain.").id
    '1'
    """
    return text if isinstance(text, Document) else Document(id=str(number + 1), text=text)


def headline(text: str, most: int = 90) -> str:
    r"""Give the first line that says something of its own, shortened at a blank.

    Examples
    --------
    >>> headline("Ann writes:\n> Rain?\nIt rains again.")
    'It rains again.'
    >>> headline("  \n--\nRain  at last.\nMore")
    'Rain at last.'
    >>> headline("one two three", 8)
    'one two…'
    >>> headline("")
    ''
    """
    lines = [" ".join(line.split()) for line in text[:10_000].splitlines()]
    telling = [line for line in lines if any(map(str.isalnum, line))] or [""]
    line = next(filter(_is_own, telling), telling[0])
    return shortened(line, most)


def _is_own(line: str) -> bool:
    """Whether a line is more than a quotation or the announcement of one, as in mails."""
    return line[0] not in ">|:" and line[-1] != ":" and len(line.split()) > 2


def shortened(line: str, most: int) -> str:
    """Cut a line at a blank and say so.

    Examples
    --------
    >>> shortened("It rained, and then", 12), shortened("Rain.", 12)
    ('It rained…', 'Rain.')
    """
    if len(line) <= most:
        return line
    return line[: most + 1].rpartition(" ")[0][:most].rstrip(" .,;:–-") + "…" or line[:most]


def mixture(model: "TopicVec", text: str, least: float = 0.005) -> tuple[tuple[int, float], ...]:
    """Give the topics of one text, the largest first."""
    with quietly():
        return document_topics(model.transform([text])[0], min_share=least)


def spans(model: "TopicVec", text: str) -> tuple[Span, ...]:
    """Cut a text where topics change; the pieces put together are the text."""
    with quietly():
        tokens = [t for t in model.responsibilities(text) if t.topic is not None]
    return tuple(_pieces(text, tokens))


def _pieces(text: str, tokens: Sequence[object]) -> Iterator[Span]:
    end = 0
    for token, place in zip(tokens, locate(text, [t.token for t in tokens]), strict=True):  # type: ignore[attr-defined]
        if place is None:
            continue
        if place[0] > end:
            yield Span(text[end : place[0]])
        yield Span(text[place[0] : place[1]], token.topic, round(token.probability, 2))  # type: ignore[attr-defined]
        end = place[1]
    if end < len(text):
        yield Span(text[end:])


def page(
    pieces: Sequence[Span], start: int = 0, length: int = PAGE
) -> tuple[tuple[Span, ...], int | None]:
    """Take a part of a cut text, for texts too long to show at once.

    Parameters
    ----------
    pieces : sequence of Span
        The whole text.
    start, length : int
        The part, in characters; a token that reaches into the part is in it.

    Returns
    -------
    tuple of Span
        The part.
    int or None
        Where the next part begins; None at the end.

    Examples
    --------
    >>> page([Span("Rain", 1, 0.9), Span(" at last")], 0, 7)
    ((Span(text='Rain', topic=1, probability=0.9), Span(text=' at', topic=None, ...)), 7)
    >>> page([Span("Rain", 1, 0.9), Span(" at last")], 7, 9)
    ((Span(text=' last', topic=None, probability=0.0),), None)
    """
    taken: list[Span] = []
    at, stop = 0, start + length
    for piece in pieces:
        first, last = at, at + len(piece.text)
        at = last
        if last <= start:
            continue
        if first >= stop:
            return tuple(taken), first
        if piece.topic is not None:  # never cut a token
            taken.append(piece)
            continue
        taken.append(piece._replace(text=piece.text[max(start - first, 0) : stop - first]))
        if last > stop:
            return tuple(taken), stop
    return tuple(taken), None


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

"""One document as a reader sees it: its mixture, and its text cut where topics change."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from topicvec.explore.prepare.quiet import quietly
from topicvec.model import document_topics
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import TopicVec
    from topicvec.model.inference import TokenTopic

__all__ = [
    "DocumentView",
    "Span",
    "as_document",
    "headline",
    "locate",
    "mixture",
    "opening",
    "page",
    "spans",
    "token_topics",
]

_OPENING = 4_000  # characters to look for a headline in
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
    >>> headline("  \n--\nRain  at last.\nMore")
    'Rain at last.'
    >>> headline("Ann writes:\n> Rain?\nIt rains again.")
    'It rains again.'
    >>> headline("one two three", 8)
    'one two…'
    """
    return _shortened(_first_line(text), most)


def opening(text: str, most: int = 240) -> tuple[str, str]:
    r"""Give a headline and what follows it.

    Examples
    --------
    >>> opening("Rain at last.\nIt came at night.")
    ('Rain at last.', 'It came at night.')
    """
    title = headline(text)
    if not title:
        return "", ""
    flat = " ".join(text[:_OPENING].split())
    rest = flat.partition(title.removesuffix("…"))[2].lstrip(" .,;:")
    return title, _shortened(rest, most)


def _first_line(text: str) -> str:
    lines = [" ".join(line.split()) for line in text[:_OPENING].splitlines()]
    telling = [line for line in lines if any(map(str.isalnum, line))]
    own = (
        line
        for line in telling
        # not a quotation or the announcement of one, as in mails
        if not line.startswith((">", "|", ":")) and line[-1] != ":" and len(line.split()) > 2
    )
    return next(own, telling[0] if telling else "")


def _shortened(line: str, most: int) -> str:
    """Cut a line at a blank and say so."""
    if len(line) <= most:
        return line
    kept = line[: most + 1].rpartition(" ")[0] or line[:most]
    return kept.rstrip(" .,;:–-") + "…"


def mixture(model: "TopicVec", text: str, least: float = 0.005) -> tuple[tuple[int, float], ...]:
    """Give the topics of one text, the largest first."""
    with quietly():
        return document_topics(model.transform([text])[0], min_share=least)


def token_topics(model: "TopicVec", text: str) -> tuple["TokenTopic", ...]:
    """Give the tokens of a text that have a topic, in order."""
    with quietly():
        return tuple(token for token in model.responsibilities(text) if token.topic is not None)


def spans(text: str, tokens: Sequence["TokenTopic"]) -> Iterator[Span]:
    """Cut a text where topics change; the pieces put together are the text.

    Examples
    --------
    >>> from topicvec.model.inference import TokenTopic
    >>> [span.text for span in spans("Rain at last", [TokenTopic("last", 2, 0.9)])]
    ['Rain at ', 'last']
    """
    end = 0
    for token, place in zip(tokens, _places(text, (t.token for t in tokens)), strict=True):
        if place is None:
            continue
        if place[0] > end:
            yield Span(text[end : place[0]])
        yield Span(text[place[0] : place[1]], token.topic, round(token.probability, 2))
        end = place[1]
    if end < len(text):
        yield Span(text[end:])


def page(
    pieces: Iterable[Span], start: int = 0, length: int = PAGE
) -> tuple[tuple[Span, ...], int | None]:
    """Take a part of a cut text, for texts too long to show at once.

    Parameters
    ----------
    pieces : iterable of Span
        The whole text; read as far as needed.
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
    return list(_places(text, tokens))


def _places(text: str, tokens: Iterable[str]) -> Iterator[tuple[int, int] | None]:
    flat, origin = _lowered(text)
    start = 0
    for token in tokens:
        at = _find_word(flat, token, start)
        if at < 0:
            yield None
            continue
        start = at + len(token)
        yield origin[at], origin[start - 1] + 1


def _lowered(text: str) -> tuple[str, Sequence[int]]:
    """Give a text in lower case and where each of its characters comes from."""
    if text.isascii():
        return text.lower(), range(len(text))
    letters = [character.lower().replace("’", "'") for character in text]
    origin = [i for i, letter in enumerate(letters) for _ in letter]  # lower() may lengthen
    return "".join(letters), origin


def _find_word(flat: str, token: str, start: int) -> int:
    at = flat.find(token, start)
    while at >= 0 and (
        (at > 0 and flat[at - 1].isalnum())
        or (at + len(token) < len(flat) and flat[at + len(token)].isalnum())
    ):
        at = flat.find(token, at + 1)
    return at

"""One document with its tokens coloured by their topics."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from topicvec.errors import DataError
from topicvec.explore.fonts import text_width
from topicvec.explore.legend import legend
from topicvec.explore.palette import GREY, distinct_colours
from topicvec.explore.picture import Picture, picture
from topicvec.explore.prepare import Span, TopicView
from topicvec.explore.prepare.documents import mixture, spans, token_topics
from topicvec.explore.prepare.topics import topic_views
from topicvec.explore.svg import Element, element, text
from topicvec.text import Document

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["set_lines", "tokens"]

_SIZE = 14.0
_LINE = 23.0
_MARGIN = 14.0
_LEAST = 0.02  # share of a document that a topic in the legend has
_PARTS = re.compile(r"\s*\n\s*\n\s*|\s+|\S+")

Word = tuple[Span, ...]  # pieces without space between them
_SPACE, _BREAK = (Span(" "),), (Span("\n"),)


def tokens(
    model: "TopicVec",
    document: str | Document,
    *,
    width: float = 800,
    max_lines: int = 60,
    title: str = "A document with its topics",
) -> Picture:
    """Draw a text with its words in the colours of their topics, a legend above.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    document : str or Document
        The text.
    width : float
        Width of the picture; its height follows the text.
    max_lines : int
        Lines to draw; a remark says if there are more.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Words of a topic have its colour and a line below them; the topic's words show when
        the mouse is over them.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> tokens(model, "The cat saw the dog.").width
    800
    """
    written = document.text if isinstance(document, Document) else document
    if not written.strip() or max_lines < 1:
        raise DataError(
            "a picture of a document needs text and room for a line, found "
            f"{len(written.split())} words, max_lines={max_lines}"
        )
    views = topic_views(model, n_words=3, n_nearest=0)
    topics = {topic.index: topic for topic in views if topic.index}
    pieces = tuple(spans(written, token_topics(model, written)))
    room = width - 2 * _MARGIN
    lines = list(islice(set_lines(pieces, room, _SIZE), max_lines + 1))
    shares = [(k, share) for k, share in mixture(model, written) if k in topics and share >= _LEAST]
    chosen = distinct_colours([topics[k].colour for k, _ in shares])
    topics |= {k: replace(topics[k], colour=c) for (k, _), c in zip(shares, chosen, strict=True)}
    entries = [(topics[k].colour, f"{share:.0%} {topics[k].name}") for k, share in shares]
    key, bottom = legend(entries, width - _MARGIN, top=10, left=_MARGIN)
    baselines = [bottom + 10 + _LINE * (row + 0.7) for row in range(len(lines))]
    drawn = [
        _draw(line, topics, baseline)
        for line, baseline in zip(lines[:max_lines], baselines, strict=False)
    ]
    if len(lines) > max_lines:
        remark = f"The first {max_lines} lines of the document."
        drawn.append(text(remark, _MARGIN, baselines[-1], 12, fill=GREY))
    return picture([*key, *drawn], width, round(baselines[-1] + 0.7 * _LINE), title)


def set_lines(spans: Sequence[Span], room: float, size: float) -> Iterator[list[Span]]:
    """Break spans into lines at spaces; an empty line stands between paragraphs.

    Parameters
    ----------
    spans : sequence of Span
        Pieces of a text.
    room : float
        Width of a line.
    size : float
        Font size.

    Yields
    ------
    list of Span
        A line; neighbours in the same topic are not joined.

    Examples
    --------
    >>> lines = set_lines([Span("salt ", 1), Span("water and sand")], 60, 10)
    >>> ["".join(span.text for span in line) for line in lines]
    ['salt water', 'and sand']
    """
    line: list[Span] = []
    length = 0.0
    for word in _words(spans, room, size):
        width = sum(text_width(span.text, size) for span in word)
        if line and (word is _BREAK or (word is not _SPACE and length + width > room)):
            yield _trimmed(line)
            line, length = [], 0.0
        if word is _BREAK:
            yield []
        elif line or word is not _SPACE:
            line.extend(word)
            length += width
    if _trimmed(line):
        yield _trimmed(line)


def _trimmed(line: list[Span]) -> list[Span]:
    return line[:-1] if line and line[-1] is _SPACE[0] else line


def _words(spans: Iterable[Span], room: float, size: float) -> Iterator[Word]:
    """Cut spans at spaces; pieces without space between them are one word."""
    word: list[Span] = []
    started = False  # so that nothing empty comes before the first word
    for span in spans:
        for part in _PARTS.findall(span.text):
            if not part.isspace():
                word.append(Span(part, span.topic, span.probability))
                continue
            yield from _fitting(word, room, size)
            started, word = started or bool(word), []
            if started:
                yield _BREAK if part.count("\n") > 1 else _SPACE
    yield from _fitting(word, room, size)


def _fitting(word: list[Span], room: float, size: float) -> Iterator[Word]:
    """Give a word, cut into pieces if it is longer than a line."""
    if sum(text_width(span.text, size) for span in word) <= room:
        yield from [tuple(word)] if word else []
        return
    n_letters = max(1, int(room / (1.2 * size)))
    for span in word:
        for start in range(0, len(span.text), n_letters):
            yield (Span(span.text[start : start + n_letters], span.topic, span.probability),)


def _draw(line: list[Span], topics: Mapping[int, TopicView], baseline: float) -> Element:
    parts = [_piece(span, topics.get(span.topic or 0)) for span in line]
    return element("text", parts, x=_MARGIN, y=baseline, font_size=_SIZE, fill=GREY)


def _piece(span: Span, topic: TopicView | None) -> Element | str:
    if topic is None:
        return span.text
    hover = element("title", [f"{span.probability:.0%} {topic.name}"])
    return element("tspan", [hover, span.text], fill=topic.colour, text_decoration="underline")

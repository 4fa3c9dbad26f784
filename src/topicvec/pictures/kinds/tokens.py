"""One document with its tokens coloured by their topics."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from topicvec.errors import DataError
from topicvec.model import TopicVec, read_topics
from topicvec.pictures.chart import legend
from topicvec.pictures.coloured import Piece, cut_text, read_text
from topicvec.pictures.palette import GREY, distinct_colours, topic_colours
from topicvec.pictures.svg import Element, Picture, element, text, text_width
from topicvec.text import Document

__all__ = ["set_lines", "tokens"]

_SIZE = 14.0
_LINE = 23.0
_MARGIN = 14.0
_LEAST = 0.02  # share of a document that a topic in the legend has
_PARTS = re.compile(r"\s*\n\s*\n\s*|\s+|\S+")

Word = tuple[Piece, ...]  # pieces without space between them
Line = list[Piece]
Style = tuple[str, str]  # colour and name of a topic
_SPACE, _BREAK = (Piece(" "),), (Piece("\n"),)


def tokens(
    model: TopicVec,
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
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> tokens(model, "The cat saw the dog.").width
    800
    """
    written = document.text if isinstance(document, Document) else document
    if not isinstance(written, str):
        raise DataError(f"expected one text; found {type(written).__name__}")
    if not written.strip() or max_lines < 1:
        raise DataError(
            "a picture of a document needs text and room for a line, found "
            f"{len(written.split())} words, max_lines={max_lines}"
        )
    live = read_topics(model.fitted_, n_words=3, n_nearest=0)
    names = {topic.index: topic.title for topic in live if topic.words and not topic.is_null}
    found = read_text(model, written)
    pieces = cut_text(written, found.tokens)
    lines = list(islice(set_lines(pieces, width - 2 * _MARGIN, _SIZE), max_lines + 1))
    shares = [(k, share) for k, share in found.mixture if k in names and share >= _LEAST]
    own = topic_colours(live)
    chosen = distinct_colours([own[k] for k, _ in shares])
    own |= {k: colour for (k, _), colour in zip(shares, chosen, strict=True)}
    entries = [(own[k], f"{share:.0%} {names[k]}") for k, share in shares]
    styles: dict[int | None, Style] = {k: (own[k], name) for k, name in names.items()}
    key, bottom = legend(entries, width - _MARGIN, top=10, left=_MARGIN)
    baselines = [bottom + 10 + _LINE * (row + 0.7) for row in range(len(lines))]
    shown = zip(lines[:max_lines], baselines, strict=False)
    drawn = [_draw(line, styles, baseline) for line, baseline in shown]
    if len(lines) > max_lines:
        remark = f"The first {max_lines} lines of the document."
        drawn.append(text(remark, _MARGIN, baselines[-1], 12, fill=GREY))
    return Picture.of([*key, *drawn], width, round(baselines[-1] + 0.7 * _LINE), title)


def set_lines(pieces: Iterable[Piece], room: float, size: float) -> Iterator[Line]:
    """Break a text into lines at spaces; an empty line stands between paragraphs.

    Parameters
    ----------
    pieces : iterable of Piece
        The text.
    room : float
        Width of a line.
    size : float
        Font size.

    Yields
    ------
    list of Piece
        A line; neighbours in the same topic are not joined.

    Examples
    --------
    >>> lines = set_lines([Piece("salt ", 1), Piece("water and sand")], 60, 10)
    >>> ["".join(piece.text for piece in line) for line in lines]
    ['salt water', 'and sand']
    """
    line: Line = []
    length = 0.0
    for word in _words(pieces, room, size):
        width = _width(word, size)
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


def _width(pieces: Iterable[Piece], size: float) -> float:
    return sum(text_width(piece.text, size) for piece in pieces)


def _trimmed(line: Line) -> Line:
    return line[:-1] if line and line[-1] is _SPACE[0] else line


def _words(pieces: Iterable[Piece], room: float, size: float) -> Iterator[Word]:
    """Cut a text at spaces; pieces without space between them are one word."""
    word: Line = []
    started = False  # so that nothing empty comes before the first word
    for piece in pieces:
        for part in _PARTS.findall(piece.text):
            if not part.isspace():
                word.append(piece._replace(text=part))
                continue
            yield from _fitting(word, room, size)
            started, word = started or bool(word), []
            if started:
                yield _BREAK if part.count("\n") > 1 else _SPACE
    yield from _fitting(word, room, size)


def _fitting(word: Line, room: float, size: float) -> Iterator[Word]:
    """Give a word, cut into pieces if it is longer than a line."""
    if _width(word, size) <= room:
        yield from [tuple(word)] if word else []
        return
    n_letters = max(1, int(room / (1.2 * size)))
    for piece in word:
        for start in range(0, len(piece.text), n_letters):
            yield (piece._replace(text=piece.text[start : start + n_letters]),)


def _draw(line: Line, styles: Mapping[int | None, Style], baseline: float) -> Element:
    parts = [_piece(piece, styles.get(piece.topic)) for piece in line]
    return element("text", parts, x=_MARGIN, y=baseline, font_size=_SIZE, fill=GREY)


def _piece(piece: Piece, style: Style | None) -> Element | str:
    if style is None:
        return piece.text
    colour, name = style
    hover = element("title", [f"{piece.probability:.0%} {name}"])
    return element("tspan", [hover, piece.text], fill=colour, text_decoration="underline")

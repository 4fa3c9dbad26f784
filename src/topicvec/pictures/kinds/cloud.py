"""The topic cloud: a cell for each topic, its words inside.

As in the paper, cells are sized by the topics' shares and words by their relevance to the topic.
Cells are rectangles: words are wide, so more and larger ones fit than into the slices of a pie.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from topicvec.errors import DataError
from topicvec.model import TopicVec
from topicvec.pictures.layout import Box
from topicvec.pictures.packing import PlacedWord, pack_words, treemap
from topicvec.pictures.palette import GREY, distinct_colours, tint, topic_colours
from topicvec.pictures.seen import Texts, shown_topics
from topicvec.pictures.svg import Element, Picture, element, shorten, text, text_width

__all__ = ["CloudCell", "CloudTopic", "cloud", "cloud_layout", "topic_cloud"]

_ASPECT = 1.5  # a good cell is wider than high, as words are
_GAP = 3.0  # half of the space between cells
_PADDING = 6.0
_LARGEST, _LARGEST_IN_CELL = 0.11, 0.19  # largest font size, of the width of all and of a cell
_SMALL = 11.0  # font size of shares and of the remark
_REMARK = 20.0  # height of the remark's line


class CloudTopic(Protocol):
    """What a cloud needs to know of a topic; `topicvec.model.Topic` has it."""

    @property
    def index(self) -> int:
        """Number of the topic; 0 is the null topic."""

    @property
    def share(self) -> float:
        """Its part of the text."""

    @property
    def words(self) -> Sequence[tuple[str, float]]:
        """Its words with their relevance, best first."""


class CloudCell(NamedTuple):
    """A topic with its place.

    Attributes
    ----------
    topic : CloudTopic
        The topic.
    room : Box
        Its part of the area, in proportion to its share.
    box : Box
        What is drawn of it: the room without the space between cells.
    heading : str
        Its share and its label, if it has one; empty where there is no room.
    heading_box : Box
        Place of the heading.
    words : tuple of PlacedWord
        Its words, all inside the box.
    """

    topic: CloudTopic
    room: Box
    box: Box
    heading: str
    heading_box: Box
    words: tuple[PlacedWord, ...]


def topic_cloud(
    topics: Sequence[CloudTopic],
    *,
    width: float = 800,
    height: float | None = None,
    max_topics: int = 12,
    n_words: int = 20,
    colours: Mapping[int, str] | None = None,
    title: str = "Topic cloud",
) -> Picture:
    """Draw topics as cells sized by share with words sized by relevance.

    Parameters
    ----------
    topics : sequence of CloudTopic
        Records with ``index``, ``share`` and ``words``, such as ``model.topics_``; those
        without words are left out.
    width, height : float
        Size of the picture; by default as high as the number of topics needs.
    max_topics : int
        Only so many of the largest topics. Topics with too small a cell for a word are left
        out as well; a remark below says how many are shown.
    n_words : int
        At most so many words of a topic.
    colours : mapping of int to str, optional
        Colours by the topics' indices, as ``#rrggbb``; by default by their order. A colour
        that a larger topic has is not used again while there are others.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture

    Examples
    --------
    >>> from topicvec.model import Topic
    >>> topics = [Topic(1, 0.6, 1, (("sea", 2.0),)), Topic(2, 0.2, 1, (("tax", 1.0),))]
    >>> topic_cloud(topics, width=400, height=120)
    Picture(400 x 120)
    """
    usable = sorted((t for t in topics if t.words and t.share > 0), key=lambda t: -t.share)
    if not usable or max_topics < 1 or n_words < 1:
        raise DataError(
            "a cloud needs a topic with words and room for one word, found "
            f"{len(usable)} such topics, max_topics={max_topics}, n_words={n_words}"
        )
    n_most = min(max_topics, len(usable))
    # much the same room for each topic, within the shapes of a page and of a strip
    height = height or round(width * min(max(0.3 + 0.03 * n_most, 0.35), 1.2))
    for n_shown in range(n_most, 0, -1):
        remark = _REMARK if n_shown < len(usable) else 0.0
        area = Box(0, 0, width, height - remark)
        cells = cloud_layout(usable[:n_shown], area, n_words=n_words)
        if all(cell.words for cell in cells):
            break
    chosen = distinct_colours([(colours or {}).get(cell.topic.index) for cell in cells])
    drawn = [_draw(cell, colour) for cell, colour in zip(cells, chosen, strict=True)]
    if remark:
        share = sum(cell.topic.share for cell in cells)
        words = f"{len(cells)} of {len(usable)} topics, {share:.0%} of the words"
        drawn.append(text(words, _GAP, height - 0.5 * _SMALL, _SMALL, fill=GREY))
    return Picture.of(drawn, width, height, title)


def cloud(
    model: TopicVec,
    texts: Texts | None = None,
    *,
    label: str | None = None,
    width: float = 800,
    height: float | None = None,
    max_topics: int = 12,
    n_words: int = 20,
    title: str = "Topic cloud",
) -> Picture:
    """Draw the topic cloud of a corpus, of one document or of a class.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    texts : iterable of str or Document, optional
        Show the topics as they are in these documents; by default as in those of the fit.
    label : str, optional
        Only documents of this class, or without texts the topics that were learned for it.
    width, height, max_topics, n_words, title
        As for `topic_cloud`.

    Returns
    -------
    Picture

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> cloud(model, width=600, height=300)
    Picture(600 x 300)
    """
    topics = shown_topics(model, texts, label=label, n_words=n_words)
    return topic_cloud(
        [topic for topic in topics if not topic.is_background] or topics,
        width=width,
        height=height,
        max_topics=max_topics,
        n_words=n_words,
        colours=topic_colours(model.topics_),
        title=title,
    )


def cloud_layout(topics: Sequence[CloudTopic], area: Box, *, n_words: int = 20) -> list[CloudCell]:
    """Find the places of topics and words.

    Parameters
    ----------
    topics : sequence of CloudTopic
        With positive shares, the largest first.
    area : Box
        The cells fill it, in proportion to the shares.
    n_words : int
        At most so many words of a topic.

    Returns
    -------
    list of CloudCell
        In order; one that is too small for any of its words has none.

    Examples
    --------
    >>> from topicvec.model import Topic
    >>> topics = [Topic(1, 0.6, 1, (("sea", 2.0),)), Topic(2, 0.2, 1, (("tax", 1.0),))]
    >>> [round(cell.room.area) for cell in cloud_layout(topics, Box(0, 0, 400, 100))]
    [30000, 10000]
    """
    rooms = treemap([topic.share for topic in topics], area, aspect=_ASPECT)
    most = _LARGEST * _size(area)
    return [
        _cell(topic, room, n_words, min(most, _LARGEST_IN_CELL * _size(room)))
        for topic, room in zip(topics, rooms, strict=True)
    ]


def _size(box: Box) -> float:
    return min(box.width, box.height * _ASPECT)


def _cell(topic: CloudTopic, room: Box, n_words: int, largest: float) -> CloudCell:
    box = room.inset(_GAP)
    inside, words = box.inset(_PADDING), list(topic.words[:n_words])
    heading, place = _heading(topic, inside)
    packed = pack_words(words, inside, reserved=[place] if heading else [], largest=largest)
    if heading and not packed:  # a word says more than a number
        heading, packed = "", pack_words(words, inside, largest=largest)
    return CloudCell(topic, room, box, heading, place, tuple(packed))


def _heading(topic: CloudTopic, inside: Box) -> tuple[str, Box]:
    label = getattr(topic, "label", None) or getattr(topic, "name", None)
    heading = " ".join(filter(None, [f"{topic.share:.1%}", label]))
    heading = shorten(heading, _SMALL, inside.width)
    box = Box(inside.x, inside.y, text_width(heading, _SMALL), _SMALL)
    return (heading, box) if inside.contains(box) else ("", box)


def _draw(cell: CloudCell, colour: str) -> Element:
    hover = f"{cell.topic.share:.1%}: " + ", ".join(word for word, _ in cell.topic.words)
    sheet = element("rect", **cell.box._asdict(), rx=6, fill=tint(colour))
    parts = [element("title", [hover]), sheet]
    if cell.heading:
        baseline = cell.heading_box.y + 0.8 * _SMALL
        parts.append(text(cell.heading, cell.heading_box.x, baseline, _SMALL))
    words = (text(word.word, word.x, word.y, word.size) for word in cell.words)
    parts.append(element("g", words, text_anchor="middle"))
    return element("g", parts, fill=colour)

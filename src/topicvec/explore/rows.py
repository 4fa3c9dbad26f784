"""Pictures with a row a topic: its name and words on the left, its share beside them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topicvec.explore.fonts import shorten
from topicvec.explore.palette import INK
from topicvec.explore.svg import Element, element, text

if TYPE_CHECKING:
    from topicvec.model import Topic

__all__ = ["ROW_SIZE", "named_rows", "topic_name"]

ROW_SIZE = 12.0


def topic_name(topic: "Topic", room: float, n_words: int = 4) -> str:
    """Name a topic by its label or its first words, as many as there is room for.

    Examples
    --------
    >>> from topicvec.model import Topic
    >>> topic_name(Topic(1, 0.5, 5.0, (("price", 1.9), ("drug", 1.2))), 200)
    'price, drug'
    """
    words = [topic.label] if topic.label else [word for word, _ in topic.words[:n_words]]
    while len(words) > 1 and shorten(", ".join(words), ROW_SIZE, room) != ", ".join(words):
        words.pop()
    return shorten(", ".join(words) or f"topic {topic.index}", ROW_SIZE, room)


def named_rows(
    topics: Sequence["Topic"],
    middles: Sequence[float],
    x: float,
    room: float,
    *,
    anchor: str = "end",
    size: float = ROW_SIZE,
) -> list[Element]:
    """Draw the topics' names at some heights, with all words for the mouse."""
    parts = []
    for topic, middle in zip(topics, middles, strict=True):
        words = ", ".join(word for word, _ in topic.words)
        hover = element("title", [f"topic {topic.index}, {topic.share:.1%}: {words}"])
        name = text(topic_name(topic, room), x, middle + 0.36 * size, size, text_anchor=anchor)
        parts.append(element("g", [hover, name], fill=INK))
    return parts

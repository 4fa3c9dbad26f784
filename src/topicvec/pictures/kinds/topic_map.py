"""The map of topics: near ones have similar vectors, large ones a large share."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from topicvec.errors import DataError
from topicvec.model import Topic, TopicVec
from topicvec.pictures.chart import hover_text
from topicvec.pictures.layout import Box, Bubble, draw_labels, plane_places, spread_bubbles
from topicvec.pictures.palette import tint
from topicvec.pictures.seen import own_colours, shown_topics
from topicvec.pictures.svg import Element, Picture, element

__all__ = ["map_topics", "topic_map"]

_FILLED = 0.3  # part of the picture that bubbles take
_SIZE = 11.5
_MARGIN = 12.0


def map_topics(
    topics: Sequence[Topic], vectors: ArrayLike, *, width: float = 800, height: float = 560
) -> list[Bubble]:
    """Find the places of topics on a map.

    Parameters
    ----------
    topics : sequence of Topic
        The topics to show.
    vectors : array, (K, N)
        Topic vectors, by the topics' indices.
    width, height : float
        Size of the map.

    Returns
    -------
    list of Bubble
        Areas are proportional to shares; no two circles overlap.

    Examples
    --------
    >>> from topicvec.model import Topic
    >>> topics = [Topic(1, 0.8, 1.0, ()), Topic(2, 0.2, 1.0, ())]
    >>> [round(topic.radius) for topic in map_topics(topics, [[0, 0], [1, 0], [0, 1]])]
    [92, 46]
    """
    if not topics:
        raise DataError("a map needs a topic with words, found none")
    shares = np.array([topic.share for topic in topics])
    part = _FILLED * min(1.0, len(topics) / 8)
    areas = part * width * height / np.pi * shares / max(shares.sum(), 1e-12)
    radii = np.maximum(np.sqrt(areas), 3.0)
    area = Box(0, 0, width, height).inset(_MARGIN)
    chosen = np.asarray(vectors, float)[[topic.index for topic in topics]]
    places = spread_bubbles(plane_places(chosen), radii.tolist(), area)
    return [
        Bubble(x, y, radius, *_label(topic))
        for topic, (x, y), radius in zip(topics, places.tolist(), radii.tolist(), strict=True)
    ]


def _label(topic: Topic) -> tuple[str, tuple[str, ...]]:
    """Give the name that stands beside a bubble, and the lines inside."""
    return topic.title, tuple(topic.title.split(", "))


def topic_map(
    model: TopicVec,
    *,
    width: float = 800,
    height: float = 560,
    n_words: int = 10,
    title: str = "Map of topics",
) -> Picture:
    """Draw the map of a model's topics; words show when the mouse is over a bubble.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    width, height : float
        Size of the picture.
    n_words : int
        Words to show of each topic.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Distances are much like 1 − cosine of the topic vectors, bubbles are sized by share.
        Labels that would overlap others are left out, those of small topics first.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> topic_map(model)
    Picture(800 x 560)
    """
    topics = shown_topics(model, n_words=n_words)
    bubbles = map_topics(topics, model.fitted_.topics, width=width, height=height)
    circles = map(_circle, topics, bubbles, own_colours(model, topics))
    labels = draw_labels(bubbles, Box(0, 0, width, height).inset(2), _SIZE, obstacles=bubbles)
    return Picture.of([*circles, labels], width, height, title)


def _circle(topic: Topic, bubble: Bubble, colour: str) -> Element:
    """Draw a circle with the topic's words for the mouse."""
    hover = element("title", [hover_text(topic)])
    return element(
        "circle", [hover], cx=bubble.x, cy=bubble.y, r=bubble.radius, fill=tint(colour, 0.16),
        stroke=colour, stroke_width=1.5,
    )  # fmt: skip

"""Topics as a reader sees them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topicvec.explore.palette import COLOURS, topic_colours
from topicvec.explore.prepare.places import place_topics
from topicvec.model import read_topics
from topicvec.represent import topic_similarity

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["TopicView", "similar_topics", "topic_views"]

Pairs = tuple[tuple[str, float], ...]


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


def topic_views(
    model: "TopicVec",
    *,
    n_words: int = 30,
    n_nearest: int = 10,
    height: float | None = None,
) -> tuple[TopicView, ...]:
    """Read a model's topics, the largest first and the null topic last.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    n_words, n_nearest : int
        Words of each topic: those of the documents, and the nearest of the whole vocabulary.
    height : float, optional
        Height of the map that they are laid out on; no map by default.

    Returns
    -------
    tuple of TopicView
        Without topics that own no word.

    Examples
    --------
    >>> from topicvec import TopicVec
    >>> model = TopicVec(n_topics=3, random_state=0).fit(["Salt water. Sea salt, water."])
    >>> topic_views(model)[-1].is_null
    True
    """
    live = read_topics(model.fitted_, n_words=n_words, n_nearest=n_nearest)
    colours = topic_colours(live)  # as in every picture of the model
    topics = [topic for topic in live if topic.words or topic.is_null]
    places = {} if height is None else _places(model, topics, height)
    return tuple(
        TopicView(
            index=topic.index,
            name=topic.title,
            share=topic.share,
            colour=colours[topic.index],
            sign=place // len(COLOURS),
            words=_rounded(topic.words),
            nearest=_rounded(topic.nearest),
            place=places.get(topic.index),
            class_=topic.class_,
            is_null=topic.is_null,
        )
        for place, topic in enumerate(topics)
    )


def similar_topics(
    model: "TopicVec", views: Sequence[TopicView], index: int, n: int = 6
) -> tuple[tuple[int, float], ...]:
    """Give the topics most like one of them with their cosines, best first."""
    if index == 0:
        return ()
    cosines = topic_similarity(model)[index]
    others = [view.index for view in views if view.index not in (0, index)]
    order = sorted(others, key=lambda k: -cosines[k])[:n]
    return tuple((k, round(float(cosines[k]), 3)) for k in order)


def _places(
    model: "TopicVec", topics: Sequence[Any], height: float
) -> dict[int, tuple[float, float, float]]:
    shown = [topic for topic in topics if not topic.is_null]
    if not shown:
        return {}
    rows = [topic.index for topic in shown]
    places = place_topics(model.fitted_.topics[rows], [topic.share for topic in shown], height)
    return {k: (x, y, r) for k, (x, y, r) in zip(rows, places.round(4).tolist(), strict=True)}


def _rounded(pairs: Pairs) -> Pairs:
    return tuple((word, round(value, 3)) for word, value in pairs)

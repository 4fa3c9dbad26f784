"""Topic clouds in the colours of the pages."""

from functools import lru_cache

from topicvec.explore.cloud import topic_cloud
from topicvec.explore.prepare.topics import TopicView

__all__ = ["cloud_of"]

_MOST_TOPICS = 16


@lru_cache(maxsize=256)
def cloud_of(topics: tuple[TopicView, ...]) -> str:
    """Draw the largest of the topics, or all words of one, as SVG.

    Examples
    --------
    >>> cloud_of((TopicView(1, "sea", 1.0, "#332288", (("sea", 2.0),)),))[:4]
    '<svg'
    """
    width, height, n_words = (330, 160, 30) if len(topics) == 1 else (1200, 640, 14)
    shown = [topic for topic in topics if topic.words and (len(topics) == 1 or not topic.is_null)]
    colours = {topic.index: topic.colour for topic in shown}
    names = ", ".join(topic.name for topic in shown[:3])
    return topic_cloud(
        shown, width=width, height=height, max_topics=_MOST_TOPICS, n_words=n_words,
        colours=colours, title=f"Topic cloud: {names}",
    ).svg  # fmt: skip

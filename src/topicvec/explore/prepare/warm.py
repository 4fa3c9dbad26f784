"""What many answers share, made before the first of them asks for it."""

from topicvec.explore.prepare.clouds import cloud_of
from topicvec.explore.prepare.corpus import Collection

__all__ = ["warm_up"]

_CLOUDS = 64  # of the largest topics; each takes a blink, many would take long


def warm_up(collection: Collection) -> None:
    """Give one answer of each kind, so that tables which they share are kept; draw the clouds.

    Parameters
    ----------
    collection : Collection
        What is shown; the same before and after, but quicker.

    Examples
    --------
    >>> from topicvec import TopicVec
    >>> texts = ["Salt water. Sea salt, water."]
    >>> collection = Collection.build(TopicVec(3, random_state=0).fit(texts), texts)
    >>> warm_up(collection)
    >>> "overview" in vars(collection)
    True
    """
    first = collection.overview.topics[0]
    collection.topic(first.index)
    page = collection.document(0)
    collection.analyse(page.title)
    cloud_of(collection.topics)
    for topic in collection.topics[:_CLOUDS]:
        if topic.words:
            cloud_of((topic,))

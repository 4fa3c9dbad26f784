"""What many answers share, made before the first of them asks for it."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
from threading import Event

from topicvec.errors import DataError
from topicvec.explore.prepare.clouds import cloud_of
from topicvec.explore.prepare.corpus import Collection

__all__ = ["warm_up"]

logger = logging.getLogger(__name__)

_CLOUDS = 64  # of the largest topics; each takes a blink, many would take long


def warm_up(collection: Collection, stop: Event | None = None) -> None:
    """Give one answer of each kind, so that tables which they share are kept; draw the clouds.

    Parameters
    ----------
    collection : Collection
        What is shown; the same before and after, but quicker.
    stop : threading.Event, optional
        Ends the work when set.

    Examples
    --------
    >>> from topicvec import TopicVec
    >>> texts = ["Salt water. Sea salt, water."]
    >>> collection = Collection.build(TopicVec(3, random_state=0).fit(texts), texts)
    >>> warm_up(collection)
    >>> "overview" in vars(collection)
    True
    """
    for answer in _answers(collection):
        if stop is not None and stop.is_set():
            return
        try:
            answer()
        except DataError as error:  # whoever asks for it is told
            logger.info("not made ahead: %s", error)


def _answers(collection: Collection) -> Iterator[Callable[[], object]]:
    yield lambda: collection.topic(collection.overview.topics[0].index)
    yield lambda: collection.analyse(collection.document(0).title)
    yield partial(cloud_of, collection.topics)
    for topic in collection.topics[:_CLOUDS]:
        if topic.words:
            yield partial(cloud_of, (topic,))

"""The questions that the JSON API answers: one table for the routes and for their description.

An endpoint takes the collection and checked values and gives a record; it knows nothing of HTTP.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from topicvec.errors import DataError
from topicvec.explore.prepare import (
    Collection,
    DocumentPage,
    Found,
    Overview,
    TextPart,
    TopicPage,
)
from topicvec.explore.prepare.clouds import cloud_of

__all__ = ["ENDPOINTS", "Endpoint", "Parameter"]

LONGEST_QUERY = 1000  # characters


@dataclass(frozen=True)
class Parameter:
    """A value that a request may carry, and how it is checked.

    Parameters
    ----------
    name : str
        As in the address.
    kind : type
        ``int`` or ``str``.
    text : str
        What it means.
    place : {"path", "query", "body"}
        Where it stands.
    default : object
        What holds if it is not given; ignored in a path and in a body, where it must be given.
    most : int
        The largest number, or the longest text in characters.
    """

    name: str
    kind: type[int] | type[str]
    text: str
    place: Literal["path", "query", "body"] = "query"
    default: Any = None
    most: int = LONGEST_QUERY

    def read(self, value: object) -> Any:
        """Turn what a request carries into a checked value.

        Examples
        --------
        >>> Parameter("n", int, "How many.", most=100).read("20")
        20
        >>> Parameter("n", int, "How many.", most=100).read("-1")
        Traceback (most recent call last):
        topicvec.errors.DataError: n must be a whole number from 0 to 100; found '-1'
        """
        if self.kind is int:
            return self._number(str(value))
        if not isinstance(value, str) or len(value) > self.most:
            found = f"{len(value):,}" if isinstance(value, str) else type(value).__name__
            raise DataError(f"{self.name} must be a text of at most {self.most:,}; found {found}")
        return value

    def _number(self, value: str) -> int:
        if not (
            value.isascii() and value.isdigit() and len(value) < 12 and int(value) <= self.most
        ):
            raise DataError(
                f"{self.name} must be a whole number from 0 to {self.most}; found {value[:20]!r}"
            )
        return int(value)


@dataclass(frozen=True)
class Endpoint:
    """A question: where it is asked, what it takes, what it gives."""

    path: str
    summary: str
    answer: Callable[..., Any]
    record: type | None  # None for a picture
    parameters: tuple[Parameter, ...] = ()
    method: Literal["GET", "POST"] = "GET"


def _overview(collection: Collection) -> Overview:
    return collection.overview


def _cloud(collection: Collection) -> str:
    return cloud_of(collection.topics)


def _topic_cloud(collection: Collection, topic: int) -> str:
    return cloud_of((collection.topic_view(topic),))


_MANY = 10**9
_TOPIC = Parameter("topic", int, "Number of the topic.", "path", most=_MANY)
_DOCUMENT = Parameter("document", int, "Place of the document, from 0.", "path", most=_MANY)

ENDPOINTS = (
    Endpoint("/api/overview", "The corpus and all topics", _overview, Overview),
    Endpoint("/api/cloud.svg", "A cloud of the largest topics", _cloud, None),
    Endpoint(
        "/api/topics/{topic}", "One topic", lambda c, topic: c.topic(topic), TopicPage, (_TOPIC,)
    ),
    Endpoint(
        "/api/topics/{topic}/cloud.svg", "A cloud of its words", _topic_cloud, None, (_TOPIC,)
    ),
    Endpoint(
        "/api/documents",
        "Search documents, or list them",
        lambda c, q, topic, label, n, offset: c.find(
            q, topic=topic, label=label, n=n, offset=offset
        ),
        Found,
        (
            Parameter("q", str, "What to look for.", default=""),
            Parameter("topic", int, "Only documents with this topic.", most=_MANY),
            Parameter("label", str, "Only documents of this class."),
            Parameter("n", int, "How many at most.", default=20, most=100),
            Parameter("offset", int, "How many to pass over.", default=0, most=_MANY),
        ),
    ),
    Endpoint(
        "/api/documents/{document}",
        "One document: text, mixture, summary, documents like it",
        lambda c, document: c.document(document),
        DocumentPage,
        (_DOCUMENT,),
    ),
    Endpoint(
        "/api/documents/{document}/text",
        "A part of a long text",
        lambda c, document, start: c.text(document, start),
        TextPart,
        (
            _DOCUMENT,
            Parameter("start", int, "Where it begins, in characters.", default=0, most=_MANY),
        ),
    ),
    Endpoint(
        "/api/analyse",
        "The topics of any text",
        lambda c, text: c.analyse(text),
        DocumentPage,
        (Parameter("text", str, "The text.", "body", most=2_000_000),),
        "POST",
    ),
)

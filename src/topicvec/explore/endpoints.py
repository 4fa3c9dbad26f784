"""The questions that the JSON API answers: one table for the routes and for their description.

An endpoint takes the collection and checked values and gives a record; it knows nothing of HTTP.
"""

import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from topicvec.errors import DataError
from topicvec.explore.collection import Collection
from topicvec.explore.records import DocumentPage, Found, Overview, TextPart, TopicPage
from topicvec.explore.views import cloud_of

__all__ = ["ENDPOINTS", "Endpoint", "Parameter", "describe"]

LONGEST_QUERY = 1000  # characters
_MANY = 10**9
_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_ERRORS = {
    "400": "A value is not what was expected.",
    "404": "There is no such thing.",
    "413": "The request is too large.",
    "503": "It took too long.",
}


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


def describe(version: str) -> dict[str, Any]:
    """Give the description in the OpenAPI format 3.1.

    Examples
    --------
    >>> sorted(describe("1.0")["paths"]["/api/overview"]["get"]["responses"])
    ['200', '400', '404', '413', '503']
    """
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "topicvec explorer", "version": version},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    if endpoint.record is None:
        content = {"image/svg+xml": {"schema": {"type": "string"}}}
    else:
        content = {"application/json": {"schema": _schema(endpoint.record, schemas)}}
    error = {"application/json": {"schema": _object({"error": {"type": "string"}})}}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "parameters": [_parameter(p) for p in endpoint.parameters if p.place != "body"],
        "responses": {"200": {"description": endpoint.summary, "content": content}}
        | {code: {"description": text, "content": error} for code, text in _ERRORS.items()},
    }
    body = [p for p in endpoint.parameters if p.place == "body"]
    if body:
        schema = _object({p.name: _value(p) for p in body})
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return operation


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.text,
        "required": parameter.place == "path",
        "schema": _value(parameter),
    }


def _value(parameter: Parameter) -> dict[str, Any]:
    default = {} if parameter.default is None else {"default": parameter.default}
    if parameter.kind is int:
        return {"type": "integer", "minimum": 0, "maximum": parameter.most, **default}
    return {"type": "string", "maxLength": parameter.most, **default}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Describe a type; records are described once, under their names."""
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if get_origin(kind) in (Union, types.UnionType):
        return {"anyOf": [_schema(part, schemas) for part in get_args(kind)]}
    if get_origin(kind) is tuple:
        return _sequence(get_args(kind), schemas)
    if hasattr(kind, "_fields"):  # a named tuple is an array
        hints = get_type_hints(kind)
        described = _fixed([hints[name] for name in kind._fields], schemas)
        return {**described, "description": ", ".join(kind._fields)}
    if kind.__name__ not in schemas:
        schemas[kind.__name__] = {}
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind)]
        schemas[kind.__name__] = _object({name: _schema(hints[name], schemas) for name in names})
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _sequence(parts: tuple[Any, ...], schemas: dict[str, Any]) -> dict[str, Any]:
    if parts[-1] is Ellipsis:
        return {"type": "array", "items": _schema(parts[0], schemas)}
    return _fixed(parts, schemas)


def _fixed(parts: Iterable[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    items = [_schema(part, schemas) for part in parts]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

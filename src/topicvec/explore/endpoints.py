"""The questions that the JSON API answers: one table for the routes and for their description.

An endpoint names what a collection is asked and the values for it; it knows nothing of HTTP.
"""

import re
import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from topicvec.errors import DataError
from topicvec.explore.records import DocumentPage, Found, Overview, TextPart, TopicPage

__all__ = ["ENDPOINTS", "Endpoint", "Parameter", "describe"]

LONGEST_QUERY = 1000  # characters
_MANY = 10**9
_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_ERRORS = {
    "400": "A value is not what was expected.",
    "404": "There is no such thing.",
    "405": "Ask with the method of the header Allow.",
    "413": "The request is too large.",
    "415": "The body is not application/json.",
    "421": "Only the names of this computer are answered.",
    "503": "It took too long, or too much is asked at once.",
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
            if re.fullmatch("[0-9]{1,11}", str(value)) and int(str(value)) <= self.most:
                return int(str(value))
            wanted = f"a whole number from 0 to {self.most}"
            raise DataError(f"{self.name} must be {wanted}; found {str(value)[:20]!r}")
        if not isinstance(value, str) or len(value) > self.most:
            found = f"{len(value):,}" if isinstance(value, str) else type(value).__name__
            raise DataError(f"{self.name} must be a text of at most {self.most:,}; found {found}")
        return value


@dataclass(frozen=True)
class Endpoint:
    """A question: where it is asked, what it takes, what it gives."""

    path: str
    summary: str
    answer: str  # the part of a collection that takes the parameters, in their order
    record: type | None  # None for a picture
    parameters: tuple[Parameter, ...] = ()
    method: Literal["GET", "POST"] = "GET"

    @property
    def name(self) -> str:
        """What programs that are made from the description call it.

        Examples
        --------
        >>> Endpoint("/api/topics/{topic}/cloud.svg", "A cloud", "cloud", None).name
        'get_topics_topic_cloud_svg'
        """
        words = re.findall(r"\w+", self.path.removeprefix("/api"))
        return "_".join([self.method.lower(), *words])


_TOPIC = Parameter("topic", int, "Number of the topic.", "path", most=_MANY)
_DOCUMENT = Parameter("document", int, "Place of the document, from 0.", "path", most=_MANY)
_START = Parameter("start", int, "Where it begins, in characters.", default=0, most=_MANY)
_PART = (_DOCUMENT, _START)
_TEXT = Parameter("text", str, "The text.", "body", most=2_000_000)
_SEARCH = (
    Parameter("q", str, "What to look for.", default=""),
    Parameter("topic", int, "Only documents with this topic.", most=_MANY),
    Parameter("label", str, "Only documents of this class."),
    Parameter("n", int, "How many at most.", default=20, most=100),
    Parameter("offset", int, "How many to pass over.", default=0, most=_MANY),
)

ENDPOINTS = (
    Endpoint("/api/overview", "The corpus and all topics", "overview", Overview),
    Endpoint("/api/cloud.svg", "A cloud of the largest topics", "cloud", None),
    Endpoint("/api/topics/{topic}", "One topic", "topic", TopicPage, (_TOPIC,)),
    Endpoint("/api/topics/{topic}/cloud.svg", "A cloud of its words", "cloud", None, (_TOPIC,)),
    Endpoint("/api/documents", "Search documents, or list them", "find", Found, _SEARCH),
    Endpoint(
        "/api/documents/{document}",
        "One document: text, mixture, summary, documents like it",
        "document",
        DocumentPage,
        (_DOCUMENT,),
    ),
    Endpoint("/api/documents/{document}/text", "A part of a long text", "text", TextPart, _PART),
    Endpoint("/api/analyse", "The topics of any text", "analyse", DocumentPage, (_TEXT,), "POST"),
)


def describe(version: str) -> dict[str, Any]:
    """Give the description of the API in the OpenAPI format 3.1.

    Examples
    --------
    >>> sorted(describe("1.0")["paths"]["/api/overview"]["get"]["responses"])
    ['200', '400', '404', '405', '413', '415', '421', '503']
    """
    schemas: dict[str, Any] = {"Error": _object({"error": {"type": "string"}})}
    return {
        "openapi": "3.1.0",
        "info": {"title": "topicvec explorer", "version": version},
        "paths": {e.path: {e.method.lower(): _operation(e, schemas)} for e in ENDPOINTS},
        "components": {"schemas": schemas},
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"image/svg+xml": {"schema": {"type": "string"}}}
    if endpoint.record is not None:
        content = _json(_schema(endpoint.record, schemas))
    error = _json({"$ref": "#/components/schemas/Error"})
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": [
            {"name": p.name, "in": p.place, "description": p.text, "required": p.place == "path",
             "schema": _value(p)}
            for p in endpoint.parameters if p.place != "body"
        ],
        "responses": {"200": {"description": endpoint.summary, "content": content}}
        | {code: {"description": text, "content": error} for code, text in _ERRORS.items()},
    }  # fmt: skip
    body = {p.name: _value(p) for p in endpoint.parameters if p.place == "body"}
    if body:
        operation["requestBody"] = {"required": True, "content": _json(_object(body))}
    return operation


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


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
    parts = get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        return {"anyOf": [_schema(part, schemas) for part in parts]}
    if parts and parts[-1] is Ellipsis:
        return {"type": "array", "items": _schema(parts[0], schemas)}
    if parts:
        return _fixed(parts, schemas)
    hints = get_type_hints(kind)
    if hasattr(kind, "_fields"):  # a named tuple is an array
        return {**_fixed(hints.values(), schemas), "description": ", ".join(hints)}
    name = kind.__name__
    if name not in schemas:
        schemas[name] = {}
        schemas[name] = _object({field: _schema(hint, schemas) for field, hint in hints.items()})
    return {"$ref": f"#/components/schemas/{name}"}


def _fixed(parts: Iterable[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    items = [_schema(part, schemas) for part in parts]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

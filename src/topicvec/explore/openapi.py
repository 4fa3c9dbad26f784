"""The description of the JSON API, made from the endpoints and the records themselves."""

import dataclasses
import types
from collections.abc import Iterable
from typing import Any, Union, get_args, get_origin, get_type_hints

from topicvec.explore.endpoints import ENDPOINTS, Endpoint, Parameter

__all__ = ["describe"]

_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_ERRORS = {
    "400": "A value is not what was expected.",
    "404": "There is no such thing.",
    "413": "The request is too large.",
    "503": "It took too long.",
}


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
        names = [field.name for field in dataclasses.fields(kind)]
        schemas[kind.__name__] = _object({name: _schema(hints[name], schemas) for name in names})
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _sequence(parts: tuple[Any, ...], schemas: dict[str, Any]) -> dict[str, Any]:
    if parts[-1] is Ellipsis:
        return {"type": "array", "items": _schema(parts[0], schemas)}
    return _fixed(parts, schemas)


def _fixed(parts: Iterable[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    items = [_schema(part, schemas) for part in parts]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

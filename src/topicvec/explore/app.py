"""The explorer's web application: static files from memory, records as JSON, nothing else.

No path from a request reaches the file system: files are read once, when the application is
made, and served by exact name.
"""

import asyncio
import hashlib
import json
import mimetypes
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from topicvec.errors import DataError
from topicvec.explore.collection import Collection
from topicvec.explore.endpoints import ENDPOINTS, Endpoint, describe
from topicvec.explore.records import Missing
from topicvec.explore.safety import Guard, Refused, read_body
from topicvec.version import __version__

__all__ = ["create_app"]

_SECONDS = 20.0  # for one answer
_AT_ONCE = 2  # answers computed at the same time; more would only slow each other


def create_app(collection: Collection, *, seconds: float = _SECONDS) -> Starlette:
    """Make the web application that shows a collection.

    Parameters
    ----------
    collection : Collection
        What is shown.
    seconds : float
        The longest time for one answer.

    Returns
    -------
    Starlette
        An ASGI application.
    """
    gate = asyncio.Semaphore(_AT_ONCE)
    routes = [
        Route(each.path, _handler(each, collection, gate, seconds), methods=[each.method])
        for each in ENDPOINTS
    ]
    pages = {
        f"/{file.name}": (file.read_bytes(), mimetypes.guess_type(file.name)[0] or "text/plain")
        for file in (files("topicvec.explore") / "static").iterdir()
    }
    pages["/api/openapi.json"] = (_dumps(describe(__version__)), "application/json")
    pages["/"], pages["/api"] = pages["/index.html"], pages["/api.html"]
    routes += [Route(path, _file(*page)) for path, page in pages.items()]
    app = Starlette(routes=routes, exception_handlers={404: _not_found, 405: _not_found})
    app.router.redirect_slashes = False
    app.add_middleware(Guard)
    return app


def _file(content: bytes, media_type: str) -> Callable[[Request], Any]:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'

    async def answer(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        return Response(content, media_type=media_type, headers={"etag": tag})

    return answer


def _handler(
    endpoint: Endpoint, collection: Collection, gate: asyncio.Semaphore, seconds: float
) -> Callable[[Request], Any]:
    media_type = "image/svg+xml" if endpoint.record is None else "application/json"

    async def handle(request: Request) -> Response:
        try:
            values = await _values(endpoint, request)
            async with asyncio.timeout(seconds), gate:
                content = await asyncio.to_thread(_answer, endpoint, collection, values)
        except (DataError, Missing, Refused, TimeoutError) as error:
            return _error(error)
        return Response(content, media_type=media_type)

    return handle


async def _values(endpoint: Endpoint, request: Request) -> list[Any]:
    body: dict[str, Any] = await read_body(request) if endpoint.method == "POST" else {}
    sources: Any = {"path": request.path_params, "query": request.query_params, "body": body}
    values = []
    for parameter in endpoint.parameters:
        given = sources[parameter.place].get(parameter.name)
        if given is None and parameter.place != "query":
            raise DataError(f"the request must have {parameter.name}")
        values.append(parameter.default if given is None else parameter.read(given))
    return values


def _answer(endpoint: Endpoint, collection: Collection, values: list[Any]) -> bytes:
    asked = getattr(collection, endpoint.answer)
    found = asked(*values) if callable(asked) else asked
    return found.encode() if isinstance(found, str) else _dumps(found)


def _dumps(value: Any) -> bytes:
    # surrogates that a text may hold are escaped by ASCII output, and UTF-8 cannot write them
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=vars)
    return text.encode("ascii")


def _error(error: Exception) -> Response:
    if isinstance(error, TimeoutError):
        return _failure("this took too long; try a shorter text", 503)
    known = 400 if isinstance(error, DataError) else 404
    return _failure(str(error.args[0]), getattr(error, "status", known))


def _failure(message: str, status: int) -> Response:
    return Response(_dumps({"error": message}), status, media_type="application/json")


async def _not_found(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _failure("there is nothing at this address", 404)

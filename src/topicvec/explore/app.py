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
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from topicvec.errors import DataError
from topicvec.explore.collection import Collection
from topicvec.explore.endpoints import ENDPOINTS, Endpoint, describe
from topicvec.explore.records import Missing
from topicvec.explore.safety import Bodies, Guard, Refused, read_body
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
    work = _Work(collection, seconds)
    routes = [Route(each.path, _handler(each, work), methods=[each.method]) for each in ENDPOINTS]
    pages = {
        f"/{file.name}": (file.read_bytes(), mimetypes.guess_type(file.name)[0] or "text/plain")
        for file in (files("topicvec.explore") / "static").iterdir()
    }
    pages["/api/openapi.json"] = (_dumps(describe(__version__)), "application/json")
    pages["/"], pages["/api"] = pages["/index.html"], pages["/api.html"]
    routes += [Route(path, _file(*page)) for path, page in pages.items()]
    app = Starlette(routes=routes, exception_handlers={404: _nothing, 405: _other_method})
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


class _Work:
    """What answers share: the collection, and how much is done for them at once."""

    def __init__(self, collection: Collection, seconds: float) -> None:
        self.collection, self.seconds = collection, seconds
        self.gate, self.bodies = asyncio.Semaphore(_AT_ONCE), Bodies()

    async def do(self, endpoint: Endpoint, values: list[Any]) -> bytes:
        """Answer in a thread; one that is given up keeps its place until its thread ends."""
        async with asyncio.timeout(self.seconds):
            await self.gate.acquire()
            answer = asyncio.ensure_future(
                asyncio.to_thread(_answer, endpoint, self.collection, values)
            )
            answer.add_done_callback(self._done)
            return await asyncio.shield(answer)

    def _done(self, answer: "asyncio.Future[bytes]") -> None:
        self.gate.release()
        if not answer.cancelled():
            answer.exception()  # seen, also if nobody waits for it any more


def _handler(endpoint: Endpoint, work: _Work) -> Callable[[Request], Any]:
    media_type = "image/svg+xml" if endpoint.record is None else "application/json"

    async def handle(request: Request) -> Response:
        try:
            with work.bodies.one() as taken:
                content = await work.do(endpoint, await _values(endpoint, request, taken))
        except (DataError, Missing, Refused, TimeoutError) as error:
            return _error(error)
        except ClientDisconnect:  # nobody is there to read it
            return _failure("the request was not sent to its end", 400)
        return Response(content, media_type=media_type)

    return handle


async def _values(endpoint: Endpoint, request: Request, taken: Callable[[int], None]) -> list[Any]:
    body: dict[str, Any] = await read_body(request, taken) if endpoint.method == "POST" else {}
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


def _failure(message: str, status: int, **headers: str) -> Response:
    return Response(_dumps({"error": message}), status, headers, media_type="application/json")


async def _nothing(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _failure("there is nothing at this address", 404)


async def _other_method(request: Request, error: Exception) -> Response:
    given = error.headers if isinstance(error, HTTPException) else None
    allow = ", ".join(sorted((given or {}).get("Allow", "").split(", ")))
    return _failure(f"ask with {allow}, not with {request.method}", 405, allow=allow)

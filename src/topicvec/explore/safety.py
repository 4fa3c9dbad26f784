"""What keeps the explorer safe: who may ask, how much, and what a page may do."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topicvec.errors import DataError

__all__ = ["HEADERS", "Bodies", "Guard", "Refused", "read_body"]

LARGEST = 4 * 2**20  # bytes of a request's body
TOGETHER = 64 * 2**20  # bytes of the bodies of all requests that are not answered yet
_HOSTS = {"127.0.0.1", "localhost", "[::1]"}

_refusal = JSONResponse(
    {"error": "ask for http://127.0.0.1 or http://localhost; another name is not answered"}, 421
)

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Refused(Exception):
    """A request that is not read to its end; ``status`` is the code of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Guard:
    """Answers only those who ask this computer by its own name, and adds the safe headers.

    A web site can make a browser ask a name that resolves to 127.0.0.1 (DNS rebinding); the Host
    header then has that name, and the request is refused.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        app = self.app if _host(scope) in _HOSTS else _refusal
        await app(scope, receive, send_safely)


def _host(scope: Scope) -> str:
    given = [value for name, value in scope["headers"] if name == b"host"]
    host = given[0].decode("latin-1").lower() if len(given) == 1 else ""
    return host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host


class Bodies:
    """Counts the bytes of all requests at work, so that many together cannot fill the memory."""

    def __init__(self) -> None:
        self.size = 0

    @contextmanager
    def one(self) -> Iterator[Callable[[int], None]]:
        """Give what counts the bytes of one request; they are forgotten when it is answered."""
        own = 0

        def take(size: int) -> None:
            nonlocal own
            own, self.size = own + size, self.size + size
            if self.size > TOGETHER:
                raise Refused(503, "too many texts at once; try again")

        try:
            yield take
        finally:
            self.size -= own


async def read_body(request: Request, taken: Callable[[int], None]) -> dict[str, Any]:
    """Read a JSON object of bounded size; ``taken`` is told of each part.

    A page of another site can send a form without being asked, but not this content type.
    """
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Refused(415, "the body must be application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        taken(len(part))
        if len(body) > LARGEST:
            raise Refused(413, f"the body must be at most {LARGEST:,} bytes")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the body must be JSON: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f"the body must be a JSON object; found {type(value).__name__}")
    return value

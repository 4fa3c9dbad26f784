"""What a connection may take from the others: not their time, and not their place.

One that sends no whole request, or does not take its answer, is closed after a while. If there
are as many connections as the system has files for, a new one takes the place of the one that
has been quiet for longest. So open sockets alone can lock nobody out.
"""

import asyncio
from functools import partial
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

__all__ = ["QUIET", "Connection", "bounded"]

QUIET = 5.0  # seconds until a request has come whole, but for its body
_REQUEST = 30.0  # seconds from then until its answer is taken
_MOST = 4096


def bounded(most: int | None = None) -> Any:
    """Give what makes the connections of one server.

    Parameters
    ----------
    most : int, optional
        How many may be open at once; by default three quarters of the files that may be.

    Returns
    -------
    callable
        For ``uvicorn.Config(http=…)``.
    """
    return partial(Connection, quiet={}, most=most or min(_MOST, _n_files() * 3 // 4))


def _n_files() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 2 * _MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2 * _MOST if soft == resource.RLIM_INFINITY else soft


class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that ends when it is slow, or when a new one needs its place.

    Parameters
    ----------
    quiet : dict
        The connections of the server that wait for a request, as keys, those that have waited
        longest first.
    most : int
        How many connections may be open.
    """

    def __init__(self, *given: Any, quiet: "dict[Connection, None]", most: int, **named: Any):
        super().__init__(*given, **named)
        self._quiet, self._most = quiet, most
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self._most:
            next(iter(self._quiet))._end()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self in self._quiet and self._is_asked():
            del self._quiet[self]
            self._give(_REQUEST)

    def on_response_complete(self) -> None:
        """Wait for the next request, if it is not there yet."""
        super().on_response_complete()
        if self._is_asked():
            self._give(_REQUEST)
        elif not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the place to another."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._quiet.pop(self, None)
        super().connection_lost(exc)

    def _is_asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._quiet[self] = None
        self._give(QUIET)

    def _give(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        self._quiet.pop(self, None)
        self.transport.abort()

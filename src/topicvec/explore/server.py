"""Serve the explorer on this computer, for this computer only."""

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from topicvec.engine import one_blas_thread
from topicvec.errors import DataError, require
from topicvec.explore.collection import Collection
from topicvec.explore.views import cloud_of

__all__ = ["check_server", "serve", "warm_up"]

logger = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_CLOUDS = 64  # made ahead, of the largest topics; each takes a blink, many would take long
_BACKLOG = 1024  # connections that wait to be taken


def serve(
    collection: Collection,
    *,
    port: int = 0,
    ready: Callable[[str], None],
    stop: threading.Event | None = None,
) -> None:
    """Serve until interrupted, or until told to stop.

    Meanwhile matrix products of the whole program run on one thread.

    Parameters
    ----------
    collection : Collection
        What is shown.
    port : int
        The port to listen on, on the loopback interface; 0 takes a free one.
    ready : callable
        Called with the address as soon as it answers.
    stop : threading.Event, optional
        Ends the server when set; for a server in a thread, which no interrupt reaches.
    """
    uvicorn = require("uvicorn", "explore", "the explorer")
    require("starlette", "explore", "the explorer")
    from topicvec.explore.app import create_app
    from topicvec.explore.connections import QUIET, bounded

    app = create_app(collection)
    config = uvicorn.Config(  # requests that make no sense are no news: only errors are logged
        app, log_level="error", access_log=False, server_header=False, lifespan="off", ws="none",
        http=bounded(), timeout_keep_alive=int(QUIET), timeout_graceful_shutdown=2,
    )  # fmt: skip
    # Each product is small, and threads that wait for each other wait for the browser's core.
    with _listen(port) as listener, one_blas_thread():
        server = uvicorn.Server(config)
        if stop is not None:
            threading.Thread(target=_end, args=(server, stop), daemon=True).start()
        with _warming(collection), suppress(KeyboardInterrupt):  # the way to end it
            ready(f"http://{_HOST}:{listener.getsockname()[1]}/")
            server.run(sockets=[listener])


@contextmanager
def _warming(collection: Collection) -> Iterator[None]:
    """Make what answers share in a thread that does not outlive the server."""
    over = threading.Event()
    thread = threading.Thread(target=warm_up, args=(collection, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def warm_up(collection: Collection, stop: threading.Event | None = None) -> None:
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
    >>> collection = Collection.build(TopicVec(2, random_state=0).fit(texts), texts)
    >>> warm_up(collection)
    >>> "overview" in vars(collection)
    True
    """
    single = [(topic,) for topic in collection.topics[:_CLOUDS] if topic.words]
    answers: list[Callable[[], object]] = [
        lambda: collection.topic(collection.topics[0].index),
        lambda: collection.analyse(collection.document(0).title),
        *(partial(cloud_of, topics) for topics in (collection.topics, *single)),
    ]
    for answer in answers:
        if stop is not None and stop.is_set():
            return
        try:
            answer()
        except DataError as error:  # whoever asks for it is told
            logger.info("not made ahead: %s", error)


def _end(server: Any, stop: threading.Event) -> None:
    stop.wait()
    server.should_exit = True


def check_server(port: int) -> None:
    """Say what the server misses before it is needed: a package, or a port that is free."""
    for module in ("starlette", "uvicorn"):
        require(module, "explore", "the explorer")
    _listen(port).close()


def _listen(port: int) -> socket.socket:
    # asyncio sends at once only on sockets that say they are TCP; else each answer's second part
    # waits 40 ms for the browser's delayed acknowledgement of its first
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":  # on Windows it would let two programs listen on one port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise DataError(f"cannot listen on port {port} ({error}); choose another --port") from error
    listener.listen(_BACKLOG)
    return listener

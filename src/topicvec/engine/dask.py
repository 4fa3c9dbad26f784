"""The processes and machines of a Dask cluster.

What is mapped again and again, as shards of documents are, is brought to the workers once (`hold`);
a map then sends its function, with the large arrays in it, to each worker once, and small pieces to
the tasks. Results come in the order of the items, so sums have the same bits as in one thread.

A worker that dies takes with it what it held. Nobody but this process can bring it again, as it
was brought and not computed: the tasks that miss it are cancelled by the scheduler, and are sent
again here, with what they need. A scheduler that is lost is an error.
"""

import logging
import weakref
from asyncio import CancelledError as AsyncioCancelled
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import contextmanager
from time import sleep
from typing import Any, NamedTuple, TypeVar

from topicvec.engine.local import LocalEngine, one_blas_thread
from topicvec.errors import DataError, EngineError, require

__all__ = ["DaskEngine", "connect"]

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")
Future = Any  # of distributed, which is imported only when there is a client

_AHEAD = 2  # tasks in flight for each thread of the cluster
_ATTEMPTS = 5  # after which a task that lost what it needs is given up
_LOST = ("cancelled", "lost")
_CANCELLED = (AsyncioCancelled, FutureCancelled)  # by the version of distributed
_PAUSE = 0.1  # seconds before the second attempt; twice as long before each further one
_WAIT = 10  # seconds for a scheduler to answer
_LIMIT = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}  # pieces are meant to go


class DaskEngine:
    """Map over the workers of a Dask cluster, results in order, few items in flight.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.

    Attributes
    ----------
    near : LocalEngine
        Threads of this process, for work that is small next to its data.

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     list(DaskEngine(client).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    shares_memory = False

    def __init__(self, client: Any) -> None:
        self.client, self.near = client, LocalEngine()
        self._places: dict[int, Future] = {}  # of what is held, by the id of the item here

    def __repr__(self) -> str:
        return f"DaskEngine({self.client.scheduler.address if self.client.scheduler else None})"

    def hold(self, items: Sequence[Item]) -> "Sequence[_Held]":
        """Bring items to the workers, in turn; they leave when the items here are no more."""
        new = [item for item in items if id(item) not in self._places]
        width = self._width()
        for start in range(0, len(new), width):
            self._bring(new[start : start + width])
        for item in new:
            weakref.finalize(item, self._places.pop, id(item), None).atexit = False
        return [_Held(item) for item in items]

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply ``function`` to each item; results come in the order of the items."""
        shared, waiting = _Shared(function), deque[_Task]()
        width = self._width()
        try:
            for item in items:
                waiting.append(self._send(shared, item))
                if len(waiting) > width:  # a long stream never piles up here
                    yield self._first(shared, waiting)
            while waiting:
                yield self._first(shared, waiting)
        finally:
            for task in waiting:
                task.future.release()

    def _width(self) -> int:
        n_threads: int = sum(self._ask(self.client.nthreads).values())
        return _AHEAD * max(1, n_threads)

    def _bring(self, items: Sequence[Any]) -> None:
        futures = self._ask(self.client.scatter, list(items), hash=False)
        self._places |= {id(item): future for item, future in zip(items, futures, strict=True)}

    def _send(self, shared: "_Shared", item: Any) -> "_Task":
        if shared.future is None or shared.future.status in _LOST:
            shared.future = self._ask(
                self.client.scatter, shared.function, hash=False, broadcast=True
            )
        parts = item if type(item) is tuple else (item,)
        held = [part.item for part in parts if isinstance(part, _Held)]
        if lost := [each for each in held if self._places[id(each)].status in _LOST]:
            self._bring(lost)
        futures = [self._places[id(each)] for each in held]
        pieces = _Pieces(tuple(_GAP if isinstance(part, _Held) else part for part in parts))
        packed = pieces if type(item) is tuple else _Pieces(item)
        with require("dask", "dask", "a Dask engine").config.set(_LIMIT):
            submit = self.client.submit
            future = self._ask(submit, _call, shared.future, packed, *futures, pure=False)
        return _Task(item, future)

    def _first(self, shared: "_Shared", waiting: "deque[_Task]") -> Any:
        """Wait for the first task; if it lost what it needs, send all that did again."""
        for _ in range(_ATTEMPTS):
            try:
                result = waiting[0].future.result()
            except _CANCELLED:
                again = [
                    self._send(shared, task.item) if task.future.status in _LOST else task
                    for task in waiting
                ]
                waiting.clear()
                waiting.extend(again)
            except Exception as error:
                if type(error).__name__ == "KilledWorker":
                    break
                if type(error).__name__ != "CommClosedError":
                    raise
                sleep(_PAUSE)  # until it is known whether the scheduler is lost
            else:
                waiting.popleft()
                return result
        raise EngineError(
            "workers of the Dask cluster died again and again at the same piece of work, most "
            "often for lack of memory: give them more"
        )

    def _ask(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call the client, again if a worker died of which its scheduler did not know yet."""
        for attempt in range(_ATTEMPTS):
            if self.client.status != "running":
                break
            try:
                return function(*arguments, **options)
            except (OSError, TimeoutError) as error:
                logger.info("the Dask cluster failed to answer: %r", error)
                sleep(_PAUSE * 2**attempt)
        raise EngineError(_GONE)


_GONE = "the scheduler of the Dask cluster does not answer: see whether it and its workers run"
_GAP = ...  # where a held item goes


class _Held(NamedTuple):
    """Stands for an item that workers hold."""

    item: Any


class _Task(NamedTuple):
    """A piece of work that is under way, and what it was made of."""

    item: Any
    future: Future


class _Shared:
    """The function of a map, and where it is on the workers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.future = function, None


class _Pieces:
    """What a task is given; Dask does not look inside."""

    def __init__(self, item: Any) -> None:
        self.item = item

    def fill(self, held: Sequence[Any]) -> Any:
        """Put what the worker holds into the gaps."""
        if not held:
            return self.item
        left = iter(held)
        return tuple(next(left) if part is _GAP else part for part in self.item)


@one_blas_thread()
def _call(function: Callable[[Any], Any], pieces: _Pieces, *held: Any) -> Any:
    return function(pieces.fill(held))


@contextmanager
def connect(address: str, n_workers: int | None = None) -> Iterator[Any]:
    """Give a client of a cluster, for as long as it is used.

    Parameters
    ----------
    address : str
        Of a scheduler, as ``tcp://host:8786``; or ``dask``: processes of this machine, which end
        with the client.
    n_workers : int, optional
        Number of these processes; one for each core by default.

    Yields
    ------
    distributed.Client

    Examples
    --------
    >>> with connect("nonsense"):
    ...     pass
    Traceback (most recent call last):
    topicvec.errors.DataError: an engine is dask or the address of a scheduler, ...
    """
    distributed = require("distributed", "dask", "a Dask engine")
    if address == "dask":
        with (
            distributed.LocalCluster(
                n_workers=LocalEngine(n_workers).n_jobs,
                threads_per_worker=1,
                dashboard_address=":0",  # a free port
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    if "://" not in address:
        raise DataError(
            "an engine is dask or the address of a scheduler, such as tcp://host:8786; "
            f"found {address!r}"
        )
    try:
        client = distributed.Client(address, timeout=_WAIT)
    except (OSError, ValueError, TimeoutError) as error:
        raise EngineError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        yield client

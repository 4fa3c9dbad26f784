"""The processes and machines of a Dask cluster.

What is mapped again and again, as shards of documents are, is brought to the workers once (`hold`);
a map then sends its function, with the large arrays in it, to each worker once, and small pieces to
the tasks. Results come in the order of the items, so sums have the same bits as in one thread.

A round of items that have states (`advance`) leaves the states where they were made, and adds up
what the items say on the way, neighbours first: only one sum comes back.

A worker that dies takes with it what it held. Nobody but this process can bring it again, as it
was brought and not computed: the tasks that miss it are cancelled by the scheduler, and are sent
again here, with what they need. States that are lost are made again, from the last ones that were
fetched, by the rounds since. A scheduler that is lost is an error.
"""

import logging
import weakref
from asyncio import CancelledError as AsyncioCancelled
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from itertools import chain
from time import sleep
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from topicvec.engine.base import Round, fold
from topicvec.engine.local import InPlace, LocalEngine, one_blas_thread
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
        self._forget_later(new)
        return [_Held(item) for item in items]

    def _forget_later(self, items: Sequence[Any]) -> None:
        for item in items:
            weakref.finalize(item, self._places.pop, id(item), None).atexit = False

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

    def advance(
        self, work: Round, items: Sequence[Any], states: Sequence[Any], groups: Sequence[slice],
        common: Any = None,
    ) -> tuple[Sequence[Any], Any]:  # fmt: skip
        """Take all items one round further, see `topicvec.engine.advance`.

        A group is worked on where its items are. States stay there, if they may, and what comes
        back is a sequence that fetches them when somebody looks.
        """
        before = states
        if not isinstance(before, _Away) or before.engine is not self:
            before = _Away(self, items, groups, common, tuple(states))
        elif before.common is not common or before.n_bytes > before.size:
            # What was done since needs another common part, or is dearer to send again.
            before = _Away(self, items, groups, common, before.fetch(), (), before.futures)
        rounds = (*before.rounds, work.light())
        after = _Away(self, items, groups, common, before.start, rounds)
        total = self._first_sum(self._go(before, after))
        if work.stays:
            return after, total
        return after.fetch(), total

    def _go(self, before: "_Away", after: "_Away") -> Iterator[Any]:
        """Send the groups on their way, again those that were lost, as long as it is asked for."""
        tasks: list[Future] = [None] * len(after.groups)
        for attempt in range(_ATTEMPTS):
            wanted = [number for number, task in enumerate(tasks) if _is_lost(task)]
            lost = {number for number in wanted if _is_lost(before.futures[number])}
            rounds = self._everywhere(after.rounds if lost else after.rounds[-1:])
            places = after.places()
            for number in wanted:
                tasks[number] = self._send_group(
                    before, number, places[number], rounds if number in lost else rounds[-1:],
                    anew=number in lost,
                )  # fmt: skip
                after.futures[number] = self._submit(_states_of, tasks[number])
            yield rounds[-1], [self._submit(_sum_of, task) for task in tasks], places
            sleep(_PAUSE * 2**attempt)

    def _first_sum(self, attempts: Iterator[Any]) -> Any:
        """Add up what the groups say until no worker dies meanwhile, and get the sum."""
        for told in attempts:
            found = _tried(self._join(*told).result)
            if found is not _NOTHING:
                return found
        raise EngineError(_AGAIN)

    def _join(self, shared: Future, told: Sequence[Future], places: Sequence[str | None]) -> Future:
        """Add up what the groups say, each sum where the later one of the two is."""

        def join(one: tuple[Future, Any], other: tuple[Future, Any]) -> tuple[Future, Any]:
            place = other[1]
            return self._submit(_joined, shared, one[0], other[0], near=place), place

        return fold(zip(told, places, strict=True), join)[0]

    def _send_group(
        self, before: "_Away", number: int, place: str | None, rounds: Sequence[Future], anew: bool
    ) -> Future:
        """Send a group on its way through some rounds from its states, or anew from older ones."""
        group, state = before.groups[number], before.futures[number]
        if anew:
            state = self._scatter([list(before.start[group])], place)[0]
        items = before.items[group]
        if lost := [each for each in items if _is_lost(self._places.get(id(each)))]:
            self._bring(lost, place)
            self._forget_later(lost)
        held = [self._places[id(each)] for each in items]
        common = None if before.common is None else self._common(before.common)
        return self._submit(_rounds, rounds, common, held, state, near=place)

    def _common(self, item: Any) -> Future:
        """Bring something to all workers, once."""
        if _is_lost(self._places.get(id(item))):
            self._places[id(item)] = self._everywhere([item])[0]
            self._forget_later([item])
        return self._places[id(item)]

    def _everywhere(self, items: Sequence[Any]) -> list[Future]:
        scatter = self.client.scatter
        return [self._ask(scatter, item, hash=False, broadcast=True) for item in items]

    def _scatter(self, items: Sequence[Any], place: str | None) -> list[Future]:
        scatter, given = self.client.scatter, {"workers": [place]} if place else {}
        try:
            found: list[Future] = self._ask(scatter, list(items), hash=False, **given)
        except KeyError:  # that worker has just died
            found = self._ask(scatter, list(items), hash=False)
        return found

    def _submit(self, function: Callable[..., Any], *given: Any, near: str | None = None) -> Future:
        where = {} if near is None else {"workers": [near], "allow_other_workers": True}
        return self._ask(self.client.submit, function, *given, pure=False, **where)

    def _width(self) -> int:
        n_threads: int = sum(self._ask(self.client.nthreads).values())
        return _AHEAD * max(1, n_threads)

    def _bring(self, items: Sequence[Any], place: str | None = None) -> None:
        futures = self._scatter(items, place)
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
            result = _tried(waiting[0].future.result)
            if result is not _NOTHING:
                waiting.popleft()
                return result
            again = [
                self._send(shared, task.item) if task.future.status in _LOST else task
                for task in waiting
            ]
            waiting.clear()
            waiting.extend(again)
        raise EngineError(_AGAIN)

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
_AGAIN = (
    "workers of the Dask cluster died again and again at the same piece of work, most often for "
    "lack of memory: give them more"
)
_GAP = ...  # where a held item goes
_NOTHING = object()  # that is no result


def _tried(ask: Callable[[], Any]) -> Any:
    """Wait for something; give nothing if what it needs was lost, or nobody answers just now."""
    try:
        return ask()
    except _CANCELLED:
        return _NOTHING
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            raise EngineError(_AGAIN) from error
        if type(error).__name__ != "CommClosedError":
            raise
        sleep(_PAUSE)  # until it is known whether the scheduler is lost
        return _NOTHING


def _is_lost(future: Future) -> bool:
    return future is None or future.status in _LOST


class _Away(Sequence[Any]):
    """States that are with the workers, group by group; they come when somebody looks.

    Parameters
    ----------
    engine : DaskEngine
        Where they are.
    items, groups, common
        As for `advance`.
    start : sequence
        States that are here, from some rounds ago.
    rounds : tuple, optional
        What was done since.
    futures : sequence, optional
        Where the states of each group are.
    """

    def __init__(
        self, engine: DaskEngine, items: Sequence[Any], groups: Sequence[slice], common: Any,
        start: Sequence[Any], rounds: tuple[Any, ...] = (), futures: Sequence[Future] = (),
    ) -> None:  # fmt: skip
        self.engine, self.items, self.groups, self.common = engine, items, groups, common
        self.start, self.rounds = start, rounds
        self.futures: list[Future] = list(futures) or [None] * len(groups)

    @property
    def n_bytes(self) -> int:
        """What the rounds since would cost to send again."""
        return sum(each.nbytes for each in self.rounds)

    @property
    def size(self) -> int:
        """The bytes of the states that are here."""
        return sum(each.nbytes for each in self.start)

    def places(self) -> list[str | None]:
        """Say which worker each group belongs to: neighbours are together, so few sums travel."""
        workers = sorted(self.engine._ask(self.engine.client.nthreads)) or [None]
        n_groups = len(self.groups)
        return [workers[number * len(workers) // n_groups] for number in range(n_groups)]

    def fetch(self) -> Sequence[Any]:
        """Get the states; those that are lost are made again."""
        if not self.rounds:
            return self.start
        engine, before = self.engine, self._begun()
        for attempt in range(_ATTEMPTS):
            lost = [number for number, future in enumerate(self.futures) if _is_lost(future)]
            rounds, places = engine._everywhere(self.rounds if lost else ()), self.places()
            for number in lost:
                again = engine._send_group(before, number, places[number], rounds, anew=True)
                self.futures[number] = engine._submit(_states_of, again)
            parts = _tried(partial(engine.client.gather, self.futures))
            if parts is not _NOTHING:
                self.start, self.rounds = tuple(chain.from_iterable(parts)), ()
                return self.start
            sleep(_PAUSE * 2**attempt)
        raise EngineError(_AGAIN)

    def _begun(self) -> "_Away":
        return _Away(self.engine, self.items, self.groups, self.common, self.start)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.fetch()[index]


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


_made: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # of rounds, with their common part


@one_blas_thread()
def _rounds(rounds: Sequence[Any], common: Any, items: Sequence[Any], states: Any) -> Any:
    """Take a group of items some rounds further; give its states, and what the last round says."""
    total = None
    for work in rounds:
        ready, total, after = _ready(work, common), None, []
        for item, state in zip(items, states, strict=True):
            found, part = ready.function((item, state))
            after.append(found)
            if work is rounds[-1]:
                total = ready.add(total, part)
        states = after
    return states, ready.close(total, InPlace())


def _ready(work: Any, common: Any) -> Any:
    """Complete a round with the common part, once for all groups that this worker has."""
    ready = _made.get(work)
    if ready is None:
        ready = work.ready(common)
        if ready is not work:  # which would keep itself
            _made[work] = ready
    return ready


def _joined(work: Any, one: Any, other: Any) -> Any:
    return work.join(deepcopy(one), other)  # what a worker holds stays as it is


def _states_of(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _sum_of(pair: tuple[Any, Any]) -> Any:
    return pair[1]


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

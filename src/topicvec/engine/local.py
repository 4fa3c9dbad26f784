"""Threads or processes of this machine.

Threads serve compiled work that releases the interpreter lock (numba kernels, matrix products);
processes serve Python-bound work such as tokenizing. Inside a map every BLAS call runs on one
thread: the engine spreads the work itself, in pieces that do not depend on the worker count, so
results are the same to the bit for any ``n_jobs``.
"""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import count
from numbers import Integral
from pickle import PicklingError
from threading import Lock, RLock, local
from typing import Any, Literal, TypeVar

from threadpoolctl import ThreadpoolController

from topicvec.engine.base import Engine, is_connection
from topicvec.errors import DataError, EngineError

__all__ = ["InPlace", "LocalEngine", "interrupts_held", "one_blas_thread", "resolve_engine"]

Item = TypeVar("Item")
Result = TypeVar("Result")


_IDLE = 300  # seconds that processes wait for more work

_lock = RLock()  # taken again by a map that the collector of garbage ends at any moment
_inside: list[Any] = []  # the BLAS libraries that are held
_before: list[int] = []  # their threads before
_n_inside = 0
_worker = local()  # has ``busy`` in the threads of our pools


@cache
def _libraries(scipy_too: bool) -> tuple[Any, ...]:  # noqa: ARG001
    # Looking for the loaded libraries takes milliseconds, so it is done once, and once more when
    # scipy.linalg has brought its own OpenBLAS beside numpy's.
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, so that products have the same bits for any worker count.

    The threads are given back when the last who is inside leaves: threadpoolctl's own context would
    give them back when the first leaves, while others still count on having one. Whoever comes in
    holds them anew, for somebody may be inside for long, as a map that nobody finished is.
    """
    global _n_inside
    with _lock:
        if _n_inside == 0:
            _inside[:] = _libraries("scipy.linalg.blas" in sys.modules)
            _before[:] = [library.get_num_threads() for library in _inside]
        _n_inside += 1
    try:
        with _lock:
            for library in _inside:
                library.set_num_threads(1)
        yield
    finally:
        with _lock:
            _n_inside -= 1
            for library, number in zip(_inside, _before, strict=True) if _n_inside == 0 else ():
                library.set_num_threads(number)


@contextmanager
def interrupts_held() -> Iterator[list[int]]:
    """Finish what is nearly done although Ctrl-C, or SIGTERM where it is the same, has come.

    Yields
    ------
    list of int
        The signals that came; the second one breaks the work off all the same.

    Examples
    --------
    >>> import signal
    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    >>> with interrupts_held() as held:
    ...     signal.raise_signal(signal.SIGINT)
    ...     print("done")
    done
    >>> held == [signal.SIGINT]
    True
    >>> _ = signal.signal(signal.SIGINT, before)
    """
    held: list[int] = []
    over = False

    def hold(number: int, frame: Any) -> None:
        held.append(number)
        if over or len(held) > 1:  # over: one that comes while the other handlers come back
            signal.default_int_handler(number, frame)

    old: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():  # only there signals are heard
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is signal.default_int_handler:
                    old[number] = signal.default_int_handler
                    signal.signal(number, hold)
        yield held
    finally:
        over = True
        for heard, handler in old.items():
            signal.signal(heard, handler)


@cache
def _threads(n_jobs: int) -> ThreadPoolExecutor:
    # Starting threads takes longer than many a map, so they stay. A map inside of a map runs
    # where it is: it would wait for ever for workers that wait for it.
    return ThreadPoolExecutor(n_jobs, "topicvec", setattr, (_worker, "busy", True))


@cache
def _processes(n_jobs: int) -> Executor:
    # loky, which scikit-learn brings: fresh processes that share no lock with our threads, take
    # lambdas, and do not run an unguarded script again; they stay for the next map, for a while.
    # A pool of our own: joblib's takes the reusable one for its own, and misses what it lacks.
    from joblib.externals.loky import ProcessPoolExecutor

    pool: Executor = ProcessPoolExecutor(n_jobs, timeout=_IDLE)
    return pool


if hasattr(os, "register_at_fork"):  # the child has the pools but not what runs in them
    os.register_at_fork(after_in_child=_threads.cache_clear)
    os.register_at_fork(after_in_child=_processes.cache_clear)


class LocalEngine:
    """Map over threads or processes of this machine, results in order, few items in flight.

    Parameters
    ----------
    n_jobs : int, optional
        Number of workers; ``None`` or ``-1`` means one for each core.
    kind : {"thread", "process"}
        Threads for compiled work, processes for Python-bound work.

    Examples
    --------
    >>> list(LocalEngine(n_jobs=2).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(
        self, n_jobs: int | None = None, *, kind: Literal["thread", "process"] = "thread"
    ) -> None:
        if n_jobs is not None and (n_jobs < -1 or n_jobs == 0):
            raise DataError(f"n_jobs must be at least 1, or -1 for all cores; found {n_jobs}")
        allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
        cores = len(allowed) or os.cpu_count() or 1  # those that this process may use
        self.n_jobs = cores if n_jobs in (None, -1) else n_jobs
        self.kind = kind
        self.shares_memory = kind == "thread"

    def __repr__(self) -> str:
        return f"LocalEngine(n_jobs={self.n_jobs}, kind={self.kind!r})"

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply ``function`` to each item; results come in the order of the items."""
        alone = isinstance(items, Sized) and len(items) <= 1
        if self.n_jobs == 1 or alone or hasattr(_worker, "busy"):
            return self._map_here(function, items)
        return self._map_pool(function, items)

    def _map_here(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        for item in items:
            with one_blas_thread():
                result = function(item)
            yield result

    def _map_pool(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        pool = _threads(self.n_jobs) if self.shares_memory else _processes(self.n_jobs)
        try:
            with one_blas_thread():
                yield from _map_pieces(pool, function, items, 2 * self.n_jobs, self.shares_memory)
        except BrokenExecutor as error:
            _processes.cache_clear()
            raise EngineError(
                "a worker process died, most often for lack of memory: "
                "use fewer workers (n_jobs) or smaller pieces"
            ) from error
        except PicklingError as error:
            raise EngineError(
                f"{function!r} cannot be sent to other processes: use n_jobs=1"
            ) from error


def _map_pieces(
    pool: Executor, function: Callable[[Item], Result], items: Iterable[Item], n_ahead: int,
    finish: bool,
) -> Iterator[Result]:  # fmt: skip
    """Map in a pool; where it fails or is interrupted, perhaps ``finish`` what has begun."""
    waiting: deque[_Piece] = deque()

    def begin(item: Item) -> None:
        waiting.append(_Piece(pool, function, item))

    def first() -> Result:
        result: Result = waiting[0].result()
        waiting.popleft()  # not before: one that is interrupted while it waits must wait again
        return result

    try:
        for item in items:
            _whole(begin, item)
            if len(waiting) > n_ahead:  # a long stream never piles up here
                yield first()
        while waiting:
            yield first()
    except GeneratorExit:  # perhaps from the collector of garbage, which may never wait
        _cancel(waiting)
        raise
    except BaseException:
        for piece in _cancel(waiting) if finish else ():
            piece.wait()  # none may be inside BLAS when its number of threads changes
        raise


class _Piece:
    """A call that goes on in a pool, and a wait for it that an interrupt cannot spoil.

    An interrupt within Python's own locks, of which a future has one and the pool some, may leave
    them locked: a worker would wait for them for ever, and the process for the worker. So whoever
    may be interrupted waits for a lock that has no Python in it, and calls the pool as a `_whole`.
    """

    def __init__(self, pool: Executor, function: Callable[[Any], Any], item: Any) -> None:
        self.busy = Lock()
        self.busy.acquire()
        self.future = pool.submit(function, item)
        self.future.add_done_callback(lambda _: self.busy.release())

    def wait(self) -> None:
        with self.busy:
            pass

    def result(self) -> Any:
        self.wait()
        return self.future.result()


def _cancel(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Call off pieces; give those that have begun."""
    return [piece for piece in pieces if not _whole(piece.future.cancel)]


def _whole(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that Ctrl-C may not break off in the middle; it is raised afterwards."""
    with interrupts_held() as held:
        result = function(*arguments)
    if held:
        signal.default_int_handler(held[0], None)
    return result


class InPlace:
    """An engine that maps here and now; for work that is itself mapped.

    Examples
    --------
    >>> list(InPlace().map(abs, [-1, 2]))
    [1, 2]
    """

    shares_memory = True

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply ``function`` to each item."""
        return map(function, items)


def resolve_engine(engine: Any) -> Engine:
    """Make an engine of what the user gave: an engine, a number of workers, a Dask client, nothing.

    Something that only looks like an engine is tried once and refused.

    Examples
    --------
    >>> resolve_engine(2)
    LocalEngine(n_jobs=2, kind='thread')
    >>> resolve_engine({1: 2})
    Traceback (most recent call last):
    topicvec.errors.EngineError: an engine needs a map method; found dict
    """
    if isinstance(engine, Integral):
        engine = int(engine)
    if engine is None or isinstance(engine, int):
        return LocalEngine(engine)
    if is_connection(engine):
        from topicvec.engine.dask import DaskEngine

        return engine if isinstance(engine, DaskEngine) else DaskEngine(engine)
    kind = type(engine).__name__
    if isinstance(engine, type) or not isinstance(engine, Engine):
        raise EngineError(f"an engine needs a map method; found {kind}")
    if isinstance(engine, LocalEngine | InPlace | _Counting):
        return engine
    _try_out(engine, kind)
    return _Counting(engine)


class _Counting:
    """A foreign engine whose results are counted, so that none is lost without a word."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.shares_memory = getattr(engine, "shares_memory", False)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply ``function`` to each item; refuse fewer or more results than items."""
        given, back = count(), count()
        source = (item for item, _ in zip(items, given, strict=False))  # a stream stays one
        for result in self.engine.map(function, source):
            next(back)
            yield result
        n_items, n_results = sum(0 for _ in source) + next(given), next(back)
        if n_results != n_items:
            raise EngineError(f"{self.engine!r}: {n_results} results of {n_items} items")


def _try_out(engine: Engine, kind: str) -> None:
    try:
        found = list(engine.map(abs, [-1, -2, -3]))
    except Exception as error:
        raise EngineError(f"the map of this {kind} failed on three numbers: {error!r}") from error
    if found != [1, 2, 3]:
        raise EngineError(
            f"an engine's map gives the results themselves, in the order of the items; that of "
            f"this {kind} gave {type(found[0]).__name__ if found else 'nothing'}: "
            "wrap it in an object whose map waits for its results"
        )

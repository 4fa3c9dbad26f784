"""Threads or processes of this machine.

Threads serve compiled work that releases the interpreter lock (numba kernels, matrix products);
processes serve Python-bound work such as tokenizing. Inside a map every BLAS call runs on one
thread: the engine spreads the work itself, in pieces that do not depend on the worker count, so
results are the same to the bit for any ``n_jobs``.
"""

import atexit
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from functools import cache
from itertools import count
from numbers import Integral
from pickle import PicklingError
from queue import SimpleQueue
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
_inside: set[tuple[int, object]] = set()  # who counts on one thread of BLAS: thread and token
_held: list[tuple[Any, int]] = []  # the BLAS libraries, and how many threads they had before
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
    holds them anew, for somebody may be inside for long, as a map that nobody finished is. If a
    piece of such a map is the last to leave, the threads are given back by whoever leaves next.
    """
    me = (threading.get_ident(), object())
    try:
        with _lock:
            if not _held:
                libraries = _libraries("scipy.linalg.blas" in sys.modules)
                _held[:] = [(library, library.get_num_threads()) for library in libraries]
            _inside.add(me)
            for library, _ in _held:
                library.set_num_threads(1)
        yield
    finally:
        try:
            _leave(me)
        finally:  # once more: an interrupt may have broken it off
            _leave(me)


def _leave(one: tuple[int, object]) -> None:
    with _lock:
        _inside.discard(one)
        # Not in our own threads: OpenBLAS would tell others a number that is not the one it has.
        if not _inside and not hasattr(_worker, "busy"):
            for library, number in _held:
                library.set_num_threads(number)
            _held.clear()


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
        if len(held) > 1 and not over:  # over: the other handlers are coming back
            signal.default_int_handler(number, frame)

    replaced: list[int] = []
    try:
        if threading.current_thread() is threading.main_thread():  # only there signals are heard
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is signal.default_int_handler:
                    replaced.append(number)
                    signal.signal(number, hold)
        yield held
    finally:
        over = True
        _hear_again(replaced)


def _hear_again(numbers: list[int]) -> None:
    try:
        while numbers:
            signal.signal(numbers[-1], signal.default_int_handler)
            numbers.pop()
    finally:  # one that is heard already may come before all are
        if numbers:
            _hear_again(numbers)


class _Piece:
    """A call in one of our threads, with what is needed of a future and no lock of Python's.

    An interrupt within a lock that is written in Python, as those of futures and their pools are,
    may leave it locked: a worker would wait for it for ever, and the process for the worker.
    """

    def __init__(self, function: Callable[[Any], Any], item: Any) -> None:
        self._call: Any = (function, item)
        self._value: Any = None
        self._error: BaseException | None = None
        self._is_done = False
        self._busy = Lock()
        self._busy.acquire()

    def cancel(self) -> None:
        """Call it off, if it has not begun."""
        self._call = None

    def run(self) -> None:
        """Make the call, while BLAS has one thread, and give notice of its end."""
        call, self._call = self._call, None
        try:
            if call is not None:
                with one_blas_thread():
                    self._value = call[0](call[1])
        except BaseException as error:
            self._error = error
        finally:
            self._is_done = True
            self._busy.release()
            del self, call  # an error has this frame, and would keep all alive that it knows

    def result(self) -> Any:
        """Wait for what it gives."""
        if not self._is_done:
            self._busy.acquire()
        if self._error is not None:
            try:
                raise self._error
            finally:
                del self  # the error has this frame, and would hold itself
        return self._value


class _Threads:
    """Threads that stay: starting them takes longer than many a map.

    A map inside of a map runs where it is: it would wait for ever for workers that wait for it.
    """

    def __init__(self, n_jobs: int) -> None:
        self._pieces: SimpleQueue[_Piece | None] = SimpleQueue()
        names = [f"topicvec_{number}" for number in range(n_jobs)]
        self._threads = [threading.Thread(target=self._work, name=n, daemon=True) for n in names]
        for thread in self._threads:
            thread.start()
        self._ended = False
        atexit.register(self._end)

    def _work(self) -> None:
        _worker.busy = True
        while (piece := self._pieces.get()) is not None:
            piece.run()
            del piece  # what it gives may be large, and the next one may be far off

    def submit(self, function: Callable[[Any], Any], item: Any) -> _Piece:
        piece = _Piece(function, item)
        if self._ended:
            piece.run()
        else:
            self._pieces.put(piece)
        return piece

    def _end(self) -> None:
        self._ended = True
        for _ in self._threads:
            self._pieces.put(None)
        for thread in self._threads:
            thread.join()


_threads = cache(_Threads)


@cache
def _processes(n_jobs: int) -> Executor:
    # loky, which scikit-learn brings: fresh processes that share no lock with our threads, take
    # lambdas, and do not run an unguarded script again; they stay for the next map, for a while.
    # A pool of our own: joblib's takes the reusable one for its own, and misses what it lacks.
    from joblib.externals.loky import ProcessPoolExecutor

    pool: Executor = ProcessPoolExecutor(n_jobs, timeout=_IDLE)
    return pool


def _begin_child() -> None:
    """Forget, in a process that was forked, the threads that are not there, and what they held."""
    global _lock
    _lock = RLock()
    for one in tuple(_inside):
        if one[0] != threading.get_ident():
            _leave(one)
    _threads.cache_clear()
    _processes.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


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
        waiting: deque[Any] = deque()
        try:
            with one_blas_thread():
                for item in items:
                    waiting.append(pool.submit(function, item))
                    if len(waiting) > 2 * self.n_jobs:  # a long stream never piles up here
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
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
        finally:
            for piece in waiting:
                piece.cancel()


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
    topicvec.errors.EngineError: expected a number of workers ... needs a map method; found dict
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
        raise EngineError(
            "expected a number of workers (-1: one a core), a Dask client or an engine, "
            f"which needs a map method; found {kind}"
        )
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

"""The one thing an engine must do."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

__all__ = ["Engine", "Part", "hold", "is_connection", "near"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@runtime_checkable
class Engine(Protocol):
    """Anything that maps a function over items and yields the results in the items' order.

    A mapped function returns its piece and writes into nothing outside itself, so an engine may
    copy functions and items elsewhere. One whose workers share the memory of this process may say
    so by an attribute ``shares_memory = True``: whole fits of classes then go on in its workers
    side by side; with any other engine they go on here, and their pieces are mapped. One that
    sends far away may have two things more: `near` and `hold`.

    Examples
    --------
    The smallest engine there is:

    >>> class Here:
    ...     def map(self, function, items):
    ...         return map(function, items)
    >>> isinstance(Here(), Engine)
    True
    """

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply ``function`` to each item; results come in the order of the items."""
        ...


class Part(NamedTuple):
    """Some rows of an array, taken where they are used; one that is sent away has only these.

    Examples
    --------
    >>> import numpy as np, pickle
    >>> part = Part(np.arange(1000), np.array([3, 5]))
    >>> part.take(), len(pickle.loads(pickle.dumps(part)).array)
    (array([3, 5]), 2)
    """

    array: Any
    rows: Any

    def take(self) -> Any:
        """Give the rows."""
        return self.array[self.rows]

    def __reduce__(self) -> tuple[Any, ...]:
        return Part, (self.take(), slice(None))


def near(engine: Engine) -> Engine:
    """Give the engine for work that is small next to its data: ``engine.near``, if it has one.

    Examples
    --------
    >>> from topicvec.engine import InPlace
    >>> near(InPlace())
    <topicvec.engine.local.InPlace object at ...>
    """
    return cast("Engine", getattr(engine, "near", engine))


def hold(engine: Engine, items: Sequence[Item]) -> Sequence[Item]:
    """Let an engine bring items to its workers, once for many maps, if it has a ``hold``.

    Items must live for as long as they are mapped. What is returned stands for them in the tuples
    that are mapped afterwards; a mapped function sees the items themselves.

    Examples
    --------
    >>> from topicvec.engine import InPlace
    >>> hold(InPlace(), ["a", "b"])
    ['a', 'b']
    """
    return cast("Sequence[Item]", engine.hold(items)) if hasattr(engine, "hold") else items


def is_connection(value: object) -> bool:
    """Say whether this is a Dask client, or an engine that has one; Dask is not imported.

    Examples
    --------
    >>> is_connection(2)
    False
    """
    kinds = {(kind.__module__, kind.__name__) for kind in type(value).__mro__}
    return bool(kinds & _CONNECTIONS)


_CONNECTIONS = {("distributed.client", "Client"), ("topicvec.engine.dask", "DaskEngine")}

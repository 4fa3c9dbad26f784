"""The one thing an engine must do."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

__all__ = ["Engine", "Part"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@runtime_checkable
class Engine(Protocol):
    """Anything that maps a function over items and yields the results in the items' order.

    A mapped function returns its piece and writes into nothing outside itself, so an engine may
    copy functions and items elsewhere. One whose workers share the memory of this process may say
    so by an attribute ``shares_memory = True``: whole fits of classes then go on in its workers
    side by side; with any other engine they go on here, and their pieces are mapped.

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

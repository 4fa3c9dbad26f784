"""The one thing an engine must do."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

__all__ = ["Engine"]

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

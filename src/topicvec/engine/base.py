"""The one thing an engine must do."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

__all__ = ["Engine", "Part", "Round", "advance", "fold", "hold", "is_connection", "near"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Sum = TypeVar("Sum")

_WIDE = 16  # sums that are added one after the other before their sum goes up


@runtime_checkable
class Engine(Protocol):
    """Anything that maps a function over items and yields the results in the items' order.

    A mapped function returns its piece and writes into nothing outside itself, so an engine may
    copy functions and items elsewhere. One whose workers share the memory of this process may say
    so by an attribute ``shares_memory = True``: whole fits of classes then go on in its workers
    side by side; with any other engine they go on here, and their pieces are mapped. One that
    sends far away may have three things more: `near`, `hold` and `advance`.

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


class Round(Protocol):
    """What happens once to items that each have a state, and how the sums of it are made.

    Examples
    --------
    Items are added to their states, and say what these are then:

    >>> from topicvec.engine import InPlace, advance
    >>> class Running:
    ...     stays = True
    ...
    ...     def function(self, pair):
    ...         return sum(pair), sum(pair)
    ...
    ...     def add(self, total, part):
    ...         return part if total is None else total + part
    ...
    ...     def close(self, total, engine):
    ...         return [total]
    ...
    ...     def join(self, one, other):
    ...         return one + other
    ...
    ...     def light(self):
    ...         return self
    ...
    ...     def ready(self, common):
    ...         return self
    >>> groups = [slice(0, 2), slice(2, 3)]
    >>> advance(InPlace(), Running(), [1, 2, 3], [10, 20, 30], groups)
    ([11, 22, 33], [33, 33])
    """

    @property
    def function(self) -> Callable[[tuple[Any, Any]], tuple[Any, Any]]:
        """From an item and its state to the next state and what it has to say."""
        ...

    @property
    def stays(self) -> bool:
        """Whether states may stay where they were made; else they are names of files, say."""
        ...

    def add(self, total: Any, part: Any) -> Any:
        """Add what an item says to the sum of its group, which is None at first."""
        ...

    def close(self, total: Any, engine: Engine) -> Any:
        """Make of the sum of a group what can be joined with that of others."""
        ...

    def join(self, one: Any, other: Any) -> Any:
        """Add up what groups say; it may be the first that is changed."""
        ...

    def light(self) -> Any:
        """Give what can be sent far away instead: it has ``nbytes``, as states have."""
        ...

    def ready(self, common: Any) -> Any:
        """Make a round of what was sent, and of what ``advance`` was told is common."""
        ...


def advance(
    engine: Engine, work: Round, items: Sequence[Any], states: Sequence[Any],
    groups: Sequence[slice], common: Any = None,
) -> tuple[Sequence[Any], Any]:  # fmt: skip
    """Take all items one round further, and add up what they say in one fixed order.

    Within a group items are added in their order, then groups as `fold` does. So the sums have the
    same bits wherever each group is worked on.

    Parameters
    ----------
    engine : Engine
        Spreads the items; by its own ``advance``, if it has one.
    work : Round
        What to do.
    items, states : sequences
        What stays the same, and what changes. Far away items are held as `hold` does, so they must
        allow weak references, and states are arrays, or names of files where they do not stay.
    groups : sequence of slices
        Consecutive items that go together.
    common : object, optional
        What ``work.light()`` needs far away to be ready, the same in all rounds.

    Returns
    -------
    states, sum : sequence, object
        The next states, and what all items say.
    """
    if hasattr(engine, "advance"):
        found: tuple[Sequence[Any], Any] = engine.advance(work, items, states, groups, common)
        return found
    after: list[Any] = []
    results = iter(engine.map(work.function, zip(items, states, strict=True)))

    def sums() -> Iterator[Any]:
        for group in groups:
            total = None
            for state, part in islice(results, group.stop - group.start):
                after.append(state)
                total = work.add(total, part)
            yield work.close(total, near(engine))

    total = fold(sums(), work.join)
    list(results)  # there are none left, and the engine can see that
    return after, total


def fold(parts: Iterable[Sum], join: Callable[[Sum, Sum], Sum]) -> Sum:
    """Add up parts in an order that depends on their number alone: sixteen, then sixteen of these.

    Examples
    --------
    >>> fold("abc", lambda one, other: f"({one}{other})")
    '((ab)c)'
    >>> fold(["+"] * 33, lambda one, other: f"{one}{other}").count("+")
    33
    """
    levels: list[list[Any]] = []  # of each: how many sums it has, and their sum

    def push(level: int, part: Sum) -> None:
        if level == len(levels):
            levels.append([0, None])
        number, total = levels[level]
        total = part if number == 0 else join(total, part)
        levels[level] = [number + 1, total]
        if number + 1 == _WIDE:
            levels[level] = [0, None]
            push(level + 1, total)

    for part in parts:
        push(0, part)
    left = [total for number, total in reversed(levels) if number]
    total = left[0]
    for rest in left[1:]:
        total = join(total, rest)
    return cast("Sum", total)


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

"""A fit as moves of a bar: in a terminal, in a notebook, or wherever a caller draws it."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from topicvec.model.state import StepInfo

__all__ = ["LEARNING", "Watch", "iterations_left", "watched"]

LEARNING = "learning topics"
_LATEST = 4  # iterations to judge the speed of convergence by


Advance = Callable[..., None]  # of a stage, how much is done and of how much, and a detail


class Watch:
    """Turns news of a fit into moves of a bar; remembers the changes of each class.

    Parameters
    ----------
    advance : callable
        Moves the bar: given the stage, how much is done, of how much, and a detail.
    tol : float
        When the fit stops, as for `TopicVec`.

    Examples
    --------
    >>> watch = Watch(lambda stage, done, total, detail: print(done, "of", total, detail), 1e-3)
    >>> from types import SimpleNamespace
    >>> watch(SimpleNamespace(iteration=2, bound=-7.25, change=1e-4, max_iter=9, group=None))
    2 of 9 bound -7.2500 +0.0001
    """

    def __init__(self, advance: Advance, tol: float) -> None:
        self.advance, self.tol = advance, tol
        self.changes: dict[str | None, list[float]] = {}
        self.bounds: dict[str | None, float] = {}
        self.latest: tuple[int, str] | None = None  # iteration and what was said of it

    def __call__(self, news: StepInfo) -> None:
        """Move the bar by what an iteration tells."""
        self.changes.setdefault(news.group, []).append(news.change)
        self.bounds[news.group] = news.bound
        latest = self.changes[news.group][-_LATEST:]
        total = min(news.max_iter, news.iteration + iterations_left(latest, self.tol))
        bound = sum(self.bounds.values()) / len(self.bounds)
        change = f" {news.change:+.2g}" if math.isfinite(news.change) else ""
        classes = f"of {len(self.bounds)} classes, " if len(self.bounds) > 1 else ""
        self.latest = news.iteration, f"{classes}bound {bound:.4f}{change}"
        self.advance(LEARNING, news.iteration, total, self.latest[1])

    def finish(self) -> None:
        """Fill the bar, which rests on a guess of how many iterations there will be."""
        if self.latest is not None:
            done, detail = self.latest
            self.advance(LEARNING, done, done, detail)


def iterations_left(changes: Sequence[float], tol: float) -> int:
    """Guess how many iterations remain, if changes go on to shrink as they did.

    Examples
    --------
    >>> iterations_left([0.8, 0.4, 0.2, 0.1], 0.01)
    5
    """
    first, last = changes[0], changes[-1]
    if not (math.isfinite(first) and 0 < last < first and tol > 0):
        return 1_000_000  # no guess yet: the limit of iterations holds
    if last <= tol:
        return 1
    rate = math.log(first / last) / (len(changes) - 1)
    return 1 + math.ceil(math.log(last / tol) / rate)


@contextmanager
def watched(tol: float) -> Iterator[Watch]:
    """Draw a bar for a fit: in the cell of a notebook, else on standard error.

    Parameters
    ----------
    tol : float
        As for `Watch`.

    Yields
    ------
    Watch
        A callback for `TopicVec.fit`.
    """
    with _cell() if _in_notebook() else _terminal() as advance:
        advance(LEARNING, 0)
        watch = Watch(advance, tol)
        yield watch
        watch.finish()


def _in_notebook() -> bool:
    """Say whether this runs in the kernel of a notebook; without IPython it does not."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def _cell() -> Iterator[Advance]:
    """Keep one line of the cell's output up to date; needs no widgets."""
    from IPython.display import HTML, display

    handle: Any = display(HTML(""), display_id=True)

    def advance(stage: str, done: int, total: int | None = None, detail: str = "") -> None:
        most = f' max="{total}" value="{done}"' if total else ""
        count = f"{done}/{total}" if total else ""
        handle.update(HTML(f"{stage} <progress{most}></progress> {count} {detail}"))

    yield advance


@contextmanager
def _terminal() -> Iterator[Advance]:
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(LEARNING, total=None)

        def advance(stage: str, done: int, total: int | None = None, detail: str = "") -> None:
            text = f"{stage} {detail}".rstrip()
            bar.update(task, completed=done, total=total, description=text)

        yield advance

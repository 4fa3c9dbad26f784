"""Scales and axes of charts."""

from collections.abc import Iterable
from math import ceil, floor, log10

from topicvec.explore.boxes import Box
from topicvec.explore.palette import GREY
from topicvec.explore.svg import Element, element, number, text

__all__ = ["GRID", "nice_ticks", "polyline", "x_ticks", "y_ticks"]

GRID = "#e3e3e3"
_SIZE = 11.0


def nice_ticks(low: float, high: float, n_ticks: int = 5) -> list[float]:
    """Give round numbers between two values, about so many.

    Examples
    --------
    >>> nice_ticks(0, 97), nice_ticks(-1.33, -1.27, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [-1.32, -1.3, -1.28])
    """
    rough = max(high - low, 1e-12) / max(n_ticks, 1)
    power = 10.0 ** floor(log10(rough))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda s: abs(s - rough))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    digits = max(0, 1 - floor(log10(step)))
    return [round(step * place, digits) for place in range(first, last + 1)]


def polyline(points: Iterable[tuple[float, float]]) -> str:
    """Write points as the data of a path.

    Examples
    --------
    >>> polyline([(0, 1), (2, 3.5)])
    'M0 1L2 3.5'
    """
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def x_ticks(ticks: Iterable[tuple[float, str]], area: Box) -> list[Element]:
    """Draw labels below an area, with a grid line each; ticks are (x, label)."""
    parts = []
    for x, label in ticks:
        parts.append(element("path", d=f"M{number(x)} {number(area.y)}V{number(area.bottom)}",
                             stroke=GRID))  # fmt: skip
        parts.append(
            text(label, x, area.bottom + 1.5 * _SIZE, _SIZE, fill=GREY, text_anchor="middle")
        )
    return parts


def y_ticks(ticks: Iterable[tuple[float, str]], area: Box) -> list[Element]:
    """Draw labels left of an area, with a grid line each; ticks are (y, label)."""
    parts = []
    for y, label in ticks:
        parts.append(element("path", d=f"M{number(area.x)} {number(y)}H{number(area.right)}",
                             stroke=GRID))  # fmt: skip
        parts.append(text(label, area.x - 7, y + 0.36 * _SIZE, _SIZE, fill=GREY, text_anchor="end"))
    return parts

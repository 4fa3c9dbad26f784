"""The bound during training: a line that should rise and level off."""

from collections.abc import Sequence

from topicvec.errors import DataError
from topicvec.model import TopicVec
from topicvec.pictures.chart import ROW_SIZE, nice_ticks, path, stroke, x_ticks, y_ticks
from topicvec.pictures.layout import Box
from topicvec.pictures.palette import COLOURS, GREY, HALO, INK
from topicvec.pictures.svg import Element, Picture, element, number, text

__all__ = ["bound", "bound_chart"]


def bound_chart(
    bounds: Sequence[float],
    *,
    width: float = 640,
    height: float = 360,
    title: str = "Bound during training",
) -> Picture:
    """Draw the bound for a token after each iteration.

    Parameters
    ----------
    bounds : sequence of float
        In nats for a token.
    width, height : float
        Size of the picture.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture

    Examples
    --------
    >>> bound_chart([-8.1, -7.6, -7.5])
    Picture(640 x 360)
    """
    if not bounds:
        raise DataError(
            "a chart of the bound needs iterations, found none: models that come from an "
            "operation on others have no history"
        )
    area = Box(64, 14, width - 64 - 22, height - 14 - 50)
    margin = 0.06 * (max(bounds) - min(bounds)) or 0.1
    low, high = min(bounds) - margin, max(bounds) + margin
    levels = nice_ticks(low, high, 6)
    digits = max(len(f"{level:.6f}".rstrip("0").partition(".")[2]) for level in levels)

    def height_of(value: float) -> float:
        return area.bottom - area.height * (value - low) / (high - low)

    step = area.width / max(len(bounds) - 1, 1)
    points = [(area.x + step * i, height_of(value)) for i, value in enumerate(bounds)]
    parts = [
        *y_ticks([(height_of(level), _written(level, digits)) for level in levels], area),
        *x_ticks([(points[i][0], str(i + 1)) for i in _iterations(len(bounds))], area),
        *_line(points, _written(bounds[-1], 3)),
        *_captions(area, height),
    ]
    return Picture.of(parts, width, height, title)


def _line(points: Sequence[tuple[float, float]], last: str) -> list[Element]:
    x, y = points[-1]
    dot = element("circle", cx=x, cy=y, r=3.5, fill=COLOURS[0])
    value = text(last, x - 2, y + 20, ROW_SIZE, fill=INK, text_anchor="end", **HALO)
    return [stroke(path(points), COLOURS[0], 2), dot, value]


def _captions(area: Box, height: float) -> list[Element]:
    x, y = area.middle
    style = {"fill": GREY, "text_anchor": "middle"}
    turned = f"translate(14 {number(y)}) rotate(-90)"
    below = text("iteration", x, height - 8, ROW_SIZE, **style)
    return [below, text("bound, nats a token", 0, 0, ROW_SIZE, transform=turned, **style)]


def bound(model: TopicVec, *, width: float = 640, height: float = 360) -> Picture:
    """Draw a model's bound during training, see `bound_chart`.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> bound(model)
    Picture(640 x 360)
    """
    return bound_chart(model.bounds_, width=width, height=height)


def _written(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _iterations(n_iterations: int) -> list[int]:
    """Choose the iterations to name: the first and round numbers."""
    named = [int(tick) - 1 for tick in nice_ticks(1, n_iterations, 8) if tick == int(tick)]
    return sorted({0, *(place for place in named if place > 0.04 * n_iterations)})

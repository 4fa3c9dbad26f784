"""How similar topics are: a square for each pair, similar ones side by side."""

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError
from topicvec.model import TopicVec
from topicvec.pictures.chart import ROW_SIZE, named_rows
from topicvec.pictures.kinds.hierarchy import topic_tree
from topicvec.pictures.layout import Box, cosines
from topicvec.pictures.palette import GREY, INK, PAPER, contrast, mix
from topicvec.pictures.seen import shown_topics
from topicvec.pictures.svg import Element, Picture, element, text

__all__ = ["heatmap"]

_WARM, _COLD = "#9a4a00", "#08306b"  # below 0 and above it; told apart by any eye
_NAMES = 210.0
_WORD = 60.0  # width of the word beside the scale
_VALUES_FROM = 30.0  # side of a square that has room for its value
_SMALL = 10.5  # font size of numbers


def heatmap(
    model: TopicVec,
    *,
    max_topics: int = 60,
    width: float = 800,
    title: str = "Similarity of topics",
) -> Picture:
    """Draw the cosines of a model's topic vectors, similar topics side by side.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    max_topics : int
        Only so many of the largest topics; a remark says if there are more.
    width : float
        Width of the picture; its height follows.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Blue for similar, white for nothing in common, brown for opposite topics; with few
        topics the numbers as well. Topics stand in the order of their `hierarchy`.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> heatmap(model).width
    800
    """
    every = shown_topics(model)
    found = every[:max_topics]
    if not found:
        raise DataError(
            f"a heat map needs a topic with words, found {len(every)}, max_topics={max_topics}"
        )
    order, _ = topic_tree(model.fitted_.topics[[topic.index for topic in found]])
    topics = [found[leaf] for leaf in order]
    values = cosines(model.fitted_.topics[[topic.index for topic in topics]])
    side = min((width - _NAMES - 26) / len(topics), 56.0)
    area = Box(_NAMES + 10, 26, side * len(topics), side * len(topics))
    middles = [area.y + side * (row + 0.5) for row in range(len(topics))]
    size = min(ROW_SIZE, 0.95 * side)
    names = named_rows(topics, middles, area.x - 8, _NAMES, size=size) if size > 6 else []
    numbers = [
        _number(str(topic.index), area.x + side * (column + 0.5), area.y - 8)
        for column, topic in enumerate(topics if side >= 17 else [])  # narrower, they would touch
    ]
    parts = [*names, *numbers, *_squares(values, side, area), *_scale(area, width)]
    if len(every) > len(found):
        remark = f"{len(found)} of {len(every)} topics"
        parts.append(text(remark, 4, area.bottom + 22, ROW_SIZE, fill=GREY))
    return Picture.of(parts, width, round(area.bottom + 50), title)


def shade(value: float) -> str:
    """Give the colour of a number from −1 to 1.

    Examples
    --------
    >>> shade(0), shade(1)
    ('#ffffff', '#08306b')
    """
    return mix(_COLD if value >= 0 else _WARM, PAPER, min(abs(value), 1.0) ** 0.65)


def _squares(values: NDArray[np.float64], side: float, area: Box) -> list[Element]:
    parts = []
    for row, line in enumerate(values.tolist()):
        for column, value in enumerate(line):
            x, y, colour = area.x + side * column, area.y + side * row, shade(value)
            parts.append(element("rect", x=x, y=y, width=side - 1, height=side - 1, fill=colour))
            if side >= _VALUES_FROM:
                ink = INK if contrast(INK, colour) > contrast(PAPER, colour) else PAPER
                parts.append(_number(_written(value), x + side / 2 - 0.5, y + side / 2 + 3.5, ink))
    return parts


def _written(value: float) -> str:
    if value > 0.995:
        return "1"
    return f"{round(value, 2) + 0.0:.2f}".replace("0.", ".").replace("-", "−")  # no minus nought


def _number(written: str, x: float, y: float, ink: str = GREY) -> Element:
    return text(written, x, y, _SMALL, fill=ink, text_anchor="middle")


def _scale(area: Box, width: float) -> list[Element]:
    """Draw the meaning of the colours below."""
    top, step = area.bottom + 12, min(14.0, (width - area.x - _WORD) / 21)
    shades = [
        element("rect", x=area.x + step * place, y=top, width=step, height=10,
                fill=shade(-1 + place / 10))
        for place in range(21)
    ]  # fmt: skip
    numbers = [
        _number(label, area.x + step * (place + 0.5), top + 24)
        for place, label in ((0, "−1"), (10, "0"), (20, "1"))
    ]
    word = text("cosine", area.x + step * 21 + 8, top + 9.5, ROW_SIZE, fill=GREY)
    return [*shades, *numbers, word]

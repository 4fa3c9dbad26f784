"""The hierarchy of topics: which are so alike that they would merge first."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from topicvec.errors import DataError
from topicvec.model import TopicVec
from topicvec.pictures.chart import ROW_SIZE, named_rows, nice_ticks, stroke, x_ticks
from topicvec.pictures.layout import Box, cosines
from topicvec.pictures.palette import GREY
from topicvec.pictures.seen import own_colours, shown_topics
from topicvec.pictures.svg import Element, Picture, element, number, text

__all__ = ["hierarchy", "topic_tree"]

Merge = tuple[int, int, float]  # two nodes and their distance

_ROW = 21.0
_NAMES = 300.0
_BAR = 60.0  # length of the largest share's bar


def topic_tree(vectors: ArrayLike) -> tuple[list[int], list[Merge]]:
    """Merge vectors (K, N) by average linkage of 1 − cosine, the most similar first.

    Returns
    -------
    order : list of int
        Leaves from top to bottom so that branches do not cross.
    merges : list of (int, int, float)
        Nodes that merge and their distance; K leaves are nodes 0 … K−1, merge i makes node K + i.

    Examples
    --------
    >>> sorted(topic_tree([[1, 0], [0, 1], [2, 0.1]])[1][0][:2])
    [0, 2]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    apart = 1 - cosines(vectors)
    if len(apart) < 2:
        return list(range(len(apart))), []
    np.fill_diagonal(apart, 0)
    condensed = squareform(np.maximum((apart + apart.T) / 2, 0), checks=False)
    links = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
    merges = [(int(a), int(b), float(distance)) for a, b, distance, _ in links]
    return leaves_list(links).tolist(), merges


def hierarchy(
    model: TopicVec, *, width: float = 800, title: str = "Hierarchy of topics"
) -> Picture:
    """Draw the tree of a model's topics; its height follows their number.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    width : float
        Width of the picture.
    title : str
        For those who listen; not drawn.

    Returns
    -------
    Picture
        Branches join at 1 − cosine of the topic vectors; bars are the topics' shares.

    Examples
    --------
    >>> import numpy as np
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> hierarchy(model).width
    800
    """
    found = shown_topics(model)
    if not found:
        raise DataError("a hierarchy needs a topic with words, found none")
    order, merges = topic_tree(model.fitted_.topics[[topic.index for topic in found]])
    topics = [found[leaf] for leaf in order]
    area = Box(16, 8, width - 16 - _NAMES - _BAR - 16, _ROW * len(topics))
    middles = [area.y + _ROW * (row + 0.5) for row in range(len(topics))]
    largest = max(topic.share for topic in topics)
    bars = [
        element("rect", x=area.right + 8, y=middle - 6, width=max(_BAR * topic.share / largest, 1),
                height=12, rx=2, fill=colour)
        for topic, middle, colour in zip(topics, middles, own_colours(model, topics), strict=True)
    ]  # fmt: skip
    names = named_rows(topics, middles, area.right + _BAR + 16, _NAMES, anchor="start")
    x, y = area.middle[0], area.bottom + 34
    caption = text("1 − cosine", x, y, ROW_SIZE, fill=GREY, text_anchor="middle")
    parts = [*_branches(order, merges, area), *bars, *names, caption]
    return Picture.of(parts, width, round(area.bottom + 44), title)


def _branches(order: Sequence[int], merges: Sequence[Merge], area: Box) -> list[Element]:
    """Draw the ticks of the distance and the branches, the root on the left."""
    if not merges:
        return []
    most = max(distance for _, _, distance in merges) * 1.02 or 1.0
    heights = {leaf: area.y + _ROW * (row + 0.5) for row, leaf in enumerate(order)}
    ends = dict.fromkeys(heights, area.right)
    lines = []
    for step, (one, other, distance) in enumerate(merges):
        x = area.right - area.width * distance / most
        top, bottom = heights[one], heights[other]
        lines.append(
            f"M{number(ends[one])} {number(top)}H{number(x)}V{number(bottom)}H{number(ends[other])}"
        )
        node = len(order) + step
        heights[node], ends[node] = (top + bottom) / 2, x
    ticks = [
        (area.right - area.width * tick / most, f"{tick:g}") for tick in nice_ticks(0, most, 6)
    ]
    return [*x_ticks(ticks, area), stroke("".join(lines), "#444444", 1.4)]

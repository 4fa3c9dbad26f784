"""The hierarchy of topics: which are so alike that they would merge first."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from topicvec.errors import DataError
from topicvec.model import Topic, TopicVec
from topicvec.pictures.chart import ROW_SIZE, named_rows, nice_ticks, stroke, x_ticks
from topicvec.pictures.layout import Box, cosines
from topicvec.pictures.palette import GREY
from topicvec.pictures.seen import own_colours, shown_topics
from topicvec.pictures.svg import Element, Picture, element, number, text, text_width
from topicvec.represent.topics import branch_words

__all__ = ["hierarchy", "topic_tree"]

Merge = tuple[int, int, float]  # two nodes and their distance

_ROW = 21.0
_NAMES = 250.0
_BRANCH_SIZE = 10.5  # of the names of branches
_INK_OF_LINES = "#444444"
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
        Branches join at 1 − cosine of the topic vectors; bars are the topics' shares. A branch is
        named by words that its topics share, see `topicvec.represent.branch_words`, as far as there
        is room; the mouse tells the name of any.

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
    parts = [*_tree(model, found, order, merges, area), *bars, *names, caption]
    return Picture.of(parts, width, round(area.bottom + 44), title)


class _Fork(NamedTuple):
    """Where two branches become one, and the line that leads on to the left."""

    x: float
    y: float
    top: float  # of the upright line
    bottom: float
    ends: tuple[float, float]  # at the right, of the branches at top and bottom
    leaves: tuple[int, ...]


def _tree(
    model: TopicVec,
    topics: Sequence[Topic],
    order: Sequence[int],
    merges: Sequence[Merge],
    area: Box,
) -> list[Element]:
    """Draw the ticks of the distance and the branches with their names, the root on the left."""
    if not merges:
        return []
    most = max(distance for _, _, distance in merges) * 1.02 or 1.0
    ticks = nice_ticks(0, most, 6)
    places = [area.right - area.width * tick / most for tick in ticks]
    forks = _forks(order, merges, area, most)
    lines = "".join(
        f"M{number(fork.ends[0])} {number(fork.top)}H{number(fork.x)}V{number(fork.bottom)}"
        f"H{number(fork.ends[1])}"
        for fork in forks
    )
    branches = [[topics[leaf].index for leaf in fork.leaves] for fork in forks[:-1]]
    names = branch_words(model, branches)  # all but the root, which has no others to be told from
    return [
        *x_ticks([(x, f"{tick:g}") for x, tick in zip(places, ticks, strict=True)], area),
        stroke(lines, _INK_OF_LINES, 1.4),
        *_branch_names(forks, names),
    ]


def _forks(order: Sequence[int], merges: Sequence[Merge], area: Box, most: float) -> list[_Fork]:
    """Place the forks of a tree, in the order of the merges."""
    ends = {leaf: (area.right, area.y + _ROW * (row + 0.5)) for row, leaf in enumerate(order)}
    leaves: dict[int, tuple[int, ...]] = {leaf: (leaf,) for leaf in order}
    forks = []
    for node, (one, other, distance) in enumerate(merges, len(order)):
        (left, top), (right, bottom) = sorted((ends[one], ends[other]), key=lambda end: end[1])
        x, y = area.right - area.width * distance / most, (top + bottom) / 2
        ends[node], leaves[node] = (x, y), leaves[one] + leaves[other]
        forks.append(_Fork(x, y, top, bottom, (left, right), leaves[node]))
    return forks


def _branch_names(forks: Sequence[_Fork], names: Sequence[Sequence[str]]) -> list[Element]:
    """Write names beside forks, large branches first, where there is room."""
    taken = [box for fork in forks for box in _lines(fork)]
    parts = []
    for place in sorted(range(len(names)), key=lambda place: -len(forks[place].leaves)):
        fork, words = forks[place], names[place]
        hover = element("title", [", ".join(words)])
        dot = element("circle", cx=fork.x, cy=fork.y, r=2.6, fill=_INK_OF_LINES)
        box, said = _free_name(fork, words, taken)
        taken.append(box)
        name = text(said, box.x, box.bottom - 0.25 * _BRANCH_SIZE, _BRANCH_SIZE, fill=GREY)
        parts.append(element("g", [hover, dot, *([name] if said else [])]))
    return parts


def _free_name(fork: _Fork, words: Sequence[str], taken: Sequence[Box]) -> tuple[Box, str]:
    """Find room between a fork's branches, or at the line that leads to it, for its words."""
    high = 1.1 * _BRANCH_SIZE
    for n_words in range(len(words), 0, -1):
        said = ", ".join(words[:n_words])
        wide = text_width(said, _BRANCH_SIZE)
        left = fork.x - 6 - wide
        for x, y in (
            (fork.x + 7, fork.y - high / 2),
            (left, fork.y - 2 - high),
            (left, fork.y + 2),
        ):
            around = Box(x - 3, y, wide + 6, high)
            if x > 2 and not any(around.overlaps(other) for other in taken):
                return Box(x, y, wide, high), said
    return Box(fork.x, fork.y, 0, 0), ""


def _lines(fork: _Fork) -> list[Box]:
    """Give the lines of a fork as boxes without breadth."""
    return [
        Box(fork.x, fork.top, 0, fork.bottom - fork.top),
        Box(fork.x, fork.top, fork.ends[0] - fork.x, 0),
        Box(fork.x, fork.bottom, fork.ends[1] - fork.x, 0),
    ]

"""How topics lie to one another: similarities, neighbours and a hierarchy."""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from topicvec.checks import check_choice
from topicvec.embed.nearest import best
from topicvec.errors import DataError
from topicvec.model.topicvec import TopicVec
from topicvec.represent.similarity import unit_rows

__all__ = [
    "Linkage",
    "Merge",
    "nearest_topics",
    "topic_hierarchy",
    "topic_kernel",
    "topic_similarity",
]

Linkage = Literal["average", "complete", "single"]


class Merge(NamedTuple):
    """Two branches of a hierarchy that become one.

    Attributes
    ----------
    node : int
        Number of the new branch, from K on.
    left, right : int
        The two parts: topics by their index, or earlier merges by their node.
    distance : float
        One minus the cosine between the two parts.
    topics : tuple of int
        All topics of the new branch, in order along the tree.

    Examples
    --------
    >>> Merge(5, 1, 2, 0.3, (1, 2)).distance
    0.3
    """

    node: int
    left: int
    right: int
    distance: float
    topics: tuple[int, ...]


def topic_similarity(model: TopicVec) -> NDArray[np.float64]:
    """Give the cosine of each pair of topic vectors.

    Parameters
    ----------
    model : TopicVec
        A fitted model.

    Returns
    -------
    array, (K, K)
        Row and column 0, of the null topic, are zero: it has no direction.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> topic_similarity(model).diagonal().round(3)
    array([0., 1., 1.])
    """
    unit = unit_rows(model.fitted_.topics.astype(float))
    return np.clip(unit @ unit.T, -1, 1)


def topic_kernel(model: TopicVec) -> NDArray[np.float64]:
    """Say how alike topics are when documents are compared by them, as a kernel.

    Parameters
    ----------
    model : TopicVec
        A fitted model.

    Returns
    -------
    array, (K, K)
        Symmetric and positive semidefinite; row and column 0 are zero, since the null topic makes
        no two documents alike.

    Notes
    -----
    The third powers of the cosines: positive semidefinite like the cosines themselves (products
    of such tables, entry by entry, are), with the same signs, but near duplicates stand out: a
    cosine of .95 counts .86, one of .5 counts .13. That was chosen on held-out training documents
    of six corpora, see ``docs/explanation/retrieval.md``.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> topic_kernel(model).diagonal().round(3)
    array([0., 1., 1.])
    """
    return topic_similarity(model) ** 3


def nearest_topics(model: TopicVec, topic: int, n: int = 5) -> list[tuple[int, float]]:
    """List the topics that are most like one, with their cosines, best first.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    topic : int
        Index of the topic; the null topic, 0, has no neighbours.
    n : int
        How many.

    Returns
    -------
    list of (int, float)

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> [index for index, cosine in nearest_topics(model, 1)]
    [2]
    """
    n_topics = model.fitted_.n_topics
    if not 0 <= topic < n_topics:
        raise DataError(f"expected a topic between 0 and {n_topics - 1}; found {topic}")
    if topic == 0:
        return []
    scores = topic_similarity(model)[topic]
    scores[[0, topic]] = -np.inf
    return [(int(row), float(scores[row])) for row in best(scores, n)]


def topic_hierarchy(model: TopicVec, method: Linkage = "average") -> tuple[Merge, ...]:
    """Join topics two by two, the most alike first, until there is one tree.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    method : {"average", "complete", "single"}
        What counts as the distance of two branches.

    Returns
    -------
    tuple of Merge
        K − 2 of them for K topics, since the null topic is left out; the last one has all
        topics, in an order that puts like beside like.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(4, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> tree = topic_hierarchy(model)
    >>> len(tree), sorted(tree[-1].topics)
    (2, [1, 2, 3])
    """
    check_choice("method", method, *get_args(Linkage))
    n_topics = model.fitted_.n_topics
    if n_topics < 3:
        return ()
    members: dict[int, tuple[int, ...]] = {row: (row,) for row in range(n_topics)}
    merges: list[Merge] = []
    for left, right, distance in _linkage(1 - topic_similarity(model)[1:, 1:], method):
        node = n_topics + len(merges)
        members[node] = members[left] + members[right]
        merges.append(Merge(node, left, right, distance, members[node]))
    return tuple(merges)


def _linkage(distances: NDArray[np.float64], method: Linkage) -> list[tuple[int, int, float]]:
    """Give pairs of branches by our numbers: topics from 1, merges after the last topic."""
    from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    np.fill_diagonal(distances, 0)
    condensed = squareform(np.maximum(distances, distances.T), checks=False)
    table = linkage(condensed, method)
    if len(distances) > 2:
        table = optimal_leaf_ordering(table, condensed)
    return [(int(a) + 1, int(b) + 1, float(distance)) for a, b, distance, _ in table]

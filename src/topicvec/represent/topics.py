"""How topics lie to one another: similarities, neighbours and a hierarchy with names."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.checks import check_choice
from topicvec.embed.nearest import best
from topicvec.errors import DataError
from topicvec.frames import Frame, make_frame
from topicvec.model.fitted import FittedTopics
from topicvec.model.reading import Topic, relevant_words
from topicvec.model.topicvec import TopicVec
from topicvec.represent.similarity import unit_rows
from topicvec.text.counting import check_several
from topicvec.text.document import Document, values_of

__all__ = [
    "ClassTopics",
    "Linkage",
    "Merge",
    "branch_words",
    "nearest_topics",
    "topic_hierarchy",
    "topic_kernel",
    "topic_similarity",
    "topics_per_class",
]

Linkage = Literal["average", "complete", "single"]

_CANDIDATES = 100  # most relevant words of a branch, of which those are chosen that topics share


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
    name : str
        Words that its topics share, see `branch_words`.

    Examples
    --------
    >>> Merge(5, 1, 2, 0.3, (1, 2), "price, market").distance
    0.3
    """

    node: int
    left: int
    right: int
    distance: float
    topics: tuple[int, ...]
    name: str = ""


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
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
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
    cosine of .95 counts .86, one of .5 counts .13. That was chosen by same-class retrieval
    on held-out training documents, see ``docs/explanation/retrieval.md``.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
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
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
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
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> tree = topic_hierarchy(model)
    >>> len(tree), sorted(tree[-1].topics)
    (2, [1, 2, 3])
    """
    check_choice("method", method, *get_args(Linkage))
    n_topics = model.fitted_.n_topics
    if n_topics < 3:
        return ()
    pairs = _linkage(1 - topic_similarity(model)[1:, 1:], method)
    members: dict[int, tuple[int, ...]] = {row: (row,) for row in range(n_topics)}
    for node, (left, right, _) in enumerate(pairs, n_topics):
        members[node] = members[left] + members[right]
    branches = [members[node] for node in range(n_topics, n_topics + len(pairs))]
    names = [", ".join(words) for words in branch_words(model, branches)]
    return tuple(
        Merge(node, *pair, topics, name)
        for node, (pair, topics, name) in enumerate(
            zip(pairs, branches, names, strict=True), n_topics
        )
    )


def branch_words(
    model: TopicVec, branches: Sequence[Sequence[int]], n_words: int = 3
) -> list[tuple[str, ...]]:
    """Name branches of a hierarchy by words that their topics share.

    A branch is read as one topic: its vector is the mean direction of its topics, its tokens are
    theirs. The relevance "cosine" of a word is then multiplied by how evenly the topics have it,
    (Σ_k √p(w|k))² / (n Σ_k p(w|k)) for n topics: 1 if all have as much of it, 1 / n if one has all.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    branches : sequence of sequences of int
        Indices of the topics of each branch.
    n_words : int
        Words of each name.

    Returns
    -------
    list of tuples of str
        Best first; fewer words where the topics have fewer.

    Examples
    --------
    >>> from topicvec import TopicVec, datasets
    >>> documents = datasets.sample_corpus()
    >>> model = TopicVec(8, random_state=0).fit(documents)
    >>> [words] = branch_words(model, [(1, 2)], n_words=2)
    >>> len(words)
    2
    """
    fitted = model.fitted_
    totals = fitted.word_totals
    named = []
    for topics, branch in zip(branches, _read_branches(fitted, branches), strict=True):
        rows = [fitted.vectors.ids[word] for word, _ in branch]
        inside = fitted.word_mass[rows].toarray()[:, topics] / np.maximum(totals[topics,], 1e-300)
        evenness = np.sqrt(inside).mean(axis=1) ** 2 / np.maximum(inside.mean(axis=1), 1e-300)
        scores = np.array([relevance for _, relevance in branch]) * evenness
        ranked = [branch[place][0] for place in np.argsort(-scores, kind="stable")]
        named.append(_apart(ranked)[:n_words])
    return named


def _apart(words: Sequence[str]) -> tuple[str, ...]:
    """Leave out words that begin an earlier one, or begin with it: price, prices, price war."""
    kept: list[str] = []
    for word in words:
        if not any(word.startswith(other) or other.startswith(word) for other in kept):
            kept.append(word)
    return tuple(kept)


def _read_branches(
    fitted: FittedTopics, branches: Sequence[Sequence[int]]
) -> list[tuple[tuple[str, float], ...]]:
    """Give the most relevant words of branches as if each were one topic."""
    members = np.zeros((fitted.n_topics, len(branches) + 1))  # the first is the null topic
    for column, topics in enumerate(branches, 1):
        members[list(topics), column] = 1
    means = members / np.maximum(members.sum(axis=0), 1)
    vectors = means.T @ unit_rows(fitted.topics.astype(float))
    joined = replace(
        FittedTopics.bare(fitted.vectors, vectors, max_norm=fitted.max_norm),
        word_mass=csr_array(fitted.word_mass @ csr_array(members)),
        word_counts=fitted.word_counts,
    )
    return relevant_words(joined, range(1, len(branches) + 1), _CANDIDATES, "cosine")


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


class ClassTopics(NamedTuple):
    """How much of each class's documents is about each topic.

    Attributes
    ----------
    names : tuple of str
        The C classes, sorted.
    topics : tuple of Topic
        The topics, without the null topic.
    shares : array, (C, K)
        Mean proportions of all topics in the documents of the class; rows sum to 1.
    n_documents : array of int, (C,)
        Documents of the class.

    Examples
    --------
    >>> from topicvec.model.reading import Topic
    >>> topics = (Topic(1, 0.5, 5.0, (), "sea"),)
    >>> found = ClassTopics(("a",), topics, np.array([[0.25, 0.75]]), np.array([3]))
    >>> found.table().values.tolist()
    [['a', 3, 1, 'sea', 0.75]]
    """

    names: tuple[str, ...]
    topics: tuple[Topic, ...]
    shares: NDArray[np.float64]
    n_documents: NDArray[np.intp]

    def table(self, frame: Frame = "pandas") -> Any:
        """Give a row for each class and topic, as a DataFrame.

        Parameters
        ----------
        frame : {"pandas", "polars"}
            Whose table.

        Returns
        -------
        DataFrame
            ``class``, ``documents``, ``topic``, ``label`` and ``share``.
        """
        rows = [(place, topic) for place in range(len(self.names)) for topic in self.topics]
        columns: dict[str, Any] = {
            "class": [self.names[place] for place, _ in rows],
            "documents": [int(self.n_documents[place]) for place, _ in rows],
            "topic": [topic.index for _, topic in rows],
            "label": [topic.title for _, topic in rows],
            "share": [float(self.shares[place, topic.index]) for place, topic in rows],
        }
        return make_frame(columns, frame)


def topics_per_class(
    model: TopicVec, documents: Iterable[str | Document], labels: Sequence[str] | None = None
) -> ClassTopics:
    """Say how much of each class's documents is about each topic.

    Parameters
    ----------
    model : TopicVec
        A fitted model, whether or not it knows the classes.
    documents : iterable of str or Document
        The documents.
    labels : sequence of str, optional
        Their classes; by default the documents' own.

    Returns
    -------
    ClassTopics
        Its ``table()`` is a DataFrame.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(2, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> found = topics_per_class(model, ["cat", "car", "dog"], ["pet", "toy", "pet"])
    >>> found.names, found.n_documents.tolist(), found.shares.sum(axis=1).round(6).tolist()
    (('pet', 'toy'), [2, 1], [1.0, 1.0])
    """
    check_several(documents)
    texts = list(documents)
    names, groups = np.unique(values_of(texts, "label", labels), return_inverse=True)
    mixtures = np.asarray(model.transform(texts))
    sums = np.zeros((len(names), mixtures.shape[1]))
    np.add.at(sums, groups, mixtures)
    n_documents = np.bincount(groups, minlength=len(names))
    topics = tuple(topic for topic in model.topics_ if not topic.is_null)
    return ClassTopics(tuple(names.tolist()), topics, sums / n_documents[:, None], n_documents)

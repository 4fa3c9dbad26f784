"""How well topics agree with known classes when nobody has told the model of them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.errors import DataError
from topicvec.represent.similarity import mixture_points

__all__ = ["ClusterScore", "cluster_score", "dominant_topics", "kmeans_clusters"]

Labels = NDArray[Any]


@dataclass(frozen=True)
class ClusterScore:
    """How well clusters agree with classes.

    Attributes
    ----------
    purity : float
        Share of the documents that are in the class most frequent in their cluster. It grows
        with the number of clusters, so compare it at the same number.
    nmi : float
        Normalised mutual information (arithmetic mean of the entropies), between 0 and 1.
    n_clusters : int
        Clusters with at least one document.

    Examples
    --------
    >>> ClusterScore(0.8, 0.5, 20).nmi
    0.5
    """

    purity: float
    nmi: float
    n_clusters: int

    def as_dict(self) -> dict[str, float | int]:
        """Return the record as plain data."""
        return asdict(self)


def cluster_score(
    clusters: Sequence[Any] | Labels, classes: Sequence[Any] | Labels
) -> ClusterScore:
    """Compare clusters with classes.

    Parameters
    ----------
    clusters, classes : sequences of D labels
        Of the same documents.

    Returns
    -------
    ClusterScore

    Examples
    --------
    >>> cluster_score([0, 0, 1, 1], ["cat", "cat", "cat", "car"])
    ClusterScore(purity=0.75, nmi=0.343..., n_clusters=2)
    """
    if len(clusters) != len(classes) or len(classes) == 0:
        raise DataError(
            "expected a cluster and a class for each of at least one document; "
            f"found {len(clusters)} clusters and {len(classes)} classes"
        )
    table = _contingency(np.asarray(clusters), np.asarray(classes))
    purity = float(table.max(axis=1).sum() / table.sum())
    return ClusterScore(purity, _nmi(table / table.sum()), len(table))


def dominant_topics(proportions: ArrayLike, classes: Sequence[Any] | Labels) -> ClusterScore:
    """Compare each document's largest topic with its class.

    Parameters
    ----------
    proportions : array, (D, K)
        From `transform`. Leave out the column of a null topic, which is no cluster.
    classes : sequence of D labels
        The documents' classes.

    Returns
    -------
    ClusterScore

    Examples
    --------
    >>> dominant_topics([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], ["cat", "cat", "car"])
    ClusterScore(purity=1.0, nmi=1.0, n_clusters=2)
    """
    return cluster_score(_checked(proportions).argmax(axis=1), classes)


def kmeans_clusters(
    proportions: ArrayLike,
    classes: Sequence[Any] | Labels,
    *,
    n_clusters: int | None = None,
    kernel: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> ClusterScore:
    """Cluster the documents by k-means on their topic proportions and compare with classes.

    Parameters
    ----------
    proportions : array, (D, K)
        From `transform`.
    classes : sequence of D labels
        The documents' classes.
    n_clusters : int, optional
        As many as there are classes by default.
    kernel : array, (K, K), optional
        How alike topics are, from `topicvec.represent.topic_kernel`: documents whose topics are
        alike are then near each other, see `topicvec.represent.mixture_points`.
    random_state : int, RandomState or None
        Seed of the start, the best of ten.

    Returns
    -------
    ClusterScore

    Examples
    --------
    >>> proportions = [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]]
    >>> kmeans_clusters(proportions, ["cat", "cat", "car", "car"])
    ClusterScore(purity=1.0, nmi=1.0, n_clusters=2)
    """
    from sklearn.cluster import KMeans

    rows = _checked(proportions)
    if kernel is not None:
        rows = mixture_points(rows, kernel)
    number = len(set(classes)) if n_clusters is None else n_clusters
    if not 1 <= number <= len(rows):
        raise DataError(f"n_clusters must be between 1 and {len(rows)}; found {number}")
    model = KMeans(number, n_init=10, random_state=random_state)
    return cluster_score(model.fit_predict(rows), classes)


def _checked(proportions: ArrayLike) -> NDArray[np.float64]:
    rows = np.asarray(proportions, dtype=float)
    if rows.ndim != 2 or rows.size == 0:
        raise DataError(f"expected proportions (documents, topics); found the shape {rows.shape}")
    return rows


def _contingency(clusters: Labels, classes: Labels) -> NDArray[np.int64]:
    """Count the documents of each cluster (rows) and class (columns)."""
    rows, row = np.unique(clusters, return_inverse=True)
    columns, column = np.unique(classes, return_inverse=True)
    table = np.zeros((len(rows), len(columns)), np.int64)
    np.add.at(table, (row, column), 1)
    return table


def _nmi(joint: NDArray[np.float64]) -> float:
    """Mutual information over the mean entropy; 1 if there is one cluster and one class."""
    by_cluster, by_class = joint.sum(axis=1), joint.sum(axis=0)
    mean_entropy = (_entropy(by_cluster) + _entropy(by_class)) / 2
    if mean_entropy == 0:
        return 1.0
    information = _entropy(by_cluster) + _entropy(by_class) - _entropy(joint.ravel())
    return float(np.clip(information / mean_entropy, 0, 1))


def _entropy(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive @ np.log(positive)))

"""Classes by the nearest training documents: word mover's and topic mover's distance."""

from abc import abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_whole
from topicvec.embed.kernels import compiled
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import one_blas_thread
from topicvec.errors import DataError
from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import represent
from topicvec.represent.kernels import solve
from topicvec.represent.transport import nearest_by_transport
from topicvec_bench.base import Baseline, Floats, Ints, TokenLists, checked
from topicvec_bench.tokens import number_tokens

__all__ = [
    "Neighbours",
    "TopicMover",
    "WordMover",
    "exact_costs",
    "relaxed_costs",
    "word_bags",
    "word_costs",
]

Found = tuple[Ints, Floats]


class Neighbours(Baseline):
    """Base of methods that look at the classes of the nearest training documents.

    Attributes
    ----------
    classes_ : array of str, (C,)
        The classes, sorted.

    Examples
    --------
    >>> issubclass(WordMover, Neighbours)
    True
    """

    n_neighbors: int
    classes_: NDArray[np.str_]

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:
        """Keep the documents and their classes."""
        check_whole("n_neighbors", self.n_neighbors, 1)
        lists = checked(documents)
        if y is None or len(y) != len(lists):
            raise DataError(
                f"expected a class for each of the {len(lists)} documents; found "
                f"{'none' if y is None else len(y)}: neighbours vote for their classes"
            )
        self.classes_, self.labels_ = np.unique(np.asarray(y), return_inverse=True)
        self._keep(lists)
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Count the votes (D, C) of the nearest training documents for their classes."""
        return self._votes(*self._find(documents))[0]

    def fit_transform(self, documents: TokenLists, y: Sequence[str] | None = None) -> Floats:
        """Keep documents and count the votes (D, C) of the others for each of them."""
        self.fit(documents, y)
        rows, distances = self._nearest(checked(documents), self.n_neighbors + 1)
        own = rows == np.arange(len(rows))[:, None]
        own[:, -1] |= ~own.any(axis=1)  # so many equals that it is not among them itself
        shape = (len(rows), rows.shape[1] - 1)
        return self._votes(rows[~own].reshape(shape), distances[~own].reshape(shape))[0]

    def predict(self, documents: TokenLists) -> NDArray[np.str_]:
        """Name the class (D,) with the most votes; of equals the one with the nearest voters.

        A document without a known word has no neighbours and is of the most frequent class.
        """
        votes, distances = self._votes(*self._find(documents))
        scores = votes - 0.5 * distances / max(float(distances.max()), 1e-300)
        found = np.where(
            votes.any(axis=1), scores.argmax(axis=1), np.bincount(self.labels_).argmax()
        )
        return np.asarray(self.classes_[found])

    def _find(self, documents: TokenLists) -> Found:
        check_is_fitted(self)
        return self._nearest(checked(documents), self.n_neighbors)

    def _votes(self, rows: Ints, distances: Floats) -> tuple[Floats, Floats]:
        """Give votes and summed distances (D, C); rows of −1 do not vote."""
        document, voter = np.nonzero(rows >= 0)
        label = self.labels_[rows[document, voter]]
        votes, sums = np.zeros((2, len(rows), len(self.classes_)))
        np.add.at(votes, (document, label), 1.0)
        np.add.at(sums, (document, label), distances[document, voter])
        return votes, sums

    @abstractmethod
    def _keep(self, documents: list[list[str]]) -> None:
        """Make training documents ready."""

    @abstractmethod
    def _nearest(self, documents: list[list[str]], n: int) -> Found:
        """Give rows and distances (D, n) of the nearest training documents; −1 if there is none."""


class TopicMover(Neighbours):
    """Neighbours by the topic mover's distance, between mixtures of a topic model without classes.

    Parameters
    ----------
    n_topics : int
        Number of topics; the null topic is one of them.
    vectors : WordVectors or path, optional
        By default those that come with the package.
    n_neighbors : int
        Training documents that vote.
    keep : int
        The largest topics of each document that are looked at.
    random_state : int
        Seed.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], 3 * np.eye(3)[[0, 0, 1]], [1, 1, 1])
    >>> model = TopicMover(3, vectors, n_neighbors=1).fit([["cat", "dog"], ["car"]], ["a", "b"])
    >>> model.predict([["dog"]]).tolist()
    ['a']
    """

    def __init__(
        self,
        n_topics: int = 100,
        vectors: WordVectors | str | PathLike[str] | None = None,
        *,
        n_neighbors: int = 5,
        keep: int = 8,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.n_neighbors = n_neighbors
        self.keep = keep
        self.random_state = random_state

    def _keep(self, documents: list[list[str]]) -> None:
        self.model_ = TopicVec(
            self.n_topics - 1,  # which has the null topic beside them
            "general" if self.vectors is None else self.vectors,
            stop_words=None,
            random_state=self.random_state,
        ).fit(documents)
        self.mixtures_, self.has_words_ = self._mixtures(documents)

    def _nearest(self, documents: list[list[str]], n: int) -> Found:
        asked, has_words = self._mixtures(documents)
        rows, distances = nearest_by_transport(
            self.model_, asked, self.mixtures_, n, keep=self.keep
        )
        rows[~has_words] = -1
        return rows, distances

    def _mixtures(self, documents: list[list[str]]) -> tuple[Floats, NDArray[np.bool_]]:
        """Give proportions (D, K) without a prior, and which documents have a known word."""
        counts = represent(self.model_, documents, "counts", prior=False).astype(float)
        has_words = counts.sum(axis=1) > 0
        counts[~has_words, 0] = 1  # the null topic
        return counts / counts.sum(axis=1, keepdims=True), has_words


class WordMover(Neighbours):
    """Neighbours by the word mover's distance (Kusner et al. 2015).

    The training documents whose mean vectors are nearest are bounded by the relaxed distance, and
    the exact one is computed for the best of these.

    Parameters
    ----------
    vectors : WordVectors or path, optional
        By default those that come with the package.
    n_neighbors : int
        Training documents that vote.
    n_prefetched : int
        Training documents that are looked at, the nearest by mean vectors.
    n_exact : int
        For how many of these, the nearest by the relaxed distance, the exact one is computed.
    most_words : int
        Different words of a document that are looked at, the most frequent.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3)[[0, 0, 1]], [1, 1, 1])
    >>> model = WordMover(vectors, n_neighbors=1).fit([["cat"], ["car"]], ["a", "b"])
    >>> model.predict([["dog"]]).tolist()
    ['a']
    """

    def __init__(
        self,
        vectors: WordVectors | str | PathLike[str] | None = None,
        *,
        n_neighbors: int = 5,
        n_prefetched: int = 300,
        n_exact: int = 20,
        most_words: int = 100,
    ) -> None:
        self.vectors = vectors
        self.n_neighbors = n_neighbors
        self.n_prefetched = n_prefetched
        self.n_exact = n_exact
        self.most_words = most_words

    def _keep(self, documents: list[list[str]]) -> None:
        for name in ("n_prefetched", "n_exact", "most_words"):
            check_whole(name, getattr(self, name), 1)
        self.vectors_ = load_vectors(self.vectors)
        self.bags_ = word_bags(documents, self.vectors_, self.most_words)
        self.rows_ = np.flatnonzero(np.diff(self.bags_.indptr))  # that have a known word
        self.means_ = (self.bags_[self.rows_] @ self.vectors_.matrix).astype(np.float32)
        self.squares_ = (self.means_**2).sum(axis=1)

    @one_blas_thread()
    def _nearest(self, documents: list[list[str]], n: int) -> Found:
        asked = word_bags(documents, self.vectors_, self.most_words)
        n_found = min(n, len(self.rows_))
        rows, distances = (
            np.full((len(documents), n_found), -1),
            np.zeros((len(documents), n_found)),
        )
        for row in np.flatnonzero(np.diff(asked.indptr)):
            rows[row], distances[row] = self._nearest_of(asked[[row]], n_found)
        return rows, distances

    def _nearest_of(self, bag: csr_array, n: int) -> Found:
        mean = (bag.data @ self.vectors_.matrix[bag.indices]).astype(np.float32)
        far = self.squares_ - self.means_ @ (2 * mean)  # squared, but for the query's own square
        near = np.sort(np.argsort(far, kind="stable")[: max(self.n_prefetched, n)])
        rows = self.rows_[near]
        bags, costs = word_costs(bag, self.bags_[rows], self.vectors_)
        relaxed = relaxed_costs(bag.data, bags, costs)
        best = np.argsort(relaxed, kind="stable")[: max(self.n_exact, n)]
        exact = exact_costs(bag.data, bag.indices, bags, costs, best)
        order = np.argsort(exact, kind="stable")[:n]
        return rows[best[order]], exact[order]


def word_bags(documents: TokenLists, vectors: WordVectors, most: int | None = None) -> csr_array:
    """Give shares (D, W) of the known words of documents; of the most frequent ones only.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "cow"], np.eye(3), [1, 1, 1])
    >>> word_bags([["cat", "cat", "dog", "yak"]], vectors).toarray().round(2)
    array([[0.67, 0.33, 0.  ]])
    >>> word_bags([["cat", "cat", "dog", "yak"]], vectors, 1).toarray()
    array([[1., 0., 0.]])
    """
    ids = {word: number for number, word in enumerate(vectors.words)}
    counts = number_tokens(documents, ids).counts(len(vectors)).astype(float)
    for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        shares = counts.data[start:end]  # a view
        if most is not None and len(shares) > most:
            shares[np.argsort(-shares, kind="stable")[most:]] = 0
        shares /= max(shares.sum(), 1.0)
    counts.eliminate_zeros()
    return counts


class Bags(NamedTuple):
    """Bags of D documents as arrays that compiled loops take.

    Attributes
    ----------
    starts : array, (D + 1,)
        Where each bag starts, and the end.
    words : array, (n,)
        Numbers of the words, sorted in each bag.
    places : array, (n,)
        Their columns in a table of costs.
    shares : array, (n,)
        Their shares.

    Examples
    --------
    >>> Bags(np.array([0, 1]), np.array([7]), np.array([0]), np.array([1.0])).words
    array([7])
    """

    starts: Ints
    words: Ints
    places: Ints
    shares: Floats


def word_costs(bag: csr_array, others: csr_array, vectors: WordVectors) -> tuple[Bags, Floats]:
    """Give other bags with the distances (m, U) of a bag's m words to their U different words.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "cow"], [[0.0], [3.0], [4.0]], [1, 1, 1])
    >>> bags = word_bags([["cat"], ["cow", "dog"]], vectors)
    >>> word_costs(bags[[0]], bags[[1]], vectors)[1]
    array([[3., 4.]])
    """
    used, places = np.unique(others.indices, return_inverse=True)
    first, second = vectors.matrix[bag.indices], vectors.matrix[used]
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    costs = np.sqrt(np.maximum(squares, 0)).astype(float)
    costs[bag.indices[:, None] == used] = 0  # not just nearly
    return Bags(others.indptr, others.indices, places, others.data), costs


@compiled
def relaxed_costs(shares: Floats, bags: Bags, costs: Floats) -> Floats:
    """Give the relaxed distance (D,): each word moves to the nearest; the larger direction."""
    found = np.empty(len(bags.starts) - 1)
    for document in range(len(found)):
        nearest = np.full(len(shares), np.inf)
        back = 0.0
        for cell in range(bags.starts[document], bags.starts[document + 1]):
            least = np.inf
            for i in range(len(shares)):
                cost = costs[i, bags.places[cell]]
                least, nearest[i] = min(least, cost), min(nearest[i], cost)
            back += bags.shares[cell] * least
        found[document] = max(back, (shares * nearest).sum())
    return found


@compiled
def exact_costs(shares: Floats, words: Ints, bags: Bags, costs: Floats, documents: Ints) -> Floats:
    """Give the word mover's distance (B,) of some documents; words in common are not moved."""
    found = np.empty(len(documents))
    for row, document in enumerate(documents):
        start, end = bags.starts[document], bags.starts[document + 1]
        numbers = bags.words[start:end]
        supply, demand = shares.copy(), bags.shares[start:end].copy()
        for i in range(len(words)):
            cell = np.searchsorted(numbers, words[i])
            if cell < len(numbers) and numbers[cell] == words[i]:
                common = min(supply[i], demand[cell])
                supply[i] -= common
                demand[cell] -= common
        left, right = np.flatnonzero(supply > 0), np.flatnonzero(demand > 0)
        between = np.empty((len(left), len(right)))
        for i in range(len(left)):
            for j in range(len(right)):
                between[i, j] = costs[left[i], bags.places[start + right[j]]]
        found[row] = solve(supply[left], demand[right], between)
    return found

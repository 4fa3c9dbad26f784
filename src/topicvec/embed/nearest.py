"""Cosines, analogies and the best of many scores: the search behind :class:`WordVectors`."""

import difflib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.errors import DataError, VocabularyMismatch

__all__ = ["AnalogyMethod", "VectorSearch", "analogy_scores", "best", "inverse_norms"]

AnalogyMethod = Literal["add", "mul"]

Floats = NDArray[np.floating]


def inverse_norms(matrix: Floats) -> NDArray[np.float32]:
    """Return one over the length of each row, and 0 for a row of zeros.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_dims)

    Returns
    -------
    ndarray of shape (n_rows,), float32

    Examples
    --------
    >>> inverse_norms(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([0.2, 0. ], dtype=float32)
    """
    # In float64: the squares of very small or large float32 numbers leave its range.
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return np.asarray(inverse, dtype=np.float32)


def cosines(matrix: Floats, inverse: NDArray[np.float32], query: Floats) -> NDArray[np.float32]:
    """Return the cosine of every row with one vector.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_dims)
    inverse : ndarray of shape (n_rows,)
        From :func:`inverse_norms`.
    query : ndarray of shape (n_dims,)

    Returns
    -------
    ndarray of shape (n_rows,), float32

    Examples
    --------
    >>> rows = np.eye(2, dtype=np.float32)
    >>> cosines(rows, inverse_norms(rows), np.array([5.0, 0.0]))
    array([1., 0.], dtype=float32)
    """
    unit = query * inverse_norms(query[None])[0]
    scores: NDArray[np.float32] = (matrix @ unit.astype(np.float32)) * inverse
    return scores.clip(-1, 1, out=scores)


def analogy_scores(a: Floats, b: Floats, c: Floats, method: AnalogyMethod) -> Floats:
    """Score candidates x for "a is to b as c is to x" from their three cosines.

    Parameters
    ----------
    a, b, c : ndarray, all of one shape
        Cosines of the candidates with the three question words.
    method : {"add", "mul"}
        3CosAdd or 3CosMul.

    Returns
    -------
    ndarray of the same shape

    Notes
    -----
    3CosAdd = b − a + c; 3CosMul = (b + 1)(c + 1) / (a + 1.001).

    Examples
    --------
    >>> a, b, c = np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([1.0, 0.0])
    >>> analogy_scores(a, b, c, "add")
    array([ 2., -1.])
    >>> analogy_scores(a, b, c, "mul").round(2)
    array([4. , 0.5])
    """
    if method == "add":
        return b - a + c
    if method == "mul":
        return (b + 1) * (c + 1) / (a + 1.001)
    raise DataError(f'method must be "add" (3CosAdd) or "mul" (3CosMul), found {method!r}')


def best(scores: Floats, n: int) -> NDArray[np.intp]:
    """Return the places of the n highest scores, best first, the earlier first among equals.

    Scores of minus infinity are left out.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,)
    n : int

    Returns
    -------
    ndarray of shape (at most n,), intp

    Examples
    --------
    >>> best(np.array([0.5, 2.0, -np.inf, 2.0]), 3)
    array([1, 3, 0])
    """
    if n < 1:
        raise DataError(f"n must be at least 1, found {n}")
    n = min(n, len(scores))
    threshold = np.partition(scores, -n)[-n]
    places = np.flatnonzero((scores >= threshold) & (scores > -np.inf))
    order = np.argsort(-scores[places], kind="stable")
    return places[order[:n]]


def close_words(word: str, words: Sequence[str], n: int = 3) -> list[str]:
    """Return words that look like the given one; a quick guess, for error messages.

    Parameters
    ----------
    word : str
    words : sequence of str
        The earlier ones are preferred.
    n : int
        How many at most.

    Returns
    -------
    list of str

    Examples
    --------
    >>> close_words("Colour", ["cat", "colour", "colours"])
    ['colour', 'colours']
    """
    folded = word.casefold()
    near = [
        other
        for other in words
        if abs(len(other) - len(word)) <= 2 and other[:1].casefold() == folded[:1]
    ]
    return difflib.get_close_matches(folded, near[:2000], n)


class VectorSearch:
    """The questions that :class:`~topicvec.embed.vectors.WordVectors` answers by cosine.

    Examples
    --------
    >>> from topicvec.embed.vectors import WordVectors
    >>> isinstance(WordVectors(["cat"], [[1]], [1]), VectorSearch)
    True
    """

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    unigram: NDArray[np.float64]

    @property
    @abstractmethod
    def ids(self) -> Mapping[str, int]:
        """Each word's row."""

    def nearest(
        self, query: str | ArrayLike, n: int = 10, *, restrict: int | None = None
    ) -> list[tuple[str, float]]:
        """Return the words of highest cosine with a word or a vector.

        Parameters
        ----------
        query : str or array of shape (n_dims,)
            A word is not its own neighbour.
        n : int
            How many.
        restrict : int, optional
            Look only among so many most frequent words.

        Returns
        -------
        list of (str, float)
            Words and cosines, best first.

        Examples
        --------
        >>> from topicvec.embed.vectors import WordVectors
        >>> vectors = WordVectors(["cat", "dog", "car"], [[1, 0], [0.8, 0.6], [0, 2]], [2, 1, 1])
        >>> vectors.nearest("car", n=1)
        [('dog', 0.6...)]
        """
        scores = self._cosines(self.matrix[self._id(query)] if isinstance(query, str) else query)
        excluded = [self._id(query)] if isinstance(query, str) else []
        return self._ranked(scores, excluded, n, restrict)

    def analogy(
        self,
        a: str,
        b: str,
        c: str,
        n: int = 1,
        *,
        method: AnalogyMethod = "add",
        restrict: int | None = None,
    ) -> list[tuple[str, float]]:
        """Answer "a is to b as c is to …".

        Parameters
        ----------
        a, b, c : str
            The three are no answers.
        n : int
            How many answers.
        method : {"add", "mul"}
            3CosAdd or 3CosMul, see :func:`topicvec.embed.nearest.analogy_scores`.
        restrict : int, optional
            Look only among so many most frequent words.

        Returns
        -------
        list of (str, float)
            Words and scores, best first.

        Examples
        --------
        >>> from topicvec.embed.vectors import WordVectors
        >>> words = ["man", "king", "woman", "queen", "car"]
        >>> matrix = [[1, 0, 1], [1, 1, 1], [1, 0, -1], [1, 1, -1], [-1, 0, 0]]
        >>> vectors = WordVectors(words, matrix, [1] * 5)
        >>> vectors.analogy("man", "king", "woman")
        [('queen', 1.14...)]
        """
        to_a, to_b, to_c = (self._cosines(self.matrix[self._id(word)]) for word in (a, b, c))
        scores = analogy_scores(to_a, to_b, to_c, method)
        return self._ranked(scores, [self._id(word) for word in (a, b, c)], n, restrict)

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of two words.

        Parameters
        ----------
        a, b : str

        Returns
        -------
        float

        Examples
        --------
        >>> from topicvec.embed.vectors import WordVectors
        >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [3, 4]], [1, 1])
        >>> round(vectors.similarity("cat", "dog"), 6)
        0.6
        """
        rows = self.matrix[[self._id(a), self._id(b)]]
        return float(cosines(rows, inverse_norms(rows), rows[0])[1])

    @cached_property
    def _inverse_norms(self) -> NDArray[np.float32]:
        return inverse_norms(self.matrix)

    def _id(self, word: str) -> int:
        try:
            return self.ids[word]
        except KeyError:
            close = ", ".join(map(repr, close_words(word, self.words)))
            advice = f"did you mean {close}?" if close else "check spelling and letter case"
            raise VocabularyMismatch(
                f"no vector for {word!r} among {len(self.words):,} words: {advice}"
            ) from None

    def _cosines(self, query: ArrayLike) -> NDArray[np.float32]:
        n_dims = self.matrix.shape[1]
        vector = np.asarray(query, dtype=np.float64)
        if vector.shape != (n_dims,) or not np.isfinite(vector).all():
            raise DataError(
                f"expected a word or a vector of {n_dims} finite numbers, found an array of "
                f"shape {vector.shape}"
            )
        return cosines(self.matrix, self._inverse_norms, vector)

    def _ranked(
        self, scores: NDArray[np.floating], excluded: Sequence[int], n: int, restrict: int | None
    ) -> list[tuple[str, float]]:
        allowed = np.ones(len(self.words), dtype=bool)
        if restrict is not None:
            allowed[:] = False
            allowed[best(self.unigram, restrict)] = True
        allowed[list(excluded)] = False
        order = best(np.where(allowed, scores, -np.inf), n)
        return [(self.words[i], float(scores[i])) for i in order]

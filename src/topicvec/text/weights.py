"""Weights on words and documents."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from topicvec.errors import DataError

__all__ = ["inverse_document_frequency", "resolve_term_weights", "weigh"]

Floats = npt.NDArray[np.float64]


def inverse_document_frequency(
    document_frequencies: npt.ArrayLike, n_documents: int
) -> npt.NDArray[np.float64]:
    """Weigh words by how few documents have them.

    Parameters
    ----------
    document_frequencies : array_like of shape (n_words,)
        In how many documents each word occurs.
    n_documents : int
        Number of documents.

    Returns
    -------
    ndarray of shape (n_words,), float64
        ``log((1 + n_documents) / (1 + document_frequencies)) + 1``, as in scikit-learn: 1 for a
        word that is everywhere, and finite for one that is nowhere.

    Examples
    --------
    >>> inverse_document_frequency([3, 0], 3).round(3)
    array([1.   , 2.386])
    """
    weights: Floats = np.log((1 + n_documents) / (1.0 + np.asarray(document_frequencies))) + 1
    return weights


def weigh(
    counts: csr_array,
    term_weights: npt.ArrayLike | None = None,
    document_weights: npt.ArrayLike | None = None,
) -> csr_array:
    """Multiply counts by a weight for each word, each document, or both.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        Left as it is.
    term_weights : array_like of shape (n_words,), optional
        Finite and not negative.
    document_weights : array_like of shape (n_documents,), optional
        Finite and not negative.

    Returns
    -------
    csr_array of shape (n_documents, n_words), float64
        ``counts[d, w] * document_weights[d] * term_weights[w]``; zero weights stay as entries.

    Examples
    --------
    >>> weigh(csr_array([[2, 1]]), term_weights=[1, 0.5], document_weights=[10]).toarray()
    array([[20.,  5.]])
    """
    values = counts.data.astype(np.float64)
    if term_weights is not None:
        values *= _checked(term_weights, "term_weights", counts.shape[1])[counts.indices]
    if document_weights is not None:
        weights = _checked(document_weights, "document_weights", counts.shape[0])
        values *= np.repeat(weights, np.diff(counts.indptr))
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape, copy=True)


def resolve_term_weights(
    term_weights: Mapping[str, float] | npt.ArrayLike, words: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Bring weights that a user gave into the order of the words.

    Parameters
    ----------
    term_weights : mapping or array_like of shape (n_words,)
        A mapping from word to weight, 1 for those it lacks; or a weight for each word.
    words : sequence of str
        The words.

    Returns
    -------
    ndarray of shape (n_words,), float64
        Finite and not negative.

    Examples
    --------
    >>> resolve_term_weights({"cat": 2}, ["cat", "dog"])
    array([2., 1.])
    """
    if isinstance(term_weights, Mapping):
        term_weights = [float(term_weights.get(word, 1)) for word in words]
    return _checked(term_weights, "term_weights", len(words))


def _checked(weights: npt.ArrayLike, name: str, length: int) -> Floats:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (length,):
        raise DataError(f"{name} must have shape ({length},); found {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise DataError(f"{name} must be finite and not negative; clean the weights first")
    return array

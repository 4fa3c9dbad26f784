"""What a record of word vectors refuses, each with its reason."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.errors import DataError

__all__ = ["checked_matrix", "checked_metadata", "checked_unigram", "checked_words"]

BLOCK_ROWS = 4096

Array = TypeVar("Array", bound=np.ndarray)


def checked_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words if there are any, all are str, and none repeats.

    Parameters
    ----------
    words : tuple of str

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> checked_words(("cat", "cat"))
    Traceback (most recent call last):
    topicvec.errors.DataError: expected each word once, found 'cat' 2 times: remove the repeats
    """
    if not words:
        raise DataError("expected at least one word, found none")
    other = next((word for word in words if not isinstance(word, str)), None)
    if other is not None:
        raise DataError(f"expected words as str, found {other!r} ({type(other).__name__})")
    if len(set(words)) != len(words):
        word, count = Counter(words).most_common(1)[0]
        raise DataError(
            f"expected each word once, found {word!r} {count} times: remove the repeats"
        )
    return words


def checked_matrix(matrix: ArrayLike, words: tuple[str, ...]) -> NDArray[np.float32]:
    """Return the matrix as read-only float32 if it has a row of finite numbers for each word.

    A memory map is not read through.

    Parameters
    ----------
    matrix : array of shape (n_words, n_dims)
    words : tuple of str

    Returns
    -------
    ndarray of shape (n_words, n_dims), float32

    Examples
    --------
    >>> checked_matrix([[1.0, 2.0]], ("cat", "dog"))
    Traceback (most recent call last):
    topicvec.errors.DataError: expected a matrix of 2 rows, one a word, and at least one column,
    found shape (1, 2)
    """
    array = np.asanyarray(matrix, dtype=np.float32, order="C")
    if array.ndim != 2 or array.shape[0] != len(words) or not array.shape[1]:
        raise DataError(
            f"expected a matrix of {len(words)} rows, one a word, and at least one column, found "
            f"shape {array.shape}"
        )
    if not isinstance(array, np.memmap):
        for start in range(0, len(array), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            _check_finite(array[rows], words[rows])
    return _read_only(array)


def checked_unigram(unigram: ArrayLike, words: tuple[str, ...]) -> NDArray[np.float64]:
    """Return probabilities that sum to 1, read-only, from positive counts or probabilities.

    Parameters
    ----------
    unigram : array of shape (n_words,)
    words : tuple of str

    Returns
    -------
    ndarray of shape (n_words,), float64

    Examples
    --------
    >>> checked_unigram([3, 1], ("cat", "dog"))
    array([0.75, 0.25])
    >>> checked_unigram([3, 0], ("cat", "dog"))
    Traceback (most recent call last):
    topicvec.errors.DataError: expected a positive count or probability for each word, found 0.0
    for 'dog'
    """
    array = np.asarray(unigram, dtype=np.float64)
    if array.shape != (len(words),):
        raise DataError(
            f"expected {len(words)} counts or probabilities, one a word, found shape {array.shape}"
        )
    good = np.isfinite(array) & (array > 0)
    if not good.all():
        wrong = int(good.argmin())
        raise DataError(
            "expected a positive count or probability for each word, found "
            f"{array[wrong]} for {words[wrong]!r}"
        )
    total = array.sum()
    # Probabilities are kept to the bit, so that saving and loading changes nothing.
    return _read_only(array if abs(total - 1) < 1e-9 else array / total)


def checked_metadata(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Return a read-only copy of the metadata if all is text.

    Parameters
    ----------
    metadata : mapping of str to str

    Returns
    -------
    mapping of str to str

    Examples
    --------
    >>> checked_metadata({"year": 2015})
    Traceback (most recent call last):
    topicvec.errors.DataError: expected metadata as str, found 'year': 2015: convert it with str()
    """
    for key, value in metadata.items():
        if not (isinstance(key, str) and isinstance(value, str)):
            raise DataError(
                f"expected metadata as str, found {key!r}: {value!r}: convert it with str()"
            )
    return MappingProxyType(dict(metadata))


def _check_finite(block: NDArray[np.float32], words: tuple[str, ...]) -> None:
    finite = np.isfinite(block)
    if not finite.all():
        word = words[int(finite.all(axis=1).argmin())]
        raise DataError(f"expected finite numbers, found nan or infinity in the vector of {word!r}")


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view

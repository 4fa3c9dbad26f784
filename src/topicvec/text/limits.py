"""Which words are frequent enough, and not too frequent, to keep."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt

from topicvec.errors import DataError
from topicvec.text.counting import Tally

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the frequency of words.

    Parameters
    ----------
    min_count : int
        Keep words that occur at least so often.
    min_doc_frequency, max_doc_frequency : int or float
        Keep words that occur in at least, at most so many documents; an int is a number of
        documents, a float their share.
    max_words : int, optional
        Keep only so many, the most frequent.

    Examples
    --------
    >>> total = Tally(["the", "cat", "dog"], np.array([9, 2, 5]), np.array([4, 2, 2]), 4)
    >>> Limits(max_doc_frequency=0.5).select(total)
    array([2, 1])
    """

    min_count: int = 1
    min_doc_frequency: int | float = 1
    max_doc_frequency: int | float = 1.0
    max_words: int | None = None

    def __post_init__(self) -> None:
        _check_number("min_count", self.min_count)
        if self.max_words is not None:
            _check_number("max_words", self.max_words)
        _check_frequency("min_doc_frequency", self.min_doc_frequency)
        _check_frequency("max_doc_frequency", self.max_doc_frequency)

    def select(self, tally: Tally) -> npt.NDArray[np.int64]:
        """Choose words and put them in order.

        Parameters
        ----------
        tally : Tally
            The totals of a corpus.

        Returns
        -------
        ndarray of int64
            Positions of the words to keep, by decreasing count and then by word.
        """
        frequencies = tally.document_frequencies
        kept = (
            (tally.counts >= self.min_count)
            & (frequencies >= _documents(self.min_doc_frequency, tally.n_documents))
            & (frequencies <= _documents(self.max_doc_frequency, tally.n_documents))
        )
        counts, words = tally.counts, tally.words
        order = sorted(np.flatnonzero(kept).tolist(), key=lambda i: (-counts[i], words[i]))
        if not order:
            raise DataError(
                f"no word is left: none of {len(words)} distinct words is within {self}; "
                "loosen the limits, or check that the documents have words"
            )
        return np.array(order[: self.max_words], dtype=np.int64)


def _documents(frequency: int | float, n_documents: int) -> float:
    return frequency if isinstance(frequency, Integral) else frequency * n_documents


def _check_number(name: str, value: int) -> None:
    if not isinstance(value, Integral) or value < 1:
        raise DataError(f"{name} must be a whole number of at least 1; found {value!r}")


def _check_frequency(name: str, value: int | float) -> None:
    if isinstance(value, Integral):
        _check_number(name, int(value))
    elif not 0 <= value <= 1:
        raise DataError(
            f"{name} must be a number of documents (int) or a share from 0.0 to 1.0 (float); "
            f"found {value!r}"
        )

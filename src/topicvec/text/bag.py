"""Counts of known words for each document, and an account of what is not in them."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from topicvec.errors import DataError, OutOfVocabularyWarning, warn
from topicvec.text.counting import ChunkCounts, chunked, count_tokens
from topicvec.text.vocabulary import Vocabulary

__all__ = ["Bag", "BagBuilder", "BagReport", "announce", "bag_of_words"]

logger = logging.getLogger(__name__)

_SHOWN = 5
_INT32_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class BagReport:
    """What went into a bag and what did not.

    Attributes
    ----------
    n_documents, n_tokens, n_unknown : int
        Documents, words in them (stop words left out), and how many of these are unknown.
    unknown : Mapping of str to int
        The most frequent unknown words with their counts.
    empty_rows : ndarray of int64
        Rows of documents without a known word, read-only.
    empty_ids : tuple of str
        Names of the first of them.

    Examples
    --------
    >>> print(BagReport(1, 4, 1, Counter(yak=1), np.array([], dtype=int), ()))
    1 documents, 4 words, 1 of them (25.0%) unknown: yak 1
    """

    n_documents: int
    n_tokens: int
    n_unknown: int
    unknown: Mapping[str, int]
    empty_rows: npt.NDArray[np.int64]
    empty_ids: tuple[str, ...]

    def __str__(self) -> str:
        most = [f"{word} {n}" for word, n in Counter(self.unknown).most_common(_SHOWN)]
        text = f"{self.n_documents} documents, {self.n_tokens} words, {self.n_unknown} of them "
        text += f"({self.unknown_share:.1%}) unknown" + (f": {', '.join(most)}" if most else "")
        return f"{text}; {self.empty_message()}" if len(self.empty_rows) else text

    @property
    def unknown_share(self) -> float:
        """Part of the words that is unknown."""
        return self.n_unknown / max(self.n_tokens, 1)

    def unknown_message(self) -> str:
        """Say how many words are unknown, and which most often.

        Examples
        --------
        >>> BagReport(1, 8, 2, {"yak": 1, "gnu": 1}, np.array([]), ()).unknown_message()
        '25.0% of the words are unknown, most often: gnu, yak'
        """
        frequent = sorted(self.unknown, key=lambda word: (-self.unknown[word], word))[:_SHOWN]
        most = f", most often: {', '.join(frequent)}" if frequent else ""
        return f"{self.unknown_share:.1%} of the words are unknown{most}"

    def empty_message(self, fate: str = "kept as all-zero rows") -> str:
        """Say how many documents have no known word, what is done with them, and some names.

        Parameters
        ----------
        fate : str
            What is done with these documents, after "and are".

        Returns
        -------
        str

        Examples
        --------
        >>> report = BagReport(1, 0, 0, {}, np.array([0]), ("a.txt",))
        >>> report.empty_message()
        '1 of 1 documents have no known word and are kept as all-zero rows: a.txt'
        >>> report.empty_message("left out")
        '1 of 1 documents have no known word and are left out: a.txt'
        """
        more = ", …" if len(self.empty_rows) > len(self.empty_ids) else ""
        return (
            f"{len(self.empty_rows)} of {self.n_documents} documents have no known word "
            f"and are {fate}: {', '.join(self.empty_ids)}{more}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Bag(BagReport):
    """Word counts of a corpus, and the report of what is not in them.

    Attributes
    ----------
    counts : csr_array of shape (n_documents, n_words), int32
        How often each document has each word; indices sorted.

    Examples
    --------
    >>> bag = bag_of_words([["cat", "yak", "cat"]], Vocabulary(["cat"], [2]))
    >>> bag.counts.toarray(), bag.n_tokens, bag.n_unknown, dict(bag.unknown)
    (array([[2]], dtype=int32), 3, 1, {'yak': 1})
    """

    counts: csr_array

    @property
    def report(self) -> BagReport:
        """What is not in the counts."""
        return self


def bag_of_words(
    token_lists: Iterable[Sequence[str]], vocabulary: Vocabulary, *, max_unknown: int = 100_000
) -> Bag:
    """Count known words in a stream of token lists; memory holds little but the counts.

    Parameters
    ----------
    token_lists : iterable of sequences of str
        The words of each document.
    vocabulary : Vocabulary
        The known words, the columns of the result.
    max_unknown : int
        How many distinct unknown words to keep an account of. Beyond it the rarest are let go
        now and then, so counts may be too low; `Bag.n_unknown` is always exact.

    Returns
    -------
    Bag
        A row for each document, also for one without a known word.

    Warns
    -----
    OutOfVocabularyWarning
        If documents have no known word.

    Examples
    --------
    >>> vocabulary = Vocabulary(["cat", "dog"], [2, 1])
    >>> bag_of_words([["dog", "cat"], ["cat"]], vocabulary).counts.toarray()
    array([[1, 1], [1, 0]], dtype=int32)
    """
    builder = BagBuilder(max_unknown)
    for chunk in map(count_tokens, chunked(token_lists)):
        builder.add(chunk, vocabulary.ids)
    bag = builder.build(len(vocabulary))
    announce(bag.report)
    return bag


def announce(report: BagReport) -> None:
    """Log a report, and warn if documents have no known word.

    Examples
    --------
    >>> announce(BagReport(1, 4, 0, {}, np.array([], dtype=int), ()))
    """
    logger.info("%s", report)
    if len(report.empty_rows):
        warn(report.empty_message(), OutOfVocabularyWarning)


class BagBuilder:
    """Puts chunks of counts below each other; the one mutable thing here.

    Parameters
    ----------
    max_unknown : int
        As in `bag_of_words`.

    Examples
    --------
    >>> builder = BagBuilder()
    >>> builder.add(count_tokens([["cat"], ["dog", "dog"]]), {"dog": 0})
    >>> builder.build(1).counts.toarray().ravel(), builder.unknown
    (array([0, 2], dtype=int32), Counter({'cat': 1}))
    """

    def __init__(self, max_unknown: int = 100_000) -> None:
        self.max_unknown = max_unknown
        self.unknown: Counter[str] = Counter()
        self.n_tokens = self.n_unknown = 0
        # Growing byte arrays become the arrays of the matrix as they are: joining a list of
        # pieces at the end would need twice the memory (test_streaming_memory).
        self._columns, self._values, self._lengths = bytearray(), bytearray(), bytearray()
        self._empty_ids: list[str] = []

    def add(self, chunk: ChunkCounts, ids: Mapping[str, int]) -> None:
        """Append the rows of a chunk.

        Parameters
        ----------
        chunk : ChunkCounts
            Some documents.
        ids : mapping of str to int
            Column of each known word.
        """
        columns = np.array([ids.get(word, -1) for word in chunk.words], dtype=np.int32)
        totals, missing = chunk.counts.sum(axis=0), np.flatnonzero(columns < 0)
        self.n_tokens += int(totals.sum())
        self.n_unknown += int(totals[missing].sum())
        self.unknown.update({chunk.words[i]: int(totals[i]) for i in missing})
        if len(self.unknown) > 2 * self.max_unknown:
            self.unknown = Counter(dict(self.unknown.most_common(self.max_unknown)))
        known = chunk.counts[:, np.flatnonzero(columns >= 0)]
        known.indices = columns[columns >= 0][known.indices]
        known.has_sorted_indices = False
        known.sort_indices()
        lengths = np.diff(known.indptr).astype(np.int32)
        n_before = len(self._lengths) // 4
        for row in np.flatnonzero(lengths == 0)[: _SHOWN - len(self._empty_ids)]:
            self._empty_ids.append(chunk.ids[row] if chunk.ids else f"row {n_before + row}")
        self._columns += known.indices.astype(np.int32, copy=False).tobytes()
        self._values += known.data.tobytes()
        self._lengths += lengths.tobytes()

    def build(self, n_words: int) -> Bag:
        """Finish.

        Parameters
        ----------
        n_words : int
            Number of columns.

        Returns
        -------
        Bag
            All rows added, in order.
        """
        lengths = np.frombuffer(self._lengths, np.int32)
        if len(lengths) == 0:
            raise DataError("the corpus is empty: expected at least one document; found none")
        columns = np.frombuffer(self._columns, np.int32)
        wide = np.int64 if len(columns) > _INT32_MAX else np.int32  # scipy wants one type for both
        starts: npt.NDArray[Any] = np.zeros(len(lengths) + 1, wide)
        np.cumsum(lengths, dtype=wide, out=starts[1:])
        parts = np.frombuffer(self._values, np.int32), columns.astype(wide, copy=False), starts
        empty = np.flatnonzero(lengths == 0)
        empty.setflags(write=False)
        unknown = Counter(dict(self.unknown.most_common(self.max_unknown)))
        facts = len(lengths), self.n_tokens, self.n_unknown, unknown, empty, tuple(self._empty_ids)
        return Bag(*facts, csr_array(parts, shape=(len(lengths), n_words)))

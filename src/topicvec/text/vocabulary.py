"""The words a model knows, with their numbers and frequencies."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from topicvec.errors import DataError, FormatError
from topicvec.files import atomic_write, is_special
from topicvec.text.counting import Limits, Tally, chunked, count_tokens, tally

__all__ = ["Vocabulary"]

_DIGITS = 1000  # a count has fewer


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words with their ids, counts and probabilities; frozen.

    Parameters
    ----------
    words : sequence of str
        Distinct words; the position is the id.
    counts : array_like of shape (n_words,), int
        How often each occurs; zeros are allowed, but not for all. They add to less than 2**63.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_counts({"dog": 1, "cat": 3})
    >>> vocabulary.words, vocabulary.id("dog"), vocabulary.unigram
    (('cat', 'dog'), 1, array([0.75, 0.25]))
    >>> len(vocabulary), "cow" in vocabulary
    (2, False)
    """

    words: tuple[str, ...]
    counts: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        words, counts = tuple(self.words), np.array(self.counts)
        _check(words, counts)
        counts = counts.astype(np.int64)
        counts.setflags(write=False)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], *, min_count: int = 1, max_words: int | None = None
    ) -> "Vocabulary":
        """Make a vocabulary of counted words, most frequent first.

        Parameters
        ----------
        counts : mapping of str to int
            How often each word occurs.
        min_count : int
            Keep words that occur at least so often.
        max_words : int, optional
            Keep only so many, the most frequent.

        Returns
        -------
        Vocabulary
            By decreasing count, words of the same count in order.

        Examples
        --------
        >>> Vocabulary.from_counts({"cow": 2, "dog": 1, "cat": 2}, min_count=2).words
        ('cat', 'cow')
        """
        totals = np.array(list(counts.values()))
        if len(totals):
            _check_counts(totals)
        once = np.ones(len(totals), dtype=np.int64)
        limits = Limits(min_count=min_count, max_words=max_words)
        return cls.from_tally(Tally(list(counts), totals, once, 1), limits)

    @classmethod
    def from_documents(
        cls,
        token_lists: Iterable[Sequence[str]],
        *,
        min_count: int = 1,
        min_doc_frequency: int | float = 1,
        max_doc_frequency: int | float = 1.0,
        max_words: int | None = None,
    ) -> "Vocabulary":
        """Make a vocabulary of the words of a corpus, in one pass over it.

        Parameters
        ----------
        token_lists : iterable of sequences of str
            The words of each document; a stream will do.
        min_count, min_doc_frequency, max_doc_frequency, max_words
            Which words to keep, see `topicvec.text.counting.Limits`.

        Returns
        -------
        Vocabulary
            By decreasing count, words of the same count in order.

        Examples
        --------
        >>> corpus = [["the", "cat"], ["the", "dog"], ["the", "cat"]]
        >>> Vocabulary.from_documents(corpus, max_doc_frequency=0.9).words
        ('cat', 'dog')
        """
        limits = Limits(min_count, min_doc_frequency, max_doc_frequency, max_words)
        return cls.from_tally(tally(map(count_tokens, chunked(token_lists))), limits)

    @classmethod
    def from_tally(cls, totals: Tally, limits: Limits) -> "Vocabulary":
        """Make a vocabulary of the totals of a corpus.

        Parameters
        ----------
        totals : Tally
            All words with their counts.
        limits : Limits
            Which of them to keep.

        Returns
        -------
        Vocabulary
            By decreasing count, words of the same count in order.

        Examples
        --------
        >>> total = Tally(["the", "cat", "dog"], np.array([9, 2, 5]), np.array([4, 2, 2]), 4)
        >>> Vocabulary.from_tally(total, Limits(max_doc_frequency=0.5)).words
        ('dog', 'cat')
        """
        least, most = (
            limit if isinstance(limit, (int, np.integer)) else limit * totals.n_documents
            for limit in (limits.min_doc_frequency, limits.max_doc_frequency)
        )
        words, counts, frequencies, _ = totals
        kept = (counts >= limits.min_count) & (frequencies >= least) & (frequencies <= most)
        order = sorted(np.flatnonzero(kept).tolist(), key=lambda i: (-counts[i], words[i]))
        if not order:
            raise DataError(
                f"no word is left: none of {len(words)} distinct words is within {limits}; "
                "loosen the limits, or check that the documents have words"
            )
        chosen = order[: limits.max_words]
        return cls(tuple(words[number] for number in chosen), counts[chosen])

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """Mapping from word to id, read-only.

        Examples
        --------
        >>> Vocabulary(["cat", "dog"], [1, 1]).ids["dog"]
        1
        """
        return MappingProxyType({word: number for number, word in enumerate(self.words)})

    @cached_property
    def unigram(self) -> npt.NDArray[np.float64]:
        """Probability of each word, float64 of shape (n_words,), summing to 1, read-only.

        Examples
        --------
        >>> Vocabulary(["cat", "dog"], [3, 1]).unigram
        array([0.75, 0.25])
        """
        unigram: npt.NDArray[np.float64] = self.counts / self.counts.sum()
        unigram.setflags(write=False)
        return unigram

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.words == other.words and bool(np.array_equal(self.counts, other.counts))

    def __hash__(self) -> int:
        return hash(self.words)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self.words, self.counts)  # a mapping proxy does not pickle

    def __repr__(self) -> str:
        first = ", ".join(self.words[:3])
        return f"Vocabulary({len(self)} words: {first}{', …' if len(self) > 3 else ''})"

    def id(self, word: str) -> int:
        """Return the id of a word.

        Parameters
        ----------
        word : str
            A word of the vocabulary.

        Returns
        -------
        int
            Its position in `words`.

        Examples
        --------
        >>> Vocabulary(["cat"], [1]).id("dog")
        Traceback (most recent call last):
        topicvec.errors.DataError: 'dog' is not among the 1 words of the vocabulary; ...
        """
        if word not in self.ids:
            raise DataError(
                f"{word!r} is not among the {len(self)} words of the vocabulary; "
                "check with `word in vocabulary` (the default tokenizer lower-cases)"
            )
        return self.ids[word]

    def restrict(self, words: Iterable[str]) -> "Vocabulary":
        """Keep only the words given; their order and counts stay.

        Parameters
        ----------
        words : iterable of str
            Words to keep; those not in the vocabulary have no effect.

        Returns
        -------
        Vocabulary
            The words in both.

        Examples
        --------
        >>> Vocabulary(["cat", "dog", "cow"], [3, 2, 1]).restrict(["cow", "cat", "yak"]).words
        ('cat', 'cow')
        """
        kept = sorted({self.ids[word] for word in words if word in self.ids})
        if not kept:
            raise DataError(f"none of the words given is in {self!r}; do both use lower case?")
        return Vocabulary(tuple(self.words[number] for number in kept), self.counts[kept])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a UTF-8 file with word, tab and count on each line; complete or not at all.

        Parameters
        ----------
        path : path
            Where to; a file there is replaced.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "vocabulary.tsv")
        >>> Vocabulary(["cat", "dog"], [3, 1]).save(path)
        >>> Vocabulary.load(path)
        Vocabulary(2 words: cat, dog)
        """
        for word in self.words:
            if "\t" in word or "\n" in word or not _encodes(word):
                raise DataError(f"a word with a tab, line end or surrogate has no line: {word!r}")
        lines = (f"{word}\t{count}\n" for word, count in zip(self.words, self.counts, strict=True))
        with atomic_write(Path(path)) as part:
            part.write_bytes("".join(lines).encode("utf-8"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : path
            Word, tab and count on each line.

        Returns
        -------
        Vocabulary
            The same words and counts in the same order.

        Examples
        --------
        >>> Vocabulary.load("no_such_file.tsv")
        Traceback (most recent call last):
        topicvec.errors.DataError: cannot read the vocabulary no_such_file.tsv: No such file ...
        """
        if is_special(Path(path)):
            raise DataError(f"cannot read the vocabulary {path}: it is no file")
        try:
            text = Path(path).read_bytes().decode("utf-8")
        except OSError as error:
            raise DataError(f"cannot read the vocabulary {path}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: expected a vocabulary in UTF-8; found {error}") from error
        rows = [line.rpartition("\t") for line in text.removesuffix("\n").split("\n")]
        for number, (_, tab, count) in enumerate(rows, 1):
            digits = count.removesuffix("\r")
            if not tab or not (digits.isascii() and digits.isdigit() and len(digits) < _DIGITS):
                raise FormatError(f"{path}, line {number}: expected a word, a tab and a count")
        return cls(tuple(row[0] for row in rows), np.array([int(row[2]) for row in rows]))


def _check(words: tuple[str, ...], counts: npt.NDArray[Any]) -> None:
    if not words or counts.shape != (len(words),):
        raise DataError(
            f"a vocabulary needs words and a count for each; "
            f"found {len(words)} words and counts of shape {counts.shape}"
        )
    for word in words:
        if not isinstance(word, str):
            raise DataError(f"words must be str; found {word!r} of {type(word).__name__}")
    _check_counts(counts)
    if len(set(words)) < len(words):
        repeated = Counter(words).most_common(1)[0][0]
        raise DataError(f"expected distinct words; {repeated!r} repeats; add its counts first")


def _check_counts(counts: npt.NDArray[Any]) -> None:
    # Added as floating-point numbers, which cannot wrap; whole numbers beyond 64 bits are objects.
    whole = counts.dtype.kind in "iu" and counts.sum(dtype=np.float64) < 2.0**63
    if not whole or counts.min() < 0 or counts.max() == 0:
        raise DataError(
            f"counts must be whole numbers of at least 0, not all 0, that add to less than 2**63; "
            f"found {counts.dtype} from {counts.min()} to {counts.max()}"
        )


def _encodes(word: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in word)

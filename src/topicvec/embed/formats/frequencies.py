"""How often each word occurs: from a file, a mapping, a corpus, or by Zipf's law."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.embed.formats.decimals import is_number
from topicvec.errors import DataError, FormatError, OutOfVocabularyWarning
from topicvec.files import open_read

__all__ = [
    "Corpus",
    "CountedWords",
    "Frequencies",
    "ZipfWarning",
    "count_words",
    "read_frequencies",
    "zipf_counts",
]


@runtime_checkable
class CountedWords(Protocol):
    """Words with their counts, such as a ``Vocabulary``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> isinstance(SimpleNamespace(words=("cat",), counts=[2]), CountedWords)
    True
    """

    @property
    def words(self) -> Sequence[str]:
        """The words."""
        ...

    @property
    def counts(self) -> ArrayLike:
        """How often each occurs."""
        ...


Frequencies = Mapping[str, float] | str | PathLike[str]
Corpus = CountedWords | Iterable[Sequence[str]]


class ZipfWarning(UserWarning):
    """Word probabilities were guessed from the order of the words.

    Examples
    --------
    >>> issubclass(ZipfWarning, UserWarning)
    True
    """


def zipf_counts(n_words: int) -> NDArray[np.float64]:
    """Guess frequencies from rank: the word of rank r occurs in proportion to 1 / r.

    Parameters
    ----------
    n_words : int
        In order of frequency.

    Returns
    -------
    ndarray of shape (n_words,), float64

    Examples
    --------
    >>> zipf_counts(4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """
    return 1.0 / np.arange(1, n_words + 1)


def count_words(
    words: Sequence[str], frequencies: Frequencies | None, corpus: Corpus | None
) -> NDArray[np.float64]:
    """Return a positive count for each word from what the user gave, else by Zipf's law.

    Words that the source does not have get half of the smallest count found, with a warning.

    Parameters
    ----------
    words : sequence of str
    frequencies : mapping or path, optional
        Word to count, or a file of such lines, see :func:`read_frequencies`.
    corpus : iterable of lists of tokens, or Vocabulary, optional

    Returns
    -------
    ndarray of shape (n_words,), float64

    Examples
    --------
    >>> count_words(["cat", "dog"], None, [["dog", "cat"], ["cat"]])
    array([2., 1.])
    """
    if frequencies is not None and corpus is not None:
        raise DataError("frequencies= and corpus= exclude each other: give one of them")
    if frequencies is not None:
        if not isinstance(frequencies, Mapping):
            frequencies = read_frequencies(Path(frequencies))
        return _look_up(words, frequencies, "frequencies=")
    if corpus is not None:
        return _look_up(words, _count_corpus(corpus), "corpus=")
    warnings.warn(
        "these vectors come without word frequencies: probabilities follow Zipf's law by rank, "
        "which is only right if the words are in order of frequency. Give frequencies= (a file "
        "of words and counts) or corpus= (lists of tokens) to load_vectors",
        ZipfWarning,
        stacklevel=4,
    )
    return zipf_counts(len(words))


def read_frequencies(path: Path, encoding: str = "utf-8") -> dict[str, float]:
    r"""Read a file of words and counts, one a line, with a tab or spaces between them.

    Parameters
    ----------
    path : Path
        Plain or compressed.
    encoding : str

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "counts.txt")
    >>> _ = path.write_text("cat\t12\nice cream 3\n")
    >>> read_frequencies(path)
    {'cat': 12.0, 'ice cream': 3.0}
    """
    table: dict[str, float] = {}
    with open_read(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.rsplit(None, 1)
            if not fields:
                continue
            if len(fields) != 2 or not is_number(fields[1]):
                raise FormatError(f"{path}, line {number}: expected word and count, found {line!r}")
            word = _decode(path, number, fields[0], encoding)
            if word in table:
                raise FormatError(f"{path}, line {number}: the word {word!r} stands there twice")
            table[word] = float(fields[1])
    return table


def _decode(path: Path, number: int, raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path}, line {number}: {raw!r} is not {encoding}: convert the file to UTF-8, or "
            "give a mapping"
        ) from error


def _count_corpus(corpus: Corpus) -> Mapping[str, float]:
    if isinstance(corpus, CountedWords):
        return dict(zip(corpus.words, np.asarray(corpus.counts).tolist(), strict=True))
    counts: Counter[str] = Counter()
    for tokens in corpus:
        if isinstance(tokens, str):
            raise DataError(
                f"corpus= expects lists of tokens, found a text ({tokens[:40]!r}): tokenize it"
            )
        counts.update(tokens)
    return counts


def _look_up(words: Sequence[str], table: Mapping[str, float], source: str) -> NDArray[np.float64]:
    counts = np.array([table.get(word, 0) for word in words], dtype=np.float64)
    if not np.isfinite(counts).all() or (counts < 0).any():
        wrong = words[int(np.argmin(np.isfinite(counts) & (counts >= 0)))]
        raise DataError(
            f"{source}: expected a count of 0 or more, found {table[wrong]} for {wrong!r}"
        )
    missing = np.flatnonzero(counts == 0)
    if len(missing) == len(words):
        raise DataError(
            f"{source}: none of the {len(words)} words of the vectors is there: check letter case "
            "and language"
        )
    if len(missing):
        floor = counts[counts > 0].min() / 2
        counts[missing] = floor
        examples = ", ".join(repr(words[i]) for i in missing[:3])
        warnings.warn(
            f"{source}: {len(missing)} of {len(words)} words are not there ({examples}, …): each "
            f"counts {floor:g}, half of the smallest count found",
            OutOfVocabularyWarning,
            stacklevel=5,
        )
    return counts

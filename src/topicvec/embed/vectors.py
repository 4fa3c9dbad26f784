"""Word vectors: a frozen record of words, their vectors and their probabilities."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.embed.formats import ParsedVectors, write_vectors
from topicvec.embed.formats.binary import to_keyed
from topicvec.embed.nearest import VectorSearch, best
from topicvec.engine import one_blas_thread
from topicvec.errors import DataError, VocabularyMismatch

__all__ = ["Alignment", "CountedWords", "WordVectors"]

BLOCK_ROWS = 4096


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


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors(VectorSearch):
    """Words, their vectors and how probable each word is.

    Parameters
    ----------
    words : sequence of str
        Each once.
    matrix : array of shape (n_words, n_dims)
        Kept as float32 and read-only; not copied if it is float32 already.
    unigram : array of shape (n_words,)
        Positive counts or probabilities; kept as probabilities that sum to 1.
    metadata : mapping of str to str, optional
        Where the vectors come from; saved with them.

    Notes
    -----
    Two records are equal if words, vectors and probabilities are, to the bit.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], [[1, 0], [0.8, 0.6], [0, 2]], [2, 1, 1])
    >>> vectors
    WordVectors(3 words × 2 dims)
    >>> vectors["dog"], "cow" in vectors, vectors.unigram
    (array([0.8, 0.6], dtype=float32), False, array([0.5 , 0.25, 0.25]))
    """

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    unigram: NDArray[np.float64]
    metadata: Mapping[str, str]

    def __init__(
        self,
        words: Iterable[str],
        matrix: ArrayLike,
        unigram: ArrayLike,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        names = _checked_words(tuple(words))
        about = MappingProxyType(dict(metadata or {}))
        for key, value in about.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                found = f"{key!r}: {value!r}"
                raise DataError(f"expected metadata as str, found {found}: convert it with str()")
        arrays = _checked_matrix(matrix, names), _checked_unigram(unigram, names)
        views = [array.view() for array in arrays]
        for view in views:
            view.flags.writeable = False
        fields = {"words": names, "matrix": views[0], "unigram": views[1], "metadata": about}
        for name, field in fields.items():
            object.__setattr__(self, name, field)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """Each word's row."""
        return MappingProxyType({word: row for row, word in enumerate(self.words)})

    def __repr__(self) -> str:
        return f"WordVectors({len(self):,} words × {self.n_dims} dims)"

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.matrix[self._id(word)]
        return row

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordVectors):
            return NotImplemented
        return self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing in it ever changes

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if "spelling" in self.metadata:  # of the embedded vectors, or what rests on them
            from topicvec.embed.adapt import reduced  # which needs this class

            if (short := reduced(self)) is not None:
                return short
        return WordVectors, (self.words, self.matrix, self.unigram, dict(self.metadata))

    @property
    def n_dims(self) -> int:
        """Number of dimensions."""
        return int(self.matrix.shape[1])

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of words, vectors and probabilities, in hexadecimal."""
        digest = hashlib.sha256(json.dumps([self.n_dims, *self.words]).encode())
        digest.update(self.matrix.astype("<f4", copy=False).data)
        digest.update(self.unigram.astype("<f8", copy=False).data)
        return digest.hexdigest()

    @cached_property
    def mean(self) -> NDArray[np.float32]:
        """Mean of the vectors (N,), weighted by the words' probabilities.

        Examples
        --------
        >>> WordVectors(["cat", "dog"], [[1], [5]], [3, 1]).mean
        array([2.], dtype=float32)
        """
        # In single precision: a product with doubles would copy the whole matrix as doubles.
        with one_blas_thread():  # the same bits whoever asks first
            mean: NDArray[np.float32] = self.unigram.astype(np.float32) @ self.matrix
        mean.setflags(write=False)
        return mean

    def subset(self, words: Iterable[str] | int | np.integer) -> "WordVectors":
        """Keep some words, with their probabilities scaled to sum to 1 again.

        Parameters
        ----------
        words : iterable of str, or int
            Which words, in the order wanted; or how many of the most frequent, in their order.

        Returns
        -------
        WordVectors

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], [[1], [2], [3]], [1, 2, 3])
        >>> vectors.subset(2).words, vectors.subset(["car", "cat"]).words
        (('dog', 'car'), ('car', 'cat'))
        """
        if isinstance(words, int | np.integer):
            return self._rows(np.sort(best(self.unigram, int(words))))
        return self._rows(self.find(words))

    def find(self, words: Iterable[str]) -> NDArray[np.intp]:
        """Give the rows of words, in their order; a word without a vector is an error.

        Parameters
        ----------
        words : iterable of str
            n words.

        Returns
        -------
        array of int, (n,)

        Examples
        --------
        >>> WordVectors(["cat", "dog", "car"], [[1], [2], [3]], [1, 2, 3]).find(["car", "cat"])
        array([2, 0])
        """
        if isinstance(words, str):
            raise DataError(f"words must be a list of words; found {words!r}")
        return np.array([self._id(word) for word in words], dtype=np.intp)

    def align(self, words: CountedWords | Iterable[str]) -> "Alignment":
        """Bring the vectors into the order of a vocabulary, and say which words have none.

        Parameters
        ----------
        words : Vocabulary or iterable of str

        Returns
        -------
        Alignment

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog", "car"], [[1], [2], [3]], [1, 2, 3])
        >>> found = vectors.align(["car", "cow", "cat"])
        >>> found.vectors.words, found.kept.tolist(), found.missing
        (('car', 'cat'), [0, 2], ('cow',))
        """
        wanted = tuple(words.words if isinstance(words, CountedWords) else words)
        kept = np.array([i for i, word in enumerate(wanted) if word in self], dtype=np.intp)
        if not len(kept):
            raise VocabularyMismatch(
                f"none of the {len(wanted)} words has a vector: check that both are of the same "
                "language and letter case"
            )
        missing = tuple(word for word in wanted if word not in self)
        kept.flags.writeable = False
        return Alignment(self.subset(wanted[i] for i in kept), kept, missing)

    def centred(self) -> "WordVectors":
        """Return the vectors with their mean, weighted by probability, taken away.

        Returns
        -------
        WordVectors

        Examples
        --------
        >>> WordVectors(["cat", "dog"], [[1], [5]], [3, 1]).centred().matrix.tolist()
        [[-1.0], [3.0]]
        """
        mean = (self.unigram @ self.matrix).astype(np.float32)
        return WordVectors(self.words, self.matrix - mean, self.unigram, self._rescaled_metadata())

    def normalized(self) -> "WordVectors":
        """Return the vectors scaled to length 1; a vector of zeros stays.

        Returns
        -------
        WordVectors

        Examples
        --------
        >>> WordVectors(["cat", "dog"], [[3, 4], [0, 0]], [1, 1]).normalized()["cat"]
        array([0.6, 0.8], dtype=float32)
        """
        matrix = self.matrix * self._inverse_norms[:, None]
        return WordVectors(self.words, matrix, self.unigram, self._rescaled_metadata())

    def with_metadata(self, **metadata: str) -> "WordVectors":
        """Return the vectors with more metadata.

        Parameters
        ----------
        **metadata : str
            Added to what is there.

        Returns
        -------
        WordVectors

        Examples
        --------
        >>> dict(WordVectors(["cat"], [[1]], [1]).with_metadata(corpus="Wikipedia").metadata)
        {'corpus': 'Wikipedia'}
        """
        return WordVectors(self.words, self.matrix, self.unigram, {**self.metadata, **metadata})

    def save(
        self,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        quantized: bool = False,
        step: float | None = None,
    ) -> None:
        """Write the vectors to a file, whole or not at all.

        Parameters
        ----------
        path : path
            Its ending says the format: .safetensors (ours: all that is in the record), .txt
            (word2vec text), .vec (fastText), .bin (word2vec binary), .kv (gensim). Text and .bin
            keep words and vectors only, and may add .gz, .xz or .bz2.
        format : str, optional
            One of "safetensors", "word2vec", "word2vec-binary", "fasttext", "glove", "gensim",
            whatever the ending.
        quantized : bool
            Eight bits a number; for safetensors.
        step : float, optional
            Distance of two eight-bit levels, see :func:`topicvec.embed.formats.tensors.quantize`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.safetensors")
        >>> WordVectors(["cat", "dog"], [[1, 2], [3, 4]], [1, 1]).save(path)
        >>> WordVectors.load(path)
        WordVectors(2 words × 2 dims)
        """
        write_vectors(Path(path), self._parsed(), format, quantized=quantized, step=step)

    @classmethod
    def load(cls, path: str | PathLike[str], **options: Any) -> "WordVectors":
        """Load vectors: the same as :func:`topicvec.load_vectors`, which has the options."""
        from topicvec.embed.load import load_vectors  # which needs this class

        return load_vectors(path, **options)

    @classmethod
    def from_gensim(cls, keyed: Any, **options: Any) -> "WordVectors":
        """Take over KeyedVectors; `frequencies` and `corpus` as for `load_vectors`."""
        from topicvec.embed.load import from_gensim  # which needs this class

        return from_gensim(keyed, **options)

    def to_gensim(self) -> Any:
        """Return gensim's KeyedVectors, with counts in proportion to the probabilities."""
        return to_keyed(self._parsed())

    def _rescaled_metadata(self) -> dict[str, str]:
        # Eigenvalues say how each column was scaled, which holds no longer.
        stale = ("eigenvalues", "eigenvalue_power")
        return {name: text for name, text in self.metadata.items() if name not in stale}

    def _parsed(self) -> ParsedVectors:
        return ParsedVectors(self.words, self.matrix, self.unigram, self.metadata)

    def _rows(self, rows: NDArray[np.intp]) -> "WordVectors":
        words = [self.words[row] for row in rows]
        return WordVectors(words, self.matrix[rows], self.unigram[rows], self.metadata)


class Alignment(NamedTuple):
    """Vectors in the order of a vocabulary.

    Attributes
    ----------
    vectors : WordVectors
        Of the words that have one, in the vocabulary's order; probabilities are the vectors'
        own, scaled to sum to 1.
    kept : ndarray of shape (n_kept,), intp
        Places of these words in the vocabulary: ``counts[:, kept]`` are their columns.
    missing : tuple of str
        The words without a vector.

    Examples
    --------
    >>> WordVectors(["cat"], [[1]], [1]).align(["cow", "cat"]).missing
    ('cow',)
    """

    vectors: WordVectors
    kept: NDArray[np.intp]
    missing: tuple[str, ...]


def _checked_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words if there are any, all are str, and none repeats."""
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


def _checked_matrix(matrix: ArrayLike, words: tuple[str, ...]) -> NDArray[np.float32]:
    """Return the matrix as float32 if it has a row of finite numbers for each word."""
    array = np.asanyarray(matrix, dtype=np.float32, order="C")
    if array.ndim != 2 or array.shape[0] != len(words) or not array.shape[1]:
        raise DataError(
            f"expected a matrix of {len(words)} rows, one a word, and at least one column, found "
            f"shape {array.shape}"
        )
    for start in range(0, len(array), BLOCK_ROWS):
        finite = np.isfinite(array[start : start + BLOCK_ROWS])
        if not finite.all():
            word = words[start + int(finite.all(axis=1).argmin())]
            raise DataError(
                f"expected finite numbers, found nan or infinity in the vector of {word!r}"
            )
    return array


def _checked_unigram(unigram: ArrayLike, words: tuple[str, ...]) -> NDArray[np.float64]:
    """Return probabilities that sum to 1 from positive counts or probabilities."""
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
    return array if abs(total - 1) < 1e-9 else array / total

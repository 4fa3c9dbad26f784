"""From documents to counts as a scikit-learn transformer, and weights on counts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from topicvec.errors import DataError
from topicvec.estimator import Estimator, not_fitted
from topicvec.text.bag import BagBuilder, announce
from topicvec.text.counting import ChunkCounts, DocumentLike, Limits, Tally, count_documents, tally
from topicvec.text.stopwords import stop_words as resolve_stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary

__all__ = ["BagOfWords", "inverse_document_frequency", "weigh"]

Floats = npt.NDArray[np.float64]


class BagOfWords(Estimator):
    """Turn documents into word counts, a row for each document and a column for each word.

    Parameters
    ----------
    vocabulary : Vocabulary or sequence of str, optional
        The words to count; learned from the documents if not given. Words alone get their
        counts from the documents.
    tokenizer : callable from str to list of str, optional
        `Tokenizer` by default.
    stop_words : str, path, iterable of str or None
        Words to leave out, as in `topicvec.text.stop_words`.
    min_count, min_doc_frequency, max_doc_frequency, max_words
        Which words to learn, see `topicvec.text.counting.Limits`; no effect on a given vocabulary.
    term_weights : "idf", mapping of str to float, or array_like of shape (n_words,), optional
        Weights that counts are multiplied by; a mapping means 1 for words it lacks. For weights
        on documents see `topicvec.text.weigh`.
    n_jobs : int, optional
        Processes to tokenize in; None means one, -1 one a core. The result is the same. Unlike
        in `PSDVec` and `TopicVec`, None is not all cores: to start processes and send them texts
        costs more than it saves on a small corpus.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        The words in use.
    term_weights_ : ndarray of shape (n_words,) or None
        Their weights.
    report_ : BagReport
        What the last call of `transform` or `fit_transform` counted, and what was unknown.

    Examples
    --------
    >>> bag_of_words = BagOfWords()
    >>> bag_of_words.fit_transform(["The cat purrs.", "Cat and dog!"]).toarray()
    array([[1, 0, 1], [1, 1, 0]], dtype=int32)
    >>> bag_of_words.get_feature_names_out()
    array(['cat', 'dog', 'purrs'], dtype=object)
    """

    def __init__(
        self,
        vocabulary: Vocabulary | Sequence[str] | None = None,
        *,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        stop_words: str | PathLike[str] | Iterable[str] | None = "english",
        min_count: int = 1,
        min_doc_frequency: int | float = 1,
        max_doc_frequency: int | float = 1.0,
        max_words: int | None = None,
        term_weights: Literal["idf"] | Mapping[str, float] | npt.ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.min_count = min_count
        self.min_doc_frequency = min_doc_frequency
        self.max_doc_frequency = max_doc_frequency
        self.max_words = max_words
        self.term_weights = term_weights
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[DocumentLike], y: object = None) -> "BagOfWords":  # noqa: ARG002
        """Learn the vocabulary and weights, in one pass that keeps no documents.

        Parameters
        ----------
        X : iterable of str, Document or sequences of str
            The documents; sequences are taken as tokens.
        y : ignored
            For scikit-learn.

        Returns
        -------
        BagOfWords
            This object.

        Examples
        --------
        >>> BagOfWords(max_words=1).fit(["Cat, cat, dog."]).vocabulary_.words
        ('cat',)
        """
        return self._learn(tally(self._chunks(X)))

    def transform(self, X: Iterable[DocumentLike]) -> csr_array:
        """Count the words of the vocabulary in documents.

        Parameters
        ----------
        X : iterable of str, Document or sequences of str
            The documents.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            Counts (int32), or weighted counts (float64); indices sorted.

        Warns
        -----
        OutOfVocabularyWarning
            If documents have no known word; their rows are all zero.

        Examples
        --------
        >>> BagOfWords().fit(["cat dog"]).transform(["Dog eats dog."]).toarray()
        array([[0, 2]], dtype=int32)
        """
        self._check_fitted()
        return self._count(self._chunks(X))

    def fit_transform(self, X: Iterable[DocumentLike], y: object = None) -> csr_array:  # noqa: ARG002
        """Learn the vocabulary and count its words, in one pass.

        Parameters
        ----------
        X : iterable of str, Document or sequences of str
            The documents.
        y : ignored
            For scikit-learn.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            As from `transform`.

        Examples
        --------
        >>> BagOfWords(term_weights={"cat": 0.5}).fit_transform(["cat dog"]).toarray()
        array([[0.5, 1. ]])
        """
        same: dict[str, str] = {}  # each word once in memory, not once a chunk
        chunks = [
            chunk._replace(words=[same.setdefault(word, word) for word in chunk.words])
            for chunk in self._chunks(X)
        ]
        self._learn(tally(chunks))
        return self._count(chunks)

    def set_output(self, *, transform: str | None = None) -> "BagOfWords":
        """Take scikit-learn's wish for the kind of output; counts stay a sparse array.

        Parameters
        ----------
        transform : {"default", None}
            Anything else is refused, as scikit-learn refuses it of sparse results.

        Returns
        -------
        BagOfWords
            This object.
        """
        if transform not in (None, "default"):
            raise DataError(f"counts are a sparse array; found set_output(transform={transform!r})")
        return self

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """Return the words of the columns, of shape (n_words,).

        Examples
        --------
        >>> BagOfWords().fit(["cat dog"]).get_feature_names_out()
        array(['cat', 'dog'], dtype=object)
        """
        self._check_fitted()
        return np.array(self.vocabulary_.words, dtype=object)

    def _learn(self, totals: Tally) -> "BagOfWords":
        self.vocabulary_ = self._chosen_vocabulary(totals)
        self.term_weights_ = self._chosen_weights(totals)
        return self

    def _chosen_vocabulary(self, totals: Tally) -> Vocabulary:
        if isinstance(self.vocabulary, Vocabulary):
            return self.vocabulary
        if self.vocabulary is not None:
            counts = _aligned(totals, totals.counts, self.vocabulary)
            return Vocabulary(tuple(self.vocabulary), np.array(counts))
        limits = Limits(
            self.min_count, self.min_doc_frequency, self.max_doc_frequency, self.max_words
        )
        return Vocabulary.from_tally(totals, limits)

    def _chosen_weights(self, totals: Tally) -> Floats | None:
        weights, words = self.term_weights, self.vocabulary_.words
        if weights is None:
            return None
        if isinstance(weights, str):
            if weights != "idf":
                raise DataError(
                    f"term_weights must be 'idf', a mapping, an array or None; found {weights!r}"
                )
            frequencies = _aligned(totals, totals.document_frequencies, words)
            return inverse_document_frequency(frequencies, totals.n_documents)
        if isinstance(weights, Mapping):
            weights = [float(weights.get(word, 1)) for word in words]
        return _checked_weights("term_weights", weights, len(words))

    def _chunks(self, X: Iterable[DocumentLike]) -> Iterator[ChunkCounts]:
        tokenize = Tokenizer() if self.tokenizer is None else self.tokenizer
        stop_words = resolve_stop_words(self.stop_words)
        n_jobs = 1 if self.n_jobs is None else self.n_jobs
        return count_documents(X, tokenize, lambda word: word not in stop_words, n_jobs)

    def _check_fitted(self) -> None:
        if not hasattr(self, "vocabulary_"):
            raise not_fitted(self, "vocabulary")

    def _count(self, chunks: Iterable[ChunkCounts]) -> csr_array:
        builder = BagBuilder()
        for chunk in chunks:
            builder.add(chunk, self.vocabulary_.ids)
        bag = builder.build(len(self.vocabulary_))
        self.report_ = bag.report
        announce(bag.report)
        return bag.counts if self.term_weights_ is None else weigh(bag.counts, self.term_weights_)


def _aligned(totals: Tally, values: npt.NDArray[np.int64], wanted: Sequence[str]) -> list[int]:
    """Bring values of words into the order of others; 0 for those that do not occur."""
    known = dict(zip(totals.words, values.tolist(), strict=True))
    return [known.get(word, 0) for word in wanted]


def inverse_document_frequency(document_frequencies: npt.ArrayLike, n_documents: int) -> Floats:
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
    idf: Floats = np.log((1 + n_documents) / (1.0 + np.asarray(document_frequencies))) + 1
    return idf


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
        values *= _checked_weights("term_weights", term_weights, counts.shape[1])[counts.indices]
    if document_weights is not None:
        weights = _checked_weights("document_weights", document_weights, counts.shape[0])
        values *= np.repeat(weights, np.diff(counts.indptr))
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape, copy=True)


def _checked_weights(name: str, weights: npt.ArrayLike, length: int) -> Floats:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (length,):
        raise DataError(f"{name} must have shape ({length},); found {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise DataError(f"{name} must be finite and not negative; clean the weights first")
    return array

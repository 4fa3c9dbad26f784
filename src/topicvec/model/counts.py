"""What a user may give as documents, as counts over the rows of the word vectors."""

import logging
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from multiprocessing import parent_process
from numbers import Number
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, OutOfVocabularyWarning, VocabularyMismatch, warn
from topicvec.text.bag import Bag, BagBuilder, BagReport
from topicvec.text.counting import (
    DocumentLike,
    Tokenize,
    check_several,
    checked_documents,
    count_documents,
    count_tokens,
    cut_documents,
)
from topicvec.text.document import Document
from topicvec.text.numbered import Numbered, number_tokens
from topicvec.text.phrases import Phrases, find_phrases
from topicvec.text.prepared import PreparedCorpus
from topicvec.text.stopwords import corpus_stop_words
from topicvec.text.stopwords import stop_words as resolve_stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.transformer import weigh
from topicvec.text.vocabulary import Vocabulary

__all__ = [
    "LARGE_SHARE",
    "LEARNED_HINT",
    "UNKNOWN_HINT",
    "DocumentCounter",
    "Reading",
    "as_documents",
    "check_columns",
    "checked_matrix",
    "column_names",
    "cut_batches",
    "is_matrix",
    "is_running_text",
    "kept_words",
    "learn_vectors",
    "log_unknown",
    "read_corpus",
    "report_unknown",
    "weighted",
]

logger = logging.getLogger(__name__)

_FREQUENT = 5  # occurrences; a rarer word tells too little of its neighbours
_CHUNK = 2_000  # documents
LARGE_SHARE = 0.1  # of unknown tokens: then the vectors are hardly made for these texts
_SEVERAL = 10  # unknown tokens; fewer are a few names in a short text
_STOPPED = 0.1  # of the tokens of a running text are stop words, and more
_CORPUS_TOKENS = 20_000  # fewer are no corpus: a phrase occurs too seldom to be told from chance

_NO_PHRASES = Phrases()

UNKNOWN_HINT = (
    "the default vectors=None gives vectors to new words of the texts that are fitted, "
    'vectors="corpus" (--vectors corpus) learns vectors from the texts themselves, in any '
    "language; or give vectors of the language"
)
LEARNED_HINT = "in a corpus a word is learned if it occurs twice"


class DocumentCounter:
    """Turns documents into counts; the same way in `fit` and in `transform`.

    Parameters
    ----------
    tokenizer : callable from str to list of str, optional
        `Tokenizer` by default; token lists pass it by.
    stop_words : str, path, iterable of str or None
        Words of texts and token lists to leave out.
    vocabulary : Vocabulary or sequence of str, optional
        The words of the columns of a matrix; for texts the only words to count.
    phrases : Phrases, optional
        What to read as one word; of these only those in the vocabulary, if there is one.
    columns : sequence of str, optional
        The words of the columns of a matrix that does not name them, if no vocabulary is given.
    n_jobs : int
        Processes for many texts, if it is a `Tokenizer` that cuts them: any other may hold what
        cannot be sent, or remember what it has seen.

    Examples
    --------
    >>> counter = DocumentCounter(phrases=Phrases(["hedge fund"]))
    >>> counter.tokens("A hedge fund.")
    ['a', 'hedge fund']
    """

    def __init__(
        self,
        tokenizer: Tokenize | None = None,
        stop_words: Any = "english",
        vocabulary: Vocabulary | Sequence[str] | None = None,
        phrases: Phrases | None = None,
        n_jobs: int = 1,
        columns: Sequence[str] | None = None,
    ) -> None:
        if not (tokenizer is None or callable(tokenizer)):
            raise DataError(
                "tokenizer must be a function from a text to its words, or None; "
                f"found {tokenizer!r}"
            )
        self.columns = columns
        self.stop_words = stop = resolve_stop_words(stop_words)
        only = None if vocabulary is None else frozenset(_words(vocabulary))
        phrases = _NO_PHRASES if phrases is None else phrases
        self.phrases = phrases if only is None else phrases.only(only)
        self.tokenize, self.vocabulary = tokenizer or Tokenizer(), vocabulary
        may_go = isinstance(self.tokenize, Tokenizer) and parent_process() is None
        self.n_jobs = n_jobs if may_go else 1  # a worker of others starts no workers of its own
        self.keep: Callable[[str], bool] = lambda word: (
            word not in stop and (only is None or word in only)
        )

    def count(self, documents: Any, vectors: WordVectors) -> Bag:
        """Count the words of documents or align the columns of a matrix.

        Examples
        --------
        >>> vectors = WordVectors(["cat", "dog"], [[1.0], [2.0]], [1, 1])
        >>> bag = DocumentCounter().count(["The cat, the yak."], vectors)
        >>> bag.counts.toarray().tolist(), dict(bag.unknown)
        ([[1, 0]], {'yak': 1})
        """
        if is_matrix(documents):
            return self._align(checked_matrix(documents), self.words_of(documents), vectors)
        if isinstance(documents, PreparedCorpus):
            documents.check_tokenizer(self.tokenize)
        builder = BagBuilder()
        join = None if self.phrases is _NO_PHRASES else self.phrases.join
        for chunk in count_documents(documents, self.tokenize, self.keep, self.n_jobs, join=join):
            builder.add(chunk, vectors.ids)
        return builder.build(len(vectors.words))

    def cut(self, documents: Iterable[DocumentLike]) -> list[list[str]]:
        """Cut documents into their tokens, as `tokens` does one."""
        cut = cut_documents(documents, self.tokenize, self.n_jobs)
        return list(cut if self.phrases is _NO_PHRASES else map(self.phrases.join, cut))

    def tokens(self, text: DocumentLike) -> list[str]:
        """Cut one document into its tokens, stop words included and phrases joined."""
        words = text.text if isinstance(text, Document) else text
        if not isinstance(words, Iterable):
            raise DataError(f"expected a text or its tokens; found {type(text).__name__}")
        return self.phrases.join(self.tokenize(words) if isinstance(words, str) else words)

    def known(self, tokens: Iterable[str], vectors: WordVectors) -> dict[str, int]:
        """Give the vector rows of the tokens that are counted."""
        ids = vectors.ids
        return {token: ids[token] for token in tokens if token in ids and self.keep(token)}

    def words_of(self, matrix: Any) -> tuple[str, ...] | None:
        """Give the words of a matrix's columns, if they are known.

        Examples
        --------
        >>> DocumentCounter(columns=["cat", "dog"]).words_of(np.eye(2))
        ('cat', 'dog')
        """
        if self.vocabulary is not None:
            return _words(self.vocabulary)
        names = column_names(matrix)
        if names is None and self.columns is not None:
            names = tuple(self.columns)
        return names

    def _align(self, matrix: csr_array, words: tuple[str, ...] | None, vectors: WordVectors) -> Bag:
        """Bring the columns of a matrix into the order of the vectors."""
        n_words = matrix.shape[1]
        if words is None and n_words == len(vectors):
            return _bag(matrix, matrix, Counter())
        if words is None or len(words) != n_words:
            given = "no vocabulary" if words is None else f"{len(words)} words"
            raise VocabularyMismatch(
                f"a matrix with {n_words} columns needs vocabulary= with their {n_words} words, "
                f"or one column for each of the {len(vectors)} vectors; found {given}"
            )
        rows = np.array([vectors.ids.get(word, -1) for word in words])
        known = matrix[:, np.flatnonzero(rows >= 0)]
        counts = csr_array(
            (known.data, rows[rows >= 0][known.indices], known.indptr),
            shape=(matrix.shape[0], len(vectors)),
        )
        counts.sum_duplicates()
        totals = matrix.sum(axis=0)
        missing = np.flatnonzero((rows < 0) & (totals > 0))
        unknown = Counter({words[column]: int(totals[column]) for column in missing})
        return _bag(matrix, counts, unknown)


class Reading(NamedTuple):
    """How documents are read, and the documents as they are read.

    Attributes
    ----------
    counter : DocumentCounter
        Knows the stop words and phrases of the corpus.
    documents : list of documents, stream, or matrix
        The given ones.
    token_lists : list of lists of str, optional
        Their tokens, stop words included and phrases joined, if they had to be cut.
    """

    counter: DocumentCounter
    documents: Any
    token_lists: list[list[str]] | None = None

    @property
    def is_matrix(self) -> bool:
        """Whether the documents are counts already."""
        return is_matrix(self.documents)

    def numbered(self) -> Numbered:
        """Number the counted words, the most frequent first."""
        token_lists = self.token_lists or []
        keep = kept_words(self.counter.keep, token_lists).__contains__
        return number_tokens([list(filter(keep, tokens)) for tokens in token_lists])

    def bag(self, vectors: WordVectors) -> Bag:
        """Count the words that have a vector."""
        if self.token_lists is None:
            return self.counter.count(self.documents, vectors)
        builder = BagBuilder()
        keep = kept_words(self.counter.keep, self.token_lists).__contains__
        ids = [each.id for each in self.documents if isinstance(each, Document)]
        for start in range(0, len(self.token_lists), _CHUNK):
            rows = slice(start, start + _CHUNK)
            kept = [list(filter(keep, tokens)) for tokens in self.token_lists[rows]]
            named = ids[rows] if len(ids) == len(self.token_lists) else None
            builder.add(count_tokens(kept, named), vectors.ids)
        return builder.build(len(vectors.words))


def kept_words(keep: Callable[[str], bool], token_lists: Iterable[Iterable[str]]) -> set[str]:
    """Ask of each distinct word whether to keep it; a set then answers faster for each token.

    Examples
    --------
    >>> kept_words("cat".__eq__, [["the", "cat"], ["cat"]])
    {'cat'}
    """
    return set(filter(keep, set[str]().union(*token_lists)))


def read_corpus(
    documents: Any,
    tokenizer: Tokenize | None = None,
    stop_words: Any = "english",
    vocabulary: Vocabulary | Sequence[str] | None = None,
    *,
    phrases: bool = True,
    cut: bool = True,
    n_jobs: int = 1,
    columns: Sequence[str] | None = None,
) -> Reading:
    """Learn from documents how to read them: stop words of a corpus, and phrases.

    Phrases are looked for in several documents with 20,000 tokens together, not in one article,
    and not in texts that have lost their stop words: what stands side by side there did not
    always do so.

    Parameters
    ----------
    documents : iterable of str, Document or token lists; or matrix of counts
        As for `TopicVec.fit`.
    tokenizer, stop_words, vocabulary
        As for `DocumentCounter`; stop_words="corpus" finds those of the corpus, by
        `topicvec.text.corpus_stop_words`.
    phrases : bool
        Whether to look for phrases.
    cut : bool
        Whether the tokens will be needed again; otherwise documents may stay a stream.
    n_jobs, columns
        As for `DocumentCounter`; the result does not depend on the number of processes.

    Returns
    -------
    Reading

    Examples
    --------
    >>> texts = ["a hedge fund of the city", "the city has a fund", "a city"] * 4000
    >>> reading = read_corpus(texts)
    >>> dict(reading.counter.phrases.phrases)
    {'hedge fund': 4000}
    """
    from_corpus = isinstance(stop_words, str) and stop_words == "corpus"
    if is_matrix(documents):  # where words have no neighbours
        stop = frozenset() if from_corpus else stop_words
        counter = DocumentCounter(tokenizer, stop, vocabulary, columns=columns)
        return Reading(counter, documents)
    made = partial(DocumentCounter, tokenizer, vocabulary=vocabulary, n_jobs=n_jobs)
    plain = made(stop_words=None if from_corpus else stop_words)
    if not (cut or from_corpus or phrases):
        return Reading(plain, documents)
    given = list(checked_documents(documents))
    token_lists = plain.cut(given)
    stop = corpus_stop_words(token_lists) if from_corpus else plain.stop_words
    n_stopped = sum(map(stop.__contains__, chain.from_iterable(token_lists)))
    is_text = len(given) > 1 and is_running_text(sum(map(len, token_lists)), n_stopped)
    if not (phrases and is_text):
        return Reading(made(stop_words=stop), given, token_lists)
    found = find_phrases(token_lists, keep=lambda word: word not in stop)
    logger.info("found %d phrases: %s", len(found), ", ".join([*found.phrases][:10]))
    counter = made(stop_words=stop, phrases=found)
    return Reading(counter, given, [counter.phrases.join(tokens) for tokens in token_lists])


def is_running_text(n_tokens: int, n_stopped: int) -> bool:
    """Say whether there is enough text for phrases, with its stop words.

    Examples
    --------
    >>> is_running_text(30_000, 12_000), is_running_text(30_000, 0)
    (True, False)
    """
    return n_tokens >= _CORPUS_TOKENS and n_stopped > _STOPPED * n_tokens


def is_matrix(documents: Any) -> bool:
    """Say whether documents are given as a matrix of counts or weights.

    Examples
    --------
    >>> is_matrix(["a text"]), is_matrix(np.ones((1, 2)))
    (False, True)
    >>> is_matrix([[2, 0], [0, 1]]), is_matrix([["two", "tokens"]])
    (True, False)
    """
    if issparse(documents) or len(getattr(documents, "shape", ())) == 2:
        return True
    if not hasattr(documents, "shape") and hasattr(documents, "__array__"):
        return np.asarray(documents).ndim == 2
    first = documents[0] if isinstance(documents, list | tuple) and documents else None
    if isinstance(first, np.ndarray):
        return first.dtype.kind in "biuf"
    return isinstance(first, list | tuple) and bool(first) and isinstance(first[0], Number)


def as_documents(documents: Any) -> Any:
    """Give documents that can be read twice: a stream as a list, a matrix or array as it is.

    Examples
    --------
    >>> as_documents(text for text in ["a text", "another"])
    ['a text', 'another']
    """
    if is_matrix(documents) or hasattr(documents, "shape"):
        return documents
    check_several(documents)
    return list(documents)


def check_columns(estimator: Any, documents: Any, *, reset: bool) -> None:
    """Keep, or compare with those of the fit, the number and names of a matrix's columns.

    Parameters
    ----------
    estimator : object
        What has them, as scikit-learn does: ``n_features_in_`` and ``feature_names_in_``.
    documents : documents
        Whose columns, if they are a matrix.
    reset : bool
        Whether this is a fit.

    Examples
    --------
    >>> from topicvec.estimator import Estimator
    >>> check_columns(estimator := Estimator(), [[1, 0]], reset=True)
    >>> estimator.n_features_in_
    2
    """
    if reset:
        for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit
            vars(estimator).pop(name, None)
    if getattr(documents, "ndim", 0) == 1 and documents.dtype.kind in "biufc":
        raise DataError(
            f"expected texts, or a row of counts for each document; found {len(documents)} "
            "numbers. Reshape your data: X.reshape(1, -1) is one document"
        )
    # what learned from texts takes the columns of any matrix that names them
    if not is_matrix(documents) or not (reset or hasattr(estimator, "n_features_in_")):
        return
    from sklearn.utils.validation import validate_data  # slow to import

    try:
        validate_data(estimator, documents, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise DataError(str(error)) from error


def column_names(documents: Any) -> tuple[str, ...] | None:
    """Give the names of a DataFrame's columns, if they are words.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> column_names(SimpleNamespace(columns=["cat", "dog"]))
    ('cat', 'dog')
    >>> column_names(np.eye(2))
    """
    names = tuple(getattr(documents, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def cut_batches(documents: Any, size: int) -> Iterator[Any]:
    """Cut documents or a stream of them into batches; one at a time is in the memory.

    Examples
    --------
    >>> list(cut_batches(iter(["a", "b", "c"]), 2))
    [['a', 'b'], ['c']]
    """
    if is_matrix(documents):
        matrix = checked_matrix(documents)
        yield from (matrix[start : start + size] for start in range(0, matrix.shape[0], size))
        return
    stream = checked_documents(documents)
    batch = list(islice(stream, size))
    if not batch:
        raise DataError("the corpus is empty: expected at least one document; found none")
    while batch:
        yield batch
        batch = list(islice(stream, size))


def learn_vectors(
    vectors: WordVectors,
    documents: Any,
    words: Iterable[str] | None = None,
    *,
    tokenizer: Tokenize | None = None,
    stop_words: Any = "english",
) -> WordVectors:
    """Learn vectors of new words from their neighbours in documents, by incremental PSDVec.

    Parameters
    ----------
    vectors : WordVectors
        Their rows stay as they are.
    documents : iterable of str, Document or token lists
        The corpus, with its stop words.
    words : iterable of str, optional
        What to learn; by default all words without a vector that occur at least five times.
    tokenizer, stop_words
        As for `TopicVec`; stop words have no need of a vector.

    Returns
    -------
    WordVectors
        The given words, then the new ones.

    Examples
    --------
    >>> vectors = WordVectors(["a", "sat", "on"], np.eye(3), [9, 3, 3])
    >>> learn_vectors(vectors, [["a", "cow", "sat", "on", "a", "log"]], ["cow"]).words
    ('a', 'sat', 'on', 'cow')
    """
    counter = DocumentCounter(tokenizer, stop_words)
    token_lists = _token_lists(counter, documents)
    if words is None:
        unknown = counter.count(token_lists, vectors).report.unknown
        words = sorted(word for word, n in unknown.items() if n >= _FREQUENT)
        if not words:
            return vectors
    from topicvec.embed.cooccurrence import WindowSettings  # slow to import, rarely needed
    from topicvec.embed.counting import count_corpus
    from topicvec.embed.psdvec import PSDVec

    counts = count_corpus(token_lists, WindowSettings(), n_jobs=1)
    more = PSDVec(n_jobs=1).add_words(vectors, counts, words)
    logger.info("learned vectors for %d unknown words", len(more) - len(vectors))
    return more


def _token_lists(counter: DocumentCounter, documents: Any) -> list[list[str]]:
    if hasattr(documents, "shape") and len(documents.shape) == 2:
        raise DataError(
            "words are learned from texts or token lists, where they have neighbours; "
            "found a matrix of counts"
        )
    return [counter.tokens(text) for text in checked_documents(documents)]


def weighted(bag: Bag, weights: ArrayLike) -> Bag:
    """Multiply the counts of each document by its weight, (D,)."""
    counts = weigh(bag.counts, document_weights=weights)
    counts.eliminate_zeros()  # a document of weight 0 has no words
    if bag.counts.nnz and not counts.nnz:
        raise DataError(
            "document_weights are zero for all documents with known words: give one of them more"
        )
    return replace(bag, counts=counts)


def report_unknown(report: BagReport, hint: str = UNKNOWN_HINT) -> None:
    """Log what is unknown; warn if documents have no known word, or a tenth of the words is not.

    The hint says what helps: `LEARNED_HINT` for vectors that have learned from these documents.

    Examples
    --------
    >>> report_unknown(BagReport(1, 40, 2, {"yak": 2}, np.array([]), ()))
    """
    log_unknown(report, hint)
    if len(report.empty_rows):
        warn(report.empty_message("given the prior mean"), OutOfVocabularyWarning)
    if report.unknown_share > LARGE_SHARE and report.n_unknown >= _SEVERAL:
        warn(f"{report.unknown_message()}; {hint}", OutOfVocabularyWarning)


def log_unknown(report: BagReport, hint: str = UNKNOWN_HINT) -> None:
    """Log what is unknown, with the report itself and the hint for one who adds up several.

    Examples
    --------
    >>> log_unknown(BagReport(1, 40, 2, {"yak": 2}, np.array([]), ()))
    """
    logger.info("%s", report, extra={"report": report, "hint": hint})


def checked_matrix(matrix: Any) -> csr_array:
    """Copy a matrix without zeros and duplicates; refuse one that holds no counts or weights.

    Examples
    --------
    >>> checked_matrix(np.array([[1, 0], [0, 2]])).data
    array([1, 2])
    >>> checked_matrix(np.array([[1, -2]]))
    Traceback (most recent call last):
    topicvec.errors.DataError: Negative values in data: counts must not be negative; found ...
    """
    matrix = matrix if issparse(matrix) else _numbers(np.asarray(matrix))  # a DataFrame, or lists
    if matrix.dtype.kind not in "biuf":
        kind = "Complex data not supported: " if matrix.dtype.kind == "c" else ""
        raise DataError(f"{kind}counts must be numbers; found a matrix of {matrix.dtype}")
    if matrix.shape[1] == 0:
        raise DataError(
            f"counts need columns: 0 feature(s) (shape={tuple(matrix.shape)}) while a minimum of 1 "
            "is required to find topics"
        )
    if matrix.shape[0] == 0:
        raise DataError("the corpus is empty: expected at least one document; found none")
    counts = csr_array(matrix, copy=True)
    for is_bad, message in _FAULTS:
        bad = np.flatnonzero(is_bad(counts.data))
        if len(bad):
            row = int(np.searchsorted(counts.indptr, bad[0], side="right")) - 1
            raise DataError(f"{message}; found {counts.data[bad[0]]} in row {row}")
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return counts


_FAULTS: tuple[tuple[Callable[[NDArray[Any]], NDArray[np.bool_]], str], ...] = (
    (lambda x: ~np.isfinite(x), "NaN or inf found, counts must be finite"),
    (lambda x: x < 0, "Negative values in data: counts must not be negative"),
)


def _numbers(table: NDArray[Any]) -> NDArray[Any]:
    """Make numbers of objects, as tables of mixed columns have them; refuse texts."""
    if table.dtype.kind != "O":
        return table
    try:
        return table.astype(float)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"counts must be numbers; found a table with {_odd(table)}: for texts give one "
            'column, such as table["text"]'
        ) from error


def _odd(table: NDArray[Any]) -> str:
    """Show the first value that is no number, a long text by its ends."""
    return reprlib.repr(next(value for value in table.flat if not isinstance(value, Number)))


def _words(vocabulary: Vocabulary | Sequence[str]) -> tuple[str, ...]:
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Vocabulary | Iterable):
        raise DataError(f"vocabulary must be a list of words or a Vocabulary; found {vocabulary!r}")
    return vocabulary.words if isinstance(vocabulary, Vocabulary) else tuple(vocabulary)


def _bag(given: csr_array, counts: csr_array, unknown: "Counter[str]") -> Bag:
    empty = np.flatnonzero(counts.sum(axis=1) == 0)
    empty.setflags(write=False)
    return Bag(
        n_documents=int(given.shape[0]),
        n_tokens=int(given.sum()),
        n_unknown=int(given.sum() - counts.sum()),
        unknown=unknown,
        empty_rows=cast("NDArray[np.int64]", empty),
        empty_ids=tuple(f"row {row}" for row in empty[:5]),
        counts=counts,
    )

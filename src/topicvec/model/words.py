"""The words of the text at hand: vectors that learn from it, and none of its words is lost.

A corpus of at least 10,000 words (stop words not counted) tells how its words are used:
general vectors are adapted to it, see `topicvec.embed.adapt`, and probabilities of words are
those of the corpus. Words that were not seen share the probability that Good and Turing give
them, the share of words seen once. A shorter text tells too little of that: there general vectors
stay as they are, and words without one get theirs from spelling and neighbours.
"""

import logging
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.adapt import Learned, adapt, count_pairs
from topicvec.embed.load import from_gensim, load_vectors
from topicvec.embed.newwords import new_word_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import DataError, OutOfVocabularyWarning, warn
from topicvec.model.counts import Reading, kept_words
from topicvec.model.fitted import FittedTopics, topic_residuals
from topicvec.text.counting import growing_ids

__all__ = ["CORPUS_TOKENS", "learn_more_words", "text_vectors"]

logger = logging.getLogger(__name__)

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

CORPUS_TOKENS = 10_000  # words; a shorter text does not tell how its words are used
_TIMES = 2  # a word of a corpus that occurs once has no company to tell it by
_SURE = np.float32(0.5)  # cosine of new words' vectors with the true ones: what can be counted on
_LEAST_WORDS = 5  # that occur so often; fewer say nothing of each other
_FOREIGN = 0.25  # of the words are new: in English a tenth is many, in its neighbours a third
_SEVERAL = 10  # new tokens; fewer are a few names in a short text


class _Words(NamedTuple):
    """The counted tokens of documents, as numbers of words in decreasing frequency."""

    words: list[str]
    times: NDArray[np.int64]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    token_lists: list[list[str]]


def text_vectors(
    given: WordVectors | str | PathLike[str] | Any | None, reading: Reading, engine: Engine
) -> WordVectors:
    """Give the word vectors to use for documents.

    Parameters
    ----------
    given : None, "general", "corpus", WordVectors, KeyedVectors of gensim, or path
        None learns from the documents what general vectors do not know; "corpus" learns from
        them alone; anything else is used as it is.
    reading : Reading
        The documents; a matrix of counts has no neighbours to learn from.
    engine : Engine
        Spreads the work.

    Returns
    -------
    WordVectors

    Examples
    --------
    >>> from topicvec.engine import LocalEngine
    >>> from topicvec.model.counts import read_corpus
    >>> texts = ["gatto cane topo gatto cane topo", "mare sole vento mare sole vento"] * 30
    >>> text_vectors("corpus", read_corpus(texts), LocalEngine(1)).words[:2]
    ('cane', 'gatto')
    """
    alone = isinstance(given, str) and given == "corpus"
    if hasattr(given, "index_to_key"):
        return from_gensim(given)
    if given is not None and not alone:
        return load_vectors(given)
    if alone and reading.is_matrix:
        raise DataError(
            "words are learned from texts or token lists, where they have neighbours; "
            "found a matrix of counts"
        )
    if reading.is_matrix:
        return load_vectors()
    tokens = _read(reading)
    if alone:
        return _from_corpus(tokens, engine)
    general = load_vectors()
    _warn_if_foreign(general, tokens)
    if _is_corpus(tokens):
        return _adapted(general, tokens, engine).join(general)
    learned = _with_new_words(general, tokens)
    return general if learned is None else learned.join(general)


def _is_corpus(tokens: _Words) -> bool:
    """Say whether there is enough text, and words that occur again, to adapt vectors to."""
    enough = len(tokens.lengths) > 1 and len(tokens.ids) >= CORPUS_TOKENS
    return enough and int(np.count_nonzero(tokens.times >= _TIMES)) >= _LEAST_WORDS


def _warn_if_foreign(general: WordVectors, tokens: _Words) -> None:
    """Warn of another language: its words get vectors, but by the spelling of English."""
    is_new = np.array([word not in general for word in tokens.words], bool)
    n_new, n_tokens = int(tokens.times[is_new].sum()), len(tokens.ids)
    if n_new < _SEVERAL or n_new <= _FOREIGN * n_tokens:
        return
    some = ", ".join([word for word in tokens.words if word not in general][:5])
    warn(
        f"{n_new / n_tokens:.1%} of the words are not in the general vectors, which know English, "
        f"most often: {some}; their meaning is guessed. For another language give "
        'vectors="corpus" (--vectors corpus) and its stop_words= (--stop-words)',
        OutOfVocabularyWarning,
    )


def _read(reading: Reading) -> _Words:
    """Number the counted words of documents, the most frequent first."""
    keep = kept_words(reading.counter.keep, reading.token_lists or ()).__contains__
    token_lists = [list(filter(keep, tokens)) for tokens in reading.token_lists or ()]
    numbers = growing_ids()
    lengths = np.array([len(tokens) for tokens in token_lists], np.int64)
    flat = np.fromiter(
        (numbers[token] for tokens in token_lists for token in tokens), np.int32, lengths.sum()
    )
    words = list(numbers)
    times = np.bincount(flat, minlength=len(words))
    order = sorted(range(len(words)), key=lambda i: (-times[i], words[i]))
    place = np.empty(len(words), np.int32)
    place[order] = np.arange(len(words))
    return _Words([words[i] for i in order], times[order], place[flat], lengths, token_lists)


def _from_corpus(tokens: _Words, engine: Engine) -> WordVectors:
    n = int(np.count_nonzero(tokens.times >= _TIMES))
    if n < _LEAST_WORDS:
        raise DataError(
            f"vectors='corpus' needs at least {_LEAST_WORDS} words that occur {_TIMES} "
            f"times; found {n}: use vectors='general'"
        )
    nothing = np.zeros((n, 0), np.float32)
    ids = np.where(tokens.ids < n, tokens.ids, -1)
    found = adapt(count_pairs(ids, tokens.lengths, n, engine), nothing, engine)
    about = {"method": "residual of PSDVec, of the documents alone"}
    return WordVectors(tokens.words[:n], found.residual, tokens.times[:n], about)


def _adapted(general: WordVectors, tokens: _Words, engine: Engine) -> Learned:
    """Adapt general vectors to a corpus, and give vectors to its other words."""
    known = np.array([general.ids.get(word, -1) for word in tokens.words])
    n = int(np.count_nonzero(tokens.times >= _TIMES))
    new = np.flatnonzero(known[:n] < 0)
    words = [tokens.words[i] for i in new]
    V = np.zeros((n, general.n_dims), np.float32)
    V[known[:n] >= 0] = general.matrix[known[:n][known[:n] >= 0]] - general.mean
    V[new] = _of_new(general, words, tokens)
    ids = np.where(tokens.ids < n, tokens.ids, -1)
    found = adapt(count_pairs(ids, tokens.lengths, n, engine), V, engine)
    rows = np.hstack([np.float32(found.scale) * V[new], found.residual[new]])
    seen = np.flatnonzero(known[:n] >= 0)
    order = np.argsort(known[seen])
    places, residual = known[seen][order], found.residual[seen][order]
    unigram = _unigram(general, tokens, known, new)
    return Learned(tuple(words), rows, places, residual, general.mean, found.scale, unigram)


def _of_new(general: WordVectors, words: list[str], tokens: _Words) -> NDArray[np.float32]:
    """Give vectors of words of a corpus that have none; a phrase means what its words do."""
    rows = _SURE * new_word_vectors(general, words, tokens.token_lists)
    for row, word in enumerate(words):
        parts = [general.ids[part] for part in word.split(" ") if part in general]
        if parts and " " in word:
            rows[row] = (general.matrix[parts] - general.mean).sum(axis=0) / np.sqrt(len(parts))
    return rows


def _unigram(general: WordVectors, tokens: _Words, known: Ints, new: Ints) -> NDArray[np.float64]:
    """Give probabilities of all words: the corpus's, and what is left for those not in it."""
    counts = np.zeros(len(general) + len(new))
    counts[known[known >= 0]] = tokens.times[known >= 0]
    counts[len(general) :] = tokens.times[new]
    unseen = counts == 0
    left = min(max(int(np.count_nonzero(tokens.times == 1)), 1) / len(tokens.ids), 0.5)
    rest = np.append(general.unigram, np.zeros(len(new))) * unseen
    probabilities: NDArray[np.float64] = (
        1 - left
    ) * counts / counts.sum() + left * rest / rest.sum()
    return probabilities


def _with_new_words(general: WordVectors, tokens: _Words) -> Learned | None:
    """Give vectors to the words of a short text that have none; they are as rare as any."""
    new = [word for word in tokens.words if word not in general and _is_word(word)]
    return _with(general, new, tokens) if new else None


def _with(general: WordVectors, new: list[str], tokens: _Words) -> Learned:
    rows = new_word_vectors(general, new, tokens.token_lists)
    unigram = np.append(general.unigram, np.full(len(new), general.unigram.min()))
    none = np.zeros((0, 0), np.float32)
    mean = np.zeros(general.n_dims, np.float32)
    nowhere = np.zeros(0, np.int64)
    return Learned(tuple(new), rows, nowhere, none, mean, 1.0, unigram / unigram.sum())


def _plain_new(general: WordVectors, words: list[str], tokens: _Words) -> NDArray[np.float32]:
    return new_word_vectors(general, words, tokens.token_lists)


def _is_word(token: str) -> bool:
    return any(letter.isalpha() for letter in token)


def learn_more_words(fitted: FittedTopics, reading: Reading) -> FittedTopics:
    """Let the new words of more documents into a model; its old vectors stay.

    A word that occurs twice gets its vector from spelling and neighbours, among the general
    vectors that the model rests on; without those its own tokens place it.

    Parameters
    ----------
    fitted : FittedTopics
        With vectors that `text_vectors` made.
    reading : Reading
        The documents.

    Returns
    -------
    FittedTopics
        With more words, or the same.
    """
    if reading.is_matrix:
        return fitted
    tokens, old = _read(reading), fitted.vectors
    new = [
        word
        for word, times in zip(tokens.words, tokens.times, strict=True)
        if times >= _TIMES and word not in old and _is_word(word)
    ]
    if not new:
        return fitted
    if old.words == load_vectors().words:
        return _widened(fitted, _with(old, new, tokens).join(old))
    rows = np.zeros((len(new), old.n_dims), np.float32)
    if "general" in old.metadata:
        general, scale = load_vectors(), np.float32(old.metadata["scale"])
        adapted = old.n_dims > general.n_dims
        found = (_of_new if adapted else _plain_new)(general, new, tokens)
        rows[:, : general.n_dims] = scale * found
    unigram = np.append(old.unigram, np.full(len(new), old.unigram.min()))
    vectors = WordVectors((*old.words, *new), np.vstack([old.matrix, rows]), unigram, old.metadata)
    logger.info("%d new words", len(new))
    return _widened(fitted, vectors)


def _widened(fitted: FittedTopics, vectors: WordVectors) -> FittedTopics:
    more, limit = len(vectors) - len(fitted.vectors), fitted.settings.get("n_normalizer_words")
    return replace(
        fitted,
        vectors=vectors,
        residuals=topic_residuals(vectors, fitted.topics, limit),
        word_counts=np.append(fitted.word_counts, np.zeros(more)),
        word_mass=_longer(fitted.word_mass, more),
        word_documents=np.append(fitted.word_documents, np.zeros(more)),
        document_mass=_longer(fitted.document_mass, more),
    )


def _longer(table: csr_array, more: int) -> csr_array:
    """Put empty rows below a table."""
    indptr = np.append(table.indptr, np.full(more, table.indptr[-1], table.indptr.dtype))
    n_words, n_topics = table.shape
    return csr_array((table.data, table.indices, indptr), (n_words + more, n_topics))

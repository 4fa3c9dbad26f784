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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.adapt import N_DIMS, Learned, adapt, count_pairs, likely_pairs
from topicvec.embed.formats.tensors import with_rows
from topicvec.embed.load import load_vectors
from topicvec.embed.newwords import new_word_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine, InPlace, near
from topicvec.errors import DataError, OutOfVocabularyWarning, warn
from topicvec.model import equations
from topicvec.model.counts import Reading, checked_matrix
from topicvec.model.fitted import FittedTopics
from topicvec.text.numbered import Numbered

if TYPE_CHECKING:
    from topicvec.model.streamed import AnyReading

__all__ = ["ALONE", "CORPUS_TOKENS", "learn_more_words", "text_vectors"]

logger = logging.getLogger(__name__)

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Matrix = NDArray[np.float32]

ALONE = "residual of PSDVec, of the documents alone"  # how vectors="corpus" are made
CORPUS_TOKENS = 10_000  # words; a shorter text does not tell how its words are used
_TIMES = 2  # a word of a corpus that occurs once has no company to tell it by
_SURE = np.float32(0.5)  # cosine of new words' vectors with the true ones: what can be counted on
_LEAST_WORDS = 5  # that occur so often; fewer say nothing of each other
_FOREIGN = 0.25  # of the words are new: in English a tenth is many, in its neighbours a third
_SEVERAL = 10  # new tokens; fewer are a few names in a short text


def text_vectors(
    given: WordVectors | str | PathLike[str] | Any | None, reading: "AnyReading", engine: Engine
) -> WordVectors:
    """Give the word vectors to use for documents.

    Parameters
    ----------
    given : None, "general", "corpus", or anything that `load_vectors` takes
        None learns from the documents what general vectors do not know; "corpus" learns from
        them alone; anything else is used as it is, up to its scale.
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
    if given is not None and not alone:
        from topicvec.embed.scale import to_scale  # of no use to the package's own

        return to_scale(load_vectors(given))
    if isinstance(reading, Reading) and reading.is_matrix:
        return _of_matrix(reading, near(engine), alone=alone)
    tokens = reading.numbered()
    if alone:
        return _from_corpus(tokens, near(engine))
    general = load_vectors()
    _warn_if_foreign(general, tokens)
    if _is_corpus(tokens):
        return _adapted(general, tokens, near(engine))
    learned = _with_new_words(general, tokens)
    return general if learned is None else learned.join(general)


def _is_corpus(tokens: Numbered) -> bool:
    """Say whether there is enough text, and words that occur again, to adapt vectors to."""
    enough = tokens.n_documents > 1 and tokens.n_tokens >= CORPUS_TOKENS
    return enough and int(np.count_nonzero(tokens.times >= _TIMES)) >= _LEAST_WORDS


def _warn_if_foreign(general: WordVectors, tokens: Numbered) -> None:
    """Warn of another language: its words get vectors, but by the spelling of English."""
    is_new = np.array([word not in general for word in tokens.words], bool)
    n_new, n_tokens = int(tokens.times[is_new].sum()), tokens.n_tokens
    if n_new < _SEVERAL or n_new <= _FOREIGN * n_tokens:
        return
    some = ", ".join([word for word in tokens.words if word not in general][:5])
    warn(
        f"{n_new / n_tokens:.1%} of the words are not in the general vectors, which know English, "
        f"most often: {some}; their meaning is guessed. For another language give "
        'vectors="corpus" (--vectors corpus) and its stop_words= (--stop-words)',
        OutOfVocabularyWarning,
    )


def _from_corpus(tokens: Numbered, engine: Engine) -> WordVectors:
    n = int(np.count_nonzero(tokens.times >= _TIMES))
    if n < _LEAST_WORDS:
        raise DataError(
            f"vectors='corpus' needs at least {_LEAST_WORDS} words that occur {_TIMES} "
            f"times; found {n}: use vectors='general'"
        )
    nothing = np.zeros((n, 0), np.float32)
    found = adapt(count_pairs(tokens.blocks, n, engine), nothing, engine)
    return WordVectors(tokens.words[:n], found.residual, tokens.times[:n], {"method": ALONE})


def _of_matrix(reading: Reading, engine: Engine, *, alone: bool) -> WordVectors:
    """Give general vectors to columns that have words; learn vectors of others from the rows."""
    counts, general = checked_matrix(reading.documents), load_vectors()
    words = reading.counter.words_of(reading.documents)
    if not alone and (words is not None or counts.shape[1] == len(general)):
        return general
    if words is None:
        words = tuple(f"x{column}" for column in range(counts.shape[1]))
        if not alone:
            warn(
                f"the {len(words)} columns have no words, so they are called x0, x1, … and their "
                "vectors are learned from the rows alone: give vocabulary=, a DataFrame, or a "
                'pipeline after a vectorizer; vectors="corpus" if it is meant'
            )
    return _from_counts(counts, words, engine)


def _from_counts(counts: csr_array, words: tuple[str, ...], engine: Engine) -> WordVectors:
    """Learn vectors of columns from what stands in the same rows."""
    if len(words) < 2:
        raise DataError("expected two columns or more to learn vectors from; found n_features=1")
    totals = np.asarray(counts.sum(axis=0), float)
    order = np.argsort(-totals, kind="stable")
    nothing = np.zeros((len(words), 0), np.float32)
    found = adapt(likely_pairs(csr_array(counts[:, order])), nothing, engine)
    matrix = np.empty_like(found.residual)
    matrix[order] = found.residual
    least = totals[totals > 0].min() / 2 if totals.any() else 1.0
    return WordVectors(words, matrix, np.maximum(totals, least), {"method": ALONE})


class _Before:
    """Vectors of the words of a corpus before it adapts them, made when they are asked for.

    All at once they would fill as much memory as the vectors that are made of them.
    """

    def __init__(self, general: WordVectors, known: Ints, new: Ints, rows: Matrix) -> None:
        self.general, self.known, self.rows = general, known, rows
        self.place = np.full(len(known), -1)  # of a new word among the new ones
        self.place[new] = np.arange(len(new))

    def __getitem__(self, words: slice) -> Matrix:
        known, place = self.known[words], self.place[words]
        V = np.empty((len(known), self.general.n_dims), np.float32)
        V[known >= 0] = self.general.matrix[known[known >= 0]] - self.general.mean
        V[known < 0] = self.rows[place[known < 0]]
        return V


def _adapted(general: WordVectors, tokens: Numbered, engine: Engine) -> WordVectors:
    """Adapt general vectors to a corpus, and give vectors to its other words."""
    known = np.array([general.ids.get(word, -1) for word in tokens.words])
    n, size = int(np.count_nonzero(tokens.times >= _TIMES)), general.n_dims
    new = np.flatnonzero(known[:n] < 0)
    words = [tokens.words[i] for i in new]
    rows = np.zeros((len(new), size + N_DIMS), np.float32)  # with room for the residual
    _of_new(general, words, tokens, engine, rows[:, :size])
    V = _Before(general, known[:n], new, rows[:, :size])
    found = adapt(count_pairs(tokens.blocks, n, engine), V, engine)
    rows = rows[:, : size + found.residual.shape[1]]
    scale = found.scale
    rows[:, :size] *= np.float32(scale)
    rows[:, size:] = found.residual[new]
    seen = np.flatnonzero(known[:n] >= 0)
    order = np.argsort(known[seen])
    places, residual = known[seen][order], found.residual[seen][order]
    unigram = _unigram(general, tokens, known, new)
    del found, V
    learned = Learned(tuple(words), rows, places, residual, general.mean, scale, unigram)
    return learned.join(general)


def _of_new(
    general: WordVectors, words: list[str], tokens: Numbered, engine: Engine, out: Matrix
) -> None:
    """Give vectors of words of a corpus that have none; a phrase means what its words do."""
    new_word_vectors(general, words, tokens, engine=engine, out=out)
    out *= _SURE
    for row, word in enumerate(words):
        if " " in word:
            parts = [general.ids[part] for part in word.split(" ") if part in general]
            if parts:
                mean = (general.matrix[parts] - general.mean).sum(axis=0)
                out[row] = mean / np.sqrt(len(parts))


def _unigram(general: WordVectors, tokens: Numbered, known: Ints, new: Ints) -> NDArray[np.float64]:
    """Give probabilities of all words: the corpus's, and what is left for those not in it."""
    counts = np.zeros(len(general) + len(new))
    counts[known[known >= 0]] = tokens.times[known >= 0]
    counts[len(general) :] = tokens.times[new]
    unseen = counts == 0
    left = min(max(int(np.count_nonzero(tokens.times == 1)), 1) / tokens.n_tokens, 0.5)
    rest = np.append(general.unigram, np.zeros(len(new))) * unseen
    probabilities: NDArray[np.float64] = (
        1 - left
    ) * counts / counts.sum() + left * rest / rest.sum()
    return probabilities


def _with_new_words(general: WordVectors, tokens: Numbered) -> Learned | None:
    """Give vectors to the words of a short text that have none; they are as rare as any."""
    new = [word for word in tokens.words if word not in general and _is_word(word)]
    return _with(general, new, tokens) if new else None


def _with(general: WordVectors, new: list[str], tokens: Numbered) -> Learned:
    rows = new_word_vectors(general, new, tokens.token_lists())
    unigram = np.append(general.unigram, np.full(len(new), general.unigram.min()))
    none = np.zeros((0, 0), np.float32)
    mean = np.zeros(general.n_dims, np.float32)
    nowhere = np.zeros(0, np.int64)
    return Learned(tuple(new), rows, nowhere, none, mean, 1.0, unigram / unigram.sum())


def _is_word(token: str) -> bool:
    return any(letter.isalpha() for letter in token)


def learn_more_words(fitted: FittedTopics, reading: "AnyReading") -> FittedTopics:
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
    tokens, old = reading.numbered(), fitted.vectors
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
        found = rows[:, : general.n_dims]
        if old.n_dims > general.n_dims:  # adapted ones
            _of_new(general, new, tokens, InPlace(), found)
        else:
            found[:] = new_word_vectors(general, new, tokens.token_lists())
        found *= scale
    unigram = np.append(old.unigram, np.full(len(new), old.unigram.min()))
    vectors = WordVectors((*old.words, *new), with_rows(old.matrix, rows), unigram, old.metadata)
    logger.info("%d new words", len(new))
    return _widened(fitted, vectors)


def _widened(fitted: FittedTopics, vectors: WordVectors) -> FittedTopics:
    more = len(vectors) - len(fitted.vectors)
    return replace(
        fitted,
        vectors=vectors,
        residuals=_with_more(fitted, vectors),
        word_counts=np.append(fitted.word_counts, np.zeros(more)),
        word_mass=_longer(fitted.word_mass, more),
        word_documents=np.append(fitted.word_documents, np.zeros(more)),
        document_mass=_longer(fitted.document_mass, more),
    )


def _with_more(fitted: FittedTopics, vectors: WordVectors) -> Floats:
    """Normalise topics over more words: those from before have been added up already."""
    limit: Any = fitted.settings.get("n_normalizer_words")
    n_before = len(fitted.vectors)
    new = slice(n_before, None if limit is None else max(int(limit), n_before))
    unigram = vectors.unigram[new]
    if not len(unigram):  # new words are the rarest
        return fitted.residuals
    total = float(vectors.unigram[: new.stop].sum())
    added = equations.residuals(vectors.matrix[new], unigram / total, fitted.topics)
    before = np.log1p(-unigram.sum() / total) - fitted.residuals
    return np.where(fitted.topics.any(axis=1), -np.logaddexp(before, -added), 0.0)


def _longer(table: csr_array, more: int) -> csr_array:
    """Put empty rows below a table."""
    indptr = np.append(table.indptr, np.full(more, table.indptr[-1], table.indptr.dtype))
    n_words, n_topics = table.shape
    return csr_array((table.data, table.indices, indptr), (n_words + more, n_topics))

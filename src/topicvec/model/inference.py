"""What fixed topics say about documents: mixtures, expected counts, masses of words, the bound.

Products of vectors are in double precision here, so that what is found for a document does not
depend on the documents beside it (`test_a_document_gets_the_same_mixture_alone_and_in_company`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import Engine, one_blas_thread
from topicvec.errors import DataError, VocabularyMismatch
from topicvec.model import equations
from topicvec.model.estep import (
    Inferred,
    even_theta,
    likelihoods,
    mix,
    sum_documents,
)
from topicvec.model.fitted import FittedTopics, Representatives
from topicvec.model.own import OwnWords
from topicvec.model.state import Corpus

if TYPE_CHECKING:
    from topicvec.embed.psdvec import PSDVec

__all__ = [
    "MAX_PASSES",
    "TOL",
    "TokenTopic",
    "better",
    "completion_score",
    "completion_scores",
    "document_masses",
    "document_table",
    "in_context",
    "infer",
    "log_unigram",
    "one_pass",
    "representatives",
    "topic_table",
    "word_distributions",
    "word_masses",
    "word_table",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]

_ROWS = 1024  # word types at a time
TOL = 1e-3
MAX_PASSES = 200
_N_BEST = 10  # documents of a topic that are kept with it
_LEAST_ENTRY = 1e-3  # tokens; smaller masses of a word in a topic are left out


class TokenTopic(NamedTuple):
    """A token of a text with its most probable topic.

    Attributes
    ----------
    token : str
        The token.
    topic : int or None
        Its most probable topic; None for stop words and words without a vector.
    probability : float
        How probable that topic is for this token; 0 for None.

    Examples
    --------
    >>> TokenTopic("cat", 3, 0.9).topic
    3
    """

    token: str
    topic: int | None
    probability: float


@one_blas_thread()
def infer(
    fitted: FittedTopics,
    counts: csr_array,
    engine: Engine,
    *,
    allowed: Bools | None = None,
) -> Inferred:
    """Find the mixtures of documents, to convergence.

    Parameters
    ----------
    fitted : FittedTopics
        The topics.
    counts : csr_array, (D, W)
        Counts of documents over the rows of the vectors.
    engine : Engine
        Spreads shards of documents.
    allowed : array, (D, K), optional
        Topics that each document may use; all by default.

    Returns
    -------
    Inferred
    """
    # Compiled, however few: a document has the same mixture alone and in company, to the bit.
    corpus = Corpus.of(counts, len(fitted.topics), allowed, compiled=True)
    return infer_corpus(fitted, corpus, engine, even_theta(corpus, fitted.alpha))


@one_blas_thread()
def infer_corpus(
    fitted: FittedTopics, corpus: Corpus, engine: Engine, start: Sequence[Floats]
) -> Inferred:
    """Find the mixtures of documents that are laid out, from where they start; see `infer`."""
    table, log_peak = topic_table(fitted, corpus.types, engine)
    found = mix(engine, corpus, table, fitted.alpha, start, TOL, MAX_PASSES)
    bound = corpus.type_counts @ (log_peak + log_unigram(fitted, corpus.types))
    return replace(found, bound=float(bound + found.bound))


def one_pass(fitted: FittedTopics, counts: csr_array, engine: Engine) -> Floats:
    """Give expected counts (D, K) of one pass without a prior, the original's features."""
    types = np.unique(counts.indices)
    table, _ = topic_table(fitted, types, engine)
    table = table / table.sum(axis=1, keepdims=True, dtype=float)
    expected: Floats = counts[:, types] @ table
    return expected


def completion_score(
    fitted: FittedTopics, known: csr_array, held_out: csr_array, engine: Engine
) -> float:
    """Give the mean log-probability of held-out tokens, with mixtures from the known ones.

    Parameters
    ----------
    fitted : FittedTopics
        The topics.
    known, held_out : csr_arrays, (D, W)
        Two parts of the counts of the same documents.
    engine : Engine
        Spreads the work.

    Returns
    -------
    float
        In nats a token; higher is better.
    """
    scores = completion_scores(fitted, known, held_out, engine).tolist()
    return float(sum(scores) / float(held_out.sum()))


def completion_scores(
    fitted: FittedTopics, known: csr_array, held_out: csr_array, engine: Engine
) -> Floats:
    """Give the log-probability of each document's held-out tokens (D,), see `completion_score`."""
    mixtures = infer(fitted, known, engine).proportions
    types = np.unique(held_out.indices)
    table, log_peak = topic_table(fitted, types, engine)
    log_base = log_peak + log_unigram(fitted, types)

    def document(row: int) -> float:
        cells = slice(held_out.indptr[row], held_out.indptr[row + 1])
        words = np.searchsorted(types, held_out.indices[cells])
        log_p = np.log(table[words] @ mixtures[row]) + log_base[words]
        return float(held_out.data[cells] @ log_p)

    return np.array(list(map(document, range(len(mixtures)))))


def word_masses(inferred: Inferred, n_words: int) -> csr_array:
    """Give the tokens of each word in the topics.

    Parameters
    ----------
    inferred : Inferred
        The documents' mixtures.
    n_words : int
        W, the number of vectors.

    Returns
    -------
    csr_array, (W, K), float32
        Without entries below a thousandth of a token.
    """
    return word_table(inferred.words, inferred.corpus.types, n_words)


def document_masses(
    inferred: Inferred, masses: csr_array, engine: Engine
) -> tuple[Floats, csr_array]:
    """Count the documents that have each word, and sum the proportions of topics over them.

    Parameters
    ----------
    inferred : Inferred
        The documents' mixtures.
    masses : csr_array, (W, K)
        From `word_masses`; sums are given where it has entries.
    engine : Engine
        Spreads blocks of word types.

    Returns
    -------
    array (W,), csr_array (W, K) of float32
    """
    return document_table(sum_documents(engine, inferred), inferred.corpus, masses)


def document_table(sums: Floats, corpus: Corpus, masses: csr_array) -> tuple[Floats, csr_array]:
    """Make the tables of `document_masses` of the sums over documents (U, K)."""
    theirs = masses[corpus.types]
    rows = np.repeat(np.arange(len(sums)), np.diff(theirs.indptr))
    n_documents = np.zeros(masses.shape[0])
    n_documents[corpus.types] = corpus.type_documents
    values = sums[rows, theirs.indices]
    return n_documents, csr_array((values, masses.indices, masses.indptr), masses.shape)


def word_table(C: Floats, types: Ints, n_words: int) -> csr_array:
    """Make the table of masses (W, K) of all words from that of word types (U, K).

    Examples
    --------
    >>> word_table(np.array([[2.0, 0.0]], np.float32), np.array([1]), 3).toarray().tolist()
    [[0.0, 0.0], [2.0, 0.0], [0.0, 0.0]]
    """
    return _among(_sparse(C), types, n_words)


def _sparse(C: Floats) -> csr_array:
    return csr_array(np.where(C < _LEAST_ENTRY, np.float32(0), C))


def _among(table: csr_array, types: Ints, n_words: int) -> csr_array:
    lengths = np.zeros(n_words, np.int64)
    lengths[types] = np.diff(table.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array((table.data, table.indices, indptr), (n_words, table.shape[1]))


def representatives(proportions: Floats, n_best: int = _N_BEST) -> tuple[Representatives, ...]:
    """Find for each topic the documents with the largest proportions, largest first.

    Examples
    --------
    >>> representatives(np.array([[0.9, 0.1], [0.2, 0.8]]), 1)
    (((0, 0.9),), ((1, 0.8),))
    """
    return tuple(_largest(shares, n_best) for shares in proportions.T)


def better(old: Representatives, new: Representatives, first: int) -> Representatives:
    """Put the best documents of some more, counted from the first of these, among the best so far.

    Examples
    --------
    >>> better(((0, 0.9), (3, 0.5)), ((1, 0.8),), 5)
    ((0, 0.9), (6, 0.8), (3, 0.5))
    """
    several = [*old, *((first + row, share) for row, share in new)]
    return tuple(sorted(several, key=lambda pair: (-pair[1], pair[0]))[:_N_BEST])


def _largest(shares: Floats, n_best: int) -> Representatives:
    """Find the largest of many without sorting the others; the first of equal ones."""
    n_best = min(n_best, len(shares))
    least = np.partition(shares, len(shares) - n_best)[len(shares) - n_best] if n_best else 0.0
    rows = np.flatnonzero(shares >= least)
    rows = rows[np.argsort(-shares[rows], kind="stable")][:n_best]
    return tuple((int(row), float(shares[row])) for row in rows)


def topic_table(fitted: FittedTopics, types: Ints, engine: Engine) -> tuple[Floats, Floats]:
    """Give exp(v·t + r) (U, K) with each row divided by its maximum, and the maxima's logs."""
    starts = range(0, len(types), _ROWS)
    pieces = [fitted.vectors.matrix[types[start : start + _ROWS]] for start in starts]
    own = None
    if np.isfinite(fitted.pseudo).any():
        counts = fitted.word_mass[types].toarray()
        unigram = np.exp(log_unigram(fitted, types))
        own = OwnWords(counts, unigram, fitted.pseudo, fitted.word_totals)
    return likelihoods(engine, pieces, fitted.residuals, fitted.topics, own)[:2]


@one_blas_thread()
def word_distributions(fitted: FittedTopics, engine: Engine) -> Floats:
    """Give the probability of each word in each topic (W, K), with the topics' own words."""
    types = np.arange(len(fitted.vectors))
    table, log_peak = topic_table(fitted, types, engine)
    P: Floats = table * np.exp(log_peak + log_unigram(fitted, types))[:, None]
    unseen = np.diff(fitted.word_mass.indptr) == 0
    if np.isfinite(fitted.pseudo).any():  # what new words pay is each topic's own here
        spread = equations.own_spread(np.asarray(fitted.word_mass.sum(axis=0)), fitted.pseudo)
        P[unseen] *= np.exp(spread.max() - spread)
    return P


def in_context(
    fitted: FittedTopics, P: Floats, words: Sequence[str], context: Sequence[str],
    residuals: "PSDVec | None",
) -> Floats:  # fmt: skip
    """Give P(w | context, topic) by eq. 2, from P(w | topic) of all words, (W,).

    Without ``residuals`` the context tells only what its vectors do.
    """
    words, context = list(words), list(context)
    rows, before = fitted.vectors.find(words), fitted.vectors.find(context)
    A = np.zeros((len(before), len(rows)))
    if residuals is not None:
        if not hasattr(residuals, "bigram_residuals"):
            raise DataError(
                f"residuals must be a fitted PSDVec; found {type(residuals).__name__}: its "
                "vectors alone do not have the counts"
            )
        A = residuals.bigram_residuals([], [])  # refuses one that has learned nothing
        if residuals.vectors_ != fitted.vectors:
            raise VocabularyMismatch(
                "the residuals are of other word vectors than the model's: learn the topics with "
                "vectors=psdvec.vectors_"
            )
        A = residuals.bigram_residuals(context, words)
    V = fitted.vectors.matrix
    exponent = equations.context_logits(V[rows].astype(float), V[before].astype(float), A)
    return np.asarray(P[rows] * np.exp(exponent))


def log_unigram(fitted: FittedTopics, types: Ints) -> Floats:
    """Give log-probabilities of words on the scale of the normaliser that the fit used."""
    unigram = np.asarray(fitted.vectors.unigram, float)
    n_words = fitted.settings.get("n_normalizer_words")
    kept = unigram if n_words is None else -np.sort(-unigram)[: int(n_words)]  # type: ignore[arg-type]
    logs: Floats = np.log(unigram[types] / kept.sum())
    return logs

"""The E-step: the mixtures of documents under topics, and what they say of words.

`e_step` walks over the documents of a shard, finds their mixtures and adds up the tokens of its
words in the topics. Most topics of a document are negligible: after a first pass over all of them
it goes on with those that have more than a trace of the document (`least_mass`), and the others
get nothing. The bound is that of what is left, exactly; a topic that begins to explain a document
comes back in the first pass of the next E-step.

It is here to be read, made of `equations`, and does the work of small corpora: importing numba
and loading a compiled kernel takes longer than finding the topics of an article. Of more
documents the twin in `kernels` does it, which has the same signature
(`tests/model/core/test_kernels.py` says that they agree).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import Engine, hold, near
from topicvec.model import equations
from topicvec.model.own import OwnWords
from topicvec.model.state import Corpus, Record, Shard, loaded

__all__ = [
    "LEAST_WEIGHT",
    "Inferred",
    "Summed",
    "e_step",
    "even_theta",
    "fill_shard",
    "having",
    "least_mass",
    "likelihoods",
    "mix",
    "one_theta",
    "sum_documents",
    "sum_shards",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
Piece = tuple[Any, ...]

LEAST_WEIGHT = {"f": 1e-18, "d": 1e-140}  # by precision: the product of two never underflows


@dataclass(frozen=True, eq=False)
class Inferred(Record):
    """Mixtures of documents under fixed topics, with what is needed to sum up words.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    theta : array, (D, K), float32
        Dirichlet parameters of their mixtures; zero where a topic is not allowed.
    mass : array, (K,)
        Expected number of tokens of each topic.
    bound : float
        The bound of these documents.
    n_passes : int
        Passes over documents.
    table : array, (U, K)
        exp(logits) of the word types, up to a factor for each.
    words : array, (U, K)
        C_wk = Σ_d n_dw π_dwk, tokens of the word types in the topics.
    """

    corpus: Corpus
    theta: Floats
    mass: Floats
    bound: float
    n_passes: int
    table: Floats
    words: Floats

    @property
    def n_tokens(self) -> float:
        """Number of tokens."""
        return float(self.corpus.type_counts.sum())

    @cached_property
    def proportions(self) -> Floats:
        """Posterior mean of each document's mixture (D, K); rows sum to 1."""
        means: Floats = self.theta / self.theta.sum(axis=1, keepdims=True, dtype=float)
        return means

    def responsibilities(self, document: int | Ints, rows: Ints) -> Floats:
        """Give the topics' probabilities (J, K) for words of a document, or of one for each."""
        places = np.searchsorted(self.corpus.types, rows)
        weight = equations.mixture_weight(
            self.theta[document].astype(float), LEAST_WEIGHT[self.table.dtype.char]
        )
        return equations.responsibilities(self.table[places], weight)


def least_mass(tol: float, n_tokens: float, n_topics: int) -> float:
    """Say how many tokens of a document a topic must have to be one of its topics.

    A share of ``tol`` of a token, or of the tokens for each topic if they are fewer. So what is
    left out is never more than a share of ``tol`` of the document, which is what a pass may leave
    unsettled; and some topic always has enough.

    Examples
    --------
    >>> least_mass(0.01, 1000.0, 100), least_mass(0.01, 5.0, 100)
    (0.01, 0.0005)
    """
    return min(tol, 0.5) * min(1.0, n_tokens / n_topics)


def e_step(
    indptr: Ints, words: Ints, counts: Floats, table: Floats, alpha: Floats, group: Ints,
    theta: Floats, tol: float, max_passes: int, floor: float, places: Ints,
    new_theta: Floats, C: Floats, mass: Floats,
) -> tuple[float, int]:  # fmt: skip
    """Find the mixtures of a shard of documents, warm-started from ``theta``.

    Parameters
    ----------
    indptr, words, counts : arrays
        CSR of the shard; ``words`` are rows of ``table``.
    table : array, (n_types, K)
        exp(logits), each row divided by its maximum.
    alpha : array, (n_groups, K)
        Prior of each group of documents; zero where a topic is not allowed.
    group : array, (D,)
        The group of each document.
    theta : array, (D, K)
        Dirichlet parameters to start from; zero where a topic is not allowed.
    tol : float
        A document is done when less than this share of its tokens changed topic.
    max_passes : int
        Limit of passes over a document; with one alone all its topics are kept.
    floor : float
        Smallest weight, see `LEAST_WEIGHT`.
    places : array, (nnz,)
        Rows of ``C`` for the words of the shard.
    new_theta, C, mass : arrays, (D, K), (n_here, K), (K,)
        Filled: θ (eq. 14); added: n_dw π_dwk of each word, and the topic mass.

    Returns
    -------
    tuple of float and int
        The bound of the shard without the row maxima, and the number of passes over documents.
    """
    bound, passes, several = 0.0, 0, max_passes > 1
    for d in range(len(indptr) - 1):
        cells = slice(indptr[d], indptr[d + 1])
        n, prior, L = counts[cells].astype(float), alpha[group[d]], table[words[cells]]
        least = least_mass(tol, n.sum(), len(prior)) if several else 0.0
        current = theta[d].astype(float)
        current = np.where(np.abs(current - prior) > least, current, prior)
        weight, ratio, m = _pass(n, L, current, floor)
        kept = np.flatnonzero(m > least)
        current, L, passes = (prior + m if several else current)[kept], L[:, kept], passes + several
        for _ in range(max_passes - several):
            passes += 1
            weight, ratio, m = _pass(n, L, current, floor)
            found = equations.dirichlet(prior[kept], m)
            change = np.abs(found - current).sum()
            current = found
            if change <= 2 * tol * n.sum():
                break
        new_theta[d], m_all, weight_all = prior, np.zeros(len(prior)), np.ones(len(prior))
        new_theta[d, kept], m_all[kept], weight_all[kept] = current, m, weight
        bound += equations.document_bound(prior, n, n / ratio, m_all, weight_all)
        mass += m_all
        C[np.ix_(places[cells], kept)] += ratio[:, None] * L * weight
    return bound, passes


def _pass(n: Floats, L: Floats, theta: Floats, floor: float) -> tuple[Floats, Floats, Floats]:
    """Pass over a document: give exp(E[log φ]), counts / evidence and the mass of its topics."""
    weight = equations.mixture_weight(theta, floor)
    with np.errstate(invalid="ignore"):  # OpenBLAS looks at lanes that it does not use
        ratio = n / equations.evidence(L, weight)
        return weight, ratio, equations.topic_mass(ratio, L, weight)


def even_theta(corpus: Corpus, alpha: Floats) -> tuple[Floats, ...]:
    """Deal the tokens of each document evenly among its topics, (d, K) of each shard.

    Where α is one number, `one_theta` leads to the same topics: only differences between topics
    count in the first pass (`test_a_start_at_ones_or_even_is_the_same`).
    """
    shards = map(loaded, corpus.shards)
    starts = (_even(each, corpus.allowed[each.group], alpha) for each in shards)
    return tuple(corpus.kept(number, start) for number, start in enumerate(starts))


def _even(shard: Shard, allowed: Bools, alpha: Floats) -> Floats:
    totals = np.concatenate([[0.0], np.cumsum(shard.counts, dtype=float)])
    tokens_each = np.diff(totals[shard.indptr]) / allowed.sum(1)
    theta: Floats = np.where(allowed, alpha + tokens_each[:, None], 0.0)
    return theta.astype(shard.counts.dtype)


def one_theta(corpus: Corpus) -> tuple[Floats, ...]:
    """Start all mixtures at θ = 1 as the original does, (d, K) of each shard; zero where barred."""
    shards = map(loaded, corpus.shards)
    starts = (corpus.allowed[each.group].astype(each.counts.dtype) for each in shards)
    return tuple(corpus.kept(number, start) for number, start in enumerate(starts))


def likelihoods(
    engine: Engine, pieces: Sequence[Floats], residuals: Floats, topics: Floats | None = None,
    own: OwnWords | None = None,
) -> tuple[Floats, Floats, float]:  # fmt: skip
    """Make the E-step's table of word types.

    Parameters
    ----------
    engine : Engine
        Spreads the pieces.
    pieces : sequence of arrays
        Of word types: their dots v·t (n, K), or their vectors (n, N) if there are topics.
    residuals : array, (K,)
        r.
    topics : array, (K, N), optional
        T.
    own : OwnWords, optional
        Tokens of the word types that give the topics words of their own.

    Returns
    -------
    table : array, (U, K)
        exp(v·t + r), or P~(w|k) / u_w, each row divided by its maximum; in the precision of the
        pieces.
    peak : array, (U,)
        Logarithms of these maxima.
    price : float
        What words of their own take from the bound: Σ_k m_k KL(P(·|k) ‖ P~(·|k)), negative.
    """
    dtype = pieces[0].dtype if pieces else np.dtype(np.float32)
    table = np.empty((sum(map(len, pieces)), len(residuals)), dtype)
    peak, start, lifted = np.empty(len(table)), 0, np.zeros(len(residuals))
    spread = None if own is None else own.spread
    owns = [None] * len(pieces) if own is None else own.cut([len(piece) for piece in pieces])
    block = partial(_likelihood, residuals, topics, spread)
    for part, tops, more in near(engine).map(block, zip(pieces, owns, strict=True)):
        rows = slice(start, start + len(part))
        table[rows], peak[rows], start = part, tops, rows.stop
        lifted = lifted + more
    return table, peak, 0.0 if own is None else own.price(lifted)


def _likelihood(
    residuals: Floats, topics: Floats | None, spread: Floats | None, pair: Piece
) -> tuple[Floats, Floats, Floats | float]:
    piece, own = pair
    exponent: Floats = piece if own is None else piece.astype(float)
    if topics is None:
        exponent = exponent + residuals
    else:  # in double precision, so that no document's mixture depends on the others
        exponent = equations.logits(piece.astype(float), topics.astype(float), residuals)
    lifted: Floats | float = 0.0
    if own is not None:
        a, x = own.lift(exponent)
        lifted, exponent = (a * x).sum(axis=0), exponent + x - own.pay(spread)
    peak = exponent.max(axis=1)
    exponent -= peak[:, None]
    np.maximum(np.exp(exponent, out=exponent), LEAST_WEIGHT[piece.dtype.char], out=exponent)
    return exponent.astype(piece.dtype, copy=False), peak, lifted


class Summed(NamedTuple):
    """What all documents say in one E-step.

    Attributes
    ----------
    theta : sequence of arrays, (d, K)
        Their mixtures, shard by shard.
    words : array, (U, K), float32
        C_wk = Σ_d n_dw π_dwk, tokens of the word types in the topics.
    mass : array, (K,)
        Expected number of tokens of each topic.
    log_phi : array, (K,)
        Σ_d E[log φ_dk] over the documents that may use topic k, if it was asked for.
    bound : float
        As of `mix`.
    n_passes : int
        Passes over documents.
    """

    theta: Sequence[Floats]
    words: Floats
    mass: Floats
    log_phi: Floats
    bound: float
    n_passes: int


def sum_shards(
    engine: Engine, corpus: Corpus, table: Floats, alpha: Floats, start: Sequence[Floats],
    tol: float, max_passes: int, log_phi: bool = False,
) -> Summed:  # fmt: skip
    """Find the mixtures of all documents and sum up what they say, shard by shard.

    Only mixtures and sums leave a shard, and sums are added in the order of the shards.
    Parameters are those of `mix`; ``log_phi`` asks for the sums that a prior is learned from.
    """
    theta: list[Floats] = []
    C = np.zeros(table.shape, table.dtype)
    mass, logs, bound, n_passes = np.zeros(len(alpha)), np.zeros(len(alpha)), 0.0, 0
    shard = partial(_sum, corpus.compiled, table, corpus.allowed * alpha, tol, max_passes, log_phi)
    found = engine.map(shard, zip(hold(engine, corpus.shards), start, strict=True))
    for each, (its, types, words, *sums) in zip(corpus.shards, found, strict=True):
        theta.append(corpus.kept(len(theta), its))
        C[each.types if types is None else types] += words
        mass, logs = mass + sums[0], logs + sums[1]
        bound, n_passes = bound + sums[2], n_passes + sums[3]
    return Summed(tuple(theta), C, mass, logs, bound, n_passes)


def _sum(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, log_phi: bool,
    piece: Piece,
) -> Piece:  # fmt: skip
    shard, start = map(loaded, piece)
    types = None if shard is piece[0] else shard.types  # of one that was in a file
    theta, words, mass, *rest = fill_shard(compiled, table, alpha, tol, max_passes, (shard, start))
    logs: Floats = np.zeros(len(mass))
    if log_phi:
        logs = np.where(theta > 0, equations.expected_log_phi(theta.astype(float)), 0.0).sum(0)
    return theta, types, words, mass, logs, *rest


def mix(
    engine: Engine, corpus: Corpus, table: Floats, alpha: Floats, start: Sequence[Floats],
    tol: float, max_passes: int,
) -> Inferred:  # fmt: skip
    """Find the mixtures of all documents, shard by shard.

    Parameters
    ----------
    engine : Engine
        Spreads the shards.
    corpus : Corpus
        The documents.
    table : array, (U, K)
        exp(v·t + r), each row divided by its maximum.
    alpha : array, (K,)
        Prior of the mixtures.
    start : sequence of arrays, (d, K)
        Dirichlet parameters to start from, shard by shard.
    tol, max_passes : float, int
        When a document is done, see `e_step`.

    Returns
    -------
    Inferred
        Its bound is without the unigram probabilities and the maxima of the table's rows.
    """
    summed = sum_shards(engine, corpus, table, alpha, start, tol, max_passes)
    theta = np.concatenate([np.zeros((0, len(alpha)), corpus.dtype), *summed.theta])
    return Inferred(
        corpus, theta, summed.mass, summed.bound, summed.n_passes, table, summed.words
    )  # fmt: skip


def sum_documents(engine: Engine, found: Inferred) -> Floats:
    """Sum up the topics' proportions in the documents that have each word type, (U, K)."""
    corpus, shares = found.corpus, found.proportions.astype(np.float32)
    sums = np.zeros((len(corpus.types), shares.shape[1]), np.float32)
    held = zip(hold(engine, corpus.shards), corpus.cut(shares), strict=True)
    for each, part in zip(corpus.shards, engine.map(having, held), strict=True):
        sums[each.types] += part
    return sums


def having(piece: tuple[Shard, Floats]) -> Floats:
    """Sum up the proportions (d, K) of a shard over the documents that have each word type."""
    shard, shares = piece
    cells = np.ones(len(shard.words), np.float32), shard.places, shard.indptr
    return np.asarray(csr_array(cells, (len(shares), len(shard.types))).T @ shares)


def fill_shard(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, piece: Piece
) -> Piece:
    """Find the mixtures of a shard, given where they start; see `e_step`."""
    shard, start = piece
    theta, mass = np.empty_like(start), np.zeros(start.shape[1])
    C = np.zeros((len(shard.types), start.shape[1]), table.dtype)
    loop = e_step
    if compiled:  # numba takes a while to import
        from topicvec.model.kernels import e_step as loop
    bound, n_passes = loop(
        shard.indptr, shard.words, shard.counts, table, alpha, shard.group, start, tol, max_passes,
        LEAST_WEIGHT[table.dtype.char], shard.places, theta, C, mass,
    )  # fmt: skip
    return theta, C, mass, bound, n_passes

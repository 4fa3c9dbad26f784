"""The E-step: the mixtures of documents under topics, and what they say of words.

Two passes make it. `e_step` walks over documents and finds their mixtures; what it leaves behind
(`weight` per document, `ratio` per cell) is enough for `word_mass`, which walks over words and
sums responsibilities. So no words × topics array is ever needed per worker, and cutting documents
or words into pieces never changes a bit of the result.

Both are here to be read, made of `equations`, and do the work of small corpora: importing numba
and loading a compiled kernel takes longer than finding the topics of an article. Of more
documents the twins in `kernels` do it, which have the same signatures
(`tests/model/core/test_kernels.py` says that they agree).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine
from topicvec.model import equations
from topicvec.model.own import OwnWords
from topicvec.model.state import Corpus, Record, Shard

__all__ = [
    "LEAST_WEIGHT",
    "Inferred",
    "Summed",
    "e_step",
    "even_theta",
    "likelihoods",
    "mix",
    "one_theta",
    "sum_documents",
    "sum_shards",
    "sum_words",
    "word_mass",
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
    table, weight, ratio : arrays, (U, K), (D, K), (nnz,)
        What `sum_words` needs.
    """

    corpus: Corpus
    theta: Floats
    mass: Floats
    bound: float
    n_passes: int
    table: Floats
    weight: Floats
    ratio: Floats

    @property
    def n_tokens(self) -> float:
        """Number of tokens."""
        return float(self.corpus.type_counts.sum())

    @property
    def proportions(self) -> Floats:
        """Posterior mean of each document's mixture (D, K); rows sum to 1."""
        means: Floats = self.theta / self.theta.sum(axis=1, keepdims=True, dtype=float)
        return means

    def responsibilities(self, document: int, rows: Ints) -> Floats:
        """Give the topics' probabilities (J, K) for words of a document, by vector row."""
        places = np.searchsorted(self.corpus.types, rows)
        return equations.responsibilities(self.table[places], self.weight[document])


def e_step(
    indptr: Ints, words: Ints, counts: Floats, table: Floats, alpha: Floats, group: Ints,
    theta: Floats, tol: float, max_passes: int, floor: float,
    new_theta: Floats, weight: Floats, ratio: Floats, mass: Floats,
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
        Limit of passes over a document.
    floor : float
        Smallest weight, see `LEAST_WEIGHT`.
    new_theta, weight, ratio, mass : arrays, (D, K), (D, K), (nnz,), (K,)
        Filled: θ (eq. 14), exp(E[log φ]), counts / evidence, and added: the topic mass.

    Returns
    -------
    tuple of float and int
        The bound of the shard without the row maxima, and the number of passes over documents.
    """
    bound, passes = 0.0, 0
    for d in range(len(indptr) - 1):
        cells = slice(indptr[d], indptr[d + 1])
        n, prior, L = counts[cells].astype(float), alpha[group[d]], table[words[cells]]
        current = theta[d].astype(float)
        for _ in range(max_passes):
            passes += 1
            weight[d] = equations.mixture_weight(current, floor)
            with np.errstate(invalid="ignore"):  # OpenBLAS looks at lanes that it does not use
                ratio[cells] = n / equations.evidence(L, weight[d])
                m = equations.topic_mass(ratio[cells], L, weight[d])
            found = equations.dirichlet(prior, m)
            change = np.abs(found - current).sum()
            current = found
            if change <= 2 * tol * n.sum():
                break
        new_theta[d] = current
        bound += equations.document_bound(prior, n, n / ratio[cells], m, weight[d])
        mass += m
    return bound, passes


def word_mass(
    indptr: Ints, documents: Ints, ratio: Floats, weight: Floats, table: Floats
) -> Floats:
    """Sum the responsibilities of each word of a block over all documents.

    Parameters
    ----------
    indptr, documents, ratio : arrays
        The block by words: the documents with the word, and what `e_step` left in that cell.
    weight : array, (D, K)
        As left by `e_step`.
    table : array, (n_block, K)
        The block's rows of the table of `e_step`.

    Returns
    -------
    array, (n_block, K)
        C_wk = Σ_d n_dw π_dwk.
    """
    parts = ratio[:, None] * weight[documents]
    return np.asarray(np.add.reduceat(parts, indptr[:-1], axis=0) * table)


def even_theta(corpus: Corpus, alpha: Floats) -> tuple[Floats, ...]:
    """Deal the tokens of each document evenly among its topics, (d, K) of each shard.

    Where α is one number, `one_theta` leads to the same topics: only differences between topics
    count in the first pass (`test_a_start_at_ones_or_even_is_the_same`).
    """
    return tuple(_even(shard, corpus.allowed[shard.group], alpha) for shard in corpus.shards)


def _even(shard: Shard, allowed: Bools, alpha: Floats) -> Floats:
    totals = np.concatenate([[0.0], np.cumsum(shard.counts, dtype=float)])
    tokens_each = np.diff(totals[shard.indptr]) / allowed.sum(1)
    theta: Floats = np.where(allowed, alpha + tokens_each[:, None], 0.0)
    return theta.astype(shard.counts.dtype)


def one_theta(corpus: Corpus) -> tuple[Floats, ...]:
    """Start all mixtures at θ = 1 as the original does, (d, K) of each shard; zero where barred."""
    shards = corpus.shards
    return tuple(corpus.allowed[each.group].astype(each.counts.dtype) for each in shards)


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
    for part, tops, more in engine.map(block, zip(pieces, owns, strict=True)):
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
    theta, C = [], np.zeros(table.shape, table.dtype)
    mass, logs, bound, n_passes = np.zeros(len(alpha)), np.zeros(len(alpha)), 0.0, 0
    shard = partial(_sum, corpus.compiled, table, corpus.allowed * alpha, tol, max_passes, log_phi)
    found = engine.map(shard, zip(corpus.shards, start, strict=True))
    for each, (its, words, *sums) in zip(corpus.shards, found, strict=True):
        theta.append(its)
        C[each.types] += words
        mass, logs = mass + sums[0], logs + sums[1]
        bound, n_passes = bound + sums[2], n_passes + sums[3]
    return Summed(tuple(theta), C, mass, logs, bound, n_passes)


def _sum(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, log_phi: bool,
    piece: Piece,
) -> Piece:  # fmt: skip
    shard = piece[0]
    theta, weight, ratio, mass, *rest = _shard(compiled, table, alpha, tol, max_passes, piece)
    C = _words(compiled, (shard, ratio, weight, table[shard.types]))
    logs: Floats = np.zeros(len(mass))
    if log_phi:
        logs = np.where(theta > 0, equations.expected_log_phi(theta.astype(float)), 0.0).sum(0)
    return theta, C, mass, logs, *rest


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
    shape = corpus.n_documents, len(alpha)
    theta, weight = np.empty(shape, corpus.dtype), np.empty(shape, table.dtype)
    ratio = np.empty(corpus.n_cells, table.dtype)
    mass, bound, n_passes = np.zeros(len(alpha)), 0.0, 0
    shard = partial(_shard, corpus.compiled, table, corpus.allowed * alpha, tol, max_passes)
    found = engine.map(shard, zip(corpus.shards, start, strict=True))
    for each, part in zip(corpus.shards, found, strict=True):
        theta[each.rows], weight[each.rows], ratio[each.place] = part[:3]
        mass, bound, n_passes = mass + part[3], bound + part[4], n_passes + part[5]
    return Inferred(corpus, theta, mass, bound, n_passes, table, weight, ratio)


def sum_words(engine: Engine, found: Inferred) -> Floats:
    """Sum up the tokens of the word types in the topics, C_wk = Σ_d n_dw π_dwk (U, K)."""
    table = found.table
    pieces = [
        (each, found.ratio[each.place], found.weight[each.rows], table[each.types])
        for each in found.corpus.shards
    ]
    return _add_words(engine, found.corpus, pieces, table.dtype)


def sum_documents(engine: Engine, found: Inferred) -> Floats:
    """Sum up the topics' proportions in the documents that have each word type, (U, K)."""
    one = np.float32(1)
    shares = found.proportions.astype(np.float32)
    pieces = [
        (each, np.broadcast_to(one, len(each.cells)), shares[each.rows],
         np.broadcast_to(one, (len(each.types), shares.shape[1])))
        for each in found.corpus.shards
    ]  # fmt: skip
    return _add_words(engine, found.corpus, pieces, np.dtype(np.float32))


def _add_words(engine: Engine, corpus: Corpus, pieces: list[Piece], dtype: np.dtype[Any]) -> Floats:
    C = np.zeros((len(corpus.types), corpus.allowed.shape[1]), dtype)
    found = engine.map(partial(_words, corpus.compiled), pieces)
    for each, words in zip(corpus.shards, found, strict=True):
        C[each.types] += words
    return C


def _words(compiled: bool, piece: Piece) -> Floats:
    shard, ratio, weight, table = piece
    loop = word_mass
    if compiled:
        from topicvec.model.kernels import word_mass as loop
    return np.asarray(loop(shard.word_indptr, shard.documents, ratio[shard.cells], weight, table))


def _shard(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, piece: Piece
) -> Piece:
    shard, start = piece
    theta, weight = np.empty_like(start), np.empty(start.shape, table.dtype)
    ratio, mass = np.empty(len(shard.counts), table.dtype), np.zeros(start.shape[1])
    loop = e_step
    if compiled:  # numba takes a while to import
        from topicvec.model.kernels import e_step as loop
    bound, n_passes = loop(
        shard.indptr, shard.words, shard.counts, table, alpha, shard.group, start, tol, max_passes,
        LEAST_WEIGHT[table.dtype.char], theta, weight, ratio, mass,
    )  # fmt: skip
    return theta, weight, ratio, mass, bound, n_passes

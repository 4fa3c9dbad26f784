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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine, Part
from topicvec.model import equations
from topicvec.model.own import OwnWords
from topicvec.model.state import Corpus, Record

__all__ = [
    "LEAST_WEIGHT",
    "Inferred",
    "e_step",
    "even_theta",
    "likelihoods",
    "map_words",
    "mix",
    "one_theta",
    "word_mass",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Piece = tuple[Any, ...]

LEAST_WEIGHT = {"f": 1e-18, "d": 1e-140}  # by precision: the product of two never underflows


@dataclass(frozen=True, eq=False)
class Inferred(Record):
    """Mixtures of documents under fixed topics, with what is needed to sum up words.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    theta : array, (D, K)
        Dirichlet parameters of their mixtures; zero where a topic is not allowed.
    mass : array, (K,)
        Expected number of tokens of each topic.
    bound : float
        The bound of these documents.
    n_passes : int
        Passes over documents.
    table, weight, ratio : arrays, (U, K), (D, K), (nnz,)
        What `map_words` needs.
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
        means: Floats = self.theta / self.theta.sum(axis=1, keepdims=True)
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
        new_theta[d] = theta[d]
        for _ in range(max_passes):
            passes += 1
            weight[d] = equations.mixture_weight(new_theta[d], floor)
            with np.errstate(invalid="ignore"):  # OpenBLAS looks at lanes that it does not use
                ratio[cells] = n / equations.evidence(L, weight[d])
                m = equations.topic_mass(ratio[cells], L, weight[d])
            found = equations.dirichlet(prior, m)
            change = np.abs(found - new_theta[d]).sum()
            new_theta[d] = found
            if change <= 2 * tol * n.sum():
                break
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


def even_theta(corpus: Corpus, alpha: Floats) -> Floats:
    """Deal the tokens of each document evenly among its topics, (D, K).

    Where α is one number, `one_theta` leads to the same topics: only differences between topics
    count in the first pass (`test_a_start_at_ones_or_even_is_the_same`).
    """
    allowed = corpus.allowed[corpus.group]
    totals = np.concatenate([[0.0], np.cumsum(corpus.counts, dtype=float)])
    tokens_each = np.diff(totals[corpus.indptr]) / allowed.sum(1)
    return np.where(allowed, alpha + tokens_each[:, None], 0.0)


def one_theta(corpus: Corpus) -> Floats:
    """Start all mixtures at θ = 1, (D, K), as the original does; zero where not allowed."""
    return corpus.allowed[corpus.group].astype(float)


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


def mix(
    engine: Engine, corpus: Corpus, table: Floats, alpha: Floats, start: Floats,
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
    start : array, (D, K)
        Dirichlet parameters to start from.
    tol, max_passes : float, int
        When a document is done, see `e_step`.

    Returns
    -------
    Inferred
        Its bound is without the unigram probabilities and the maxima of the table's rows.
    """
    theta, weight = np.empty_like(start), np.empty(start.shape, table.dtype)
    ratio = np.empty(len(corpus.counts), table.dtype)
    mass, bound, n_passes = np.zeros(start.shape[1]), 0.0, 0
    shard = partial(_shard, corpus.compiled, table, corpus.allowed * alpha, tol, max_passes)
    edges = [corpus.indptr[rows.start : rows.stop + 1] for rows in corpus.shards]
    cells_of = [slice(indptr[0], indptr[-1]) for indptr in edges]
    pieces = [
        (p - p[0], corpus.words[cells], corpus.counts[cells], corpus.group[rows], start[rows])
        for rows, p, cells in zip(corpus.shards, edges, cells_of, strict=True)
    ]
    found = engine.map(shard, pieces)
    for rows, cells, part in zip(corpus.shards, cells_of, found, strict=True):
        theta[rows], weight[rows], ratio[cells] = part[:3]
        mass, bound, n_passes = mass + part[3], bound + part[4], n_passes + part[5]
    return Inferred(corpus, theta, mass, bound, n_passes, table, weight, ratio)


def map_words(
    engine: Engine, found: Inferred, function: Callable[..., Any], *more: Iterable[Part]
) -> Any:
    """Map over blocks of word types a function of C_wk = Σ_d n_dw π_dwk (n_block, K).

    ``more`` have a `Part` for each block, for earlier arguments of the function.
    """
    corpus = found.corpus
    edges = [corpus.word_indptr[words.start : words.stop + 1] for words in corpus.blocks]
    pieces = (
        (indptr - indptr[0], corpus.documents[cells], Part(found.ratio, corpus.cells[cells]), table)
        for indptr, words in zip(edges, corpus.blocks, strict=True)
        for cells, table in ((slice(indptr[0], indptr[-1]), found.table[words]),)
    )
    block = partial(_block, corpus.compiled, found.weight, function)
    return engine.map(block, zip(pieces, *more, strict=True))


def _shard(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, piece: Piece
) -> Piece:
    indptr, words, counts, group, start = piece
    theta, weight = np.empty_like(start), np.empty(start.shape, table.dtype)
    ratio, mass = np.empty(len(counts), table.dtype), np.zeros(start.shape[1])
    loop = e_step
    if compiled:  # numba takes a while to import
        from topicvec.model.kernels import e_step as loop
    bound, n_passes = loop(
        indptr, words, counts, table, alpha, group, start, tol, max_passes,
        LEAST_WEIGHT[table.dtype.char], theta, weight, ratio, mass,
    )  # fmt: skip
    return theta, weight, ratio, mass, bound, n_passes


def _block(compiled: bool, weight: Floats, function: Callable[..., Any], piece: Piece) -> Any:
    (indptr, documents, ratio, table), *parts = piece
    loop = word_mass
    if compiled:
        from topicvec.model.kernels import word_mass as loop
    C = np.asarray(loop(indptr, documents, ratio.take(), weight, table))
    return function(*(part.take() for part in parts), C)

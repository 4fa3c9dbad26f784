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

from topicvec.engine import Engine
from topicvec.model import equations
from topicvec.model.state import Corpus, freeze

__all__ = [
    "Inferred",
    "e_step",
    "even_theta",
    "likelihoods",
    "map_words",
    "mix",
    "scaled_likelihood",
    "weight_floor",
    "word_mass",
]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Piece = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Inferred:
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

    def __post_init__(self) -> None:
        freeze(self)

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


def weight_floor(dtype: np.dtype[np.floating]) -> float:
    """Give the smallest weight used, so that the product of two never underflows."""
    return 1e-18 if np.dtype(dtype) == np.float32 else 1e-140


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
        Smallest weight, see `weight_floor`.
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
    indptr: Ints, documents: Ints, cells: Ints, ratio: Floats, weight: Floats, table: Floats
) -> Floats:
    """Sum the responsibilities of each word of a block over all documents.

    Parameters
    ----------
    indptr, documents, cells : arrays
        The block by words: the documents with the word, and the position of that cell in the
        documents' CSR.
    ratio, weight : arrays, (nnz,), (D, K)
        As left by `e_step`.
    table : array, (n_block, K)
        The block's rows of the table of `e_step`.

    Returns
    -------
    array, (n_block, K)
        C_wk = Σ_d n_dw π_dwk.
    """
    parts = ratio[cells, None] * weight[documents]
    return np.asarray(np.add.reduceat(parts, indptr[:-1], axis=0) * table)


def even_theta(corpus: Corpus, alpha: Floats) -> Floats:
    """Deal the tokens of each document evenly among its topics, (D, K).

    A start at ones instead lets the first topic to grow take a whole document (collapse).
    """
    allowed = corpus.allowed[corpus.group]
    tokens_each = corpus.lengths / allowed.sum(1)
    return np.where(allowed, alpha + tokens_each[:, None], 0.0)


def scaled_likelihood(logits: Floats, dtype: np.dtype[np.floating]) -> tuple[Floats, Floats]:
    """Give exp(logits) with each row divided by its maximum, and the logarithms of these.

    ``logits`` (n, K) is overwritten; ``dtype`` is that of the table to be.
    """
    peak = logits.max(axis=1)
    logits -= peak[:, None]
    return np.maximum(np.exp(logits, out=logits), weight_floor(dtype), out=logits), peak


def likelihoods(
    engine: Engine, function: Callable[[Any], tuple[Floats, Floats]], pieces: Sequence[Any],
    n_topics: int, dtype: np.dtype[np.floating],
) -> tuple[Floats, Floats]:  # fmt: skip
    """Put the `scaled_likelihood` of all pieces of word types together: the E-step's table.

    Returns
    -------
    table : array, (U, K)
        exp(v·t + r), each row divided by its maximum.
    peak : array, (U,)
        Logarithms of these maxima.
    """
    table = np.empty((sum(len(piece) for piece in pieces), n_topics), dtype)
    peak, start = np.empty(len(table)), 0
    for part, tops in engine.map(function, pieces):
        rows = slice(start, start + len(part))
        table[rows], peak[rows], start = part, tops, rows.stop
    return table, peak


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
    found = engine.map(shard, [_documents(corpus, start, rows) for rows in corpus.shards])
    for rows, part in zip(corpus.shards, found, strict=True):
        cells = slice(corpus.indptr[rows.start], corpus.indptr[rows.stop])
        theta[rows], weight[rows], ratio[cells] = part[:3]
        mass, bound, n_passes = mass + part[3], bound + part[4], n_passes + part[5]
    return Inferred(corpus, theta, mass, bound, n_passes, table, weight, ratio)


def map_words(
    engine: Engine, found: Inferred, function: Callable[..., Any], *more: Iterable[Any]
) -> Any:
    """Map over blocks of word types a function of C_wk = Σ_d n_dw π_dwk (n_block, K).

    ``more`` have an item for each block, for further arguments of the function; they are taken
    as the work goes on, so that they need not all be there at once.
    """
    block = partial(_block, found.corpus.compiled, found.ratio, found.weight, function)
    pieces = [_words(found, words) for words in found.corpus.blocks]
    return engine.map(block, zip(pieces, *more, strict=True))


def _documents(corpus: Corpus, start: Floats, rows: slice) -> Piece:
    indptr = corpus.indptr[rows.start : rows.stop + 1]
    cells = slice(indptr[0], indptr[-1])
    return (
        indptr - indptr[0],
        corpus.words[cells],
        corpus.counts[cells],
        corpus.group[rows],
        start[rows],
    )


def _shard(
    compiled: bool, table: Floats, alpha: Floats, tol: float, max_passes: int, piece: Piece
) -> Piece:
    indptr, words, counts, group, start = piece
    theta, weight = np.empty_like(start), np.empty(start.shape, table.dtype)
    ratio, mass = np.empty(len(counts), table.dtype), np.zeros(start.shape[1])
    bound, n_passes = _loops(compiled).e_step(
        indptr, words, counts, table, alpha, group, start, tol, max_passes,
        weight_floor(table.dtype), theta, weight, ratio, mass,
    )  # fmt: skip
    return theta, weight, ratio, mass, bound, n_passes


def _words(found: Inferred, words: slice) -> Piece:
    corpus = found.corpus
    indptr = corpus.word_indptr[words.start : words.stop + 1]
    cells = slice(indptr[0], indptr[-1])
    return indptr - indptr[0], corpus.documents[cells], corpus.cells[cells], found.table[words]


def _block(
    compiled: bool, ratio: Floats, weight: Floats, function: Callable[..., Any], piece: Piece
) -> Any:
    (indptr, documents, cells, table), *more = piece
    C = _loops(compiled).word_mass(indptr, documents, cells, ratio, weight, table)
    return function(np.asarray(C), *more)


def _loops(compiled: bool) -> Any:
    if compiled:
        from topicvec.model import kernels  # numba takes a while to import

        return kernels
    from topicvec.model import estep

    return estep

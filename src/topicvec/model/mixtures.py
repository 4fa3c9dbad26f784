"""The documents' pass of the E-step: their mixtures under a table of exp(v·t + r)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine
from topicvec.model import twins
from topicvec.model.corpus import Corpus

__all__ = ["Mixtures", "even_theta", "mass_of_words", "mix"]

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Mixtures:
    """What the pass over documents finds.

    Parameters
    ----------
    theta : array, (D, K)
        Dirichlet parameters.
    mass : array, (K,)
        Expected number of tokens of each topic.
    bound : float
        The bound, without the unigram probabilities and the maxima of the table's rows.
    n_passes : int
        Passes over documents.
    table, weight, ratio : arrays, (U, K), (D, K), (nnz,)
        What `mass_of_words` needs.
    """

    theta: Floats
    mass: Floats
    bound: float
    n_passes: int
    table: Floats
    weight: Floats
    ratio: Floats


def even_theta(corpus: Corpus, alpha: Floats) -> Floats:
    """Share the tokens of each document evenly among its topics, (D, K).

    A start at ones instead lets the first topic to grow take a whole document (collapse).
    """
    allowed = corpus.allowed[corpus.group]
    share = corpus.lengths / allowed.sum(1)
    return np.where(allowed, alpha + share[:, None], 0.0)


def mix(
    engine: Engine,
    corpus: Corpus,
    table: Floats,
    alpha: Floats,
    start: Floats,
    tol: float,
    max_passes: int,
) -> Mixtures:
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
        When a document is done, see `topicvec.model.kernels.e_step`.

    Returns
    -------
    Mixtures
    """
    prior, loops = corpus.allowed * alpha, _loops(corpus)
    theta, weight = np.empty_like(start), np.empty(start.shape, table.dtype)
    ratio = np.empty(len(corpus.counts), table.dtype)

    def shard(documents: slice) -> tuple[Floats, float, int]:
        a, b = documents.start, documents.stop
        cells = slice(corpus.indptr[a], corpus.indptr[b])
        mass = np.zeros(start.shape[1])
        bound, n_passes = loops.e_step(
            corpus.indptr[a : b + 1] - cells.start, corpus.words[cells], corpus.counts[cells],
            table, prior, corpus.group[documents], start[documents],
            tol, max_passes, twins.weight_floor(table.dtype),
            theta[documents], weight[documents], ratio[cells], mass,
        )  # fmt: skip
        return mass, bound, n_passes

    total, bound, n_passes = np.zeros(start.shape[1]), 0.0, 0
    for part in engine.map(shard, corpus.shards):
        total, bound, n_passes = total + part[0], bound + part[1], n_passes + part[2]
    return Mixtures(theta, total, bound, n_passes, table, weight, ratio)


def mass_of_words(corpus: Corpus, found: Mixtures, words: slice) -> Floats:
    """Sum the responsibilities of a block of word types over the documents, (n_block, K)."""
    indptr = corpus.word_indptr[words.start : words.stop + 1]
    return np.asarray(
        _loops(corpus).word_mass(
            indptr, corpus.documents, corpus.cells, found.ratio, found.weight, found.table[words]
        )
    )


def _loops(corpus: Corpus) -> Any:
    if not corpus.compiled:
        return twins
    from topicvec.model import kernels  # numba takes a while to import

    return kernels

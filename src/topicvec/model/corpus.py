"""The counts and the words of a fit, laid out for the two passes of the E-step.

Work is cut into pieces here, once, by the data alone: shards of documents, blocks of word types,
blocks of vocabulary rows. No piece depends on the number of workers.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix

from topicvec.model.state import freeze

__all__ = ["Corpus", "Lexicon", "cut_evenly"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]

_FEW_DOCUMENTS = 8  # done by the readable loops before the compiled ones are loaded
_N_PIECES = 48  # enough for many workers
_LEAST_COST = 20_000.0  # of a piece, so that it outweighs its overhead


def cut_evenly(
    cost: Floats, n_pieces: int = _N_PIECES, least_cost: float = _LEAST_COST
) -> tuple[slice, ...]:
    """Cut a row of items into consecutive pieces of about equal cost, fewer if they would be tiny.

    Examples
    --------
    >>> cut_evenly(np.array([1.0, 1.0, 2.0]), 2, least_cost=1.0)
    (slice(0, 2, None), slice(2, 3, None))
    """
    total = np.cumsum(cost, dtype=float)
    if not len(total):
        return ()
    n_pieces = int(np.clip(np.ceil(total[-1] / least_cost), 1, n_pieces))
    goals = total[-1] * np.arange(1, n_pieces) / n_pieces
    edges = np.unique(np.concatenate([[0], np.searchsorted(total, goals) + 1, [len(cost)]]))
    edges = edges[edges <= len(cost)]
    return tuple(slice(int(a), int(b)) for a, b in pairwise(edges))


@dataclass(frozen=True)
class Lexicon:
    """The words that a fit needs: those of the normaliser and those of the corpus.

    Parameters
    ----------
    vectors : array, (W, N)
        Word vectors; a view of the given ones when all words are in the normaliser.
    unigram : array, (W,)
        Probabilities; sums to 1 over the normaliser and is zero outside.
    log_unigram : array, (U,)
        Log-probabilities of the corpus's word types, on the same scale.
    rows : array, (U,)
        Row of each word type of the corpus, increasing.
    """

    vectors: Floats
    unigram: Floats
    log_unigram: Floats
    rows: Ints

    def __post_init__(self) -> None:
        freeze(self)

    @cached_property
    def squares(self) -> Floats:
        """Squared norm of each vector, (W,)."""
        return np.asarray(np.einsum("wn,wn->w", self.vectors, self.vectors))

    @cached_property
    def centre(self) -> Floats:
        """Mean of the vectors under the unigram distribution, (N,)."""
        return np.asarray(self.unigram.astype(self.vectors.dtype) @ self.vectors)

    @classmethod
    def of(
        cls, vectors: Floats, unigram: Floats, types: Ints, n_normalizer_words: int | None = None
    ) -> "Lexicon":
        """Take the vectors of the normaliser's words and of the corpus's word types."""
        u = np.asarray(unigram, dtype=float)
        if n_normalizer_words is None or n_normalizer_words >= len(u):
            return cls(vectors, u / u.sum(), np.log(u[types] / u.sum()), types)
        common = np.argsort(-u, kind="stable")[:n_normalizer_words]
        inside = np.zeros_like(u)
        inside[common] = u[common]
        total = u[common].sum()
        needed = np.union1d(common, types)
        return cls(
            vectors[needed],
            inside[needed] / total,
            np.log(u[types] / total),
            np.searchsorted(needed, types),
        )


@dataclass(frozen=True)
class Corpus:
    """Counts of documents × word types, by document and by word, cut into pieces.

    Parameters
    ----------
    indptr, words, counts : arrays
        CSR by document; ``words`` index the types.
    word_indptr, documents, cells : arrays
        The same by word; ``cells`` are positions in the CSR.
    types : array, (U,)
        Column of the given counts of each word type.
    type_counts : array, (U,)
        How often each type occurs.
    group : array, (D,)
        Each document's row of ``allowed``.
    allowed : array, (n_groups, K)
        Topics that the documents of a group may use.
    shards, blocks : tuples of slices
        Pieces of the documents and of the word types.
    compiled : bool
        Whether the compiled loops are to be used, see `topicvec.model.twins`.
    """

    indptr: Ints
    words: Ints
    counts: Floats
    word_indptr: Ints
    documents: Ints
    cells: Ints
    types: Ints
    type_counts: Floats
    group: Ints
    allowed: Bools
    shards: tuple[slice, ...]
    blocks: tuple[slice, ...]
    compiled: bool

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.indptr) - 1

    @property
    def lengths(self) -> Floats:
        """Number of tokens of each document."""
        return np.diff(np.concatenate([[0.0], np.cumsum(self.counts, dtype=float)])[self.indptr])

    @classmethod
    def of(
        cls,
        counts: csr_matrix | csr_array,
        n_topics: int,
        allowed: Bools | None = None,
        dtype: type[np.floating] = np.float32,
        compiled: bool | None = None,
    ) -> "Corpus":
        """Lay out counts of documents × words, with an optional documents × topics mask."""
        table = csr_array(counts, copy=True)  # the given one stays as it is
        table.sum_duplicates()
        table.eliminate_zeros()
        types, words = np.unique(table.indices, return_inverse=True)
        by_word = np.argsort(words, kind="stable")
        per_type = np.bincount(words, minlength=len(types))
        owner = np.repeat(np.arange(table.shape[0], dtype=np.int32), np.diff(table.indptr))
        groups, group = _group(allowed, table.shape[0], n_topics)
        return cls(
            indptr=table.indptr.astype(np.int64),
            words=words.astype(np.int32),
            counts=table.data.astype(dtype),
            word_indptr=np.concatenate([[0], np.cumsum(per_type)]).astype(np.int64),
            documents=owner[by_word],
            cells=by_word.astype(np.int64),
            types=types.astype(np.int64),
            type_counts=np.bincount(words, table.data, minlength=len(types)).astype(float),
            group=group,
            allowed=groups,
            shards=cut_evenly(np.diff(table.indptr) + 4.0),  # a document costs even when short
            blocks=cut_evenly(per_type + 100.0),  # a type costs its row of the matrix product
            compiled=table.shape[0] > _FEW_DOCUMENTS if compiled is None else compiled,
        )


def _group(allowed: Bools | None, n_documents: int, n_topics: int) -> tuple[Bools, Ints]:
    """Number the distinct rows of a mask."""
    if allowed is None:
        return np.ones((1, n_topics), bool), np.zeros(n_documents, np.int32)
    groups, group = np.unique(np.asarray(allowed, bool), axis=0, return_inverse=True)
    return groups, group.ravel().astype(np.int32)

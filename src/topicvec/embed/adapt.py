"""General vectors that learn from a corpus: how far they hold in it, and what they leave open.

PSDVec says G = V Vᵀ + A: log ratios of co-occurrence are inner products and a residual. With the
general vectors V fixed, the corpus's own log ratios G tell two things. How far the general
geometry holds here is a scalar, found by least squares,

    a = Σ f G (V Vᵀ) / Σ f (V Vᵀ)²,  at least 0.1 and at most 1,

and what it does not explain is A = G − a V Vᵀ. The best eigenpairs of f∘A are vectors R of the
residual, and the vectors of this corpus are 0.7 [√a V, ½ R]. The weights f = min(√(x + e), 10) / 10
are the evidence: x is how often two words were seen together and e how often chance would have
it. A word that was seen too seldom to tell has a short residual and keeps its general vector; a
word without a general one has V = 0 and learns all that it has. Without general vectors R alone
is left, in any language. Part of what general vectors know of words is not seen in their company
(synonyms seldom stand together), so a tenth is left to them where least squares finds nothing.
"""

import logging
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.formats.tensors import with_rows
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import FormatError
from topicvec.text.numbered import Block

if TYPE_CHECKING:
    from topicvec.embed.eigen import Rows

__all__ = [
    "KnownPairs", "Learned", "Pairs", "RarePairs", "adapt", "count_pairs", "learned_from",
    "likely_pairs", "reduced",
]  # fmt: skip

log = logging.getLogger(__name__)

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

N_DIMS = 100  # of the residual
N_CORE = 3000  # most frequent words, solved together; the others are put among them
WINDOW = 10  # words on a side
_SMOOTHING = np.float32(0.2)  # of log ratios: what is not seen in a small corpus says little
_ENOUGH = np.float32(10.0)  # root of the number of pairs that count as full evidence
_SHARE = np.float32(0.5)  # of the residual beside the general vectors
_SCALE = np.float32(0.7)  # of all: topics with words of their own need not be as sharp
_HOLDS = (0.1, 1.0)  # least and most of a
_SMALL = 600  # words that LAPACK solves sooner
_RANGES = 8  # of words that are counted at a time, at least
_CELLS = 1 << 24  # of a table of pairs: 64 MB


class RarePairs(NamedTuple):
    """Pairs of some rarer words with the most frequent ones, counted when they are taken.

    Attributes
    ----------
    blocks : sequence of Block
        The documents.
    rows : slice
        The words.
    n_core, n_words : int
        How many words are the most frequent ones, and all that count.
    """

    blocks: Sequence[Block]
    rows: slice
    n_core: int
    n_words: int

    def take(self) -> csr_array:
        """Count them, (rows, n_core) of float32."""
        table = _count(self.blocks, self.n_words, self.rows, self.n_core)[0]
        places = np.nonzero(table)
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(table, axis=1))])
        return csr_array((table[places].astype(np.float32), places[1], indptr), table.shape)


class KnownPairs(NamedTuple):
    """Pairs of some rarer words with the most frequent ones, as of `RarePairs`, at hand.

    Attributes
    ----------
    rows : slice
        The words.
    table : csr_array of float32, (rows, n_core)
    """

    rows: slice
    table: csr_array

    def take(self) -> csr_array:
        """Give them."""
        return self.table


class Pairs(NamedTuple):
    """How often words of a corpus stand near each other.

    Attributes
    ----------
    core : ndarray of float32, shape (n_core, n_core)
        Pairs of the most frequent words.
    totals : ndarray of float64, shape (n_words,)
        Pairs of each word with any.
    rest : sequence of RarePairs or KnownPairs
        Pairs of the rarer words with the most frequent ones, some words after the other.
    """

    core: Matrix
    totals: Floats
    rest: Sequence[RarePairs | KnownPairs] = ()


def count_pairs(blocks: Sequence[Block], n_words: int, engine: Engine) -> Pairs:
    """Count the pairs of words at most ten apart in the same document.

    Parameters
    ----------
    blocks : sequence of Block
        The tokens of the documents, numbered by decreasing frequency; a number that is none of
        the words keeps its place.
    n_words : int
        How many words there are.
    engine : Engine
        Spreads the work; sums are whole numbers, so the result does not depend on it.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> from topicvec.engine import InPlace
    >>> from topicvec.text.prepared import Tokens
    >>> tokens = Tokens(np.array([0, 1, 2, 0, 2], np.int32), np.array([2, 3]))
    >>> pairs = count_pairs([tokens], 3, InPlace())
    >>> pairs.core.astype(int).tolist(), pairs.totals.tolist()
    ([[0, 1, 2], [1, 0, 0], [2, 0, 0]], [3.0, 1.0, 2.0])
    """
    n_core, totals = min(N_CORE, n_words), np.zeros(n_words)
    everything = [([block], n_words, slice(0, n_words), 0) for block in blocks]
    for _, found in engine.map(lambda piece: _count(*piece), everything):
        totals += found
    core = np.empty((n_core, n_core), np.float32)
    # Rows of about equal work; frequent words have most of it.
    goals = np.cumsum(totals[:n_core] + 1) / (totals[:n_core] + 1).sum()
    edges = np.unique([0, *np.searchsorted(goals, np.arange(1, _RANGES) / _RANGES), n_core])
    ranges = [slice(int(a), int(b)) for a, b in pairwise(edges)]
    pieces = [(blocks, n_words, rows, n_core) for rows in ranges]
    for rows, (table, _) in zip(ranges, engine.map(lambda p: _count(*p), pieces), strict=True):
        core[rows] = table
    size = int(np.clip(-(-(n_words - n_core) // _RANGES), 1, max(_CELLS // max(n_core, 1), 1)))
    starts = range(n_core, n_words, size)
    rare = [slice(start, min(start + size, n_words)) for start in starts]
    return Pairs(core, totals, [RarePairs(blocks, rows, n_core, n_words) for rows in rare])


def _count(
    blocks: Sequence[Block], n_words: int, rows: slice, n_columns: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Count the pairs of some words with the first so many, and with all."""
    from topicvec.embed.kernels import count_near  # numba takes a while to import

    n = rows.stop - rows.start
    table, totals = np.zeros((n, n_columns), np.int32), np.zeros(n, np.int64)
    for block in blocks:
        ids, lengths = block.take()
        count_near(ids, np.cumsum(lengths), rows.start, n_words, WINDOW, table, totals)
    return table, totals


def likely_pairs(counts: csr_array) -> Pairs:
    """Say how many pairs as of `count_pairs` are likely where only counts of words are known.

    Parameters
    ----------
    counts : csr_array, (n_documents, n_words)
        Counts or weights, the columns by decreasing frequency. In a document of n words a pair is
        at most ten apart in 20 of n − 1 cases, if words stand in any order.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> pairs = likely_pairs(csr_array([[2, 1, 0], [0, 1, 1]]))
    >>> pairs.core.tolist(), pairs.totals.tolist()
    ([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [2.0, 3.0, 1.0])
    """
    counts = counts.astype(float)
    lengths = np.asarray(counts.sum(axis=1))
    near = np.minimum(1.0, 2 * WINDOW / np.maximum(lengths - 1, 2 * WINDOW))
    weighted = counts.copy()
    weighted.data *= np.repeat(near, np.diff(counts.indptr))
    table = csr_array(weighted.T @ counts[:, :N_CORE])
    totals = weighted.T @ lengths - np.asarray((weighted * counts).sum(axis=0))
    table.setdiag(0)
    table.eliminate_zeros()
    n_core = table.shape[1]
    rest = KnownPairs(slice(n_core, len(totals)), table[n_core:].astype(np.float32))
    core = table[:n_core].toarray().astype(np.float32)
    return Pairs(core, np.maximum(totals, 0), [rest] if len(totals) > n_core else [])


class Learned(NamedTuple):
    """What a text adds to general vectors; together they are the vectors of the text.

    Attributes
    ----------
    words : tuple of str
        Words that the general vectors lack.
    rows : ndarray of float32, shape (n_words, N + R)
        Their vectors.
    places, residual : ndarrays, shape (n,), (n, R)
        Rows of the general vectors that have a residual, and what it is; R may be 0.
    mean : ndarray of float32, shape (N,)
        What is taken from general vectors before they are scaled; zero if R is 0.
    scale : float
        By which they are multiplied.
    unigram : ndarray of float64, shape (n_general + n_words,)
        Probabilities of all words.

    Examples
    --------
    >>> general = WordVectors(["cat", "dog"], [[1.0], [3.0]], [1, 1])
    >>> none = np.zeros((0, 0), np.float32)
    >>> cow = np.array([[2.0]], np.float32)
    >>> learned = Learned(("cow",), cow, np.zeros(0, int), none, np.zeros(1), 1.0, np.ones(3))
    >>> vectors = learned.join(general)
    >>> vectors.matrix.tolist(), learned_from(vectors, general).words
    ([[1.0], [3.0], [2.0]], ('cow',))
    """

    words: tuple[str, ...]
    rows: Matrix
    places: Ints
    residual: Matrix
    mean: Matrix
    scale: float
    unigram: Floats

    def join(self, general: WordVectors) -> WordVectors:
        """Put the vectors together; the same bits wherever it is done."""
        matrix = self._matrix(general)
        mean = b64encode(self.mean.astype("<f4").tobytes()).decode()
        about = {"general": str(len(general)), "scale": repr(float(self.scale)), "mean": mean}
        words = (*general.words, *self.words)
        return WordVectors(words, matrix, self.unigram, {**general.metadata, **about})

    def _matrix(self, general: WordVectors) -> Matrix:
        if not self.residual.shape[1]:
            return with_rows(general.matrix, self.rows)
        n, size = len(general), general.n_dims
        matrix = np.zeros((n + len(self.words), size + self.residual.shape[1]), np.float32)
        np.subtract(general.matrix, self.mean.astype(np.float32), out=matrix[:n, :size])
        matrix[:n, :size] *= np.float32(self.scale)
        matrix[self.places, size:] = self.residual + np.float32(0)  # −0 would not come back
        matrix[n:] = self.rows
        return matrix


def learned_from(vectors: WordVectors, general: WordVectors) -> Learned:
    """Take vectors that `Learned.join` made apart again."""
    n, size = len(general), general.n_dims
    mean = np.frombuffer(b64decode(vectors.metadata["mean"]), "<f4")
    residual = vectors.matrix[:n, size:]
    places = np.flatnonzero(residual.any(axis=1))
    return Learned(
        vectors.words[n:], vectors.matrix[n:], places, residual[places],
        mean, float(vectors.metadata["scale"]), vectors.unigram,
    )  # fmt: skip


def reduced(vectors: WordVectors) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """Say how to make vectors again from the embedded ones; a pickle need not hold these.

    Returns
    -------
    tuple of a function and its arguments, or None
        None if the vectors do not rest on the embedded ones.

    Examples
    --------
    >>> from topicvec.embed import load_vectors
    >>> reduced(WordVectors(["cat"], [[1]], [1]))
    >>> again, arguments = reduced(load_vectors())
    >>> again(*arguments) is load_vectors()
    True
    """
    from topicvec.embed.load import load_vectors  # which needs WordVectors only

    general = load_vectors()
    if vectors is general or (vectors.metadata == general.metadata and vectors == general):
        return _restored, (general.content_hash, None)
    if vectors.metadata.get("general") != str(len(general)):
        return None
    if vectors.words[: len(general)] != general.words:
        return None
    return _restored, (general.content_hash, learned_from(vectors, general))


def _restored(content_hash: str, learned: Learned | None) -> WordVectors:
    from topicvec.embed.load import load_vectors

    general = load_vectors()
    if general.content_hash != content_hash:
        raise FormatError(
            "this pickle rests on the embedded vectors of another version of topicvec: unpickle it "
            "there, and use model.save, which other versions read"
        )
    return general if learned is None else learned.join(general)


class Adaptation(NamedTuple):
    """What a corpus says of general vectors.

    Attributes
    ----------
    scale : float
        0.7 √a, by which the general vectors are multiplied; 0 if there are none.
    residual : ndarray of float32, shape (n, n_dims)
        0.35 R.
    """

    scale: float
    residual: Matrix


class Sliceable(Protocol):
    """Rows that are made when they are asked for."""

    def __getitem__(self, rows: slice, /) -> Matrix:
        """Give some of them."""
        ...


def adapt(pairs: Pairs, V: Sliceable, engine: Engine) -> Adaptation:
    """Find how far vectors hold in a corpus, and what they leave open.

    Parameters
    ----------
    pairs : Pairs
        Of the words of the corpus.
    V : ndarray of float32, shape (n, N), or what gives slices of its rows
        Their vectors, of which the mean is taken away; zero for words without one.
    engine : Engine
        Spreads the work; the result does not depend on it.

    Returns
    -------
    Adaptation

    Examples
    --------
    >>> from topicvec.engine import LocalEngine
    >>> from topicvec.text.prepared import Tokens
    >>> tokens = Tokens(np.array([0, 1, 2, 3] * 20, np.int32), np.full(40, 2))
    >>> pairs = count_pairs([tokens], 4, LocalEngine(1))
    >>> adapt(pairs, np.zeros((4, 3), np.float32), LocalEngine(1)).residual.shape
    (4, 1)
    """
    from topicvec.embed.eigen import Rows  # scipy.linalg takes a while: an article needs none

    n = len(pairs.core)
    margin = pairs.totals / np.sqrt(max(pairs.totals.sum(), 1e-300))  # e = margin_i margin_j
    core = np.ascontiguousarray(V[:n], np.float32)
    S, a = _open(Rows(n, engine), pairs.core, margin[:n], core)
    values, Q = _solve(Rows(n, engine), S)
    residual = np.empty((len(margin), len(values)), np.float32)
    residual[:n] = Q * np.sqrt(values)
    axes = np.asarray(Q / np.sqrt(values), np.float32)
    pieces = ((rare, V[rare.rows]) for rare in pairs.rest)
    placed = engine.map(partial(_place, margin, core, a, axes), pieces)
    for rare, found in zip(pairs.rest, placed, strict=True):
        residual[rare.rows] = found
    residual *= _SCALE * _SHARE
    log.info("general vectors hold by %.2f here; %d dimensions of residual", a, len(values))
    return Adaptation(float(_SCALE * np.sqrt(a)), residual)


def _open(rows: "Rows", x: Matrix, margin: Floats, V: Matrix) -> tuple[Matrix, float]:
    """Give f∘(G − a V Vᵀ) of the core words, and a."""
    wide, transposed = margin.astype(np.float32), np.ascontiguousarray(V.T)

    def block(x: Matrix, own: Floats, v: Matrix) -> tuple[Matrix, Matrix, Floats]:
        G, f = _ratios(x, own.astype(np.float32)[:, None] * wide)
        gram = v @ transposed
        weighted = f * gram
        return f * G, weighted, np.array([np.vdot(weighted, G), np.vdot(weighted, gram)], float)

    S, H = (np.empty((rows.n, rows.n), np.float32) for _ in range(2))
    sums = np.zeros(2)
    blocks = rows.map(block, x, margin, V)
    for where, (targets, explained, part) in zip(rows.blocks, blocks, strict=True):
        S[where], H[where], sums = targets, explained, sums + part
    a = float(np.clip(sums[0] / max(sums[1], 1e-300), *_HOLDS)) if V.any() else 0.0
    S -= np.float32(a) * H
    return S, a


def _ratios(x: Matrix, expected: Matrix) -> tuple[Matrix, Matrix]:
    """Give smoothed log ratios and their evidence."""
    G = np.log((1 - _SMOOTHING) * x / np.maximum(expected, np.float32(1e-9)) + _SMOOTHING)
    return G, np.minimum(np.sqrt(x + expected), _ENOUGH) / _ENOUGH


def _solve(rows: "Rows", S: Matrix) -> tuple[Matrix, Matrix]:
    """Give the largest positive eigenvalues and their vectors, signs fixed."""
    from topicvec.embed.eigen import exact_eigenpairs, top_eigenpairs

    np.fill_diagonal(S, 0)  # a word with itself tells nothing
    S = np.float32(0.5) * (S + S.T)
    k = min(N_DIMS, rows.n - 1)
    if rows.n <= _SMALL:
        pairs = exact_eigenpairs(S, k)
    else:
        rng = np.random.default_rng(0)
        pairs = top_eigenpairs(partial(_product, rows, S), k, rows, rng, tolerance=0.03)
    kept = max(int(np.count_nonzero(pairs.values[:k] > 0)), 1)
    Q, values = pairs.vectors[:, :kept], np.maximum(pairs.values[:kept], 1e-9)
    signs = np.sign(Q[np.abs(Q).argmax(axis=0), np.arange(kept)])
    return values.astype(np.float32), Q * signs.astype(np.float32)


def _product(rows: "Rows", S: Matrix, Y: Matrix) -> Matrix:
    return rows.fill(np.empty_like(Y), lambda s: s @ Y, S)


def _place(
    margin: Floats,
    core: Matrix,
    a: float,
    axes: Matrix,
    piece: tuple[RarePairs | KnownPairs, Matrix],
) -> Matrix:  # fmt: skip
    """Put rarer words among the core words that they were seen with (Nyström).

    What they were not seen with is next to no evidence, as chance would hardly have it.
    """
    from topicvec.embed.kernels import sampled_products  # numba takes a while to import

    rare, V = piece
    x = rare.take()
    expected = np.repeat(margin[rare.rows], np.diff(x.indptr)) * margin[x.indices]
    G, f = _ratios(x.data, expected.astype(np.float32))
    gram = sampled_products(np.ascontiguousarray(V, np.float32), core, x.indptr, x.indices)
    S = csr_array((f * (G - np.float32(a) * gram), x.indices, x.indptr), x.shape)
    return np.asarray(S @ axes)

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
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from topicvec.embed.formats.tensors import with_rows
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine

if TYPE_CHECKING:
    from topicvec.embed.eigen import Rows

__all__ = ["Learned", "Pairs", "adapt", "count_pairs", "learned_from"]

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
_PIECE = 500_000  # tokens counted at a time


class Pairs(NamedTuple):
    """How often words of a corpus stand near each other.

    Attributes
    ----------
    counts : csr_array, (n_words, n_core)
        Pairs of each word with the most frequent ones.
    totals : ndarray of float64, shape (n_words,)
        Pairs of each word with any.
    """

    counts: csr_array
    totals: Floats


def count_pairs(ids: Ints, lengths: Ints, n_words: int, engine: Engine) -> Pairs:
    """Count the pairs of words at most ten apart in the same document.

    Parameters
    ----------
    ids : ndarray of int, shape (n_tokens,)
        The tokens of all documents, numbered by decreasing frequency; −1 is no word, but keeps
        its place.
    lengths : ndarray of int, shape (n_documents,)
        Tokens of each document.
    n_words : int
        How many words there are.
    engine : Engine
        Spreads the work; sums are whole numbers, so the result does not depend on it.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> from topicvec.engine import LocalEngine
    >>> pairs = count_pairs(np.array([0, 1, 2, 0, 2]), np.array([2, 3]), 3, LocalEngine(1))
    >>> pairs.counts.toarray().tolist(), pairs.totals.tolist()
    ([[0, 1, 2], [1, 0, 0], [2, 0, 0]], [3.0, 1.0, 2.0])
    """
    document = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    ends = np.cumsum(lengths)
    edges = np.unique(np.searchsorted(ends, np.arange(0, len(ids), _PIECE), side="right"))
    places = [0, *ends[edges[1:] - 1].tolist(), len(ids)] if len(edges) else [0, len(ids)]
    pieces = [(ids[a:b], document[a:b]) for a, b in pairwise(places)]
    counts, totals = csr_array((n_words, min(N_CORE, n_words)), dtype=np.int64), np.zeros(n_words)
    for part, each in engine.map(partial(_pairs, n_words), pieces):
        counts, totals = counts + part, totals + each
    return Pairs(counts, totals)


def _pairs(n_words: int, piece: tuple[Ints, Ints]) -> tuple[csr_array, Floats]:
    ids, document = piece
    n_core, rows, columns, totals = min(N_CORE, n_words), [], [], np.zeros(n_words)
    for distance in range(1, WINDOW + 1):
        a, b = ids[:-distance], ids[distance:]
        near = (document[:-distance] == document[distance:]) & (a != b) & (a >= 0) & (b >= 0)
        a, b = a[near], b[near]
        totals += np.bincount(a, minlength=n_words) + np.bincount(b, minlength=n_words)
        rows += [a[b < n_core], b[a < n_core]]
        columns += [b[b < n_core], a[a < n_core]]
    places = np.concatenate(rows), np.concatenate(columns)
    table = coo_array((np.ones(len(places[0]), np.int64), places), (n_words, n_core))
    return csr_array(table), totals


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


def adapt(pairs: Pairs, V: Matrix, engine: Engine) -> Adaptation:
    """Find how far vectors hold in a corpus, and what they leave open.

    Parameters
    ----------
    pairs : Pairs
        Of the words of the corpus.
    V : ndarray of float32, shape (n, N)
        Their vectors, of which the mean is taken away; zero for words without one.
    engine : Engine
        Spreads the work; the result does not depend on it.

    Returns
    -------
    Adaptation

    Examples
    --------
    >>> from topicvec.engine import LocalEngine
    >>> ids = np.array([0, 1, 2, 3] * 20)
    >>> pairs = count_pairs(ids, np.full(40, 2), 4, LocalEngine(1))
    >>> adapt(pairs, np.zeros((4, 3), np.float32), LocalEngine(1)).residual.shape
    (4, 1)
    """
    from topicvec.embed.eigen import Rows  # scipy.linalg takes a while: an article needs none

    n = pairs.counts.shape[1]
    x = pairs.counts.astype(np.float32)
    margin = pairs.totals / np.sqrt(max(pairs.totals.sum(), 1e-300))  # e = margin_i margin_j
    S, a = _open(Rows(n, engine), x[:n], margin[:n], V[:n])
    values, Q = _solve(Rows(n, engine), S)
    residual = np.empty((len(margin), len(values)), np.float32)
    residual[:n] = Q * np.sqrt(values)
    if n < len(margin):
        residual[n:] = _place(
            engine, x[n:], margin, V, a, np.asarray(Q / np.sqrt(values), np.float32)
        )
    log.info("general vectors hold by %.2f here; %d dimensions of residual", a, len(values))
    return Adaptation(float(_SCALE * np.sqrt(a)), _SCALE * _SHARE * residual)


def _open(rows: "Rows", x: csr_array, margin: Floats, V: Matrix) -> tuple[Matrix, float]:
    """Give f∘(G − a V Vᵀ) of the core words, and a."""
    wide, transposed = margin.astype(np.float32), np.ascontiguousarray(V.T)

    def block(x: csr_array, own: Floats, v: Matrix) -> tuple[Matrix, Matrix, Floats]:
        G, f = _ratios(x.toarray(), own.astype(np.float32)[:, None] * wide)
        gram = v @ transposed
        weighted = f * gram
        return f * G, weighted, np.array([np.vdot(weighted, G), np.vdot(weighted, gram)], float)

    S, H = (np.empty((rows.n, rows.n), np.float32) for _ in range(2))
    sums = np.zeros(2)
    blocks = rows.map(block, [x[each] for each in rows.blocks], margin, V)
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
    engine: Engine, x: csr_array, margin: Floats, V: Matrix, a: float, axes: Matrix
) -> Matrix:
    """Put rarer words among the core words that they were seen with (Nyström).

    What they were not seen with is next to no evidence, as chance would hardly have it.
    """
    from topicvec.embed.eigen import Rows
    from topicvec.embed.kernels import sampled_products  # numba takes a while to import

    core, n = np.ascontiguousarray(V[: len(axes)], np.float32), len(axes)
    rows = Rows(x.shape[0], engine)

    def block(x: csr_array, own: Floats, v: Matrix) -> Matrix:
        expected = np.repeat(own, np.diff(x.indptr)) * margin[x.indices]
        G, f = _ratios(x.data, expected.astype(np.float32))
        gram = sampled_products(np.ascontiguousarray(v, np.float32), core, x.indptr, x.indices)
        S = csr_array((f * (G - np.float32(a) * gram), x.indices, x.indptr), x.shape)
        return np.asarray(S @ axes)

    out = np.empty((x.shape[0], axes.shape[1]), np.float32)
    return rows.fill(out, block, [x[each] for each in rows.blocks], margin[n:], V[n:])

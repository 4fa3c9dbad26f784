"""General vectors that learn from a corpus: how far they hold in it, and what they leave open.

PSDVec says G = V Vᵀ + A: log ratios of co-occurrence are inner products and a residual. With the
general vectors V fixed, the corpus's own log ratios G tell two things. How far the general
geometry holds here is a scalar, found by least squares,

    a = Σ f G (V Vᵀ) / Σ f (V Vᵀ)²,

and what it does not explain is A = G − a V Vᵀ. The best eigenpairs of f∘A are vectors R of the
residual, and the vectors of this corpus are [√a V, ½ R]. The weights f = min(√(x + e), 10) / 10
are the evidence: x is how often two words were seen together and e how often chance would have
it. A word that was seen too seldom to tell has a short residual and keeps its general vector; a
word without a general one has V = 0 and learns all that it has.
"""

import logging
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.cooccurrence import Cooccurrence
from topicvec.embed.eigen import Rows, exact_eigenpairs, top_eigenpairs
from topicvec.engine import Engine

__all__ = ["Adaptation", "adapt"]

log = logging.getLogger(__name__)

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]

N_DIMS = 100  # of the residual
N_CORE = 4000  # most frequent words, solved together; the others are put among them
_SMOOTHING = 0.2  # of the log ratios: what is not seen in a small corpus says little
_ENOUGH = 10.0  # root of the number of pairs that count as full evidence
_SHARE = 0.5  # of the residual in the joint vectors
_SMALL = 600  # words that LAPACK solves sooner


class Adaptation(NamedTuple):
    """What a corpus says of general vectors.

    Attributes
    ----------
    scale : float
        √a, by which the general vectors are multiplied; 0 where they do not hold at all.
    residual : ndarray of float32, shape (n, n_dims)
        ½ R.
    """

    scale: float
    residual: Matrix


def adapt(counts: Cooccurrence, V: Matrix, engine: Engine) -> Adaptation:
    """Find how far vectors hold in a corpus, and what they leave open.

    Parameters
    ----------
    counts : Cooccurrence
        Of the corpus, in both directions.
    V : ndarray of float32, shape (n, N)
        Vectors of its words, their mean taken away; zero for words without one.
    engine : Engine
        Spreads the work; the result does not depend on it.

    Returns
    -------
    Adaptation

    Examples
    --------
    >>> from topicvec.embed.cooccurrence import WindowSettings
    >>> from topicvec.embed.counting import count_corpus
    >>> from topicvec.engine import LocalEngine
    >>> texts = [["cat", "dog"], ["car", "bus"]] * 20
    >>> counts = count_corpus(texts, WindowSettings(2, weighting="flat"))
    >>> adapt(counts, np.zeros((4, 3), np.float32), LocalEngine(1)).residual.shape
    (4, 1)
    """
    n = min(N_CORE, counts.n_words)
    x = counts.counts.astype(np.float32) / np.float32(counts.unit)
    x.setdiag(0)
    totals = np.asarray(x.sum(axis=1), np.float64)
    margin = totals / np.sqrt(max(totals.sum(), 1e-300))  # e = margin_i margin_j
    core = Rows(n, engine)
    S, a = _open(core, x[:n, :n], margin[:n], V[:n])
    values, Q = _solve(core, S)
    residual = np.empty((counts.n_words, len(values)), np.float32)
    residual[:n] = Q * np.sqrt(values)
    if n < counts.n_words:
        residual[n:] = _place(engine, x[n:, :n], margin, V, a, Q / np.sqrt(values))
    log.info("general vectors hold by %.2f here; %d dimensions of residual", a, len(values))
    return Adaptation(float(np.sqrt(a)), _SHARE * residual)


def _open(rows: Rows, x: csr_array, margin: Floats, V: Matrix) -> tuple[Matrix, float]:
    """Give f∘(G − a V Vᵀ) of the core words, and a."""
    wide, transposed = margin.astype(np.float32), np.ascontiguousarray(V.T)

    def block(x: csr_array, own: Floats, v: Matrix) -> tuple[Matrix, Matrix, Floats]:
        G, f = _ratios(x.toarray(), own.astype(np.float32)[:, None] * wide)
        gram = v @ transposed
        weighted = f * gram
        return f * G, weighted, np.array([np.vdot(weighted, G), np.vdot(weighted, gram)], float)

    S, H, sums = np.empty((rows.n, rows.n), np.float32), np.empty((rows.n, rows.n), np.float32), 0.0
    blocks = rows.map(block, [x[each] for each in rows.blocks], margin, V)
    for where, (targets, explained, part) in zip(rows.blocks, blocks, strict=True):
        S[where], H[where], sums = targets, explained, sums + part
    a = float(np.clip(sums[0] / max(sums[1], 1e-300), 0.0, 1.0))
    S -= np.float32(a) * H
    return S, a


def _ratios(x: Matrix, expected: Matrix) -> tuple[Matrix, Matrix]:
    """Give smoothed log ratios and their evidence; none for a word with itself."""
    G = np.log((1 - _SMOOTHING) * x / np.maximum(expected, 1e-9) + _SMOOTHING)
    return G, np.minimum(np.sqrt(x + expected), _ENOUGH) / np.float32(_ENOUGH)


def _solve(rows: Rows, S: Matrix) -> tuple[Matrix, Matrix]:
    """Give the largest positive eigenvalues and their vectors, signs fixed."""
    np.fill_diagonal(S, 0)
    S = (S + S.T) / 2
    k = min(N_DIMS, rows.n - 1)
    if rows.n <= _SMALL:
        pairs = exact_eigenpairs(S, k)
    else:
        product = lambda Y: rows.fill(np.empty_like(Y), lambda s: s @ Y, S)  # noqa: E731
        pairs = top_eigenpairs(product, k, rows, np.random.default_rng(0))
    kept = max(int(np.count_nonzero(pairs.values[:k] > 0)), 1)
    Q, values = pairs.vectors[:, :kept], np.maximum(pairs.values[:kept], 1e-9)
    signs = np.sign(Q[np.abs(Q).argmax(axis=0), np.arange(kept)])
    return values.astype(np.float32), Q * signs.astype(np.float32)


def _place(
    engine: Engine, x: csr_array, margin: Floats, V: Matrix, a: float, axes: Matrix
) -> Matrix:
    """Put rarer words among the core words that they were seen with (Nyström).

    What they were not seen with is next to no evidence, as chance would hardly have it.
    """
    n = len(axes)
    rows = Rows(x.shape[0], engine)

    def block(x: csr_array, own: Floats, v: Matrix) -> Matrix:
        owner = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        G, f = _ratios(x.data, (own[owner] * margin[x.indices]).astype(np.float32))
        gram = np.einsum("ij,ij->i", v[owner], V[x.indices])
        S = csr_array((f * (G - np.float32(a) * gram), x.indices, x.indptr), x.shape)
        return np.asarray(S @ axes)

    out = np.empty((x.shape[0], axes.shape[1]), np.float32)
    return rows.fill(out, block, [x[each] for each in rows.blocks], margin[n:], V[n:])

"""From counts to log ratios and weights, sparse: a constant plus what was seen.

Where a pair was never seen, G is ln κ exactly; so G = ln κ · 11ᵀ + sparse, and both G and the
weights W live on the support of the counts. Objectives with symmetric X see only the symmetric
parts sym(W∘G) and sym(W), which is what `Association` holds.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from topicvec.checks import check_number
from topicvec.embed import kernels
from topicvec.embed.cooccurrence import Cooccurrence, as_triple, cut_rows, joined
from topicvec.engine import Engine, near
from topicvec.errors import DataError

__all__ = [
    "Association",
    "Margins",
    "associate",
    "keep_rates",
    "log_conditional",
    "measure_margins",
]

Floats = NDArray[np.float64]

ROWS = 512  # rows a worker takes at a time


@dataclass(frozen=True, eq=False)
class Margins:
    """What turns a count into a log ratio and a weight.

    Attributes
    ----------
    keep : ndarray of float64, shape (n_words,)
        Share of each word's tokens that is kept (1 without subsampling).
    row_totals : ndarray of float64, shape (n_words,)
        x_i·, over all words.
    unigram : ndarray of float64, shape (n_words,)
        u_j, normalised once over all words.
    scale : float
        What one unit of the counts is.
    cut : float
        Count from which a pair has full weight.
    smoothing : float
        κ of Jelinek and Mercer.
    floor : float
        Smallest log ratio.
    unseen_weight : float
        Weight of a pair that was never seen.
    unseen_target : float
        Log ratio of such a pair.
    importance : ndarray of float64, shape (n_words,)
        d_i: the squared error of pair (i, j) counts d_i² d_j² times; mean 1 over core words.
    """

    keep: Floats
    row_totals: Floats
    unigram: Floats
    scale: float
    cut: float
    smoothing: float
    floor: float
    unseen_weight: float
    unseen_target: float
    importance: Floats

    @property
    def for_kernels(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The same as plain arrays."""
        numbers = (self.scale, self.cut, self.smoothing, self.floor)
        unseen = (self.unseen_weight, self.unseen_target)
        return self.keep, self.row_totals, self.unigram, np.array([*numbers, *unseen])


@dataclass(frozen=True, eq=False)
class Association:
    """Symmetric targets and weights of n words: a constant off the support, arrays on it.

    Attributes
    ----------
    indptr, indices : ndarray
        CSR structure of the support, diagonal included.
    weighted : ndarray of float32, shape (nnz,)
        A0 = sym(W∘G).
    weights : ndarray of float32, shape (nnz,)
        w̄ = sym(W); 0 on the diagonal.
    target : ndarray of float32, shape (nnz,)
        sym(G).
    unseen_weight, unseen_target : float
        Both off the support.
    importance : ndarray of float32, shape (n,)
        d_i: the squared error of pair (i, j) counts d_i² d_j² times.

    Examples
    --------
    >>> from topicvec.embed.counting import count_cooccurrences
    >>> from topicvec.engine import LocalEngine
    >>> from topicvec.text import Vocabulary
    >>> vocabulary = Vocabulary.from_counts({"cat": 2, "sat": 1})
    >>> counts = count_cooccurrences([["cat", "sat", "cat"]], vocabulary, window=1)
    >>> association = associate(counts, measure_margins(counts), 2, LocalEngine(1))
    >>> association.n, association.weights.tolist()
    (2, [0.0, 1.0, 1.0, 0.0])
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weighted: NDArray[np.float32]
    weights: NDArray[np.float32]
    target: NDArray[np.float32]
    unseen_weight: float
    unseen_target: float
    importance: NDArray[np.float32]

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.weighted, self.weights, self.target):
            array.setflags(write=False)

    def __getitem__(self, rows: slice) -> "Association":
        """Some of the rows, as views of the same arrays."""
        indptr = self.indptr[rows.start : rows.stop + 1]
        held = slice(indptr[0], indptr[-1])
        names = ("indices", "weighted", "weights", "target")
        parts = {name: getattr(self, name)[held] for name in names}
        return replace(self, indptr=indptr - indptr[0], importance=self.importance[rows], **parts)

    @property
    def n(self) -> int:
        """Number of rows: of words, where all are there."""
        return self.indptr.size - 1


def keep_rates(unigram_counts: NDArray[np.int64], subsample: float | None) -> Floats:
    """Share of each word's tokens to keep: min(1, √(t/f) + t/f).

    Counts are multiplied by these rates, the mean of dropping tokens at random.

    Examples
    --------
    >>> keep_rates(np.array([90, 10]), 0.1).round(3).tolist()
    [0.444, 1.0]
    """
    if subsample is None:
        return np.ones(unigram_counts.size)
    if not subsample > 0:
        raise DataError(f"subsample must be above 0, or None; found {subsample}")
    ratio = subsample * unigram_counts.sum() / np.maximum(unigram_counts, 1)
    return np.asarray(np.minimum(1.0, np.sqrt(ratio) + ratio))


def measure_margins(
    counts: Cooccurrence,
    *,
    n_core: int | None = None,
    smoothing: float = 0.02,
    context_power: float = 1.0,
    subsample: float | None = None,
    saturated: float = 0.0002,
    unseen_weight: float = 0.0,
    floor: float | None = None,
    frequency_power: float = 0.0,
) -> Margins:
    """Measure totals, unigram probabilities and the cut of the weights.

    Parameters
    ----------
    counts : Cooccurrence
    n_core : int, optional
        The cut is a quantile over the pairs of these most frequent words; all if not given.
    smoothing : float
        κ: probability mass that every pair gets.
    context_power : float
        u is proportional to this power of the frequencies; below 1 it lowers the log ratios of
        rare words.
    subsample : float, optional
        Tokens of words more frequent than this are thinned out.
    saturated : float
        Share of the pairs that get full weight.
    unseen_weight : float
        Weight of pairs that were never seen; the weights of others rise from there to 1.
    floor : float, optional
        Smallest log ratio; 0 gives positive ones only.
    frequency_power : float
        Errors of pairs also count in proportion to this power of both words' frequencies,
        squared; 0 counts all alike.

    Returns
    -------
    Margins

    Examples
    --------
    >>> from topicvec.embed.cooccurrence import WindowSettings
    >>> from topicvec.embed.counting import count_corpus
    >>> measure_margins(count_corpus([["a", "b", "a"]], WindowSettings(1))).unigram.tolist()
    [0.5, 0.5]
    """
    _check(smoothing, saturated, unseen_weight, floor)
    keep = keep_rates(counts.unigram_counts, subsample)
    x = counts.counts
    row_totals = keep * (x @ keep) / counts.unit
    column_totals = keep * (x.T @ keep) / counts.unit
    if not column_totals.sum() > 0:
        raise DataError("no two words of the vocabulary stand near each other: give more text")
    powered = column_totals**context_power
    lowest = -np.inf if floor is None else floor
    unseen = max(np.log(smoothing) if smoothing > 0 else -np.inf, lowest)
    return Margins(
        keep=keep,
        row_totals=row_totals,
        unigram=powered / powered.sum(),
        scale=1.0 / counts.unit,
        cut=_cut(counts, keep, n_core or counts.n_words, saturated),
        smoothing=smoothing,
        floor=lowest,
        unseen_weight=unseen_weight,
        unseen_target=float(unseen),
        importance=_importance(column_totals, n_core or counts.n_words, frequency_power),
    )


def _importance(totals: Floats, n_core: int, power: float) -> Floats:
    # A word without neighbours would have importance 0, and its vector is divided by that.
    floored = np.maximum(totals, totals[totals > 0].min())
    importance = (floored / totals.sum()) ** power
    return np.asarray(importance / np.mean(importance[:n_core]))


def _check(smoothing: float, saturated: float, unseen_weight: float, floor: float | None) -> None:
    if not 0 <= smoothing < 1:
        raise DataError(f"smoothing must be from 0 up to below 1; found {smoothing}")
    if smoothing == 0 and floor is None:
        raise DataError("without smoothing unseen pairs have no log ratio: give a floor")
    if not 0 < saturated <= 1:
        raise DataError(f"saturated must be above 0 and at most 1; found {saturated}")
    check_number("unseen_weight", unseen_weight, 0, 1)


def _cut(counts: Cooccurrence, keep: Floats, n_core: int, saturated: float) -> float:
    # A true quantile; the original halves √x_00 until enough pairs reach it,
    # which fails where "the the" is rare: test_the_cut_is_a_true_quantile.
    core = counts.counts[:n_core, :n_core] if n_core < counts.n_words else counts.counts
    values = core.data / counts.unit
    if keep.min() < 1.0:
        values *= np.repeat(keep[: core.shape[0]], np.diff(core.indptr))
        values *= keep[core.indices]
    if not values.size:
        raise DataError(f"no two of the {n_core} core words stand near each other: raise n_core")
    place = min(int(np.ceil((1 - saturated) * values.size)), values.size - 1)
    values.partition(place)
    return float(values[place])


def associate(counts: Cooccurrence, margins: Margins, n: int, engine: Engine) -> Association:
    """Make targets and weights of the n most frequent words.

    Parameters
    ----------
    counts : Cooccurrence
    margins : Margins
    n : int
    engine : Engine
        Its threads; there is too little to do for counts to be sent away.

    Returns
    -------
    Association

    Examples
    --------
    >>> from topicvec.embed.cooccurrence import WindowSettings
    >>> from topicvec.embed.counting import count_corpus
    >>> from topicvec.engine import LocalEngine
    >>> counts = count_corpus([["a", "b", "c", "a"]], WindowSettings(1))
    >>> associate(counts, measure_margins(counts), 3, LocalEngine(1)).target.shape
    (9,)
    """
    core = counts.counts if n == counts.n_words else counts.counts[:n, :n]
    x = as_triple(core)
    x_t = x if counts.settings.direction == "both" else as_triple(core.T.tocsr())
    pieces = zip(range(0, n, ROWS), cut_rows(x, ROWS), cut_rows(x_t, ROWS), strict=True)
    numbers = margins.for_kernels
    united = near(engine).map(lambda piece: kernels.unite_rows(*piece, numbers), list(pieces))
    most = x[1].size + (n if x_t is x else x_t[1].size + n)
    indptr, indices, weighted, weights, target = joined(
        united, most, np.int32, np.float32, np.float32, np.float32
    )
    unseen = margins.unseen_weight, margins.unseen_target
    importance = margins.importance[:n].astype(np.float32)
    return Association(indptr, indices, weighted, weights, target, *unseen, importance)


def log_conditional(
    counts: Cooccurrence, margins: Margins, context: NDArray[np.intp], words: NDArray[np.intp]
) -> Floats:
    """Give log P~(w | l) of words in the windows of a context, smoothed as for the log ratios.

    Parameters
    ----------
    counts : Cooccurrence
    margins : Margins
    context, words : ndarray of int, shapes (c,) and (n,)
        Places of the words.

    Returns
    -------
    ndarray of float64, shape (c, n)

    Examples
    --------
    >>> from topicvec.embed.cooccurrence import WindowSettings
    >>> from topicvec.embed.counting import count_corpus
    >>> counts = count_corpus([["a", "b", "a"]], WindowSettings(1))
    >>> margins = measure_margins(counts, smoothing=0.5)
    >>> np.exp(log_conditional(counts, margins, np.array([0]), np.array([0, 1])))
    array([[0.25, 0.75]])
    """
    x = counts.counts[context][:, words].toarray() * margins.scale
    x *= margins.keep[context][:, None] * margins.keep[words]
    totals = np.maximum(margins.row_totals[context], 1e-300)  # of a word without neighbours
    seen = x / totals[:, None]
    kappa = margins.smoothing
    return np.asarray(np.log((1 - kappa) * seen + kappa * margins.unigram[words]))

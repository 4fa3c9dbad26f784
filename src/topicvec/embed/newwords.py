"""Vectors of words that the vectors lack: from their spelling, their parts and their neighbours.

A new word's direction is what was believed of it before, s, moved by what n occurrences tell:

    s (1 − ρ b) + g b c,    b = n / (n + n₀)

where c is the mean of its neighbours' centred unit vectors, frequent neighbours counting less.
The numbers were measured by hiding known words: ``docs/explanation/default-vectors.md``.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.nearest import best, inverse_norms
from topicvec.embed.spelling import spelling_table
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine, InPlace
from topicvec.errors import DataError
from topicvec.text.numbered import Numbered

__all__ = ["new_word_vectors"]

WINDOW = 7  # neighbours on a side
RARE = 1e-4  # probability at which a neighbour counts half: smooth inverse frequency
HALFWAY = 6.0  # n₀: after so many occurrences the neighbours have half their say
FROM_NEIGHBOURS = 3.25  # g: a mean of many unit vectors is short
LESS_BEFORE = 0.35  # ρ: part of the prior that many neighbours make needless
RAREST = 15  # how often a word is seen before it has a vector
_RANGES, _MANY = 8, 20_000  # of new words looked for at a time: at least, and words of one
_ROWS = 4_096  # new words put together at a time
SAMPLE = 2_000  # words that stand for all where means of all would take long

Matrix = NDArray[np.float32]


def new_word_vectors(
    general: WordVectors,
    words: Sequence[str],
    texts: Iterable[Sequence[str]] | Numbered,
    *,
    engine: Engine | None = None,
    out: Matrix | None = None,
) -> Matrix:
    """Estimate vectors of words that have none from the texts in which they occur.

    Parameters
    ----------
    general : WordVectors
        The embedded ones, or any subset of them, also tell a vector from spelling.
    words : sequence of str
        The new words. One with blanks, such as "hedge fund", is a phrase: its parts tell what to
        expect, and in the texts it is one token.
    texts : iterable of lists of str, or Numbered
        The texts in order, without stop words; in numbers, a large corpus need not be in memory.
    engine : Engine, optional
        Spreads the work of a corpus in numbers; the result does not depend on it.
    out : ndarray of float32, shape (n_words, n_dims), optional
        Where to put the vectors.

    Returns
    -------
    ndarray of shape (n_words, n_dims), float32
        As long as vectors of known words that are as rare. A word of which nothing is known, no
        neighbour, part or spelling, has zeros.

    Examples
    --------
    >>> general = WordVectors(["drug", "tablet", "engine"], [[2, 0], [1, 0], [0, 2]], [2, 1, 2])
    >>> texts = [["daraprim", "drug"], ["tablet", "daraprim"], ["engine"]]
    >>> new_word_vectors(general, ["daraprim"], texts).round(1)
    array([[ 1.2, -1.2]], dtype=float32)
    """
    if isinstance(words, str):
        raise DataError(f"expected a list of new words, found one text {words!r}: put it in []")
    known = [word for word in words if word in general]
    if known:
        raise DataError(
            f"expected words without a vector, found {known[0]!r}, which has one: leave it out"
        )
    centre = _centre(general)
    out = np.empty((len(words), general.n_dims), np.float32) if out is None else out
    if not isinstance(texts, Numbered):
        out[:] = _directed(general, words, _neighbours(general, words, texts, centre), centre)
        return out
    size = int(np.clip(-(-len(words) // _RANGES), 1, _MANY))
    ranges = [words[start : start + size] for start in range(0, len(words), size)]
    there = _Known.of(general, texts)
    find = partial(_neighbours_in, general, texts, there, centre)
    start = 0
    for seen in (engine or InPlace()).map(find, ranges):
        for part in range(0, len(seen.times), _ROWS):
            each = _Neighbours(seen.times[part : part + _ROWS], seen.means[part : part + _ROWS])
            rows = slice(start, start + len(each.times))
            out[rows] = _directed(general, words[rows], each, centre)
            start = rows.stop
    return out


def _directed(
    general: WordVectors, words: Sequence[str], seen: "_Neighbours", centre: Matrix
) -> Matrix:
    """Put together what is believed of words and what their neighbours tell."""
    before = _expected(general, words, centre)
    told = (seen.times / (seen.times + HALFWAY))[:, None]
    direction = before * (1 - LESS_BEFORE * told) + FROM_NEIGHBOURS * told * seen.means
    lengths = _lengths(general, seen.times)
    return np.asarray(direction * (inverse_norms(direction) * lengths)[:, None], np.float32)


def _centre(general: WordVectors) -> Matrix:
    """Mean of the unit vectors of neighbours, as the most frequent words tell it, (N,)."""
    rows = best(general.unigram, SAMPLE)
    shares = general.unigram[rows] * _weights(general, rows)
    units = _units(general, rows)
    centre: Matrix = np.einsum("i,ij->j", shares / shares.sum(), units).astype(np.float32)
    return centre


def _weights(general: WordVectors, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return RARE / (RARE + general.unigram[rows])


def _units(general: WordVectors, rows: NDArray[np.intp]) -> Matrix:
    chosen = general.matrix[rows]
    return chosen * inverse_norms(chosen)[:, None]


def _expected(general: WordVectors, words: Sequence[str], centre: Matrix) -> Matrix:
    """What is believed of words before a text is read: from their letters or their parts."""
    expected = _from_letters(general, words)
    for number, word in enumerate(words):
        rows = np.array([general.ids[part] for part in word.split() if part in general], np.intp)
        if " " in word and len(rows):
            weights = _weights(general, rows)
            expected[number] = weights @ (_units(general, rows) - centre) / weights.sum()
    return expected


def _from_letters(general: WordVectors, words: Sequence[str]) -> Matrix:
    if "spelling" in general.metadata:
        table = spelling_table()
        fits = table.name == general.metadata["spelling"]
        if fits and len(table.mean) == general.n_dims:  # else they have been changed since
            return np.asarray(table.estimate(words) / table.length, np.float32)
    return np.zeros((len(words), general.n_dims), np.float32)


class _Neighbours(NamedTuple):
    times: NDArray[np.float64]  # occurrences of each new word that have a known neighbour
    means: Matrix  # of the neighbours' centred unit vectors


def _neighbours(
    general: WordVectors,
    words: Sequence[str],
    token_lists: Iterable[Sequence[str]],
    centre: Matrix,
) -> _Neighbours:
    numbers, around = _around(general, words, token_lists)
    is_known = around >= 0
    times = np.bincount(numbers[is_known.any(axis=1)], minlength=len(words)).astype(np.float64)
    rows, columns = np.unique(around[is_known], return_inverse=True)
    owners = np.broadcast_to(numbers[:, None], around.shape)[is_known]
    weights = _weights(general, rows)[columns]
    sums = csr_array((weights, (owners, columns)), shape=(len(words), len(rows)))
    totals = np.bincount(owners, weights, len(words))[:, None]
    means = sums.astype(np.float32) @ (_units(general, rows) - centre)
    return _Neighbours(times, np.divide(means, totals, out=means, where=totals > 0))


class _Known(NamedTuple):
    """Of each word of a corpus: its row or −1, its weight, and that over the vector's length."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    shares: NDArray[np.float32]

    @classmethod
    def of(cls, general: WordVectors, texts: Numbered) -> "_Known":
        rows = np.fromiter(map(general.ids.get, texts.words, repeat(-1)), np.int64)
        weights = np.where(rows < 0, 0.0, _weights(general, rows))
        scales, known = np.zeros(len(rows)), np.flatnonzero(rows >= 0)
        for start in range(0, len(known), _ROWS):  # all at once would be a copy of the vectors
            part = known[start : start + _ROWS]
            scales[part] = inverse_norms(general.matrix[rows[part]])
        return cls(rows, weights, (weights * scales).astype("f4"))


def _neighbours_in(
    general: WordVectors, texts: Numbered, known: _Known, centre: Matrix, words: Sequence[str]
) -> _Neighbours:
    """Look at the neighbours of some words block by block; sums are in the order of the texts."""
    from topicvec.embed.kernels import add_neighbours  # numba takes a while to import

    new = {word: number for number, word in enumerate(words)}
    numbers = np.fromiter(map(new.get, texts.words, repeat(-1)), np.int64)
    sums = np.zeros((len(words), general.n_dims), np.float32)
    totals, times = np.zeros((2, len(words)))
    for block in texts.blocks:
        ids, lengths = block.take()
        add_neighbours(
            ids, np.cumsum(lengths), numbers, known.rows, known.shares, known.weights,
            general.matrix, WINDOW, sums, totals, times,
        )  # fmt: skip
    sums /= np.where(totals > 0, totals, 1.0).astype(np.float32)[:, None]
    sums[totals > 0] -= centre
    return _Neighbours(times, sums)


def _around(
    general: WordVectors, words: Sequence[str], token_lists: Iterable[Sequence[str]]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number of the new word at each of its places, and the rows of its neighbours or −1."""
    gap = [""] * WINDOW  # between texts, so that no window reaches into the next
    tokens = list(chain(gap, chain.from_iterable(chain(each, gap) for each in token_lists)))
    new = {word: number for number, word in enumerate(words)}
    numbers = np.fromiter(map(new.get, tokens, repeat(-1)), np.intp, len(tokens))
    rows = np.fromiter(map(general.ids.get, tokens, repeat(-1)), np.intp, len(tokens))
    places = np.flatnonzero(numbers >= 0)
    steps = np.delete(np.arange(-WINDOW, WINDOW + 1), WINDOW)
    return numbers[places], rows[places[:, None] + steps]


def _lengths(general: WordVectors, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Length of known words as rare as the new ones would be in the corpus of the vectors.

    There a new word was seen as often as the rarest word; here `times` more.
    """
    order = np.argsort(general.unigram, kind="stable")
    order = order[:: max(1, len(order) // SAMPLE)]
    rates = np.log(general.unigram[order])
    lengths = np.linalg.norm(general.matrix[order], axis=1)
    n = min(51, len(order))  # neighbours in rarity, of which the mean is taken
    smooth = np.convolve(lengths, np.ones(n) / n, "valid")
    middle = np.convolve(rates, np.ones(n) / n, "valid")
    found: NDArray[np.float64] = np.interp(rates[0] + np.log1p(times / RAREST), middle, smooth)
    return found

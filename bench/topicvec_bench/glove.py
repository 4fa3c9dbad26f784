"""TopicVec on GloVe vectors (Pennington, Socher and Manning 2014).

Jeffrey Pennington, Richard Socher and Christopher D. Manning: GloVe: Global Vectors for Word
Representation. EMNLP 2014.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topicvec.embed.cooccurrence import Cooccurrence
from topicvec.text.vocabulary import Vocabulary
from topicvec_bench.base import Floats, Ints
from topicvec_bench.learned_vectors import TrainedVectors, count_pairs

__all__ = ["Cells", "Glove", "OnGloVe", "glove_loss", "glove_pass", "glove_pass_reference"]

_RATE = 0.05  # of AdaGrad, as in the paper
# Cells with fewer co-occurrences weigh less. The paper's 100 is for a thousand times as much text.
_ENOUGH = 10.0
_WEIGHT_POWER = 0.75


class OnGloVe(TrainedVectors):
    """TopicVec on GloVe: products of vectors are logarithms of co-occurrence counts.

    Parameters
    ----------
    n_topics, n_dims, n_epochs, min_count, max_norm, options, random_state
        As in `TrainedVectors`; a pass is one over the cells of the table of co-occurrences.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> OnGloVe(2, n_dims=2).fit(documents).vectors_
    WordVectors(4 words × 2 dims)
    """

    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Train by AdaGrad, and add a word's two vectors, (W, N)."""
        rng = np.random.default_rng(self.random_state)
        cells = Cells.of(count_pairs(documents, vocabulary))
        model = Glove.random(len(vocabulary), self.n_dims, rng)
        squares = Glove(*(np.ones_like(table) for table in model))
        for _ in range(self.n_epochs):
            order = rng.permutation(len(cells.rows)).astype(np.int32)
            glove_pass(order, *cells, *model, *squares, np.float32(_RATE))
        return model.words + model.contexts


class Cells(NamedTuple):
    """The cells of a table of co-occurrences that are not zero.

    Attributes
    ----------
    rows, columns : ndarray of shape (n,), int32
        Word and context of each.
    logs, weights : ndarray of shape (n,), float32
        Logarithm of the count, and how much the cell counts.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_counts({"cat": 2, "dog": 1})
    >>> cells = Cells.of(count_pairs([["cat", "dog"]] * 20, vocabulary))
    >>> np.exp(cells.logs).round(), cells.weights
    (array([20., 20.], dtype=float32), array([1., 1.], dtype=float32))
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    logs: NDArray[np.float32]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, counted: Cooccurrence) -> "Cells":
        """Take the cells of a table."""
        table = counted.counts.tocoo()
        rows, columns = (places.astype(np.int32) for places in table.coords)
        counts = table.data / counted.settings.unit
        weights = np.minimum(counts / _ENOUGH, 1) ** _WEIGHT_POWER
        return cls(rows, columns, np.log(counts).astype(np.float32), weights.astype(np.float32))


class Glove(NamedTuple):
    """What GloVe learns.

    Attributes
    ----------
    words, contexts : ndarray of shape (W, N)
        A word's vectors as the one looked at, and as one near it.
    word_biases, context_biases : ndarray of shape (W,)
        How frequent it is as either.

    Examples
    --------
    >>> Glove.random(4, 2, np.random.default_rng(0)).words.shape
    (4, 2)
    """

    words: Floats
    contexts: Floats
    word_biases: Floats
    context_biases: Floats

    @classmethod
    def random(cls, n_words: int, n_dims: int, rng: np.random.Generator) -> "Glove":
        """Draw small vectors evenly; biases start at zero."""
        words, contexts = (rng.random((2, n_words, n_dims), np.float32) - 0.5) / n_dims
        return cls(words, contexts, *np.zeros((2, n_words), np.float32))


def glove_loss(cells: Cells, model: Glove) -> float:
    """Give half the weighted squares of what the logarithms are missed by (eq. 8).

    Examples
    --------
    >>> cells = Cells(np.array([0]), np.array([0]), np.array([3.0]), np.array([0.5]))
    >>> print(glove_loss(cells, Glove(*np.ones((2, 1, 1)), *np.zeros((2, 1)))))
    1.0
    """
    rows, columns, logs, weights = cells
    products = np.einsum("ij,ij->i", model.words[rows], model.contexts[columns])
    missed = products + model.word_biases[rows] + model.context_biases[columns] - logs
    return float(weights @ np.square(missed) / 2)


# Without "numpy" each division looks for a zero, and the loops are three times slower.
@njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"}
)  # fmt: skip
def glove_pass(  # type: ignore[no-untyped-def]
    order, rows, columns, logs, weights,
    words, contexts, word_biases, context_biases,
    word_squares, context_squares, word_bias_squares, context_bias_squares, rate,
):  # fmt: skip
    """Take one step of AdaGrad for each cell.

    Parameters
    ----------
    order : array, (n,)
        Which cell comes when.
    rows, columns, logs, weights : arrays, (n,)
        The cells, see `Cells`.
    words, contexts, word_biases, context_biases : arrays
        The model, see `Glove`; changed.
    word_squares, context_squares, word_bias_squares, context_bias_squares : arrays
        Sums of squared slopes, of the same shapes; changed. The first steps of a cell are plain
        if they start at 1.
    rate : float32
    """
    for cell in order:
        i, j = rows[cell], columns[cell]
        word, context = words[i], contexts[j]
        word_sums, context_sums = word_squares[i], context_squares[j]
        missed = word_biases[i] + context_biases[j] - logs[cell]
        for n in range(word.size):
            missed += word[n] * context[n]
        slope = weights[cell] * missed
        for n in range(word.size):
            down, across = slope * context[n], slope * word[n]
            word[n] -= rate * down / np.sqrt(word_sums[n])
            context[n] -= rate * across / np.sqrt(context_sums[n])
            word_sums[n] += down * down
            context_sums[n] += across * across
        word_biases[i] -= rate * slope / np.sqrt(word_bias_squares[i])
        context_biases[j] -= rate * slope / np.sqrt(context_bias_squares[j])
        word_bias_squares[i] += slope * slope
        context_bias_squares[j] += slope * slope


def glove_pass_reference(
    order: Ints, cells: Cells, model: Glove, squares: Glove, rate: float
) -> None:
    """Do the same as `glove_pass`, to be read."""
    for cell in order:
        i, j = cells.rows[cell], cells.columns[cell]
        word, context = model.words[i].copy(), model.contexts[j].copy()
        missed = word @ context + model.word_biases[i] + model.context_biases[j] - cells.logs[cell]
        slope = cells.weights[cell] * missed
        slopes = (slope * context, slope * word, slope, slope)
        for table, sums, place, step in zip(model, squares, (i, j, i, j), slopes, strict=True):
            table[place] -= rate * step / np.sqrt(sums[place])
            sums[place] += step**2

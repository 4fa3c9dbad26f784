"""TopicVec on the vectors of a neural language model, and what neural vectors share.

Yoshua Bengio, Réjean Ducharme, Pascal Vincent and Christian Jauvin: A Neural Probabilistic
Language Model. JMLR 2003.

Gradients are written out, and tests hold them against finite differences.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit

from topicvec.text.vocabulary import Vocabulary
from topicvec_bench.base import Floats, Ints
from topicvec_bench.learned_vectors import TrainedVectors
from topicvec_bench.tokens import Tokens, number_tokens

__all__ = [
    "FIRST_SQUARE", "N_HIDDEN", "REACH", "LanguageModel", "OnNNLM", "Slope", "batches",
    "language_model_loss", "left_windows", "noise_distribution", "numbered", "random_layer",
    "random_words", "step",
]  # fmt: skip

REACH = 4  # words before the one that is foretold
N_HIDDEN = 100
_BATCH = 256  # tokens
_N_NOISE = 100  # words drawn for each batch of the language model
_NOISE_POWER = 0.75  # noise words are drawn from the unigram distribution to this power
_RATE = 0.05  # of AdaGrad
FIRST_SQUARE = 0.01  # what AdaGrad's sums of squares start from
_SPREAD = 0.1  # of the first vectors: rare words, which learn little, stay short


class Slope(NamedTuple):
    """The gradient of one table of parameters.

    Attributes
    ----------
    gradient : ndarray
        Of the shape of the table or, with rows, (n, ...) of these.
    rows : ndarray of shape (n,), optional
        The rows it is for, which may repeat; all others have none.

    Examples
    --------
    >>> Slope(np.ones((2, 3)), np.array([7, 7])).rows.tolist()
    [7, 7]
    """

    gradient: Floats
    rows: Ints | None = None


class LanguageModel(NamedTuple):
    """The tables of Bengio's network.

    Attributes
    ----------
    words : ndarray of shape (W + 1, N)
        Vectors of words, the last for places before the document's first word.
    hidden, hidden_bias : ndarray of shapes (n N, H) and (H,)
        The layer that reads n words side by side.
    outputs, output_bias : ndarray of shapes (W, H) and (W,)
        The layer that scores the next word.

    Examples
    --------
    >>> LanguageModel.random(np.full(5, 0.2), 3, np.random.default_rng(0)).hidden.shape
    (12, 100)
    """

    words: Floats
    hidden: Floats
    hidden_bias: Floats
    outputs: Floats
    output_bias: Floats

    @classmethod
    def random(cls, unigram: Floats, n_dims: int, rng: np.random.Generator) -> "LanguageModel":
        """Draw weights that keep the size of what they are given.

        The model starts by foretelling the unigram distribution (W,). From zeros, the first steps
        are so large that the layer is saturated before vectors mean anything.
        """
        n_words = len(unigram)
        return cls(
            random_words(rng, n_words, n_dims),
            random_layer(rng, REACH * n_dims, N_HIDDEN),
            np.zeros(N_HIDDEN, np.float32),
            np.zeros((n_words, N_HIDDEN), np.float32),
            np.log(unigram).astype(np.float32),
        )


class OnNNLM(TrainedVectors):
    """TopicVec on the input vectors of a neural language model (Bengio et al. 2003).

    Parameters
    ----------
    n_topics, n_dims, n_epochs, min_count, max_norm, options, random_state
        As in `TrainedVectors`.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> OnNNLM(2, n_dims=2).fit(documents).vectors_
    WordVectors(4 words × 2 dims)
    """

    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Train the network to foretell each word from those before it, (W, N)."""
        rng, n_words = np.random.default_rng(self.random_state), len(vocabulary)
        tokens = numbered(documents, vocabulary)
        windows = left_windows(tokens, REACH + 1, n_words)
        noise = noise_distribution(vocabulary)
        log_noise = np.log(_N_NOISE * noise).astype(np.float32)
        model = LanguageModel.random(vocabulary.unigram, self.n_dims, rng)
        squares = [np.full_like(table, FIRST_SQUARE) for table in model]
        for _ in range(self.n_epochs):
            for batch in batches(rng.permutation(len(windows))):
                drawn = rng.choice(n_words, _N_NOISE, p=noise)
                contexts, targets = windows[batch, :-1], windows[batch, -1]
                _, slopes = language_model_loss(model, contexts, targets, drawn, log_noise)
                step(model, squares, slopes)
        return model.words[:-1]


def left_windows(tokens: Tokens, width: int, padding: int) -> NDArray[np.int32]:
    """Give each token with the words before it in its document.

    Parameters
    ----------
    tokens : Tokens
    width : int
        Words of a window, the token included, which is the last.
    padding : int
        What stands before the first word.

    Returns
    -------
    ndarray of shape (n_tokens, width), int32

    Examples
    --------
    >>> tokens = Tokens(np.array([5, 6, 7], np.int32), np.array([0, 2, 3]))
    >>> left_windows(tokens, 2, 9).tolist()
    [[9, 5], [5, 6], [9, 7]]
    """
    windows = np.full((len(tokens.words), width), padding, np.int32)
    since = np.arange(len(tokens.words)) - np.repeat(tokens.starts[:-1], tokens.lengths)
    for back in range(width):
        inside = np.flatnonzero(since >= back)
        windows[inside, width - 1 - back] = tokens.words[inside - back]
    return windows


def language_model_loss(
    model: LanguageModel, contexts: Ints, targets: Ints, noise: Ints, log_noise: Floats
) -> tuple[float, list[Slope]]:
    """Tell words from noise words by the network's scores: noise-contrastive estimation.

    Parameters
    ----------
    model : LanguageModel
    contexts : ndarray of shape (B, n)
        The words before.
    targets : ndarray of shape (B,)
        The words to be foretold.
    noise : ndarray of shape (S,)
        Drawn words, the same for all of the batch.
    log_noise : ndarray of shape (W,)
        Logarithm of how often each word is among S drawn ones.

    Returns
    -------
    loss : float
    slopes : list of Slope
        One for each table.

    Examples
    --------
    >>> model = LanguageModel.random(np.full(5, 0.2), 3, np.random.default_rng(0))
    >>> contexts, targets = np.array([[0, 1, 2, 3]]), np.array([4])
    >>> log_noise = np.log(np.full(5, 0.2))
    >>> loss, slopes = language_model_loss(model, contexts, targets, np.array([1, 2]), log_noise)
    >>> print(round(loss / np.log(2), 3), len(slopes))  # it knows nothing yet: three even guesses
    3.0 5
    """
    read = model.words[contexts].reshape(len(contexts), -1)  # (B, n N)
    hidden = np.tanh(read @ model.hidden + model.hidden_bias)
    bias = model.output_bias - log_noise
    true = np.einsum("bh,bh->b", hidden, model.outputs[targets]) + bias[targets]
    false = hidden @ model.outputs[noise].T + bias[noise]  # (B, S)
    loss = np.logaddexp(0, -true).sum() + np.logaddexp(0, false).sum()
    by_true, by_false = -expit(-true), expit(false)
    by_hidden = by_true[:, None] * model.outputs[targets] + by_false @ model.outputs[noise]
    by_layer = by_hidden * (1 - hidden**2)
    by_words = (by_layer @ model.hidden.T).reshape(contexts.size, -1)
    scored = np.concatenate([targets, noise])
    by_outputs = np.concatenate([by_true[:, None] * hidden, by_false.T @ hidden])
    return float(loss), [
        Slope(by_words, contexts.ravel()),
        Slope(read.T @ by_layer),
        Slope(by_layer.sum(0)),
        Slope(by_outputs, scored),
        Slope(np.concatenate([by_true, by_false.sum(0)]), scored),
    ]


def step(tables: Sequence[Floats], squares: Sequence[Floats], slopes: Sequence[Slope]) -> None:
    """Take a step of AdaGrad; tables and sums of squares are changed.

    Parameters
    ----------
    tables, squares : sequences of ndarray
        The parameters, and the sums of their squared slopes so far.
    slopes : sequence of Slope
        One for each table. Rows that repeat make a step each.

    Examples
    --------
    >>> table, squares = np.zeros(2), np.zeros(2)
    >>> step([table], [squares], [Slope(np.array([4.0, -9.0]))])
    >>> table, squares
    (array([-0.05,  0.05]), array([16., 81.]))
    """
    for table, sums, (gradient, rows) in zip(tables, squares, slopes, strict=True):
        if rows is None:
            sums += gradient**2
            table -= _RATE * gradient / np.sqrt(sums)
        else:
            flat = [array.reshape(len(array), -1) for array in (table, sums, gradient)]
            _step_rows(flat[0], flat[1], flat[2], rows, table.dtype.type(_RATE))


@njit(cache=True, nogil=True, error_model="numpy")
def _step_rows(table, squares, gradient, rows, rate):  # type: ignore[no-untyped-def]
    """Take a step of AdaGrad for some rows, one after the other."""
    for number, row in enumerate(rows):
        values, sums, slope = table[row], squares[row], gradient[number]
        for n in range(values.size):
            sums[n] += slope[n] * slope[n]
            values[n] -= rate * slope[n] / np.sqrt(sums[n])


def numbered(documents: list[list[str]], vocabulary: Vocabulary) -> Tokens:
    """Number the words of documents by their place in a vocabulary.

    Examples
    --------
    >>> numbered([["dog", "cat"]], Vocabulary.from_counts({"cat": 2, "dog": 1})).words.tolist()
    [1, 0]
    """
    return number_tokens(documents, {word: i for i, word in enumerate(vocabulary.words)})


def noise_distribution(vocabulary: Vocabulary) -> Floats:
    """Give the distribution that noise words are drawn from, (W,).

    Examples
    --------
    >>> noise_distribution(Vocabulary.from_counts({"cat": 16, "dog": 1}))  # 8 to 1
    array([0.88888889, 0.11111111])
    """
    weight = vocabulary.counts**_NOISE_POWER
    return np.asarray(weight / weight.sum())


def batches(order: Ints) -> list[Ints]:
    """Cut tokens into batches, in their order.

    Examples
    --------
    >>> [len(batch) for batch in batches(np.arange(300))]
    [256, 44]
    """
    return [order[begin : begin + _BATCH] for begin in range(0, len(order), _BATCH)]


def random_layer(rng: np.random.Generator, *shape: int) -> Floats:
    """Draw weights (I, ...) that keep the size of the I numbers that they are given.

    Examples
    --------
    >>> random_layer(np.random.default_rng(0), 100, 50).std().round(1)
    np.float32(0.1)
    """
    return np.asarray(rng.standard_normal(shape, np.float32) / np.sqrt(np.float32(shape[0])))


def random_words(rng: np.random.Generator, n_words: int, n_dims: int) -> Floats:
    """Draw a short vector for each word, and one for places before the first word, (W + 1, N).

    Examples
    --------
    >>> random_words(np.random.default_rng(0), 4, 2).shape
    (5, 2)
    """
    return _SPREAD * rng.standard_normal((n_words + 1, n_dims), np.float32)

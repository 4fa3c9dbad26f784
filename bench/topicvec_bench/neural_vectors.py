"""TopicVec on vectors of two neural networks: a language model, and one that reads documents.

Yoshua Bengio, Réjean Ducharme, Pascal Vincent and Christian Jauvin: A Neural Probabilistic
Language Model. JMLR 2003. Eric H. Huang, Richard Socher, Christopher D. Manning and Andrew Y. Ng:
Improving Word Representations via Global Context and Multiple Word Prototypes. ACL 2012.

The gradients are written out, and tests hold them against finite differences.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from topicvec.text.vocabulary import Vocabulary
from topicvec_bench.base import Floats, Ints
from topicvec_bench.learned_vectors import TrainedVectors
from topicvec_bench.tokens import Tokens, number_tokens

__all__ = [
    "LanguageModel", "OnHuang", "OnNNLM", "Ranking", "Slope", "document_shares",
    "language_model_loss", "left_windows", "ranking_loss", "step",
]  # fmt: skip

_REACH = 4  # words before the one that is foretold
_N_HIDDEN = 100
_BATCH = 256  # tokens
_N_NOISE = 100  # words drawn for each batch of the language model
_NOISE_POWER = 0.75  # noise words are drawn from the unigram distribution to this power
_RATE = 0.05  # of AdaGrad
_FIRST_SQUARE = 0.01  # what AdaGrad's sums of squares start from
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
            _start(rng, n_words, n_dims),
            _drawn(rng, _REACH * n_dims, _N_HIDDEN),
            np.zeros(_N_HIDDEN, np.float32),
            np.zeros((n_words, _N_HIDDEN), np.float32),
            np.log(unigram).astype(np.float32),
        )


class Ranking(NamedTuple):
    """The tables of Huang's network.

    Attributes
    ----------
    words : ndarray of shape (W + 1, N)
        Vectors of words, the last for places before the document's first word.
    local, local_bias, local_score : ndarray of shapes (n N, H), (H,) and (H,)
        The part that reads n words side by side.
    whole, whole_bias, whole_score : ndarray of shapes (2 N, H), (H,) and (H,)
        The part that reads the mean vector of the document and that of the last word.

    Examples
    --------
    >>> Ranking.random(5, 3, np.random.default_rng(0)).whole.shape
    (6, 100)
    """

    words: Floats
    local: Floats
    local_bias: Floats
    local_score: Floats
    whole: Floats
    whole_bias: Floats
    whole_score: Floats

    @classmethod
    def random(cls, n_words: int, n_dims: int, rng: np.random.Generator) -> "Ranking":
        """Draw weights that keep the size of what they are given."""
        parts = [
            (_drawn(rng, n, _N_HIDDEN), np.zeros(_N_HIDDEN, np.float32), _drawn(rng, _N_HIDDEN))
            for n in ((_REACH + 1) * n_dims, 2 * n_dims)
        ]
        return cls(_start(rng, n_words, n_dims), *parts[0], *parts[1])


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
        tokens = _numbered(documents, vocabulary)
        windows = left_windows(tokens, _REACH + 1, n_words)
        noise = _noise(vocabulary)
        log_noise = np.log(_N_NOISE * noise).astype(np.float32)
        model = LanguageModel.random(vocabulary.unigram, self.n_dims, rng)
        squares = [np.full_like(table, _FIRST_SQUARE) for table in model]
        for _ in range(self.n_epochs):
            for batch in _batches(rng.permutation(len(windows))):
                drawn = rng.choice(n_words, _N_NOISE, p=noise)
                contexts, targets = windows[batch, :-1], windows[batch, -1]
                _, slopes = language_model_loss(model, contexts, targets, drawn, log_noise)
                step(model, squares, slopes)
        return model.words[:-1]


class OnHuang(TrainedVectors):
    """TopicVec on vectors that tell a word from a random one, also by the whole document.

    Parameters
    ----------
    n_topics, n_dims, n_epochs, min_count, max_norm, options, random_state
        As in `TrainedVectors`.

    Notes
    -----
    This is the network of Huang et al. (2012) with one prototype a word.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> OnHuang(2, n_dims=2).fit(documents).vectors_
    WordVectors(4 words × 2 dims)
    """

    def learn(self, documents: list[list[str]], vocabulary: Vocabulary) -> Floats:
        """Train the network to score each word above a random one, (W, N)."""
        rng, n_words = np.random.default_rng(self.random_state), len(vocabulary)
        tokens = _numbered(documents, vocabulary)
        windows = left_windows(tokens, _REACH + 1, n_words)
        shares, noise = document_shares(tokens, n_words), _noise(vocabulary)
        document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
        model = Ranking.random(n_words, self.n_dims, rng)
        squares = [np.full_like(table, _FIRST_SQUARE) for table in model]
        for _ in range(self.n_epochs):
            # Documents come whole, so that few are averaged for a batch, but in any order.
            place = rng.permutation(tokens.n_documents)[document]
            for batch in _batches(np.argsort(place, kind="stable")):
                drawn = rng.choice(n_words, len(batch), p=noise)
                present, owner = np.unique(document[batch], return_inverse=True)
                _, slopes = ranking_loss(model, windows[batch], drawn, owner, shares[present])
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


def document_shares(tokens: Tokens, n_words: int) -> csr_array:
    """Give each word's share in the mean of a document: counts weighted by rarity (idf).

    Parameters
    ----------
    tokens : Tokens
    n_words : int

    Returns
    -------
    csr_array of shape (D, W), float32
        Rows sum to 1, those of empty documents to 0.

    Examples
    --------
    >>> tokens = Tokens(np.array([0, 0, 1, 0], np.int32), np.array([0, 3, 4]))
    >>> document_shares(tokens, 2).toarray().round(2)  # log 2 + 1 for the rarer word
    array([[0.54, 0.46], [1.  , 0.  ]], dtype=float32)
    """
    counts = tokens.counts(n_words).astype(float)
    n_having = np.maximum(np.bincount(counts.indices, minlength=n_words), 1)
    rarity = np.log(tokens.n_documents / n_having) + 1  # a word of all documents counts, too
    weighted = counts * rarity[None, :]
    totals = np.asarray(weighted.sum(axis=1))
    shares = weighted / np.where(totals > 0, totals, 1)[:, None]
    return csr_array(shares, dtype=np.float32)


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


def ranking_loss(
    model: Ranking, windows: Ints, noise: Ints, owner: Ints, shares: csr_array
) -> tuple[float, list[Slope]]:
    """Score each window above the same one with a random last word, by a margin of 1.

    Parameters
    ----------
    model : Ranking
    windows : ndarray of shape (B, n)
        Each word, last, with those before it.
    noise : ndarray of shape (B,)
        The word to set in its place.
    owner : ndarray of shape (B,)
        The document of each window, a row of ``shares``.
    shares : csr_array of shape (D, W)
        Share of each word in the mean of a document, see `document_shares`.

    Returns
    -------
    loss : float
    slopes : list of Slope
        One for each table.

    Examples
    --------
    >>> model, shares = Ranking.random(5, 3, np.random.default_rng(0)), csr_array(np.eye(1, 5))
    >>> windows, owner = np.array([[0, 1, 2, 3, 4]]), np.array([0])
    >>> loss, slopes = ranking_loss(model, windows, np.array([4]), owner, shares)
    >>> loss, len(slopes)  # a word is not above itself
    (1.0, 7)
    """
    n_dims = model.words.shape[1]
    means = (shares @ model.words[:-1])[owner]  # (B, N)
    both = [np.column_stack([windows[:, :-1], last]) for last in (windows[:, -1], noise)]
    places = np.concatenate(both)  # (2 B, n): the true ones, then the others
    read = model.words[places].reshape(len(places), -1)
    whole = np.hstack([np.concatenate([means, means]), read[:, -n_dims:]])
    local_hidden = np.tanh(read @ model.local + model.local_bias)
    whole_hidden = np.tanh(whole @ model.whole + model.whole_bias)
    true, false = np.split(local_hidden @ model.local_score + whole_hidden @ model.whole_score, 2)
    missed = np.maximum(1 - true + false, 0)
    sign = (missed > 0).astype(read.dtype)
    by_score = np.concatenate([-sign, sign])
    by_local = np.outer(by_score, model.local_score) * (1 - local_hidden**2)
    by_whole = np.outer(by_score, model.whole_score) * (1 - whole_hidden**2)
    by_read, by_both = by_local @ model.local.T, by_whole @ model.whole.T
    by_read[:, -n_dims:] += by_both[:, n_dims:]
    by_mean = np.zeros((shares.shape[0], n_dims), read.dtype)
    np.add.at(by_mean, np.concatenate([owner, owner]), by_both[:, :n_dims])
    of_share = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    by_shared = shares.data[:, None] * by_mean[of_share]
    return float(missed.sum()), [
        Slope(
            np.concatenate([by_read.reshape(places.size, -1), by_shared]),
            np.concatenate([places.ravel(), shares.indices]),
        ),
        Slope(read.T @ by_local),
        Slope(by_local.sum(0)),
        Slope(local_hidden.T @ by_score),
        Slope(whole.T @ by_whole),
        Slope(by_whole.sum(0)),
        Slope(whole_hidden.T @ by_score),
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
            flat = (array.reshape(len(array), -1) for array in (table, sums, gradient))
            _step_rows(*flat, rows, table.dtype.type(_RATE))


@njit(cache=True, nogil=True, error_model="numpy")
def _step_rows(table, squares, gradient, rows, rate):  # type: ignore[no-untyped-def]
    """Take a step of AdaGrad for some rows, one after the other."""
    for number, row in enumerate(rows):
        values, sums, slope = table[row], squares[row], gradient[number]
        for n in range(values.size):
            sums[n] += slope[n] * slope[n]
            values[n] -= rate * slope[n] / np.sqrt(sums[n])


def _numbered(documents: list[list[str]], vocabulary: Vocabulary) -> Tokens:
    return number_tokens(documents, {word: i for i, word in enumerate(vocabulary.words)})


def _noise(vocabulary: Vocabulary) -> Floats:
    """Give the distribution that noise words are drawn from, (W,)."""
    weight = vocabulary.counts**_NOISE_POWER
    return np.asarray(weight / weight.sum())


def _batches(order: Ints) -> list[Ints]:
    return [order[begin : begin + _BATCH] for begin in range(0, len(order), _BATCH)]


def _drawn(rng: np.random.Generator, *shape: int) -> Floats:
    """Draw weights whose products with so many even numbers are about as large as these."""
    return rng.standard_normal(shape, np.float32) / np.sqrt(np.float32(shape[0]))


def _start(rng: np.random.Generator, n_words: int, n_dims: int) -> Floats:
    """Draw a short vector for each word, and one for places before the first word."""
    return _SPREAD * rng.standard_normal((n_words + 1, n_dims), np.float32)

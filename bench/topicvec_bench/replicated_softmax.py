"""The replicated softmax of Salakhutdinov and Hinton (2009), by contrastive divergence.

Ruslan Salakhutdinov and Geoffrey Hinton: Replicated Softmax: an Undirected Topic Model. NIPS 2009.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from scipy.sparse import csr_array, diags_array
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_number, check_whole
from topicvec.engine import one_blas_thread
from topicvec_bench.base import ABOVE_ZERO, Baseline, Floats, Ints, TokenLists
from topicvec_bench.gibbs import draw
from topicvec_bench.tokens import Tokens, learn_words, number_tokens

__all__ = ["ReplicatedSoftmax", "Weights", "sample_words"]

_SPREAD = 0.01  # standard deviation of the first weights


class Weights(NamedTuple):
    """The parameters of the machine, or changes of them.

    Attributes
    ----------
    pairs : ndarray of shape (W, F)
        Of each word with each hidden unit.
    words : ndarray of shape (W,)
        Biases of the words.
    hidden : ndarray of shape (F,)
        Biases of the hidden units, for each word of a document.

    Examples
    --------
    >>> weights = Weights(np.array([[2.0], [-2.0]]), np.zeros(2), np.zeros(1))
    >>> weights.describe(csr_array([[1, 0], [1, 1]])).round(2)
    array([[0.88], [0.5 ]])
    >>> weights.logits(np.array([[1.0]]))
    array([[ 2., -2.]])
    """

    pairs: Floats
    words: Floats
    hidden: Floats

    def describe(self, counts: csr_array) -> Floats:
        """Give the probability that each hidden unit is on, (D, F), for counts (D, W)."""
        lengths = counts.sum(axis=1)[:, None]
        # the hidden bias counts once a word, so that longer documents do not switch all units on
        found: Floats = expit(counts @ self.pairs + lengths * self.hidden)
        return found

    def logits(self, states: Floats) -> Floats:
        """Give logarithms of the words' probabilities, (D, W), up to a sum, for states (D, F)."""
        return np.asarray(states @ self.pairs.T + self.words)

    def gradient(self, counts: csr_array, states: Floats) -> "Weights":
        """Sum the derivatives of minus the energy over documents, for states (D, F)."""
        return Weights(
            counts.T @ states,
            counts.sum(axis=0).astype(states.dtype),
            counts.sum(axis=1).astype(states.dtype) @ states,
        )

    def plus(self, step: "Weights", factor: float = 1.0, keep: float = 1.0) -> "Weights":
        """Add a multiple of changes to a share of these weights."""
        scale, kept = np.float32(factor), np.float32(keep)  # a float64 would widen all
        pairs = zip(self, step, strict=True)
        return Weights(*(kept * old + scale * new for old, new in pairs))


class ReplicatedSoftmax(Baseline):
    """Hidden units of a Boltzmann machine whose visible units are all words of a document.

    Each word of a document is a softmax unit, all share their weights to binary hidden units, and
    the bias of the hidden units is multiplied by the document's length. Learning follows the
    difference between the documents and what is left of them after k steps of Gibbs sampling
    (CD-k), in small batches and with momentum; k rises from 1 to ``n_steps`` over the epochs.

    Parameters
    ----------
    n_hidden : int
        Number of hidden units.
    n_words : int
        Only so many words are used, the most frequent ones: a sampling step costs documents ×
        words × hidden units.
    n_epochs : int
        Passes over the documents.
    n_steps : int
        Steps of Gibbs sampling at the end of learning.
    batch_size : int
        Documents in an update.
    learning_rate : float
        Of the first epoch; it falls evenly to a tenth.
    momentum : float
        Share of the last update that is added to the next one.
    random_state : int
        Seed.

    Attributes
    ----------
    words_ : tuple of str
        The words in use, most frequent first.
    weights_ : Weights
        What was learned, float32.
    errors_ : list of float
        Mean share of a document's words that sampling has changed, in each epoch.

    Notes
    -----
    Positive and negative statistics use the probabilities of hidden units, the sampling their
    states. Each document's part in an update is divided by its length: with plain sums the longest
    documents of 20 Newsgroups, of thousands of words, kept the units from learning anything.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"] * 3, ["car", "bus", "bus"] * 3] * 20
    >>> model = ReplicatedSoftmax(2, n_epochs=50, batch_size=10).fit(documents)
    >>> animals, traffic = model.transform([["cat", "dog"] * 3, ["bus", "car"] * 3])
    >>> bool(abs(animals - traffic).max() > 0.9)
    True
    """

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        n_words: int = 2000,
        n_epochs: int = 100,
        n_steps: int = 1,
        batch_size: int = 100,
        learning_rate: float = 0.5,
        momentum: float = 0.9,
        random_state: int = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_words = n_words
        self.n_epochs = n_epochs
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn the weights from token lists.

        Parameters
        ----------
        documents : sequence of token lists
        y
            Not used.

        Returns
        -------
        ReplicatedSoftmax
            This object.
        """
        self._check()
        self.words_ = learn_words(documents)[: self.n_words]
        counts = self._counts(documents)
        counts = counts[counts.sum(axis=1) > 0]  # others teach nothing
        rng = np.random.default_rng(self.random_state)
        self.weights_: Weights = self._first(counts, rng)
        speed = Weights(*(np.zeros_like(each) for each in self.weights_))
        self.errors_: list[float] = []
        for epoch in range(self.n_epochs):
            speed = self._epoch(counts, speed, epoch / self.n_epochs, rng)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Give the probabilities of the hidden units.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_hidden)
            A half for all units where a document has no known word.
        """
        check_is_fitted(self)
        return self.weights_.describe(self._counts(documents))

    def _counts(self, documents: TokenLists) -> csr_array:
        ids = {word: number for number, word in enumerate(self.words_)}
        return number_tokens(documents, ids).counts(len(self.words_)).astype(np.float32)

    def _first(self, counts: csr_array, rng: np.random.Generator) -> Weights:
        """Start near the unigram model, where hidden units tell nothing."""
        shape = (counts.shape[1], self.n_hidden)
        pairs = rng.normal(scale=_SPREAD, size=shape).astype(np.float32)
        total = counts.sum(axis=0)
        frequency = np.log(total / total.sum()).astype(np.float32)
        return Weights(pairs, frequency, np.zeros(self.n_hidden, np.float32))

    def _epoch(
        self, counts: csr_array, speed: Weights, done: float, rng: np.random.Generator
    ) -> Weights:
        """Go through the documents once; give the last update."""
        rate = self.learning_rate * (1 - 0.9 * done)
        n_steps = 1 + int(done * self.n_steps)
        changed = 0.0
        for batch in _batches(counts, self.batch_size, rng):
            step, error = _contrast(self.weights_, batch, n_steps, rng)
            speed = speed.plus(step, rate / batch.shape[0], keep=self.momentum)
            self.weights_ = self.weights_.plus(speed)
            changed += error
        self.errors_.append(changed / counts.shape[0])
        return speed

    def _check(self) -> None:
        for name in ("n_hidden", "n_words", "n_epochs", "n_steps", "batch_size"):
            check_whole(name, getattr(self, name), 1)
        check_whole("random_state", self.random_state, 0)
        check_number("learning_rate", self.learning_rate, ABOVE_ZERO)
        check_number("momentum", self.momentum, 0.0, 1.0)


def _batches(counts: csr_array, size: int, rng: np.random.Generator) -> Iterator[csr_array]:
    order = rng.permutation(counts.shape[0])
    for start in range(0, len(order), size):
        yield counts[order[start : start + size]]


def _contrast(
    weights: Weights, counts: csr_array, n_steps: int, rng: np.random.Generator
) -> tuple[Weights, float]:
    """Give the update by contrastive divergence, and the share of words that sampling changed."""
    lengths = counts.sum(axis=1)
    per_word = diags_array(1 / lengths)  # by the mean over words, or the longest would rule
    chances = weights.describe(counts)
    step, fancied = weights.gradient(per_word @ counts, chances), counts
    for _ in range(n_steps):
        states = (rng.random(chances.shape, np.float32) < chances).astype(np.float32)
        fancied = sample_words(weights.logits(states), lengths.astype(np.int64), rng)
        chances = weights.describe(fancied)
    changed = float(abs(per_word @ (counts - fancied)).sum()) / 2
    return step.plus(weights.gradient(per_word @ fancied, chances), -1.0), changed


def sample_words(logits: Floats, lengths: Ints, rng: np.random.Generator) -> csr_array:
    """Draw the words of documents from a softmax each.

    Parameters
    ----------
    logits : ndarray of shape (D, W)
        Logarithms of the words' probabilities, each row up to a sum.
    lengths : ndarray of shape (D,)
        How many words to draw.
    rng : Generator

    Returns
    -------
    csr_array of shape (D, W)
        Counts, float32; rows sum to the lengths.

    Examples
    --------
    >>> sample_words(np.array([[0.0, 50.0]]), np.array([3]), np.random.default_rng(0)).toarray()
    array([[0., 3.]], dtype=float32)
    """
    starts = np.concatenate([[0], np.cumsum(lengths)])
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    words = _draw_words(weights, starts, rng.random(starts[-1]))
    return Tokens(words, starts).counts(logits.shape[1]).astype(np.float32)


@njit(cache=True, nogil=True)
def _draw_words(weights, starts, uniforms):  # type: ignore[no-untyped-def]
    """Draw a word for each random number in [0, 1); document d has those from starts[d] on."""
    found = np.empty(uniforms.size, np.int32)
    cumulative = np.empty(weights.shape[1])
    for d in range(starts.size - 1):
        total = 0.0
        for w in range(weights.shape[1]):
            total += weights[d, w]
            cumulative[w] = total
        for i in range(starts[d], starts[d + 1]):
            found[i] = draw(cumulative, uniforms[i])
    return found

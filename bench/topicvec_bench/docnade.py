"""DocNADE of Larochelle and Lauly (2012): a document's words foretold one after the other.

Hugo Larochelle and Stanislas Lauly: A Neural Autoregressive Topic Model. NIPS 2012.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_number, check_whole
from topicvec.engine import one_blas_thread
from topicvec_bench.base import ABOVE_ZERO, Baseline, Floats, Ints, TokenLists
from topicvec_bench.tokens import Tokens, learn_words, number_tokens

__all__ = ["DocNADE", "Network", "Tree", "learn_document", "learn_document_reference"]

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # sums over hidden units may be taken in any order
_SPREAD = 0.05  # of the first weights, on both sides of zero


class Tree(NamedTuple):
    """The way to each word in a full binary tree whose leaves are the words, in random order.

    Attributes
    ----------
    nodes : ndarray of shape (W, depth), int32
        Inner nodes from the root to each word; -1 after the last.
    turns : ndarray of shape (W, depth), int8
        1 where the way goes right, 0 left.

    Examples
    --------
    >>> tree = Tree.random(4, np.random.default_rng(0))
    >>> sorted(tree.turns.tolist())
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """

    nodes: NDArray[np.int32]
    turns: NDArray[np.int8]

    @classmethod
    def random(cls, n_words: int, rng: np.random.Generator) -> "Tree":
        """Put words at the leaves at random; ways differ by at most one node."""
        # numbered as in a heap: the children of i are 2i + 1 and 2i + 2, leaves are the last W
        place = rng.permutation(n_words) + n_words - 1
        depth = int(place.max() + 1).bit_length() - 1
        nodes, turns = np.full((n_words, depth), -1, np.int32), np.zeros((n_words, depth), np.int8)
        for word, leaf in enumerate(place.tolist()):
            bits = f"{leaf + 1:b}"[1:]  # the turns from the root
            turns[word, : len(bits)] = [int(bit) for bit in bits]
            nodes[word, : len(bits)] = [
                (leaf + 1 >> len(bits) - level) - 1 for level in range(len(bits))
            ]
        return cls(nodes, turns)


class Network(NamedTuple):
    """The parameters: learning changes them.

    Attributes
    ----------
    words : ndarray of shape (W, F)
        What each word adds to the hidden units, W of the paper.
    hidden : ndarray of shape (F,)
        Biases of the hidden units, c.
    nodes : ndarray of shape (max(W - 1, 1), F)
        Weights of the tree's nodes, V.
    biases : ndarray of shape (max(W - 1, 1),)
        Their biases, b.

    Examples
    --------
    >>> [each.shape for each in Network.random(5, 3, np.random.default_rng(0))]
    [(5, 3), (3,), (4, 3), (4,)]
    """

    words: Floats
    hidden: Floats
    nodes: Floats
    biases: Floats

    @classmethod
    def random(cls, n_words: int, n_hidden: int, rng: np.random.Generator) -> "Network":
        """Start with small weights and no biases."""
        n_nodes = max(n_words - 1, 1)
        words, nodes = (
            rng.uniform(-_SPREAD, _SPREAD, (n_rows, n_hidden)).astype(np.float32)
            for n_rows in (n_words, n_nodes)
        )
        return cls(words, np.zeros(n_hidden, np.float32), nodes, np.zeros(n_nodes, np.float32))


class DocNADE(Baseline):
    """Hidden units of a network that foretells each word of a document from those before it.

    The words before add up to hidden units; a word is found by turns in a binary tree, each with
    a logistic probability given the hidden units. The order of words is drawn anew in each epoch,
    so that the model is one of bags of words. Learning is by stochastic gradients, a document at
    a time. A document is described by the hidden units after all its words.

    Parameters
    ----------
    n_hidden : int
        Number of hidden units.
    n_words : int
        Only so many words are used, the most frequent ones.
    n_epochs : int
        Passes over the documents.
    learning_rate : float
        Of the first epoch, for the mean of the log-probabilities of a document's words; it falls
        evenly towards zero.
    random_state : int
        Seed.

    Attributes
    ----------
    words_ : tuple of str
        The words in use, most frequent first.
    tree_ : Tree
        Where they are in the tree.
    network_ : Network
        What was learned, float32.
    likelihoods_ : list of float
        In each epoch, the mean over documents of the mean log-probability of a word, each
        document seen just before it is learned from.

    Notes
    -----
    The paper keeps 2,000 words of 20 Newsgroups. The gradient is that of the mean over a
    document's words, as in the paper's measure, so a long document moves the weights as far as a
    short one.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"] * 3, ["car", "bus", "bus"] * 3] * 20
    >>> model = DocNADE(4, n_epochs=50).fit(documents)
    >>> one, other, third = model.transform([["cat"] * 9, ["dog", "cat"] * 5, ["bus", "car"] * 5])
    >>> bool(np.linalg.norm(one - other) < np.linalg.norm(one - third))
    True
    """

    def __init__(
        self,
        n_hidden: int = 100,
        *,
        n_words: int = 60_000,
        n_epochs: int = 20,
        learning_rate: float = 0.5,
        random_state: int = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_words = n_words
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.random_state = random_state

    @one_blas_thread()
    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn the network from token lists.

        Parameters
        ----------
        documents : sequence of token lists
        y
            Not used.

        Returns
        -------
        DocNADE
            This object.
        """
        for name in ("n_hidden", "n_words", "n_epochs"):
            check_whole(name, getattr(self, name), 1)
        check_whole("random_state", self.random_state, 0)
        check_number("learning_rate", self.learning_rate, ABOVE_ZERO)
        self.words_ = learn_words(documents)[: self.n_words]
        tokens = self._tokens(documents)
        rng = np.random.default_rng(self.random_state)
        self.tree_ = Tree.random(len(self.words_), rng)
        self.network_ = Network.random(len(self.words_), self.n_hidden, rng)
        rates = self.learning_rate * (1 - np.arange(self.n_epochs) / self.n_epochs)
        self.likelihoods_ = [self._epoch(tokens, rate, rng) for rate in rates]
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Give the hidden units after all words of each document.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_hidden)
            Between 0 and 1; by the biases alone where a document has no known word.
        """
        check_is_fitted(self)
        counts = self._tokens(documents).counts(len(self.words_)).astype(np.float32)
        return np.asarray(expit(counts @ self.network_.words + self.network_.hidden))

    def _tokens(self, documents: TokenLists) -> Tokens:
        return number_tokens(documents, {word: i for i, word in enumerate(self.words_)})

    def _epoch(self, tokens: Tokens, rate: float, rng: np.random.Generator) -> float:
        """Learn from all documents once, in random order; give the mean log-likelihood."""
        rows = rng.permutation(np.flatnonzero(tokens.lengths))
        words = shuffled(tokens, rng)
        return float(_learn(words, tokens.starts, rows, *self.tree_, *self.network_, rate))


def shuffled(tokens: Tokens, rng: np.random.Generator) -> Ints:
    """Bring the words of each document into a random order, (n_tokens,)."""
    document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
    return tokens.words[np.lexsort((rng.random(len(tokens.words)), document))]


@njit(cache=True, nogil=True)
def _learn(words, starts, rows, nodes, turns, W, c, V, b, rate):  # type: ignore[no-untyped-def]
    """Learn from documents in the order of rows; give the mean of their mean log-likelihoods."""
    total = 0.0
    for d in rows:
        document = words[starts[d] : starts[d + 1]]
        total += learn_document(document, nodes, turns, W, c, V, b, rate) / document.size
    return total / max(rows.size, 1)


@njit(cache=True, nogil=True, fastmath=_FAST)
def learn_document(words, nodes, turns, W, c, V, b, rate):  # type: ignore[no-untyped-def]
    """Climb the mean log-likelihood of a document's words by one step of its exact gradient.

    Parameters
    ----------
    words : array, (n,)
        Numbers of the words, in the order in which they are foretold.
    nodes, turns : arrays, (n_words, depth)
        The tree, see `Tree`.
    W, c, V, b : arrays
        The network, see `Network`; changed after all has been computed.
    rate : float
        Length of the step, as a multiple of the gradient.

    Returns
    -------
    float
        The log-likelihood of the document before the step.
    """
    n_hidden, depth = c.size, nodes.shape[1]
    hidden, delta = np.empty((words.size, n_hidden), W.dtype), np.zeros_like(W[words])
    errors = np.zeros((words.size, depth), W.dtype)
    before, likelihood = c.copy(), 0.0
    for i in range(words.size):
        for f in range(n_hidden):
            hidden[i, f] = 1 / (1 + np.exp(-before[f]))
            before[f] += W[words[i], f]
        for level in range(depth):
            node = nodes[words[i], level]
            if node < 0:
                break
            score = b[node]
            for f in range(n_hidden):
                score += V[node, f] * hidden[i, f]
            turn = turns[words[i], level]
            signed = score if turn else -score
            likelihood += min(signed, 0) - np.log1p(np.exp(-abs(signed)))
            error = W.dtype.type(turn - 1 / (1 + np.exp(-score)))
            errors[i, level] = error
            for f in range(n_hidden):
                delta[i, f] += error * V[node, f]
    _take_step(words, nodes, W, c, V, b, hidden, delta, errors, W.dtype.type(rate / words.size))
    return likelihood


@njit(cache=True, nogil=True, fastmath=_FAST)
def _take_step(words, nodes, W, c, V, b, hidden, delta, errors, step):  # type: ignore[no-untyped-def]
    """Add the gradient; a word has part in the hidden units of all words after it."""
    after = np.zeros_like(c)
    for i in range(words.size - 1, -1, -1):
        for f in range(c.size):
            W[words[i], f] += step * after[f]
            after[f] += delta[i, f] * hidden[i, f] * (1 - hidden[i, f])
        for level in range(nodes.shape[1]):
            node = nodes[words[i], level]
            if node < 0:
                break
            change = step * errors[i, level]
            b[node] += change
            for f in range(c.size):
                V[node, f] += change * hidden[i, f]
    c += step * after


def learn_document_reference(
    words: Ints, nodes: Ints, turns: Ints, W: Floats, c: Floats, V: Floats, b: Floats, rate: float
) -> float:
    """Do the same as `learn_document`, to be read."""
    sums = c + np.vstack([np.zeros_like(c), np.cumsum(W[words], axis=0)])
    hidden = expit(sums[:-1])  # (n, F): those of the words before
    way, on_way = nodes[words], nodes[words] >= 0  # (n, depth)
    scores = np.einsum("nlf,nf->nl", V[way], hidden) + b[way]
    likelihood = np.sum(log_expit(np.where(turns[words] == 1, scores, -scores)), where=on_way)
    errors = np.where(on_way, turns[words] - expit(scores), 0)
    delta = np.einsum("nl,nlf->nf", errors, V[way]) * hidden * (1 - hidden)
    after = np.cumsum(delta[::-1], axis=0)[::-1] - delta  # of the words after each
    step = rate / len(words)
    np.add.at(W, words, step * after)
    np.add.at(V, way, step * errors[:, :, None] * hidden[:, None, :])
    np.add.at(b, way, step * errors)
    c += step * delta.sum(axis=0)
    return float(likelihood)

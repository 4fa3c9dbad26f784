"""Paragraph Vector as the special case of TopicVec that its paper names: one topic a document.

Le and Mikolov (2014) give each text a vector that influences the distribution of all its words.
"It can be viewed as a special case of TopicVec, with the topic number set to 1", says the paper.
The one topic is the document's own and no null topic, which would leave nothing to learn.
"""

from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topicvec.checks import check_number, check_whole
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import one_blas_thread
from topicvec.errors import DataError
from topicvec.model.equations import project
from topicvec_bench.base import ABOVE_ZERO, Baseline, Floats, Ints, TokenLists
from topicvec_bench.tokens import learn_words, number_tokens

__all__ = ["DocumentTopics", "Lexicon", "climb", "fit_document_topics", "mean_word"]

_BLOCK = 500  # documents that are worked on at once
_TOLERANCE = 1e-3  # of the residual, see `climb`
_SHORTEST, _LONGEST = 1e-3, 10.0  # step of `climb`; the largest curvature of real topics is near 1


class DocumentTopics(Baseline):
    """TopicVec with one topic of its own for each document: P(w|d) = u_w exp(v_w·t_d + r_d).

    Word vectors are fixed and u are the frequencies of words in the training documents. A
    document's features are its topic vector, the maximum of the likelihood of its words in the
    ball ‖t‖ ≤ γ, so the training documents are described as new ones are.

    Parameters
    ----------
    vectors : WordVectors or path, optional
        By default those that come with the package.
    max_norm : float
        Longest topic vector allowed, γ.
    min_count : int
        Leave out words that occur less often in the training documents, as `Doc2Vec` does.
    n_words : int
        Keep no more than so many words, the most frequent ones; the normaliser sums over all
        that are kept, in each step for each document.

    Attributes
    ----------
    words_ : tuple of str
        The words in use, most frequent first.
    lexicon_ : Lexicon
        Their vectors and frequencies.

    Notes
    -----
    Most documents are short, and their topics end on the border of the ball. The paper has
    the frequencies of Wikipedia for u.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], [1] * 3)
    >>> model = DocumentTopics(vectors, min_count=1).fit([["cat", "dog"], ["car", "car"]])
    >>> found = model.transform([["cat"], ["car"], ["yak"]])
    >>> np.sign(found[:2] @ [1, -1]).tolist(), found[2].tolist()
    ([1.0, -1.0], [0.0, 0.0])
    """

    def __init__(
        self,
        vectors: WordVectors | str | PathLike[str] | None = None,
        *,
        max_norm: float = 7.0,
        min_count: int = 5,
        n_words: int = 6000,
    ) -> None:
        self.vectors = vectors
        self.max_norm = max_norm
        self.min_count = min_count
        self.n_words = n_words

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn which words there are and how frequent they are."""
        check_number("max_norm", self.max_norm, ABOVE_ZERO)
        check_whole("n_words", self.n_words, 1)
        vectors = load_vectors(self.vectors)
        self.words_ = learn_words(documents, self.min_count, vectors)[: self.n_words]
        if not self.words_:
            raise DataError(
                f"expected words that occur min_count={self.min_count} times and have a vector; "
                "found none: give more documents or a lower min_count"
            )
        ids = {word: number for number, word in enumerate(self.words_)}
        counts = np.bincount(number_tokens(documents, ids).words, minlength=len(ids))
        self.lexicon_ = Lexicon.of(vectors.subset(self.words_).matrix, counts)
        return self

    @one_blas_thread()
    def transform(self, documents: TokenLists) -> Floats:
        """Fit the topic vector of each document.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_dims), float32
            Zeros, the topic of all documents together, for a document without a known word.
        """
        check_is_fitted(self)
        ids = {word: number for number, word in enumerate(self.words_)}
        counts = number_tokens(documents, ids).counts(len(ids))
        lengths = counts.sum(1)
        observed = (counts @ self.lexicon_.matrix) / np.maximum(lengths, 1)[:, None]
        found = np.zeros(observed.shape, np.float32)
        known = lengths > 0
        found[known] = fit_document_topics(observed[known], self.lexicon_, self.max_norm)
        return found


class Lexicon(NamedTuple):
    """Words as a normaliser sees them.

    Attributes
    ----------
    matrix : ndarray of shape (W, N), float32
        Their vectors.
    log_weight : ndarray of shape (W,), float32
        Logarithms of their unigram probabilities.

    Examples
    --------
    >>> Lexicon.of(np.eye(2), np.array([1, 3])).log_weight.round(2).tolist()
    [-1.3899999856948853, -0.28999999165534973]
    """

    matrix: Floats
    log_weight: Floats

    @classmethod
    def of(cls, matrix: Floats, weight: Floats | Ints) -> "Lexicon":
        """Take vectors (W, N) and weights (W,), which need not sum to 1."""
        return cls(matrix.astype(np.float32), np.log(weight / weight.sum()).astype(np.float32))


def fit_document_topics(observed: Floats, lexicon: Lexicon, max_norm: float = 7.0) -> Floats:
    """Find the topic of each document that makes its words most probable.

    Maximises x̄_d·t − A(t) in the ball ‖t‖ ≤ γ, where x̄_d is the mean vector of the document's
    words and A(t) = log Σ_w u_w exp(v_w·t) = −r; it is concave.

    Parameters
    ----------
    observed : ndarray of shape (D, N)
        Mean vectors x̄ of the documents' words.
    lexicon : Lexicon
        The words of the normaliser A.
    max_norm : float
        Radius γ of the ball.

    Returns
    -------
    ndarray of shape (D, N), float32

    Examples
    --------
    >>> words = Lexicon.of(np.array([[1.0], [-1.0]]), np.array([1, 1]))
    >>> found = fit_document_topics(np.array([[0.5]]), words)  # three words of four are the first
    >>> np.round(np.exp(found) / (np.exp(found) + np.exp(-found)), 2).item()
    0.75
    """
    blocks = [
        climb(observed[start : start + _BLOCK].astype(np.float32), lexicon, max_norm)
        for start in range(0, len(observed), _BLOCK)
    ]
    return np.concatenate([np.zeros((0, observed.shape[1]), np.float32), *blocks])


def climb(goal: Floats, lexicon: Lexicon, max_norm: float, n_steps: int = 200) -> Floats:
    """Maximise goal·t − A(t) in a ball for each row, by accelerated projected gradients.

    Parameters
    ----------
    goal : ndarray of shape (D, N), float32
    lexicon : Lexicon
        The words of A.
    max_norm : float
        Radius of the ball.
    n_steps : int
        Limit; a row ends before when a gradient step of length 1 would move it, inside the ball,
        by less than a thousandth.

    Returns
    -------
    ndarray of shape (D, N), float32

    Examples
    --------
    >>> words = Lexicon.of(np.array([[1.0], [-1.0]]), np.array([1, 1]))
    >>> climb(np.ones((1, 1), np.float32), words, 2.0)
    array([[2.]], dtype=float32)
    """
    found, rows = np.zeros(goal.shape, np.float32), np.arange(len(goal))
    here, ahead = found.copy(), found.copy()
    # Iterates are `here`; gradients are taken `ahead` of them, where momentum leads.
    step, momentum = np.ones((2, len(goal), 1), np.float32)
    before: tuple[Floats, Floats] | None = None
    for _ in range(n_steps):
        slope = goal[rows] - mean_word(ahead, lexicon)[1]
        step, calm = _adapt(step, ahead, slope, before)
        new = project(ahead + step * slope, max_norm)
        # Momentum starts again where it points back, or where the step had to be cut.
        forth = calm & (np.sum((ahead - new) * (new - here), axis=1, keepdims=True) <= 0)
        momentum = np.where(forth, momentum, np.float32(1))
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        push = np.where(forth, (momentum - 1) / grown, np.float32(0))
        found[rows] = new
        moved = np.linalg.norm(project(ahead + slope, max_norm) - ahead, axis=1)
        live = moved > _TOLERANCE
        before = (ahead[live], slope[live])
        ahead, here = (new + push * (new - here))[live], new[live]
        step, momentum, rows = step[live], grown[live], rows[live]
        if not len(rows):
            break
    return found


def _adapt(
    step: Floats, ahead: Floats, slope: Floats, before: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats]:
    """Keep steps (D, 1) below one over the curvature just seen; tell which had not to be cut."""
    if before is None:
        return step, np.ones(step.shape, bool)
    way = np.linalg.norm(ahead - before[0], axis=1, keepdims=True)
    turn = np.linalg.norm(slope - before[1], axis=1, keepdims=True)
    most = np.clip(way / np.maximum(turn, 1e-12), _SHORTEST, _LONGEST).astype(np.float32)
    return np.minimum(step * np.float32(1.1), most), step <= most


def mean_word(topics: Floats, lexicon: Lexicon) -> tuple[Floats, Floats]:
    """Give A(t) = log Σ_w u_w exp(v_w·t), and its gradient, the mean word vector of each topic.

    Parameters
    ----------
    topics : ndarray of shape (D, N)
    lexicon : Lexicon

    Returns
    -------
    ndarrays of shape (D,) and (D, N)

    Examples
    --------
    >>> words = Lexicon.of(np.array([[1.0], [-1.0]]), np.array([3, 1]))
    >>> value, mean = mean_word(np.array([[1.0]]), words)
    >>> value.round(3).tolist(), mean.round(3).tolist()  # 3e / 4 and 1 / 4e
    ([0.756], [[0.914]])
    """
    logits = topics @ lexicon.matrix.T
    logits += lexicon.log_weight
    top = logits.max(axis=1, keepdims=True)
    logits -= top
    weights = np.exp(logits, out=logits)
    total = weights.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], (weights @ lexicon.matrix) / total

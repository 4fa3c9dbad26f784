"""TopicVec on vectors that know whole documents (Huang, Socher, Manning and Ng 2012).

Eric H. Huang, Richard Socher, Christopher D. Manning and Andrew Y. Ng: Improving Word
Representations via Global Context and Multiple Word Prototypes. ACL 2012.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topicvec.text.vocabulary import Vocabulary
from topicvec_bench.base import Floats, Ints
from topicvec_bench.learned_vectors import TrainedVectors
from topicvec_bench.neural_vectors import (
    FIRST_SQUARE,
    N_HIDDEN,
    REACH,
    Slope,
    batches,
    left_windows,
    noise_distribution,
    numbered,
    random_layer,
    random_words,
    step,
)
from topicvec_bench.tokens import Tokens

__all__ = ["OnHuang", "Ranking", "document_shares", "ranking_loss"]


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
            (
                random_layer(rng, n, N_HIDDEN),
                np.zeros(N_HIDDEN, np.float32),
                random_layer(rng, N_HIDDEN),
            )
            for n in ((REACH + 1) * n_dims, 2 * n_dims)
        ]
        return cls(random_words(rng, n_words, n_dims), *parts[0], *parts[1])


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
        tokens = numbered(documents, vocabulary)
        windows = left_windows(tokens, REACH + 1, n_words)
        shares, noise = document_shares(tokens, n_words), noise_distribution(vocabulary)
        document = np.repeat(np.arange(tokens.n_documents), tokens.lengths)
        model = Ranking.random(n_words, self.n_dims, rng)
        squares = [np.full_like(table, FIRST_SQUARE) for table in model]
        for _ in range(self.n_epochs):
            # Documents come whole, so that few are averaged for a batch, but in any order.
            place = rng.permutation(tokens.n_documents)[document]
            for batch in batches(np.argsort(place, kind="stable")):
                drawn = rng.choice(n_words, len(batch), p=noise)
                present, owner = np.unique(document[batch], return_inverse=True)
                _, slopes = ranking_loss(model, windows[batch], drawn, owner, shares[present])
                step(model, squares, slopes)
        return model.words[:-1]


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

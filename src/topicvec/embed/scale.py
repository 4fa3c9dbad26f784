"""The scale of word vectors: that of log ratios, which the link function of topics means.

A topic t multiplies the probability of a word by exp(v·t + r) and is at most γ long, so the numbers
in v have a unit: log ratios of probabilities. PSDVec's vectors have it, as their inner products are
log ratios of co-occurrence. Those of word2vec, GloVe or fastText are right up to a factor that
depends on how they were trained: with vectors several times too long one topic has room for every
word, and takes most of a corpus (test_vectors_of_any_length_give_the_same_topics).

What a topic as long as 1 in the direction of some word adds to the log ratio of another word is
v^·w, v^ of length 1, both with the mean vector taken away. Its root mean square, words drawn by
their probability, is 0.26 for the vectors inside the package, 0.34 for skip-gram vectors of
gensim, and 1.8 for its CBOW.
"""

import logging

import numpy as np

from topicvec.embed.vectors import WordVectors
from topicvec.engine import one_blas_thread
from topicvec.errors import warn

__all__ = ["spread_of", "to_scale"]

logger = logging.getLogger(__name__)

_USUAL = 0.26
_ALIKE = 2.0  # times as much, or as little, is left as it is
_LOOKED_AT = 20_000  # of the most frequent words
_ENOUGH = 500  # words; fewer say nothing of how they were trained
_ONE_WAY = 0.9  # mean cosine; of vectors that were trained enough it was 0.04 to 0.85


@one_blas_thread()
def spread_of(vectors: WordVectors) -> float:
    """Give the root mean square of what a topic in a word's direction adds to other words.

    Parameters
    ----------
    vectors : WordVectors

    Returns
    -------
    float
        Grows in proportion to the vectors.

    Examples
    --------
    >>> spread_of(WordVectors(["cat", "dog"], [[1.0, 0.0], [-1.0, 0.0]], [1, 1]))
    1.0
    """
    rows = np.sort(np.argsort(-vectors.unigram, kind="stable")[:_LOOKED_AT])
    weight = vectors.unigram[rows] / vectors.unigram[rows].sum()
    centred = vectors.matrix[rows].astype(float)
    centred -= weight @ centred
    second = (centred * weight[:, None]).T @ centred  # E[w wᵀ], (N, N)
    squares = np.einsum("ij,ij->i", centred, centred)
    along = np.einsum("ij,ij->i", centred @ second, centred) / np.maximum(squares, 1e-300)
    return float(np.sqrt(weight @ along))


def to_scale(vectors: WordVectors) -> WordVectors:
    """Bring vectors that are far too long or too short to the scale of log ratios.

    Parameters
    ----------
    vectors : WordVectors
        At least 500 words; fewer are taken as they are, and so are vectors of PSDVec.

    Returns
    -------
    WordVectors
        The same if their spread is at least half and at most twice the usual one; else multiplied
        by one number, which stands in their metadata as ``scaled``. A warning tells of vectors that
        point nearly all the same way, as those that were hardly trained do.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> words = [f"word{i}" for i in range(600)]
    >>> long = WordVectors(words, rng.normal(size=(600, 50)), np.ones(600))
    >>> round(spread_of(long), 2), round(spread_of(to_scale(long)), 2)
    (1.04, 0.26)
    """
    if len(vectors) < _ENOUGH or "PSDVec" in vectors.metadata.get("method", ""):
        return vectors
    _check_directions(vectors)
    spread = spread_of(vectors)
    if not _USUAL / _ALIKE > spread > 0 and not spread > _USUAL * _ALIKE:
        return vectors
    factor = _USUAL / spread
    logger.info("the word vectors are multiplied by %.3g: their scale is not of log ratios", factor)
    matrix = vectors.matrix * np.float32(factor)
    about = {**vectors.metadata, "scaled": f"{factor:.6g}"}
    return WordVectors(vectors.words, matrix, vectors.unigram, about)


@one_blas_thread()
def _check_directions(vectors: WordVectors) -> None:
    """Warn of vectors that tell no word from another: all topics of them are one."""
    lengths = np.linalg.norm(vectors.matrix, axis=1)
    weight = vectors.unigram / (vectors.unigram.sum() * np.maximum(lengths, 1e-30))
    mean = float(((weight @ vectors.matrix) ** 2).sum())
    if mean > _ONE_WAY:
        warn(
            f"the word vectors point nearly all the same way (mean cosine {mean:.2f}), as those "
            "trained on too little text do, and topics of them will be alike: train them on more "
            "text or longer, or leave vectors= out, as the general ones learn from the documents"
        )

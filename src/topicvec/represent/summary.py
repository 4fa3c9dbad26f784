"""A text in a few of its own sentences: those whose topics cover the topics of the whole.

Sentences are chosen one by one. Each time it is the one with the largest

    Σ_k √(p_k q_k)  +  λ · centrality  −  μ · redundancy,

p the text's mixture of topics without the null topic, q that of the sentences chosen so far with
this one, centrality the cosine of the sentence's meaning with the text's, and redundancy its
largest cosine with a sentence that is chosen already; both at least 0. Tokens get their topics in
the light of the whole text, so short sentences are no problem.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import InPlace
from topicvec.errors import DataError
from topicvec.model.inference import infer
from topicvec.model.topicvec import TopicVec as TopicModel
from topicvec.represent import meaning
from topicvec.represent.documents import reader_of
from topicvec.represent.sentences import split_sentences
from topicvec.text.document import Document

__all__ = ["Sentence", "split_sentences", "summarize"]

Floats = NDArray[np.floating]

_CENTRALITY, _REDUNDANCY = 0.5, 0.3  # λ and μ
_LEAST_WORDS = 4  # known words; a shorter sentence says too little to stand alone


class Sentence(NamedTuple):
    """A sentence of a text.

    Attributes
    ----------
    text : str
        As it stands there.
    start, end : int
        Where: ``document[start:end]``.
    score : float
        How well it alone stands for the whole text.

    Examples
    --------
    >>> Sentence("It rains.", 0, 9, 0.5).text
    'It rains.'
    """

    text: str
    start: int
    end: int
    score: float


class _Parts(NamedTuple):
    """The sentences (S) of a text, as numbers."""

    topics: Floats  # (S, K), expected tokens of each topic
    directions: NDArray[np.float32]  # (S, N), meanings, length 1
    target: Floats  # (K,), mixture of the text without the null topic
    central: NDArray[np.float32]  # (S,), cosine with the text
    n_words: NDArray[np.int64]  # (S,), known words


def summarize(model: TopicModel, text: str | Document, n_sentences: int = 3) -> list[Sentence]:
    """Choose the sentences that together say most of what a text is about.

    Parameters
    ----------
    model : TopicVec
        A fitted model, of a corpus or of this very text.
    text : str or Document
        The text.
    n_sentences : int
        How many sentences at most.

    Returns
    -------
    list of Sentence
        In the order of the text; none if it has no known word.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
    >>> model = TopicVec(3, vectors, random_state=0).fit(["cat dog cat", "bus car bus"])
    >>> summarize(model, "Look! A cat met a dog and a cat. It rains.", n_sentences=1)[0].text
    'A cat met a dog and a cat.'
    """
    if n_sentences < 1:
        raise DataError(f"n_sentences must be at least 1; found {n_sentences}")
    words = text.text if isinstance(text, Document) else text
    if not isinstance(words, str):
        raise DataError(f"expected one text; found {type(text).__name__}")
    spans = split_sentences(words)
    parts = _parts(model, [words[start:end] for start, end in spans]) if spans else None
    if parts is None:
        return []
    alone = _affinities(parts, np.zeros_like(parts.target)) + _CENTRALITY * parts.central
    return [
        Sentence(words[spans[row].start : spans[row].end], *spans[row], float(alone[row]))
        for row in sorted(_chosen(parts, n_sentences))
    ]


def _parts(model: TopicModel, sentences: list[str]) -> _Parts | None:
    fitted, here = model.fitted_, InPlace()
    counts = reader_of(model).count(sentences, fitted.vectors).counts
    if not counts.nnz:
        return None
    whole = csr_array(counts.sum(axis=0)[None, :])
    types = np.unique(counts.indices)
    found = infer(fitted, whole, here)
    topics = counts[:, types] @ found.responsibilities(0, types)
    directions, central = _meanings(model, counts, whole)
    target = np.asarray(topics.sum(axis=0), float)
    target[0] = 0  # the null topic says nothing of what the text is about
    n_words = np.asarray(counts.sum(axis=1), np.int64)
    return _Parts(topics, directions, target / max(target.sum(), 1e-300), central, n_words)


def _meanings(
    model: TopicModel, counts: csr_array, whole: csr_array
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Directions of the sentences, and their cosines with the text's."""
    vectors, here = model.vectors_, InPlace()
    # what all English texts share
    common = vectors.mean / max(float(np.linalg.norm(vectors.mean)), 1e-30)
    weights = meaning.word_weights(vectors)
    rows = meaning.directions(meaning.weighted_means(vectors, counts, weights, here), common)
    text = meaning.directions(meaning.weighted_means(vectors, whole, weights, here), common)[0]
    return rows, np.maximum(rows @ text, np.float32(0))


def _chosen(parts: _Parts, n_sentences: int) -> list[int]:
    """Choose rows of sentences, the best first; short ones only if there are no others."""
    short = parts.n_words < _LEAST_WORDS
    barred = short if (~short).any() else parts.n_words == 0
    closest = np.zeros(len(barred), np.float32)
    so_far = np.zeros_like(parts.target)
    rows: list[int] = []
    while len(rows) < min(n_sentences, int((~barred).sum())):
        gains = _affinities(parts, so_far) + _CENTRALITY * parts.central - _REDUNDANCY * closest
        gains[barred] = -np.inf
        gains[rows] = -np.inf
        best = int(gains.argmax())
        rows.append(best)
        so_far = so_far + parts.topics[best]
        closest = np.maximum(closest, parts.directions @ parts.directions[best])
    return rows


def _affinities(parts: _Parts, so_far: Floats) -> Floats:
    """Affinity of the text's mixture with what is chosen and one sentence more, for each."""
    masses = so_far + parts.topics
    shares = masses / np.maximum(masses.sum(axis=1, keepdims=True), 1e-300)
    affinities: Floats = np.sqrt(shares) @ np.sqrt(parts.target)
    return affinities

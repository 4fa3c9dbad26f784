"""Where topics start: spread over the corpus's words or documents, at random, or given.

The topics start well inside the ball and apart from each other, and the tokens of each document
start evenly shared. From T = 0, the paper's start, all topics are alike and can never part; from
one step size for all and θ = 1 a short document collapses into one or two topics
(test_a_single_document_does_not_collapse).

Words that are used alike ("go", "come", "went") lie close together whatever documents they stand
in, and topics that start among them stay there. With many documents a start among documents finds
themes instead: the mean NPMI of 50 topics of 20 Newsgroups is 0.17 (three seeds, 0.168 to 0.175)
and was 0.125 (one seed), both with the posts' own word frequencies and words ranked by
cos · m_wk² / n_w.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = [
    "MAX_DOCUMENTS",
    "START_NORM",
    "Start",
    "document_points",
    "random_directions",
    "spread_directions",
]

Floats = NDArray[np.floating]
Start = Literal["auto", "spread", "documents", "random"]

START_NORM = 0.5  # share of the ball's radius
_WORDS_PER_TOPIC = 50
_MIN_WORDS = 4000
_N_ROUNDS = 8

MAX_DOCUMENTS = 20_000  # among which topics start


def random_directions(n: int, size: int, rng: np.random.Generator) -> Floats:
    """Draw unit vectors (n, size), as the original does."""
    return _unit(rng.normal(size=(n, size)))


def spread_directions(
    vectors: Floats,
    weights: Floats,
    n: int,
    rng: np.random.Generator,
    others: Floats | None = None,
    n_heaviest: int = _MIN_WORDS,
) -> Floats:
    """Spread unit vectors (n, N) over weighted word vectors (U, N): spherical k-means.

    The first centres are drawn as in k-means++, each with a chance in proportion to the weight
    of a word and its distance from the centres so far and from ``others``. Only ``n_heaviest``
    words take part, or 50 for each topic: the rest would cost much and change little.
    """
    if n == 0:
        return np.zeros((0, vectors.shape[1]))
    heavy = np.argsort(-weights, kind="stable")[: max(n_heaviest, _WORDS_PER_TOPIC * n)]
    points = _unit(vectors[heavy])
    mass = weights[heavy].astype(points.dtype)
    centres = _draw_apart(points, mass, n, rng, others)
    for _ in range(_N_ROUNDS):
        owner = np.argmax(points @ centres.T, axis=1)
        members = csr_array((mass, (owner, np.arange(len(owner)))), shape=(n, len(owner)))
        sums = members @ points
        centres = np.where(np.any(sums, axis=1, keepdims=True), _unit(sums), centres)
    return centres


def document_points(vectors: Floats, counts: csr_array, rng: np.random.Generator) -> Floats:
    """Give directions (D, N) of documents in random order, for `spread_directions`.

    Sums of the unit vectors of a document's words, damped by their frequency in the document and
    in the corpus (log(1 + c) · log(D / df)); documents without a direction are left out.
    ``vectors`` (W, N) are the words of the columns of ``counts`` (D, W).
    """
    seen = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
    rarity = np.log(counts.shape[0] / seen)
    values = np.log1p(counts.data) * rarity[counts.indices]
    damped = csr_array((values, counts.indices, counts.indptr), shape=counts.shape)
    sums = np.asarray(damped @ _unit(vectors))
    kept = rng.permutation(np.flatnonzero(sums.any(axis=1)))[:MAX_DOCUMENTS]
    return _unit(sums[kept])


def _draw_apart(
    points: Floats, mass: Floats, n: int, rng: np.random.Generator, others: Floats | None
) -> Floats:
    """Draw centres as greedy k-means++ does: of a few candidates take the one that helps most."""
    nearest = np.zeros(len(points), points.dtype)
    if others is not None and len(others):
        nearest = np.maximum((points @ _unit(others).T.astype(points.dtype)).max(1), 0)
    chosen = []
    for _ in range(n):
        chance = mass * np.maximum(1 - nearest, 1e-12)
        drawn = rng.choice(len(points), 2 + int(np.log(n)), p=chance / chance.sum())
        closer = np.maximum(nearest, points[drawn] @ points.T)  # (candidates, words)
        best = int(np.argmax(closer @ mass))
        chosen.append(int(drawn[best]))
        nearest = closer[best]
    return points[chosen]


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))

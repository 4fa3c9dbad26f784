"""Words added to vectors, and vectors scaled to other powers of their eigenvalues."""

import json
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.cooccurrence import Cooccurrence
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, VocabularyMismatch

__all__ = ["choose_words", "column_scale", "damp", "join_words"]


def damp(vectors: WordVectors, eigenvalue_power: float = 0.25) -> WordVectors:
    """Scale dimensions to another power of their eigenvalues.

    At 0.5 inner products are the log ratios themselves, as in the papers. At 0.25 frequent
    dimensions count less, and cosines agree better with human judgements. All is multiplied by
    one number that keeps the sum of squares, so norms stay comparable.

    Parameters
    ----------
    vectors : WordVectors
        Made by `PSDVec`.
    eigenvalue_power : float

    Returns
    -------
    WordVectors

    Examples
    --------
    >>> from topicvec.embed.psdvec import PSDVec
    >>> model = PSDVec(n_dims=2, min_count=1, window=2).fit(["the cat sat on the mat"] * 3)
    >>> damp(model.vectors_, 0.5).metadata["eigenvalue_power"]
    '0.5'
    """
    if "eigenvalues" not in vectors.metadata:
        raise DataError("these vectors do not name their eigenvalues: only PSDVec's can be damped")
    scale = _scale(vectors, eigenvalue_power) / column_scale(vectors)
    metadata = {**vectors.metadata, "eigenvalue_power": str(eigenvalue_power)}
    matrix = (vectors.matrix * scale).astype(np.float32)
    return WordVectors(vectors.words, matrix, vectors.unigram, metadata)


def column_scale(vectors: WordVectors) -> NDArray[np.float64]:
    """What each dimension has been multiplied by since power 0.5."""
    if "eigenvalues" not in vectors.metadata:
        return np.ones(vectors.n_dims)
    return _scale(vectors, float(vectors.metadata["eigenvalue_power"]))


def _scale(vectors: WordVectors, power: float) -> NDArray[np.float64]:
    eigenvalues = np.array(json.loads(vectors.metadata["eigenvalues"]))
    same_size = np.sqrt(eigenvalues.sum() / (eigenvalues ** (2 * power)).sum())
    return np.asarray(eigenvalues ** (power - 0.5) * same_size)


def choose_words(
    vectors: WordVectors, counts: Cooccurrence, words: Iterable[str] | None
) -> NDArray[np.int64]:
    """Ids, in the counts, of the words to solve: those named, or all that have no vector."""
    if words is None:
        seen = zip(counts.words, counts.unigram_counts.tolist(), strict=True)
        fresh = [i for i, (word, n) in enumerate(seen) if n and word not in vectors.ids]
        return np.array(fresh, np.int64)
    ids = {word: i for i, word in enumerate(counts.words)}
    wanted = list(dict.fromkeys([words] if isinstance(words, str) else words))
    missing = [word for word in wanted if word not in ids or not counts.unigram_counts[ids[word]]]
    if missing:
        raise VocabularyMismatch(
            f"{len(missing)} of the words to solve are not in the counts, the first of them "
            f"{missing[0]!r}: count a corpus that has them"
        )
    return np.array(sorted(ids[word] for word in wanted), np.int64)


def join_words(
    vectors: WordVectors,
    counts: Cooccurrence,
    core: NDArray[np.int64],
    rows: NDArray[np.int64],
    chosen: NDArray[np.int64],
    solved: NDArray[np.float32],
) -> WordVectors:
    """Put solved rows into the vectors: new words last, all other rows as they were.

    The metadata say how many words were added in all.
    """
    matrix = vectors.matrix.copy()
    fresh = []
    for number, i in enumerate(chosen.tolist()):
        row = vectors.ids.get(counts.words[i])
        if row is None:
            fresh.append(number)
        else:
            matrix[row] = solved[number]
    # Probabilities of new words on the scale of the old: by what known words have in both.
    scale = vectors.unigram[rows].sum() / counts.unigram_counts[core].sum()
    unigram = np.concatenate([vectors.unigram, counts.unigram_counts[chosen[fresh]] * scale])
    words = (*vectors.words, *(counts.words[i] for i in chosen[fresh]))
    n_added = int(vectors.metadata.get("added_words", "0")) + len(fresh)
    metadata = {**vectors.metadata, "added_words": str(n_added)}
    return WordVectors(words, np.concatenate([matrix, solved[fresh]]), unigram, metadata)

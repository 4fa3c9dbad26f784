"""One space for the words of several models, so that their topics can stand side by side.

Models on the same vectors share a space already. Those whose vectors learned from separate texts
do not: the general part of adapted vectors has another scale in each, and axes of the residual
mean something else. What vectors say is their inner products (PSDVec: G = V Vᵀ + A), so these are
averaged, not the axes. With p the share of a word's tokens that a model has seen, the residuals
R_1, R_2, … stand side by side as C = [√p_1 R_1, √p_2 R_2, …], of which C Cᵀ is the average, and
R = C Q with the largest eigenvectors Q of CᵀC is as narrow as they were. A topic of model m goes
with its rows of Q. Words are those that any model has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.adapt import Learned, learned_from
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.errors import FormatError, VocabularyMismatch
from topicvec.model.fitted import FittedTopics, topic_residuals
from topicvec.model.words import ALONE

__all__ = ["one_space"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

_LEAST = 1e-6  # tokens of a word that has a vector and was not seen
_APART = 0.1  # of the squared lengths of shared words' vectors: more is another space


class _Space(NamedTuple):
    """Vectors for all, and for each model where its words and its axes went."""

    vectors: WordVectors
    rows: list[Ints]
    turns: list[Floats]


def one_space(models: Sequence[FittedTopics]) -> list[FittedTopics]:
    """Bring models to the same word vectors.

    Parameters
    ----------
    models : sequence of FittedTopics
        On the same vectors; or on such as `text_vectors` makes of separate texts; or on vectors
        of one space for other words, where shared words lie close to each other.

    Returns
    -------
    list of FittedTopics
        The given ones if their vectors are the same. Else topics are as near as the new vectors
        allow, and what is known of words is as before.

    Raises
    ------
    VocabularyMismatch
        The spaces cannot be compared.

    Examples
    --------
    >>> cat = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> cow = WordVectors(["cow", "dog"], [[1, 1], [0, 1]], [1, 1])
    >>> models = [FittedTopics.bare(each, np.eye(2, 2, -1), max_norm=7.0) for each in (cat, cow)]
    >>> one_space(models)[1].vectors.words
    ('cat', 'dog', 'cow')
    """
    vectors = [model.vectors for model in models]
    if all(a is b or a == b for a, b in pairwise(vectors)):
        return [replace(model, vectors=vectors[0]) for model in models]
    if all(map(_rests_on_general, vectors)):
        space = _of_general(models)
    elif all(each.metadata.get("method") == ALONE for each in vectors):
        space = _of_corpora(models)
    else:
        space = _of_given(models)
    triples = zip(models, space.rows, space.turns, strict=True)
    return [_moved(model, space.vectors, rows, turn) for model, rows, turn in triples]


def _rests_on_general(vectors: WordVectors) -> bool:
    try:
        general = load_vectors()
    except FormatError:
        return False  # an installation without its data has no general vectors
    n = int(vectors.metadata.get("general", len(vectors)))
    return n == len(general) and vectors.words[:n] == general.words


def _of_general(models: Sequence[FittedTopics]) -> _Space:
    """Average what texts taught on top of the general vectors."""
    general, parts = load_vectors(), [_taught(model.vectors) for model in models]
    n, size, tokens = len(general), general.n_dims, _tokens(models)
    scale = float(tokens @ [part.scale for part in parts])
    mean = parts[int(np.argmax([part.mean.any() for part in parts]))].mean.astype(np.float32)
    words = _sorted_words([(each.vectors.words[n:], each.word_counts[n:]) for each in models])
    place = {word: n + i for i, word in enumerate(words)}
    known = np.arange(n)
    rows = [np.append(known, np.array([place[word] for word in part.words], int)) for part in parts]
    counts = _counts(models, rows, n + len(words))
    raw = [part.rows[:, :size] / np.float32(part.scale) + part.mean for part in parts]
    new = scale * (_averaged([r[n:] - n for r in rows], raw, counts[:, n:]) - mean)
    blocks = [np.asarray(model.vectors.matrix[:, size:]) for model in models]
    residual, Q = _residuals(blocks, rows, counts)
    places = np.flatnonzero(residual[:n].any(axis=1))
    learned = Learned(
        words, np.hstack([new.astype(np.float32), residual[n:]]), places, residual[places],
        mean, scale, _unigram(models, rows, n + len(words)),
    )  # fmt: skip
    turns = [_turn(part.scale / scale * np.eye(size), q) for part, q in zip(parts, Q, strict=True)]
    return _Space(learned.join(general), rows, turns)


def _taught(vectors: WordVectors) -> Learned:
    """Take vectors apart; general ones have learned nothing."""
    general = load_vectors()
    if "general" in vectors.metadata:
        return learned_from(vectors, general)
    none, no_rows = np.zeros((0, 0), np.float32), np.zeros((0, general.n_dims), np.float32)
    mean = np.zeros(general.n_dims, np.float32)
    return Learned((), no_rows, np.zeros(0, int), none, mean, 1.0, vectors.unigram)


def _of_corpora(models: Sequence[FittedTopics]) -> _Space:
    """Average vectors that texts taught alone."""
    words = _sorted_words([(model.vectors.words, model.word_counts) for model in models])
    rows = _rows(models, words)
    blocks = [model.vectors.matrix for model in models]
    residual, turns = _residuals(blocks, rows, _counts(models, rows, len(words)))
    unigram = _unigram(models, rows, len(words))
    return _Space(WordVectors(words, residual, unigram, {"method": ALONE}), rows, turns)


def _of_given(models: Sequence[FittedTopics]) -> _Space:
    """Take the words of all vectors of one space; those of shared words are averaged."""
    words = tuple(dict.fromkeys(word for model in models for word in model.vectors.words))
    _check_dims(models)
    rows = _rows(models, words)
    counts = _counts(models, rows, len(words))
    matrix = _averaged(rows, [model.vectors.matrix for model in models], counts)
    _check_near(models, rows, matrix)
    shared = set.intersection(*(set(model.vectors.metadata.items()) for model in models))
    vectors = WordVectors(words, matrix, _unigram(models, rows, len(words)), dict(sorted(shared)))
    return _Space(vectors, rows, [np.eye(matrix.shape[1])] * len(models))


def _check_dims(models: Sequence[FittedTopics]) -> None:
    sizes = [model.vectors.n_dims for model in models]
    if len(set(sizes)) > 1:
        raise VocabularyMismatch(
            f"the models' word vectors have {' and '.join(map(str, sizes))} dimensions, so their "
            "topics cannot be compared: fit all on the same, with vectors=model.vectors_ of one"
        )


def _check_near(models: Sequence[FittedTopics], rows: Sequence[Ints], matrix: Floats) -> None:
    """Refuse vectors of shared words that lie elsewhere."""
    times = np.bincount(np.concatenate(rows), minlength=len(matrix))
    for model, mine in zip(models, rows, strict=True):
        both = times[mine] > 1
        theirs, means = model.vectors.matrix[both].astype(float), matrix[mine[both]]
        if not both.any() or ((theirs - means) ** 2).sum() > _APART * (theirs**2).sum():
            found = "point elsewhere" if both.any() else "are none"
            raise VocabularyMismatch(
                f"the models have word vectors of different spaces: the words that they share "
                f"{found}; fit all on the same, with vectors=model.vectors_ of one"
            )


def _tokens(models: Sequence[FittedTopics]) -> Floats:
    """Give each model's share of the tokens."""
    tokens = np.array([model.mass.sum() + _LEAST for model in models])
    return np.asarray(tokens / tokens.sum())


def _sorted_words(parts: Sequence[tuple[Sequence[str], Floats]]) -> tuple[str, ...]:
    """Give the words of all, the most frequent first."""
    times: dict[str, float] = {}
    for words, counts in parts:
        for word, n in zip(words, counts.tolist(), strict=True):
            times[word] = times.get(word, 0.0) + n
    return tuple(sorted(times, key=lambda word: (-times[word], word)))


def _rows(models: Sequence[FittedTopics], words: Sequence[str]) -> list[Ints]:
    place = {word: row for row, word in enumerate(words)}
    return [np.array([place[word] for word in model.vectors.words]) for model in models]


def _counts(models: Sequence[FittedTopics], rows: Sequence[Ints], n_words: int) -> Floats:
    """Give how often each model (M, W) has seen each word; zero without a vector of it."""
    counts = np.zeros((len(models), n_words))
    for each, model, mine in zip(counts, models, rows, strict=True):
        each[mine] = model.word_counts + _LEAST
    return counts


def _averaged(rows: Sequence[Ints], blocks: Sequence[Floats], counts: Floats) -> Floats:
    """Average vectors of words, by how often each model has seen them."""
    total = np.zeros((counts.shape[1], blocks[0].shape[1]))
    for mine, block, each in zip(rows, blocks, counts, strict=True):
        total[mine] += each[mine, None] * block
    return np.asarray(total / counts.sum(axis=0)[:, None], np.float32)


def _residuals(
    blocks: Sequence[Floats], rows: Sequence[Ints], counts: Floats
) -> tuple[Floats, list[Floats]]:
    """Average inner products: give vectors (W, R) and, for each block, where its axes went."""
    widths = [block.shape[1] for block in blocks]
    learned = [mine for mine, width in zip(rows, widths, strict=True) if width]
    seen = np.unique(np.concatenate([*learned, np.zeros(0, int)]))
    C = np.zeros((counts.shape[1], sum(widths)), np.float32)
    edges = [0, *np.cumsum(widths).tolist()]
    for block, mine, each, (a, b) in zip(blocks, rows, counts, pairwise(edges), strict=True):
        C[mine, a:b] = np.sqrt(each[mine] / counts[:, mine].sum(axis=0))[:, None] * block
    gram = C[seen].T.astype(float) @ C[seen].astype(float)
    values, Q = np.linalg.eigh(gram)
    Q = Q[:, ::-1][:, : min(max(widths), int(np.count_nonzero(values > 0)))]
    Q = Q * np.sign(Q[np.abs(Q).argmax(axis=0), np.arange(Q.shape[1])]) if Q.size else Q
    return C @ Q.astype(np.float32), [Q[a:b] for a, b in pairwise(edges)]


def _turn(first: Floats, second: Floats) -> Floats:
    """Put two maps of axes below each other, block by block."""
    zeros = np.zeros((len(first), second.shape[1])), np.zeros((len(second), first.shape[1]))
    return np.block([[first, zeros[0]], [zeros[1], second]])


def _unigram(
    models: Sequence[FittedTopics], rows: Sequence[Ints], n_words: int
) -> NDArray[np.float64]:
    """Average the probabilities of words, by the tokens of the models."""
    unigram = np.zeros(n_words)
    for share, model, mine in zip(_tokens(models), models, rows, strict=True):
        unigram[mine] += share * model.vectors.unigram / model.vectors.unigram.sum()
    return unigram


def _moved(model: FittedTopics, vectors: WordVectors, rows: Ints, turn: Floats) -> FittedTopics:
    """Write a model over other vectors."""
    topics = model.topics.astype(float) @ turn
    norms = np.linalg.norm(topics, axis=1, keepdims=True)
    topics *= np.minimum(1, model.max_norm / np.maximum(norms, 1e-9))
    n, limit = len(vectors), model.settings.get("n_normalizer_words")
    wide: Mapping[str, Any] = {
        "word_counts": _spread(model.word_counts, rows, n),
        "word_documents": _spread(model.word_documents, rows, n),
        "word_mass": _spread_table(model.word_mass, rows, n),
        "document_mass": _spread_table(model.document_mass, rows, n),
    }
    residuals = topic_residuals(vectors, topics, limit)
    return replace(
        model, vectors=vectors, topics=topics.astype(np.float32), residuals=residuals, **wide
    )


def _spread(values: Floats, rows: Ints, n_words: int) -> Floats:
    wide = np.zeros(n_words)
    wide[rows] = values
    return wide


def _spread_table(table: csr_array, rows: Ints, n_words: int) -> csr_array:
    """Move the rows of a table to their new places."""
    source = np.full(n_words, -1)
    source[rows] = np.arange(len(rows))
    lengths = np.where(source >= 0, np.diff(table.indptr)[source], 0)
    kept = table[source[source >= 0]]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array((kept.data, kept.indices, indptr), (n_words, table.shape[1]))

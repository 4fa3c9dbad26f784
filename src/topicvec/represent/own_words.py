"""Topics with words of their own: between what the vectors say and what the documents had.

The vectors give each topic P(w|k) for every word. Where the training documents had a word often
enough, they know better. With a Dirichlet prior of m pseudo-tokens around P(·|k), the mean of
the topic's words given the masses C_wk of training tokens is

    P̃(w|k) = (C_wk + m P(w|k)) / (C_k + m),

P(w|k) itself for words the documents did not have. Features for classifiers are made with it: a
word is shared among the topics by P̃(w|k)^s, less sharply if s < 1.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import Engine
from topicvec.errors import DataError
from topicvec.model import equations
from topicvec.model.fitted import FittedTopics, empty_table
from topicvec.model.inference import infer, log_unigram, word_masses

__all__ = ["damped", "masses_without", "own_word_features", "topics_of_words", "unseen_features"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]

_ROWS = 1024  # word types at a time


def topics_of_words(
    fitted: FittedTopics,
    types: Ints,
    engine: Engine,
    *,
    pseudo_tokens: float = 1000.0,
    sharpness: float = 1.0,
    word_mass: csr_array | None = None,
) -> Floats:
    """Share each word among the topics, all topics being equally likely before.

    Parameters
    ----------
    fitted : FittedTopics
        The topics.
    types : array, (U,)
        Vector rows of the words.
    engine : Engine
        Spreads blocks of words.
    pseudo_tokens : float
        m, how many tokens of evidence outweigh the vectors. 1000 predicts unseen documents of a
        topic best on 20 Newsgroups and on Reuters.
    sharpness : float
        s, how much a word tells of its topic; 1 for all that it does by itself.
    word_mass : csr_array, (W, K), optional
        Training tokens of each word in each topic, by default all of them.

    Returns
    -------
    array, (U, K)
        Rows sum to 1.

    Examples
    --------
    >>> from topicvec.embed.vectors import WordVectors
    >>> from topicvec.engine import LocalEngine
    >>> vectors = WordVectors(["cat", "dog"], np.eye(2), [1, 1])
    >>> topics = np.array([[0, 0], [np.log(3), 0]])
    >>> fitted = FittedTopics.bare(vectors, topics, max_norm=7.0)
    >>> topics_of_words(fitted, np.array([0]), LocalEngine(1)).round(3)
    array([[0.4, 0.6]])
    """
    if not pseudo_tokens > 0:
        raise DataError(f"pseudo_tokens must be more than 0; found {pseudo_tokens}")
    if not 0 < sharpness < np.inf:
        raise DataError(f"sharpness must be more than 0 and finite; found {sharpness}")
    masses = fitted.word_mass if word_mass is None else word_mass
    totals = np.asarray(masses.sum(axis=0), float) + pseudo_tokens
    unigram = np.exp(log_unigram(fitted, types))
    block = partial(
        _shares, fitted.topics.astype(float), fitted.residuals, totals, pseudo_tokens, sharpness
    )
    pieces = [
        (fitted.vectors.matrix[types[rows]], unigram[rows], masses[types[rows]])
        for rows in (slice(start, start + _ROWS) for start in range(0, len(types), _ROWS))
    ]
    return np.concatenate([np.zeros((0, fitted.n_topics)), *engine.map(block, pieces)])


def _shares(
    topics: Floats, residuals: Floats, totals: Floats, pseudo_tokens: float, sharpness: float,
    piece: tuple[Floats, Floats, csr_array],
) -> Floats:  # fmt: skip
    vectors, unigram, masses = piece
    exponent = equations.logits(vectors.astype(float), topics, residuals)
    expected = equations.word_probabilities(unigram, exponent)
    shares = ((masses.toarray() + pseudo_tokens * expected) / totals) ** sharpness
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def own_word_features(
    fitted: FittedTopics,
    counts: csr_array,
    engine: Engine,
    *,
    pseudo_tokens: float = 1000.0,
    sharpness: float = 1.0,
    word_mass: csr_array | None = None,
) -> Floats:
    """Give how much of each topic's words documents have, (D, K); good for classifiers.

    Parameters
    ----------
    fitted, engine, pseudo_tokens, sharpness, word_mass
        As for `topics_of_words`.
    counts : csr_array, (D, W)
        Counts of documents over the rows of the vectors.

    Returns
    -------
    array, (D, K)
        Zeros for a document without a known word.
    """
    types = np.unique(counts.indices)
    given: dict[str, Any] = {
        "pseudo_tokens": pseudo_tokens,
        "sharpness": sharpness,
        "word_mass": word_mass,
    }
    shares = topics_of_words(fitted, types, engine, **given)
    features: Floats = damped(counts)[:, types] @ shares
    return features


def unseen_features(
    fitted: FittedTopics,
    counts: csr_array,
    engine: Engine,
    *,
    allowed: Bools | None = None,
    n_folds: int = 5,
    pseudo_tokens: float = 1000.0,
    sharpness: float = 1.0,
) -> Floats:
    """Give the features of training documents as if the topics' words came from others.

    A topic has the words of its own documents, so `own_word_features` knows training documents
    better than it will know new ones, and a classifier would trust it too much
    (test_training_documents_look_like_new_ones). Here the documents are dealt into folds, and
    the masses of words are those of the other folds.

    Parameters
    ----------
    fitted, engine, pseudo_tokens, sharpness
        As for `topics_of_words`.
    counts : csr_array, (D, W)
        Counts of the training documents.
    allowed : array, (D, K), optional
        Topics that each document could use while learning; all by default.
    n_folds : int
        Number of folds; with fewer documents, each is a fold.

    Returns
    -------
    array, (D, K)
    """
    features = np.zeros((counts.shape[0], fitted.n_topics))
    given: dict[str, Any] = {"pseudo_tokens": pseudo_tokens, "sharpness": sharpness}
    for rows, others in masses_without(fitted, counts, engine, allowed=allowed, n_folds=n_folds):
        features[rows] = own_word_features(fitted, counts[rows], engine, word_mass=others, **given)
    return features


def masses_without(
    fitted: FittedTopics,
    counts: csr_array,
    engine: Engine,
    *,
    allowed: Bools | None = None,
    n_folds: int = 5,
) -> Iterator[tuple[Ints, csr_array]]:
    """Deal the training documents into folds, and count the topics' words without each of them.

    Parameters
    ----------
    fitted, counts, engine, allowed, n_folds
        As for `unseen_features`.

    Yields
    ------
    rows, masses : array of int, csr_array (W, K)
        The documents of a fold, and the tokens of words in topics of all other documents.
    """
    folds = _deal(allowed, counts.shape[0], n_folds)
    masses = [_fold_mass(fitted, counts, allowed, rows, engine) for rows in folds]
    for fold, rows in enumerate(folds):
        others = empty_table(len(fitted.vectors), fitted.n_topics)
        for mass in masses[:fold] + masses[fold + 1 :]:
            others = others + mass  # not the total minus the fold's: that would round below zero
        yield rows, others


def damped(counts: csr_array) -> csr_array:
    """Take log(1 + n) of counts and scale each row to length 1: a word said again says less.

    Examples
    --------
    >>> damped(csr_array([[1, 1], [0, 9]])).toarray().round(3)
    array([[0.707, 0.707],
           [0.   , 1.   ]])
    """
    values = np.log1p(counts.data.astype(float))
    sizes = np.diff(counts.indptr)
    squares = np.bincount(np.repeat(np.arange(len(sizes)), sizes), values**2, len(sizes))
    values /= np.repeat(np.sqrt(squares), sizes)
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _fold_mass(
    fitted: FittedTopics, counts: csr_array, allowed: Bools | None, rows: Ints, engine: Engine
) -> csr_array:
    own = None if allowed is None else allowed[rows]
    inferred = infer(fitted, counts[rows], engine, allowed=own)
    return word_masses(inferred, len(fitted.vectors))


def _deal(allowed: Bools | None, n_documents: int, n_folds: int) -> list[Ints]:
    """Deal documents like cards, those with the same topics one after the other."""
    if n_folds < 2:
        raise DataError(f"n_folds must be at least 2; found {n_folds}")
    order = np.arange(n_documents)
    if allowed is not None:
        _, group = np.unique(allowed, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
    return [np.sort(order[fold::n_folds]) for fold in range(min(n_folds, n_documents))]

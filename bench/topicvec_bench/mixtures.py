"""Mixtures and class likelihoods of topics that have words of their own, as features."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.engine import Engine
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import infer, word_distributions
from topicvec.represent.similarity import unit_rows
from topicvec_bench.base import Floats, Ints

__all__ = [
    "PSEUDO_TOKENS",
    "class_likelihoods",
    "likelihood_features",
    "settled_shares",
    "topics_of",
    "weigh",
]


PSEUDO_TOKENS = 1000.0  # m of words of their own, as in the formula of own-words


def settled_shares(fitted: FittedTopics, counts: csr_array, engine: Engine) -> Floats:
    """Give the posterior means (D, K) of the documents' mixtures, once they have settled."""
    shares: Floats = infer(fitted, counts, engine).proportions
    return shares


def class_likelihoods(fitted: FittedTopics, counts: csr_array, engine: Engine) -> Floats:
    """Give log P(d | class) (D, C): each document as if it had the topics of one class alone.

    The mixture of the class's topics and the null topic is the one that suits the document. Rows
    have the mean taken away and length 1, so that what counts is how the classes differ.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> from topicvec.engine import LocalEngine
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4), [1] * 4)
    >>> model = TopicVec(1, vectors, share="class", random_state=0)
    >>> model = model.fit(["cat dog", "car bus"] * 4, ["a", "b"] * 4)
    >>> counts = csr_array([[3, 2, 0, 0], [0, 0, 1, 4]])
    >>> class_likelihoods(model.fitted_, counts, LocalEngine(1)).argmax(axis=1).tolist()
    [0, 1]
    """
    types = np.unique(counts.indices)
    used = csr_array(counts[:, types])
    P = word_distributions(fitted, engine)[types]
    names = list(dict.fromkeys(name for name in fitted.classes if name is not None))
    found = [_log_likelihood(fitted, counts, used, P, name, engine) for name in names]
    table = np.stack(found, axis=1)
    return unit_rows(table - table.mean(axis=1, keepdims=True))


def likelihood_features(
    fitted: FittedTopics, counts: csr_array, engine: Engine, weighted: bool = False
) -> Floats:
    """Put square roots of mixtures, without the null topic, beside class likelihoods.

    With ``weighted`` a word counts log(1 + n) times how rare it is among the training documents,
    1 in the mean, where a topic model has n.
    """
    used = weigh(fitted, counts) if weighted else counts
    roots = np.sqrt(settled_shares(fitted, used, engine)[:, 1:])
    return np.hstack([roots, class_likelihoods(fitted, used, engine)])


def weigh(fitted: FittedTopics, counts: csr_array) -> csr_array:
    """Weigh words by log(1 + n) (1 + log((1 + D) / (1 + df_w))), over the mean of the latter.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog"], np.eye(2), [1, 1])
    >>> fitted = TopicVec(1, vectors, random_state=0).fit(["cat dog", "cat"]).fitted_
    >>> weigh(fitted, csr_array([[1, 1]])).toarray().round(2)
    array([[0.58, 0.81]])
    """
    rarity = 1 + np.log((1 + fitted.n_documents) / (1 + fitted.word_documents))
    seen = fitted.word_documents > 0
    weights = np.where(seen, rarity, rarity[seen].max()) / rarity[seen].mean()
    values = np.log1p(counts.data.astype(float)) * weights[counts.indices]
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def topics_of(fitted: FittedTopics, kept: Sequence[int] | Ints) -> FittedTopics:
    """Keep some topics of a record, the null topic among them."""
    rows = np.asarray(kept)
    return replace(
        fitted,
        topics=fitted.topics[rows],
        residuals=fitted.residuals[rows],
        alpha=fitted.alpha[rows],
        mass=fitted.mass[rows],
        word_mass=csr_array(fitted.word_mass[:, rows]),
        document_mass=csr_array(fitted.document_mass[:, rows]),
        labels=tuple(fitted.labels[row] for row in rows),
        classes=tuple(fitted.classes[row] for row in rows),
        representative=tuple(fitted.representative[row] for row in rows),
        pseudo=fitted.pseudo[rows],
    )


def _log_likelihood(
    fitted: FittedTopics, counts: csr_array, used: csr_array, P: Floats, name: str, engine: Engine
) -> NDArray[np.float64]:
    rows = np.flatnonzero([each is None or each == name for each in fitted.classes])
    mixtures = settled_shares(topics_of(fitted, rows), counts, engine)
    documents = np.repeat(np.arange(used.shape[0]), np.diff(used.indptr))
    log_p = np.log(_dots(mixtures, P[:, rows], documents, used.indices))
    return np.bincount(documents, used.data * log_p, used.shape[0]).astype(float)


def _dots(
    mixtures: Floats, P: Floats, documents: Ints, words: Ints, block: int = 1 << 18
) -> Floats:
    """Give Σ_k φ_dk P(w|k) for the words of the documents, some at a time."""
    starts = range(0, len(documents), block)
    parts = [
        np.einsum("jk,jk->j", mixtures[documents[i : i + block]], P[words[i : i + block]])
        for i in starts
    ]
    return np.concatenate([np.zeros(0), *parts])

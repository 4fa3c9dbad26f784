"""New topics for documents of a batch that the topics so far do not explain.

The rule: half of the tokens of each document is held out. A document is badly explained if its
topics make these tokens more probable than the unigram does by less than half of what topics do
for the tokens that they have. Of ten such documents or more every second one is fitted with one
topic, then with two and so on, as long as each makes the held-out tokens of the other documents
more probable by a twentieth of a nat. Of these topics the ones that match no old one are new.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from topicvec.engine import Engine
from topicvec.model.combine import MIN_SIMILARITY, match
from topicvec.model.fitted import FittedTopics
from topicvec.model.inference import completion_scores, log_unigram, word_distributions
from topicvec.model.operations import tidy

__all__ = ["with_new_topics"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

_POOR = 0.5  # of what topics usually explain
_ENOUGH = 10  # badly explained documents; fewer are strays
_LEAST_RISE = 0.05  # nats a held-out token; less may be chance
_MOST = 20  # new topics of a batch


def with_new_topics(
    fitted: FittedTopics,
    counts: csr_array,
    fresh: Callable[[csr_array, int], FittedTopics],
    rng: np.random.Generator,
    engine: Engine,
) -> tuple[FittedTopics, FittedTopics]:
    """Add topics for what a batch has that is new.

    Parameters
    ----------
    fitted : FittedTopics
        The topics so far.
    counts : csr_array, (D, W)
        Counts of the batch.
    fresh : callable
        Finds so many topics of the documents that are given to it, on the same vectors.
    rng : Generator
        Chooses which tokens are held out.
    engine : Engine
        Spreads the work.

    Returns
    -------
    start, base : FittedTopics
        Old topics and new ones behind them: with the words that the new ones have, to find
        mixtures with; and without, for `topicvec.model.online.learn_batch` to add the batch to.
        The given record twice if nothing is new.
    """
    known, held = _halves(counts, rng)
    gains = _gains(fitted, known, held, engine)
    poor = np.flatnonzero(gains < _POOR * _usual(fitted, engine))
    if len(poor) < _ENOUGH:
        return fitted, fitted
    start, judges = fitted, poor[1::2]
    test = known[judges], held[judges], engine
    best = float(completion_scores(fitted, *test).sum())
    for number in range(1, min(len(poor) // _ENOUGH, _MOST) + 1):
        found = fresh(counts[poor[::2]], number)
        wider = _wider(fitted, found, _unmatched(fitted, found, engine))
        score = float(completion_scores(wider, *test).sum())
        if score <= best + _LEAST_RISE * held[judges].sum():
            break
        start, best = wider, score
    return start, _without_words(fitted, start)


def _halves(counts: csr_array, rng: np.random.Generator) -> tuple[csr_array, csr_array]:
    """Hold out half of the tokens of each document, drawn without regard to the word."""
    whole = np.ceil(counts.data).astype(np.int64)
    taken = np.minimum(rng.binomial(whole, 0.5), counts.data)
    parts = []
    for data in (counts.data - taken, taken):
        part = csr_array((data, counts.indices, counts.indptr), counts.shape)
        part.eliminate_zeros()
        parts.append(part.copy())
    return parts[0], parts[1]


def _gains(fitted: FittedTopics, known: csr_array, held: csr_array, engine: Engine) -> Floats:
    """Give by how much topics beat the unigram, in nats a held-out token; (D,)."""
    logs = log_unigram(fitted, np.arange(len(fitted.vectors)))
    sizes = held.sum(axis=1)
    found = completion_scores(fitted, known, held, engine) - held @ logs
    return np.where(sizes > 0, found / np.maximum(sizes, 1e-9), np.inf)


def _usual(fitted: FittedTopics, engine: Engine) -> float:
    """Give by how much topics beat the unigram for the tokens that they have."""
    table = fitted.word_mass.tocoo()
    P = word_distributions(fitted, engine)[table.row, table.col]
    rise = np.log(np.maximum(P, 1e-300)) - log_unigram(fitted, table.row)
    return float(table.data @ rise / max(table.data.sum(), 1e-9))


def _unmatched(fitted: FittedTopics, found: FittedTopics, engine: Engine) -> Ints:
    """Give the rows of topics that no old one is like."""
    old, new = (word_distributions(each, engine)[:, 1:] for each in (fitted, found))
    pairs = match(old, new, np.ones((old.shape[1], new.shape[1])), MIN_SIMILARITY)
    return np.setdiff1d(np.arange(found.n_topics), np.append(0, 1 + pairs))


def _wider(fitted: FittedTopics, found: FittedTopics, rows: Ints) -> FittedTopics:
    """Put new topics behind the old ones; they have the prior of these."""
    own, none = np.isfinite(fitted.pseudo), (None,) * len(rows)
    pseudo = np.minimum(found.pseudo[rows], fitted.pseudo[own].mean() if own.any() else np.inf)
    return replace(
        fitted,
        topics=np.vstack([fitted.topics, found.topics[rows]]),
        residuals=np.append(fitted.residuals, found.residuals[rows]),
        alpha=np.append(fitted.alpha, np.full(len(rows), fitted.alpha[1:].mean())),
        mass=np.append(fitted.mass, found.mass[rows]),
        pseudo=np.append(fitted.pseudo, pseudo if own.any() else np.full(len(rows), np.inf)),
        word_mass=tidy(hstack([fitted.word_mass, found.word_mass[:, rows]])),
        document_mass=tidy(hstack([fitted.document_mass, found.document_mass[:, rows]])),
        labels=fitted.labels + none,
        classes=fitted.classes + none,
        representative=fitted.representative + ((),) * len(rows),
    )


def _without_words(fitted: FittedTopics, start: FittedTopics) -> FittedTopics:
    """Take away what new topics have seen: the batch will be counted as a whole."""
    shape = start.word_mass.shape
    tables = [
        csr_array((table.data, table.indices, table.indptr), shape)
        for table in (fitted.word_mass, fitted.document_mass)
    ]
    mass = np.append(fitted.mass, np.zeros(start.n_topics - fitted.n_topics))
    return replace(start, mass=mass, word_mass=tables[0], document_mass=tables[1])

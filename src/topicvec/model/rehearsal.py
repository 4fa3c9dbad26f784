"""The first iterations on a small part of the vocabulary: nearly as good, and much cheaper.

The normaliser of a topic sums over the whole vocabulary, most of which is rare words that the
documents do not have. While topics still move far, the frequent words and those of the documents
tell enough. What is found so is only a start: the iterations over all words begin anew, and their
bound is the first that counts (`test_a_rehearsal_saves_iterations_and_ends_as_well`). A large
corpus gains nothing, as its documents cost more than the vocabulary.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine
from topicvec.model.corpus import Corpus, Lexicon
from topicvec.model.gem import iterate
from topicvec.model.state import Settings, TopicState

__all__ = ["N_FREQUENT", "rehearse"]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]

N_FREQUENT = 16_000
_WORTH = 0.5  # of the vocabulary; a larger part would save too little
_TOL = 2e-3  # nats a token


def rehearse(
    corpus: Corpus,
    lexicon: Lexicon,
    state: TopicState,
    settings: Settings,
    engine: Engine,
    free: Bools | None,
    max_iter: int,
) -> TopicState:
    """Improve a first state on the frequent words and those of the corpus.

    Parameters
    ----------
    corpus, lexicon, state, settings, engine, free
        As for `topicvec.model.gem.iterate`.
    max_iter : int
        Limit of iterations.

    Returns
    -------
    TopicState
        To begin with; the given one if the part is not much smaller than the whole, or the
        documents have more cells than the vocabulary has words.
    """
    part = _part(lexicon) if len(corpus.counts) < len(lexicon.unigram) else None
    if part is None:
        return state
    steps = iterate(corpus, part, state, settings, engine, free)
    for found, info in islice(steps, max_iter):
        state = found
        if info.change < _TOL:
            break
    return replace(state, iteration=0, bound=-np.inf)


def _part(lexicon: Lexicon) -> Lexicon | None:
    u = lexicon.unigram
    common = np.argsort(-u, kind="stable")[:N_FREQUENT]
    needed = np.union1d(common, lexicon.rows)
    if len(needed) > _WORTH * len(u):
        return None
    share = u[needed].sum()
    return Lexicon(
        lexicon.vectors[needed],
        u[needed] / share,
        lexicon.log_unigram - np.log(share),
        np.searchsorted(needed, lexicon.rows),
    )

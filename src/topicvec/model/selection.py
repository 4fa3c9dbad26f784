"""How many topics: try some numbers and see which explains held-out words best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topicvec.engine import resolve_engine
from topicvec.errors import DataError
from topicvec.model.counts import report_unknown
from topicvec.model.inference import completion_score
from topicvec.model.words import text_vectors

if TYPE_CHECKING:
    from topicvec.model.topicvec import TopicVec

__all__ = ["Choice", "choose_n_topics"]


@dataclass(frozen=True)
class Choice:
    """Numbers of topics with their scores.

    Parameters
    ----------
    scores : dict of int to float
        Log-probability of a held-out token, in nats, for each number of topics.

    Examples
    --------
    >>> Choice({10: -8.1, 20: -7.9}).best
    20
    """

    scores: dict[int, float]

    @property
    def best(self) -> int:
        """The number with the highest score."""
        return max(self.scores, key=lambda number: self.scores[number])


def choose_n_topics(
    documents: Any,
    candidates: Sequence[int],
    *,
    model: "TopicVec | None" = None,
    held_out: float = 0.2,
    random_state: int | np.random.Generator | None = None,
) -> Choice:
    """Try numbers of topics and score each by held-out words of the same documents.

    Parameters
    ----------
    documents : documents
        As for `TopicVec.fit`; one article will do, since words are held out, not documents.
    candidates : sequence of int
        Numbers of topics to try, the null topic included.
    model : TopicVec, optional
        All other parameters.
    held_out : float
        Share of the tokens to hold out.
    random_state : int, Generator or None
        Seed of the split.

    Returns
    -------
    Choice
        ``choice.best`` is the number to use.
    """
    from topicvec.model.topicvec import TopicVec

    template = TopicVec() if model is None else model
    reading = template._read(documents)
    vectors = text_vectors(template.vectors, reading, resolve_engine(template.n_jobs))
    counted = reading.bag(vectors)
    report_unknown(counted, template._hint(reading))
    train, rest = _split(counted.counts, held_out, np.random.default_rng(random_state))
    scores = {}
    for number in candidates:
        trial = template.__sklearn_clone__()
        trial.set_params(n_topics=int(number), vectors=vectors, vocabulary=None)
        fitted = trial.fit(train).fitted_
        scores[int(number)] = completion_score(fitted, train, rest, resolve_engine(trial.n_jobs))
    return Choice(scores)


def _split(
    counts: csr_array, held_out: float, rng: np.random.Generator
) -> tuple[csr_array, csr_array]:
    """Hold out each token with the same probability."""
    if not 0 < held_out < 1:
        raise DataError(f"held_out must be between 0 and 1; found {held_out}")
    taken = rng.binomial(counts.data.astype(np.int64), held_out)
    parts = []
    for data in (counts.data - taken, taken):
        part = csr_array((data, counts.indices, counts.indptr), counts.shape, copy=True)
        part.eliminate_zeros()
        parts.append(part)
    if not all(part.nnz for part in parts):
        raise DataError("the documents are too short to hold out words: choose n_topics yourself")
    return parts[0], parts[1]

"""How many topics: what documents support, or which of some numbers explains words best.

`count_topics` asks how many groups of documents pay for themselves. Documents are grouped by
k-means of their directions, for one number after the other, and each grouping is judged by its
evidence: the probability of the documents' words if each group draws them from a distribution of
its own, which is drawn around that of the corpus (Dirichlet-multinomial), times the probability
of the groups themselves. One group more explains the words better and costs the price of saying
which document is in it; where words no longer pay for that, evidence falls. Two groups are the
least: people who have many documents expect to see parts of them. Of a document at most
twenty words count, chosen by chance: further ones of a long text say the same again, as words of
a text are not independent. The curve is flat around its top, so the smallest number that reaches
nine tenths of the gain over two groups is taken.

In fewer than twenty documents there are no groups to see, and in some hundred words are often too
rare to support groups by themselves, whatever vectors know of them. Where no grouping is more
probable than one distribution for all, the number follows from the length: 0.75 n^0.4 for n
words, so two for a sentence, seven for an article of 300 words, and twelve at most.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

from topicvec.checks import check_whole
from topicvec.embed.vectors import WordVectors
from topicvec.engine import resolve_engine
from topicvec.errors import DataError, warn
from topicvec.model.counts import report_unknown
from topicvec.model.inference import completion_score
from topicvec.model.start import (
    Centred,
    document_frequencies,
    document_points,
    spread_directions,
    used_words,
)
from topicvec.model.words import text_vectors

if TYPE_CHECKING:
    from topicvec.model.topicvec import TopicVec

__all__ = ["Choice", "check_n_topics", "choose_n_topics", "count_topics", "fewer_topics"]

Floats = NDArray[np.floating]

_GROUPED = 20  # documents; fewer show no groups
_PER_WORD, _POWER, _MOST_ALONE = 0.75, 0.4, 12  # topics of a text without groups
_COUNTED = 20  # words of a document that are evidence
_ENOUGH = 0.9  # of the gain in evidence
_TRAINED = 3000  # documents that centres are found among
_PER_GROUP = 5  # documents a topic at least
_MOST = 200  # topics
_STEP = 1.2  # from one number of groups to the next
_PAST = 5  # numbers without a better one, after which the best is behind
_STRENGTHS = np.geomspace(1, 1e6, 13)  # tokens that the prior of groups is worth


def check_n_topics(number: object) -> None:
    """Refuse what is no number of topics."""
    if isinstance(number, str) and number != "auto":
        raise DataError(f"n_topics must be a whole number or 'auto'; found {number!r}")
    if not isinstance(number, str):
        check_whole("n_topics", number, 1)


def count_topics(vectors: WordVectors, counts: csr_array) -> int:
    """Say how many topics documents support, the null topic not counted.

    Parameters
    ----------
    vectors : WordVectors
        Of the W words.
    counts : csr_array, (D, W)
        Counts of the documents.

    Returns
    -------
    int
        At least 1; the same for the same documents, whatever the seed of a fit.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1] * 4)
    >>> counts = csr_array(np.array([[3, 2, 0, 0], [0, 0, 2, 3]] * 20))
    >>> count_topics(vectors, counts), count_topics(vectors, counts[:1])
    (2, 1)
    """
    words, own = used_words(counts)
    n_documents = int(np.count_nonzero(np.diff(counts.indptr)))
    by_length = round(_PER_WORD * float(counts.sum()) ** _POWER)
    by_length = int(np.clip(by_length, 1, max(min(_MOST_ALONE, len(words)), 1)))
    if n_documents < _GROUPED:
        return by_length
    rng = np.random.default_rng(0)
    points, tokens, rows = document_points(Centred(vectors, words), own, rng)
    if len(points) < _GROUPED or len(words) < 2:
        return by_length
    some = _some_words(own[rows], rng)
    directions = points.astype(np.float32)
    evidence = dict(_evidence_by_number(directions, np.sqrt(tokens), some, rng))
    best, two = max(evidence.values()), evidence[2]
    if best <= _without_groups(some):
        return by_length
    return min(n for n, found in evidence.items() if found - two >= _ENOUGH * (best - two))


def fewer_topics(number: int, counts: csr_array, whose: str = "the text") -> int:
    """Lower a number of topics to the number of distinct words, with a warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     fewer_topics(9, csr_array(np.eye(2)))
    2
    """
    n_words = int(np.count_nonzero(document_frequencies(counts)))
    if n_words >= number:
        return number
    words = "word, so it gets one topic" if n_words == 1 else f"words, so it gets {n_words} topics"
    warn(f"{whose} has {n_words} distinct {words}, not {number}")
    return n_words


def _some_words(counts: csr_array, rng: np.random.Generator) -> csr_array:
    """Take at most so many distinct words of each document, by chance (D, W)."""
    lengths = np.diff(counts.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((rng.random(counts.nnz), rows))
    kept = order[np.arange(counts.nnz) - np.repeat(counts.indptr[:-1], lengths) < _COUNTED]
    return csr_array((np.ones(len(kept)), (rows[kept], counts.indices[kept])), counts.shape)


def _evidence_by_number(
    points: Floats, weights: Floats, words: csr_array, rng: np.random.Generator
) -> Iterator[tuple[int, float]]:
    """Group documents (D, N) into ever more groups; give each number with its evidence."""
    words = words[:, np.unique(words.indices)]
    unigram = np.asarray(words.sum(axis=0), float)
    unigram /= unigram.sum()
    number, best, since = 2, -np.inf, 0
    while number <= min(_MOST, max(len(points) // _PER_GROUP, 2)) and since < _PAST:
        owner = _group(points, weights, number, rng)
        found = _evidence(owner, words, unigram, number)
        yield number, found
        since, best = (0, found) if found > best else (since + 1, best)
        number = max(number + 1, round(_STEP * number))


def _group(points: Floats, weights: Floats, number: int, rng: np.random.Generator) -> Any:
    """Say which group each document is in, (D,)."""
    some, theirs = points[:_TRAINED], weights[:_TRAINED]
    centres = spread_directions(some, theirs, number, rng, None, len(some))
    return np.argmax(points @ centres.T.astype(points.dtype), axis=1)


def _without_groups(words: csr_array) -> float:
    """Log-probability of words that are all drawn from the distribution of the corpus."""
    counts = np.asarray(words.sum(axis=0), float)
    counts = counts[counts > 0]
    return float(counts @ np.log(counts / counts.sum()))


def _evidence(owner: NDArray[np.intp], words: csr_array, unigram: Floats, number: int) -> float:
    """Give the log evidence of a grouping, at the strength of the prior where it is largest."""
    members = csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))), (number, len(owner)))
    table = csr_array(members @ words)
    sizes, even = np.bincount(owner, minlength=number), np.full(number, 1 / number)
    of_groups = (gammaln(even + sizes) - gammaln(even)).sum() - gammaln(1.0 + sizes.sum())
    # Not by climbing: where groups tell little, there is a second top at infinity.
    return float(of_groups) + max(_of_words(table, unigram, strength) for strength in _STRENGTHS)


def _of_words(table: csr_array, unigram: Floats, strength: float) -> float:
    """Log-probability of the words of groups (G, W) under Dirichlet-multinomials."""
    pseudo, totals = strength * unigram[table.indices], np.asarray(table.sum(axis=1), float)
    drawn = (gammaln(pseudo + table.data) - gammaln(pseudo)).sum()
    return float(drawn + len(totals) * gammaln(strength) - gammaln(strength + totals).sum())


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
        Numbers of topics to try, the null topic not counted.
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

    if not isinstance(candidates, Iterable):
        raise DataError(f"expected several numbers of topics, such as [5, 10]; found {candidates}")
    template = TopicVec() if model is None else model
    reading = template._read(documents)
    vectors = text_vectors(template.vectors, reading, resolve_engine(template.n_jobs))
    counted = reading.bag(vectors)
    report_unknown(counted, template._hint(reading))
    train, rest = _split(counted.counts, held_out, np.random.default_rng(random_state))
    scores = {}
    for number in candidates:
        trial = template.__sklearn_clone__()
        trial.set_params(n_topics=int(number), vectors=vectors, vocabulary=None, labeller=None)
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

"""How well the words of topics belong together, judged by how they occur in a corpus.

With P the share of windows of the reference corpus and ε = 10⁻¹² (Röder, Both and Hinneburg,
"Exploring the space of topic coherence measures", 2015):

- `npmi`: log((P(a, b) + ε) / (P(a) P(b))) / −log(P(a, b) + ε), mean over the pairs of a topic's
  words, windows of 10 tokens.
- `c_v`: each word is the vector of its NPMI with all words of the topic; mean cosine of these
  vectors with their sum, windows of 110 tokens.
- `u_mass`: log((P(a, b) + ε) / P(b)), mean over the pairs with b ahead of a in the topic's list,
  whole documents.

These are gensim's numbers (`test_coherence_is_what_gensim_finds`), with two repairs. gensim
forgets a word that occurs twice in a window as soon as the first leaves it. And where it gives
NaN or rewards what was never seen, the value here is the worst: a pair with a word that the
reference does not have counts −1 in `npmi` and log ε in `u_mass`, such a word counts 0 in `c_v`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine
from topicvec.errors import DataError, OutOfVocabularyWarning, warn
from topicvec.measure.windows import Window, WordStatistics, count_windows

__all__ = ["EPSILON", "TopicScores", "c_v", "npmi", "u_mass"]

Floats = NDArray[np.float64]

EPSILON = 1e-12
_SHOWN = 5


@dataclass(frozen=True)
class TopicScores:
    """A score for each topic.

    Attributes
    ----------
    name : str
        Of the measure.
    values : tuple of float
        Score of each topic; never NaN.
    unseen : tuple of str
        Words that the reference does not have; pairs with them count as the worst.

    Examples
    --------
    >>> TopicScores("npmi", (0.2, 0.4)).value
    0.3...
    """

    name: str
    values: tuple[float, ...]
    unseen: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The mean over topics."""
        return float(np.mean(self.values))

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data, the mean with it."""
        return asdict(self) | {"value": self.value}


def npmi(
    topics: Sequence[Sequence[str]],
    reference: WordStatistics | Iterable[Any],
    *,
    window: Window = 10,
    epsilon: float = EPSILON,
    n_jobs: int | Engine | None = None,
) -> TopicScores:
    """Score topics by the normalised pointwise mutual information of their words.

    Parameters
    ----------
    topics : sequence of word lists
        The first words of each topic, best first; 10 are usual.
    reference : WordStatistics, or documents
        From `count_windows`, which is quicker for several measures or models; or texts or token
        lists to count in.
    window : int or None
        Tokens in a window; None for whole documents.
    epsilon : float
        Added to shares of pairs. With 0 a pair that never occurs has the limit, −1.
    n_jobs : int, engine or None
        Processes for counting documents.

    Returns
    -------
    TopicScores
        Between −1 and 1, higher is better: 1 for words that only occur together, 0 for
        independent ones.

    Examples
    --------
    >>> documents = [["cat", "dog"], ["cat", "dog"], ["car", "bus"], ["cow"]]
    >>> npmi([["cat", "dog"], ["cat", "car"]], documents, epsilon=0).values
    (1.0, -1.0)
    """

    def score(joint: Floats) -> float:
        pairs = _npmi(joint, epsilon, unseen=-1.0)[np.triu_indices(len(joint), 1)]
        return _mean(pairs, -1.0)

    return _scores("npmi", topics, reference, window, score, n_jobs)


def c_v(
    topics: Sequence[Sequence[str]],
    reference: WordStatistics | Iterable[Any],
    *,
    window: Window = 110,
    epsilon: float = EPSILON,
    n_jobs: int | Engine | None = None,
) -> TopicScores:
    """Score topics by how alike their words keep company with each other.

    Parameters
    ----------
    topics, reference, window, epsilon, n_jobs
        As for `npmi`.

    Returns
    -------
    TopicScores
        At most 1, higher is better. Words that never occur together have much the same vectors
        and so high scores: look at `npmi` too.

    Examples
    --------
    >>> documents = [["cat", "dog"], ["cat", "dog"], ["car", "bus"], ["cow"]]
    >>> round(c_v([["cat", "dog"]], documents).value, 6)
    1.0
    """

    def score(joint: Floats) -> float:
        rows = _npmi(joint, epsilon, unseen=0.0)
        total = rows.sum(axis=0)
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(total)
        cosines = np.divide(rows @ total, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        return _mean(cosines if len(rows) > 1 else cosines[:0], 0.0)

    return _scores("c_v", topics, reference, window, score, n_jobs)


def u_mass(
    topics: Sequence[Sequence[str]],
    reference: WordStatistics | Iterable[Any],
    *,
    window: Window = None,
    epsilon: float = EPSILON,
    n_jobs: int | Engine | None = None,
) -> TopicScores:
    """Score topics by how probable a word is in documents that have one listed before it.

    Parameters
    ----------
    topics, reference, window, n_jobs
        As for `npmi`.
    epsilon : float
        Added to shares of pairs; more than 0.

    Returns
    -------
    TopicScores
        At most 0 (but for ε), higher is better.

    Examples
    --------
    >>> documents = [["cat", "dog"], ["cat", "cow"], ["car", "bus"]]
    >>> round(u_mass([["cat", "dog"]], documents).value, 6)  # log 1/2
    -0.693147
    """
    if epsilon <= 0:
        raise DataError(f"epsilon must be more than 0, since U_Mass has no limit; found {epsilon}")

    def score(joint: Floats) -> float:
        later, ahead = np.tril_indices(len(joint), -1)
        single = joint[ahead, ahead]
        seen = np.minimum(single, joint[later, later]) > 0
        ratio = np.divide(
            joint[later, ahead] + epsilon, single, out=single * 0 + epsilon, where=seen
        )
        return _mean(np.log(ratio), np.log(epsilon))

    return _scores("u_mass", topics, reference, window, score, n_jobs)


def _scores(
    name: str,
    topics: Sequence[Sequence[str]],
    reference: WordStatistics | Iterable[Any],
    window: Window,
    score: Callable[[Floats], float],
    n_jobs: int | Engine | None,
) -> TopicScores:
    lists = checked_topics(topics)
    if not isinstance(reference, WordStatistics):
        reference = count_windows(reference, lists, windows=[window], n_jobs=n_jobs)
    unseen = reference.unseen(dict.fromkeys(chain.from_iterable(lists)))
    warn_unseen(unseen, lists, "the reference corpus")
    values = tuple(score(reference.joint(words, window)) for words in lists)
    return TopicScores(name, values, tuple(unseen))


def checked_topics(topics: Sequence[Sequence[str]]) -> list[list[str]]:
    """Copy lists of topic words, each word once a list; refuse what is none."""
    if hasattr(topics, "topics_"):
        raise DataError(
            "expected topics as lists of words; found a model: give "
            "[[word for word, _ in topic.words] for topic in model.topics_ if not topic.is_null]"
        )
    if isinstance(topics, str) or any(isinstance(words, str) for words in topics):
        raise DataError("expected topics as lists of words; found a str: give [['cat', 'dog'], …]")
    lists = [list(dict.fromkeys(words)) for words in topics]
    if not lists:
        raise DataError("expected at least one topic; found none")
    return lists


def warn_unseen(unseen: Sequence[str], lists: Sequence[Sequence[str]], where: str) -> None:
    """Warn of words that count as the worst for want of knowledge, and of topics without pairs."""
    if unseen:
        more = ", …" if len(unseen) > _SHOWN else ""
        shown = ", ".join(unseen[:_SHOWN]) + more
        message = f"{len(unseen)} topic words are not in {where} and count as the worst: {shown}"
        warn(message, OutOfVocabularyWarning)
    short = sum(len(words) < 2 for words in lists)
    if short:
        warn(f"{short} topics have fewer than two words and count as the worst")


def _npmi(joint: Floats, epsilon: float, unseen: float) -> Floats:
    """NPMI of each two words (J, J), each word with itself included."""
    single = np.diag(joint)
    product = np.outer(single, single)
    seen = product > 0
    together = joint + epsilon
    values = np.where(seen, -1.0, unseen)  # the limit of a pair that never occurs
    defined = seen & (together > 0) & (together < 1)
    values[defined] = np.log(together[defined] / product[defined]) / -np.log(together[defined])
    values[seen & (joint >= 1)] = 1.0  # the limit of a pair that is in every window
    return values


def _mean(values: Floats, empty: float) -> float:
    return float(values.mean()) if values.size else float(empty)

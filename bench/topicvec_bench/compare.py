"""Topic models side by side: the same documents, the same words, the same measures."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import DataError
from topicvec.measure.clusters import dominant_topics, kmeans_clusters
from topicvec.measure.coherence import c_v, npmi, u_mass
from topicvec.measure.diversity import embedding_coherence, inverted_rbo, topic_diversity
from topicvec.measure.windows import WordStatistics, count_windows
from topicvec_bench.base import TokenLists, TopicBaseline
from topicvec_bench.registry import find_method, make

__all__ = ["SkippedRun", "TopicQuality", "TopicRun", "run_topics", "score_runs"]

_LISTED = 25  # words of a topic; diversity looks at all, the others at the first ten
_SCORED = 10


@dataclass(frozen=True, eq=False)
class TopicRun:
    """What one fitted model found.

    Attributes
    ----------
    name : str
        Of the model.
    n_topics : int
        Number of topics asked for.
    topics : tuple of tuples of str
        The first 25 words of each topic.
    proportions : array, (D, K)
        Of the training documents.
    seconds : float
        Time of the fit.

    Examples
    --------
    >>> TopicRun("LDA", 1, (("cat", "dog"),), np.ones((3, 1)), 0.1).seconds
    0.1
    """

    name: str
    n_topics: int
    topics: tuple[tuple[str, ...], ...]
    proportions: NDArray[np.floating]
    seconds: float


@dataclass(frozen=True)
class SkippedRun:
    """A model that could not run here, and why.

    Examples
    --------
    >>> SkippedRun("ETM", 50, "needs torch").reason
    'needs torch'
    """

    name: str
    n_topics: int
    reason: str


@dataclass(frozen=True)
class TopicQuality:
    """All measures of one run.

    Attributes
    ----------
    model : str
        Name of the model.
    n_topics, n_found : int
        Number of topics asked for, and of those that live.
    npmi, c_v, u_mass : float
        Coherence of the first ten words on the documents themselves.
    reference_npmi, reference_c_v : float or None
        On the reference corpus, if there is one.
    diversity, head_diversity, inverted_rbo : float
        Share of distinct words among the first 25 and the first ten of all topics, and of the
        ranks among the first ten.
    embedding : float
        Mean cosine of the first ten words.
    purity, nmi : float or None
        Of each document's largest topic, if classes are known.
    kmeans_purity, kmeans_nmi : float or None
        Of k-means on the proportions, with as many clusters as classes.
    seconds : float
        Time of the fit.

    Examples
    --------
    >>> TopicQuality("LDA", 20, 20, .1, .5, -2., None, None, .8, .8, .9, .2, *[None] * 4, 3.).npmi
    0.1
    """

    model: str
    n_topics: int
    n_found: int
    npmi: float
    c_v: float
    u_mass: float
    reference_npmi: float | None
    reference_c_v: float | None
    diversity: float
    head_diversity: float
    inverted_rbo: float
    embedding: float
    purity: float | None
    nmi: float | None
    kmeans_purity: float | None
    kmeans_nmi: float | None
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return asdict(self)


def run_topics(
    name: str,
    documents: TokenLists,
    n_topics: int,
    **params: Any,
) -> TopicRun | SkippedRun:
    """Fit a topic model by its name and keep what the measures need.

    Parameters
    ----------
    name : str
        Of a method that finds topics, see `topicvec_bench.registry.names`.
    documents : sequence of token lists
        The training documents.
    n_topics : int
        Number of topics.
    **params
        Further parameters, as for `topicvec_bench.registry.make`.

    Returns
    -------
    TopicRun or SkippedRun
        The latter if the model, or a package that it needs, cannot be imported.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> run_topics("NMF (scikit-learn)", documents, 2).proportions.shape
    (40, 2)
    """
    name = find_method(name, "topics").name_as("topics")
    try:
        model: TopicBaseline = make(name, "topics", n_topics=n_topics, **params)
        start = time.perf_counter()
        model.fit(documents)
    except ImportError as error:
        return SkippedRun(name, n_topics, str(error))
    seconds = time.perf_counter() - start
    topics = tuple(map(tuple, model.topic_words(_LISTED)))
    return TopicRun(name, n_topics, topics, np.asarray(model.transform(documents)), seconds)


def score_runs(
    runs: Sequence[TopicRun],
    documents: TokenLists,
    *,
    vectors: WordVectors,
    classes: Sequence[Any] | None = None,
    reference: Iterable[Any] | None = None,
    n_jobs: int | Engine | None = None,
) -> list[TopicQuality]:
    """Measure the topics of several models; the corpora are read once for all of them.

    Parameters
    ----------
    runs : sequence of TopicRun
        From `run_topics`.
    documents : sequence of token lists
        The documents that the models were fitted to.
    vectors : WordVectors
        Judges of `TopicQuality.embedding`.
    classes : sequence of D labels, optional
        The documents' classes.
    reference : iterable of str, Document or token lists, optional
        A second corpus for coherence, such as Wikipedia.
    n_jobs : int, engine or None
        Processes that count the reference.

    Returns
    -------
    list of TopicQuality
        In the order of the runs.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1] * 4)
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> run = run_topics("NMF (scikit-learn)", documents, 2)
    >>> [score] = score_runs([run], documents, vectors=vectors, classes=["a", "b"] * 20)
    >>> score.purity, score.diversity
    (1.0, 0.5)
    """
    if not runs:
        raise DataError("expected at least one fitted model; found none")
    heads = [words[:_SCORED] for run in runs for words in run.topics]
    own = count_windows(documents, heads, n_jobs=n_jobs)
    other = None
    if reference is not None:
        other = count_windows(reference, heads, windows=[10, 110], n_jobs=n_jobs)
    return [_score(run, own, other, vectors, classes) for run in runs]


def _score(
    run: TopicRun,
    own: WordStatistics,
    other: WordStatistics | None,
    vectors: WordVectors,
    classes: Sequence[Any] | None,
) -> TopicQuality:
    heads = [words[:_SCORED] for words in run.topics]
    dominant = None if classes is None else dominant_topics(run.proportions, classes)
    kmeans = None if classes is None else kmeans_clusters(run.proportions, classes)
    return TopicQuality(
        model=run.name,
        n_topics=run.n_topics,
        n_found=len(run.topics),
        npmi=npmi(heads, own).value,
        c_v=c_v(heads, own).value,
        u_mass=u_mass(heads, own).value,
        reference_npmi=None if other is None else npmi(heads, other).value,
        reference_c_v=None if other is None else c_v(heads, other).value,
        diversity=topic_diversity(run.topics, _LISTED),
        head_diversity=topic_diversity(run.topics, _SCORED),
        inverted_rbo=inverted_rbo(run.topics, _SCORED),
        embedding=embedding_coherence(run.topics, vectors, _SCORED).value,
        purity=None if dominant is None else dominant.purity,
        nmi=None if dominant is None else dominant.nmi,
        kmeans_purity=None if kmeans is None else kmeans.purity,
        kmeans_nmi=None if kmeans is None else kmeans.nmi,
        seconds=run.seconds,
    )

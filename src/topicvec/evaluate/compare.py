"""Topic models side by side: the same documents, the same words, the same measures."""

import time
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import DataError
from topicvec.evaluate.clusters import dominant_topics, kmeans_clusters
from topicvec.evaluate.coherence import c_v, npmi, u_mass
from topicvec.evaluate.diversity import embedding_coherence, inverted_rbo, topic_diversity
from topicvec.evaluate.peers import make_peer
from topicvec.evaluate.windows import WordStatistics, count_windows
from topicvec.text.stopwords import stop_words as resolve_stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary

__all__ = ["PeerRun", "SkippedPeer", "TopicQuality", "run_peer", "score_runs", "shared_tokens"]

TokenLists = Sequence[Sequence[str]]

_LISTED = 25  # words of a topic; diversity looks at all, the others at the first ten
_SCORED = 10


@dataclass(frozen=True, eq=False)
class PeerRun:
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
    >>> PeerRun("LDA", 1, (("cat", "dog"),), np.ones((3, 1)), 0.1).seconds
    0.1
    """

    name: str
    n_topics: int
    topics: tuple[tuple[str, ...], ...]
    proportions: NDArray[np.floating]
    seconds: float


@dataclass(frozen=True)
class SkippedPeer:
    """A model that could not run here, and why.

    Examples
    --------
    >>> SkippedPeer("ETM", 50, "needs torch").reason
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
    diversity, inverted_rbo : float
        Share of distinct words among the first 25, and of the ranks among the first ten.
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
    >>> TopicQuality("LDA", 20, 20, .1, .5, -2., None, None, .8, .9, .2, *[None] * 4, 3.).npmi
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


def shared_tokens(
    texts: Iterable[str],
    words: Container[str],
    *,
    stop_words: Any = "english-extended",
    min_documents: int = 5,
    min_letters: int = 3,
) -> list[list[str]]:
    """Cut texts into the tokens that all compared models get.

    Parameters
    ----------
    texts : iterable of str
        The documents.
    words : container of str
        Words that every model can use, such as those with a vector.
    stop_words : str, path, iterable of str or None
        Words to leave out, as in `topicvec.text.stop_words`.
    min_documents : int
        Leave out words that fewer documents have.
    min_letters : int
        Leave out shorter words.

    Returns
    -------
    list of lists of str
        One for each text, some perhaps empty.

    Examples
    --------
    >>> shared_tokens(["The cat is in", "a cat in a car"], {"cat", "is"}, min_documents=2)
    [['cat'], ['cat']]
    """
    tokenize, left_out = Tokenizer(), resolve_stop_words(stop_words)
    tokens = [
        [
            word
            for word in tokenize(text)
            if len(word) >= min_letters and word in words and word not in left_out
        ]
        for text in texts
    ]
    kept = Vocabulary.from_documents(tokens, min_doc_frequency=min_documents)
    return [[word for word in row if word in kept] for row in tokens]


def run_peer(
    name: str,
    documents: TokenLists,
    n_topics: int,
    *,
    random_state: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> PeerRun | SkippedPeer:
    """Fit a topic model by its name and keep what the measures need.

    Parameters
    ----------
    name : str
        A key of `topicvec.evaluate.peers.PEERS`.
    documents : sequence of token lists
        The training documents.
    n_topics : int
        Number of topics.
    random_state : int
        Seed.
    settings : mapping, optional
        Further parameters of the model.

    Returns
    -------
    PeerRun or SkippedPeer
        The latter if the model, or a package that it needs, cannot be imported.

    Examples
    --------
    >>> documents = [["cat", "dog", "cat"], ["car", "bus", "bus"]] * 20
    >>> run_peer("NMF (scikit-learn)", documents, 2).proportions.shape
    (40, 2)
    """
    start = time.perf_counter()
    try:
        peer = make_peer(name, n_topics, random_state, **(settings or {}))
        start = time.perf_counter()
        peer.fit(documents)
    except ImportError as error:
        return SkippedPeer(name, n_topics, str(error))
    seconds = time.perf_counter() - start
    topics = tuple(map(tuple, peer.topic_words(_LISTED)))
    return PeerRun(name, n_topics, topics, peer.transform(documents), seconds)


def score_runs(
    runs: Sequence[PeerRun],
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
    runs : sequence of PeerRun
        From `run_peer`.
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
    >>> run = run_peer("NMF (scikit-learn)", documents, 2)
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
    run: PeerRun,
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
        inverted_rbo=inverted_rbo(run.topics, _SCORED),
        embedding=embedding_coherence(run.topics, vectors, _SCORED).value,
        purity=None if dominant is None else dominant.purity,
        nmi=None if dominant is None else dominant.nmi,
        kmeans_purity=None if kmeans is None else kmeans.purity,
        kmeans_nmi=None if kmeans is None else kmeans.nmi,
        seconds=run.seconds,
    )

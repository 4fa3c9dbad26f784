"""Topic models to compare with, each under the name that `topicvec bench topics` knows it by.

Every peer is made with ``n_topics`` and ``random_state``, fits token lists and has ``transform``
and ``topic_words``. Modules are imported when a peer is asked for.
"""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine
from topicvec.errors import DataError
from topicvec.estimator import Estimator
from topicvec.model.reading import Relevance, read_topics
from topicvec.model.start import Start
from topicvec.model.topicvec import TopicVec
from topicvec.text.vocabulary import Vocabulary

__all__ = ["PEERS", "Peer", "TopicVecPeer", "make_peer", "peer_name", "with_frequencies"]

Floats = NDArray[np.floating]
TokenLists = Sequence[Sequence[str]]

PEERS: Mapping[str, str] = {
    "TopicVec": "topicvec.evaluate.peers:TopicVecPeer",
    "LDA (gensim)": "topicvec.evaluate.baselines.lda_gensim:GensimLDA",
    "LDA (tomotopy)": "topicvec.evaluate.baselines.lda_tomotopy:TomotopyLDA",
    "LDA (scikit-learn)": "topicvec.evaluate.factors:SklearnLDA",
    "NMF (scikit-learn)": "topicvec.evaluate.factors:SklearnNMF",
    "ETM": "topicvec.evaluate.baselines.etm:ETM",
    "BERTopic": "topicvec.evaluate.baselines.bertopic:BERTopic",
    "FASTopic": "topicvec.evaluate.baselines.fastopic:FASTopic",
}


class Peer(Protocol):
    """What the comparison asks of a topic model."""

    def fit(self, documents: TokenLists) -> Any:
        """Learn topics from token lists."""
        ...

    def transform(self, documents: TokenLists) -> Floats:
        """Give topic proportions (D, K)."""
        ...

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the first words of each topic."""
        ...


def make_peer(name: str, n_topics: int, random_state: int = 0, **settings: Any) -> Peer:
    """Make an unfitted topic model by its name.

    Parameters
    ----------
    name : str
        A key of `PEERS`; case and all but letters and digits may differ ("lda-gensim").
    n_topics : int
        Number of topics.
    random_state : int
        Seed.
    **settings
        Further parameters of the model.

    Returns
    -------
    Peer

    Raises
    ------
    ImportError
        If the model, or a package that it needs, is not installed.

    Examples
    --------
    >>> make_peer("lda-tomotopy", 30)
    TomotopyLDA(n_topics=30)
    """
    module, _, attribute = PEERS[peer_name(name)].partition(":")
    peer: Peer = getattr(importlib.import_module(module), attribute)(
        n_topics=n_topics, random_state=random_state, **settings
    )
    return peer


def peer_name(name: str) -> str:
    """Find the key of `PEERS` that a user means.

    Examples
    --------
    >>> peer_name("lda-gensim")
    'LDA (gensim)'
    """
    known = {_plain(key): key for key in PEERS}
    if _plain(name) not in known:
        raise DataError(f"no topic model is called {name!r}; there are {', '.join(PEERS)}")
    return known[_plain(name)]


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


def with_frequencies(vectors: WordVectors, documents: TokenLists) -> WordVectors:
    """Keep the vectors of the documents' words, with the frequencies of these documents.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    >>> with_frequencies(vectors, [["cat", "car", "car"], ["car", "yak"]]).unigram
    array([0.75, 0.25])
    """
    words = Vocabulary.from_documents(documents).restrict(vectors.words)
    rows = [vectors.ids[word] for word in words.words]
    return WordVectors(words.words, vectors.matrix[rows], words.counts)


class TopicVecPeer(Estimator):
    """TopicVec under the contract of its peers: the null topic is neither counted nor listed.

    Parameters
    ----------
    n_topics : int
        Number of topics beside the null topic.
    vectors : WordVectors, optional
        The word vectors; by default those that come with the package.
    unigram : {"corpus", "vectors"}
        Whose word frequencies the null topic has. With those of the documents, topics need not
        explain how these differ from the text that the vectors were made from.
    init : str
        Where topics start, as for `TopicVec`.
    relevance : str
        How words are ranked, see `topicvec.model.read_topics`.
    random_state : int
        Seed.
    n_jobs : int, engine or None
        As for `TopicVec`.

    Attributes
    ----------
    model_ : TopicVec
        The fitted model.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1] * 4)
    >>> peer = TopicVecPeer(2, vectors).fit([["cat", "dog"], ["bus", "car"]] * 5)
    >>> sorted(sorted(words) for words in peer.topic_words(2))
    [['bus', 'car'], ['cat', 'dog']]
    """

    def __init__(
        self,
        n_topics: int = 20,
        vectors: WordVectors | None = None,
        *,
        unigram: Literal["corpus", "vectors"] = "corpus",
        init: Start = "documents",
        relevance: Relevance = "mass",
        random_state: int = 0,
        n_jobs: int | Engine | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.unigram = unigram
        self.init = init
        self.relevance = relevance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, documents: TokenLists, y: object = None) -> Self:  # noqa: ARG002
        """Learn topics from token lists."""
        vectors = load_vectors(self.vectors)
        self.model_ = TopicVec(
            self.n_topics + 1,
            with_frequencies(vectors, documents) if self.unigram == "corpus" else vectors,
            init=self.init,
            stop_words=None,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(documents)
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Give the proportions (D, K) of all topics but the null topic."""
        return self.model_.transform(documents)[:, 1:]

    def topic_words(self, n: int = 10) -> list[list[str]]:
        """List the first words of each topic that lives, in the order of their rows."""
        read = read_topics(self.model_.fitted_, n_words=n, n_nearest=0, relevance=self.relevance)
        live = sorted((topic for topic in read if not topic.is_null), key=lambda t: t.index)
        return [[word for word, _ in topic.words] for topic in live]

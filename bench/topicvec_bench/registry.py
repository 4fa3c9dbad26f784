"""The one table of compared methods; a method is imported when it is used."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal

from topicvec.errors import DataError
from topicvec_bench.base import Baseline

__all__ = ["METHODS", "MIN_COUNT", "SETTINGS", "Method", "Role", "find_method", "make", "names"]

Role = Literal["features", "topics"]


@dataclass(frozen=True)
class Method:
    """A compared method, and what it takes part in.

    Attributes
    ----------
    name : str
        As in the paper's table.
    about : str
        A sentence on what it does here, and how this differs from the paper.
    features, topics : str
        ``module:Class`` below this package that describes documents in table 2, and that finds
        topics to be compared; empty where the method takes no part.
    title : str
        Its name among topic models, if it has another one there.
    uses_classes : bool
        Whether it learns from the classes of the training documents.
    needs : str
        Package that must be installed.
    extra : str
        Extra of the laboratory that brings the package; empty if the laboratory itself does.

    Examples
    --------
    >>> METHODS["BOW"].load().__name__, METHODS["BOW"].is_random()
    ('WordCounts', False)
    """

    name: str
    about: str
    features: str = ""
    topics: str = ""
    title: str = ""
    uses_classes: bool = False
    needs: str = ""
    extra: str = ""

    def load(self, role: Role = "features") -> type[Baseline]:
        """Import the class for a role."""
        module, _, name = getattr(self, role).partition(":")
        found: type[Baseline] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        return found

    def is_random(self, role: Role = "features") -> bool:
        """Tell whether results depend on a seed."""
        return "random_state" in signature(self.load(role)).parameters

    def name_as(self, role: Role) -> str:
        """Give the name that the method has in a role."""
        return self.title if role == "topics" and self.title else self.name


_ALL = (
    Method("BOW", "Counts of the words of the training documents.", "simple:WordCounts"),
    Method("TF-IDF", "Damped counts weighted by rarity; not in the paper.", "simple:TfIdf"),
    Method(
        "LDA",
        "gensim, 20 passes over the training documents; the paper trained on the test documents "
        "too and kept stop words.",
        "lda:GensimLDA",
        "lda:GensimLDA",
        title="LDA (gensim)",
        needs="gensim",
    ),
    Method(
        "LDA-Gibbs",
        "tomotopy, collapsed Gibbs sampling; not in the paper.",
        "lda:TomotopyLDA",
        "lda:TomotopyLDA",
        title="LDA (tomotopy)",
        needs="tomotopy",
    ),
    Method("LDA (scikit-learn)", "Online variational Bayes.", topics="lda:SklearnLDA"),
    Method("NMF (scikit-learn)", "Factors of the TF-IDF table.", topics="lda:SklearnNMF"),
    Method(
        "sLDA",
        "Supervised LDA by Gibbs sampling; features are proportions, where the paper most likely "
        "scored the model's own predictions.",
        "slda:SLDA",
        uses_classes=True,
    ),
    Method(
        "LFTM",
        "LF-LDA with the word vectors of TopicVec; test documents are inferred, where the paper "
        "sampled them together with the training documents.",
        "lftm:LFTM",
    ),
    Method(
        "MeanWV",
        "Plain means; the original program did not reset its sum between documents, and had "
        "500-dimensional vectors from a larger corpus.",
        "simple:MeanVectors",
    ),
    Method(
        "WMD kNN",
        "Votes of the 5 training documents nearest by the word mover's distance, exact for the 20 "
        "best by the relaxed distance of the 300 nearest by mean vectors, on the 100 most frequent "
        "words of a document; the paper names it, but does not compare it.",
        "movers:WordMover",
        uses_classes=True,
    ),
    Method(
        "Doc2Vec",
        "gensim, 20 epochs over the training documents and vectors inferred for all; the paper "
        "trained 5 epochs on the test documents too.",
        "doc2vec:Doc2Vec",
        needs="gensim",
    ),
    Method(
        "TWE",
        "TWE-1: word and topic vectors from the training documents, 400 dimensions each.",
        "twe:TWE",
        needs="gensim",
    ),
    Method(
        "GaussianLDA",
        "Gaussian topics over the word vectors, cut to their first 50 principal components, where "
        "they do not all look alike; the paper found its topics nearly the same.",
        "gaussian_lda:GaussianLDA",
    ),
    Method(
        "ETM",
        "The embedded topic model with these word vectors; not in the paper.",
        "etm:ETM",
        "etm:ETM",
        needs="torch",
        extra="peers",
    ),
    Method(
        "BERTopic",
        "On sentence embeddings of all-MiniLM-L6-v2; not in the paper.",
        "sentences:BERTopic",
        "sentences:BERTopic",
        needs="bertopic",
        extra="peers",
    ),
    Method(
        "BERTopic (k-means)",
        "BERTopic with k-means in place of dense clusters.",
        topics="sentences:BERTopicKMeans",
        needs="bertopic",
        extra="peers",
    ),
    Method(
        "FASTopic",
        "On sentence embeddings of all-MiniLM-L6-v2; not in the paper.",
        "sentences:FASTopic",
        "sentences:FASTopic",
        needs="fastopic",
        extra="peers",
    ),
    Method(
        "KeyNMF",
        "Factors of the words nearest to each document, on the same embeddings.",
        topics="shared_space:KeyNMF",
        needs="turftopic",
        extra="peers",
    ),
    Method(
        "Top2Vec",
        "Dense groups of documents and the words nearest to them, on the same embeddings.",
        topics="shared_space:Top2Vec",
        needs="top2vec",
        extra="peers",
    ),
    Method(
        "TopicVec",
        "Topics of each class; a document is described by how much of each topic's words it has, "
        "where the paper took proportions.",
        "topicvec:TopicVecFeatures",
        "topicvec:TopicVecTopics",
        uses_classes=True,
    ),
    Method(
        "TV+MeanWV",
        "Features like those of TopicVec, words shared more sharply, and those of MeanWV.",
        "topicvec:TopicVecMean",
        uses_classes=True,
    ),
    Method(
        "TMD kNN",
        "Votes of the 5 training documents nearest by the topic mover's distance, exact between "
        "the 8 largest topics of each; the paper's future work.",
        "movers:TopicMover",
        uses_classes=True,
    ),
)

METHODS: Mapping[str, Method] = {method.name: method for method in _ALL}

# Parameters for each corpus of table 2: the paper's, or chosen on held-out training documents. The
# test documents took no part in any choice.
SETTINGS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "20news": {
        "LDA": {"n_topics": 100},
        "LDA-Gibbs": {"n_topics": 100},
        "GaussianLDA": {"n_topics": 100},
        "TopicVec": {"n_topics": 15},  # 20 · 15 − 19 = 281 features
        "TV+MeanWV": {"n_topics": 15},
        "TMD kNN": {"n_topics": 100},
    },
    "reuters": {
        "LDA": {"n_topics": 50},
        "LDA-Gibbs": {"n_topics": 50},
        "sLDA": {"n_topics": 50},
        "LFTM": {"n_topics": 50},
        "TWE": {"n_topics": 50},
        "GaussianLDA": {"n_topics": 70},
        "ETM": {"n_topics": 50},
        "BERTopic": {"n_topics": 50},
        "FASTopic": {"n_topics": 50},
        # 10 · 12 − 9 = 111 features. The longer norm gives 0.3 points on the last training
        # documents, which are most like the test documents, and takes up to 0.3 away on random ones
        # (benchmarks/choices.py).
        "TopicVec": {"n_topics": 12, "max_norm": 10.0},
        # 10 · 22 − 9 + 400 = 611 features, as many as in the paper, whose vectors are longer.
        # Against 12 topics of a class it gives 0.3 and 0.1 points by the two protocols, in the mean
        # of four parts of the training documents.
        "TV+MeanWV": {"n_topics": 22},
        "TMD kNN": {"n_topics": 50},
    },
}


# Vectors are learned for words that the training documents have so often; 0: for none. On the last
# training documents of 20 Newsgroups this gives TopicVec 3 points; on those of Reuters, whose
# unknown words are mostly codes, it takes one away.
MIN_COUNT: Mapping[str, int] = {"20news": 2, "reuters": 0}


def names(role: Role) -> list[str]:
    """List the methods that take part in table 2, or in the comparison of topics (ours first).

    Examples
    --------
    >>> names("features")[:3], names("topics")[:2]
    (['BOW', 'TF-IDF', 'LDA'], ['TopicVec', 'LDA (gensim)'])
    """
    found = [method for method in METHODS.values() if getattr(method, role)]
    if role == "topics":
        found.sort(key=lambda method: method.name != "TopicVec")
    return [method.name_as(role) for method in found]


def find_method(name: str, role: Role = "features") -> Method:
    """Return the method that a user means; case and all but letters and digits may differ.

    Examples
    --------
    >>> find_method("topicvec").name, find_method("lda-gensim", "topics").name
    ('TopicVec', 'LDA')
    >>> find_method("word2vec")
    Traceback (most recent call last):
    topicvec.errors.DataError: unknown method 'word2vec': expected one of BOW, TF-IDF, ...
    """
    for method in METHODS.values():
        if getattr(method, role) and _plain(name) == _plain(method.name_as(role)):
            return method
    raise DataError(f"unknown method {name!r}: expected one of {', '.join(names(role))}")


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


def make(name: str, role: Role = "features", *, corpus: str | None = None, **params: Any) -> Any:
    """Make an unfitted method with its settings for a corpus.

    Parameters
    ----------
    name : str
        A name of the method in the role.
    role : {"features", "topics"}
        What it is to do.
    corpus : str, optional
        Take the settings for this corpus, see `SETTINGS`.
    **params
        Parameters, instead of the settings. ``vectors``, ``random_state`` and ``n_jobs`` are left
        out for methods that do not have them.

    Returns
    -------
    Baseline
        A `TopicBaseline` for the role "topics".

    Examples
    --------
    >>> make("LDA", corpus="reuters", random_state=3)
    GensimLDA(n_topics=50, random_state=3)
    >>> make("lda-tomotopy", "topics", n_topics=30, n_jobs=1)
    TomotopyLDA(n_topics=30)
    """
    method = find_method(name, role)
    kind = method.load(role)
    lacking = {"vectors", "random_state", "n_jobs"} - set(signature(kind).parameters)
    given = {key: value for key, value in params.items() if key not in lacking}
    return kind(**{**SETTINGS.get(corpus or "", {}).get(method.name, {}), **given})

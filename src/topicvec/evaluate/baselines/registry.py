"""Names of the compared methods, and where they live; a method is imported when it is used."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from topicvec.errors import DataError
from topicvec.evaluate.baselines.settings import settings

if TYPE_CHECKING:
    from topicvec.embed.vectors import WordVectors
    from topicvec.evaluate.baselines.base import Baseline

__all__ = ["METHODS", "Method", "find_method", "make"]


@dataclass(frozen=True)
class Method:
    """A compared method.

    Attributes
    ----------
    name : str
        As in the paper's table.
    home : str
        ``module:Class`` below this package.
    about : str
        A sentence on what it does here, and how this differs from the paper.
    uses_classes : bool
        Whether it learns from the classes of the training documents.

    Examples
    --------
    >>> METHODS["BOW"].load().__name__, METHODS["BOW"].is_random
    ('WordCounts', False)
    """

    name: str
    home: str
    about: str
    uses_classes: bool = False

    def load(self) -> type["Baseline"]:
        """Import the class."""
        module, _, name = self.home.partition(":")
        found: type[Baseline] = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        return found

    @property
    def is_random(self) -> bool:
        """Whether results depend on a seed."""
        return "random_state" in signature(self.load()).parameters


_ALL = (
    Method("BOW", "bow:WordCounts", "Counts of the words of the training documents."),
    Method("TF-IDF", "tfidf:TfIdf", "Damped counts weighted by rarity; not in the paper."),
    Method(
        "LDA",
        "lda_gensim:GensimLDA",
        "gensim, 20 passes over the training documents; the paper trained on the test documents "
        "too and kept stop words.",
    ),
    Method(
        "LDA-Gibbs",
        "lda_tomotopy:TomotopyLDA",
        "tomotopy, collapsed Gibbs sampling; not in the paper.",
    ),
    Method(
        "sLDA",
        "slda:SLDA",
        "Supervised LDA by Gibbs sampling; features are proportions, where the paper most likely "
        "scored the model's own predictions.",
        uses_classes=True,
    ),
    Method(
        "LFTM",
        "lftm:LFTM",
        "LF-LDA with the word vectors of TopicVec; test documents are inferred, where the paper "
        "sampled them together with the training documents.",
    ),
    Method(
        "MeanWV",
        "mean_vectors:MeanVectors",
        "Plain means; the original program did not reset its sum between documents, and had "
        "500-dimensional vectors from a larger corpus.",
    ),
    Method(
        "Doc2Vec",
        "doc2vec:Doc2Vec",
        "gensim, 20 epochs over the training documents and vectors inferred for all; the paper "
        "trained 5 epochs on the test documents too.",
    ),
    Method(
        "TWE",
        "twe:TWE",
        "TWE-1: word and topic vectors from the training documents, 400 dimensions each.",
    ),
    Method(
        "GaussianLDA",
        "gaussian_lda:GaussianLDA",
        "Gaussian topics over the word vectors, cut to their first 50 principal components, where "
        "they do not all look alike; the paper found its topics nearly the same.",
    ),
    Method("ETM", "etm:ETM", "The embedded topic model with these word vectors; not in the paper."),
    Method(
        "BERTopic",
        "bertopic:BERTopic",
        "On sentence embeddings of all-MiniLM-L6-v2; not in the paper.",
    ),
    Method(
        "FASTopic",
        "fastopic:FASTopic",
        "On sentence embeddings of all-MiniLM-L6-v2; not in the paper.",
    ),
    Method(
        "TopicVec",
        "topicvec:TopicVecFeatures",
        "Topics of each class; a document is described by how much of each topic's words it has, "
        "where the paper took proportions.",
        uses_classes=True,
    ),
    Method(
        "TV+MeanWV",
        "topicvec:TopicVecMean",
        "Features like those of TopicVec, words shared more sharply, and those of MeanWV.",
        uses_classes=True,
    ),
)

METHODS: Mapping[str, Method] = {method.name: method for method in _ALL}


def find_method(name: str) -> Method:
    """Return the method of a name, in upper or lower case.

    Examples
    --------
    >>> find_method("topicvec").name
    'TopicVec'
    >>> find_method("word2vec")
    Traceback (most recent call last):
    topicvec.errors.DataError: unknown method 'word2vec': expected one of BOW, TF-IDF, ...
    """
    for method in _ALL:
        if method.name.lower() == name.lower():
            return method
    raise DataError(f"unknown method {name!r}: expected one of {', '.join(METHODS)}")


def make(
    name: str,
    *,
    corpus: str | None = None,
    vectors: "WordVectors | None" = None,
    random_state: int = 0,
    **params: Any,
) -> "Baseline":
    """Make a method with its settings for a corpus.

    Parameters
    ----------
    name : str
        A name of `METHODS`.
    corpus : str, optional
        Take the settings for this corpus, see `topicvec.evaluate.baselines.settings`.
    vectors : WordVectors, optional
        For methods that use word vectors.
    random_state : int
        Seed, for methods that draw random numbers.
    **params
        Further parameters, instead of the settings.

    Returns
    -------
    Baseline

    Examples
    --------
    >>> make("LDA", corpus="reuters", random_state=3)
    GensimLDA(n_topics=50, random_state=3)
    """
    method = find_method(name)
    found = method.load()
    known = signature(found).parameters
    given = {"vectors": vectors, "random_state": random_state}
    shared = {key: value for key, value in given.items() if key in known}
    return found(**{**settings(method.name, corpus), **shared, **params})

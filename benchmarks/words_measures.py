"""The measures of ``words.py``: how well topics agree with classes, read, and foretell words."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC
from words_data import Prepared
from words_peers import EncodedClusters

from topicvec import TopicVec
from topicvec.measure import document_completion, dominant_topics, npmi
from topicvec.model import equations
from topicvec.model.reading import read_topics

FIRST = 10  # words of a topic, for NPMI
BURN_IN, SWEEPS = 20, 100  # of the sampler of mixtures
READ = 200  # of which the first ten of the common vocabulary are taken

Floats = NDArray[np.float64]


def score(model: Any, prepared: Prepared) -> dict[str, float | None]:
    """Measure a fitted model: a `TopicVec` or a peer."""
    shares = mixtures(model, prepared)
    topics = first_words(model, prepared)
    classes = prepared.all.labels
    clusters = dominant_topics(shares[:, 1:] if isinstance(model, TopicVec) else shares, classes)
    return {
        "nmi": clusters.nmi,
        "purity": clusters.purity,
        "npmi": npmi(topics, prepared.all.tokens).value,
        "perplexity": perplexity(model, prepared),
        "f1": None if isinstance(model, EncodedClusters) else macro_f1(shares, prepared),
        "topics": len(topics),
        "known": known_share(model, prepared),
    }


def mixtures(model: Any, prepared: Prepared) -> Floats:
    """Give the mixtures of all documents (D, K); `TopicVec` and the encoder read the texts."""
    reads_texts = isinstance(model, TopicVec | EncodedClusters)
    documents = prepared.all.texts if reads_texts else prepared.all.tokens
    return np.asarray(model.transform(documents), float)


def first_words(model: Any, prepared: Prepared) -> list[list[str]]:
    """List each topic's first ten words of the common vocabulary, not the null topic's."""
    if isinstance(model, TopicVec):
        topics = read_topics(model.fitted_, n_words=READ, n_nearest=0)
        read = [[word for word, _ in each.words] for each in topics if not each.is_null]
    else:
        read = model.topic_words(READ)
    common = frozenset(prepared.vocabulary)
    found = [[word for word in words if word in common][:FIRST] for words in read]
    return [words for words in found if len(words) > 1]


def macro_f1(shares: Floats, prepared: Prepared) -> float:
    """Tell the classes of held-out documents by a linear SVM on square roots of mixtures."""
    n_fit = len(prepared.fit.texts)
    features = np.sqrt(shares)
    machine = LinearSVC(random_state=0).fit(features[:n_fit], prepared.fit.labels)
    found = machine.predict(features[n_fit:])
    return float(f1_score(prepared.held.labels, found, average="macro", zero_division=0.0))


class Completed(NamedTuple):
    """A model's topics over the common vocabulary, as `document_completion` wants them."""

    words_: tuple[str, ...]
    topic_word_: Floats
    transform: Callable[[Any], Any]


def perplexity(model: Any, prepared: Prepared) -> float | None:
    """Foretell half of each held-out document from the other half, in words of the vocabulary.

    Mixtures are the posterior means under each model's own topics and prior, by one and the same
    sampler for all: so it is topics that are compared, not ways to infer a mixture. None for
    models without topics that are distributions over words.
    """
    table = word_table(model)
    if table is None:
        return None
    over = common_table(*table, prepared)
    mixtures = partial(posterior_means, prepared.vocabulary, over, prior(model))
    completed = Completed(prepared.vocabulary, over, mixtures)
    return document_completion(completed, prepared.held.tokens).perplexity


def prior(model: Any) -> Floats:
    """Give the Dirichlet prior of a model's mixtures, (K,)."""
    return np.asarray(model.alpha_ if isinstance(model, TopicVec) else model.model_.alpha, float)


def posterior_means(
    vocabulary: Sequence[str], table: Floats, alpha: Floats, documents: Sequence[Sequence[str]]
) -> Floats:
    """Give the means of documents' mixtures (D, K), by Gibbs sampling of their tokens' topics."""
    ids = {word: column for column, word in enumerate(vocabulary)}
    tokens = np.array([ids[word] for document in documents for word in document])
    ends = np.cumsum([0, *map(len, documents)])
    return _sampled(tokens, ends, np.ascontiguousarray(table.T), alpha, BURN_IN, SWEEPS)


@njit(cache=True)
def _sampled(tokens, ends, P, alpha, burn_in, sweeps):  # type: ignore[no-untyped-def]
    np.random.seed(0)  # noqa: NPY002  # of numba's own generator
    n_topics, total = P.shape[1], alpha.sum()
    means, chance = np.zeros((len(ends) - 1, n_topics)), np.empty(n_topics)
    for d in range(len(ends) - 1):
        words = tokens[ends[d] : ends[d + 1]]
        topic, n = np.full(len(words), -1), alpha.copy()
        for sweep in range(burn_in + sweeps):
            for i in range(len(words)):
                if topic[i] >= 0:
                    n[topic[i]] -= 1.0
                chance[:] = np.cumsum(n * P[words[i]])
                topic[i] = np.searchsorted(chance, np.random.random() * chance[-1])  # noqa: NPY002
                n[topic[i]] += 1.0
            if sweep >= burn_in:
                means[d] += n / ((total + len(words)) * sweeps)
    return means


def unigram_perplexity(prepared: Prepared) -> float:
    """Foretell the same halves by the word frequencies of the documents to learn from."""
    shares = prepared.counts[None, :] / prepared.counts.sum()
    one = Completed(prepared.vocabulary, shares, lambda documents: np.ones((len(documents), 1)))
    return document_completion(one, prepared.held.tokens).perplexity


def word_table(model: Any) -> tuple[Sequence[str], Floats] | None:
    """Give a model's words (W) and their probabilities in each topic (W, K)."""
    if not isinstance(model, TopicVec):
        lda = hasattr(model, "n_sweeps")
        return (model.words_, np.asarray(model.topic_word_, float).T) if lda else None
    if hasattr(model, "topic_word_"):
        return model.vocabulary_, np.asarray(model.topic_word_, float)
    exponent = equations.logits(model.vectors_.matrix, model.fitted_.topics.astype(float))
    exponent -= exponent.max(axis=0)
    return model.vocabulary_, equations.word_probabilities(model.vectors_.unigram, exponent)


def common_table(words: Sequence[str], table: Floats, prepared: Prepared) -> Floats:
    """Bring topics to the common vocabulary, (K, V), rows sum to 1.

    A phrase counts as its words. Words that the model does not know share, in proportion to their
    counts, the part of the probability that they have of the training tokens.
    """
    found = _spelled_out(words, prepared.vocabulary) @ table  # V × K
    unknown = found.sum(axis=1) <= 0
    counts = np.where(unknown, prepared.counts, 0)
    lost = counts.sum() / prepared.counts.sum()
    found *= (1 - lost) / found.sum(axis=0)
    found += (counts / prepared.counts.sum())[:, None]
    completed: Floats = found.T
    return completed


def _spelled_out(words: Sequence[str], vocabulary: Sequence[str]) -> csr_array:
    """Say how often each word of the vocabulary is in each word or phrase of a model, (V, W)."""
    ids = {word: row for row, word in enumerate(vocabulary)}
    entries = [
        (ids[part], column)
        for column, word in enumerate(words)
        for part in ([word] if word in ids else word.split(" "))
        if part in ids
    ]
    rows, columns = np.array(entries).reshape(-1, 2).T
    return csr_array((np.ones(len(entries)), (rows, columns)), (len(vocabulary), len(words)))


def known_share(model: Any, prepared: Prepared) -> float | None:
    """Give the share of the training tokens, of the common vocabulary, that a model knows."""
    words = getattr(model, "vocabulary_", None) or model.words_
    known = np.isin(prepared.vocabulary, list(chain.from_iterable(w.split(" ") for w in words)))
    return float(prepared.counts[known].sum() / prepared.counts.sum())

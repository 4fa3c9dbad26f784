"""How different the topics of a model are from each other, and how alike their words are."""

from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError
from topicvec.measure.coherence import TopicScores, checked_topics, warn_unseen

__all__ = ["embedding_coherence", "inverted_rbo", "rank_biased_overlap", "topic_diversity"]


def topic_diversity(topics: Sequence[Sequence[str]], n_words: int = 25) -> float:
    """Give the share of distinct words among the first words of all topics.

    Parameters
    ----------
    topics : sequence of word lists
        Best words first.
    n_words : int
        How many words of each topic to look at; 25 and 10 are usual.

    Returns
    -------
    float
        1 if no two topics share a word. A topic with fewer words counts with those it has.

    Notes
    -----
    Dieng, Ruiz and Blei, "Topic modeling in embedding spaces", 2020.

    Examples
    --------
    >>> topic_diversity([["cat", "dog"], ["cat", "cow"]])
    0.75
    """
    if n_words < 1:
        raise DataError(f"n_words must be at least 1; found {n_words}")
    listed = [word for words in checked_topics(topics) for word in words[:n_words]]
    if not listed:
        raise DataError("expected topics with words; all lists are empty")
    return len(set(listed)) / len(listed)


def rank_biased_overlap(
    first: Sequence[str], second: Sequence[str], persistence: float = 0.9
) -> float:
    """Say how alike two ranked lists are, their heads counting most.

    Parameters
    ----------
    first, second : sequence of str
        Ranked lists, which may differ in length.
    persistence : float
        Between 0 and 1: how far down a reader goes. With 0.9 the first ten ranks have 86% of
        the weight.

    Returns
    -------
    float
        0 for lists without a common word, 1 for equal ones; agreement is carried on beyond the
        ends of the lists.

    Notes
    -----
    RBO_ext, equation 32 of Webber, Moffat and Zobel, "A similarity measure for indefinite
    rankings", 2010.

    Examples
    --------
    >>> rank_biased_overlap(["cat", "dog"], ["cat", "cow"], 0.5)
    0.75
    """
    if not 0 < persistence < 1:
        raise DataError(f"persistence must be between 0 and 1; found {persistence}")
    short, long = sorted((list(first), list(second)), key=len)
    if not short:
        return float(short == long)
    depths = np.arange(1, len(long) + 1)
    overlap = np.array([len({*short[:d]} & {*long[:d]}) for d in depths], float)  # X_d
    n_short, shared = len(short), overlap[len(short) - 1]
    beyond = np.maximum(depths - n_short, 0) * shared / n_short  # what a longer list would add
    weights = persistence**depths
    total = (overlap + beyond) / depths @ weights * (1 - persistence) / persistence
    rest = (overlap[-1] + beyond[-1]) / len(long) * weights[-1]
    return float(total + rest)


def inverted_rbo(
    topics: Sequence[Sequence[str]], n_words: int = 10, persistence: float = 0.9
) -> float:
    """Give one minus the mean rank-biased overlap of each two topics.

    Parameters
    ----------
    topics : sequence of word lists
        At least two, best words first.
    n_words : int
        How many words of each topic to look at.
    persistence : float
        As in `rank_biased_overlap`.

    Returns
    -------
    float
        1 if no two topics share a word, 0 if all are the same.

    Notes
    -----
    Bianchi, Terragni and Hovy, "Pre-training is a hot topic", 2021.

    Examples
    --------
    >>> inverted_rbo([["cat", "dog"], ["car", "bus"], ["car", "bus"]])
    0.666...
    """
    lists = [words[:n_words] for words in checked_topics(topics)]
    if len(lists) < 2:
        raise DataError(f"expected at least two topics to compare; found {len(lists)}")
    overlaps = [rank_biased_overlap(a, b, persistence) for a, b in combinations(lists, 2)]
    return float(1 - np.mean(overlaps))


def embedding_coherence(
    topics: Sequence[Sequence[str]], vectors: WordVectors, n_words: int = 10
) -> TopicScores:
    """Score topics by the mean cosine of each two of their first words.

    Parameters
    ----------
    topics : sequence of word lists
        Best words first.
    vectors : WordVectors
        Better not those that a compared model was learned with: it would be its own judge.
    n_words : int
        How many words of each topic to look at.

    Returns
    -------
    TopicScores
        Between −1 and 1, higher is better. A pair with a word that has no vector counts 0.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog", "car"], [[1, 0], [0.6, 0.8], [0, 2]], [1, 1, 1])
    >>> round(embedding_coherence([["cat", "dog", "car"]], vectors).value, 3)  # 0.6, 0, 0.8
    0.467
    """
    lists = [words[:n_words] for words in checked_topics(topics)]
    unseen = [word for word in dict.fromkeys(chain.from_iterable(lists)) if word not in vectors]
    warn_unseen(unseen, lists, "the word vectors")
    values = tuple(_mean_cosine(words, vectors) for words in lists)
    return TopicScores("embedding_coherence", values, tuple(unseen))


def _mean_cosine(words: Sequence[str], vectors: WordVectors) -> float:
    rows = np.zeros((len(words), vectors.n_dims))
    for place, word in enumerate(words):
        if word in vectors:
            length = np.linalg.norm(vectors[word])
            rows[place] = vectors[word] / (length or 1.0)
    n_pairs = len(words) * (len(words) - 1) / 2
    return float(np.triu(rows @ rows.T, 1).sum() / n_pairs) if n_pairs else 0.0

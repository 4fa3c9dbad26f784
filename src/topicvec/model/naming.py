"""What topics are called, and which of them are background.

A name is made of one to three words or phrases of a topic, four words at most, without any
language model. A word that is close to the topic, frequent in it and in the documents that have
it is relevant (`topicvec.model.reading`); for a name it also has to tell the topic from its
siblings, so its relevance counts in proportion to the part of it that is this topic's. A word that
looks like one that is in the name already ("cars" after "car") adds nothing and is passed over.

A topic is background if it tells nothing of what documents are about, by either of two signs:

- at least half of its tokens are filler: words that are spread over Wikipedia as chance would
  have it, see `topicvec.embed.telling`;
- its words are spread evenly over the documents: those that have its words have hardly more of
  the topic than all, with odds of less than one and a half to one in the mean. Fewer than twenty
  documents show no such thing, nor does a topic that is nearly all there is.
"""

from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain, count, takewhile

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.telling import is_filler
from topicvec.model.fitted import FittedTopics

__all__ = ["background", "name_topics"]

Pairs = tuple[tuple[str, float], ...]
Bools = NDArray[np.bool_]

_MOSTLY = 0.5  # of the tokens of a topic that are filler
_HARDLY_MORE = 1.5  # odds of the topic in documents that have its words, over those in all
_NEARLY_ALL = 0.9  # of the documents; such a topic has nothing to be told from
_DOCUMENTS = 20  # that show how words are spread
_PARTS, _WORDS = 3, 4  # of a name
_WORTH = 0.3  # of the best score; less does not belong into a name
_STEM = 0.6  # of the shorter word: words that share so much of their beginning are alike


def background(fitted: FittedTopics) -> Bools:
    """Tell which topics say nothing of what documents are about.

    Parameters
    ----------
    fitted : FittedTopics
        Any model; one that has seen no document has no background.

    Returns
    -------
    array of bool, (K,)
        The null topic, row 0, is not counted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from scipy.sparse import csr_array
    >>> from topicvec.embed import WordVectors
    >>> vectors = WordVectors(["early", "announced", "church"], np.eye(3), [1, 1, 1])
    >>> fitted = FittedTopics.bare(vectors, np.eye(3, dtype=np.float32)[[2, 0, 1]] * 0, max_norm=7)
    >>> masses = csr_array(np.array([[0, 4, 0], [0, 5, 0], [0, 1, 9]], np.float32))
    >>> background(replace(fitted, word_mass=masses, n_documents=1)).tolist()
    [False, True, False]
    """
    table = fitted.word_mass
    totals = np.maximum(np.asarray(table.sum(axis=0), float), 1e-300)
    found = np.asarray(table[is_filler(fitted.vectors)].sum(axis=0), float) >= _MOSTLY * totals
    if fitted.n_documents >= _DOCUMENTS:
        found |= _is_even(fitted, totals)
    found[0] = False
    return np.asarray(found & (totals > 1e-300))


def _is_even(fitted: FittedTopics, totals: NDArray[np.floating]) -> Bools:
    """Tell which topics are about as frequent where their words are as elsewhere, (K,)."""
    documents, table = fitted.document_mass, fitted.word_mass
    n_having = np.maximum(fitted.word_documents, 1)
    here = np.asarray(documents.multiply(table).multiply(1 / n_having[:, None]).sum(axis=0), float)
    here /= totals  # of a document that has one of its tokens, the topic's part
    # With the prior, as in proportions; of all tokens, also those of topics that were dropped.
    n_tokens = max(float(fitted.word_counts.sum()), float(fitted.mass.sum()))
    prior = fitted.alpha * fitted.n_documents
    anywhere = (prior + fitted.mass) / (prior.sum() + n_tokens)
    odds = here * (1 - anywhere) / np.maximum(anywhere * (1 - here), 1e-300)
    return np.asarray((odds < _HARDLY_MORE) & (anywhere < _NEARLY_ALL))


def name_topics(words: Sequence[Pairs], given: Sequence[str | None]) -> list[str]:
    """Name topics by their most relevant words.

    Parameters
    ----------
    words : sequence of tuples of (str, float)
        For each topic its most relevant words with their relevance, best first.
    given : sequence of str or None
        Names that the user gave, which stay.

    Returns
    -------
    list of str
        All different; empty for a topic without words and name.

    Examples
    --------
    >>> pets, roads = (("cat", 3.0), ("cats", 2.0), ("dog", 2.0)), (("car", 4.0), ("dog", 1.0))
    >>> name_topics([pets, roads, pets], [None, "roads", None])
    ['cat, dog', 'roads', 'cat, dog, cats']
    """
    total: Counter[str] = Counter()
    for pairs in words:
        total.update(_scaled(pairs))
    taken, names = {name for name in given if name}, []
    for pairs, name in zip(words, given, strict=True):
        names.append(name or _unlike(_telling(pairs, total), taken))
        taken.add(names[-1])
    return names


def _scaled(pairs: Pairs) -> dict[str, float]:
    """Relevance of words in parts of the largest."""
    best = max((value for _, value in pairs), default=0.0)
    return {word: value / best for word, value in pairs} if best > 0 else {}


def _telling(pairs: Pairs, total: Counter[str]) -> Pairs:
    """Weigh words by how much of their relevance is this topic's."""
    scored = [(word, value * value / total[word]) for word, value in _scaled(pairs).items()]
    return tuple(sorted(scored, key=lambda pair: -pair[1]))


def _unlike(pairs: Pairs, taken: Container[str]) -> str:
    """Make a name that is not taken: with another last word if need be, or a number."""
    if not pairs:
        return ""
    first = _parts(pairs)
    more = [word for word, _ in pairs if word not in first and " " not in word]
    kept = first[: _PARTS - 1]
    others = (", ".join([*kept, word]) for word in more if _n_words([*kept, word]) <= _WORDS)
    numbered = (f"{', '.join(first)} {number}" for number in count(2))
    names = chain([", ".join(first)], others, numbered)
    return next(name for name in names if name not in taken)


def _parts(pairs: Pairs) -> list[str]:
    """Choose the best words that are not alike."""
    chosen: list[str] = []
    for word, score in pairs:
        is_worth = score >= _WORTH * pairs[0][1] and _n_words([*chosen, word]) <= _WORDS
        if not chosen or (is_worth and not any(_alike(word, part) for part in chosen)):
            chosen.append(word)
        if len(chosen) == _PARTS:
            break
    return chosen


def _n_words(parts: Sequence[str]) -> int:
    return sum(len(part.split()) for part in parts)


def _alike(first: str, second: str) -> bool:
    """Tell whether words share a word or most of their beginning."""
    return any(_same_stem(a, b) for a in first.split() for b in second.split())


def _same_stem(a: str, b: str) -> bool:
    shared = len([*takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))])
    shorter = min(len(a), len(b))
    return shared >= max(_STEM * shorter, min(4, shorter))

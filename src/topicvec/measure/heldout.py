"""How well a model foretells words that it has not seen.

Both measures work for `TopicVec` and for any other model with topics that are distributions over
words. To compare models give them all the same ``vocabulary``: topics are normalised over it and
words outside are left out, so that no model pays for knowing more words than another.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.errors import DataError
from topicvec.model.topicvec import TopicVec
from topicvec.text.bag import BagBuilder
from topicvec.text.counting import count_tokens

__all__ = [
    "HeldOutScore",
    "WordTopics",
    "document_completion",
    "held_out_perplexity",
    "split_tokens",
]

Floats = NDArray[np.float64]
TokenLists = Sequence[Sequence[str]]

_ROWS = 256  # documents at a time


@runtime_checkable
class WordTopics(Protocol):
    """A model whose topics are distributions over words.

    Attributes
    ----------
    words_ : sequence of V str
        The words that it knows.
    topic_word_ : array, (K, V)
        Probability of each word in each topic.
    """

    words_: Sequence[str]
    topic_word_: NDArray[Any]

    def transform(self, documents: Any) -> NDArray[Any]:
        """Give the topic proportions (D, K) of token lists."""
        ...


@dataclass(frozen=True)
class HeldOutScore:
    """How probable a model finds words.

    Attributes
    ----------
    log_probability : float
        Mean natural logarithm of the probability of a word; higher is better.
    n_tokens, n_documents : int
        How many words were foretold, and in how many documents.

    Examples
    --------
    >>> round(HeldOutScore(-6.9, 1000, 20).perplexity)
    992
    """

    log_probability: float
    n_tokens: int
    n_documents: int

    @property
    def perplexity(self) -> float:
        """Among how many equally probable words the model seems to choose; lower is better."""
        return float(np.exp(-self.log_probability))

    def as_dict(self) -> dict[str, float | int]:
        """Return the record as plain data, the perplexity with it."""
        return asdict(self) | {"perplexity": self.perplexity}


def document_completion(
    model: TopicVec | WordTopics,
    documents: TokenLists,
    *,
    share: float = 0.5,
    vocabulary: Sequence[str] | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> HeldOutScore:
    """Learn each document's mixture from some of its words and foretell the others.

    Parameters
    ----------
    model : TopicVec or WordTopics
        A fitted model.
    documents : sequence of token lists
        Documents that it has not seen; those with fewer than two known words are left out.
    share : float
        Share of the words to foretell.
    vocabulary : sequence of str, optional
        The words that count, all known to the model; all that it knows by default.
    random_state : int, Generator or None
        Seed of the split.

    Returns
    -------
    HeldOutScore

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> document_completion(model, [["cat", "dog", "cat", "dog"], ["car", "car"]]).n_tokens
    3
    """
    words = _words(model, vocabulary)
    kept = [row for row in _only(documents, words) if len(row) > 1]
    known, held_out = split_tokens(kept, share, random_state)
    return _score(model, words, known, held_out)


def held_out_perplexity(
    model: TopicVec | WordTopics,
    documents: TokenLists,
    *,
    vocabulary: Sequence[str] | None = None,
) -> HeldOutScore:
    """Score new documents with mixtures that are learned from the same words.

    Parameters
    ----------
    model, documents, vocabulary
        As for `document_completion`; documents with one known word count too.

    Returns
    -------
    HeldOutScore
        Too good to be true, more so for models with more topics: the mixture has seen the words.
        `document_completion` has no such flaw.

    Examples
    --------
    >>> from topicvec import TopicVec, WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> 1 < held_out_perplexity(model, [["cat", "dog"], ["car"]]).perplexity < 3
    True
    """
    words = _words(model, vocabulary)
    kept = [row for row in _only(documents, words) if row]
    return _score(model, words, kept, kept)


def split_tokens(
    documents: TokenLists,
    share: float = 0.5,
    random_state: int | np.random.Generator | None = 0,
) -> tuple[list[list[str]], list[list[str]]]:
    """Hold out a share of the words of each document, chosen at random.

    Parameters
    ----------
    documents : sequence of token lists
        At least two words each.
    share : float
        Share of the words to hold out; at least one stays and at least one goes.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    tuple of two lists of token lists
        What stays and what is held out, in the order of the documents.

    Examples
    --------
    >>> split_tokens([["a", "b", "c", "d"]])
    ([['b', 'd']], [['a', 'c']])
    """
    if not 0 < share < 1:
        raise DataError(f"share must be between 0 and 1; found {share}")
    rng = np.random.default_rng(random_state)
    known: list[list[str]] = []
    held_out: list[list[str]] = []
    for tokens in documents:
        n_out = min(max(round(share * len(tokens)), 1), len(tokens) - 1)
        out = set(rng.permutation(len(tokens))[:n_out].tolist())
        known.append([token for place, token in enumerate(tokens) if place not in out])
        held_out.append([token for place, token in enumerate(tokens) if place in out])
    return known, held_out


def _words(model: TopicVec | WordTopics, vocabulary: Sequence[str] | None) -> list[str]:
    known = model.vocabulary_ if isinstance(model, TopicVec) else model.words_
    if vocabulary is None:
        return list(known)
    unknown = set(vocabulary) - set(known)
    if unknown:
        raise DataError(
            f"the vocabulary has {len(unknown)} words that the model does not know, "
            f"{min(unknown)!r} among them: give words that all compared models know"
        )
    return list(dict.fromkeys(vocabulary))


def _only(documents: TokenLists, words: Sequence[str]) -> list[list[str]]:
    if any(isinstance(document, str) for document in documents):
        raise DataError("expected lists of tokens; found a str: cut texts with a Tokenizer")
    inside = frozenset(words)
    return [[token for token in document if token in inside] for document in documents]


def _score(
    model: TopicVec | WordTopics,
    words: Sequence[str],
    known: Sequence[list[str]],
    scored: Sequence[list[str]],
) -> HeldOutScore:
    if not scored:
        raise DataError("no document has enough words that the model knows: nothing to foretell")
    mixtures = np.asarray(model.transform(known), float)
    table = _topic_word(model, words)
    ids = {word: column for column, word in enumerate(words)}
    total, n_tokens = 0.0, 0
    for start in range(0, len(scored), _ROWS):
        part = slice(start, start + _ROWS)
        builder = BagBuilder()
        builder.add(count_tokens(scored[part]), ids)
        counts = builder.build(len(words)).counts.tocoo()
        probability = (mixtures[part] @ table)[counts.row, counts.col]
        _check_positive(probability)
        total += float(counts.data @ np.log(probability))
        n_tokens += int(counts.data.sum())
    return HeldOutScore(total / n_tokens, n_tokens, len(scored))


def _topic_word(model: TopicVec | WordTopics, words: Sequence[str]) -> Floats:
    """Give the topics' distributions over some words, (K, len(words))."""
    if isinstance(model, TopicVec):
        table = model.topic_word_[[model.vectors_.ids[word] for word in words]].T.astype(float)
    else:
        columns = {word: column for column, word in enumerate(model.words_)}
        table = np.asarray(model.topic_word_, float)[:, [columns[word] for word in words]]
    shares: Floats = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
    return shares


def _check_positive(probability: ArrayLike) -> None:
    if not np.all(np.asarray(probability) > 0):
        raise DataError(
            "the model gives some words probability 0, so that its perplexity is infinite: "
            "smooth its topics, or leave these words out of the vocabulary"
        )

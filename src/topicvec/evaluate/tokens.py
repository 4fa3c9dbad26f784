"""The preprocessing that every compared method shares."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.datasets import LabelledTexts
from topicvec.text.stopwords import stop_words as resolve_stop_words
from topicvec.text.tokenizer import Tokenizer

__all__ = ["LabelledTokens", "known_tokens"]


@dataclass(frozen=True, eq=False)
class LabelledTokens:
    """Token lists with their classes.

    Attributes
    ----------
    documents : list of list of str
        The tokens of D documents, at least one each.
    labels : array of str, (D,)
        Their classes.

    Examples
    --------
    >>> LabelledTokens([["cat", "cat"], ["dog"]], np.array(["a", "b"])).n_tokens
    3
    """

    documents: list[list[str]]
    labels: NDArray[np.str_]

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all documents."""
        return sum(map(len, self.documents))


def known_tokens(
    corpus: LabelledTexts,
    words: Container[str],
    *,
    tokenizer: Callable[[str], list[str]] | None = None,
    stop_words: Any = "english",
) -> LabelledTokens:
    """Cut texts into words, keep the known ones that are no stop words, drop empty documents.

    Parameters
    ----------
    corpus : LabelledTexts
        The documents.
    words : container of str
        Known words: `WordVectors` will do.
    tokenizer : callable from str to list of str, optional
        `topicvec.text.Tokenizer` by default.
    stop_words : str, path, iterable of str or None
        As in `topicvec.text.stop_words`.

    Returns
    -------
    LabelledTokens
        In the order of the documents.

    Examples
    --------
    >>> from topicvec.text import Document
    >>> texts = (Document("1", "The cat purrs.", "a"), Document("2", "The qqq.", "b"))
    >>> known_tokens(LabelledTexts(texts, ("a", "b")), {"cat", "purrs", "the"}).documents
    [['cat', 'purrs']]
    """
    tokenize, stop = tokenizer or Tokenizer(), resolve_stop_words(stop_words)
    found = (
        [token for token in tokenize(text) if token in words and token not in stop]
        for text in corpus.texts
    )
    kept = [(tokens, label) for tokens, label in zip(found, corpus.labels, strict=True) if tokens]
    labels = np.array([label for _, label in kept], dtype=np.str_)
    return LabelledTokens([tokens for tokens, _ in kept], labels)

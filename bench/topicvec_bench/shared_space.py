"""KeyNMF and Top2Vec: words and documents in the one space of a sentence encoder.

Ross Deans Kristensen-McLachlan, Rebecca Hicke, Márton Kardos and Mette Thunø: Context is
Key(NMF): Modelling topical information dynamics in Chinese diaspora media, 2024.
Dimo Angelov: Top2Vec: Distributed representations of topics, 2020.
"""

import contextlib
import io
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from topicvec_bench.base import Floats, TopicWordModel, require
from topicvec_bench.sentences import Texts, encode_texts, umap_settings

__all__ = ["KeyNMF", "Top2Vec"]


class KeyNMF(TopicWordModel):
    """KeyNMF with its defaults, made reproducible, as a transformer.

    The words of a document that are nearest to it make a table, which NMF factors.

    Parameters
    ----------
    n_topics : int
        Number of factors.
    n_keywords : int
        Words of a document that count.
    min_documents : int
        Leave out words that fewer documents have.
    encoder : object with a method ``encode``, optional
        Sentence encoder; all-MiniLM-L6-v2 if not given.
    random_state : int
        Seed.

    Attributes
    ----------
    words_ : tuple of str
        Words that are near to a document.
    topic_word_ : ndarray of shape (n_topics, n_words)
        Weight of each word in each factor.
    model_ : turftopic.KeyNMF
        The fitted model.

    Examples
    --------
    >>> KeyNMF(n_topics=50)
    KeyNMF(n_topics=50)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        n_keywords: int = 25,
        min_documents: int = 10,
        encoder: Any = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.n_keywords = n_keywords
        self.min_documents = min_documents
        self.encoder = encoder
        self.random_state = random_state

    def fit(self, documents: Texts, y: Any = None) -> Self:  # noqa: ARG002
        """Learn factors from documents.

        Parameters
        ----------
        documents : sequence of token lists or str
        y
            Not used.

        Returns
        -------
        KeyNMF
            This object.
        """
        self._check_params(n_keywords=1, min_documents=1)
        with _quiet():
            self.model_ = require("turftopic", "KeyNMF", "peers").KeyNMF(
                self.n_topics,
                encoder=_Encoder(self.encoder),
                vectorizer=CountVectorizer(min_df=self.min_documents, stop_words="english"),
                top_n=self.n_keywords,
                random_state=self.random_state,
            )
            self.model_.fit(_texts(documents), embeddings=encode_texts(documents, self.encoder))
        self.words_ = tuple(map(str, self.model_.get_vocab()))
        self.topic_word_ = np.asarray(self.model_.components_)
        return self

    def transform(self, documents: Texts) -> Floats:
        """Give the weights of the factors.

        Parameters
        ----------
        documents : sequence of token lists or str

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1, or to 0 where no word is known.
        """
        check_is_fitted(self)
        embeddings = encode_texts(documents, self.encoder)
        with _quiet():
            found = self.model_.transform(_texts(documents), embeddings=embeddings)
        return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-12))


class Top2Vec(TopicWordModel):
    """Top2Vec on a sentence encoder with its defaults, made reproducible, as a transformer.

    A topic is the mean of a dense group of documents; its words are those nearest to it.

    Parameters
    ----------
    n_topics : int
        Topics to reduce to; fewer are left if fewer groups are found.
    min_count : int
        Leave out words that are not more frequent.
    encoder : object with a method ``encode``, optional
        Sentence encoder; all-MiniLM-L6-v2 if not given.
    random_state : int
        Seed of UMAP.

    Attributes
    ----------
    words_ : tuple of str
        Words of the training documents.
    topic_word_ : ndarray of shape (n_found, n_words)
        Cosine of each word with each topic.
    topic_vectors_ : ndarray of shape (n_found, n_dims)
        Means of documents, of length 1.
    model_ : top2vec.Top2Vec
        The fitted model.

    Examples
    --------
    >>> Top2Vec(n_topics=50)
    Top2Vec(n_topics=50)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        min_count: int = 50,
        encoder: Any = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.min_count = min_count
        self.encoder = encoder
        self.random_state = random_state

    def fit(self, documents: Texts, y: Any = None) -> Self:  # noqa: ARG002
        """Find dense groups of documents, and join the smallest until there are few enough.

        Parameters
        ----------
        documents : sequence of token lists or str
        y
            Not used.

        Returns
        -------
        Top2Vec
            This object.
        """
        self._check_params(min_count=0)
        with _quiet():
            self.model_ = require("top2vec", "Top2Vec", "peers").Top2Vec(
                _texts(documents),
                min_count=self.min_count,
                embedding_model=partial(encode_texts, encoder=self.encoder),
                tokenizer=None if all(isinstance(each, str) for each in documents) else str.split,
                umap_args=umap_settings(self.random_state),
                verbose=False,
            )
            if self.model_.get_num_topics() > self.n_topics:
                self.model_.hierarchical_topic_reduction(self.n_topics)
        reduced = self.model_.topic_vectors_reduced
        self.topic_vectors_ = self.model_.topic_vectors if reduced is None else reduced
        self.words_ = tuple(map(str, self.model_.vocab))
        self.topic_word_ = self.topic_vectors_ @ self.model_.word_vectors.T
        return self

    def transform(self, documents: Texts) -> Floats:
        """Give the cosines of documents with the topics; the largest is a document's topic.

        Parameters
        ----------
        documents : sequence of token lists or str

        Returns
        -------
        ndarray of shape (n_documents, n_found)
        """
        check_is_fitted(self)
        return np.asarray(encode_texts(documents, self.encoder) @ self.topic_vectors_.T)


class _Encoder:
    """What KeyNMF asks of an encoder."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def encode(self, texts: Sequence[str]) -> Floats:
        return encode_texts(texts, self.given)


def _texts(documents: Texts) -> list[str]:
    return [each if isinstance(each, str) else " ".join(each) for each in documents]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep these packages from the screen, and their warnings among themselves from the user."""
    nowhere = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere):
        warnings.simplefilter("ignore")
        with contextlib.redirect_stderr(nowhere):
            yield

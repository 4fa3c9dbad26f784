"""BERTopic as a compared method: sentence vectors, UMAP, HDBSCAN and class-based TF-IDF.

Maarten Grootendorst: BERTopic: Neural topic modeling with a class-based TF-IDF procedure, 2022.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from topicvec.errors import DataError, require
from topicvec.evaluate.baselines.encoder import Texts, cut_texts, encode_texts
from topicvec.evaluate.baselines.word_topics import WordTopics

__all__ = ["BERTopic"]

Floats = NDArray[np.floating]


class BERTopic(WordTopics):
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
        module = require("bertopic", "peers", "BERTopic")
        umap = require("umap", "peers", "BERTopic")
        reduction = umap.UMAP(
            n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine",
            random_state=self.random_state, n_jobs=1,
        )  # fmt: skip
        return module.BERTopic(
            embedding_model=module.backend.BaseEmbedder(),  # vectors are given
            umap_model=reduction,
            vectorizer_model=CountVectorizer(
                tokenizer=str.split, token_pattern=None, lowercase=False
            ),
            min_topic_size=self.min_topic_size,
            nr_topics=self.n_topics + 1,  # with the outliers
        )


def _joined(documents: Texts) -> list[str]:
    return [" ".join(words) for words in cut_texts(documents)]

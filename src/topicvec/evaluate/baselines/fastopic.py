"""FASTopic as a compared method: optimal transport between documents, topics and words.

Xiaobao Wu, Thong Nguyen, Delvin Zhang, William Wang and Anh Tuan Luu: FASTopic: Pretrained
Transformer is a Fast, Adaptive, Stable, and Transferable Topic Model. NeurIPS 2024.
"""

import contextlib
import io
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from topicvec.errors import require
from topicvec.evaluate.baselines.encoder import Texts, cut_texts, encode_texts
from topicvec.evaluate.baselines.tokens import learn_words, number_tokens
from topicvec.evaluate.baselines.word_topics import ABOVE_ZERO, WordTopics

__all__ = ["FASTopic"]

Floats = NDArray[np.floating]


class FASTopic(WordTopics):
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
        kind = require("fastopic", "peers", "FASTopic").FASTopic
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
        tensor = require("torch", "peers", "FASTopic").from_numpy
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
    torch = require("torch", "peers", "FASTopic")
    before = np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(before)  # noqa: NPY002

"""The embedded topic model ETM of Dieng, Ruiz and Blei (2020).

Adji Dieng, Francisco Ruiz and David Blei: Topic Modeling in Embedding Spaces. Transactions of the
ACL 8, 2020.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec_bench.base import ABOVE_ZERO, Floats, TokenLists, TopicWordModel, require
from topicvec_bench.tokens import learn_words, number_tokens

__all__ = ["ETM"]


class _Network(NamedTuple):
    """Encoder and topics: modules of PyTorch."""

    first: Any  # words -> hidden, summed over a document
    second: Any  # hidden -> hidden
    mean: Any
    log_variance: Any
    topics: Any  # topic vectors, as a layer without bias

    @classmethod
    def of(cls, n_words: int, n_hidden: int, n_topics: int, n_dims: int) -> "_Network":
        nn = _torch().nn
        first = nn.EmbeddingBag(n_words, n_hidden, mode="sum")
        nn.init.normal_(first.weight, std=n_hidden**-0.5)
        second = nn.Linear(n_hidden, n_hidden)
        mean, log_variance = (nn.Linear(n_hidden, n_topics) for _ in range(2))
        return cls(first, second, mean, log_variance, nn.Linear(n_dims, n_topics, bias=False))

    def parameters(self) -> list[Any]:
        return [parameter for module in self for parameter in module.parameters()]

    def encode(self, batch: "_Batch") -> tuple[Any, Any]:
        """Give mean and log-variance of the document's logistic-normal, (D, K) each."""
        shares = batch.counts / batch.lengths[batch.rows]
        hidden = self.first(batch.words, batch.starts, per_sample_weights=shares).relu()
        hidden = self.second(hidden).relu()
        return self.mean(hidden), self.log_variance(hidden)

    def words_of_topics(self, vectors: Any) -> Any:
        """Give the probability of each word in each topic: (W, K), columns sum to 1."""
        return self.topics(vectors).softmax(0)


class _Batch(NamedTuple):
    """Some rows of a count matrix as tensors."""

    words: Any
    counts: Any
    rows: Any
    starts: Any
    lengths: Any

    @classmethod
    def of(cls, counts: csr_array) -> "_Batch":
        tensor = _torch().as_tensor
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        lengths = np.maximum(counts.sum(1), 1).astype(np.float32)
        return cls(
            tensor(counts.indices.astype(np.int64)),
            tensor(counts.data.astype(np.float32)),
            tensor(rows),
            tensor(counts.indptr[:-1].astype(np.int64)),
            tensor(lengths),
        )


class ETM(TopicWordModel):
    """The embedded topic model: topics are vectors, documents are read by a neural network.

    A topic's words have softmax probabilities of the products of its vector with fixed word
    vectors; a document's proportions are logistic-normal, inferred by an encoder with two hidden
    layers; both are trained by stochastic gradients on the evidence lower bound.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    vectors : WordVectors, optional
        Fixed word vectors; those inside the package if not given. Words without one are left out.
    n_hidden : int
        Width of the encoder's layers.
    n_epochs : int
        Passes over the documents.
    batch_size : int
        Documents in a step.
    learning_rate, weight_decay : float
        Of Adam.
    random_state : int
        Seed.

    Attributes
    ----------
    words_ : tuple of str
        Words of the training documents, most frequent first.
    topic_word_ : ndarray of shape (n_topics, n_words)
        Probability of each word in each topic.
    bounds_ : list of float
        Mean evidence lower bound of a document in each epoch.

    Notes
    -----
    Needs PyTorch. The likelihood is summed over the words that a document has, since topics are
    normalised; so no documents × words array is made.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("torch")
    >>> vectors = WordVectors(["cat", "dog", "car", "bus"], [[2, 0], [2, 0], [0, 2], [0, 2]], [1] * 4)
    >>> documents = [["cat", "dog", "cat"] * 5, ["car", "bus", "bus"] * 5] * 20
    >>> model = ETM(n_topics=2, vectors=vectors, n_hidden=8, n_epochs=50, batch_size=10).fit(documents)
    >>> sorted(sorted(words) for words in model.topic_words(2))
    [['bus', 'car'], ['cat', 'dog']]
    """  # noqa: E501

    def __init__(
        self,
        n_topics: int = 100,
        *,
        vectors: WordVectors | None = None,
        n_hidden: int = 800,
        n_epochs: int = 100,
        batch_size: int = 500,
        learning_rate: float = 0.005,
        weight_decay: float = 1.2e-6,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.vectors = vectors
        self.n_hidden = n_hidden
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Any = None) -> Self:  # noqa: ARG002
        """Learn topics and the encoder from documents.

        Parameters
        ----------
        documents : sequence of token lists
        y
            Not used.

        Returns
        -------
        ETM
            This object.
        """
        self._check_params(
            n_hidden=1, n_epochs=1, batch_size=1, learning_rate=ABOVE_ZERO, weight_decay=0.0
        )
        torch = _torch()
        known = load_vectors(self.vectors)
        self.words_ = learn_words(documents, vectors=known)
        matrix = torch.from_numpy(known.subset(self.words_).matrix.copy())
        counts = number_tokens(documents, self._ids()).counts(len(self.words_))
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay as they are
            torch.manual_seed(self.random_state)
            self.network_ = _Network.of(len(matrix), self.n_hidden, self.n_topics, matrix.shape[1])
            self.bounds_ = self._train(counts[np.diff(counts.indptr) > 0], matrix)
        with torch.no_grad():
            self.topic_word_ = self.network_.words_of_topics(matrix).T.numpy()
        return self

    def transform(self, documents: TokenLists) -> Floats:
        """Infer the topic proportions of documents by the encoder.

        Parameters
        ----------
        documents : sequence of token lists

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1.
        """
        check_is_fitted(self)
        counts = number_tokens(documents, self._ids()).counts(len(self.words_))
        with _torch().no_grad():
            mean, _ = self.network_.encode(_Batch.of(counts))
            return np.asarray(mean.softmax(1).numpy())

    def _train(self, counts: csr_array, vectors: Any) -> list[float]:
        rng = np.random.default_rng(self.random_state)
        optimizer = _torch().optim.Adam(
            self.network_.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        bounds = []
        for _ in range(self.n_epochs):
            total = 0.0
            for batch in self._batches(counts, rng):
                loss = -_bound(self.network_, batch, vectors)
                optimizer.zero_grad()
                (loss / len(batch.lengths)).backward()
                optimizer.step()
                total -= float(loss.detach())
            bounds.append(total / counts.shape[0])
        return bounds

    def _batches(self, counts: csr_array, rng: np.random.Generator) -> Iterator[_Batch]:
        order = rng.permutation(counts.shape[0])
        for start in range(0, len(order), self.batch_size):
            yield _Batch.of(counts[order[start : start + self.batch_size]])


def _bound(network: _Network, batch: _Batch, vectors: Any) -> Any:
    """Estimate the evidence lower bound of a batch with one sample of each document."""
    mean, log_variance = network.encode(batch)
    noise = _torch().randn_like(mean)
    theta = (mean + noise * (log_variance / 2).exp()).softmax(1)
    topics = network.words_of_topics(vectors)
    likelihood = (theta[batch.rows] * topics[batch.words]).sum(1).clamp_min(1e-30).log()
    divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum() / 2
    return (batch.counts * likelihood).sum() - divergence


def _torch() -> Any:
    return require("torch", "ETM", "peers")

"""Doc2Vec: a vector for each document that helps to guess its words; by gensim."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError
from topicvec_bench.base import Baseline, TokenLists, checked, require

__all__ = ["Doc2Vec"]


class Doc2Vec(Baseline):
    """Paragraph vectors (distributed memory), inferred for all documents in the same way.

    Parameters
    ----------
    n_dims : int
        Length of the vectors.
    window : int
        Words on each side that take part.
    min_count : int
        Rarer words are left out.
    n_epochs : int
        How often the documents are read, to learn and to infer.
    random_state : int
        Seed.

    Examples
    --------
    >>> model = Doc2Vec(4, min_count=1, n_epochs=2)
    >>> model.fit([["cat", "dog"], ["dog", "car"]]).transform([["cat"]]).shape  # doctest: +SKIP
    (1, 4)
    """

    def __init__(
        self,
        n_dims: int = 400,
        *,
        window: int = 8,
        min_count: int = 5,
        n_epochs: int = 20,
        random_state: int = 0,
    ) -> None:
        self.n_dims = n_dims
        self.window = window
        self.min_count = min_count
        self.n_epochs = n_epochs
        self.random_state = random_state

    def fit(self, documents: TokenLists, y: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Learn vectors of words and training documents."""
        gensim = require("gensim.models.doc2vec", "Doc2Vec")
        tagged = [gensim.TaggedDocument(each, [i]) for i, each in enumerate(checked(documents))]
        model = gensim.Doc2Vec(
            vector_size=self.n_dims,
            window=self.window,
            min_count=self.min_count,
            epochs=self.n_epochs,
            seed=self.random_state,
            workers=1,  # with more, results depend on chance
        )
        model.build_vocab(tagged)
        if not len(model.wv):
            raise DataError(
                f"Doc2Vec needs words that occur min_count={self.min_count} times; found none"
            )
        model.train(tagged, total_examples=len(tagged), epochs=self.n_epochs)
        self.model_ = model
        return self

    def transform(self, documents: TokenLists) -> NDArray[np.float32]:
        """Infer vectors (D, N)."""
        return np.array([self._infer(tokens) for tokens in checked(documents)])

    def _infer(self, tokens: list[str]) -> NDArray[np.float32]:
        # gensim's own infer_vector starts from Python's hash of the text, which no seed governs
        gensim = require("gensim.models.doc2vec", "Doc2Vec")
        model: Any = self.model_
        model.random.seed(self.random_state)
        rng = np.random.default_rng(self.random_state)
        start = (rng.random((1, self.n_dims), np.float32) - 0.5) / self.n_dims
        work, middle = np.zeros((2, self.n_dims), np.float32)
        for alpha in np.linspace(model.alpha, model.min_alpha, self.n_epochs):
            gensim.train_document_dm(
                model, tokens, [0], alpha, work, middle,
                learn_words=False, learn_hidden=False,
                doctag_vectors=start, doctags_lockf=np.ones(1, np.float32),
            )  # fmt: skip
        vector: NDArray[np.float32] = start[0]
        return vector

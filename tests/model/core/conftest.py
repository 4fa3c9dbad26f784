"""A small made-up world: clustered word vectors and documents from planted topics."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from oracles import word_probabilities
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.engine import LocalEngine
from topicvec.model.equations import residuals
from topicvec.model.fit import plan_corpus
from topicvec.model.state import Corpus, Lexicon


@dataclass(frozen=True)
class World:
    V: np.ndarray
    u: np.ndarray
    T: np.ndarray
    counts: csr_array

    def corpus(self, n_topics, allowed=None, dtype=np.float64):
        return Corpus.of(self.counts, n_topics, allowed, dtype)

    def lexicon(self, corpus, dtype=np.float64, n_normalizer_words=None):
        return Lexicon.of(self.V.astype(dtype), self.u, corpus.types, n_normalizer_words)

    def start(self, corpus, solver, n_topics=6, dtype=np.float64, given="spread", seed=0):
        """The state from which the estimator would start, in any precision."""
        vectors = WordVectors([f"w{row}" for row in range(len(self.V))], self.V, self.u)
        rng = np.random.default_rng(seed)
        plan = plan_corpus(vectors, self.counts, n_topics, 0.1, given, vars(solver), rng)
        return replace(plan.first(corpus), topics=plan.topics.astype(dtype))


def make_world(n_clusters=5, words_each=60, size=12, n_documents=80, length=60, seed=0, sharp=4.0):
    rng = np.random.default_rng(seed)
    centres = np.linalg.qr(rng.normal(size=(size, n_clusters)))[0].T
    V = np.repeat(1.5 * centres, words_each, axis=0)
    V = V + rng.normal(size=V.shape) / 5
    V = np.vstack([V, rng.normal(size=(100, size)) / 4])  # words of no topic
    u = 1 / (1 + rng.permutation(len(V)))
    u /= u.sum()
    T = np.vstack([np.zeros(size), sharp * centres])
    P = word_probabilities(V, u, T, residuals(V, u, T))
    phi = rng.dirichlet(np.full(len(T), 0.2), size=n_documents)
    counts = np.array([rng.multinomial(length, P @ row / (P @ row).sum()) for row in phi])
    return World(V, u, T, csr_array(counts))


@pytest.fixture(scope="session")
def world():
    return make_world()


@pytest.fixture(scope="session")
def engine():
    return LocalEngine(1)

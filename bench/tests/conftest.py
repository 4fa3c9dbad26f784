import contextlib
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from topicvec.embed import WordVectors
from topicvec_bench.corpora import LabelledTokens

# some compiled packages do not survive an import where warnings are errors
with warnings.catch_warnings(), contextlib.suppress(ImportError):
    warnings.simplefilter("ignore")
    import gensim.models.doc2vec  # noqa: F401
    import tomotopy  # noqa: F401

N_CLASSES, N_WORDS = 4, 10


@dataclass(frozen=True)
class Planted:
    """Documents of four classes; each class has its words, which are neighbours."""

    vectors: WordVectors
    train: LabelledTokens
    test: LabelledTokens


def documents(rng, words, n_documents):
    classes = np.arange(n_documents) % N_CLASSES
    found = []
    for each in classes:
        own = each * N_WORDS + rng.integers(0, N_WORDS, 20)
        found.append([words[row] for row in [*own, *rng.integers(0, len(words), 8)]])
    return LabelledTokens(found, np.array([f"class {each}" for each in classes]))


@pytest.fixture(scope="session")
def planted():
    rng = np.random.default_rng(0)
    words = [f"{'abcdz'[block]}{'abcdefghij'[i]}" for block in range(5) for i in range(N_WORDS)]
    centres = np.repeat(2.0 * np.eye(N_CLASSES + 1, 6), N_WORDS, axis=0)
    vectors = WordVectors(words, centres + rng.normal(0, 0.3, centres.shape), np.ones(len(words)))
    return Planted(vectors, documents(rng, words, 80), documents(rng, words, 40))

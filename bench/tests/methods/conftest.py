from typing import NamedTuple

import numpy as np
import pytest

from topicvec.embed import WordVectors

N_GROUPS, N_WORDS = 3, 12


class Planted(NamedTuple):
    """Documents of three groups of words, and vectors in which the groups lie apart."""

    documents: list
    labels: list
    new_documents: list
    new_labels: list
    vectors: WordVectors

    def group(self, word):
        return int(word[1])


def make_documents(rng, n_documents, length=25, noise=0.1):
    labels = [number % N_GROUPS for number in range(n_documents)]
    documents = [
        [
            f"g{rng.integers(N_GROUPS) if rng.random() < noise else label}w{rng.integers(N_WORDS)}"
            for _ in range(length)
        ]
        for label in labels
    ]
    return documents, labels


@pytest.fixture(scope="session")
def planted():
    rng = np.random.default_rng(0)
    words = [f"g{group}w{number}" for group in range(N_GROUPS) for number in range(N_WORDS)]
    centres = np.repeat(2 * np.eye(N_GROUPS, 8), N_WORDS, axis=0)
    matrix = centres + rng.normal(scale=0.4, size=centres.shape)
    vectors = WordVectors([*words, "g0new"], np.vstack([matrix, 2 * np.eye(8)[0]]), np.ones(37))
    return Planted(*make_documents(rng, 60), *make_documents(rng, 15), vectors)

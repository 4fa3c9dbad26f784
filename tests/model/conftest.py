"""Vectors in blocks and documents that each use one block: topics to be found again."""

import sys
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase as LETTERS  # noqa: N812

import numpy as np
import pytest
from numpy.typing import NDArray

from topicvec.embed.vectors import WordVectors

sys.path.insert(0, str(Path(__file__).parent))  # so that tests can import oracles

N_BLOCKS = 4
N_WORDS = 15  # of a block
N_DIMS = 12


@dataclass(frozen=True)
class Planted:
    """A corpus whose topics are known."""

    vectors: WordVectors
    documents: list[list[str]]
    blocks: NDArray[np.intp]  # of each document

    @property
    def classes(self) -> list[str]:
        return [f"class {block}" for block in self.blocks]

    @property
    def texts(self) -> list[str]:
        return [" ".join(tokens) for tokens in self.documents]

    def block_of(self, word: str) -> int:
        return LETTERS.index(word[0])


def plant(n_documents: int = 60, n_tokens: int = 40, seed: int = 0) -> Planted:
    rng = np.random.default_rng(seed)
    names = [f"{block}{word}" for block in LETTERS[:N_BLOCKS] for word in LETTERS[:N_WORDS]]
    names += [f"z{one}{two}" for one in LETTERS[:4] for two in LETTERS[:N_WORDS]]  # of no block
    words = [f"{name}xy" for name in names]
    centres = np.zeros((len(words), N_DIMS))
    centres[: N_BLOCKS * N_WORDS] = np.repeat(2.5 * np.eye(N_BLOCKS, N_DIMS), N_WORDS, axis=0)
    matrix = centres + rng.normal(0, 0.3, centres.shape)
    vectors = WordVectors(words, matrix, rng.uniform(1, 3, len(words)))
    blocks = np.arange(n_documents) % N_BLOCKS
    documents = []
    for block in blocks:
        own = block * N_WORDS + rng.integers(0, N_WORDS, n_tokens)
        other = rng.integers(0, len(words), n_tokens // 10)
        documents.append([words[row] for row in np.concatenate([own, other])])
    return Planted(vectors, documents, blocks)


@pytest.fixture(scope="session")
def planted() -> Planted:
    return plant()

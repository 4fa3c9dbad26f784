"""Vectors guessed from how a word is spelled: groups of letters regressed onto the vectors.

A small table says what each group of three to six letters tells of a word's vector. It is made
by ``scripts/default_vectors.py`` together with the embedded vectors, and lies beside them.
"""

import importlib.resources
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from topicvec.engine import one_blas_thread
from topicvec.errors import DataError, FormatError
from topicvec.stored import write_tensors

__all__ = ["SpellingTable", "letter_groups", "spelled"]

SHORTEST, LONGEST = 3, 6  # letters of a group, with the marks of the word's ends
LAYOUT = "topicvec-spelling"


def letter_groups(word: str) -> list[int]:
    """Number the groups of three to six letters of a word, its ends being letters too.

    Parameters
    ----------
    word : str

    Returns
    -------
    list of int
        CRC-32 of each group in UTF-8, the same in every process and on every machine.

    Examples
    --------
    >>> [len(letter_groups(word)) for word in ("at", "cat", "cats")]
    [3, 6, 10]
    >>> sorted(set(letter_groups("cat")) & set(letter_groups("cats"))) == sorted(
    ...     crc32(group) for group in (b"<ca", b"cat", b"<cat"))
    True
    """
    marked = f"<{word}>"
    ends = range(SHORTEST, min(LONGEST, len(marked)) + 1)
    return [
        crc32(marked[start : start + n].encode())
        for n in ends
        for start in range(len(marked) - n + 1)
    ]


class SpellingTable(NamedTuple):
    """What groups of letters tell of a vector.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,), uint32
        Numbers of the groups, rising.
    codes : ndarray of shape (n_groups, n_directions), int8
        Of each group, in steps of its direction.
    directions : ndarray of shape (n_directions, n_dims), float32
        Where the steps lead in the space of the vectors.
    mean : ndarray of shape (n_dims,), float32
        The vector of a word of which nothing is known.
    length : ndarray of shape (), float32
        Of the vectors of rare words.

    Examples
    --------
    >>> groups = np.sort(np.array(letter_groups("cat"), np.uint32))
    >>> table = SpellingTable(groups, np.ones((6, 1), np.int8), np.ones((1, 2), np.float32),
    ...                       np.zeros(2, np.float32), np.float32(1))
    >>> table.estimate(["cat", "dog"]).round(2)
    array([[2.45, 2.45],
           [0.  , 0.  ]], dtype=float32)
    """

    groups: NDArray[np.uint32]
    codes: NDArray[np.int8]
    directions: NDArray[np.float32]
    mean: NDArray[np.float32]
    length: NDArray[np.float32]

    @property
    def name(self) -> str:
        """A check sum, by which vectors name the table that fits them."""
        return f"{crc32(np.ascontiguousarray(self.codes).data):08x}"

    def estimate(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Estimate vectors; the less the letters tell, the nearer to the mean."""
        sums = np.zeros((len(words), self.codes.shape[1]), np.float32)
        for row, word in enumerate(words):
            found = np.array(letter_groups(word), np.uint32)
            places = np.minimum(np.searchsorted(self.groups, found), len(self.groups) - 1)
            known = places[self.groups[places] == found]
            # A group that is not there counts too: of an odd word little is known.
            sums[row] = self.codes[known].sum(0, dtype=np.float32) / np.sqrt(max(len(found), 1))
        with one_blas_thread():
            estimates: NDArray[np.float32] = sums @ self.directions + self.mean
        return estimates

    def save(self, path: Path, **metadata: str) -> None:
        """Write the table as safetensors; the same table always gives the same bytes."""
        write_tensors(path, self._asdict(), {"format": LAYOUT} | metadata)


def spelled(words: Sequence[str]) -> NDArray[np.float32]:
    """Guess vectors in the space of the embedded ones from the spelling of words alone.

    Parameters
    ----------
    words : sequence of str
        In lower case, as the tokenizer gives them.

    Returns
    -------
    ndarray of shape (n_words, n_dims), float32
        As long as the vectors of rare words.

    Examples
    --------
    >>> from topicvec import load_vectors
    >>> near = load_vectors().nearest(spelled(["grumbleshire"])[0], 3)
    >>> all(word.endswith("shire") for word, _ in near)
    True
    """
    if isinstance(words, str):
        raise DataError(f"spelled expects a list of words, found one text {words!r}: put it in []")
    table = spelling_table()
    vectors = table.estimate(words)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors * (table.length / np.maximum(lengths, 1e-6)), np.float32)


@cache  # nobody writes into it
def spelling_table() -> SpellingTable:
    """Load the table that lies beside the embedded vectors."""
    resource = importlib.resources.files("topicvec.embed") / "data" / "spelling.safetensors"
    if not resource.is_file():
        raise FormatError(
            "this installation of topicvec lacks its table of spelling (embed/data/"
            "spelling.safetensors): reinstall it"
        )
    with importlib.resources.as_file(resource) as path, safe_open(path, "numpy") as file:
        return SpellingTable(*(file.get_tensor(name) for name in SpellingTable._fields))

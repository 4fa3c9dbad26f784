"""How much words tell of what a text is about, from how they are spread over Wikipedia.

Some words stand in as many texts as chance would have it ("make", "early", "announced"), others
keep to a few and come back there ("church", "reservoir"). The residual inverse document frequency
(Church and Gale, 1995) says how far a word is from chance:

    log(documents that as many tokens would reach by chance / documents that have the word).

A table of it for the words of the embedded vectors lies beside them, made by
``scripts/telling_words.py``. Of words that are rare in Wikipedia little is known, so they are
drawn towards what is typical; a word that is not there at all is taken for a telling one.
"""

import importlib.resources
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.errors import FormatError
from topicvec.stored import write_tensors

__all__ = ["FILLER", "is_filler", "residual_idf", "write_telling"]

Floats = NDArray[np.float64]

FILLER = 0.35  # words below it tell nothing: "make" .11, "year" .18, "town" .53, "church" .98
TYPICAL = 0.6  # of words that tell something
CERTAIN = 100  # tokens in Wikipedia, after which a word's own figure has half its say
STEP = 0.01  # of the codes
LAYOUT = "topicvec-telling"
_ENGLISH = 0.5  # of the words are English ones
_FILE = "telling.safetensors"


def residual_idf(tokens: Floats, documents: Floats, lengths: Floats) -> Floats:
    """Say how far words are from being spread by chance.

    Parameters
    ----------
    tokens, documents : arrays, (W,)
        How often each word occurs, and in how many documents.
    lengths : array, (D,)
        Tokens of each document.

    Returns
    -------
    array, (W,)
        About 0 by chance, larger for words that keep to few documents.

    Examples
    --------
    >>> lengths = np.full(100, 50.0)
    >>> residual_idf(np.array([60.0, 60.0]), np.array([45.0, 10.0]), lengths).round(1)
    array([0. , 1.5])
    """
    shares, weights = np.unique(np.round(lengths / lengths.sum(), 7), return_counts=True)
    reached = np.array([weights @ -np.expm1(-count * shares) for count in tokens])
    found: Floats = np.log(np.maximum(reached, 1e-9) / np.maximum(documents, 1))
    return found


def is_filler(vectors: WordVectors) -> NDArray[np.bool_]:
    """Tell which words say nothing of what a text is about.

    Parameters
    ----------
    vectors : WordVectors
        Any vectors; words are known by their spelling, if half of all are English ones.

    Returns
    -------
    array of bool, (W,)

    Examples
    --------
    >>> is_filler(WordVectors(["early", "church", "shkreli"], np.eye(3), [1, 1, 1])).tolist()
    [True, False, False]
    """
    general, filler = load_vectors(), _filler()
    found = np.zeros(len(vectors), bool)
    if vectors.words[: len(general)] == general.words:
        found[: len(general)] = filler
        return found
    rows = np.array([general.ids.get(word, -1) for word in vectors.words])
    known = rows >= 0
    if known.mean() >= _ENGLISH:  # in other languages some words only look English
        found[known] = filler[rows[known]]
    return found


def write_telling(path: Path, values: Floats, metadata: dict[str, str]) -> None:
    """Write the table of the embedded vectors' words, in steps of a hundredth."""
    codes = np.clip(np.rint(values / STEP), 0, 255).astype(np.uint8)
    write_tensors(path, {"codes": codes}, {**metadata, "format": LAYOUT})


@cache
def _filler() -> NDArray[np.bool_]:
    resource = importlib.resources.files("topicvec.embed") / "data" / _FILE
    with (
        importlib.resources.as_file(resource) as path,
        safe_open(path, framework="numpy") as file,
    ):
        codes = file.get_tensor("codes")
    if codes.shape != (len(load_vectors()),):
        raise FormatError(f"embed/data/{_FILE} is not of the embedded vectors: reinstall topicvec")
    filler: NDArray[np.bool_] = codes < round(FILLER / STEP)
    return filler

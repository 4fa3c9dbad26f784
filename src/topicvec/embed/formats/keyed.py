"""Vectors from and to gensim's KeyedVectors; gensim is only needed when used."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.formats.parsed import ParsedVectors
from topicvec.errors import FormatError, require
from topicvec.files import open_write

__all__ = ["from_keyed", "read_keyed", "to_keyed", "write_keyed"]

# Probabilities become whole counts as of a corpus of so many tokens.
N_TOKENS = 10**12


def read_keyed(path: Path) -> ParsedVectors:
    """Read a file that gensim saved: KeyedVectors, or a model that has them.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ParsedVectors

    Notes
    -----
    gensim's files are pickles, which can run any code when opened: open only those you trust.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.kv")
    >>> parsed = ParsedVectors(("cat",), np.ones((1, 2), np.float32), np.ones(1))
    >>> write_keyed(path, parsed)  # doctest: +SKIP
    >>> read_keyed(path).words  # doctest: +SKIP
    ('cat',)
    """
    models = require("gensim.models", "bench", f"reading {path}")
    try:
        loaded = models.KeyedVectors.load(str(path))
    except Exception as error:  # a damaged pickle can raise anything
        raise FormatError(f"{path}: gensim cannot read it ({error}): save it again") from error
    return from_keyed(getattr(loaded, "wv", loaded))


def from_keyed(keyed: Any) -> ParsedVectors:
    """Take words, numbers and, where they are true ones, counts from KeyedVectors.

    Parameters
    ----------
    keyed : gensim.models.KeyedVectors

    Returns
    -------
    ParsedVectors

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> keyed = SimpleNamespace(index_to_key=["cat", "dog"], vectors=np.eye(2), expandos={})
    >>> from_keyed(keyed).words
    ('cat', 'dog')
    """
    if not (hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors")):
        raise FormatError(f"expected gensim KeyedVectors, found {type(keyed).__name__}")
    words = tuple(keyed.index_to_key)
    matrix = np.asarray(keyed.vectors, dtype=np.float32)[: len(words)]
    return ParsedVectors(words, matrix, _true_counts(keyed, words))


def to_keyed(vectors: ParsedVectors) -> Any:
    """Make KeyedVectors; probabilities become whole counts.

    Parameters
    ----------
    vectors : ParsedVectors
        With counts or probabilities.

    Returns
    -------
    gensim.models.KeyedVectors

    Examples
    --------
    >>> parsed = ParsedVectors(("cat", "dog"), np.eye(2, dtype=np.float32), np.array([3.0, 1.0]))
    >>> to_keyed(parsed).most_similar("cat")  # doctest: +SKIP
    [('dog', 0.0)]
    """
    models = require("gensim.models", "bench", "making gensim vectors")
    keyed = models.KeyedVectors(vectors.matrix.shape[1], dtype=np.float32)
    keyed.add_vectors(list(vectors.words), np.array(vectors.matrix))
    weights = np.asarray(vectors.counts, dtype=np.float64)
    counts = np.maximum(np.rint(weights / weights.sum() * N_TOKENS), 1).astype(np.int64)
    for word, count in zip(vectors.words, counts, strict=True):
        keyed.set_vecattr(word, "count", count)
    return keyed


def write_keyed(path: Path, vectors: ParsedVectors) -> None:
    """Write one file that gensim's ``KeyedVectors.load`` opens.

    Parameters
    ----------
    path : Path
    vectors : ParsedVectors

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "tiny.kv")
    >>> parsed = ParsedVectors(("cat",), np.ones((1, 2), np.float32), np.ones(1))
    >>> write_keyed(path, parsed)  # doctest: +SKIP
    """
    keyed = to_keyed(vectors)
    with open_write(path) as file:
        keyed.save(file)


def _true_counts(keyed: Any, words: tuple[str, ...]) -> NDArray[np.float64] | None:
    if "count" not in keyed.expandos:
        return None
    counts = np.array([keyed.get_vecattr(word, "count") for word in words], dtype=np.float64)
    # Where a file had none, gensim makes up n, n − 1, …, 1.
    made_up = np.array_equal(counts, np.arange(len(words), 0, -1))
    return None if made_up or not counts.any() else counts

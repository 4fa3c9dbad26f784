"""One way to get word vectors, whatever they are kept in."""

import importlib.resources
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from topicvec.embed.formats import ParsedVectors, check_reading, read_vectors
from topicvec.embed.formats.frequencies import Corpus, Frequencies, count_words
from topicvec.embed.formats.keyed import from_keyed
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, FormatError

__all__ = ["from_gensim", "load_vectors"]


def load_vectors(
    source: str | PathLike[str] | WordVectors | None = None,
    *,
    format: str | None = None,
    frequencies: Frequencies | None = None,
    corpus: Corpus | None = None,
    encoding: str = "utf-8",
    max_words: int | None = None,
    mmap: bool = False,
) -> WordVectors:
    r"""Load word vectors from a file, or without argument the ones inside the package.

    Parameters
    ----------
    source : path, "default" or WordVectors, optional
        A file of word2vec (text or binary), GloVe, fastText (.vec), gensim (.kv, .model) or our
        own safetensors layout; its format is told from its content. Text and word2vec's binary
        files may be compressed (.gz, .xz, .bz2). Vectors that are loaded already come back as
        they are.
    format : str, optional
        One of "safetensors", "word2vec", "word2vec-binary", "fasttext", "glove", "gensim",
        if the content misleads.
    frequencies : mapping or path, optional
        Counts of the words, or a file with a word and its count on each line. They replace
        counts in the vector file. Words not there get half of the smallest count, with a
        warning.
    corpus : iterable of lists of tokens, or Vocabulary, optional
        Where to count the words instead.
    encoding : str
        Of the words in text and word2vec's binary files.
    max_words : int, optional
        Only the first so many, the most frequent in most files.
    mmap : bool
        Leave the matrix on disk as a read-only memory map; for float32 safetensors. Its numbers
        are then not checked.

    Returns
    -------
    WordVectors

    Warns
    -----
    ZipfWarning
        Neither the file nor the caller gave frequencies: they are guessed by Zipf's law.

    Notes
    -----
    gensim's files are pickles, which can run any code when opened: open only those you trust.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.txt")
    >>> _ = path.write_text("cat 1 0\ndog 0 1\n")
    >>> vectors = load_vectors(path, frequencies={"cat": 3, "dog": 1})
    >>> vectors.words, vectors.unigram.tolist()
    (('cat', 'dog'), [0.75, 0.25])
    """
    check_reading(encoding, max_words)
    if source is None or source == "default":
        source = _default()
    if isinstance(source, WordVectors):
        if frequencies is None and corpus is None and max_words is None:
            return source
        chosen = source if max_words is None else source.subset(source.words[:max_words])
        parsed = ParsedVectors(chosen.words, chosen.matrix, chosen.unigram, chosen.metadata)
    else:
        parsed = read_vectors(
            Path(source), format, encoding=encoding, max_words=max_words, mmap=mmap
        )
    origin = None if isinstance(source, WordVectors) else str(source)
    return _with_unigram(parsed, frequencies, corpus, origin)


def from_gensim(
    keyed: Any, *, frequencies: Frequencies | None = None, corpus: Corpus | None = None
) -> WordVectors:
    """Take over gensim's KeyedVectors, with their counts if they are true ones.

    Parameters
    ----------
    keyed : gensim.models.KeyedVectors
    frequencies, corpus : optional
        As for :func:`load_vectors`.

    Returns
    -------
    WordVectors

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> keyed = SimpleNamespace(index_to_key=["cat", "dog"], vectors=[[1, 0], [0, 1]], expandos={})
    >>> from_gensim(keyed, frequencies={"cat": 3, "dog": 1}).words
    ('cat', 'dog')
    """
    return _with_unigram(from_keyed(keyed), frequencies, corpus, None)


@cache  # they are read-only, so everybody can have the same
def _default() -> WordVectors:
    resource = importlib.resources.files("topicvec.embed") / "data" / "default.safetensors"
    if not resource.is_file():
        raise FormatError(
            "this installation of topicvec lacks its default vectors (embed/data/"
            "default.safetensors): reinstall it, or give load_vectors the path of a vector file"
        )
    with importlib.resources.as_file(resource) as path:
        parsed = read_vectors(path, "safetensors")
        return _with_unigram(parsed, None, None, "default vectors")


def _with_unigram(
    parsed: ParsedVectors,
    frequencies: Frequencies | None,
    corpus: Corpus | None,
    origin: str | None,
) -> WordVectors:
    """Make the record; what it refuses in a file is the fault of that file, `origin`."""
    counts = parsed.counts
    if counts is None or frequencies is not None or corpus is not None:
        counts = count_words(parsed.words, frequencies, corpus)
    try:
        return WordVectors(parsed.words, parsed.matrix, counts, parsed.metadata)
    except DataError as error:
        if origin is None:
            raise
        raise FormatError(f"{origin}: {error}") from error

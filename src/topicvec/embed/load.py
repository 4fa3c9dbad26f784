"""One way to get word vectors, whatever they are kept in, and how often each word occurs.

Frequencies come with the vectors, from a file, a mapping or a corpus, or by Zipf's law.
"""

import importlib.resources
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.formats import ParsedVectors, check_reading, read_vectors
from topicvec.embed.formats.binary import from_keyed
from topicvec.embed.formats.tensors import read_own
from topicvec.embed.formats.text import decoded, is_number, limited_rows
from topicvec.embed.vectors import CountedWords, WordVectors
from topicvec.errors import DataError, FormatError, OutOfVocabularyWarning, warn
from topicvec.files import open_read

__all__ = ["ZipfWarning", "from_gensim", "load_vectors"]

Frequencies = Mapping[str, float] | str | PathLike[str]
Corpus = CountedWords | Iterable[Sequence[str]]


def load_vectors(
    source: str | PathLike[str] | WordVectors | Mapping[str, Any] | Any | None = None,
    *,
    format: str | None = None,
    frequencies: Frequencies | None = None,
    corpus: Corpus | None = None,
    encoding: str = "utf-8",
    max_words: int | None = None,
    mmap: bool = False,
    trust_pickle: bool = False,
) -> WordVectors:
    r"""Load word vectors from a file, or without argument the ones inside the package.

    Parameters
    ----------
    source : path, "general", "default", WordVectors, KeyedVectors, spaCy or mapping, optional
        A file of word2vec (text or binary), GloVe, fastText (.vec), gensim (.kv, .model) or our
        own safetensors layout; its format is told from its content. Text and word2vec's binary
        files may be compressed (.gz, .xz, .bz2). Vectors that are loaded already come back as
        they are. Or what other libraries hold in memory: gensim's KeyedVectors or a model that
        has them, a pipeline or vocabulary of spaCy, a mapping of words to vectors.
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
        Leave the matrix on disk as a read-only memory map; for float32 safetensors. It is read
        through once, to check its numbers.
    trust_pickle : bool
        Open gensim's files (.kv, .model), which are pickles and can run any code when opened: only
        for those of people you trust. Without it they are refused, whatever they are called.

    Returns
    -------
    WordVectors

    Warns
    -----
    ZipfWarning
        Neither the file nor the caller gave frequencies: they are guessed by Zipf's law.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.txt")
    >>> _ = path.write_text("cat 1 0\ndog 0 1\n")
    >>> vectors = load_vectors(path, frequencies={"cat": 3, "dog": 1})
    >>> vectors.words, vectors.unigram.tolist()
    (('cat', 'dog'), [0.75, 0.25])
    """
    if source is None or (isinstance(source, str) and source in ("default", "general")):
        source = _default()
    if not isinstance(source, WordVectors | str | PathLike):
        return _with_unigram(_held(source), frequencies, corpus, None)
    if isinstance(source, WordVectors):
        if frequencies is None and corpus is None and max_words is None:
            return source
        check_reading(encoding, max_words)
        chosen = source if max_words is None else source.subset(source.words[:max_words])
        parsed = ParsedVectors(chosen.words, chosen.matrix, chosen.unigram, chosen.metadata)
    else:
        parsed = read_vectors(
            Path(source), format, encoding=encoding, max_words=max_words, mmap=mmap,
            trust_pickle=trust_pickle,
        )  # fmt: skip
    origin = None if isinstance(source, WordVectors) else str(source)
    return _with_unigram(parsed, frequencies, corpus, origin)


def _held(source: Any) -> ParsedVectors:
    """Take vectors over that another library holds in memory."""
    if isinstance(source, Mapping):
        return _of_mapping(source)
    keyed, vocabulary = getattr(source, "wv", source), getattr(source, "vocab", source)
    if hasattr(keyed, "index_to_key"):
        return from_keyed(keyed)
    if hasattr(vocabulary, "vectors") and hasattr(vocabulary, "strings"):
        return _of_spacy(vocabulary)
    raise DataError(
        "vectors must be a path, WordVectors, gensim's KeyedVectors, a pipeline of spaCy or a "
        f"mapping of words to vectors; found {type(source).__name__}"
    )


def _of_mapping(source: Mapping[str, Any]) -> ParsedVectors:
    rows = [np.asarray(row, np.float32) for row in source.values()]
    shapes = {row.shape for row in rows}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        found = ", ".join(map(str, sorted(shapes))) or "no word"
        raise DataError(f"a mapping must have vectors of one length; found shapes {found}")
    return ParsedVectors(tuple(source), np.stack(rows))


def _of_spacy(vocabulary: Any) -> ParsedVectors:
    rows = {vocabulary.strings[key]: row for key, row in vocabulary.vectors.key2row.items()}
    if not rows:
        raise DataError(
            "this pipeline of spaCy has no word vectors: load one that has, such as en_core_web_md"
        )
    matrix = np.asarray(vocabulary.vectors.data, np.float32)[list(rows.values())]
    return ParsedVectors(tuple(rows), matrix)


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
        return WordVectors(*read_own(path))  # type: ignore[arg-type]  # they have frequencies


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


class ZipfWarning(UserWarning):
    """Word probabilities were guessed from the order of the words.

    Examples
    --------
    >>> issubclass(ZipfWarning, UserWarning)
    True
    """


def zipf_counts(n_words: int) -> NDArray[np.float64]:
    """Guess frequencies from rank: the word of rank r occurs in proportion to 1 / r.

    Parameters
    ----------
    n_words : int
        In order of frequency.

    Returns
    -------
    ndarray of shape (n_words,), float64

    Examples
    --------
    >>> zipf_counts(4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    """
    return 1.0 / np.arange(1, n_words + 1)


def count_words(
    words: Sequence[str], frequencies: Frequencies | None, corpus: Corpus | None
) -> NDArray[np.float64]:
    """Return a positive count for each word from what the user gave, else by Zipf's law.

    Words that the source does not have get half of the smallest count found, with a warning.

    Parameters
    ----------
    words : sequence of str
    frequencies : mapping or path, optional
        Word to count, or a file of such lines, see :func:`read_frequencies`.
    corpus : iterable of lists of tokens, or Vocabulary, optional

    Returns
    -------
    ndarray of shape (n_words,), float64

    Examples
    --------
    >>> count_words(["cat", "dog"], None, [["dog", "cat"], ["cat"]])
    array([2., 1.])
    """
    if frequencies is not None and corpus is not None:
        raise DataError("frequencies= and corpus= exclude each other: give one of them")
    if frequencies is not None:
        if not isinstance(frequencies, Mapping):
            frequencies = read_frequencies(Path(frequencies))
        return _look_up(words, frequencies, "frequencies=")
    if corpus is not None:
        return _look_up(words, _count_corpus(corpus), "corpus=")
    warn(
        "these vectors come without word frequencies: probabilities follow Zipf's law by rank, "
        "which is only right if the words are in order of frequency. Give frequencies= (a file "
        "of words and counts) or corpus= (lists of tokens) to load_vectors",
        ZipfWarning,
    )
    return zipf_counts(len(words))


def read_frequencies(path: Path, encoding: str = "utf-8") -> dict[str, float]:
    r"""Read a file of words and counts, one a line, with a tab or spaces between them.

    Parameters
    ----------
    path : Path
        Plain or compressed.
    encoding : str

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "counts.txt")
    >>> _ = path.write_text("cat\t12\nice cream 3\n")
    >>> read_frequencies(path)
    {'cat': 12.0, 'ice cream': 3.0}
    """
    table: dict[str, float] = {}
    with open_read(path) as file:
        for number, line in enumerate(limited_rows(path, file), 1):
            fields = line.rsplit(None, 1)
            if not fields:
                continue
            if len(fields) != 2 or not is_number(fields[1]):
                raise FormatError(f"{path}, line {number}: expected word and count, found {line!r}")
            advice = "convert the file to UTF-8, or give a mapping"
            word = decoded(path, f"line {number}", fields[0], encoding, advice)
            if word in table:
                raise FormatError(f"{path}, line {number}: the word {word!r} stands there twice")
            table[word] = float(fields[1])
    return table


def _count_corpus(corpus: Corpus) -> Mapping[str, float]:
    if isinstance(corpus, CountedWords):
        return dict(zip(corpus.words, np.asarray(corpus.counts).tolist(), strict=True))
    counts: Counter[str] = Counter()
    for tokens in corpus:
        if isinstance(tokens, str):
            raise DataError(
                f"corpus= expects lists of tokens, found a text ({tokens[:40]!r}): tokenize it"
            )
        counts.update(tokens)
    return counts


def _look_up(words: Sequence[str], table: Mapping[str, float], source: str) -> NDArray[np.float64]:
    counts = np.array([table.get(word, 0) for word in words], dtype=np.float64)
    if not np.isfinite(counts).all() or (counts < 0).any():
        wrong = words[int(np.argmin(np.isfinite(counts) & (counts >= 0)))]
        raise DataError(
            f"{source}: expected a count of 0 or more, found {table[wrong]} for {wrong!r}"
        )
    missing = np.flatnonzero(counts == 0)
    if len(missing) == len(words):
        raise DataError(
            f"{source}: none of the {len(words)} words of the vectors is there: check letter case "
            "and language"
        )
    if len(missing):
        floor = counts[counts > 0].min() / 2
        counts[missing] = floor
        examples = ", ".join(repr(words[i]) for i in missing[:3])
        warn(
            f"{source}: {len(missing)} of {len(words)} words are not there ({examples}, …): each "
            f"counts {floor:g}, half of the smallest count found",
            OutOfVocabularyWarning,
        )
    return counts

"""Count in how many windows of a corpus words occur, alone and in pairs.

All coherence measures need these counts and nothing else, so they are made once, for the words
of all topics of all models to be compared, in one pass over the documents.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, islice, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.encode import Chunk, Tokenize, cut_chunks
from topicvec.embed.kernels import compiled
from topicvec.engine import Engine, LocalEngine, resolve_engine
from topicvec.errors import DataError
from topicvec.text.phrases import Phrases
from topicvec.text.tokenizer import Tokenizer

__all__ = ["WINDOWS", "Window", "WindowCounts", "WordStatistics", "count_windows"]

Array = NDArray[Any]
Ints = NDArray[np.int64]
Window = int | None  # tokens; None for whole documents

WINDOWS: tuple[Window, ...] = (10, 110, None)  # of NPMI, C_V and U_Mass


class WindowCounts(NamedTuple):
    """Counts for windows of one size.

    Attributes
    ----------
    n_windows : int
        Number of windows.
    singles : array, (U,)
        In how many of them each word occurs.
    pairs : csr_array, (U, U)
        In how many of them two words i < j occur together; entries only for pairs asked for.

    Examples
    --------
    >>> WindowCounts(9, np.array([3, 4]), csr_array([[0, 2], [0, 0]])).n_windows
    9
    """

    n_windows: int
    singles: Ints
    pairs: csr_array


@dataclass(frozen=True, eq=False)
class WordStatistics:
    """How often the words of topics occur together in a corpus.

    Parameters
    ----------
    ids : mapping of str to int
        Row of each word.
    windows : mapping of int or None to WindowCounts
        Counts for each window size; None stands for whole documents.

    Examples
    --------
    >>> statistics = count_windows([["cat", "dog", "cow"]], [["cat", "cow", "yak"]], windows=[2])
    >>> statistics.unseen(["cat", "yak"])
    ['yak']
    >>> statistics.joint(["cat", "cow"], 2)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    ids: Mapping[str, int]
    windows: Mapping[Window, WindowCounts]

    def joint(self, words: Sequence[str], window: Window) -> NDArray[np.float64]:
        """Give the share of windows in which each two of some words occur.

        Parameters
        ----------
        words : sequence of J str
            Words of one of the lists that were counted.
        window : int or None
            One of the window sizes that were counted.

        Returns
        -------
        array, (J, J)
            The diagonal has the shares of the single words.
        """
        counts = self._of(window)
        rows = np.array([self._row(word) for word in words], np.intp)
        first, second = np.triu_indices(len(rows), 1)
        low, high = np.minimum(rows[first], rows[second]), np.maximum(rows[first], rows[second])
        joint = np.diag(counts.singles[rows].astype(float))
        joint[first, second] = joint[second, first] = _entries(counts.pairs, low, high, self.ids)
        return joint / max(counts.n_windows, 1)

    def unseen(self, words: Iterable[str]) -> list[str]:
        """List those of some words that the corpus does not have."""
        singles = next(iter(self.windows.values())).singles
        return [word for word in words if not singles[self._row(word)]]

    def _of(self, window: Window) -> WindowCounts:
        if window not in self.windows:
            found = ", ".join(map(str, self.windows))
            raise DataError(
                f"windows of size {window} were not counted, only {found}: "
                f"give count_windows windows=[{window}]"
            )
        return self.windows[window]

    def _row(self, word: str) -> int:
        if word not in self.ids:
            raise DataError(f"{word!r} was not counted: give count_windows all topics to be scored")
        return self.ids[word]


def count_windows(
    documents: Iterable[Any],
    topics: Iterable[Sequence[str]],
    *,
    windows: Iterable[Window] = WINDOWS,
    tokenizer: Tokenize | None = None,
    n_jobs: int | Engine | None = None,
) -> WordStatistics:
    """Count in how many windows the words of topics occur, alone and in pairs, in one pass.

    Parameters
    ----------
    documents : iterable of str, Document or token lists
        The corpus; read once, never held in memory.
    topics : iterable of word lists
        Of all models to be compared. Pairs are counted within each list. A phrase of several
        words is looked for in the texts, and its words are counted too.
    windows : iterable of int or None
        Numbers of tokens in a sliding window; None for whole documents. A document shorter than
        the window is one window.
    tokenizer : callable from str to list of str, optional
        Cuts texts; `topicvec.text.Tokenizer` by default.
    n_jobs : int, engine or None
        Processes that tokenize and count; the counts are the same for any number.

    Returns
    -------
    WordStatistics

    Examples
    --------
    >>> documents = ["The cat saw a dog.", "A dog and a cow"]
    >>> statistics = count_windows(documents, [["cat", "dog"]], windows=[None])
    >>> statistics.joint(["cat", "dog"], None)
    array([[0.5, 0.5],
           [0.5, 1. ]])
    """
    sizes = _checked_windows(windows)
    ids, support = _support(topics)
    count = partial(_count, tokenizer or Tokenizer(), ids, support, sizes)
    totals: Array | None = None
    for found in _spread(count, cut_chunks(documents), n_jobs):
        totals = found if totals is None else totals + found
    if totals is None:
        raise DataError("the corpus is empty: expected at least one document; found none")
    counts = {size: _part(row, support) for size, row in zip(sizes, totals, strict=True)}
    return WordStatistics(ids, counts)


class _Support(NamedTuple):
    """Which pairs to count: for each word its partners with higher rows, in order."""

    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]


def _checked_windows(windows: Iterable[Window]) -> tuple[Window, ...]:
    sizes = tuple(dict.fromkeys(windows))
    if not sizes or any(size is not None and size < 1 for size in sizes):
        raise DataError(f"windows must be at least 1, or None for documents; found {sizes}")
    return sizes


def _support(topics: Iterable[Sequence[str]]) -> tuple[dict[str, int], _Support]:
    lists = [list(dict.fromkeys(topic)) for topic in topics]
    ids = {word: row for row, word in enumerate(dict.fromkeys(chain.from_iterable(lists)))}
    if not ids:
        raise DataError("expected lists of topic words; found no word")
    partners: list[set[int]] = [set() for _ in ids]
    for words in lists:
        for a, b in combinations(sorted(ids[word] for word in words), 2):
            partners[a].add(b)
    indptr = np.cumsum([0, *map(len, partners)], dtype=np.int64)
    flat = chain.from_iterable(map(sorted, partners))
    return ids, _Support(np.fromiter(flat, np.int32, int(indptr[-1])), indptr)


def _spread(
    count: Callable[[Chunk], Array], chunks: Iterator[Chunk], n_jobs: int | Engine | None
) -> Iterator[Array]:
    head = list(islice(chunks, 2))
    worth_it = len(head) > 1 and isinstance(head[0].contents[0], str)
    if n_jobs is None or isinstance(n_jobs, int):  # one chunk, or no tokenizing: processes lose
        engine: Engine = LocalEngine(n_jobs if worth_it else 1, kind="process")
    else:
        engine = resolve_engine(n_jobs)
    return engine.map(count, chain(head, chunks))


def _count(
    tokenizer: Tokenize,
    ids: Mapping[str, int],
    support: _Support,
    sizes: Sequence[Window],
    chunk: Chunk,
) -> Array:
    """Count a chunk: a row for each window size with the windows, singles and pairs in them."""
    token_lists = [
        tokenizer(content) if isinstance(content, str) else content for content in chunk.contents
    ]
    if phrases := Phrases(word for word in ids if " " in word):
        token_lists = [_with_phrases(phrases, tokens) for tokens in token_lists]
    lengths = np.array([len(tokens) for tokens in token_lists], np.int64)
    tokens = chain.from_iterable(token_lists)
    stream = np.fromiter(map(ids.get, tokens, repeat(-1)), np.int32, int(lengths.sum()))
    counts = np.zeros((len(sizes), 1 + len(ids) + len(support.indices)), np.int64)
    for row, size in zip(counts, sizes, strict=True):
        singles, pairs = row[1 : 1 + len(ids)], row[1 + len(ids) :]
        row[0] = _count_chunk(
            stream, lengths, size or 0, support.indptr, support.indices, singles, pairs
        )
    return counts


def _with_phrases(phrases: Phrases, tokens: Sequence[str]) -> list[str]:
    """Put each phrase behind its words: these stay, as they may be words of another topic."""
    found: list[str] = []
    for start, end in phrases.ranges(tokens):
        found += tokens[start:end]
        found += [" ".join(tokens[start:end])] if end - start > 1 else []
    return found


def _part(row: Array, support: _Support) -> WindowCounts:
    n_words = len(support.indptr) - 1
    pairs = csr_array((row[1 + n_words :], *support), (n_words, n_words))
    return WindowCounts(int(row[0]), row[1 : 1 + n_words], pairs)


def _entries(
    table: csr_array, rows: NDArray[np.intp], columns: NDArray[np.intp], ids: Mapping[str, int]
) -> Ints:
    """Read entries that must be stored, zeros too."""
    found = np.empty(len(rows), np.int64)
    for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
        start, end = table.indptr[row], table.indptr[row + 1]
        entry = start + int(np.searchsorted(table.indices[start:end], column))
        if entry == end or table.indices[entry] != column:
            words = list(ids)
            raise DataError(
                f"{words[row]!r} and {words[column]!r} were not counted together: "
                "give count_windows all topics to be scored"
            )
        found[place] = table.data[entry]
    return found


@compiled
def _entry(indptr: Array, indices: Array, a: int, b: int) -> int:
    """Find the place of a pair among the sorted partners of its lower word, or −1."""
    row, column = min(a, b), max(a, b)
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low if low < indptr[row + 1] and indices[low] == column else -1


@compiled
def _count_chunk(
    stream: Array,
    lengths: Array,
    window: int,
    indptr: Array,
    indices: Array,
    singles: Array,
    pairs: Array,
) -> int:
    """Add to ``singles`` and ``pairs`` the windows with each word and each pair.

    Windows are not walked through: a window is known by its last position, so that a token at p
    is in those from p to p + size − 1. Each known token adds the windows that it newly covers,
    alone and with each word seen shortly before it. ``stream`` holds documents one after
    another, −1 for words that do not count; ``window`` 0 means whole documents. Returns the
    number of windows. The readable twin is in the tests.
    """
    last = np.full(singles.size, -1, np.int64)  # where each word stood last in the document
    known = np.empty(lengths.max() if lengths.size else 0, np.int64)  # places of known tokens
    start = n_windows = 0
    for length in lengths:
        size = length if window == 0 else min(window, length)
        n_windows += length - size + 1
        n_known = 0
        for p in range(length):
            word = stream[start + p]
            if word < 0:
                continue
            before = last[word] if last[word] >= 0 else -size
            first = max(p, before + size, size - 1)  # new windows: none that it has been in
            singles[word] += max(0, min(p + size, length) - first)
            for k in range(n_known - 1, -1, -1):
                q = known[k]
                if q <= max(before, p - size):  # counted with its former place, or too far
                    break
                other = stream[start + q]
                if last[other] == q and min(q + size, length) > first:
                    entry = _entry(indptr, indices, word, other)
                    if entry >= 0:
                        pairs[entry] += min(q + size, length) - first
            last[word] = p
            known[n_known] = p
            n_known += 1
        for k in range(n_known):
            last[stream[start + known[k]]] = -1
        start += length
    return n_windows

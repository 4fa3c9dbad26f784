"""Texts as numbers of words: phrases found and joined without a string, a block at a time.

A block is anything whose ``take()`` gives `Tokens`. `find_phrases` and `Phrases.join` of
`topicvec.text.phrases` do the same for lists of words (`tests/text/test_numbered.py`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine
from topicvec.text.phrases import (
    NgramCounts,
    Phrases,
    added_counts,
    choose_phrases,
    grouped_keys,
    least_times,
)
from topicvec.text.prepared import Tokens

__all__ = [
    "Block", "Joiner", "Numbered", "by_frequency", "find_numbered_phrases", "kept_table",
    "number_tokens",
]  # fmt: skip

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]
Keys = tuple[Integers, Integers]  # keys of pairs or triples, and how often and in how many texts

_SHIFT = 32  # bits for the number of a word in the key of a pair
_BUCKETS = 24  # bits of the number of a bucket of pairs
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # spreads keys over the buckets
_PENDING = 4_000_000  # keys, before they are added up


class Block(Protocol):
    """Some documents as numbers of words, here or in a file."""

    def take(self) -> Tokens:
        """Give their tokens."""
        ...


class Numbered(NamedTuple):
    """The counted tokens of documents, as numbers of words in decreasing frequency.

    Attributes
    ----------
    words : list of str
        The different words.
    times : ndarray of int64, shape (n_words,)
        How often each occurs.
    blocks : sequence of Block
        The documents in order.
    n_documents : int
        How many there are.

    Examples
    --------
    >>> numbered = number_tokens([["cat"], ["a", "cat"]])
    >>> numbered.words, numbered.times, numbered.n_tokens
    (['cat', 'a'], array([2, 1]), 3)
    """

    words: list[str]
    times: Integers
    blocks: Sequence[Block]
    n_documents: int

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        return int(self.times.sum())

    def token_lists(self) -> Iterator[list[str]]:
        """Give the words of each document."""
        words = np.array(self.words, object)
        for block in self.blocks:
            ids, lengths = block.take()
            ends = np.cumsum(lengths)[:-1]
            yield from (part.tolist() for part in np.split(words[ids], ends))


def number_tokens(token_lists: Sequence[Sequence[str]]) -> Numbered:
    """Number the words of token lists, the most frequent first.

    Examples
    --------
    >>> number_tokens([["a", "cat"], ["cat"]]).blocks[0].take().ids
    array([1, 0, 0], dtype=int32)
    """
    numbers: dict[str, int] = {}
    for tokens in token_lists:
        for token in tokens:
            numbers.setdefault(token, len(numbers))
    lengths = np.fromiter(map(len, token_lists), np.int64, len(token_lists))
    flat = (numbers[token] for tokens in token_lists for token in tokens)
    ids = np.fromiter(flat, np.int32, int(lengths.sum()))
    times = np.bincount(ids, minlength=len(numbers))
    words, times, place = by_frequency(list(numbers), times)
    return Numbered(words, times, [Tokens(place[ids], lengths)], len(lengths))


def by_frequency(
    words: Sequence[str], times: Integers
) -> tuple[list[str], Integers, NDArray[np.int32]]:
    """Order words that occur by decreasing frequency, and give the place of each; −1 for others.

    Examples
    --------
    >>> by_frequency(["a", "b", "c"], np.array([1, 0, 2]))
    (['c', 'a'], array([2, 1]), array([ 1, -1,  0], dtype=int32))
    """
    there = np.flatnonzero(times).tolist()
    order = sorted(there, key=lambda i: (-times[i], words[i]))
    place = np.full(len(words), -1, np.int32)
    place[order] = np.arange(len(order))
    return [words[i] for i in order], times[order], place


def find_numbered_phrases(
    blocks: Sequence[Block], words: Sequence[str], times: Integers, kept: Bools, n_documents: int,
    engine: Engine,
) -> Phrases:  # fmt: skip
    """Find the collocations of a corpus in bounded memory, by the rule of `find_phrases`.

    Three passes: pairs are first thrown into buckets, and only those of a bucket that has enough
    of them can be frequent; these are counted exactly; then triples whose pairs are both frequent.

    Parameters
    ----------
    blocks : sequence of Block
        The documents, stop words included.
    words, times : sequence of str, array (n_words,)
        The words of the numbers, and how often each occurs.
    kept : array of bool, (n_words,)
        Words that may be part of a phrase.
    n_documents : int
        How many documents there are.
    engine : Engine
        Spreads the blocks; the result does not depend on it.

    Returns
    -------
    Phrases

    Examples
    --------
    >>> from topicvec.engine import InPlace
    >>> told = number_tokens([["the", "hedge", "fund"]] * 9)
    >>> kept = np.array([word != "the" for word in told.words])
    >>> find_numbered_phrases(told.blocks, told.words, told.times, kept, 9, InPlace()).phrases
    {'hedge fund': 9}
    """
    kept = kept & np.array([" " not in word for word in words], bool)
    counts = np.where(kept, times, 0)
    least = least_times(int(counts.sum()))
    often = counts >= least  # both words of a pair are at least as frequent as the pair
    buckets = np.zeros(1 << _BUCKETS, np.int64)
    for where, n in engine.map(partial(_in_buckets, often), blocks):
        np.add.at(buckets, where, n)
    full = buckets >= least
    del buckets
    pairs, pair_counts = _summed(engine.map(partial(_pairs, often, full), blocks), 0)
    sure = pairs[pair_counts[:, 0] >= least]
    longer, longer_counts = _summed(engine.map(partial(_triples, often, sure), blocks), least)
    triples = np.column_stack([_split(sure)[longer >> _SHIFT], _split(longer)[:, 1]])
    return choose_phrases(
        NgramCounts(
            tuple(words), counts, _split(pairs), pair_counts, triples, longer_counts,
            n_documents, int(times.sum()),
        )
    )  # fmt: skip


def _neighbours(often: Bools, block: Block) -> tuple[Integers, Integers, Bools, Integers]:
    """Give ids, documents, and of each token whether it and the next may be a pair, and its key."""
    ids, lengths = block.take()
    documents = np.repeat(np.arange(len(lengths)), lengths)
    may = often[ids]
    near = may[:-1] & may[1:] & (documents[:-1] == documents[1:]) & (ids[:-1] != ids[1:])
    wide = ids.astype(np.int64)
    return wide, documents, near, wide[:-1] << _SHIFT | wide[1:]


def _bucket(keys: Integers) -> Integers:
    mixed = keys.astype(np.uint64) * _MIXER
    return (mixed >> np.uint64(64 - _BUCKETS)).astype(np.int64)


def _in_buckets(often: Bools, block: Block) -> tuple[Integers, Integers]:
    *_, near, keys = _neighbours(often, block)
    where, n = np.unique(_bucket(keys[near]), return_counts=True)
    return where, n.astype(np.int64)


def _pairs(often: Bools, full: Bools, block: Block) -> Keys:
    """Count the pairs that may be frequent, and those that are one the other way round."""
    _, documents, near, keys = _neighbours(often, block)
    first = np.flatnonzero(near)
    keys = keys[first]
    turned = (keys & ((1 << _SHIFT) - 1)) << _SHIFT | keys >> _SHIFT
    some = full[_bucket(keys)] | full[_bucket(turned)]
    found, counts, _ = grouped_keys(keys[some], documents[first[some]])
    return found, counts


def _triples(often: Bools, sure: Integers, block: Block) -> Keys:
    """Count the triples of two frequent pairs; keys have the place of the first among these."""
    ids, documents, near, keys = _neighbours(often, block)
    place = np.searchsorted(sure, keys)
    place[place == len(sure)] = 0
    known = near & (sure[place] == keys) if len(sure) else np.zeros(len(near), bool)
    both = np.zeros(0, np.int64)
    if len(ids) > 2:
        both = np.flatnonzero(known[:-1] & known[1:] & (ids[:-2] != ids[2:]))
    found, counts, _ = grouped_keys(place[both] << _SHIFT | ids[both + 2], documents[both])
    return found, counts


def _summed(parts: Iterable[Keys], least: int) -> Keys:
    """Add up the counts of blocks, now and then, and leave out what is too rare in the end."""
    keys, counts = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    waiting: list[Keys] = []

    def merge() -> Keys:
        several = [(keys, counts), *waiting]
        return added_counts(*(np.concatenate([part[i] for part in several]) for i in (0, 1)))

    for part in parts:
        waiting.append(part)
        if sum(len(each) for each, _ in waiting) > max(_PENDING, len(keys)):
            keys, counts = merge()
            waiting.clear()
    keys, counts = merge()
    enough = counts[:, 0] >= least
    return keys[enough], counts[enough]


def _split(keys: Integers) -> Integers:
    return np.column_stack([keys >> _SHIFT, keys & ((1 << _SHIFT) - 1)])


@dataclass(frozen=True, eq=False)
class Joiner:
    """Joins the phrases of documents in numbers, from left to right, the longest first.

    Parameters
    ----------
    words : tuple of str
        The words of the numbers, then those of phrases that are new.
    steps : tuple of (array, array)
        For the second word of phrases, the third and so on: keys of where one is and the word,
        and where that leads.
    ends : array of int32
        The number of the word of the phrase that ends there; −1 if none does.

    Examples
    --------
    >>> joiner = Joiner.of(["a", "hedge", "fund"], Phrases(["hedge fund"]))
    >>> joiner.words, joiner.join(Tokens(np.array([0, 1, 2, 1], np.int32), np.array([3, 1]))).ids
    (('a', 'hedge', 'fund', 'hedge fund'), array([0, 3, 1], dtype=int32))
    """

    words: tuple[str, ...]
    begins: NDArray[np.int32]
    steps: tuple[tuple[Integers, Integers], ...]
    ends: NDArray[np.int32]

    @classmethod
    def of(cls, words: Sequence[str], phrases: Phrases) -> "Joiner":
        """Look up the words of phrases; a phrase of which one is not there cannot occur."""
        numbers = {word: number for number, word in enumerate(words)}
        more, paths, ends = list(words), dict[tuple[int, ...], int](), [-1]
        for phrase in phrases.phrases:
            parts = [numbers.get(part, -1) for part in phrase.split(" ")]
            if min(parts) < 0:
                continue
            for length in range(1, len(parts) + 1):
                node = paths.setdefault(tuple(parts[:length]), len(ends))
                ends += [-1] * (node == len(ends))
            if phrase not in numbers:
                numbers[phrase] = len(more)
                more.append(phrase)
            ends[node] = numbers[phrase]
        begins = np.zeros(len(words), np.int32)
        for path, node in paths.items():
            if len(path) == 1:
                begins[path[0]] = node
        longest = max(map(len, paths), default=1)
        steps = tuple(_step(paths, length) for length in range(2, longest + 1))
        return cls(tuple(more), begins, steps, np.array(ends, np.int32))

    def join(self, tokens: Tokens) -> Tokens:
        """Join the phrases of some documents."""
        ids, lengths = tokens
        start, length, phrase = self._found(ids, lengths)
        if not len(start):
            return tokens
        joined = ids.copy()
        joined[start] = phrase
        gone = np.zeros(len(ids), bool)
        for more in range(1, int(length.max())):
            gone[start[length > more] + more] = True
        documents = np.repeat(np.arange(len(lengths)), lengths)
        fewer = np.bincount(documents[gone], minlength=len(lengths))
        return Tokens(joined[~gone], lengths - fewer)

    def _found(
        self, ids: NDArray[np.int32], lengths: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """Give place, number of words and word of each phrase that is joined."""
        place = np.flatnonzero(self.begins[ids])
        end = np.repeat(np.cumsum(lengths), lengths)[place]  # of the document
        node, best = self.begins[ids[place]].astype(np.int64), np.zeros(len(place), np.int64)
        phrase = np.full(len(place), -1, np.int64)
        for depth, (keys, leads) in enumerate(self.steps, 1):
            inside = (place + depth < end) & (node > 0)
            word = ids[np.where(inside, place + depth, 0)].astype(np.int64)
            key = node << _SHIFT | word
            where = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            node = np.where(inside & (keys[where] == key), leads[where], 0)
            done = self.ends[node] >= 0
            best[done], phrase[done] = depth + 1, self.ends[node][done]
        chosen, last = [], 0
        for number, (at, n) in enumerate(zip(place.tolist(), best.tolist(), strict=True)):
            if n and at >= last:
                chosen.append(number)
                last = at + n
        return place[chosen], best[chosen], phrase[chosen]


def _step(paths: Mapping[tuple[int, ...], int], length: int) -> tuple[Integers, Integers]:
    rows = sorted(
        (paths[path[:-1]] << _SHIFT | path[-1], node)
        for path, node in paths.items()
        if len(path) == length
    )
    table = np.array(rows, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def kept_table(words: Sequence[str], keep: Callable[[str], bool]) -> Bools:
    """Ask of each word whether to keep it, (n_words,).

    Examples
    --------
    >>> kept_table(["the", "cat"], "cat".__eq__)
    array([False,  True])
    """
    return np.fromiter(map(keep, words), bool, len(words))

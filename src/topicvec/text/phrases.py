"""Find collocations of two or three words in a corpus, and take each as one word from then on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicvec.text.counting import chunked, growing_ids

__all__ = [
    "NgramCounts", "Phrases", "add_ngrams", "added_counts", "choose_phrases", "count_ngrams",
    "find_phrases", "grouped_keys", "least_times",
]  # fmt: skip

Integers = npt.NDArray[np.int64]

_LEAST_NPMI = 0.6  # lower, and formulas of a subject come in: "article writes", "net loss"
_MOST_REVERSED = 0.2  # of a pair's count; a phrase has an order, words of one subject have none
_LEAST_COUNT = 8  # fewer times tell too little of a phrase's meaning
_SHIFT = 32  # bits for the number of a word in the key of a pair


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of two or three words that are read as one word, such as "new york".

    Parameters
    ----------
    phrases : mapping of str to int, or iterable of str
        The phrases, their words joined by one blank, with how often the corpus has each; 0 if
        only the phrases are given. ``dict(phrases.phrases)`` is what JSON can hold.

    Examples
    --------
    >>> phrases = Phrases(["new york", "new york city"])
    >>> phrases.join(["in", "new", "york", "city", "and", "new", "york"])
    ['in', 'new york city', 'and', 'new york']
    >>> len(phrases), "new york" in phrases
    (2, True)
    """

    phrases: Mapping[str, int]
    _longest_first: Mapping[str, tuple[tuple[str, ...], ...]] = field(
        init=False, repr=False, compare=False
    )

    def __init__(self, phrases: Mapping[str, int] | Iterable[str] = ()) -> None:
        counts = dict(phrases) if isinstance(phrases, Mapping) else dict.fromkeys(phrases, 0)
        beginning: dict[str, list[tuple[str, ...]]] = {}
        for phrase in counts:
            words = tuple(phrase.split(" "))
            beginning.setdefault(words[0], []).append(words)
        for several in beginning.values():
            several.sort(key=len, reverse=True)
        rest = {first: tuple(several) for first, several in beginning.items()}
        object.__setattr__(self, "phrases", counts)
        object.__setattr__(self, "_longest_first", rest)

    def __len__(self) -> int:
        return len(self.phrases)

    def __contains__(self, phrase: object) -> bool:
        return phrase in self.phrases

    def only(self, words: Any) -> "Phrases":
        """Keep the phrases that a container of words, such as a vocabulary's ids, has.

        Examples
        --------
        >>> list(Phrases(["new york", "hedge fund"]).only({"new york", "york"}).phrases)
        ['new york']
        """
        return Phrases({phrase: n for phrase, n in self.phrases.items() if phrase in words})

    def join(self, tokens: Sequence[str]) -> list[str]:
        """Join the phrases among the tokens of a document, from left to right, the longest first.

        Parameters
        ----------
        tokens : sequence of str
            The words as they follow each other in the text, stop words included.

        Returns
        -------
        list of str
            The tokens, with one for each phrase.

        Examples
        --------
        >>> Phrases(["hedge fund"]).join(["a", "hedge", "fund", "hedge"])
        ['a', 'hedge fund', 'hedge']
        """
        found = self._matches(tokens)
        if not found:
            return list(tokens)
        joined: list[str] = []
        end = 0
        for start, length in found:
            joined += tokens[end:start]
            end = start + length
            joined.append(" ".join(tokens[start:end]))
        return joined + list(tokens[end:])

    def ranges(self, tokens: Sequence[str]) -> list[tuple[int, int]]:
        """Say of which tokens each of the joined ones is made, for their places in the text.

        Parameters
        ----------
        tokens : sequence of str
            As for `join`.

        Returns
        -------
        list of (int, int)
            For each token that `join` gives, the first of its words and the one after the last.

        Examples
        --------
        >>> Phrases(["hedge fund"]).ranges(["a", "hedge", "fund"])
        [(0, 1), (1, 3)]
        """
        ranges: list[tuple[int, int]] = []
        end = 0
        for start, length in [*self._matches(tokens), (len(tokens), 0)]:
            ranges += [(place, place + 1) for place in range(end, start)]
            end = start + length
            ranges += [(start, end)] if length else []
        return ranges

    def _matches(self, tokens: Sequence[str]) -> list[tuple[int, int]]:
        """Give place and number of words of each phrase; most tokens cost one lookup."""
        beginning = self._longest_first
        found: list[tuple[int, int]] = []
        if not beginning:
            return found
        end = 0
        for start in [place for place, token in enumerate(tokens) if token in beginning]:
            if start < end:
                continue
            for words in beginning[tokens[start]]:
                if tuple(tokens[start : start + len(words)]) == words:
                    end = start + len(words)
                    found.append((start, len(words)))
                    break
        return found


class NgramCounts(NamedTuple):
    """How often words, pairs and triples of neighbours occur; counts of parts of a corpus add.

    Attributes
    ----------
    words : tuple of str
        The words that may be part of a phrase.
    counts : ndarray of shape (n_words,), int64
        How often each occurs.
    pairs, triples : ndarray of shape (n_pairs, 2) and (n_triples, 3), int64
        Numbers of the words, in the order of the text.
    pair_counts, triple_counts : ndarray of shape (n, 2), int64
        How often each occurs, and in how many documents.
    n_documents, n_tokens : int
        Number of documents, and of all their words.

    Examples
    --------
    >>> count_ngrams([["hedge", "fund"], ["hedge", "fund"]]).pair_counts.tolist()
    [[2, 2]]
    """

    words: tuple[str, ...]
    counts: Integers
    pairs: Integers
    pair_counts: Integers
    triples: Integers
    triple_counts: Integers
    n_documents: int
    n_tokens: int


def find_phrases(
    token_lists: Iterable[Sequence[str]],
    *,
    keep: Callable[[str], bool] = lambda word: True,  # noqa: ARG005
    least_count: int | None = None,
    least_npmi: float | None = None,
) -> Phrases:
    """Find the collocations of a corpus in one pass over its token lists.

    Parameters
    ----------
    token_lists : iterable of sequences of str
        The words of each document as they follow each other in the text, stop words included.
    keep : callable from str to bool
        Says which words may be part of a phrase: all but stop words.
    least_count : int, optional
        How often a phrase occurs at least, see Notes.
    least_npmi : float, optional
        How firmly its words hold together, from 0 (by chance) to 1 (always together).

    Returns
    -------
    Phrases
        The most frequent first, then in the order of the alphabet; the same for any cutting of
        the corpus into chunks.

    Notes
    -----
    A pair of different words a b that occurs n times among the N kept tokens has the normalised
    pointwise mutual information log(nN / n_a n_b) / log(N / n). It is a phrase if

    - that is at least 0.6;
    - it occurs at least 8 times, or ∛N / 10 times if that is more, and in as many documents, or
      in √D of them if that is fewer;
    - b a occurs at most a fifth as often: words of one subject have no order, a phrase has.

    Three words are a phrase if two of them are and if the same holds for the pair and the third,
    wherever the three are cut.

    Examples
    --------
    >>> texts = ["he left the hedge fund", "a hedge fund lost", "the fund of a hedge fund"] * 4
    >>> find_phrases([text.split() for text in texts], keep=lambda word: len(word) > 3).phrases
    {'hedge fund': 12}
    """
    parts = (count_ngrams(chunk, keep) for chunk in chunked(token_lists))
    counts = add_ngrams(parts, least_count or _LEAST_COUNT)
    return choose_phrases(counts, least_count=least_count, least_npmi=least_npmi)


def count_ngrams(
    token_lists: Sequence[Sequence[str]],
    keep: Callable[[str], bool] = lambda word: True,  # noqa: ARG005
) -> NgramCounts:
    """Count neighbours in a chunk of documents.

    Parameters
    ----------
    token_lists : sequence of sequences of str
        The words of each document.
    keep : callable from str to bool
        As for `find_phrases`.

    Returns
    -------
    NgramCounts

    Examples
    --------
    >>> found = count_ngrams([["new", "york", "city", "the", "city"]], lambda word: word != "the")
    >>> found.words, found.pairs.tolist(), found.triples.tolist()
    (('new', 'york', 'city'), [[0, 1], [1, 2]], [[0, 1, 2]])
    """
    tokens = list(chain.from_iterable(token_lists))
    numbers = dict.fromkeys(tokens, -1)
    # A word with a blank inside would make a phrase that cannot be taken apart again.
    words = tuple(word for word in numbers if " " not in word and keep(word))
    numbers.update(zip(words, range(len(words)), strict=True))
    ids = np.fromiter(map(numbers.__getitem__, tokens), np.int64, len(tokens))
    lengths = np.fromiter(map(len, token_lists), np.int64, len(token_lists))
    documents = np.repeat(np.arange(len(lengths)), lengths)
    kept = ids >= 0
    near = kept[:-1] & kept[1:] & (documents[:-1] == documents[1:]) & (ids[:-1] != ids[1:])
    first = np.flatnonzero(near)
    pairs, pair_counts, which = grouped_keys(
        ids[first] << _SHIFT | ids[first + 1], documents[first]
    )
    number = np.full(len(ids), -1)  # of the pair that begins at each token
    number[first] = which
    both = (
        np.flatnonzero(near[:-1] & near[1:] & (ids[:-2] != ids[2:])) if len(ids) > 2 else first[:0]
    )
    keys, triple_counts, _ = grouped_keys(number[both] << _SHIFT | ids[both + 2], documents[both])
    return NgramCounts(
        words, np.bincount(ids[kept], minlength=len(words)), _split(pairs), pair_counts,
        np.column_stack([_split(pairs)[keys >> _SHIFT], _split(keys)[:, 1]]), triple_counts,
        len(token_lists), len(tokens),
    )  # fmt: skip


def add_ngrams(parts: Iterable[NgramCounts], least: int = 1) -> NgramCounts:
    """Add up the counts of the parts of a corpus.

    Parameters
    ----------
    parts : iterable of NgramCounts
        Memory grows with the distinct pairs and triples of all parts.
    least : int
        Leave out triples that begin with a pair that the whole has fewer times.

    Returns
    -------
    NgramCounts
        Of the whole.

    Examples
    --------
    >>> part = count_ngrams([["hedge", "fund"]])
    >>> add_ngrams([part, part]).pair_counts.tolist()
    [[2, 2]]
    """
    ids, several = growing_ids(), list(parts)
    moved = [np.array([ids[word] for word in part.words], np.int64) for part in several]
    counts = np.zeros(len(ids), np.int64)
    for part, numbers in zip(several, moved, strict=True):
        counts[numbers] += part.counts
    pairs = [numbers[part.pairs] for part, numbers in zip(several, moved, strict=True)]
    triples = [numbers[part.triples] for part, numbers in zip(several, moved, strict=True)]
    known, pair_counts = added_counts(
        _keys(_rows(pairs, 2)), _rows([p.pair_counts for p in several], 2)
    )
    both, n_times = _rows(triples, 3), _rows([part.triple_counts for part in several], 2)
    place = np.searchsorted(known, _keys(both[:, :2]))
    often = pair_counts[place, 0] >= least  # most triples are not, and sorting takes the time
    found, triple_counts = added_counts((place << _SHIFT | both[:, 2])[often], n_times[often])
    return NgramCounts(
        tuple(ids), counts, _split(known), pair_counts,
        np.column_stack([_split(known)[found >> _SHIFT], _split(found)[:, 1]]), triple_counts,
        sum(part.n_documents for part in several), sum(part.n_tokens for part in several),
    )  # fmt: skip


def choose_phrases(
    counts: NgramCounts, *, least_count: int | None = None, least_npmi: float | None = None
) -> Phrases:
    """Choose the collocations by the counts of a corpus, by the rule of `find_phrases`.

    Parameters
    ----------
    counts : NgramCounts
        Of the whole corpus.
    least_count, least_npmi
        As for `find_phrases`.

    Returns
    -------
    Phrases

    Examples
    --------
    >>> choose_phrases(count_ngrams([["hedge", "fund"]] * 9)).phrases
    {'hedge fund': 9}
    """
    if not len(counts.pairs):
        return Phrases()
    n_kept = int(counts.counts.sum())
    least = least_count or least_times(n_kept)
    limits = np.array([least, min(least, int(np.ceil(np.sqrt(counts.n_documents))))])
    if least_npmi is None:
        least_npmi = _LEAST_NPMI
    chosen = _firm_pairs(counts, limits, least_npmi)
    longer = _firm_triples(counts, chosen, limits, least_npmi)
    named = [*_named(counts.words, counts.pairs[chosen], counts.pair_counts[chosen, 0])]
    named += _named(counts.words, counts.triples[longer], counts.triple_counts[longer, 0])
    return Phrases(dict(sorted(named, key=lambda pair: (-pair[1], pair[0]))))


def least_times(n_kept: int) -> int:
    """Say how often a phrase of a corpus of so many kept tokens occurs at least.

    Examples
    --------
    >>> least_times(1000), least_times(10**8)
    (8, 46)
    """
    return int(max(_LEAST_COUNT, round(n_kept ** (1 / 3) / 10)))


def _firm_pairs(counts: NgramCounts, limits: Integers, least_npmi: float) -> Integers:
    """Choose the pairs that are frequent, hold together and have an order; give their rows."""
    rows = np.flatnonzero((counts.pair_counts >= limits).all(axis=1))
    pairs, n_times = counts.pairs[rows], counts.pair_counts[rows, 0]
    n_first, n_second = counts.counts[pairs.T]
    firm = _npmi(n_times, n_first, n_second, int(counts.counts.sum())) >= least_npmi
    turned = _lookup(counts, pairs[:, ::-1])
    n_turned = np.where(turned >= 0, counts.pair_counts[turned, 0], 0)
    ordered: npt.NDArray[np.bool_] = n_turned <= _MOST_REVERSED * n_times
    return rows[firm & ordered]


def _firm_triples(
    counts: NgramCounts, chosen: Integers, limits: Integers, least_npmi: float
) -> Integers:
    """Choose the triples of a chosen pair and a word, firm wherever they are cut in two."""
    rows = np.flatnonzero((counts.triple_counts >= limits).all(axis=1))
    triples, n_times = counts.triples[rows], counts.triple_counts[rows, 0]
    n_all = int(counts.counts.sum())
    firm, begun = np.ones(len(rows), bool), np.zeros(len(rows), bool)
    for pair, word in (([0, 1], 2), ([1, 2], 0)):
        place = _lookup(counts, triples[:, pair])
        n_pair, n_word = counts.pair_counts[place, 0], counts.counts[triples[:, word]]
        firm &= _npmi(n_times, n_pair, n_word, n_all) >= least_npmi
        begun |= np.isin(place, chosen)
    return rows[firm & begun]


def _npmi(n: Integers, n_a: Integers, n_b: Integers, n_all: int) -> npt.NDArray[np.float64]:
    chance = np.log(n) + np.log(n_all) - np.log(n_a) - np.log(n_b)
    # A corpus of nothing but one pair has no chance to compare with.
    npmi: npt.NDArray[np.float64] = chance / np.maximum(np.log(n_all) - np.log(n), 1e-12)
    return npmi


def _lookup(counts: NgramCounts, pairs: Integers) -> Integers:
    """Give the rows of pairs; -1 for one that does not occur."""
    known, wanted = _keys(counts.pairs), _keys(pairs)
    place = np.searchsorted(known, wanted)
    place[place == len(known)] = 0
    return np.where(known[place] == wanted, place, -1)


def _named(words: Sequence[str], rows: Integers, n_times: Integers) -> Iterable[tuple[str, int]]:
    for row, n in zip(rows.tolist(), n_times.tolist(), strict=True):
        yield " ".join(words[number] for number in row), n


def _keys(pairs: Integers) -> Integers:
    return pairs[:, 0] << _SHIFT | pairs[:, 1]


def _split(keys: Integers) -> Integers:
    return np.column_stack([keys >> _SHIFT, keys & ((1 << _SHIFT) - 1)])


def _rows(tables: list[Integers], width: int) -> Integers:
    return np.concatenate([np.zeros((0, width), np.int64), *tables])


def grouped_keys(keys: Integers, documents: Integers) -> tuple[Integers, Integers, Integers]:
    """Sort out equal keys: each once, its count and number of documents, which one each is."""
    order = np.argsort(keys, kind="stable")  # so that the documents of a key stay in order
    keys, documents = keys[order], documents[order]
    new = np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]
    new_document = new | np.concatenate([[True], documents[1:] != documents[:-1]])[: len(keys)]
    group = np.cumsum(new) - 1
    which = np.empty(len(keys), np.int64)
    which[order] = group
    n_groups = int(new.sum())
    counts = [
        np.bincount(group, minlength=n_groups),
        np.bincount(group[new_document], minlength=n_groups),
    ]
    return keys[new], np.column_stack(counts), which


def added_counts(keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Add the counts of equal keys; exact, for whole numbers below 2⁵³."""
    known, place = np.unique(keys, return_inverse=True)
    sums = [np.bincount(place, column, minlength=len(known)) for column in counts.T]
    return known, np.column_stack(sums).astype(np.int64)

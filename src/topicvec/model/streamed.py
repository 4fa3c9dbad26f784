"""A fit of a prepared corpus, which stays in its files: how it is read, counted and concluded.

The same is done as for texts in memory, piece by piece, to the same bits
(`tests/model/test_prepared.py`): phrases are found in numbers, tokens wait beside the corpus, and
of the documents only sums come to memory.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.adapt import N_DIMS
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.engine import Engine, fold
from topicvec.errors import DataError
from topicvec.model.counts import DocumentCounter, Reading, is_running_text
from topicvec.model.estep import fill_shard, having
from topicvec.model.fitted import FittedTopics, Representatives
from topicvec.model.inference import (
    MAX_PASSES,
    TOL,
    better,
    document_table,
    representatives,
    topic_table,
    word_table,
)
from topicvec.model.state import TopicState, loaded
from topicvec.model.stored import Cells, FiledTokens, Store, StoredCounts
from topicvec.text.bag import Bag
from topicvec.text.counting import ChunkCounts, Tokenize, count_tokens
from topicvec.text.numbered import (
    Block,
    Joiner,
    Numbered,
    by_frequency,
    find_numbered_phrases,
    kept_table,
)
from topicvec.text.phrases import Phrases
from topicvec.text.prepared import PreparedCorpus, Tokens
from topicvec.text.stopwords import stop_words_of
from topicvec.text.vocabulary import Vocabulary

__all__ = [
    "AnyReading", "StoredReading", "conclude_stored", "most_topics", "needed_memory",
    "parse_memory", "read_stored", "room_for",
]  # fmt: skip

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?", re.IGNORECASE)
_USED = 0.8  # of what is left over: an estimate is none too exact
_MOST_TOPICS = 200  # that are found in documents, see `count_topics`
_PHRASES = 0.03  # words more, for phrases
# What `needed_memory` counts, in bytes, as measured (benchmarks/scale.py).
_PROGRAM, _A_WORD, _A_DOCUMENT, _A_WORKER = 400_000_000, 220, 24, 200_000_000
_A_SHARD, _SHARD_ROWS = 30_000_000, 60_000  # of cells; rows of mixtures and words
_OF_WORDS, _OF_TYPES = 2, 7  # tables by topics
_SHOWN = 5  # names of documents without a known word
_UNKNOWN = 100_000  # words that an account is kept of
_CHUNK = 2_000  # documents looked at at a time for stop words


class StoredReading(NamedTuple):
    """How the documents of a prepared corpus are read, and their counted words as numbers.

    Attributes
    ----------
    counter : DocumentCounter
        Knows the stop words and phrases of the corpus.
    corpus : PreparedCorpus
        The documents.
    store : Store
        Where files of this fit are.
    tokens : Numbered
        The counted tokens.
    appeared : list of str
        The counted words in the order in which they appear.
    engine : Engine
        Spreads the work.
    """

    counter: DocumentCounter
    corpus: PreparedCorpus
    store: Store
    tokens: Numbered
    appeared: list[str]
    engine: Engine

    @property
    def is_matrix(self) -> bool:
        """Whether the documents are counts already."""
        return False

    def numbered(self) -> Numbered:
        """Give the counted words, the most frequent first."""
        return self.tokens

    def bag(self, vectors: WordVectors) -> Bag:
        """Count the words that have a vector, in memory."""
        rows = self._rows(vectors)
        lengths, words, counts = zip(*self._cells(rows), strict=True)
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
        parts = np.concatenate(counts), np.concatenate(words), indptr
        shape = self.corpus.n_documents, len(vectors)
        return self._bag(rows, csr_array(parts, shape))

    def stored_bag(self, vectors: WordVectors, room: int = 0, n_topics: int = 0) -> Bag:
        """Count the words that have a vector, in files but for what there is room for."""
        rows = self._rows(vectors)
        there = np.flatnonzero(rows >= 0)
        there = there[np.argsort(rows[there])]
        place = np.full(len(rows), -1, np.int32)
        place[there] = np.arange(len(there))
        times = self.tokens.times[there]
        cells = self._cells(place)
        sizes = len(vectors), rows[there], times
        counts = StoredCounts(self.store, *sizes, cells, room, n_topics)
        return self._bag(rows, cast("csr_array", counts))  # has what the start of a fit asks for

    def _rows(self, vectors: WordVectors) -> NDArray[np.int64]:
        ids = vectors.ids
        return np.array([ids.get(word, -1) for word in self.tokens.words], np.int64)

    def _cells(self, places: Ints) -> Iterator[Cells]:
        return cast("Iterator[Cells]", self.engine.map(partial(_cells, places), self.tokens.blocks))

    def _bag(self, rows: Ints, counts: csr_array) -> Bag:
        times = dict(zip(self.tokens.words, self.tokens.times.tolist(), strict=True))
        known = set(np.array(self.tokens.words, object)[rows >= 0].tolist())
        unknown = Counter({word: times[word] for word in self.appeared if word not in known})
        empty = np.flatnonzero(np.diff(counts.indptr) == 0)
        empty.setflags(write=False)
        names = self.corpus.names(empty[:_SHOWN].tolist())
        return Bag(
            n_documents=self.corpus.n_documents,
            n_tokens=self.tokens.n_tokens,
            n_unknown=sum(unknown.values()),
            unknown=Counter(dict(unknown.most_common(_UNKNOWN))),
            empty_rows=empty,
            empty_ids=tuple(names[row] for row in empty[:_SHOWN].tolist()),
            counts=counts,
        )


AnyReading = Reading | StoredReading


def _cells(places: Ints, block: Block) -> Cells:
    """Count the words of each document that have a place."""
    ids, lengths = block.take()
    columns = places[ids]
    known = columns >= 0
    documents = np.repeat(np.arange(len(lengths)), lengths)
    each = np.bincount(documents[known], minlength=len(lengths))
    indptr = np.concatenate([[0], np.cumsum(each)])
    n_columns = int(places.max(initial=0)) + 1
    ones = np.ones(int(known.sum()), np.int32)
    table = csr_array((ones, columns[known].astype(np.int32), indptr), (len(lengths), n_columns))
    table.sum_duplicates()
    return np.diff(table.indptr), table.indices, table.data


def read_stored(
    corpus: PreparedCorpus,
    tokenizer: Tokenize | None,
    stop_words: Any,
    vocabulary: Vocabulary | Sequence[str] | None,
    *,
    phrases: bool,
    engine: Engine,
) -> StoredReading:
    """Learn from a prepared corpus how to read it, as `read_corpus` does from documents.

    Parameters
    ----------
    corpus : PreparedCorpus
        The documents.
    tokenizer, stop_words, vocabulary, phrases
        As for `read_corpus`; the tokenizer must be the one that cut the texts.
    engine : Engine
        Spreads the work; the result does not depend on it.

    Returns
    -------
    StoredReading
    """
    corpus.check_tokenizer(tokenizer)
    words = corpus.words
    times = np.zeros(len(words), np.int64)
    for part in engine.map(partial(_times, len(words)), corpus.shards):
        times += part
    from_corpus = isinstance(stop_words, str) and stop_words == "corpus"
    stop = stop_words
    if from_corpus:
        stop = stop_words_of(lambda: _chunks(corpus.shards, words))
    plain = DocumentCounter(tokenizer, stop, vocabulary)
    found = Phrases()
    if phrases and corpus.n_documents > 1:
        is_stop = kept_table(words, plain.stop_words.__contains__)
        stopped = int(times[is_stop].sum())
        if is_running_text(int(times.sum()), stopped):
            found = find_numbered_phrases(
                corpus.shards, words, times, ~is_stop, corpus.n_documents, engine
            )
    counter = DocumentCounter(tokenizer, stop, vocabulary, found)
    store = Store(corpus.folder)
    return _joined(corpus, counter, store, Joiner.of(words, counter.phrases), engine)


def parse_memory(given: str | int) -> int:
    """Read an amount of memory, in bytes.

    Examples
    --------
    >>> parse_memory("2GB"), parse_memory("500 mb"), parse_memory(10**9)
    (2000000000, 500000000, 1000000000)
    >>> parse_memory("much")
    Traceback (most recent call last):
    topicvec.errors.DataError: memory must be a size such as '3GB' or '500MB'; found 'much'
    """
    match = _AMOUNT.fullmatch(str(given).strip())
    size = float(match[1]) * 1000 ** " KMGT".index((match[2] or " ").upper()) if match else 0
    if not size or isinstance(given, bool):
        raise DataError(f"memory must be a size such as '3GB' or '500MB'; found {given!r}")
    return int(size)


def room_for(
    corpus: PreparedCorpus, memory: str | int, vectors: Any, n_topics: Any, n_jobs: int
) -> int:
    """Say what is left of an amount of memory for documents; refuse one that cannot be enough.

    Parameters
    ----------
    corpus : PreparedCorpus
        What is to be fitted.
    memory : str or int
        What the process may use at most.
    vectors, n_topics
        As for `TopicVec`; if the number is to be found it is taken for the largest.
    n_jobs : int
        Number of workers.

    Returns
    -------
    int
        Bytes.
    """
    budget = parse_memory(memory)
    topics = most_topics(n_topics)
    needed = needed_memory(corpus, *_table_size(corpus, vectors), topics, n_jobs)
    if needed > budget:
        raise DataError(
            f"memory={memory} cannot be kept: {topics - 1} topics of {corpus.n_documents:,} "
            f"documents with {corpus.n_words:,} different words need about {needed / 1e9:.1f}GB: "
            f"give memory='{needed / 1e9 + 0.05:.1f}GB' (--memory), fewer topics or workers, or "
            "vectors='general', which learn no words"
        )
    return int((budget - needed) * _USED)


def most_topics(n_topics: Any) -> int:
    """Say how many topics there may be, the null topic among them.

    Examples
    --------
    >>> most_topics(8), most_topics("auto")
    (9, 201)
    """
    return 1 + (int(n_topics) if not isinstance(n_topics, str) else _MOST_TOPICS)


def _table_size(corpus: PreparedCorpus, vectors: Any) -> tuple[int, int, bool]:
    """Guess how many word vectors there will be, of how many dimensions; and whether they learn."""
    if isinstance(vectors, str) and vectors == "corpus":
        return corpus.n_repeated, N_DIMS, True
    general = load_vectors(None if hasattr(vectors, "index_to_key") else vectors)
    if vectors is not None:
        return len(general), general.n_dims, False
    n_known = sum(word in general for word in corpus.words)
    new = max(corpus.n_repeated - n_known, 0) * (1 + _PHRASES)
    return len(general) + int(new), general.n_dims + N_DIMS, True


def needed_memory(
    corpus: PreparedCorpus, n_words: int, n_dims: int, learns: bool, n_topics: int, n_jobs: int
) -> int:
    """Estimate the bytes that a fit of a prepared corpus needs, from sizes alone.

    Word vectors are learned, then topics. Beside the program, its general vectors and the words as
    text, learning holds the rows of new words, the residuals of all, and the vectors made of them;
    topics need these, two tables of all words by topics and seven of the words of the corpus.
    """
    types = min(corpus.n_repeated, n_words)
    vectors = 4 * n_words * n_dims
    fixed = _PROGRAM + _A_WORD * (corpus.n_words + n_words) + _A_DOCUMENT * corpus.n_documents
    learning = vectors + 4 * N_DIMS * types + max(vectors - 4 * 100_000 * n_dims, 0)
    tables = 4 * n_topics * (_OF_WORDS * n_words + _OF_TYPES * types)
    topics = vectors + tables + (2 * n_jobs + 1) * (_A_SHARD + 4 * n_topics * _SHARD_ROWS)
    return fixed + max(topics, learning + n_jobs * _A_WORKER if learns else 0)


def _joined(
    corpus: PreparedCorpus, counter: DocumentCounter, store: Store, joiner: Joiner, engine: Engine
) -> StoredReading:
    """Join phrases, leave out what is not counted, and number the rest by frequency."""
    kept = kept_table(joiner.words, counter.keep)
    times = np.zeros(len(kept), np.int64)
    blocks: list[FiledTokens] = []
    for tokens, part in engine.map(partial(_counted, joiner, kept), corpus.shards):
        times += part
        blocks.append(store.tokens(tokens))
    words, ordered, place = by_frequency(joiner.words, times)
    renamed = engine.map(partial(_renumbered, place), blocks)
    numbered: list[Block] = list(map(store.tokens, renamed))
    appeared = [joiner.words[i] for i in np.flatnonzero(times).tolist()]
    found = Numbered(words, ordered, numbered, corpus.n_documents)
    return StoredReading(counter, corpus, store, found, appeared, engine)


def _times(n_words: int, block: Block) -> NDArray[np.int64]:
    return np.bincount(block.take().ids, minlength=n_words)


def _counted(
    joiner: Joiner, kept: NDArray[np.bool_], block: Block
) -> tuple[Tokens, NDArray[np.int64]]:
    ids, lengths = joiner.join(block.take())
    stays = kept[ids]
    documents = np.repeat(np.arange(len(lengths)), lengths)
    left = np.bincount(documents[stays], minlength=len(lengths))
    ids = ids[stays]
    return Tokens(ids, left), np.bincount(ids, minlength=len(kept))


def _renumbered(place: NDArray[np.int32], block: Block) -> Tokens:
    ids, lengths = block.take()
    return Tokens(place[ids], lengths)


def _chunks(blocks: Iterable[Block], words: Sequence[str]) -> Iterator[ChunkCounts]:
    """Give the counts of some documents after the other."""
    names = np.array(words, object)
    for block in blocks:
        ids, lengths = block.take()
        parts = np.split(names[ids], np.cumsum(lengths)[:-1])
        for start in range(0, len(parts), _CHUNK):
            yield count_tokens([part.tolist() for part in parts[start : start + _CHUNK]])


def conclude_stored(
    fitted: FittedTopics, counts: StoredCounts, state: TopicState, engine: Engine
) -> FittedTopics:
    """Sum up what the documents say of topics that have been found, shard by shard.

    Parameters
    ----------
    fitted : FittedTopics
        The topics, of which masses and documents are not yet known.
    counts : StoredCounts
        The documents.
    state : TopicState
        Where EM ended; its mixtures are where these begin.
    engine : Engine
        Spreads the shards.

    Returns
    -------
    FittedTopics
    """
    corpus = counts.corpus(fitted.n_topics)
    table, _ = topic_table(fitted, corpus.types, engine)
    shares = np.zeros(table.shape, np.float32)
    best: tuple[Representatives, ...] = ((),) * fitted.n_topics
    finish = partial(_finished, corpus.compiled, table, corpus.allowed * fitted.alpha)
    pieces = zip(corpus.shards, state.theta, strict=True)
    shards = zip(corpus.shards, engine.map(finish, pieces), strict=True)

    def groups() -> Iterator[tuple[Floats, Floats]]:
        nonlocal best
        for group in corpus.groups:
            C, mass = np.zeros(table.shape, table.dtype), np.zeros(fitted.n_topics)
            for shard, (types, words, theirs, part, mine) in islice(
                shards, group.stop - group.start
            ):
                C[types] += words
                shares[types] += theirs
                mass = mass + part
                best = tuple(
                    better(old, new, shard.rows.start) for old, new in zip(best, mine, strict=True)
                )
            yield C, mass

    C, mass = fold(groups(), _together)
    masses = word_table(C, corpus.types, len(fitted.vectors))
    n_having, documents = document_table(shares, corpus, masses)
    return replace(
        fitted, mass=mass, word_mass=masses, word_documents=n_having, document_mass=documents,
        representative=best,
    )  # fmt: skip


def _together(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    C, mass = one
    C += other[0]
    return C, mass + other[1]


def _finished(compiled: bool, table: Floats, alpha: Floats, piece: tuple[Any, Any]) -> Any:
    """Find the mixtures of a shard to convergence; give what they say and the best documents."""
    shard, start = map(loaded, piece)
    theta, C, mass, *_ = fill_shard(compiled, table, alpha, TOL, MAX_PASSES, (shard, start))
    proportions = theta / theta.sum(axis=1, keepdims=True, dtype=float)
    shares = having((shard, proportions.astype(np.float32)))
    return shard.types, C, shares, mass, representatives(proportions)

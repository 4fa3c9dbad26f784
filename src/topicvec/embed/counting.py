"""Counting windowed co-occurrences of a stream of documents, in parallel, resumable.

Documents become ids in worker processes (`encode`); rows of the count matrix are cut into
fixed ranges, and each range is counted by one thread at a time over the same stream of ids
(`spill`). Workers that do not share this process's memory count a range anew over many tokens,
which they are sent once or read themselves from a prepared corpus, and give its sums back. All
sums are integers, so any number of workers, any budget and any restart give the same counts.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.checks import check_whole
from topicvec.embed.cooccurrence import (
    Cooccurrence,
    Direction,
    Progress,
    Weighting,
    WindowSettings,
    added,
)
from topicvec.embed.encode import Encoded, Mark, Tokenize, encode
from topicvec.embed.spill import (
    Checkpoint,
    Corner,
    RowRange,
    Run,
    claim_folder,
    load_first_pass,
    row_ranges,
    save_first_pass,
)
from topicvec.engine import Engine, near, resolve_engine
from topicvec.errors import DataError, TopicVecError
from topicvec.text import Tokenizer, Vocabulary
from topicvec.text.counting import growing_ids
from topicvec.text.prepared import PreparedCorpus, ShardFile, Tokens
from topicvec.text.tokenizer import describe_tokenizer

__all__ = ["count_cooccurrences", "count_corpus"]

COMMIT_EVERY = 50_000  # documents
COMMIT_TOKENS = 20_000_000  # commit after so many in any case: documents may be books
N_RANGES = 16  # of rows: more than most machines have cores, few enough to scan all ids for each
BATCH = 1 << 21  # tokens counted at a time
FAR_BATCH = 1 << 26  # by workers elsewhere, whose sums have to come here after each batch


def count_cooccurrences(
    documents: Iterable[Any],
    vocabulary: Vocabulary,
    *,
    window: int = 10,
    direction: Direction = "both",
    weighting: Weighting = "harmonic",
    min_tokens: int = 1,
    tokenizer: Tokenize | None = None,
    n_jobs: Engine | int | None = None,
    memory_budget: int = 1 << 31,
    folder: str | Path | None = None,
    commit_every: int = COMMIT_EVERY,
    progress: Progress | None = None,
) -> Cooccurrence:
    """Count how often words of a vocabulary stand near each other.

    Parameters
    ----------
    documents : iterable
        Texts, token lists, objects with a ``text``, or a prepared corpus. Windows never cross
        documents; tokens outside the vocabulary keep their place in the window.
    vocabulary : Vocabulary
    window : int
        How many tokens to look at on a side.
    direction : {"left", "right", "both"}
        Where the row's word stands, seen from the column's word.
    weighting : {"flat", "harmonic", "linear"}
        What a pair at distance d counts: 1, 1/d, or (window + 1 − d)/window. The last is the
        mean of a window drawn at random from 1 to ``window``.
    min_tokens : int
        Shorter documents are left out.
    tokenizer : callable, optional
        From a text to its tokens; ``Tokenizer()`` if not given.
    n_jobs : int or Engine, optional
        Number of workers; ``None`` or -1 means one for each core.
    memory_budget : int
        Bytes for the sums while counting; beyond it sorted runs go to disk. The result comes
        on top.
    folder : path, optional
        Commit progress there. A run that was stopped goes on where it was when called again
        with the same documents and settings; others are refused.
    commit_every : int
        Commit after each so many documents, and after 20 million tokens in any case; where
        workers elsewhere count, after 67 million tokens.
    progress : callable, optional
        Called as ``progress("counting", n_documents, None)``.

    Returns
    -------
    Cooccurrence

    Examples
    --------
    >>> vocabulary = Vocabulary.from_counts({"cat": 2, "dog": 1, "and": 2})
    >>> counts = count_cooccurrences(
    ...     [["cat", "and", "dog"], ["and", "cat"]], vocabulary, window=2, weighting="flat"
    ... )
    >>> counts.words
    ('and', 'cat', 'dog')
    >>> counts.counts.toarray().tolist()
    [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    """
    settings = WindowSettings(window, direction, weighting, min_tokens)
    check_whole("commit_every", commit_every, 1)
    tokenizer = Tokenizer() if tokenizer is None else tokenizer
    work = {"n_jobs": n_jobs, "memory_budget": memory_budget, "progress": progress}
    every = commit_every if folder is not None else None
    return _count_documents(documents, vocabulary, settings, tokenizer, folder, every, work)


def _count_documents(
    documents: Iterable[Any],
    vocabulary: Vocabulary,
    settings: WindowSettings,
    tokenizer: Tokenize,
    folder: str | Path | None,
    commit_every: int | None,
    work: dict[str, Any],
    end: Mark | None = None,
) -> Cooccurrence:
    _check(vocabulary, work["memory_budget"])
    with _checkpoint(folder, _fingerprint(vocabulary, settings, tokenizer)) as checkpoint:
        tally = _Tally(vocabulary, settings, checkpoint, commit_every, **work)
        with _naming(folder, checkpoint):
            encoded = encode(
                documents, tokenizer, work["n_jobs"],
                commit_every=commit_every, start=checkpoint.mark,
            )  # fmt: skip
            return tally.count(_ending_at(encoded, checkpoint.mark, end))


@contextmanager
def _naming(folder: str | Path | None, checkpoint: Checkpoint) -> Iterator[None]:
    """Let the error of a lost cluster, a damaged file or a full disk tell what is kept."""
    try:
        yield
    except TopicVecError as error:
        of_users = isinstance(error, DataError) and not isinstance(error.__cause__, OSError)
        if folder is None or of_users:
            raise
        n = 0 if checkpoint.mark is None else checkpoint.mark.n_documents
        raise type(error)(
            f"{error}; the counts of {n:,} documents are kept in {folder}: with this folder the "
            "same call goes on from there"
        ) from error


def _ending_at(
    chunks: Iterable[Encoded], start: Mark | None, end: Mark | None
) -> Iterator[Encoded]:
    """Pass chunks on, and check that they were those that the vocabulary was made from."""
    mark = start
    for chunk in chunks:
        mark = chunk.mark
        if end is not None and mark.n_documents >= end.n_documents and mark != end:
            break  # before anything beyond is counted and committed
        yield chunk
    if end is not None and mark != end:
        raise DataError(
            f"the vocabulary in the folder was made from {end.n_documents} other documents: "
            "give the same documents, or another folder"
        )


def count_corpus(
    documents: Iterable[Any],
    settings: WindowSettings,
    *,
    min_count: int = 1,
    max_words: int | None = None,
    tokenizer: Tokenize | None = None,
    n_jobs: Engine | int | None = None,
    memory_budget: int = 1 << 31,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Cooccurrence:
    """Choose a vocabulary and count its co-occurrences.

    Documents are read and tokenized once; ids wait in a temporary file, four bytes a token.
    With a ``folder`` they are read twice, and counting is resumable; the words found in the
    first pass are kept in the folder, and a run that goes on reads the documents once. A prepared
    corpus has its ids in files, which are read twice.

    Parameters
    ----------
    documents : iterable
        Texts, token lists, objects with a ``text``, or a prepared corpus.
    settings : WindowSettings
    min_count : int
        Rarer words are left out.
    max_words : int, optional
        Keep only so many words, the most frequent.
    tokenizer, n_jobs, memory_budget, folder
        As in `count_cooccurrences`.
    progress : callable, optional
        Called with "reading", then with "counting".

    Returns
    -------
    Cooccurrence

    Examples
    --------
    >>> count_corpus([["a", "b", "a"], ["a"]], WindowSettings(1), max_words=2).words
    ('a', 'b')
    """
    tokenizer = Tokenizer() if tokenizer is None else tokenizer
    limits: dict[str, Any] = {"min_count": min_count, "max_words": max_words}
    work: dict[str, Any] = {"n_jobs": n_jobs, "memory_budget": memory_budget, "progress": progress}
    if folder is not None:
        vocabulary, end = _first_pass(documents, limits, tokenizer, n_jobs, Path(folder), progress)
        return _count_documents(
            documents, vocabulary, settings, tokenizer, folder, COMMIT_EVERY, work, end
        )
    if isinstance(documents, PreparedCorpus):
        counted, _, _ = _take_in(encode(documents, tokenizer), None, progress)
        vocabulary = Vocabulary.from_counts(counted, **limits)
        return _count_documents(documents, vocabulary, settings, tokenizer, None, None, work)
    with TemporaryFile(prefix="topicvec-") as file, _checkpoint(None, "") as checkpoint:
        counted, lengths, _ = _take_in(encode(documents, tokenizer, n_jobs), file, progress)
        vocabulary = Vocabulary.from_counts(counted, **limits)
        _check(vocabulary, memory_budget)
        file.seek(0)
        tally = _Tally(vocabulary, settings, checkpoint, None, **work)
        return tally.count(_replay(file, list(counted), lengths))


def _first_pass(
    documents: Iterable[Any],
    limits: dict[str, Any],
    tokenizer: Tokenize,
    n_jobs: Engine | int | None,
    folder: Path,
    progress: Progress | None,
) -> tuple[Vocabulary, Mark]:
    """Choose the vocabulary, or find the one that a former run has left in the folder."""
    if iter(documents) is documents:
        raise DataError(
            "with a folder documents are read twice, and this source can be read once only: "
            "give a list, or an object that starts anew each time"
        )
    claim_folder(folder)
    fingerprint = f"{limits} {describe_tokenizer(tokenizer)}"
    found = load_first_pass(folder, fingerprint)
    if found is not None:
        return found
    encoded = encode(documents, tokenizer, n_jobs, commit_every=COMMIT_EVERY)
    counted, _, end = _take_in(encoded, None, progress)
    vocabulary = Vocabulary.from_counts(counted, **limits)
    save_first_pass(folder, fingerprint, vocabulary, end)
    return vocabulary, end


def _take_in(
    encoded: Iterable[Encoded], cache: IO[bytes] | None, progress: Progress | None
) -> tuple[dict[str, int], list[NDArray[np.int64]], Mark]:
    """Number the words of a corpus, count them, and keep the ids for a second look."""
    index = growing_ids()
    totals = np.zeros(0, np.int64)
    lengths, words = [], None
    for chunk in encoded:
        if chunk.words is not words:  # shards of a corpus have the same
            words = chunk.words
            table = np.fromiter((index[word] for word in words), np.int32, len(words))
        ids = table[chunk.ids]
        found = np.bincount(ids, minlength=len(index))
        found[: totals.size] += totals
        totals = found
        lengths.append(chunk.lengths)
        if cache is not None:
            _keep(ids, cache)
        if progress:
            progress("reading", chunk.mark.n_documents, None)
    if not index:
        raise DataError("there are no words to count: the source is empty")
    return dict(zip(index, totals.tolist(), strict=True)), lengths, chunk.mark


def _keep(ids: NDArray[np.int32], cache: IO[bytes]) -> None:
    try:
        cache.write(ids.tobytes())
        cache.flush()
    except OSError as error:
        raise DataError(
            f"the numbers of words find no room in {gettempdir()}: {error.strerror}: let TMPDIR "
            "name a folder on a larger disk, or give a work folder, with which texts are read twice"
        ) from error


def _replay(
    file: IO[bytes], words: list[str], lengths: list[NDArray[np.int64]]
) -> Iterator[Encoded]:
    done = 0
    for part in lengths:
        done += part.size
        ids = np.frombuffer(file.read(4 * int(part.sum())), np.int32)
        yield Encoded(words, ids, part, Mark(done, ""))


def _check(vocabulary: Vocabulary, memory_budget: int) -> None:
    if not len(vocabulary.words):
        raise DataError("the vocabulary is empty: count more text, or lower min_count")
    if memory_budget < 1 << 20:
        raise DataError(f"memory_budget must be at least 1 MiB (1048576); found {memory_budget}")


def _fingerprint(vocabulary: Vocabulary, settings: WindowSettings, tokenizer: Tokenize) -> str:
    name = describe_tokenizer(tokenizer)
    words = hashlib.blake2b("\n".join(vocabulary.words).encode("utf-8", "surrogatepass"))
    return (
        f"{settings.window} {settings.weighting} {settings.min_tokens} {name} {words.hexdigest()}"
    )


@contextmanager
def _checkpoint(folder: str | Path | None, fingerprint: str) -> Iterator[Checkpoint]:
    if folder is not None:
        yield Checkpoint(Path(folder), fingerprint)
        return
    with TemporaryDirectory(prefix="topicvec-") as temporary:
        yield Checkpoint(Path(temporary), fingerprint)


class _Tally:
    """Counts a stream of encoded documents: translates chunks to ids, batches and adds them up.

    It starts from a checkpoint, and spills and commits to it: after each so many documents and
    after `COMMIT_TOKENS`, with workers elsewhere after `FAR_BATCH`, or never if ``commit_every`` is
    None.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        settings: WindowSettings,
        checkpoint: Checkpoint,
        commit_every: int | None,
        n_jobs: Engine | int | None,
        memory_budget: int,
        progress: Progress | None,
    ) -> None:
        self.words, self.ids = vocabulary.words, dict(vocabulary.ids)
        self.settings, self.checkpoint, self.commit_every = settings, checkpoint, commit_every
        self.engine, self.progress = resolve_engine(n_jobs), progress
        self.is_far = not getattr(self.engine, "shares_memory", False)
        self.unigram = np.zeros(len(self.words), np.int64)
        self.n_tokens = checkpoint.n_tokens
        mass = np.asarray(vocabulary.counts, np.int64)
        self.blank, spans = _ranges(mass, settings, memory_budget)
        self.ranges = [self.blank(span) for span in spans]
        self.table: tuple[Sequence[str], NDArray[np.int32]] = ((), np.empty(0, np.int32))
        checkpoint.restore(self.unigram, self.ranges)

    def count(self, encoded: Iterable[Encoded]) -> Cooccurrence:
        """Count everything that comes, and make the record."""
        mark = self.checkpoint.mark or Mark(0, "")
        batch: list[_Stream] = []
        size, enough = 0, FAR_BATCH if self.is_far else BATCH
        for chunk in encoded:
            batch.append(self._translate(chunk))
            mark, size = chunk.mark, size + chunk.ids.size
            full = size >= enough
            due = self._commit_is_due(mark, full)
            if due or full:
                self._add(batch, mark)
                batch, size = [], 0
            if due:
                self.checkpoint.commit(mark, self.n_tokens, self.unigram, self.ranges)
            if self.progress:
                self.progress("counting", mark.n_documents, None)
        self._add(batch, mark)
        return self._result(mark)

    def _commit_is_due(self, mark: Mark, full: bool) -> bool:
        if self.commit_every is None:
            return False
        if self.is_far:
            return full  # a commit ends a batch, and a small one costs workers elsewhere more
        many = self.n_tokens - self.checkpoint.n_tokens >= COMMIT_TOKENS
        return many or mark.n_documents % self.commit_every == 0

    def _translate(self, chunk: Encoded) -> "_Stream":
        if self.table[0] is not chunk.words:
            found = (self.ids.get(word, -1) for word in chunk.words)
            self.table = (chunk.words, np.fromiter(found, np.int32, len(chunk.words)))
        stream = _Stream(Tokens(chunk.ids, chunk.lengths), self.table[1], self.settings)
        ids = stream.known(chunk.ids, chunk.lengths)
        self.n_tokens += int(chunk.lengths[chunk.lengths >= self.settings.min_tokens].sum())
        self.unigram += np.bincount(ids[ids >= 0], minlength=self.unigram.size)
        if self.is_far and chunk.file is not None:
            return stream._replace(tokens=chunk.file)  # workers elsewhere read it themselves
        return stream

    def _add(self, batch: list["_Stream"], mark: Mark) -> None:
        if not batch:
            return
        folder, stem = self.checkpoint.folder, str(mark.n_documents)
        if self.is_far:
            spans = [rows.rows for rows in self.ranges]
            found = self.engine.map(partial(_count_elsewhere, batch, self.blank), spans)
            for rows, sums in zip(self.ranges, found, strict=True):
                rows.take(*sums, folder, f"{stem}-far")
        else:
            stream = np.concatenate([each.take() for each in batch])
            add = partial(RowRange.add, stream=stream, folder=folder, stem=stem)
            self.ranges = list(self.engine.map(add, self.ranges))

    def _result(self, mark: Mark) -> Cooccurrence:
        if not mark.n_documents:
            raise DataError("there are no documents to count: the source is empty")
        rows = list(near(self.engine).map(RowRange.finish, self.ranges))
        self.ranges = []  # their memory is needed for what follows
        lengths, indices, data = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        del rows
        indptr = np.concatenate([[0], lengths]).cumsum()
        counts = csr_array((data, indices, indptr), shape=(len(self.words),) * 2)
        if self.settings.direction == "right":
            counts = counts.T.tocsr()
        elif self.settings.direction == "both":
            counts = added(counts, counts.T.tocsr())
        found = (self.words, self.unigram, counts, self.settings)
        return Cooccurrence(*found, mark.n_documents, self.n_tokens).in_order()


class _Stream(NamedTuple):
    """Documents to count: their tokens or the file that has them, and the numbers of words."""

    tokens: Tokens | ShardFile
    table: NDArray[np.int32]
    settings: WindowSettings

    def take(self) -> NDArray[np.int32]:
        """Give the words' numbers, −1 for others, and gaps between documents."""
        ids, lengths = self.tokens.take()
        return _with_gaps(self.known(ids, lengths), lengths, self.settings.window)

    def known(self, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> NDArray[np.int32]:
        """Translate tokens; those of short documents are no words."""
        known = self.table[ids]
        known[np.repeat(lengths < self.settings.min_tokens, lengths)] = -1
        return known


def _count_elsewhere(
    batch: list[_Stream], blank: Callable[[tuple[int, int]], RowRange], span: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Run]:
    """Count some rows over documents, spilling to files of the machine where that is done."""
    rows = blank(span)
    with TemporaryDirectory(prefix="topicvec-") as folder:
        for number, stream in enumerate(batch):
            rows.add(stream.take(), Path(folder), str(number))
        return rows.counted()


def _ranges(
    mass: NDArray[np.int64], settings: WindowSettings, memory_budget: int
) -> tuple[Callable[[tuple[int, int]], RowRange], list[tuple[int, int]]]:
    """Cut the rows, and say how to make the empty range of each."""
    n_words = mass.size
    if 2 * math.log2(n_words) + settings.window.bit_length() > 62:
        raise DataError(f"{n_words} words are too many to count: lower max_words")
    spans = row_ranges(mass, N_RANGES)
    share = (memory_budget - memory_budget // 4) // len(spans)
    corner = Corner.within(n_words, memory_budget // 4 // 8)
    weights = settings.weights
    blank = partial(RowRange, corner=corner, n_words=n_words, weights=weights, memory_budget=share)
    return blank, spans


def _with_gaps(
    ids: NDArray[np.int32], lengths: NDArray[np.int64], window: int
) -> NDArray[np.int32]:
    # A window of gaps after each document: the inner loop need not know where documents end.
    stream = np.full(ids.size + lengths.size * window, -1, np.int32)
    before = np.repeat(np.arange(lengths.size) * window, lengths)
    stream[np.arange(ids.size) + before] = ids
    return stream

"""The loop that counts: translate chunks to ids, batch them, count row ranges, commit."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed.checkpoint import Checkpoint
from topicvec.embed.cooccurrence import Cooccurrence, Progress, WindowSettings
from topicvec.embed.encode import Encoded, Mark
from topicvec.embed.spill import Corner, RowRange, row_ranges
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.text import Vocabulary

__all__ = ["Counter"]

N_RANGES = 16  # of rows: more than most machines have cores, few enough to scan all ids for each
BATCH = 1 << 21  # tokens counted at a time
COMMIT_TOKENS = 20_000_000  # commit after so many in any case: documents may be books


class Counter:
    """Counts a stream of encoded documents into row ranges.

    Parameters
    ----------
    vocabulary : Vocabulary
    settings : WindowSettings
    n_jobs : int, optional
    memory_budget : int
        Bytes for the sums.
    checkpoint : Checkpoint
        Where to start from, and where to spill and commit to.
    commit_every : int, optional
        Commit after each so many documents, and after `COMMIT_TOKENS`; never if not given.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        settings: WindowSettings,
        n_jobs: int | None,
        memory_budget: int,
        checkpoint: Checkpoint,
        commit_every: int | None,
    ) -> None:
        self.words, self.ids = vocabulary.words, dict(vocabulary.ids)
        self.settings, self.checkpoint, self.commit_every = settings, checkpoint, commit_every
        self.engine = LocalEngine(n_jobs)
        self.unigram = np.zeros(len(self.words), np.int64)
        self.n_tokens = checkpoint.n_tokens
        self.ranges = _ranges(np.asarray(vocabulary.counts, np.int64), settings, memory_budget)
        self.table: tuple[Sequence[str], NDArray[np.int32]] = ((), np.empty(0, np.int32))
        checkpoint.restore(self.unigram, self.ranges)

    def count(self, encoded: Iterable[Encoded], progress: Progress | None) -> Cooccurrence:
        """Count everything that comes, and make the record."""
        mark = self.checkpoint.mark or Mark(0, "")
        batch: list[NDArray[np.int32]] = []
        for chunk in encoded:
            batch.append(self._translate(chunk))
            mark = chunk.mark
            due = self._commit_is_due(mark)
            if due or sum(part.size for part in batch) >= BATCH:
                self._add(batch, mark)
                batch = []
            if due:
                self.checkpoint.commit(mark, self.n_tokens, self.unigram, self.ranges)
            if progress:
                progress("counting", mark.n_documents, None)
        self._add(batch, mark)
        return self._result(mark)

    def _commit_is_due(self, mark: Mark) -> bool:
        if self.commit_every is None:
            return False
        many = self.n_tokens - self.checkpoint.n_tokens >= COMMIT_TOKENS
        return many or mark.n_documents % self.commit_every == 0

    def _translate(self, chunk: Encoded) -> NDArray[np.int32]:
        if self.table[0] is not chunk.words:
            found = (self.ids.get(word, -1) for word in chunk.words)
            self.table = (chunk.words, np.fromiter(found, np.int32, len(chunk.words)))
        ids = self.table[1][chunk.ids]
        short = chunk.lengths < self.settings.min_tokens
        if short.any():
            ids[np.repeat(short, chunk.lengths)] = -1
        self.n_tokens += int(chunk.lengths[~short].sum())
        self.unigram += np.bincount(ids[ids >= 0], minlength=self.unigram.size)
        return _with_gaps(ids, chunk.lengths, self.settings.window)

    def _add(self, batch: list[NDArray[np.int32]], mark: Mark) -> None:
        if batch:
            stream = np.concatenate(batch)
            add = partial(_add_stream, stream, self.checkpoint.folder, str(mark.n_documents))
            list(self.engine.map(add, self.ranges))

    def _result(self, mark: Mark) -> Cooccurrence:
        if not mark.n_documents:
            raise DataError("there are no documents to count: the source is empty")
        rows = list(self.engine.map(RowRange.finish, self.ranges))
        self.ranges = []  # their memory is needed for what follows
        indptr = np.concatenate([[0], *(part[0] for part in rows)]).cumsum()
        indices = np.concatenate([part[1] for part in rows])
        data = np.concatenate([part[2] for part in rows])
        del rows
        left = csr_array((data, indices, indptr), shape=(len(self.words),) * 2)
        return Cooccurrence.from_left(
            self.words, self.unigram, left, self.settings, mark.n_documents, self.n_tokens
        )


def _add_stream(stream: NDArray[np.int32], folder: Path, stem: str, rows: RowRange) -> None:
    rows.add(stream, folder, stem)


def _ranges(
    mass: NDArray[np.int64], settings: WindowSettings, memory_budget: int
) -> list[RowRange]:
    n_words = mass.size
    if 2 * math.log2(n_words) + settings.window.bit_length() > 62:
        raise DataError(f"{n_words} words are too many to count: lower max_words")
    corner = Corner.within(n_words, memory_budget // 4 // 8)
    spans = row_ranges(mass, N_RANGES)
    share = (memory_budget - memory_budget // 4) // len(spans)
    weights = settings.weights
    return [RowRange(span, corner, n_words, weights, share) for span in spans]


def _with_gaps(
    ids: NDArray[np.int32], lengths: NDArray[np.int64], window: int
) -> NDArray[np.int32]:
    # A window of gaps after each document: the inner loop need not know where documents end.
    stream = np.full(ids.size + lengths.size * window, -1, np.int32)
    before = np.repeat(np.arange(lengths.size) * window, lengths)
    stream[np.arange(ids.size) + before] = ids
    return stream

"""What the topics imply for all words: log-partitions, mean vectors, the E-step's table.

This is where an iteration's unavoidable matrix products are: V Tᵀ and Pᵀ V over the vocabulary.
Entry k of every result depends on topic k alone, to the bit, so the results of two evaluations
can be mixed topic by topic.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicvec.engine import Engine
from topicvec.model.corpus import Lexicon
from topicvec.model.state import freeze
from topicvec.model.twins import weight_floor

__all__ = ["HEAD_SIZE", "Tables", "evaluate", "exp_table"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

HEAD_SIZE = 32  # probable words kept for each topic; with 64 a step is no better, but dearer
_HEAD_SHARE = 1 / 512  # a word of the head has at least this probability
_SLACK = 1e-3  # more than rounding: which words are in a head must not depend on it
_ROWS = 2048  # a block of logits stays in the cache for the passes over it


@dataclass(frozen=True)
class Tables:
    """What follows from the topics. The first axis is the topic, but for ``dots``.

    Parameters
    ----------
    log_partition : array, (K,)
        log Σ_w u_w exp(v_w·t_k), which is −r.
    mean : array, (K, N)
        E_{P(w|k)}[v].
    spread : array, (K,)
        Trace of Cov_{P(w|k)}[v].
    head_rows, head_shares : arrays, (K, HEAD_SIZE)
        The most probable words and their P(w|k); share 0 where there are fewer.
    dots : array, (U, K)
        v_w·t_k for the word types of the corpus.
    """

    log_partition: Floats
    mean: Floats
    spread: Floats
    head_rows: Ints
    head_shares: Floats
    dots: Floats

    def __post_init__(self) -> None:
        freeze(self)

    def where(self, chosen: NDArray[np.bool_], other: "Tables") -> "Tables":
        """Take the chosen topics from here and the rest from another evaluation."""
        if chosen.all():
            return self
        mixed = {}
        for field in fields(self):
            mixed[field.name] = getattr(self, field.name).copy()
            rest = (..., ~chosen) if field.name == "dots" else ~chosen
            mixed[field.name][rest] = getattr(other, field.name)[rest]
        return Tables(**mixed)


class _Block(NamedTuple):
    peak: Floats  # (K,) largest dot
    total: Floats  # (K,) Σ p, with p = u exp(dot − peak)
    square: Floats  # (K,) Σ p ‖v‖²
    moment: Floats  # (K, N) Σ p v
    rows: Ints  # candidates for the head: row, topic, p
    topics: Ints
    values: Floats


def evaluate(engine: Engine, lexicon: Lexicon, topics: Floats) -> Tables:
    """Compute the tables of topics (K, N) over fixed blocks of the vocabulary."""
    n_words = len(lexicon.vectors)
    starts = np.arange(0, n_words, _ROWS)
    edges = np.searchsorted(lexicon.rows, np.append(starts, n_words))
    transposed = np.ascontiguousarray(topics.T)
    sums = np.stack([np.ones_like(lexicon.squares), lexicon.squares])
    dots = np.empty((len(lexicon.rows), len(topics)), topics.dtype)
    least = topics @ lexicon.centre - _SLACK  # log-partitions are no less (Jensen)

    def block(i: int) -> _Block:
        rows = slice(starts[i], starts[i] + _ROWS)
        p = lexicon.vectors[rows] @ transposed
        own = slice(edges[i], edges[i + 1])
        # "clip" only in name: with the default, numpy fills a second array first
        np.take(p, lexicon.rows[own] - starts[i], axis=0, out=dots[own], mode="clip")
        u = lexicon.unigram[rows].astype(topics.dtype)
        return _evaluate_block(p, lexicon.vectors[rows], u, sums[:, rows], least, int(starts[i]))

    return _merge(engine.map(block, range(len(starts))), dots, topics)


def _evaluate_block(
    p: Floats, V: Floats, u: Floats, sums: Floats, least: Floats, first: int
) -> _Block:
    """Sum up a block of dots p, which is overwritten."""
    peak = p.max(axis=0)
    p -= peak
    np.exp(p, out=p)
    p *= u[:, None]
    total, square = (sums @ p).astype(float)
    least_total = np.maximum(total, np.exp(np.minimum(least - peak, 10)))  # p is at most 1
    probable = np.flatnonzero(p > (_HEAD_SHARE * least_total).astype(p.dtype))
    rows, topics = np.divmod(probable, p.shape[1])
    return _Block(peak, total, square, p.T @ V, rows + first, topics, p.ravel()[probable])


def _merge(blocks: Iterable[_Block], dots: Floats, topics: Floats) -> Tables:
    peak = np.full(len(topics), -np.inf)
    total, square, moment = np.zeros(len(topics)), np.zeros(len(topics)), np.zeros(topics.shape)
    candidates = []
    for block in blocks:
        top = np.maximum(peak, block.peak)
        old, new = np.exp(peak - top), np.exp(block.peak - top)
        total = total * old + block.total * new
        square = square * old + block.square * new
        moment *= old[:, None]
        moment += block.moment * new.astype(topics.dtype)[:, None]
        candidates.append(
            (block.rows, block.topics, np.log(block.values) + block.peak[block.topics])
        )
        peak = top
    log_partition = peak + np.log(total)
    mean = moment / total[:, None]
    spread = np.maximum(square / total - (mean**2).sum(1), 1e-12)
    rows, owners, logs = (np.concatenate(parts) for parts in zip(*candidates, strict=True))
    head = _heads(rows, owners, np.exp(logs - log_partition[owners]), len(topics))
    return Tables(log_partition, mean, spread, *head, dots)


def _heads(rows: Ints, owners: Ints, shares: Floats, n_topics: int) -> tuple[Ints, Floats]:
    """Sort the candidates by topic and share, and keep the first of each topic."""
    kept = np.flatnonzero(shares > _HEAD_SHARE)
    kept = kept[np.lexsort((-shares[kept], owners[kept]))]
    sizes = np.bincount(owners[kept], minlength=n_topics)
    rank = np.arange(len(kept)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept, rank = kept[rank < HEAD_SIZE], rank[rank < HEAD_SIZE]
    head_rows = np.zeros((n_topics, HEAD_SIZE), np.int64)
    head_shares = np.zeros((n_topics, HEAD_SIZE))
    head_rows[owners[kept], rank] = rows[kept]
    head_shares[owners[kept], rank] = shares[kept]
    return head_rows, head_shares


def exp_table(engine: Engine, dots: Floats, log_partition: Floats) -> tuple[Floats, Floats, Floats]:
    """Prepare exp(v·t + r) for the E-step.

    Returns
    -------
    table : array, (U, K)
        The exponentials, each row divided by its maximum.
    peak : array, (U,)
        Logarithms of these maxima.
    rounding : array, (K,)
        What the residuals lost in the precision of the table.
    """
    table, peak = np.empty_like(dots), np.empty(len(dots))
    residuals = -log_partition.astype(dots.dtype)

    def fill(start: int) -> None:
        rows = slice(start, start + _ROWS)
        logits = np.add(dots[rows], residuals, out=table[rows])
        top = logits.max(axis=1, keepdims=True)
        logits -= top
        np.maximum(np.exp(logits, out=logits), weight_floor(dots.dtype), out=logits)
        peak[rows] = top[:, 0]

    for _ in engine.map(fill, range(0, len(table), _ROWS)):
        pass
    return table, peak, -log_partition - residuals

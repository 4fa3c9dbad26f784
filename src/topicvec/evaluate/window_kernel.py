"""The compiled inner loop of window counting; its readable twin is in the tests."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.kernels import compiled

__all__ = ["count_chunk"]

Array = NDArray[Any]


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
def count_chunk(
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
    number of windows.
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

"""Other words: one weighted ridge regression each on the core vectors, exact and sparse.

    v_i = (V₁ᵀ D² diag(w_i) V₁ + μI)⁻¹ V₁ᵀ D² diag(w_i) ḡ_i

Core words that i was never seen with all have one small weight b and one target, so their part,
b V₁ᵀD²V₁ + μI = L Lᵀ, is the same for every word with the same ridge. In the coordinates
Z = DV₁L⁻ᵀ it is the identity, and each word costs only what it was seen with.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from topicvec.embed import kernels
from topicvec.embed.association import Margins
from topicvec.embed.cooccurrence import Cooccurrence, Progress, as_triple
from topicvec.embed.eigen import Floats, Matrix, Rows
from topicvec.engine import Engine, Part, one_blas_thread
from topicvec.errors import DataError

__all__ = ["regress"]

Ids = NDArray[np.int64]

WORDS = 64  # of a task
LEAST_UNSEEN_WEIGHT = 0.0005  # in each direction; together the 0.001 of the original program


def regress(
    counts: Cooccurrence,
    margins: Margins,
    core: Ids,
    core_vectors: Matrix,
    words: Ids,
    ridge: Floats,
    engine: Engine,
    *,
    progress: Progress | None = None,
) -> Matrix:
    """Solve words against fixed vectors of other words.

    Parameters
    ----------
    counts : Cooccurrence
    margins : Margins
        Of these counts.
    core : ndarray of int, shape (n_core,)
        Ids, in the counts, of the words whose vectors are known.
    core_vectors : ndarray of float32, shape (n_core, n_dims)
    words : ndarray of int, shape (n,)
        Ids of the words to solve.
    ridge : ndarray of float64, shape (n,)
        μ of each word.
    engine : Engine
        How work is spread; each worker gets what all words share once, and counts of its words.
    progress : callable, optional
        Called as ``progress("other words", n_done, n)``.

    Returns
    -------
    ndarray of float32, shape (n, n_dims)
        A word that was seen with no core word gets what the ridge and unseen pairs say.

    Examples
    --------
    >>> from topicvec.embed.association import measure_margins
    >>> from topicvec.embed.counting import count_cooccurrences
    >>> from topicvec.engine import LocalEngine
    >>> from topicvec.text import Vocabulary
    >>> vocabulary = Vocabulary.from_counts({"cat": 3, "sat": 2, "mat": 1})
    >>> texts = [["cat", "sat"], ["cat", "sat"], ["cat", "mat"]]
    >>> counts = count_cooccurrences(texts, vocabulary, window=1)
    >>> core_vectors = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    >>> ids, ridge = np.array([2]), np.array([1.0])
    >>> margins = measure_margins(counts)
    >>> regress(counts, margins, np.arange(2), core_vectors, ids, ridge, LocalEngine(1)).shape
    (1, 2)
    """
    if not np.all(ridge > 0):
        raise DataError(f"every ridge must be above 0; found {ridge.min()}")
    margins = _with_unseen(margins)
    position = np.full(counts.n_words, -1, np.int64)
    position[core] = np.arange(core.size)
    position[words] = -1  # a word is never solved against itself or others being solved
    x = counts.counts
    both = x, x if counts.settings.direction == "both" else x.T.tocsr()
    out = np.empty((words.size, core_vectors.shape[1]), np.float32)
    n_done = 0
    for mu in np.unique(ridge):
        chosen = np.flatnonzero(ridge == mu)
        solve = _solver(core_vectors, float(mu), margins, position, engine)
        tasks = [chosen[begin : begin + WORDS] for begin in range(0, chosen.size, WORDS)]
        results = engine.map(solve, (_Words.of(words[task], *both) for task in tasks))
        for task, solved in zip(tasks, results, strict=True):
            out[task] = solved
            n_done += task.size
            if progress:
                progress("other words", n_done, words.size)
    return out


class _Words(NamedTuple):
    """Some words, and their rows of the counts and of their transpose."""

    ids: Ids
    counts: Part
    transposed: Part

    @classmethod
    def of(cls, ids: Ids, counts: csr_array, transposed: csr_array) -> "_Words":
        rows = Part(counts, ids)  # one, where both are the same, that it is sent once
        return cls(ids, rows, rows if transposed is counts else Part(transposed, ids))

    def take(self) -> tuple[kernels.Triple, kernels.Triple]:
        """Give the rows as kernels take them."""
        rows = as_triple(self.counts.take())
        same = self.transposed is self.counts
        return rows, rows if same else as_triple(self.transposed.take())


def _with_unseen(margins: Margins) -> Margins:
    if margins.unseen_weight >= LEAST_UNSEEN_WEIGHT:
        return margins
    # The least weight goes with target 0, as in the original; ln κ would pull every word
    # away from all it was not seen with: test_unseen_core_words_have_target_zero.
    return replace(margins, unseen_weight=LEAST_UNSEEN_WEIGHT, unseen_target=0.0)


def _solver(
    V: Matrix,
    mu: float,
    margins: Margins,
    position: Ids,
    engine: Engine,
) -> Callable[[_Words], Matrix]:
    rows = Rows(len(V), engine)
    importance = np.zeros(len(V))  # words being solved are no evidence
    importance[position[position >= 0]] = margins.importance[position >= 0]
    U = (V * importance[:, None]).astype(np.float32)
    b, g0 = 2 * margins.unseen_weight, margins.unseen_target
    B = b * rows.gram(U, U) + mu * np.eye(V.shape[1])
    with one_blas_thread():
        inverse = solve_triangular(np.linalg.cholesky(B), np.eye(len(B)), lower=True)  # L⁻¹
    Z = rows.rotate(U, inverse.T)
    sums = rows.weigh(importance, U)
    y0 = (inverse @ (b * g0 * sums)).astype(np.float32)
    inverse32 = np.ascontiguousarray(inverse, np.float32)
    numbers = margins.for_kernels

    def solve(words: _Words) -> Matrix:
        Y, arrays = np.tile(y0, (words.ids.size, 1)), words.take()
        seen, d, q = np.empty(len(Z), np.int64), np.empty(len(Z)), np.empty(len(Z))
        B = np.empty_like(Z)  # touched as far as a word has seen, so cheap
        for row, (word, y) in enumerate(zip(words.ids, Y, strict=True)):
            n = kernels.join_counts(word, row, *arrays, numbers, position, seen, d, q)
            _solve_one(seen[:n], d[:n], q[:n], importance, Z, B[:n], y)
        return np.asarray(Y @ inverse32)

    return solve


def _solve_one(
    seen: Ids, d: Floats, q: Floats, importance: Floats, Z: Matrix, B: Matrix, y: Matrix
) -> None:
    """Solve (I + Z_Sᵀ D Z_S) y = y0 + Z_Sᵀ q in place, S what the word saw of the core.

    With fewer seen words than dimensions the kernel form is solved instead:
    y = r − Bᵀ (I + BBᵀ)⁻¹ B r with B = √D Z_S.
    """
    kernels.gather_rows(seen, d, q, importance, Z, B, y)
    if not d.size or not d.max() > 0:
        return  # nothing weighs more than unseen pairs: y is exact
    if d.size >= y.size:
        info = kernels.solve_gram(B, True, y)
    else:
        e = kernels.project(B, y)
        info = kernels.solve_gram(B, False, e)
        kernels.take_away(B, e, y)
    if info:
        raise DataError("a regression is singular: raise ridge")

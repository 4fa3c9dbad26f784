"""The hot loops, to be read: the twins of `kernels`, of the same signatures.

They also do the work of small corpora: importing numba and loading a compiled kernel takes longer
than finding the topics of an article. `tests/model/core/test_kernels.py` says that they agree.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

__all__ = ["e_step", "weight_floor", "word_mass"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]


def weight_floor(dtype: np.dtype[np.floating]) -> float:
    """Give the smallest weight used, so that the product of two never underflows."""
    return 1e-18 if np.dtype(dtype) == np.float32 else 1e-140


def e_step(
    indptr: Ints, words: Ints, counts: Floats, table: Floats, alpha: Floats, group: Ints,
    theta: Floats, tol: float, max_passes: int, floor: float,
    new_theta: Floats, weight: Floats, ratio: Floats, mass: Floats,
) -> tuple[float, int]:  # fmt: skip
    """Find the mixtures of a shard of documents, see `topicvec.model.kernels.e_step`."""
    bound, passes = 0.0, 0
    for d in range(len(indptr) - 1):
        cells = slice(indptr[d], indptr[d + 1])
        n, prior, rows = counts[cells].astype(float), alpha[group[d]], table[words[cells]]
        new_theta[d] = theta[d]
        for _ in range(max_passes):
            passes += 1
            expected = digamma(np.where(prior > 0, new_theta[d], 1)) - digamma(new_theta[d].sum())
            weight[d] = np.where(prior > 0, np.maximum(np.exp(expected), floor), 0)
            ratio[cells] = n / (rows @ weight[d])
            found = (ratio[cells] @ rows) * weight[d]
            change = np.abs(prior + found - new_theta[d]).sum()
            new_theta[d] = prior + found
            if change <= 2 * tol * n.sum():
                break
        a, m, w = prior[prior > 0], found[prior > 0], weight[d][prior > 0]
        bound += n @ np.log(n / ratio[cells]) - m @ np.log(w)
        bound += np.sum(gammaln(a + m) - gammaln(a)) + gammaln(a.sum()) - gammaln(a.sum() + n.sum())
        mass += found
    return float(bound), passes


def word_mass(
    indptr: Ints, documents: Ints, cells: Ints, ratio: Floats, weight: Floats, table: Floats
) -> Floats:
    """Sum responsibilities of words, see `topicvec.model.kernels.word_mass`."""
    cells_of = ratio[cells[indptr[0] : indptr[-1]], None]
    parts = cells_of * weight[documents[indptr[0] : indptr[-1]]]
    return np.asarray(np.add.reduceat(parts, indptr[:-1] - indptr[0], axis=0) * table)

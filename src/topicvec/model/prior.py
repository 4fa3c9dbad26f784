"""The prior of the mixtures, learned: an asymmetric α that raises the bound."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from topicvec.model.corpus import Corpus
from topicvec.model.equations import inverse_digamma
from topicvec.model.state import DocStats

__all__ = ["learn_alpha"]

Floats = NDArray[np.floating]

_LEAST, _MOST = 1e-3, 1e3
_N_ROUNDS = 20


def learn_alpha(corpus: Corpus, stats: DocStats, alpha: Floats) -> tuple[Floats, float]:
    """Raise the bound in α by Minka's fixed point, and give the rise.

    With groups of documents that may use different topics, ψ(α_k) is set to the mean over the
    documents d that may use k of ψ(Σ_{j allowed in d} α_j) + E[log φ_dk]. Every round raises the
    bound, also when it is cut off at the limits, for the bound is concave in each log-prior.
    """
    sizes = np.bincount(corpus.group, minlength=len(corpus.allowed)).astype(float)
    allowed = corpus.allowed.astype(float)
    users = np.maximum(sizes @ allowed, 1.0)
    new = alpha
    for _ in range(_N_ROUNDS):
        pull = (sizes * digamma(allowed @ new)) @ allowed + stats.log_phi
        new = np.clip(inverse_digamma(pull / users), _LEAST, _MOST)
    rise = _objective(sizes, allowed, stats, new) - _objective(sizes, allowed, stats, alpha)
    return (new, rise) if rise > 0 else (alpha, 0.0)


def _objective(sizes: Floats, allowed: Floats, stats: DocStats, alpha: Floats) -> float:
    """Give the part of the bound that depends on α."""
    normalizers = gammaln(allowed @ alpha) - allowed @ gammaln(alpha)
    return float(sizes @ normalizers + alpha @ stats.log_phi)

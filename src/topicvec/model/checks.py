"""Parameters as users give them, refused before any work is done."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicvec.checks import check_number, check_whole
from topicvec.engine import Engine, LocalEngine, resolve_engine
from topicvec.errors import DataError, EngineError

__all__ = [
    "check_length",
    "check_training",
    "checked_alpha",
    "checked_engine",
    "checked_mask",
]

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]


def check_training(
    max_iter: object, tol: object, min_share: object = None, max_cosine: object = None
) -> None:
    """Refuse what would fail only after a fit has begun."""
    check_whole("max_iter", max_iter, 1)
    check_number("tol", tol)
    for name, value in (("min_share", min_share), ("max_cosine", max_cosine)):
        if value is not None:
            check_number(name, value, 0, 1)


def check_length(y: Any, n_documents: int) -> None:
    """Refuse classes, if there are any, that are not one for each document."""
    if y is None:
        return
    is_sequence = hasattr(y, "__len__") and not isinstance(y, str) and getattr(y, "ndim", 1) > 0
    found = len(y) if is_sequence else type(y).__name__
    if found != n_documents:
        raise DataError(
            f"y must have a class for each of the {n_documents} documents; found {found}"
        )


def checked_engine(n_jobs: Any) -> Engine:
    """Make an engine of ``n_jobs``, one whose workers share memory.

    Examples
    --------
    >>> checked_engine(2)
    LocalEngine(n_jobs=2, kind='thread')
    """
    engine = resolve_engine(int(n_jobs) if isinstance(n_jobs, np.integer) else n_jobs)
    if isinstance(engine, LocalEngine) and engine.kind == "process":
        # The pieces of the E-step fill arrays of this process, which others would only copy.
        raise EngineError(
            "topics are learned by threads, which share memory; found n_jobs with processes: "
            f"use n_jobs={engine.n_jobs} or LocalEngine({engine.n_jobs}, kind='thread')"
        )
    return engine


def checked_alpha(alpha: Any, n_topics: int) -> tuple[Floats, bool]:
    """Give the prior as an array, and whether it is to be learned.

    Examples
    --------
    >>> checked_alpha("learn", 3)
    (array(0.1), True)
    """
    learn = isinstance(alpha, str) and alpha == "learn"
    if isinstance(alpha, str) and not learn:
        raise DataError(f"alpha must be a number, an array or 'learn'; found {alpha!r}")
    prior = np.asarray(0.1 if learn else alpha, float)
    if prior.shape not in ((), (n_topics,)) or not (np.isfinite(prior) & (prior > 0)).all():
        raise DataError(f"alpha must be positive, one number or {n_topics}; found {alpha!r}")
    return prior, learn


def checked_mask(mask: ArrayLike | None, n_documents: int, n_topics: int) -> Bools | None:
    """Refuse a mask of the wrong shape or kind; allow the null topic everywhere."""
    if mask is None:
        return None
    allowed = np.asarray(mask)
    if allowed.shape != (n_documents, n_topics) or allowed.dtype != bool:
        raise DataError(
            f"mask must be bool with shape ({n_documents}, {n_topics}), documents × topics; "
            f"found {allowed.dtype} {allowed.shape}"
        )
    allowed = allowed.copy()
    allowed[:, 0] = True
    return allowed

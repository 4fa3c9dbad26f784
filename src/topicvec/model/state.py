"""The records that the EM loop passes on. Arrays in them are read-only."""

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError

__all__ = ["DocStats", "Settings", "StepInfo", "TopicState", "freeze"]

Floats = NDArray[np.floating]


def freeze(record: object) -> None:
    """Make the arrays of a record read-only.

    A view keeps its base writable, so nothing outside the record changes.
    """
    for field in fields(record):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            view = value.view()
            view.flags.writeable = False
            object.__setattr__(record, field.name, view)


@dataclass(frozen=True)
class Settings:
    """What a fit is told besides the data.

    Parameters
    ----------
    max_norm : float
        Radius γ of the ball that holds the topics.
    solver : {"newton", "paper"}
        How the M-step moves the topics, see `topicvec.model.solvers`.
    learn_alpha : bool
        Whether the prior of the mixtures is learned (asymmetric).
    inner_tol : float
        A document is done when less than this share of its tokens changed topic in a pass.
    max_passes : int
        Limit of passes over a document in one E-step.
    learning_rate, base_length : float
        λ_0 and L_0 of the paper's solver.

    Examples
    --------
    >>> Settings(max_norm=5.0).solver
    'newton'
    """

    max_norm: float = 7.0
    solver: Literal["newton", "paper"] = "newton"
    learn_alpha: bool = False
    inner_tol: float = 1e-2
    max_passes: int = 5
    learning_rate: float = 0.1
    base_length: float = 10000.0

    def __post_init__(self) -> None:
        if not 0 < self.max_norm < np.inf:
            raise DataError(f"max_norm must be positive and finite; found {self.max_norm}")
        if self.solver not in ("newton", "paper"):
            raise DataError(f"solver must be 'newton' or 'paper'; found {self.solver!r}")
        if self.max_passes < 1:
            raise DataError(f"max_passes must be at least 1; found {self.max_passes}")


@dataclass(frozen=True)
class TopicState:
    """Everything that is needed to go on from an iteration, to the bit.

    Parameters
    ----------
    topics : array, (K, N)
        Topic vectors T; row 0 is the null topic.
    residuals : array, (K,)
        Topic residuals r.
    alpha : array, (K,)
        Prior of the documents' mixtures.
    theta : array, (D, K)
        Dirichlet parameters of the documents' mixtures; zero where a topic is not allowed.
    curvature : array, (K,)
        The solver's running estimate of each topic's curvature.
    iteration : int
        How many iterations led here.
    bound : float
        The bound of the corpus here; minus infinity before the first iteration.
    """

    topics: Floats
    residuals: Floats
    alpha: Floats
    theta: Floats
    curvature: Floats
    iteration: int = 0
    bound: float = -np.inf

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True)
class DocStats:
    """What the documents say about the topics. Statistics of parts of a corpus add.

    Parameters
    ----------
    mass : array, (K,)
        Expected number of tokens of each topic, m̄.
    moment : array, (K, N)
        Sum of the vectors of these tokens, S.
    log_phi : array, (K,)
        Sum over documents of E[log φ_dk]; zero unless the prior is learned.
    bound : float
        The bound of these documents.
    n_tokens : float
        Number of tokens.
    n_documents : int
        Number of documents.
    n_passes : int
        Passes over documents.

    Examples
    --------
    >>> one = DocStats(np.ones(2), np.ones((2, 3)), np.zeros(2), -5.0, 2.0, 1, 4)
    >>> (one + one).bound
    -10.0
    """

    mass: Floats
    moment: Floats
    log_phi: Floats
    bound: float
    n_tokens: float
    n_documents: int
    n_passes: int

    def __post_init__(self) -> None:
        freeze(self)

    def __add__(self, other: "DocStats") -> "DocStats":
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return DocStats(*(a + b for a, b in pairs))


@dataclass(frozen=True)
class StepInfo:
    """What happened in one iteration.

    Parameters
    ----------
    iteration : int
        1 for the first.
    bound : float
        The true bound of the corpus at the state that comes with this record.
    bound_per_token : float
        The same for each token.
    change : float
        Rise of ``bound_per_token`` in this iteration; infinite in the first.
    topic_mass : array, (K,)
        Expected number of tokens of each topic.
    n_accepted : int
        Topics that moved.
    n_passes : int
        Passes over documents in the E-step.
    seconds_e, seconds_m : float
        Wall-clock time of the two steps.
    """

    iteration: int
    bound: float
    bound_per_token: float
    change: float
    topic_mass: Floats
    n_accepted: int
    n_passes: int
    seconds_e: float
    seconds_m: float

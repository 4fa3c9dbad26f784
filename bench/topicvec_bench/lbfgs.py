"""L-BFGS on a matrix, for the models that fit vectors or coefficients."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from topicvec_bench.base import Floats

__all__ = ["descend"]


def descend(
    objective: Callable[[Floats], tuple[float, Floats]], start: Floats, n_steps: int
) -> Floats:
    """Minimise a function of a matrix.

    Parameters
    ----------
    objective : callable
        Gives the value at a matrix, and the gradient of the same shape.
    start : ndarray
        Where to begin.
    n_steps : int
        Limit of steps.

    Returns
    -------
    ndarray
        Float64, of the shape of ``start``.

    Examples
    --------
    >>> descend(lambda x: (np.sum((x - 3) ** 2), 2 * (x - 3)), np.zeros((1, 2)), 10)
    array([[3., 3.]])
    """

    def flat_objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = objective(flat.reshape(start.shape))
        return float(value), gradient.ravel().astype(np.float64)

    found = minimize(
        flat_objective, start.ravel().astype(np.float64), jac=True, method="L-BFGS-B",
        options={"maxiter": n_steps},
    )  # fmt: skip
    return np.asarray(found.x.reshape(start.shape))

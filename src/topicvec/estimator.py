"""What scikit-learn asks of an estimator, without importing scikit-learn.

Importing scikit-learn takes longer than finding the topics of an article, so its rules are
followed here by their names alone; ``clone``, pipelines, searches and ``check_estimator`` work
(tests/model/test_sklearn.py).
"""

import copy
import inspect
from typing import Any, Self

from topicvec.engine import Engine
from topicvec.errors import DataError

__all__ = ["Estimator", "not_fitted"]


class Estimator:
    """Parameters as scikit-learn keeps them: stored untouched under their own names.

    Examples
    --------
    >>> class Sieve(Estimator):
    ...     def __init__(self, width=1, depth=2):
    ...         self.width, self.depth = width, depth
    >>> Sieve(width=3).set_params(depth=4).get_params()
    {'width': 3, 'depth': 4}
    >>> Sieve(width=3)
    Sieve(width=3)
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            For scikit-learn; no parameter has parameters of its own.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters.

        Parameters
        ----------
        **params
            New values by name.

        Returns
        -------
        Estimator
            This object.
        """
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                expected = ", ".join(known)
                raise DataError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {expected}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = (
            f"{name}={_short(getattr(self, name))}"
            for name, default in self._defaults().items()
            if getattr(self, name) is not default and repr(getattr(self, name)) != repr(default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_clone__(self) -> Self:
        # Word vectors and fitted models are large and do not change: a clone shares them.
        params = {name: _copied(value) for name, value in self.get_params().items()}
        return type(self)(**params)

    def __sklearn_is_fitted__(self) -> bool:
        return any(name.endswith("_") and not name.startswith("__") for name in vars(self))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(
                one_d_array=True, two_d_array=True, sparse=True, string=True, positive_only=True
            ),
        )


def not_fitted(estimator: object, lack: str = "topics") -> Exception:
    """Make scikit-learn's error for a model that has not been fitted.

    Examples
    --------
    >>> not_fitted(Estimator())
    NotFittedError('this Estimator has no topics yet: call fit first')
    """
    from sklearn.exceptions import NotFittedError

    error: Exception = NotFittedError(
        f"this {type(estimator).__name__} has no {lack} yet: call fit first"
    )
    return error


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"<{type(value).__name__}>"


def _copied(value: Any) -> Any:
    # A copied tokenizer or engine would lose its models, files and connections; word
    # vectors and records of topics say themselves that a copy of them is they.
    shared = isinstance(value, (Estimator, Engine)) or callable(value)
    return value if shared else copy.deepcopy(value)

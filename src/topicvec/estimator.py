"""What scikit-learn asks of an estimator, without importing scikit-learn.

Importing scikit-learn takes longer than finding the topics of an article, so its rules are
followed here by their names alone; ``clone``, pipelines, searches and ``check_estimator`` work
(tests/model/test_sklearn.py).
"""

import copy
import inspect
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, ClassVar, Self

from topicvec.engine import Engine, is_connection
from topicvec.errors import DataError

__all__ = ["Estimator", "handed_names", "not_fitted"]


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

    _takes_counts: ClassVar[bool] = False  # a matrix of them, beside texts

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

    def __getstate__(self) -> dict[str, Any]:
        # A connection to a cluster stays where it is; None, the default, goes in its place.
        items = vars(self).items()
        return {name: None if is_connection(value) else value for name, value in items}

    def __sklearn_clone__(self) -> Self:
        # Word vectors and fitted models are large and do not change: a clone shares them.
        params = {name: _copied(value) for name, value in self.get_params().items()}
        made = type(self)(**params)
        if wish := vars(self).get("_sklearn_output_config"):  # a kind of table, of `set_output`
            vars(made)["_sklearn_output_config"] = dict(wish)
        return made

    def __sklearn_is_fitted__(self) -> bool:
        return any(name.endswith("_") and not name.startswith("__") for name in vars(self))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        counts = self._takes_counts
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(
                two_d_array=counts, sparse=counts, string=True, positive_only=counts
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


def handed_names(X: Any) -> list[str] | None:
    """Ask the pipeline that hands a matrix over for the names of its columns.

    scikit-learn passes sparse counts on without the words of their columns, but the steps before
    know them.

    Parameters
    ----------
    X : matrix
        What the step that is running was given.

    Returns
    -------
    list of str, or None
        None if no pipeline is running, or if its steps do not tell.

    Examples
    --------
    >>> handed_names([[1, 0]])
    """
    for frame in _frames(sys._getframe(1)):
        pipeline = frame.f_locals.get("self")
        if not (hasattr(type(pipeline), "named_steps") and _hands_over(frame, X)):
            continue
        steps = getattr(pipeline, "steps", [])
        place = frame.f_locals.get("step_idx", len(steps) - 1)
        if place < 1:  # an outer pipeline may know
            continue
        try:
            names = [str(name) for name in pipeline[:place].get_feature_names_out()]  # type: ignore[index]
        except (AttributeError, ValueError):  # a step without names
            return None
        return names if len(names) == X.shape[1] else None
    return None


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _hands_over(frame: FrameType, X: Any) -> bool:
    return any(value is X for value in frame.f_locals.values())


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"<{type(value).__name__}>"


def _copied(value: Any) -> Any:
    # A copied tokenizer or engine would lose its models, files and connections; word
    # vectors and records of topics say themselves that a copy of them is they.
    shared = isinstance(value, (Estimator, Engine)) or callable(value)
    return value if shared else copy.deepcopy(value)

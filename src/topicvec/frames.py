"""Tables of pandas and polars: made of columns, and of what estimators give.

Neither is needed by anything else, so they are imported when a table is asked for.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError, require

__all__ = ["Frame", "check_frame", "framed", "make_frame", "output_of", "row_names"]

Frame = Literal["pandas", "polars"]


def check_frame(kind: str) -> None:
    """Refuse a kind of table that is not known.

    Examples
    --------
    >>> check_frame("excel")
    Traceback (most recent call last):
    topicvec.errors.DataError: frame must be 'pandas' or 'polars'; found 'excel'
    """
    if kind not in get_args(Frame):
        raise DataError(f"frame must be 'pandas' or 'polars'; found {kind!r}")


def make_frame(
    columns: Mapping[str, Sequence[Any] | NDArray[Any]], kind: str = "pandas", index: Any = None
) -> Any:
    """Make a DataFrame of columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        All of one length.
    kind : {"pandas", "polars"}
        Whose table.
    index : sequence, optional
        Names of the rows, which polars does not have.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame

    Examples
    --------
    >>> make_frame({"topic": [1, 2], "label": ["sea", "sky"]}).shape
    (2, 2)
    """
    check_frame(kind)
    module = require(kind, kind, "a table")
    columns = {name: _plain(values) for name, values in columns.items()}
    return module.DataFrame(columns, index=index) if kind == "pandas" else module.DataFrame(columns)


def _plain(values: Any) -> Any:
    """Make lists of tuples, which a table may take for columns of their own."""
    if isinstance(values, np.ndarray) or not any(isinstance(value, tuple) for value in values):
        return values
    return [list(value) if isinstance(value, tuple) else value for value in values]


def output_of(estimator: object) -> str:
    """Say what kind of table an estimator is to give: its own wish, or scikit-learn's for all.

    Examples
    --------
    >>> output_of(object())
    'default'
    """
    wish = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if wish is None and "sklearn" in sys.modules:  # or else nobody has set it
        wish = sys.modules["sklearn"].get_config()["transform_output"]
    return wish or "default"


def framed(estimator: Any, table: NDArray[Any], documents: Any) -> Any:
    """Give what `transform` found as the kind of table that is wished for.

    Parameters
    ----------
    estimator : object with ``get_feature_names_out``
        Whose wish it is.
    table : array, (D, F)
        What was found.
    documents : documents
        If they are a Series or DataFrame of pandas, the rows keep their names.

    Returns
    -------
    array or DataFrame

    Examples
    --------
    >>> framed(object(), np.eye(1), ["a text"])
    array([[1.]])
    """
    kind = output_of(estimator)
    if kind == "default":
        return table
    names = estimator.get_feature_names_out()
    return make_frame(dict(zip(names, table.T, strict=True)), kind, row_names(documents))


def row_names(documents: Any) -> Any:
    """Give the index of a Series or DataFrame of pandas; None of anything else.

    Examples
    --------
    >>> row_names(["a list has a method of that name"])
    """
    index = getattr(documents, "index", None)
    return None if callable(index) else index

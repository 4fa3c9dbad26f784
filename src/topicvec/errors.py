"""Everything topicvec raises on purpose.

::

    TopicVecError
    ├── DataError (ValueError)        the input cannot be used as it is
    ├── VocabularyMismatch            two things were built on different words
    ├── FormatError                   a file is damaged or not what it claims to be
    ├── EngineError                   spreading the work failed
    └── MissingExtra (ImportError)    an optional dependency is not installed

Each message says what was expected, what was found and what to do. The command line prints it
as one line and exits with code 2.
"""

import importlib
import sys
import warnings
from types import ModuleType
from typing import Any

__all__ = [
    "DataError",
    "EngineError",
    "FormatError",
    "MissingExtra",
    "OutOfVocabularyWarning",
    "TopicVecError",
    "VocabularyMismatch",
    "require",
    "warn",
]


class TopicVecError(Exception):
    """The root of every error that topicvec raises on purpose."""


class DataError(TopicVecError, ValueError):
    """The input cannot be used as it is; the message says which part and what to do."""


class VocabularyMismatch(TopicVecError):
    """Two things that must speak of the same words do not."""


class FormatError(TopicVecError):
    """A file is damaged, truncated, newer than this version, or not what it claims to be."""


class EngineError(TopicVecError):
    """Spreading the work over threads, processes or machines failed."""


class MissingExtra(TopicVecError, ImportError):
    """An optional dependency is needed and not installed; the message has the pip command."""


class OutOfVocabularyWarning(UserWarning):
    """Words or whole documents are unknown to the vocabulary in use."""


_PASSED_BY = {"topicvec", "contextlib", "sklearn", "joblib"}  # frames that are not the user's


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line: the nearest one that is not in this package.

    Parameters
    ----------
    message : str
        What was found and what to do.
    category : type
        Kind of the warning.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn("no word has a vector")
    >>> caught[0].filename == __file__  # not this module's own line, but the caller's
    False
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _PASSED_BY:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def require(module: str, extra: str, purpose: str) -> Any:
    """Import an optional module, or say in one line how to install it.

    Parameters
    ----------
    module : str
        Name to import, for example ``"pyarrow.parquet"``.
    extra : str
        The extra of topicvec that brings it.
    purpose : str
        What it is needed for, as the subject of "… needs …".

    Returns
    -------
    module
        The imported module.

    Examples
    --------
    >>> require("json", "readers", "reading JSON").loads("[1]")
    [1]
    >>> require("no_such_module", "readers", "reading Parquet")
    Traceback (most recent call last):
    topicvec.errors.MissingExtra: reading Parquet needs no_such_module: pip install ...
    """
    try:
        found: ModuleType = importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        message = f'{purpose} needs {package}: pip install "topicvec[{extra}]"'
        raise MissingExtra(message) from error
    return found

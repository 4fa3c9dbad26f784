"""Parameters of a model as JSON and back, without pickle.

What cannot be written as JSON and is needed only to fit (topics to start from, a callback, a
generator) is left out; a tokenizer of the user's own is remembered by its name.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from topicvec.errors import DataError
from topicvec.model.fitted import Setting
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary

__all__ = ["MissingTokenizer", "from_settings", "to_settings"]

_PLAIN = (str, int, float, bool, type(None))
_ONLY_TO_FIT = {"vectors", "fixed_topics", "callback", "checkpoint", "n_jobs", "verbose"}


class MissingTokenizer:
    """Stands for a tokenizer that a saved model needs and cannot bring along.

    Examples
    --------
    >>> MissingTokenizer("my.cutter")("some text")
    Traceback (most recent call last):
    topicvec.errors.DataError: the model was fitted with the tokenizer my.cutter, ...
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"MissingTokenizer({self.name!r})"

    def __call__(self, text: str) -> NoReturn:  # noqa: ARG002
        """Say what to do."""
        raise DataError(
            f"the model was fitted with the tokenizer {self.name}, which a file cannot hold: "
            "give it again, TopicVec.load(path, tokenizer=…)"
        )


def to_settings(params: Mapping[str, Any]) -> dict[str, Setting]:
    """Write the parameters that JSON can hold.

    Examples
    --------
    >>> to_settings({"n_topics": 5, "alpha": np.ones(2), "callback": print})
    {'n_topics': 5, 'alpha': [1.0, 1.0]}
    """
    kept = {name: value for name, value in params.items() if name not in _ONLY_TO_FIT}
    tokenizer = kept.pop("tokenizer", None)
    written = {name: _written(value) for name, value in kept.items()}
    settings = {name: value for name, value in written.items() if value is not NotImplemented}
    if tokenizer is not None:
        settings["tokenizer"] = _tokenizer_name(tokenizer)
    return settings


def from_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Read parameters that `to_settings` wrote.

    Examples
    --------
    >>> from_settings({"n_topics": 5, "tokenizer": "topicvec:original"})
    {'n_topics': 5, 'tokenizer': Tokenizer(rules='original')}
    """
    params = dict(settings)
    name = params.pop("tokenizer", None)
    if name is not None:
        owner, _, rules = str(name).partition(":")
        params["tokenizer"] = Tokenizer(rules) if owner == "topicvec" else MissingTokenizer(name)  # type: ignore[arg-type]
    return params


def _tokenizer_name(tokenizer: Any) -> str:
    if isinstance(tokenizer, Tokenizer):
        return f"topicvec:{tokenizer.rules}"
    if isinstance(tokenizer, MissingTokenizer):
        return tokenizer.name
    owner = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
    return f"{getattr(owner, '__module__', 'builtins')}.{owner.__qualname__}"


def _written(value: Any) -> Any:
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Vocabulary):
        return list(value.words)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return value.tolist()
    if isinstance(value, Mapping):
        return _written_mapping(value)
    if isinstance(value, Iterable) and not isinstance(value, np.ndarray):
        return _written_list(sorted(value) if isinstance(value, (set, frozenset)) else list(value))
    return NotImplemented


def _written_mapping(value: Mapping[Any, Any]) -> Any:
    written = {str(name): _written(each) for name, each in value.items()}
    return NotImplemented if NotImplemented in written.values() else written


def _written_list(values: list[Any]) -> Any:
    written = [_written(each) for each in values]
    return NotImplemented if any(each is NotImplemented for each in written) else written

"""What vectors say of how they were made."""

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from topicvec.embed.cooccurrence import Cooccurrence
from topicvec.embed.factorize import Factorization
from topicvec.embed.tokenizer_name import describe_tokenizer
from topicvec.text import Tokenizer

__all__ = ["describe_counting", "describe_training"]

SETTINGS = (
    "smoothing", "unseen_weight", "frequency_power", "context_power", "subsample", "n_iter",
    "ridge",
)  # fmt: skip


def describe_training(
    settings: Mapping[str, Any], counts: Cooccurrence, core: Factorization, n_core: int
) -> dict[str, str]:
    """Metadata of vectors, from the settings of `PSDVec` and what it was trained on."""
    chosen = {name: settings[name] for name in SETTINGS}
    return {
        "method": "PSDVec",
        # By name: the package lists all its parts for type checkers, also those above this one.
        "topicvec": import_module("topicvec").__version__,
        "n_core": str(n_core),
        "n_words": str(counts.n_words),
        "n_documents": str(counts.n_documents),
        "n_tokens": str(counts.n_tokens),
        "window": json.dumps(vars(counts.settings), default=_plain),
        "settings": json.dumps(chosen, default=_plain),
        "eigenvalues": json.dumps([float(f"{value:.6g}") for value in core.eigenvalues]),
        "eigenvalue_power": "0.5",
    }


def describe_counting(min_count: int, tokenizer: Callable[..., Any] | None) -> dict[str, str]:
    """Metadata of vectors from text; counts that were given do not say these.

    Examples
    --------
    >>> describe_counting(5, str.split)
    {'min_count': '5', 'tokenizer': 'str.split'}
    """
    used = Tokenizer() if tokenizer is None else tokenizer
    return {"min_count": str(min_count), "tokenizer": describe_tokenizer(used)}


def _plain(value: Any) -> Any:
    return value.tolist()  # numbers and arrays of NumPy are settings too

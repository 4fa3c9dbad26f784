"""Word vectors: counting, factorizing, the record that holds them, and their files."""

import importlib
from typing import TYPE_CHECKING, Any

from topicvec.embed.load import ZipfWarning, load_vectors
from topicvec.embed.vectors import Alignment, WordVectors

if TYPE_CHECKING:
    from topicvec.embed.cooccurrence import Cooccurrence, WindowSettings
    from topicvec.embed.counting import count_cooccurrences, count_corpus
    from topicvec.embed.psdvec import PSDVec, damp

__all__ = [
    "Alignment",
    "Cooccurrence",
    "PSDVec",
    "WindowSettings",
    "WordVectors",
    "ZipfWarning",
    "count_cooccurrences",
    "count_corpus",
    "damp",
    "load_vectors",
]

# Compiled loops take a moment to import, and whoever only loads vectors needs none of them.
_HOME = {
    "Cooccurrence": "cooccurrence",
    "PSDVec": "psdvec",
    "WindowSettings": "cooccurrence",
    "count_cooccurrences": "counting",
    "count_corpus": "counting",
    "damp": "psdvec",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

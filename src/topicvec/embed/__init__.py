"""Word vectors: counting, factorizing, the record that holds them, and their files."""

import importlib
from typing import TYPE_CHECKING, Any

from topicvec.embed.load import ZipfWarning, load_vectors
from topicvec.embed.vectors import Alignment, WordVectors

if TYPE_CHECKING:
    from topicvec.embed.cooccurrence import Cooccurrence as Cooccurrence
    from topicvec.embed.cooccurrence import WindowSettings as WindowSettings
    from topicvec.embed.counting import count_cooccurrences as count_cooccurrences
    from topicvec.embed.counting import count_corpus as count_corpus
    from topicvec.embed.psdvec import PSDVec as PSDVec
    from topicvec.embed.psdvec import damp as damp

# Compiled loops take a moment to import, and whoever only loads vectors needs none of them.
_NAMES = {
    "cooccurrence": "Cooccurrence WindowSettings",
    "counting": "count_cooccurrences count_corpus",
    "psdvec": "PSDVec damp",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["Alignment", "WordVectors", "ZipfWarning", "load_vectors", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

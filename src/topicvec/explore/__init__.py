"""Showing a model with its corpus: plain records first, then pages that only read them.

Pictures have a package of their own and can be reached from here too, where they once were.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec import pictures as pictures
    from topicvec.explore.collection import Collection as Collection
    from topicvec.explore.report import write_report as write_report
    from topicvec.explore.server import serve as serve

_HOME = {"Collection": "collection", "serve": "server", "write_report": "report"}

__all__ = ["Collection", "pictures", "serve", "write_report"]


def __getattr__(name: str) -> Any:
    # Imported when first used: a report does not wait for the server.
    if name == "pictures":
        return importlib.import_module("topicvec.pictures")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

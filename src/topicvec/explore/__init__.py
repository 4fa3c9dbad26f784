"""Showing what a model found: plain records first, then pictures and pages that only read them."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec.explore.prepare import Collection as Collection
    from topicvec.explore.report import write_report as write_report
    from topicvec.explore.server import serve as serve

_HOME = {"Collection": "prepare", "serve": "server", "write_report": "report"}

__all__ = ["Collection", "serve", "write_report"]


def __getattr__(name: str) -> Any:
    # Imported when first used: a picture does not wait for the index of documents.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

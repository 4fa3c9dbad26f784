"""From a model and texts to plain records that a page can show.

Nothing here knows HTML; nothing in a page knows the model.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec.explore.prepare.corpus import Collection as Collection
    from topicvec.explore.prepare.documents import DocumentView as DocumentView
    from topicvec.explore.prepare.documents import Span as Span
    from topicvec.explore.prepare.documents import locate as locate
    from topicvec.explore.prepare.records import DocumentCard as DocumentCard
    from topicvec.explore.prepare.records import DocumentPage as DocumentPage
    from topicvec.explore.prepare.records import Found as Found
    from topicvec.explore.prepare.records import Missing as Missing
    from topicvec.explore.prepare.records import Overview as Overview
    from topicvec.explore.prepare.records import TextPart as TextPart
    from topicvec.explore.prepare.records import TopicPage as TopicPage
    from topicvec.explore.prepare.topics import TopicView as TopicView

_HOME = {
    "Collection": "corpus",
    "DocumentCard": "records",
    "DocumentPage": "records",
    "DocumentView": "documents",
    "Found": "records",
    "Missing": "records",
    "Overview": "records",
    "Span": "documents",
    "TextPart": "records",
    "TopicPage": "records",
    "TopicView": "topics",
    "locate": "documents",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    # Imported when first used: a coloured text does not wait for the index of documents.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

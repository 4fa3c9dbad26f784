"""From a model and texts to plain records that a page can show.

Nothing here knows HTML; nothing in a page knows the model.
"""

from topicvec.explore.prepare.corpus import Collection
from topicvec.explore.prepare.documents import DocumentView, Span, locate
from topicvec.explore.prepare.records import (
    DocumentCard,
    DocumentPage,
    Found,
    Missing,
    Overview,
    TextPart,
    TopicPage,
)
from topicvec.explore.prepare.topics import TopicView

__all__ = [
    "Collection",
    "DocumentCard",
    "DocumentPage",
    "DocumentView",
    "Found",
    "Missing",
    "Overview",
    "Span",
    "TextPart",
    "TopicPage",
    "TopicView",
    "locate",
]

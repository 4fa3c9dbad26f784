"""Showing what a model found: plain records first, then pages that only read them."""

from topicvec.explore.page import write_page
from topicvec.explore.prepare import DocumentView, PageData, TopicView, prepare

__all__ = ["DocumentView", "PageData", "TopicView", "prepare", "write_page"]

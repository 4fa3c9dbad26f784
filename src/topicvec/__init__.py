"""Generative topic embeddings: topics as vectors in the word-vector space.

The names below are imported when they are first used, so ``import topicvec`` is quick.
"""

import importlib

from topicvec.version import __version__

TYPE_CHECKING = False  # as typing says, which would take most of the time of this import
if TYPE_CHECKING:
    from typing import Any

    from topicvec import datasets as datasets
    from topicvec.embed import PSDVec as PSDVec
    from topicvec.embed import WordVectors as WordVectors
    from topicvec.embed import load_vectors as load_vectors
    from topicvec.model import TopicVec as TopicVec
    from topicvec.represent import DocumentIndex as DocumentIndex
    from topicvec.represent import TopicClassifier as TopicClassifier
    from topicvec.represent import TopicFeatures as TopicFeatures
    from topicvec.represent import summarize as summarize
    from topicvec.text import BagOfWords as BagOfWords
    from topicvec.text import Document as Document
    from topicvec.text import Tokenizer as Tokenizer
    from topicvec.text import Vocabulary as Vocabulary
    from topicvec.text import read_documents as read_documents

_HOME = {
    "BagOfWords": "topicvec.text",
    "Document": "topicvec.text",
    "DocumentIndex": "topicvec.represent",
    "PSDVec": "topicvec.embed",
    "Tokenizer": "topicvec.text",
    "TopicClassifier": "topicvec.represent",
    "TopicFeatures": "topicvec.represent",
    "TopicVec": "topicvec.model.topicvec",
    "Vocabulary": "topicvec.text",
    "WordVectors": "topicvec.embed",
    "load_vectors": "topicvec.embed",
    "read_documents": "topicvec.text",
    "summarize": "topicvec.represent",
}

# Packages that the docs name in full, as topicvec.measure.c_v; they wait for their first use too.
_PACKAGES = {"datasets", "embed", "measure", "model", "pictures", "represent", "text"}

__all__ = [*_HOME, "__version__", "datasets"]


def __getattr__(name: str) -> "Any":
    if name in _PACKAGES:
        return importlib.import_module(f"topicvec.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'topicvec' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

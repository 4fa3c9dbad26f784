"""Using topics: documents as vectors, what is alike, search, summaries, a classifier."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec.represent.classifier import Prediction as Prediction
    from topicvec.represent.classifier import TopicClassifier as TopicClassifier
    from topicvec.represent.documents import Form as Form
    from topicvec.represent.documents import feature_names as feature_names
    from topicvec.represent.documents import represent as represent
    from topicvec.represent.documents import represent_training as represent_training
    from topicvec.represent.features import TopicFeatures as TopicFeatures
    from topicvec.represent.retrieve import DocumentIndex as DocumentIndex
    from topicvec.represent.retrieve import Hit as Hit
    from topicvec.represent.similarity import cosine_similarity as cosine_similarity
    from topicvec.represent.similarity import hellinger_distance as hellinger_distance
    from topicvec.represent.similarity import transport_distance as transport_distance
    from topicvec.represent.summary import Sentence as Sentence
    from topicvec.represent.summary import split_sentences as split_sentences
    from topicvec.represent.summary import summarize as summarize
    from topicvec.represent.topics import Merge as Merge
    from topicvec.represent.topics import nearest_topics as nearest_topics
    from topicvec.represent.topics import topic_hierarchy as topic_hierarchy
    from topicvec.represent.topics import topic_similarity as topic_similarity

_HOME = {
    "DocumentIndex": "retrieve",
    "Form": "documents",
    "Hit": "retrieve",
    "Merge": "topics",
    "Prediction": "classifier",
    "Sentence": "summary",
    "TopicClassifier": "classifier",
    "TopicFeatures": "features",
    "cosine_similarity": "similarity",
    "feature_names": "documents",
    "hellinger_distance": "similarity",
    "nearest_topics": "topics",
    "represent": "documents",
    "represent_training": "documents",
    "split_sentences": "summary",
    "summarize": "summary",
    "topic_hierarchy": "topics",
    "topic_similarity": "topics",
    "transport_distance": "similarity",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    # Imported when first used: a summary does not wait for scikit-learn.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

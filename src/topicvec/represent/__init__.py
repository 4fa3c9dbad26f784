"""Using topics: documents as vectors, what is alike, search, summaries, a classifier."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec.represent.classifier import Prediction as Prediction
    from topicvec.represent.documents import Form as Form
    from topicvec.represent.documents import feature_names as feature_names
    from topicvec.represent.documents import represent as represent
    from topicvec.represent.documents import represent_training as represent_training
    from topicvec.represent.estimators import TopicClassifier as TopicClassifier
    from topicvec.represent.estimators import TopicFeatures as TopicFeatures
    from topicvec.represent.over_time import Course as Course
    from topicvec.represent.over_time import Courses as Courses
    from topicvec.represent.over_time import Rise as Rise
    from topicvec.represent.over_time import TimeSpan as TimeSpan
    from topicvec.represent.over_time import topics_over_time as topics_over_time
    from topicvec.represent.search import DocumentIndex as DocumentIndex
    from topicvec.represent.search import Hit as Hit
    from topicvec.represent.similarity import cosine_similarity as cosine_similarity
    from topicvec.represent.similarity import hellinger_distance as hellinger_distance
    from topicvec.represent.similarity import mixture_points as mixture_points
    from topicvec.represent.summary import Sentence as Sentence
    from topicvec.represent.summary import split_sentences as split_sentences
    from topicvec.represent.summary import summarize as summarize
    from topicvec.represent.topics import ClassTopics as ClassTopics
    from topicvec.represent.topics import Merge as Merge
    from topicvec.represent.topics import branch_words as branch_words
    from topicvec.represent.topics import nearest_topics as nearest_topics
    from topicvec.represent.topics import topic_hierarchy as topic_hierarchy
    from topicvec.represent.topics import topic_kernel as topic_kernel
    from topicvec.represent.topics import topic_similarity as topic_similarity
    from topicvec.represent.topics import topics_per_class as topics_per_class
    from topicvec.represent.transport import nearest_by_transport as nearest_by_transport
    from topicvec.represent.transport import transport_bounds as transport_bounds
    from topicvec.represent.transport import transport_distance as transport_distance

_NAMES = {
    "classifier": ("Prediction",),
    "documents": ("Form", "feature_names", "represent", "represent_training"),
    "estimators": ("TopicClassifier", "TopicFeatures"),
    "over_time": ("Course", "Courses", "Rise", "TimeSpan", "topics_over_time"),
    "search": ("DocumentIndex", "Hit"),
    "similarity": ("cosine_similarity", "hellinger_distance", "mixture_points"),
    "summary": ("Sentence", "split_sentences", "summarize"),
    "topics": (
        "ClassTopics",
        "Merge",
        "branch_words",
        "nearest_topics",
        "topic_hierarchy",
        "topic_kernel",
        "topic_similarity",
        "topics_per_class",
    ),
    "transport": ("nearest_by_transport", "transport_bounds", "transport_distance"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    # Imported when first used: a summary does not wait for scikit-learn.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)

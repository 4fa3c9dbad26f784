"""Every kind of picture in one place: ``from topicvec.explore import pictures``."""

from topicvec.explore.bound import bound, bound_chart
from topicvec.explore.by_class import by_class
from topicvec.explore.cloud import cloud, topic_cloud
from topicvec.explore.document_map import document_map
from topicvec.explore.heatmap import heatmap
from topicvec.explore.hierarchy import hierarchy
from topicvec.explore.over_time import over_time
from topicvec.explore.picture import Picture
from topicvec.explore.tokens import tokens
from topicvec.explore.topic_map import topic_map

__all__ = [
    "Picture",
    "bound",
    "bound_chart",
    "by_class",
    "cloud",
    "document_map",
    "heatmap",
    "hierarchy",
    "over_time",
    "tokens",
    "topic_cloud",
    "topic_map",
]

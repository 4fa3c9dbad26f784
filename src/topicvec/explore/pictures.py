"""Every kind of picture, in one place: ``from topicvec.explore import pictures``."""

from topicvec.explore.cloud import cloud, topic_cloud
from topicvec.explore.picture import Picture

__all__ = ["Picture", "cloud", "topic_cloud"]

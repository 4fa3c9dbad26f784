"""The methods that TopicVec is compared with, and TopicVec itself, under one contract."""

from topicvec.evaluate.baselines.registry import METHODS, Method, find_method, make

__all__ = ["METHODS", "Method", "find_method", "make"]

"""Texts to try things on: samples inside the package, and the paper's two corpora."""

from topicvec.datasets.labelled import LabelledTexts, Subset
from topicvec.datasets.newsgroups import load_20newsgroups
from topicvec.datasets.reuters import load_reuters
from topicvec.datasets.samples import sample_article, sample_corpus

__all__ = [
    "LabelledTexts",
    "Subset",
    "load_20newsgroups",
    "load_reuters",
    "sample_article",
    "sample_corpus",
]

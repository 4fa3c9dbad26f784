"""The numbers of the paper's table 2, to stand beside ours."""

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["PAPER", "PaperScore"]


class PaperScore(NamedTuple):
    """Macro precision, recall and F1 in percent, of one run.

    Examples
    --------
    >>> PAPER["20news"]["TopicVec"].f1
    71.2
    """

    precision: float
    recall: float
    f1: float


PAPER: Mapping[str, Mapping[str, PaperScore]] = {
    "20news": {
        "BOW": PaperScore(69.1, 68.5, 68.6),
        "LDA": PaperScore(61.9, 61.4, 60.3),
        "sLDA": PaperScore(61.4, 60.9, 60.9),
        "LFTM": PaperScore(63.5, 64.8, 63.7),
        "MeanWV": PaperScore(70.4, 70.3, 70.1),
        "Doc2Vec": PaperScore(56.3, 56.6, 55.4),
        "TWE": PaperScore(69.5, 69.3, 68.8),
        "GaussianLDA": PaperScore(30.9, 26.5, 22.7),
        "TopicVec": PaperScore(71.3, 71.3, 71.2),
        "TV+MeanWV": PaperScore(71.8, 71.5, 71.6),
    },
    "reuters": {
        "BOW": PaperScore(92.5, 90.3, 91.1),
        "LDA": PaperScore(76.1, 74.3, 74.8),
        "sLDA": PaperScore(88.3, 83.3, 85.1),
        "LFTM": PaperScore(84.6, 86.3, 84.9),
        "MeanWV": PaperScore(92.0, 89.6, 90.5),
        "Doc2Vec": PaperScore(84.4, 50.0, 58.5),
        "TWE": PaperScore(91.0, 89.1, 89.9),
        "GaussianLDA": PaperScore(46.2, 31.5, 35.3),
        "TopicVec": PaperScore(92.5, 92.1, 92.2),
        "TV+MeanWV": PaperScore(92.2, 91.6, 91.6),
    },
}

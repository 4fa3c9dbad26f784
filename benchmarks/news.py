"""20 Newsgroups by date, as the other scripts want it."""

import os
from pathlib import Path
from typing import NamedTuple

from topicvec.datasets import Subset, load_20newsgroups

DATA = Path(os.environ.get("TOPICVEC_DATA", ""))


class News(NamedTuple):
    texts: list[str]
    groups: list[str]


def load(part: Subset) -> News:
    """Give the posts of ``train`` or ``test``, in the order of group and number."""
    posts = load_20newsgroups(part)
    return News(posts.texts, posts.labels.tolist())

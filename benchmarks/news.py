"""20 Newsgroups by date, from the archive in the data folder: headers and footers removed."""

import os
import tarfile
from pathlib import Path
from typing import NamedTuple

from sklearn.datasets._twenty_newsgroups import strip_newsgroup_footer, strip_newsgroup_header

DATA = Path(os.environ.get("TOPICVEC_DATA", ""))


class News(NamedTuple):
    texts: list[str]
    groups: list[str]


def load(part: str) -> News:
    """Give the posts of ``train`` or ``test``, in the order of group and number."""
    texts, groups = [], []
    with tarfile.open(DATA / "20news-bydate.tar.xz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            file = archive.extractfile(member)
            if file is None or f"bydate-{part}/" not in member.name:
                continue
            text = file.read().decode("latin-1")
            texts.append(strip_newsgroup_footer(strip_newsgroup_header(text)))
            groups.append(member.name.split("/")[-2])
    return News(texts, groups)

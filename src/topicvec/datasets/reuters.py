"""The ten largest classes of Reuters-21578."""

import html
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from topicvec.datasets.labelled import LabelledTexts, Subset, parts
from topicvec.datasets.locate import VARIABLE, Archive, members
from topicvec.errors import DataError, require
from topicvec.text.document import Document

__all__ = ["load_reuters"]

ARCHIVE = Archive(
    "reuters21578.tar.xz", "33f4cb2d479285847782275b73fc734bc8cfbf60ea0efddde30f0065b6c921f2"
)
N_CLASSES = 10

_STORY = re.compile(r"<REUTERS ([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TAG = re.compile(r"</?[A-Z]+[^>]*>")
_NLTK_PARTS = {"training": "train", "test": "test"}


class Story(NamedTuple):
    """A news story with its part of the corpus and all its topics."""

    id: str
    part: str
    topics: frozenset[str]
    text: str


def load_reuters(subset: Subset = "train") -> LabelledTexts:
    """Load the stories of Reuters' ten largest classes: 5,771 to train on and 2,255 to test on.

    As in the paper: the ApteMod split, only stories with exactly one of the 90 topics that occur
    in both its parts, of these the ten most frequent topics; title and body.

    Parameters
    ----------
    subset : {"train", "test", "all"}
        "all" has the training stories first.

    Returns
    -------
    LabelledTexts
        In the order of the corpus; ``names`` has the largest class first.

    Notes
    -----
    Looked for in this order: ``reuters21578.tar.xz`` in the folder that the environment variable
    ``TOPICVEC_DATA`` names, read in place; NLTK's data folders; the network, through NLTK.

    The paper has 5,770 training stories: one story lists its topic twice, and was left out there.

    Examples
    --------
    >>> stories = load_reuters("test")  # doctest: +SKIP
    >>> len(stories), stories.names[:3]  # doctest: +SKIP
    (2255, ('earn', 'acq', 'crude'))
    """
    wanted = parts(subset)
    path = ARCHIVE.find()
    stories = list(_from_nltk() if path is None else _from_archive(path))
    chosen = list(_with_one_topic(stories))
    sizes = Counter(label for _, label in chosen)
    names = sorted(sizes, key=lambda name: (-sizes[name], name))[:N_CLASSES]
    documents = [
        Document(story.id, story.text, label)
        for part in wanted
        for story, label in chosen
        if story.part == part and label in names
    ]
    return LabelledTexts(tuple(documents), tuple(names))


def _with_one_topic(stories: Iterable[Story]) -> Iterator[tuple[Story, str]]:
    """Pair the stories that have one topic, of those in both parts, with this topic."""
    topics: dict[str, set[str]] = {"train": set(), "test": set()}
    for story in stories:
        topics[story.part] |= story.topics
    shared = topics["train"] & topics["test"]
    for story in stories:
        left = story.topics & shared
        if len(left) == 1:
            yield story, min(left)


def _from_archive(path: Path) -> Iterator[Story]:
    files = {name: content for name, content in members(path) if name.endswith(".sgm")}
    for name in sorted(files):
        for head, content in _STORY.findall(files[name].decode("latin-1")):
            facts = dict(_ATTRIBUTE.findall(head))
            part = facts.get("LEWISSPLIT", "").lower()
            if facts.get("TOPICS") == "YES" and part in ("train", "test"):
                topics = frozenset(re.findall(r"<D>(.*?)</D>", _inside("TOPICS", content)))
                yield Story(facts["NEWID"], part, topics, _text(content))


def _inside(tag: str, content: str) -> str:
    found = re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", content, re.DOTALL)
    return found[1] if found else ""


def _text(content: str) -> str:
    """Join title and body; a story without a body is all text."""
    whole = _inside("TEXT", content)
    body = _inside("BODY", whole)
    text = f"{_inside('TITLE', whole)}\n{body}" if body else _TAG.sub("\n", whole)
    return html.unescape(text).strip()


def _from_nltk() -> Iterator[Story]:
    nltk = require("nltk", "bench", f"reading Reuters without the folder {VARIABLE} names")
    with zipfile.ZipFile(_nltk_archive(nltk)) as archive:
        rows = archive.read("reuters/cats.txt").decode("ascii").splitlines()
        for name, *topics in (row.split() for row in rows if row.strip()):
            folder, number = name.split("/")
            text = html.unescape(archive.read(f"reuters/{name}").decode("latin-1"))
            yield Story(number, _NLTK_PARTS[folder], frozenset(topics), text.strip())


def _nltk_archive(nltk: Any) -> str:
    name = "corpora/reuters.zip"
    try:
        return str(nltk.data.find(name))
    except LookupError:
        nltk.download("reuters", quiet=True)
    try:
        return str(nltk.data.find(name))
    except LookupError as error:
        raise DataError(
            f"Reuters not found: no {ARCHIVE.name} in the folder {VARIABLE} names, nothing in "
            f"NLTK's folders {nltk.data.path}, and no download; "
            f"set {VARIABLE} or connect to the network"
        ) from error

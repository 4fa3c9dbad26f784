"""Texts to try things on: samples inside the package, and the paper's two corpora."""

import hashlib
import html
import lzma
import os
import re
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from topicvec.checks import check_choice
from topicvec.errors import DataError, FormatError, require
from topicvec.text.document import Document
from topicvec.text.readers import read_documents

__all__ = [
    "LabelledTexts",
    "Subset",
    "load_20newsgroups",
    "load_reuters",
    "sample_article",
    "sample_corpus",
]

Subset = Literal["train", "test", "all"]

VARIABLE = "TOPICVEC_DATA"
N_CLASSES = 10  # of Reuters

_STORY = re.compile(r"<REUTERS ([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TAG = re.compile(r"</?[A-Z]+[^>]*>")
_NLTK_PARTS = {"training": "train", "test": "test"}


def sample_article() -> str:
    """Return the bundled article: a thousand words on a coastal town and its water.

    Examples
    --------
    >>> len(sample_article().split()) > 900
    True
    """
    return (files("topicvec") / "samples" / "article.txt").read_text(encoding="utf-8")


def sample_corpus() -> list[Document]:
    """Return the bundled corpus: 96 short documents in eight classes.

    Examples
    --------
    >>> documents = sample_corpus()
    >>> len(documents), len({document.label for document in documents})
    (96, 8)
    """
    with as_file(files("topicvec") / "samples" / "corpus.jsonl") as path:
        return list(read_documents(path))


@dataclass(frozen=True)
class LabelledTexts:
    """Documents that each have a class.

    Attributes
    ----------
    documents : tuple of Document
        Each with its ``label``.
    names : tuple of str
        The classes.

    Examples
    --------
    >>> corpus = LabelledTexts((Document("1", "Cats purr.", "pets"),), ("pets", "cars"))
    >>> corpus.texts, corpus.labels.tolist(), len(corpus)
    (['Cats purr.'], ['pets'], 1)
    """

    documents: tuple[Document, ...]
    names: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """The texts, in the order of the documents."""
        return [document.text for document in self.documents]

    @property
    def labels(self) -> NDArray[np.str_]:
        """The class of each document, (D,)."""
        return np.array([document.label for document in self.documents], dtype=np.str_)

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True)
class Archive:
    """A file that may stand in the data folder.

    Parameters
    ----------
    name : str
        Of the file.
    sha256 : str
        Checksum of its bytes, in hexadecimal.

    Examples
    --------
    >>> Archive("no-such-corpus.tar.xz", "00").find() is None
    True
    """

    name: str
    sha256: str

    def find(self) -> Path | None:
        """Return the verified archive in the data folder, or None if there is none.

        Raises
        ------
        DataError
            ``TOPICVEC_DATA`` is set, but names no folder.
        FormatError
            The file has another checksum.
        """
        folder = os.environ.get(VARIABLE)
        if not folder:
            return None
        if not Path(folder).is_dir():
            raise DataError(f"{VARIABLE} must name a folder; found {folder!r}: set it or unset it")
        path = Path(folder) / self.name
        return self._verified(path) if path.is_file() else None

    def _verified(self, path: Path) -> Path:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise FormatError(
                f"{path} is damaged or another file: expected the SHA-256 {self.sha256}, "
                f"found {found}; fetch it again"
            )
        return path


NEWSGROUPS = Archive(
    "20news-bydate.tar.xz", "ed1427c2d81cb434ff92adb6cc7bc9156b29faec79df00cf1988f34b47e71c5c"
)
REUTERS = Archive(
    "reuters21578.tar.xz", "33f4cb2d479285847782275b73fc734bc8cfbf60ea0efddde30f0065b6c921f2"
)


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Stream the files of a tar archive, path and content, in the order they stand in it."""
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name, file.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise FormatError(f"{path} is damaged ({error}): fetch it again") from error


def _parts(subset: str) -> tuple[str, ...]:
    check_choice("subset", subset, *get_args(Subset))
    return ("train", "test") if subset == "all" else (subset,)


def load_20newsgroups(subset: Subset = "train") -> LabelledTexts:
    """Load the posts of 20 newsgroups: 11,314 to train on and 7,532 later ones to test on.

    As in the paper, headers and footers are removed and quotes are kept.

    Parameters
    ----------
    subset : {"train", "test", "all"}
        "all" has the training posts first.

    Returns
    -------
    LabelledTexts
        In the order of group and number; ids are ``group/number``.

    Notes
    -----
    Looked for in this order: ``20news-bydate.tar.xz`` in the folder that the environment variable
    ``TOPICVEC_DATA`` names, read in place; scikit-learn's cache; the network, through scikit-learn.

    Examples
    --------
    >>> posts = load_20newsgroups("test")  # doctest: +SKIP
    >>> len(posts), len(posts.names)  # doctest: +SKIP
    (7532, 20)
    """
    wanted = _parts(subset)
    path = NEWSGROUPS.find()
    documents = tuple(_from_sklearn(wanted) if path is None else _posts(path, wanted))
    return LabelledTexts(documents, tuple(sorted({str(each.label) for each in documents})))


def strip_header(text: str) -> str:
    r"""Remove the lines before the first empty line of a post.

    Examples
    --------
    >>> strip_header("From: me\nSubject: cats\n\nCats purr.")
    'Cats purr.'
    """
    return text.partition("\n\n")[2]


def strip_footer(text: str) -> str:
    r"""Remove what looks like a signature: all after the last line that is blank or of hyphens.

    Examples
    --------
    >>> strip_footer("Cats purr.\n--\nMe, at home")
    'Cats purr.'
    """
    lines = text.strip().split("\n")
    breaks = [row for row, line in enumerate(lines) if not line.strip().strip("-")]
    return "\n".join(lines[: breaks[-1]]) if breaks and breaks[-1] > 0 else text


def _posts(path: Path, wanted: tuple[str, ...]) -> Iterator[Document]:
    posts: list[tuple[int, str, str, Document]] = []
    for name, content in _members(path):
        folder, group, number = name.split("/")[-3:]
        part = folder.removeprefix("20news-bydate-")
        if part in wanted:
            text = strip_footer(strip_header(content.decode("latin-1")))
            document = Document(f"{group}/{number}", text, group)
            posts.append((wanted.index(part), group, number, document))
    return (post[-1] for post in sorted(posts, key=lambda post: post[:3]))


def _from_sklearn(wanted: tuple[str, ...]) -> Iterator[Document]:
    from sklearn.datasets import fetch_20newsgroups, get_data_home

    for part in wanted:
        try:
            found = fetch_20newsgroups(subset=part, shuffle=False, remove=("headers", "footers"))
        except OSError as error:
            raise DataError(
                f"20 Newsgroups not found: no {NEWSGROUPS.name} in the folder {VARIABLE} names, "
                f"nothing in scikit-learn's cache {get_data_home()}, and no download ({error}); "
                f"set {VARIABLE} or connect to the network"
            ) from error
        for text, target, file in zip(found.data, found.target, found.filenames, strict=True):
            group = found.target_names[target]
            yield Document(f"{group}/{Path(file).name}", text, group)


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
    wanted = _parts(subset)
    path = REUTERS.find()
    stories = list(_from_nltk() if path is None else _stories(path))
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


class Story(NamedTuple):
    """A news story with its part of the corpus and all its topics."""

    id: str
    part: str
    topics: frozenset[str]
    text: str


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


def _stories(path: Path) -> Iterator[Story]:
    pages = sorted(member for member in _members(path) if member[0].endswith(".sgm"))
    for _, page in pages:
        for head, content in _STORY.findall(page.decode("latin-1")):
            facts = dict(_ATTRIBUTE.findall(head))
            part = facts.get("LEWISSPLIT", "").lower()
            if facts.get("TOPICS") == "YES" and part in ("train", "test"):
                topics = frozenset(re.findall(r"<D>(.*?)</D>", _inside("TOPICS", content)))
                yield Story(facts["NEWID"], part, topics, _story_text(content))


def _inside(tag: str, content: str) -> str:
    found = re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", content, re.DOTALL)
    return found[1] if found else ""


def _story_text(content: str) -> str:
    """Join title and body; a story without a body is all text."""
    whole = _inside("TEXT", content)
    body = _inside("BODY", whole)
    text = f"{_inside('TITLE', whole)}\n{body}" if body else _TAG.sub("\n", whole)
    return html.unescape(text).strip()


def _from_nltk() -> Iterator[Story]:
    nltk = require("nltk", "datasets", f"reading Reuters without the folder {VARIABLE} names")
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
            f"Reuters not found: no {REUTERS.name} in the folder {VARIABLE} names, nothing in "
            f"NLTK's folders {nltk.data.path}, and no download; "
            f"set {VARIABLE} or connect to the network"
        ) from error

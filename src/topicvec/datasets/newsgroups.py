"""20 Newsgroups, split by date."""

from collections.abc import Iterator
from pathlib import Path

from topicvec.datasets.labelled import LabelledTexts, Subset, parts
from topicvec.datasets.locate import VARIABLE, Archive, members
from topicvec.errors import DataError
from topicvec.text.document import Document

__all__ = ["load_20newsgroups", "strip_footer", "strip_header"]

ARCHIVE = Archive(
    "20news-bydate.tar.xz", "ed1427c2d81cb434ff92adb6cc7bc9156b29faec79df00cf1988f34b47e71c5c"
)


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
    wanted = parts(subset)
    path = ARCHIVE.find()
    found = _from_sklearn(wanted) if path is None else _from_archive(path, wanted)
    documents = tuple(found)
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


def _from_archive(path: Path, wanted: tuple[str, ...]) -> Iterator[Document]:
    posts: list[tuple[int, str, str, Document]] = []
    for name, content in members(path):
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
                f"20 Newsgroups not found: no {ARCHIVE.name} in the folder {VARIABLE} names, "
                f"nothing in scikit-learn's cache {get_data_home()}, and no download ({error}); "
                f"set {VARIABLE} or connect to the network"
            ) from error
        for text, target, file in zip(found.data, found.target, found.filenames, strict=True):
            group = found.target_names[target]
            yield Document(f"{group}/{Path(file).name}", text, group)

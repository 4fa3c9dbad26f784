import hashlib
import io
import os
import sys
import tarfile
import zipfile
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicvec import datasets
from topicvec.datasets import VARIABLE, Archive, load_20newsgroups, load_reuters
from topicvec.errors import DataError, FormatError, MissingExtra

POSTS = {
    "20news-bydate-test/sci.space/9": "From: a\n\nThe moon.\n",
    "20news-bydate-train/sci.space/10": "From: a\n\nA caf\xe9 in orbit.\n\n--\nMy name\n",
    "20news-bydate-train/alt.atheism/2": "From: b\n\n> quoted\nIt is so.\n",
    "20news-bydate-train/sci.space/1": "From: c\nno empty line, so all is header",
}
STORY = (
    '<REUTERS TOPICS="{known}" LEWISSPLIT="{split}" CGISPLIT="X" OLDID="1" NEWID="{id}">\n'
    "<TOPICS>{topics}</TOPICS><PLACES><D>usa</D></PLACES>\n<TEXT>{text}</TEXT>\n</REUTERS>\n"
)
WITH_BODY = "&#2;\n<TITLE>{}</TITLE>\n<DATELINE> X, May - </DATELINE><BODY>{}\n&#3;</BODY>"
PLAIN = WITH_BODY.format("T", "B")


def write_tar(path, files):
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files.items():
            content = text.encode("latin-1")
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def story(number, split, topics, text=PLAIN, known="YES"):
    tags = "".join(f"<D>{topic}</D>" for topic in topics)
    return STORY.format(known=known, split=split, id=number, topics=tags, text=text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def place(folder, archive, monkeypatch, files):
    path = folder / getattr(datasets, archive).name
    write_tar(path, files)
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(datasets, archive, Archive(path.name, checksum))


@pytest.fixture
def posts(folder, monkeypatch):
    place(folder, "NEWSGROUPS", monkeypatch, POSTS)


def place_stories(folder, monkeypatch, stories):
    half = len(stories) // 2
    files = {"reut2-001.sgm": "".join(stories[half:]), "reut2-000.sgm": "".join(stories[:half])}
    place(folder, "REUTERS", monkeypatch, {"README.txt": "<REUTERS>", **files})


def test_posts_come_in_order_without_headers_and_footers(posts):
    train = load_20newsgroups("train")
    assert [post.id for post in train.documents] == ["alt.atheism/2", "sci.space/1", "sci.space/10"]
    assert train.texts == ["> quoted\nIt is so.\n", "", "A café in orbit.\n"]
    assert train.labels.tolist() == ["alt.atheism", "sci.space", "sci.space"]
    assert train.names == ("alt.atheism", "sci.space")


def test_all_posts_are_the_training_posts_and_then_the_others(posts):
    ids = [post.id for post in load_20newsgroups("all").documents]
    assert ids == ["alt.atheism/2", "sci.space/1", "sci.space/10", "sci.space/9"]
    assert load_20newsgroups("test").texts == ["The moon.\n"]


@settings(deadline=None)  # the first call imports scikit-learn
@given(st.text(alphabet="ab-\n >\t", max_size=60))
def test_headers_and_footers_go_as_in_scikit_learn(text):
    from sklearn.datasets import _twenty_newsgroups as theirs

    assert datasets.strip_header(text) == theirs.strip_newsgroup_header(text)
    assert datasets.strip_footer(text) == theirs.strip_newsgroup_footer(text)


def test_stories_have_exactly_one_topic_that_both_parts_know(folder, monkeypatch):
    place_stories(
        folder,
        monkeypatch,
        [
            story(1, "TRAIN", ["earn"]),
            story(2, "TRAIN", ["earn", "earn"]),  # lists its topic twice
            story(3, "TRAIN", ["earn", "acq"]),
            story(4, "TRAIN", ["earn", "only-here"]),
            story(5, "TRAIN", ["acq"], known="NO"),
            story(6, "NOT-USED", ["acq"]),
            story(7, "TEST", ["acq"]),
            story(8, "TEST", ["earn"]),
            story(9, "TEST", []),
        ],
    )
    train, test = load_reuters("train"), load_reuters("test")
    assert [each.id for each in train.documents] == ["1", "2", "4"]
    assert [(each.id, each.label) for each in test.documents] == [("7", "acq"), ("8", "earn")]
    assert train.names == test.names == ("earn", "acq")


def test_only_the_largest_classes_are_kept(folder, monkeypatch):
    rows = [(f"c{rank}", split) for rank in range(12) for split in ("TRAIN", "TEST")]
    rows += [(f"c{rank}", "TRAIN") for rank in range(2, 12) for _ in range(rank)]
    stories = [story(i, split, [topic]) for i, (topic, split) in enumerate(rows)]
    place_stories(folder, monkeypatch, stories)
    assert load_reuters("all").names == tuple(f"c{rank}" for rank in range(11, 1, -1))


def test_a_story_is_its_title_and_body_or_all_its_text(folder, monkeypatch):
    brief = '<TEXT TYPE="BRIEF">&#2;\n<TITLE>SHORT &amp; GOOD</TITLE>\n&#3;</TEXT>'
    stories = [
        story(1, "TRAIN", ["earn"], WITH_BODY.format("NET &lt;X.N> UP", "It rose.")),
        story(2, "TRAIN", ["earn"]).replace(f"<TEXT>{PLAIN}</TEXT>", brief),
        story(3, "TEST", ["earn"], "&#2;\nPLAIN TEXT\n&#3;"),
    ]
    place_stories(folder, monkeypatch, stories)
    assert load_reuters("all").texts == ["NET <X.N> UP\nIt rose.", "SHORT & GOOD", "PLAIN TEXT"]


def test_another_checksum_is_refused(posts, folder):
    with (folder / datasets.NEWSGROUPS.name).open("ab") as file:
        file.write(b"x")
    with pytest.raises(FormatError, match="SHA-256"):
        load_20newsgroups()


def test_an_archive_that_is_none_is_refused(folder, monkeypatch):
    path = folder / datasets.NEWSGROUPS.name
    path.write_bytes(b"no archive")
    checksum = hashlib.sha256(b"no archive").hexdigest()
    monkeypatch.setattr(datasets, "NEWSGROUPS", Archive(path.name, checksum))
    with pytest.raises(FormatError, match="damaged"):
        load_20newsgroups()


@pytest.mark.parametrize("load", [load_20newsgroups, load_reuters])
def test_a_wrong_subset_or_folder_is_named(load, monkeypatch):
    with pytest.raises(DataError, match="subset"):
        load("validation")
    monkeypatch.setenv(VARIABLE, "no-such-folder")
    with pytest.raises(DataError, match="no-such-folder"):
        load()


def test_without_the_archive_scikit_learn_is_asked(folder, monkeypatch):
    from sklearn.utils import Bunch

    def fetch(subset, shuffle, remove):
        assert (shuffle, remove) == (False, ("headers", "footers"))
        names = ["a.b", "c.d"]
        return Bunch(data=[subset], target=[1], target_names=names, filenames=["x/c.d/77"])

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    found = load_20newsgroups("all")
    assert [(post.id, post.text) for post in found.documents] == [
        ("c.d/77", "train"),
        ("c.d/77", "test"),
    ]


def test_without_archive_cache_and_network_the_places_are_named(folder, monkeypatch):
    def fetch(**_):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    with pytest.raises(DataError, match=f"{VARIABLE}.*scikit-learn's cache.*no route"):
        load_20newsgroups()


@pytest.fixture
def nltk(folder, monkeypatch):
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [str(folder)])
    monkeypatch.setattr(nltk, "download", lambda *_, **__: False)
    return nltk


def test_without_the_archive_nltk_is_asked(folder, nltk):
    (folder / "corpora").mkdir()
    with zipfile.ZipFile(folder / "corpora" / "reuters.zip", "w") as archive:
        archive.writestr("reuters/cats.txt", "test/9 acq\ntraining/1 acq\ntraining/2 acq earn\n")
        for name in ("test/9", "training/1", "training/2"):
            archive.writestr(f"reuters/{name}", f"TITLE &lt;{name}>\n  Body.\n\n")
    train = load_reuters("train")
    assert [(each.id, each.text) for each in train.documents][:1] == [
        ("1", "TITLE <training/1>\n  Body.")
    ]


def test_without_archive_nltk_data_and_network_the_places_are_named(folder, nltk):
    with pytest.raises(DataError, match=f"{VARIABLE}.*NLTK.*no download"):
        load_reuters()


def test_without_nltk_its_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(MissingExtra, match=r"topicvec\[datasets\]"):
        load_reuters()


real = pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} is not set")


def sizes(corpus):
    found = Counter(corpus.labels.tolist())
    return [found[name] for name in corpus.names]


@real
def test_reuters_has_the_papers_classes():
    train, test = load_reuters("train"), load_reuters("test")
    assert sizes(train) == [2840, 1596, 253, 251, 222, 191, 123, 108, 97, 90]  # the paper: 250
    assert sizes(test) == [1083, 696, 121, 76, 87, 81, 28, 36, 25, 22]

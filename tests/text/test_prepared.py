"""A corpus that is read once: whole or not at all, the same bytes, and never damaged unseen."""

import errno
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicvec.errors import DataError, FormatError
from topicvec.text import Document, PreparedCorpus, Tokenizer, prepare, prepared
from topicvec.text.prepared import CARD, checked, is_prepared


def documents(n=50):
    """Documents of which later ones bring new words, some with a class and a time."""
    for i in range(n):
        text = f"The cat number{chr(97 + i % 26)} sat on mat{chr(97 + i // 5)}. Café {i}!"
        yield Document(f"row:{i}", text, "a" if i % 2 else None, str(1900 + i) if i % 3 else None)


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(prepared, "_DOCUMENTS", 8)


@pytest.fixture
def whole(tmp_path):
    return prepare(documents(), tmp_path / "whole", n_jobs=1)


def test_documents_come_back_as_words_with_their_names(whole):
    tokenize = Tokenizer()
    for found, given_ in zip(whole, documents(), strict=True):
        assert found.text == tokenize(given_.text)
        assert (found.id, found.label, found.time) == (given_.id, given_.label, given_.time)
    assert len(whole.shards) == 7
    assert whole.names([0, 49, 8]) == {0: "row:0", 49: "row:49", 8: "row:8"}
    assert whole.n_tokens == sum(len(document.text) for document in whole)


def test_any_number_of_processes_writes_the_same_bytes(whole, tmp_path):
    for n_jobs in (2, 3):
        prepare(documents(), tmp_path / str(n_jobs), n_jobs=n_jobs)
        assert files(tmp_path / str(n_jobs)) == files(whole.folder)


@pytest.mark.parametrize("n_read", [3, 8, 20, 49])
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(whole, tmp_path, n_read):
    def killed():
        for number, document in enumerate(documents()):
            if number == n_read:
                raise KeyboardInterrupt
            yield document

    folder = tmp_path / "killed"
    with pytest.raises(KeyboardInterrupt):
        prepare(killed(), folder, n_jobs=1)
    assert not is_prepared(folder)
    with pytest.raises(DataError, match="not yet a whole one"):
        PreparedCorpus.open(folder)
    prepare(documents(), folder, n_jobs=1)
    assert files(folder) == files(whole.folder)


@pytest.mark.parametrize("n_read", [17, 18, 24, 30])
def test_a_corpus_stays_until_a_longer_one_is_whole(tmp_path, n_read):
    def broken_off():
        yield from list(documents())[:n_read]
        raise KeyboardInterrupt

    folder = tmp_path / "corpus"
    before = list(prepare(documents(18), folder, n_jobs=1))  # its last shard is not full
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            prepare(broken_off(), folder, n_jobs=1)
        assert list(PreparedCorpus.open(folder)) == before
    longer = prepare(documents(), folder, n_jobs=1)
    assert list(longer) == list(prepare(documents(), tmp_path / "anew", n_jobs=1))
    assert len(files(folder)) == 8  # the shard of before is gone
    again = files(folder)
    prepare(documents(), folder, n_jobs=1)
    assert files(folder) == again
    assert prepare(documents(52), folder, n_jobs=1).n_documents == 52
    assert len(files(folder)) == 8


def test_a_run_that_goes_on_does_not_cut_texts_again(tmp_path):
    cut = []

    class Counting:
        def __call__(self, text):
            cut.append(text)
            return text.split()

    prepare(documents(16), tmp_path, tokenizer=Counting())
    assert len(cut) == 16
    prepare(documents(), tmp_path, tokenizer=Counting())
    assert len(cut) == 50


def test_a_full_disk_names_the_shard_and_the_same_command_goes_on(whole, tmp_path, monkeypatch):
    left, sync = [6], os.fsync  # two of each shard: the file and its folder

    def fsync(number):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(number)

    folder = tmp_path / "full"
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(DataError, match=r"shard-00003.*No space left.*24 documents.*goes on"):
        prepare(documents(), folder, n_jobs=1)
    assert sorted(files(folder)) == [f"shard-0000{i}.safetensors" for i in range(3)]
    left[0] = 100
    prepare(documents(), folder, n_jobs=1)
    assert files(folder) == files(whole.folder)


def test_other_documents_tokenizers_and_files_are_refused(whole, tmp_path):
    with pytest.raises(DataError, match="other documents"):
        prepare(list(documents())[::-1], whole.folder)
    with pytest.raises(DataError, match="other documents"):
        prepare(documents(9), whole.folder)
    with pytest.raises(DataError, match="give that tokenizer"):
        prepare(documents(), whole.folder, tokenizer=str.split)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letters.txt").write_text("dear")
    with pytest.raises(DataError, match=r"other files in it, such as letters.txt"):
        prepare(documents(), tmp_path / "mine")
    with pytest.raises(DataError, match="the corpus is empty"):
        prepare([], tmp_path / "empty")
    with pytest.raises(DataError, match=r"str\.split.*Tokenizer"):
        prepare(documents(), tmp_path / "split", tokenizer=str.split).check_tokenizer(None)


def test_a_damaged_shard_is_named_and_the_same_command_repairs_it(whole):
    before = files(whole.folder)
    path = whole.shards[2].path
    for damage in (b"", before[path.name][:-1], before[path.name][:-9] + b"\xff" * 9):
        path.write_bytes(damage)
        with pytest.raises(FormatError, match=r"shard-00002.*damaged.*prepare.*again"):
            list(PreparedCorpus.open(whole.folder))
        path.unlink()
        with pytest.raises(FormatError, match=r"shard-00002.*cannot be read.*again"):
            list(PreparedCorpus.open(whole.folder))
        prepare(documents(), whole.folder)
        assert files(whole.folder) == before


def test_a_shard_of_another_corpus_is_refused(whole, tmp_path):
    other = prepare((Document(d.id, d.text + " more") for d in documents()), tmp_path / "other")
    other.shards[1].path.replace(whole.shards[1].path)
    with pytest.raises(FormatError, match="shard-00001"):
        list(whole)


CARDS = {
    "no json": lambda card: "{",
    "another format": lambda card: json.dumps({**card, "version": 9}),
    "no shards": lambda card: json.dumps({**card, "shards": None}),
    "sizes": lambda card: json.dumps({**card, "n_tokens": 1}),
    "negative": lambda card: json.dumps({**card, "n_repeated": -1}),
    "a path": lambda card: json.dumps({**card, "shards": [{**card["shards"][0], "file": "../x"}]}),
    "a list": lambda card: "[]",
    "infinite": lambda card: json.dumps({**card, "n_repeated": float("inf")}),
    "deep": lambda card: "[" * 100_000,
}


@pytest.mark.parametrize("case", CARDS)
def test_a_damaged_card_is_refused(whole, case):
    path = whole.folder / CARD
    path.write_text(CARDS[case](json.loads(path.read_text())))
    with pytest.raises(FormatError, match=r"card\.json"):
        PreparedCorpus.open(whole.folder)


def arrays(whole):
    return dict(whole.shards[1].arrays()), whole.shards[1].first_word


CRAFTED = {
    "beyond": lambda a: {"tokens": np.where(np.arange(len(a["tokens"])), a["tokens"], 10**6)},
    "negative": lambda a: {"tokens": -a["tokens"] - 1},
    "wide": lambda a: {"tokens": a["tokens"].astype(np.int64)},
    "square": lambda a: {"tokens": a["tokens"][:, None]},
    "longer": lambda a: {"lengths": a["lengths"] + 1},
    "overflow": lambda a: {"lengths": np.full(len(a["lengths"]), 2**31 - 1, np.int32)},
    "below zero": lambda a: {"lengths": a["lengths"] * np.int32(-1)},
    "fewer names": lambda a: {"ids.lengths": a["ids.lengths"][:-1]},
    "no id": lambda a: {"ids.lengths": a["ids.lengths"] * 0 - 1, "ids.bytes": a["ids.bytes"][:0]},
    "short words": lambda a: {"words.bytes": a["words.bytes"][:-1]},
}  # fmt: skip


@pytest.mark.parametrize("case", CRAFTED)
def test_a_crafted_shard_is_refused_before_it_is_used(whole, case):
    good, first = arrays(whole)
    checked(whole.folder, good, first)
    bad = {**good, **{name: np.asarray(x, x.dtype) for name, x in CRAFTED[case](good).items()}}
    bad["tokens"] = bad["tokens"].astype(np.int32) if case == "beyond" else bad["tokens"]
    with pytest.raises(FormatError, match="is damaged"):
        checked(whole.folder, bad, first)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(
        st.one_of(st.text(max_size=30), st.lists(st.text(max_size=4), max_size=6)),
        min_size=1, max_size=20,
    )
)  # fmt: skip
def test_any_documents_come_back(tmp_path_factory, given_):
    folder = tmp_path_factory.mktemp("any") / "corpus"
    tokenize = Tokenizer()
    expected = [tokenize(each) if isinstance(each, str) else each for each in given_]
    assert [document.text for document in prepare(given_, folder, n_jobs=1)] == expected

"""What is endless, huge or nested without end is refused in bounded time and memory."""

import bz2
import gzip
import io
import json
import lzma
import os
import time
import tracemalloc
from pathlib import Path

import pytest

from topicvec import Vocabulary, load_vectors, read_documents
from topicvec.cli.main import call
from topicvec.cli.options import SourceTexts
from topicvec.embed.load import read_frequencies
from topicvec.errors import DataError, FormatError
from topicvec.text.stopwords import stop_words

FAR_OVER = 3_000_000  # characters, where a million are allowed


@pytest.fixture(autouse=True)
def limit(monkeypatch):
    monkeypatch.setenv("TOPICVEC_MAX_TEXT", "1")


def refused(path, match="more than 1 million characters", error=DataError, **options):
    """Read a file that must be refused, in memory of a few times the limit."""
    tracemalloc.start()
    try:
        with pytest.raises(error, match=match):
            list(read_documents(path, **options))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 40e6, f"{most / 1e6:.0f} MB"


LONG = {
    "a.txt": b"a " * (FAR_OVER // 2),
    "lines.txt": b"short\n" + b"a " * (FAR_OVER // 2),
    "a.csv": b"text\n" + b"a" * FAR_OVER,
    "quoted.csv": b'text\n"' + b"a\n" * FAR_OVER,
    "fields.csv": b"text,b\n" + b'"x\n",' * FAR_OVER,
    "a.tsv": b"text\n" + b"a" * FAR_OVER,
    "a.jsonl": b'{"text": "' + b"a" * FAR_OVER,
}


@pytest.mark.parametrize("name", LONG)
def test_a_text_a_line_or_a_row_beyond_the_limit_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(LONG[name])
    refused(path, format="lines" if name == "lines.txt" else "auto")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path, pack):
    path = tmp_path / f"a.txt.{ {gzip.compress: 'gz', bz2.compress: 'bz2'}.get(pack, 'xz') }"
    path.write_bytes(pack(b"0" * 60_000_000))
    assert path.stat().st_size < 100_000
    refused(path)


def test_a_bomb_of_zstandard_is_refused_before_it_fills_the_memory(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "a.txt.zst"
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(b"0" * 200_000_000))
    started = time.perf_counter()
    with pytest.raises(DataError, match="more than 1 million"):
        list(read_documents(path))
    assert time.perf_counter() - started < 5


def test_the_limit_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(LONG["a.txt"])
    monkeypatch.setenv("TOPICVEC_MAX_TEXT", "3")
    assert len(next(read_documents(path)).text) == FAR_OVER
    for wrong in ("0", "-1", "many", "1e3", "9" * 50, ""):
        monkeypatch.setenv("TOPICVEC_MAX_TEXT", wrong)
        with pytest.raises(DataError, match="TOPICVEC_MAX_TEXT must be a whole number"):
            list(read_documents(path))


def test_many_short_documents_are_no_long_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + '"a\nb"\n' * 400_000)
    assert sum(1 for _ in read_documents(path)) == 400_000


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device without end")
@pytest.mark.parametrize("format", ["text", "lines", "csv", "jsonl"])
def test_a_device_without_end_is_refused(format):
    how = {"errors": "strict", "format": format}
    refused("/dev/zero", match="its bytes have zeros", error=FormatError, **how)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device without end")
def test_a_device_without_end_is_no_file_of_anything_else(capsys):
    with pytest.raises(DataError, match="cannot read the vocabulary"):
        Vocabulary.load("/dev/zero")
    with pytest.raises(FormatError, match="the file is empty"):
        load_vectors("/dev/zero")
    with pytest.raises(DataError, match="no file"):
        stop_words("/dev/zero")
    assert call(["info", "/dev/zero"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        "[" * 200_000,
        '{"text": ' + "[" * 200_000 + "]" * 200_000 + "}",
        '{"text": "a", "n": ' + "9" * 5_000 + "}",
        '{"text": "a", "b": ' * 50_000,
    ],
)
def test_json_without_a_bottom_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "fine"}\n' + line + "\n")
    refused(path, match="line 2: not valid JSON", error=FormatError)


def test_parquet_that_is_not_utf8_is_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    raw = arrow.array([b"fine", b"caf\xe9"], arrow.binary())
    text = arrow.Array.from_buffers(arrow.string(), 2, raw.buffers())
    parquet.write_table(arrow.table({"text": text}), tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", match="damaged or not Parquet", error=FormatError)


def test_parquet_whose_times_are_none_is_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    times = arrow.array([2**62], arrow.timestamp("us"))  # the year 148,000
    parquet.write_table(arrow.table({"text": ["a"], "time": times}), tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", match="damaged or not Parquet", error=FormatError)


def test_parquet_of_texts_beyond_the_limit_is_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"text": ["a" * FAR_OVER]}), tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet")


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_folders_that_link_to_each_other_are_walked_once(tmp_path):
    folders = [tmp_path / f"folder{number}" for number in range(12)]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "text.txt").write_text(f"text {number}")
    for folder in folders:
        for other in folders:
            (folder / f"to-{other.name}").symlink_to(other)
        (folder / "up").symlink_to(tmp_path)
    texts = [document.text for document in read_documents(tmp_path)]
    assert sorted(texts) == sorted(f"text {number}" for number in range(12))
    outside = [document.id for document in read_documents(folders[0])]
    assert len(outside) == 12  # each of the others through its link, once


def test_lines_that_no_vectors_have_are_refused(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes(b"cat 1 2\n" + b"dog" * 2_000_000)
    with pytest.raises(FormatError, match="line 2: longer than"):
        load_vectors(path)
    with pytest.raises(FormatError, match="line 2: longer than"):
        read_frequencies(_after(path, b"cat 1\n" + b"dog" * 2_000_000))


def _after(path, content):
    path.write_bytes(content)
    return path


def test_compressed_vectors_that_unpack_without_end_are_refused(tmp_path):
    path, content = tmp_path / "v.bin.gz", io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=9) as file:
        file.write(b"4000 65000\n")
        for number in range(1000):
            file.write(b"%d " % number + b"\0" * 260_000 + b"\n")
    path.write_bytes(content.getvalue())
    with pytest.raises(FormatError, match="more than 200 times its size"):
        load_vectors(path)


@pytest.mark.parametrize("count", ["9" * 5_000, "9" * 19, "1" * 30])
def test_a_vocabulary_with_a_count_beyond_all_numbers_is_refused(tmp_path, count):
    path = tmp_path / "v.tsv"
    path.write_text(f"cat\t{count}\n")
    with pytest.raises((FormatError, DataError), match="count"):
        Vocabulary.load(path)


def test_a_column_of_too_many_digits_is_a_name(tmp_path):
    (tmp_path / "a.csv").write_text("text\na cat\n")
    for column in ("9" * 5_000, "²"):
        texts = SourceTexts([str(tmp_path / "a.csv")], "csv,no-header", text_column=column)
        with pytest.raises(DataError, match="no column"):
            list(texts)


def test_the_limits_of_one_document_leave_long_corpora_alone(tmp_path):
    path = tmp_path / "a.jsonl"
    line = json.dumps({"text": "a cat sat on a mat " * 50})
    path.write_text(f"{line}\n" * 5_000)
    assert path.stat().st_size > 4_500_000
    next(read_documents(path))  # imports what it needs
    tracemalloc.start()
    n = sum(1 for _ in read_documents(path))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n == 5_000
    assert most < 2e6

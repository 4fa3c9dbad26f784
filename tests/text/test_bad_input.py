"""Each kind of bad input gets one message that says where and what to do."""

import gzip
import io
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicvec import errors
from topicvec.errors import DataError, FormatError, MissingExtra
from topicvec.text import read_documents


def message(error, source, **options):
    with pytest.raises(error) as caught:
        list(read_documents(source, **options))
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_missing_file_is_noticed_at_the_call(tmp_path):
    with pytest.raises(DataError, match=r"no such file or folder: .*nothing\.txt"):
        read_documents(tmp_path / "nothing.txt")


def test_an_empty_file_is_noticed_at_the_call(write):
    with pytest.raises(DataError, match=r"a\.txt is an empty file"):
        read_documents(write("a.txt", ""))


def test_an_empty_folder_is_noticed_at_the_call(tmp_path):
    (tmp_path / ".hidden").write_text("x")
    with pytest.raises(DataError, match="is an empty folder"):
        read_documents(tmp_path)


def test_an_empty_list_is_noticed_at_the_call():
    with pytest.raises(DataError, match="at least one file or folder"):
        read_documents([])


def test_a_path_named_twice_is_noticed_at_the_call(write):
    path = write("a.txt", "x")
    with pytest.raises(DataError, match="named 2 times"):
        read_documents([path, str(path)])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"format": "doc"}, "format must be one of auto, text, lines"),
        ({"errors": "ignore"}, "errors must be one of strict, replace, skip"),
        ({"encoding": "utf-88"}, "no encoding is called 'utf-88'"),
        ({"encoding": "base64"}, "no encoding is called 'base64'"),
        ({"delimiter": "||"}, "delimiter must be one character"),
    ],
)
def test_senseless_options_are_noticed_at_the_call(write, options, part):
    path = write("a.txt", "x")
    with pytest.raises(DataError, match=part):
        read_documents(path, **options)


@pytest.mark.parametrize("content", ["text,label\n", 'text\n""\n'])
def test_a_corpus_without_any_text_is_empty(write, content):
    assert "the corpus is empty" in message(DataError, write("a.csv", content))


def test_a_compressed_file_of_nothing_is_an_empty_corpus(write):
    assert "the corpus is empty" in message(DataError, write("a.csv.gz", ""))
    assert "the corpus is empty" in message(DataError, write("a.txt.gz", ""))


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.txt.gz", "a.tsv.zst"])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b'"' + b"ab" * 9_000 + b'"\n'])
def test_a_wrong_byte_is_named_with_its_offset(write, name, before):
    if name == "a.jsonl":
        before = before.replace(b"\n", b"").replace(b"\xef\xbb\xbf", b"")
    path = write(name, before + b"caf\xe9 noir\n")
    text = message(DataError, path, encoding="utf-8", errors="strict")
    assert f"byte 0xe9 at offset {len(before) + 3} is not utf-8" in text
    assert "encoding=" in text
    assert "--encoding" in text
    assert name in text


def test_a_wrong_byte_of_standard_input_is_named(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\n\xff\n")))
    assert "stdin: byte 0xff at offset 4" in message(
        DataError, "-", encoding="utf-8", errors="strict"
    )


def test_a_file_without_the_mark_of_its_encoding_is_named(write):
    text = message(DataError, write("a.txt", "plain text"), encoding="utf-16")
    assert "a.txt" in text
    assert "--encoding" in text


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2", ".zst"])
def test_a_cut_or_damaged_compressed_file_is_named(write, suffix):
    path = write(f"a.txt{suffix}", bytes(range(32, 127)) * 50)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-3], b"no archive at all, but long enough"):
        path.write_bytes(damaged)
        assert f"a.txt{suffix}: damaged or truncated" in message(FormatError, path)


def test_several_frames_or_members_are_read_to_the_end(write, suffix):
    path = write(f"a.txt{suffix}", "one ")
    path.write_bytes(path.read_bytes() * 3)
    assert [document.text for document in read_documents(path)] == ["one one one "]


def test_a_missing_text_column_lists_the_columns(write):
    text = message(DataError, write("a.csv", "title,body\nx,y\n"))
    assert "no column is called 'text'" in text
    assert "'title', 'body'" in text
    assert "text_column=" in text


@pytest.mark.parametrize("role", ["text", "id", "label", "time"])
@pytest.mark.parametrize("column", ["nothing", 5, -1])
def test_a_named_column_that_is_not_there_lists_the_columns(write, role, column):
    path = write("a.csv", "text,body\nx,y\n")
    text = message(DataError, path, **{f"{role}_column": column})
    assert f"a.csv: no column {column!r} for {role}_column= (--{role}-column)" in text
    assert "'text', 'body'" in text


def test_a_row_with_other_columns_is_named_by_line(write):
    path = write("a.tsv", "id\ttext\na\tone\nb\ttwo\tmore\n")
    assert "a.tsv, line 3: expected 2 columns" in message(DataError, path)


def test_an_open_quote_is_named_by_line(write):
    text = message(FormatError, write("a.csv", 'text\none\n"two\n'))
    assert "a.csv, line 3" in text
    assert "quoting=False" in text


@pytest.mark.parametrize("line", ['{"text": "tw', "nonsense", '["text"]', '"text"'])
def test_a_line_that_is_no_json_object_is_named(write, line):
    path = write("a.jsonl", f'{{"text": "one"}}\n{line}')
    assert "a.jsonl, line 2" in message(FormatError, path)


def test_an_object_without_the_text_is_named(write):
    path = write("a.jsonl", '{"text": "one"}\n{"id": 1, "body": "two"}\n')
    assert "a.jsonl, line 2: no column is called 'text'" in message(DataError, path)


def test_a_text_that_is_a_number_is_named(write):
    path = write("a.jsonl", '{"text": "one"}\n{"text": 2}\n')
    assert "row 2: expected text in the text column; found int" in message(DataError, path)


def test_a_file_that_is_not_parquet_is_named(write):
    assert "a.parquet: damaged or not Parquet" in message(
        FormatError, write("a.parquet", "PAR1, or so it says")
    )


def test_a_parquet_file_with_damaged_pages_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [str(number) for number in range(5000)]}), path)
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 1000 + content[1004:])
    assert "a.parquet: damaged or not Parquet" in message(FormatError, path)


def test_a_folder_that_may_not_be_listed_is_named(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(tmp_path), "iterdir", refuse)
    assert "Permission denied" in message(DataError, tmp_path)


def test_a_file_that_is_gone_before_it_is_read_is_named(write):
    path = write("a.txt", "x")
    documents = read_documents(path)
    path.unlink()
    with pytest.raises(DataError, match=r"cannot read .*a\.txt: No such file"):
        next(documents)


@pytest.mark.parametrize(("name", "module"), [("a.parquet", "pyarrow"), ("a.zst", "zstandard")])
def test_a_missing_extra_comes_with_its_pip_command(write, monkeypatch, name, module):
    path = write(name, "x")

    def missing(name, *arguments):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(errors.importlib, "import_module", missing)
    assert f'{module}: pip install "topicvec[readers]"' in message(MissingExtra, path)


def test_nothing_is_lost_before_the_damage(tmp_path):
    path = tmp_path / "a.txt.gz"
    lines = b"".join(b"line %d\n" % number for number in range(100_000))
    path.write_bytes(gzip.compress(lines)[:-4])
    documents = read_documents(path, format="lines")
    assert next(documents).text == "line 0"
    with pytest.raises(FormatError):
        list(documents)

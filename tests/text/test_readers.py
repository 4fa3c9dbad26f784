"""What a source is, what its documents are called, and where columns come from."""

import datetime
import io
import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topicvec.text import Document, read_documents


def texts(*arguments, **options):
    return [document.text for document in read_documents(*arguments, **options)]


def pipe(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_one_file_is_one_document_named_by_its_path(write, suffix):
    path = write(f"note.txt{suffix}", "Line one.\r\nLine two.\n")
    assert list(read_documents(path)) == [
        Document(path.as_posix(), "Line one.\r\nLine two.\n", None, None)
    ]


def test_several_files_come_in_the_order_given(write):
    paths = [write("b.txt", "b"), str(write("a.txt", "a"))]
    assert texts(paths) == texts(iter(paths)) == ["b", "a"]


def test_a_folder_is_read_sorted_with_sub_folders_as_labels(write, tmp_path):
    write("news/space/2", "space two")
    write("news/space/deep/1", "space deep")
    write("news/autos/1.gz", "autos one")
    write("news/top", "top")
    write("news/.hidden", "hidden")
    write("news/.git/config", "hidden")
    found = list(read_documents(tmp_path / "news"))
    assert [(d.text, d.label) for d in found] == [
        ("autos one", "autos"),
        ("space two", "space"),
        ("space deep", "space"),
        ("top", None),
    ]
    assert found[0].id == f"{tmp_path.as_posix()}/news/autos/1.gz"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_file_name_that_is_not_utf8_gives_an_id_that_can_be_written(tmp_path):
    folder = tmp_path / "news" / "caf\udce9"
    folder.mkdir(parents=True)
    for name in ("d\udce9j\udce0.txt", "lines.csv"):
        (folder / name).write_text("text\none\n")
    first, second = read_documents(tmp_path / "news")
    assert first.id.encode().endswith(rb"news/caf\udce9/d\udce9j\udce0.txt")
    assert second.id.encode().endswith(rb"news/caf\udce9/lines.csv:1")
    assert first.label == second.label == r"caf\udce9"


def test_tables_in_a_folder_are_read_as_tables(write, tmp_path):
    write("pets/cats/a.csv", "text,label\none,kitten\n")
    write("pets/cats/b.jsonl", '{"text": "two"}\n')
    write("pets/cats/c.txt", "three")
    found = read_documents(tmp_path / "pets")
    assert [(d.text, d.label) for d in found] == [
        ("one", "kitten"), ("two", "cats"), ("three", "cats"),
    ]  # fmt: skip


def test_a_link_to_a_folder_above_is_not_followed_for_ever(write, tmp_path):
    write("news/a/1", "one")
    (tmp_path / "news" / "a" / "loop").symlink_to(tmp_path / "news")
    os.mkfifo(tmp_path / "news" / "pipe")
    assert texts(tmp_path / "news") == ["one"]


def test_an_empty_file_among_others_is_an_empty_document(write, tmp_path):
    write("news/1", "")
    write("news/2", "two")
    assert texts(tmp_path / "news") == ["", "two"]


def test_lines_end_at_line_feeds_only_and_blank_ones_count(write):
    path = write("corpus.txt", "one\u2028still one\r\n\ntwo\x0b\rtoo")
    found = list(read_documents(path, format="lines"))
    assert [d.text for d in found] == ["one\u2028still one", "", "two\x0b\rtoo"]
    assert [d.id.rpartition(":")[2] for d in found] == ["1", "2", "3"]


def test_standard_input_is_one_document(monkeypatch):
    pipe(monkeypatch, b"\xef\xbb\xbfone\ntwo\n")
    assert list(read_documents("-")) == [Document("stdin", "one\ntwo\n")]


def test_standard_input_can_be_read_as_lines(monkeypatch):
    pipe(monkeypatch, b"\xef\xbb\xbfone\ntwo\n")
    found = list(read_documents("-", format="lines"))
    assert found == [Document("stdin:1", "one"), Document("stdin:2", "two")]
    assert not sys.stdin.buffer.closed


def test_standard_input_can_be_a_table(monkeypatch):
    pipe(monkeypatch, b"text,label\none,x\n")
    assert list(read_documents("-", format="csv")) == [Document("stdin:1", "one", "x")]


def test_standard_input_can_be_parquet(monkeypatch):
    stream = io.BytesIO()
    pq.write_table(pa.table({"text": ["one"]}), stream)
    pipe(monkeypatch, stream.getvalue())
    assert list(read_documents("-", format="parquet")) == [Document("stdin:1", "one")]


def test_wiki_shards_are_tsv_without_header(write):
    path = write("wiki-00.txt.xz", 'Cat\tThe "cat purrs.\n\nDog\tDogs bark.\n')
    options = {"format": "tsv", "header": False, "id_column": 0, "text_column": 1}
    expected = [Document("Cat", 'The "cat purrs.'), Document("Dog", "Dogs bark.")]
    assert list(read_documents(path, **options)) == expected
    assert (
        list(read_documents(path, **options | {"id_column": "0", "text_column": "1"})) == expected
    )


def test_an_only_column_is_the_text(write):
    assert texts(write("a.csv", 'body\none\n\n""\ntwo\n')) == ["one", "", "two"]
    assert texts(write("a.tsv", "one\n\ntwo\n"), header=False) == ["one", "", "two"]
    assert texts(write("a.jsonl", '{"body": "one"}\n\n{"body": "two"}')) == ["one", "two"]


def test_columns_go_by_name_or_position(write):
    path = write("a.csv", "n,body,class,when\n7,one,x,2001\n,two,,\n")
    options = {"id_column": "n", "text_column": 1, "label_column": "class", "time_column": "when"}
    assert list(read_documents(path, **options)) == [
        Document("7", "one", "x", "2001"),
        Document(f"{path.as_posix()}:2", "two", "", ""),
    ]


def test_a_csv_field_may_be_larger_than_the_limit_of_the_csv_module(write):
    big = "word " * 100_000
    assert texts(write("a.csv", f"text\n{big}\n")) == [big]


def test_a_byte_order_mark_is_no_part_of_the_header(write):
    assert texts(write("a.csv", "\ufefftext,label\none,x\n")) == ["one"]


def test_values_that_are_no_text_become_text_and_nothing_stays_nothing(write):
    lines = [{"id": 7, "text": "one", "label": 1.5, "time": None}, {"text": None}, {"text": "x"}]
    path = write("a.jsonl", "\n".join(map(json.dumps, lines)))
    first, second, _ = read_documents(path)
    assert first == Document("7", "one", "1.5", None)
    assert (second.id, second.text) == (f"{path.as_posix()}:2", "")


def test_parquet_reads_only_its_columns_in_many_batches(tmp_path):
    path = tmp_path / "a.parquet"
    times = [datetime.date(2001, 2, 3)] * 3000
    columns = {"other": range(3000), "text": map(str, range(3000)), "time": times}
    pq.write_table(pa.table({name: list(values) for name, values in columns.items()}), path)
    found = list(read_documents(path))
    assert [d.text for d in found] == [str(number) for number in range(3000)]
    assert found[2999] == Document(f"{path.as_posix()}:3000", "2999", None, "2001-02-03")


def test_default_ids_are_unique(write, tmp_path):
    for name in ("a.csv", "b.csv"):
        write(f"c/{name}", "text\none\ntwo\n")
    found = [document.id for document in read_documents([tmp_path / "c", write("d.txt", "x")])]
    assert len(set(found)) == len(found) == 5


def test_documents_stream(write):
    path = write("a.csv", "text\none\n" + '"broken')
    assert next(read_documents(path)).text == "one"


def test_another_encoding_is_read_by_name(write):
    assert texts(write("a.txt", "Café".encode("latin-1")), encoding="latin-1") == ["Café"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "shift_jis"])
def test_lines_and_tables_work_in_wide_encodings(write, encoding):
    path = write("a.csv", "text,label\none,x\ntwo,y\n".encode(encoding))
    assert [d.label for d in read_documents(path, encoding=encoding)] == ["x", "y"]

"""What is written to a table is read back exactly, whatever the format and compression."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import example, given
from hypothesis import strategies as st

from topicvec.text import Document

FIELDS = ("id", "text", "label", "time")
suffixes = st.sampled_from(["", ".gz", ".xz", ".bz2", ".zst"])
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
one_line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\t\0"))


def corpora(text):
    document = st.builds(Document, id=text.filter(bool), text=text, label=text, time=text)
    return st.lists(document, min_size=1).filter(lambda corpus: any(d.text for d in corpus))


def rows(corpus):
    return [[getattr(document, name) for name in FIELDS] for document in corpus]


def delimited(table, **options):
    stream = io.StringIO(newline="")
    csv.writer(stream, **options).writerows(table)
    return stream.getvalue().encode()


@given(corpora(anything), suffixes)
@example([Document("a", 'quote " comma , end \r\n', "x", "")], ".gz")
def test_csv(read_back, corpus, suffix):
    content = delimited([FIELDS, *rows(corpus)])
    assert read_back(f"corpus.csv{suffix}", content) == corpus


@given(corpora(anything), suffixes)
def test_csv_without_header_and_with_another_delimiter(read_back, corpus, suffix):
    content = delimited(rows(corpus), delimiter=";")
    columns = {f"{name}_column": position for position, name in enumerate(FIELDS)}
    assert read_back(f"c.csv{suffix}", content, header=False, delimiter=";", **columns) == corpus


@given(corpora(anything), suffixes)
def test_tsv_with_quoting(read_back, corpus, suffix):
    content = delimited([FIELDS, *rows(corpus)], delimiter="\t")
    assert read_back(f"corpus.tsv{suffix}", content, quoting=True) == corpus


@given(corpora(one_line), suffixes)
@example([Document('"a', 'an odd " quote', "", "")], "")
def test_tsv_as_it_is(read_back, corpus, suffix):
    content = "\n".join("\t".join(row) for row in [FIELDS, *rows(corpus)])
    assert read_back(f"corpus.tsv{suffix}", content.encode()) == corpus


@given(corpora(st.text()), suffixes)
def test_jsonl(read_back, corpus, suffix):
    lines = [json.dumps(dict(zip(FIELDS, row, strict=True))) for row in rows(corpus)]
    assert read_back(f"corpus.jsonl{suffix}", "\n".join(lines).encode()) == corpus


@given(corpora(anything), suffixes)
def test_parquet(read_back, corpus, suffix):
    stream = io.BytesIO()
    columns = dict(zip(FIELDS, map(list, zip(*rows(corpus), strict=True)), strict=True))
    pq.write_table(pa.table(columns), stream)
    assert read_back(f"corpus.parquet{suffix}", stream.getvalue()) == corpus


@given(st.lists(one_line, min_size=1).filter(any), suffixes)
def test_lines(read_back, texts, suffix):
    content = "".join(f"{text}\n" for text in texts)
    found = read_back(f"corpus.txt{suffix}", content, format="lines")
    assert [document.text for document in found] == texts


@given(anything.filter(bool), suffixes, st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_one_text_in_any_encoding(read_back, text, suffix, encoding):
    wanted = text.removeprefix("\ufeff") if encoding == "utf-8" else text
    if wanted:
        [document] = read_back(f"note.txt{suffix}", text.encode(encoding), encoding=encoding)
        assert document.text == wanted

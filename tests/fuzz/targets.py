"""What is fuzzed: each target has valid inputs, a way to change them, and what reads them."""

import asyncio
import bz2
import csv
import gzip
import io
import json
import lzma
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openpyxl
import pyarrow
import pyarrow.parquet
import zstandard
from mutations import mutate_bytes, mutate_json, mutate_packed, mutate_tensors, mutate_zip

from topicvec import (
    DocumentIndex,
    TopicClassifier,
    TopicVec,
    WordVectors,
    load_vectors,
    summarize,
)  # fmt: skip
from topicvec.embed import spill
from topicvec.embed.cooccurrence import Cooccurrence
from topicvec.embed.counting import count_cooccurrences
from topicvec.embed.load import read_frequencies
from topicvec.explore import Collection
from topicvec.explore.app import create_app
from topicvec.text import Document, Tokenizer, Vocabulary, read_documents

TEXTS = [
    "Comets orbit the sun. The moon and planets orbit too; telescopes show the sun.",
    "Doctors treat patients. A patient takes medicine, and the doctor asks the patient.",
    "The orchestra played music. Violins and music fill the hall; the orchestra plays.",
    "The sun warms the sea. Rain falls on the sea, and the moon pulls the sea.",
] * 2
LABELS = ["sky", "health", "music", "sea"] * 2 + ["sky"]
ODD_TEXT = "Don't e-mail a@b.com or www.example.org/x?y=1, it's 3.5€ – “naïve” Ünïcødé 東京 музыка!"
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # quicker than a disk
FOLDER = Path(tempfile.mkdtemp(prefix="topicvec-fuzz-", dir=_MEMORY))


class Target(NamedTuple):
    """A way into the library."""

    seeds: Callable[[], list[bytes]]
    mutate: Callable[..., bytes]
    act: Callable[[bytes], object]
    many: int  # inputs of one child; fewer for what is slow


@cache
def vectors() -> WordVectors:
    words = sorted({word for text in TEXTS for word in Tokenizer()(text)})
    rng = np.random.default_rng(0)
    return WordVectors(words, rng.normal(size=(len(words), 4)) / 2, rng.uniform(1, 9, len(words)))


@cache
def model() -> TopicVec:
    return _model().fit(TEXTS)


def _model() -> TopicVec:
    return TopicVec(
        3, vectors(), own_words=False, phrases=False, random_state=0, n_jobs=1, max_iter=12,
        stop_words=None,
    )  # fmt: skip


def _file(data: bytes, suffix: str = "") -> Path:
    path = FOLDER / f"{os.getpid()}{suffix}"
    path.write_bytes(data)
    return path


def _saved(save: Callable[[Path], object]) -> bytes:
    path = FOLDER / "seed"
    save(path)
    return path.read_bytes()


# tokenizer and readers


def _tokenize(data: bytes) -> None:
    text = data.decode("utf-8", "surrogatepass" if len(data) % 2 else "replace")
    for rules in ("default", "original"):
        tokenizer = Tokenizer(rules)
        spans = tokenizer.spans(text)
        assert [span.token for span in spans] == tokenizer(text), "spans and words differ"


def _tokenize_safely(data: bytes) -> None:
    try:
        _tokenize(data)
    except UnicodeDecodeError:
        _tokenize(data + b" ")


def _reader(suffix: str, **options: Any) -> Callable[[bytes], None]:
    def act(data: bytes) -> None:
        for document in read_documents(_file(data, suffix), **options):
            assert isinstance(document.text, str)

    return act


def _csv(delimiter: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["id", "text", "label", "time"])
    for number, text in enumerate([*TEXTS[:3], 'with "quotes", and\nlines']):
        writer.writerow([number, text, LABELS[number], f"2020-01-0{number + 1}"])
    return out.getvalue().encode()


def _jsonl() -> bytes:
    rows = [{"id": i, "text": t, "label": LABELS[i], "time": 2020} for i, t in enumerate(TEXTS)]
    return "\n".join(map(json.dumps, rows)).encode()


def _array() -> bytes:
    return b"[" + _jsonl().replace(b"\n", b",\n") + b"]"


def _parquet() -> bytes:
    out = io.BytesIO()
    table = pyarrow.table({"id": ["a", "b"], "text": TEXTS[:2], "label": LABELS[:2], "n": [1, 2]})
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


_PAGE = """<!doctype html><html><head><meta charset=utf-8><style>p { a: b }</style></head><body>
<!-- note --><script>var font = '<p>';</script><h1 class="a b" id='c'>Caf&eacute; &#233;</h1>
<p>Der K\u00e4fer <b>krab</b>belt&nbsp;hier.<br/><svg><text>x</text></svg></p></body></html>"""
_MARKDOWN = """---\ntitle: x\n---\n# Cats\n\nThey *purr*, see [here](https://a.org/x_y "t")
![c](c.png) <!-- note -->\n- one `code`\n1. **two _three_**\n\n> said <b>so</b> <http://a.org>
\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n
[here]: http://a.org\n~~old~~ \\* ***\n"""
_MAIL = """From: A <a@x.org>\nSubject: =?utf-8?q?K=C3=A4fer?=\nDate: Mon, 02 Jan 2006 15:04:05 +0100
MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b
Content-Type: text/html; charset=utf-8\n\n<p>Seiten</p>\n--b
Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n
Gr=FC=DFe aus K=F6ln\n--b\nContent-Type: application/pdf\n\nfont font\n--b--\n"""
_WORD = """<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://x/w"><w:body><w:p><w:r>
<w:t>Der K\u00e4fer </w:t></w:r><w:r><w:t>krabbelt.</w:t></w:r></w:p><w:p><w:del><w:r><w:delText>
gone</w:delText></w:r></w:del><w:r><w:t>Zwei</w:t><w:tab/><w:t>3</w:t></w:r></w:p></w:body>
</w:document>"""
_BOOK = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml":
        '<container><rootfiles><rootfile full-path="O/c.opf"/></rootfiles></container>',
    "O/c.opf": '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        '</manifest><spine><itemref idref="a"/></spine></package>',
    "O/a.xhtml": _PAGE,
}  # fmt: skip
_PDF = (
    "<</Type /Catalog /Pages 2 0 R>>",
    "<</Type /Pages /Kids [3 0 R] /Count 1>>",
    "<</Type /Page /Parent 2 0 R /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>>>>",
    "<</Length 49>> stream\nBT /F 12 Tf 72 700 Td (Cats purr, dogs bark.) Tj ET\nendstream",
    "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
)


def _pdf() -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, each in enumerate(_PDF, 1):
        places.append(len(out))
        out += f"{number} 0 obj {each} endobj\n".encode()
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    table = f"xref\n0 6\n0000000000 65535 f \n{rows}trailer <</Root 1 0 R /Size 6>>\n"
    return out + f"{table}startxref\n{len(out)}\n%%EOF\n".encode()


def _zipped(parts: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def _sheet() -> bytes:
    book = openpyxl.Workbook()
    for row in (("id", "text", "n"), ("a", "Cats purr.", 1), ("b", "Dogs bark.", 2.5)):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# vectors


def _word2vec(binary: bool) -> bytes:
    path = FOLDER / ("seed.bin" if binary else "seed.vec")
    vectors().save(path)
    return path.read_bytes()


def _vectors(data: bytes) -> None:
    found = load_vectors(_file(data, ".x"))
    assert np.isfinite(found.matrix).all()
    if len(found) > 1:
        found.nearest(found.words[0], 2)


def _frequencies(data: bytes) -> None:
    read_frequencies(_file(data))


def _vocabulary(data: bytes) -> None:
    Vocabulary.load(_file(data))


# models, classifiers, indexes, checkpoints, counts


def _use(found: TopicVec) -> None:
    """Use a model from a file: all numbers that it gives must be numbers."""
    assert np.isfinite(found.transform(TEXTS[:2])).all(), "topic proportions are not finite"
    _ = found.topics_
    found.reduce(1)
    found.drop([1])
    found.partial_fit(TEXTS[:2])
    assert np.isfinite(found.topic_vectors_).all(), "topic vectors are not finite"


def _load_model(data: bytes) -> None:
    _use(TopicVec.load(_file(data), n_jobs=1))


def _classifier() -> bytes:
    return _saved(TopicClassifier(_model()).fit(TEXTS, LABELS[:8]).save)


def _load_classifier(data: bytes) -> None:
    found = TopicClassifier.load(_file(data), n_jobs=1)
    assert np.isfinite(found.predict_proba(TEXTS[:2])).all(), "probabilities are not finite"


def _index() -> bytes:
    named = [Document(f"d{i}", text, LABELS[i]) for i, text in enumerate(TEXTS)]
    return _saved(DocumentIndex.build(model(), named).save)


def _load_index(data: bytes) -> None:
    found = DocumentIndex.load(_file(data), model())
    found.search("the sun and the moon", 3)
    found.similar(0, 2, rerank="transport")


def _checkpoint() -> bytes:
    path = FOLDER / "checkpoint"
    path.unlink(missing_ok=True)
    _model().fit(TEXTS, checkpoint=path)
    return path.read_bytes()


def _load_checkpoint(data: bytes) -> None:
    path = _file(data, ".checkpoint")
    found = _model().set_params(max_iter=14).fit(TEXTS, checkpoint=path)
    assert np.isfinite(found.topic_vectors_).all(), "topic vectors are not finite"


def _counts() -> bytes:
    vocabulary = Vocabulary(vectors().words, np.ones(len(vectors()), np.int64))
    return _saved(count_cooccurrences(TEXTS, vocabulary).save)


def _load_counts(data: bytes) -> None:
    found = Cooccurrence.load(_file(data))
    found.top(5)
    _ = found + found


_RUN = np.array([(0, 1), (5, 2)], spill.RECORD).tobytes()


def _range() -> spill.RowRange:
    corner = spill.Corner.within(4, 8)
    return spill.RowRange((0, 4), corner, 4, np.ones(3, np.int64), 1 << 12)


@cache
def _state() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(4 + _range().dense.size, dtype=np.int64))
    return out.getvalue()


def _manifest() -> bytes:
    known = {
        "format": "topicvec counting run", "version": spill.VERSION, "fingerprint": "f",
        "n_documents": 3, "digest": "d", "n_tokens": 9, "state": "state-3.npy",
        "runs": [["run-0-1-a.bin"]],
        "files": {"state-3.npy": len(_state()), "run-0-1-a.bin": len(_RUN)},
    }  # fmt: skip
    return json.dumps(known).encode()


def _load_run(data: bytes) -> None:
    folder = FOLDER / f"{os.getpid()}-run"
    folder.mkdir(exist_ok=True)
    (folder / "state-3.npy").write_bytes(_state())
    (folder / "run-0-1-a.bin").write_bytes(_RUN)
    (folder / spill.MANIFEST).write_bytes(data)
    try:
        found = spill.Checkpoint(folder, "f")
        found.restore(np.zeros(4, np.int64), [_range()])
        _ = found.mark, found.n_tokens
    finally:
        shutil.rmtree(folder)


def _first_pass() -> bytes:
    known = {"version": spill.VERSION, "fingerprint": "f", "n_documents": 2, "digest": "d"}
    return json.dumps({**known, "words": ["sun", "moon"], "counts": [3, 1]}).encode()


def _load_first_pass(data: bytes) -> None:
    folder = FOLDER / f"{os.getpid()}-pass"
    folder.mkdir(exist_ok=True)
    (folder / spill.FIRST_PASS).write_bytes(data)
    spill.load_first_pass(folder, "f")


# the JSON API


def _requests() -> list[bytes]:
    host = {"host": "localhost"}
    asked: list[dict[str, Any]] = [
        {"method": "GET", "path": path, "query": query, "headers": host, "body": ""}
        for path, query in (
            ("/api/overview", ""), ("/api/topics/1", ""), ("/api/documents", "q=the+sun&n=3"),
            ("/api/documents", "topic=1&label=sky&offset=1"), ("/api/documents/1", ""),
            ("/api/documents/0/text", "start=3"), ("/", ""), ("/api/topics/1/cloud.svg", ""),
        )
    ]  # fmt: skip
    headers = {"host": "127.0.0.1:1", "content-type": "application/json"}
    for text in (TEXTS[0], ODD_TEXT):
        body = json.dumps({"text": text})
        asked.append({**asked[0], "method": "POST", "path": "/api/analyse", "headers": headers})
        asked[-1]["body"] = body
    return [json.dumps(each).encode() for each in asked]


@cache
def _app(pid: int) -> Any:  # the loop and its threads belong to one process
    named = [Document(f"d{i}", text, LABELS[i]) for i, text in enumerate([*TEXTS, ODD_TEXT])]
    return create_app(_collection(tuple(named))), asyncio.new_event_loop()


@cache
def _collection(documents: tuple[Document, ...]) -> Collection:
    return Collection.build(model(), documents)


def _ask(data: bytes) -> None:
    try:
        asked = json.loads(data)
        headers = [
            (str(k).lower().encode("latin-1"), str(v).encode("latin-1"))
            for k, v in asked["headers"].items()
        ]
        body = str(asked["body"]).encode("utf-8", "surrogatepass")
        path, query = str(asked["path"]), str(asked["query"]).encode("latin-1")
        method = str(asked["method"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # no web server makes a request of it
    app, loop = _app(os.getpid())
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "path": path, "raw_path": path.encode("utf-8", "replace"), "query_string": query,
        "headers": headers, "scheme": "http", "server": ("127.0.0.1", 1),
        "client": ("127.0.0.1", 2), "root_path": "",
    }  # fmt: skip
    parts = [body[: len(body) // 2], body[len(body) // 2 :]]
    status, content = loop.run_until_complete(_exchange(app, scope, parts))
    assert status < 500, f"the answer is {status}: {content[:200]!r}"
    if status >= 400:
        assert method == "HEAD" or json.loads(content)["error"], "an error says nothing"


async def _exchange(app: Any, scope: dict[str, Any], parts: list[bytes]) -> tuple[int, bytes]:
    status, content, left = 0, b"", list(parts)

    async def receive() -> dict[str, Any]:
        part = left.pop(0) if left else b""
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, content
        status = message.get("status", status)
        content += message.get("body", b"")

    await app(scope, receive, send)
    return status, content


def _summarize(data: bytes) -> None:
    summarize(model(), data.decode("utf-8", "replace") + ". The sun and the moon.", 2)


_ENVELOPE = "From a@x.org Mon Jan  2 15:04:05 2006\n"
# with small tables, so that what is kept for a while is small
_xz, _bz2 = partial(lzma.compress, preset=0), partial(bz2.compress, compresslevel=1)
_compressed = [gzip.compress, _bz2, _xz]
_text = "\n".join([*TEXTS, ODD_TEXT]).encode()
TARGETS = {
    "tokenizer": Target(
        lambda: [ODD_TEXT.encode(), TEXTS[0].encode()], mutate_bytes, _tokenize_safely, 4000),
    "text": Target(lambda: [_text], mutate_bytes, _reader(".txt"), 6000),
    "utf-16": Target(
        lambda: [ODD_TEXT.encode("utf-16")], mutate_bytes,
        _reader(".txt", encoding="utf-16"), 5000),
    "lines": Target(lambda: [_text], mutate_bytes, _reader(".txt", format="lines"), 6000),
    "csv": Target(lambda: [_csv(",")], mutate_bytes, _reader(".csv"), 4000),
    "tsv": Target(lambda: [_csv("\t")], mutate_bytes, _reader(".tsv"), 4000),
    "jsonl": Target(lambda: [_jsonl()], mutate_bytes, _reader(".jsonl"), 5000),
    "json row": Target(
        lambda: [json.dumps({"id": "a", "text": "b", "label": "c", "time": 4}).encode()],
        mutate_json, _reader(".jsonl"), 5000),
    "json": Target(
        lambda: [_array(), _array()[1:-1]], mutate_json, _reader(".json"), 5000),
    "html": Target(lambda: [_PAGE.encode()], mutate_bytes, _reader(".html"), 5000),
    "markdown": Target(lambda: [_MARKDOWN.encode()], mutate_bytes, _reader(".md"), 5000),
    "e-mail": Target(lambda: [_MAIL.encode()], mutate_bytes, _reader(".eml"), 1000),
    "mailbox": Target(
        lambda: [f"{_ENVELOPE}{_MAIL}\n{_ENVELOPE}Subject: b\n\nc".encode()], mutate_bytes,
        _reader(".mbox"), 1000),
    "word": Target(
        lambda: [_zipped({"word/document.xml": _WORD})], mutate_zip, _reader(".docx"), 2000),
    "book": Target(lambda: [_zipped(_BOOK)], mutate_zip, _reader(".epub"), 1500),
    "excel": Target(lambda: [_sheet()], mutate_zip, _reader(".xlsx"), 100),
    "pdf": Target(lambda: [_pdf()], mutate_bytes, _reader(".pdf"), 300),
    "parquet": Target(lambda: [_parquet()], mutate_bytes, _reader(".parquet"), 500),
    "gzip": Target(lambda: [gzip.compress(_text)], mutate_packed(gzip.compress, _text),
        _reader(".txt.gz"), 5000),
    "bzip2": Target(lambda: [_bz2(_text)], mutate_packed(_bz2, _text),
        _reader(".txt.bz2"), 3000),
    "xz": Target(lambda: [_xz(_text)], mutate_packed(_xz, _text),
        _reader(".txt.xz"), 3000),
    "zstandard": Target(
        lambda: [zstandard.compress(_text)], mutate_packed(zstandard.compress, _text),
        _reader(".txt.zst"), 5000),
    "vectors": Target(
        lambda: [
            _word2vec(False), _word2vec(True), _word2vec(False).partition(b"\n")[2],
            *(each(_word2vec(False)) for each in _compressed),
        ], mutate_bytes, _vectors, 5000),
    "own vectors": Target(
        lambda: [_own_vectors(False), _own_vectors(True)], mutate_tensors, _vectors, 2000),
    "frequencies": Target(
        lambda: [b"cat\t12\nice cream 3\nsun 1e3\n"], mutate_bytes, _frequencies, 20000),
    "vocabulary": Target(lambda: [b"cat\t12\nsun\t3\n"], mutate_bytes, _vocabulary, 20000),
    "model": Target(lambda: [_saved(model().save)], mutate_tensors, _load_model, 150),
    "classifier": Target(lambda: [_classifier()], mutate_tensors, _load_classifier, 300),
    "index": Target(lambda: [_index()], mutate_tensors, _load_index, 500),
    "checkpoint": Target(lambda: [_checkpoint()], mutate_tensors, _load_checkpoint, 70),
    "counts": Target(lambda: [_counts()], mutate_tensors, _load_counts, 4000),
    "counting run": Target(lambda: [_manifest()], mutate_json, _load_run, 4000),
    "first pass": Target(lambda: [_first_pass()], mutate_json, _load_first_pass, 6000),
    "api": Target(_requests, mutate_json, _ask, 6000),
    "summary": Target(lambda: [_text], mutate_bytes, _summarize, 50),
}  # fmt: skip


def _own_vectors(quantized: bool) -> bytes:
    path = FOLDER / "seed.safetensors"
    vectors().save(path, quantized=quantized)
    return path.read_bytes()

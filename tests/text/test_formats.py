"""What a file is, is told by its bytes: tables however they are written, and texts in wrappings."""

import io
import json
import logging
import tracemalloc
import zipfile

import pytest

from topicvec import errors
from topicvec.errors import DataError, FormatError, MissingExtra
from topicvec.text import Document, read_documents

ROWS = [("Cats purr, and sleep.", "cat"), ("Dogs bark; at night.", "dog"), ("Cows\nmoo", "cow")]


def read(source, **options):
    return list(read_documents(source, **options))


def said(caplog, source, **options):
    """Read a source and give the one line that says what it was found to be."""
    with caplog.at_level(logging.INFO, "topicvec"):
        read(source, **options)
    [line] = [record.getMessage() for record in caplog.records if hasattr(record, "said")]
    return line


def table(delimiter, header=("body", "kind"), rows=ROWS):
    quoted = [
        [f'"{cell}"' if set(cell) & {delimiter, "\n"} else cell for cell in row] for row in rows
    ]
    return "\n".join(delimiter.join(row) for row in [header, *quoted] if row) + "\n"


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "commas"), (";", "semicolons"), ("\t", "tabs"), ("|", "bars")]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_csv_is_read_whatever_stands_between_its_fields(write, caplog, delimiter, name, encoding):
    rows = [*ROWS, ("Die Käfer krabbeln über größere Blätter.", "Käfer")]
    path = write("a.csv", table(delimiter, rows=rows).encode(encoding))
    found = read(path, text_column="body", label_column="kind")
    assert [(each.text, each.label) for each in found] == rows
    line = said(caplog, path, text_column="body")
    guess = " (a guess)" if encoding == "cp1252" else ""
    assert line == f"{path}: CSV, {name}, first row is the header, {encoding}{guess}"


def test_numbers_and_sentences_and_what_comes_again_are_no_header(write, caplog):
    path = write("a.csv", table(";", header=()))
    assert [each.text for each in read(path, text_column="0")] == [row[0] for row in ROWS]
    again = "news,Rain fell.\nnews,Snow fell.\nsport,She won.\n"
    path = write("b.csv", again)
    assert said(caplog, path, text_column=1) == f"{path}: CSV, commas, no header, utf-8"
    assert len(read(path, text_column=1, label_column=0)) == 3
    with pytest.raises(DataError, match=r"without a header \(--format csv,header\): .* '0', '1'"):
        read(path)


def test_a_header_that_is_said_or_asked_for_by_name_is_one(write):
    path = write("a.csv", "text,2001\nRain fell.,2002\nSnow fell.,2003\n")
    assert len(read(path, text_column=0)) == 3
    assert len(read(path, text_column="text")) == len(read(path, header=True)) == 2


def test_quotes_between_tabs_are_recognised_where_rows_need_them(write):
    quoted = 'id\ttext\n1\t"Rain\tfell ""hard""."\n2\t"Snow\nfell."\n'
    assert [each.text for each in read(write("a.tsv", quoted))] == [
        'Rain\tfell "hard".',
        "Snow\nfell.",
    ]
    plain = 'id\ttext\n1\t"Rain fell.\n2\tSnow" fell.\n'
    assert [each.text for each in read(write("b.tsv", plain))] == ['"Rain fell.', 'Snow" fell.']


def test_a_json_array_is_read_with_its_columns(write, caplog):
    records = [{"body": "Cats purr.", "n": 1}, {"body": "Größe", "n": 2}]
    for indent in (None, 2):
        path = write("a.json", json.dumps(records, indent=indent, ensure_ascii=False))
        found = read(path, text_column="body", id_column="n")
        assert found == [Document("1", "Cats purr."), Document("2", "Größe")]
    assert said(caplog, path, text_column="body") == f"{path}: a JSON array, utf-8"
    with pytest.raises(DataError, match=r"element 1: no column is called 'text'; .*'body', 'n'"):
        read(path)


ROWS_OF_JSON = [{"id": 1, "body": "Cats purr."}, {"id": 2, "body": "Dogs bark."}]


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ({"n": 2, "posts": ROWS_OF_JSON}, " in 'posts'"),
        ({"a": ROWS_OF_JSON[0], "b": ROWS_OF_JSON[1]}, ", an object for each row"),
        (
            {"id": {"0": 1, "1": 2}, "body": {"0": "Cats purr.", "1": "Dogs bark."}},
            ", an object for each column",
        ),
        (
            {
                "columns": ["id", "body"],
                "index": [0, 1],
                "data": [[1, "Cats purr."], [2, "Dogs bark."]],
            },
            ", columns and rows apart",
        ),
    ],
)
def test_rows_within_an_object_are_found_and_said(write, caplog, content, where):
    for indent in (None, 2):
        path = write("a.json", json.dumps(content, indent=indent))
        found = read(path, text_column="body")
        assert found == [Document("1", "Cats purr."), Document("2", "Dogs bark.")]
    assert said(caplog, path, text_column="body") == f"{path}: a JSON array{where}, utf-8"


def test_an_object_with_a_text_is_that_text_whatever_lists_it_has(write):
    path = write("a.json", json.dumps({"text": "one", "replies": ROWS_OF_JSON}, indent=1))
    assert [each.text for each in read(path)] == ["one"]


@pytest.mark.parametrize(
    "content",
    [
        {"columns": ["body"], "data": [["Cats purr.", "Dogs bark."]]},
        {"columns": ["body", "body"], "data": [["Cats purr.", "Dogs bark."]]},
        {"columns": [1], "data": [["Cats purr."]]},
        {"columns": "body", "data": ["Cats purr."]},
    ],
)
def test_rows_that_do_not_fit_their_columns_are_none(write, content):
    with pytest.raises(DataError, match="found 'columns', 'data'"):
        read(write("a.json", json.dumps(content)), text_column="body")


def test_a_json_array_is_read_a_piece_at_a_time(write, tmp_path):
    long = [{"text": f"{number} " + "x" * (number * 700 % 90_000)} for number in range(300)]
    path = write("a.json.gz", json.dumps(long))
    documents = read_documents(path)
    assert next(documents).text == "0 "
    assert [each.text for each in documents] == [each["text"] for each in long[1:]]


def test_json_under_any_name_is_recognised(write):
    assert [each.text for each in read(write("a.txt", '[\n {"text": "one"}]'))] == ["one"]
    assert [each.text for each in read(write("a", '{"text": "one"}\n{"text": "two"}\n'))] == [
        "one",
        "two",
    ]
    assert [each.text for each in read(write("a.json", '{"text": "one"}\n{"text": "two"}'))] == [
        "one",
        "two",
    ]
    assert [each.text for each in read(write("b.json", '{\n "text":\n "one"\n}'))] == ["one"]
    assert [each.text for each in read(write("c.json", '["one", "two"]'))] == ["one", "two"]
    assert [each.text for each in read(write("b.txt", "[sic] is no array"))] == [
        "[sic] is no array"
    ]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ('[{"text": "one"}, {"text": "tw', r"not valid JSON .*truncated"),
        ('[{"text": "one"}] [1]', "more than one array"),
        ("[1, 2]", "element 1: expected a JSON object; found int"),
        ('[{"text": "one"}, ' + "[" * 100_000, "nested too deeply|not valid JSON"),
        ("nonsense", "this is not JSON"),
    ],
)
def test_what_is_no_array_of_objects_is_named(write, content, part):
    with pytest.raises(FormatError, match=part):
        read(write("a.json", content), format="auto")


def test_columns_of_a_text_without_any_are_an_error(write):
    for name, content in (("a.txt", "One text."), ("a.md", "# One"), ("a.html", "<p>One")):
        with pytest.raises(
            DataError, match=r"which has no columns: leave out text_column= \(--text-c"
        ):
            read(write(name, content), text_column="body")
    with pytest.raises(DataError, match="label_column"):
        read(write("b.txt", "One text."), format="lines", label_column="kind")


def test_a_table_without_a_name_is_recognised_where_columns_are_asked_for(write):
    path = write("export.txt", "id|body\n1|Rain fell.\n2|Snow fell.\n")
    assert [each.text for each in read(path, text_column="body")] == ["Rain fell.", "Snow fell."]


def test_a_line_that_says_the_delimiter_is_no_row(write, caplog):
    for quoting in (None, False):
        path = write("a.csv", "sep=;\r\nid;text\r\n1;Cats, dogs\r\n2;Cows, birds\r\n")
        assert read(path, quoting=quoting)[1] == Document("2", "Cows, birds")
    assert said(caplog, path) == f"{path}: CSV, semicolons, first row is the header, utf-8"


def test_capitals_and_blanks_of_a_column_do_not_matter_unless_two_differ_in_them(write):
    path = write("a.csv", "ID, Text ,LABEL\n1,Cats purr.,cat\n")
    assert read(path) == [Document("1", "Cats purr.", "cat")]
    assert read(path, text_column="TEXT", label_column="id")[0].label == "1"
    path = write("b.csv", "Text,TEXT\none,two\n")
    assert read(path, text_column="TEXT")[0].text == "two"
    with pytest.raises(DataError, match=r"no column is called 'text'; .* 'Text', 'TEXT'"):
        read(path)


def test_columns_are_named_shortly_though_they_be_texts(write):
    path = write("a.csv", "1,Good bread needs only flour water salt and a lot of time.\n" * 3)
    with pytest.raises(DataError, match=r"found '1', 'Good bread needs only flour w…'$"):
        read(path, text_column="body")
    many = write("b.csv", ",".join(f"column {n}" for n in range(50)) + "\n" + "a," * 49 + "a\n")
    with pytest.raises(DataError, match=r"'column 11' and 38 more$"):
        read(many)


def test_one_column_with_commas_is_told_how_to_be_read(write):
    path = write("a.csv", "review\nGood.\nCheap, but cold.\n")
    advice = r"expected 1 column as in the first row; found 2; if each line .* \(--format lines\)"
    with pytest.raises(DataError, match=advice):
        read(path)


def test_a_table_that_is_read_as_text_is_hinted_at(write, caplog):
    path = write("a.txt", "id|kind|body\n" + "1|cat|Cats purr.\n" * 9)
    assert said(caplog, path).endswith(
        "utf-8; if it is a table (bars between id, kind, body), name its column of texts with "
        "--text-column"
    )
    caplog.clear()
    path = write("b.txt", 'ham\tSay "no" to it, or\nspam\tGo "now.\n' * 30)
    assert "(tabs between 2 columns)" in said(caplog, path)
    assert [each.label for each in read(path, text_column=1, label_column=0)][:2] == ["ham", "spam"]


def test_columns_are_of_the_tables_among_texts(write, tmp_path):
    write("a/1.txt", "Dear Anna,\nthanks, Bert")
    write("a/2.csv", "id;body\n7;Cats purr.\n")
    found = read(tmp_path / "a", text_column="body")
    assert [each.text for each in found] == ["Dear Anna,\nthanks, Bert", "Cats purr."]
    write("b/1.txt", "Dear Anna,\nthanks, Bert")
    with pytest.raises(DataError, match=r"1\.txt is read as plain text, which has no columns"):
        next(read_documents(tmp_path / "b", text_column="body"))
    write("b/2.json", "<p>a page</p>")
    documents = read_documents(tmp_path / "b", text_column="body", errors="skip")
    assert next(documents).text.startswith("Dear")
    with pytest.raises(DataError, match=r"1\.txt is read as plain text, which has no columns"):
        list(documents)


def test_a_table_of_another_format_than_is_said_is_named(excel):
    path = excel("a.xlsx", [("text",), ("Cats purr.",)])
    with pytest.raises(FormatError, match=r"a\.xlsx: this is no text, its bytes have zeros"):
        read(path, format="csv", errors="strict")


def test_many_lines_in_one_text_are_hinted_at(write, caplog):
    path = write("reviews.txt", "".join(f"Good food, table {n}.\n" for n in range(5_000)))
    assert said(caplog, path).endswith(
        "utf-8; if each of its 5,000 lines is a document, add --format lines"
    )


def test_a_folder_is_said_in_one_line_with_counts(write, tmp_path, caplog):
    for number in range(20):
        write(f"c/{number:02}.txt", "Plain text.")
    write("c/x.txt", "Über größere Flüsse führen schöne Brücken.".encode("cp1252"))
    write("c/y.csv", "text\none\n")
    assert said(caplog, tmp_path / "c") == (
        "22 files: 21 plain text, 1 CSV (commas, first row is the header); 21 utf-8, "
        f"1 cp1252 (a guess, as {tmp_path}/c/x.txt)"
    )


@pytest.fixture
def excel(tmp_path):
    def write(name, rows):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.create_sheet("other").append(["nothing"])
        book.save(tmp_path / name)
        return tmp_path / name

    return write


def test_excel_is_read_with_and_without_a_header(excel, caplog):
    rows = [("Cats purr.", 7, "pets"), ("Größe", 2.5, None), (1984, None, "book")]
    path = excel("a.xlsx", [("text", "id", "label"), *rows, (None, None, None)])
    assert read(path) == [
        Document("7", "Cats purr.", "pets"),
        Document("2.5", "Größe", ""),
        Document(f"{path}:3", "1984", "book"),
    ]
    assert said(caplog, path) == f"{path}: Excel, sheet 'Sheet' of 2"
    bare = excel("b.xlsx", [(1, "Rain fell."), (2, "Snow fell.")])
    assert [each.text for each in read(bare, text_column="1")] == ["Rain fell.", "Snow fell."]


def test_excel_without_the_text_lists_its_columns(excel):
    with pytest.raises(DataError, match=r"a\.xlsx: no column is called 'text'; .* 'title', 'body'"):
        read(excel("a.xlsx", [("title", "body"), ("x", "y")]))


def test_the_sheet_with_the_columns_is_read_whatever_comes_first(tmp_path, caplog):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Report of 2024"])
    notes, data = book.create_sheet("Notes"), book.create_sheet("Data")
    for row in ("Ask Anna.", "Ask Bert."):
        notes.append([row])
    for row in [("Id", "Body"), (7, "Cats purr."), (8, "Dogs bark.")]:
        data.append(row)
    path = tmp_path / "a.xlsx"
    book.save(path)
    assert read(path, text_column="body") == [
        Document("7", "Cats purr."),
        Document("8", "Dogs bark."),
    ]
    assert said(caplog, path, text_column="body") == f"{path}: Excel, sheet 'Data' of 3"
    assert [each.text for each in read(path)] == ["Ask Anna.", "Ask Bert."]


PAGE = (
    "<!doctype html><html><head><meta charset=%s><style>p { font: red }</style></head><body>"
    "<script>var font = '<p>';</script><h1>Caf&eacute;</h1><p>Der K\u00e4fer <b>krab</b>belt&nbsp;"
    "hier.</p><p class='font'>Zwei</p></body></html>"
)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "mac_roman"])
@pytest.mark.parametrize("name", ["a.html", "a.txt", "a.htm.gz"])
def test_html_has_no_tags_and_the_encoding_that_it_says(write, name, encoding):
    [document] = read(write(name, (PAGE % encoding).encode(encoding)))
    assert document.text == "Café\nDer Käfer krabbelt hier.\nZwei"


def test_a_page_that_says_a_wrong_encoding_is_read_in_its_own(write):
    [document] = read(write("a.html", (PAGE % "utf-8").encode("cp1252")))
    assert "Der Käfer" in document.text


def test_markdown_has_no_marks(write):
    text = (
        '---\ntitle: x\n---\n# Cats\n\nThey *purr*, see [here](https://a.org/x_y "t") '
        "![cat](c.png)\n\n"
        "- one `code`\n- **two**\n\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```python\nx = 1\n```\n"
    )
    [document] = read(write("a.md", text))
    assert document.text.split() == (
        [
            "Cats",
            "They",
            "purr,",
            "see",
            "here",
            "cat",
            "one",
            "code",
            "two",
            "said",
            "a",
            "b",
            "1",
            "2",
            "x",
            "=",
            "1",
        ]
    )


def zipped(parts):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


WORD = (
    '<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://x/w"><w:body>'
    "<w:p><w:r><w:t>Der K\u00e4fer </w:t></w:r><w:r><w:t>krabbelt.</w:t></w:r></w:p>"
    "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>Zwei</w:t><w:tab/>"
    "<w:t>drei</w:t></w:r></w:p></w:body></w:document>"
)


@pytest.mark.parametrize("name", ["a.docx", "a.bin", "a"])
def test_word_gives_its_paragraphs(write, name):
    content = zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": WORD})
    [document] = read(write(name, content))
    assert document.text == "Der Käfer krabbelt.\nZwei\tdrei"


def book(order):
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in ("one", "two")
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in order)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="O/c.opf"/>'
            "</rootfiles></container>",
            "O/c.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            "O/one.xhtml": "<html><body><p>Erste Käfer</p></body></html>".encode(),
            "O/two.xhtml": "<html><body><p>Zweite&nbsp;Seite</p></body></html>",
        }
    )


@pytest.mark.parametrize("name", ["a.epub", "a"])
def test_a_book_is_read_in_its_order(write, name):
    [document] = read(write(name, book(["two", "one"])))
    assert document.text == "Zweite Seite\n\nErste Käfer"


MAIL = (
    "From: A <a@x.org>\nSubject: =?utf-8?q?K=C3=A4fer?=\nDate: Mon, 02 Jan 2006 15:04:05 +0100\n"
    "MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n--b\n"
    "Content-Type: text/html; charset=utf-8\n\n<p>Seiten</p>\n--b\n"
    "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n"
    "Gr=FC=DFe aus K=F6ln\n--b\nContent-Type: application/pdf\n\nfont font\n--b--\n"
)


def test_an_e_mail_is_its_subject_and_its_text_with_its_date(write):
    [document] = read(write("a.eml", MAIL))
    assert document.text == "Käfer\n\nGrüße aus Köln"
    assert document.time == "2006-01-02T15:04:05+01:00"
    [page] = read(write("b.eml", "Subject: Hi\nContent-Type: text/html\n\n<p>Only <b>this</b></p>"))
    assert page.text == "Hi\n\nOnly this"


FROM = "From a@x.org Mon Jan  2 15:04:05 2006\n"


def test_a_mailbox_has_a_document_for_each_message(write):
    path = write("a.mbox", f"{FROM}{MAIL}\n{FROM}Subject: Two\n\nFrom here on.\n")
    first, second = read(path)
    assert (first.id, second.id) == (f"{path}:1", f"{path}:2")
    assert (first.text, second.text) == ("Käfer\n\nGrüße aus Köln", "Two\n\nFrom here on.")


@pytest.mark.parametrize("name", ["a.pdf", "a.txt", "a.pdf.gz"])
def test_pdf_gives_its_text_never_its_fonts(write, pdf_of, name):
    pytest.importorskip("pypdf")
    [document] = read(write(name, pdf_of("Der K\u00e4fer krab-\nbelt im Gras.")))
    assert document.text == "Der Käfer krabbelt im Gras."
    assert "font" not in document.text.lower()


def test_a_pdf_of_pictures_and_a_damaged_one_are_told(write, pdf_of):
    pytest.importorskip("pypdf")
    with pytest.raises(FormatError, match=r"a\.pdf: no text in this PDF, .*run OCR"):
        read(write("a.pdf", pdf_of("")))
    with pytest.raises(FormatError, match=r"b\.pdf: damaged or not PDF"):
        read(write("b.pdf", b"%PDF-1.4\n" + bytes(range(256))))


@pytest.mark.parametrize(
    ("name", "content", "package"),
    [("a.pdf", b"%PDF-1.4\n", "pypdf"), ("a.xlsx", zipped({"xl/workbook.xml": ""}), "openpyxl")],
)
def test_a_missing_package_is_refused_with_the_extra(
    write, tmp_path, monkeypatch, name, content, package
):
    def missing(module, *arguments):
        raise ModuleNotFoundError(module)

    write(f"c/{name}", content)
    write("c/b.txt", "Plain.")
    monkeypatch.setattr(errors.importlib, "import_module", missing)
    with pytest.raises(MissingExtra, match=rf'needs {package}: pip install "topicvec\[readers\]"'):
        read(tmp_path / "c")


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        (
            "a.doc",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            r"old Office file .* save it as .docx",
        ),
        ("a.rtf", rb"{\rtf1\ansi Cats purr.}", "rich text"),
        ("a.zip", zipped({"a.txt": "x"}), "unpack or export"),
        ("a.docx", zipped({"word/x.xml": "x"}), "has no part word/document.xml"),
        ("a.docx", zipped({"word/document.xml": "<a>"}), "damaged inside"),
        ("a.epub", b"PK\x03\x04" + bytes(99), "damaged or protected"),
        ("a.xlsx", b"PK\x03\x04" + bytes(99), "damaged or protected"),
    ],
)
def test_what_cannot_be_read_is_left_out_of_a_folder_and_told(write, tmp_path, name, content, part):
    path = write(f"c/{name}", content)
    with pytest.raises(FormatError, match=part) as caught:
        read(path)
    assert str(path) in str(caught.value)
    if not name.endswith("xlsx"):  # a table is never left out as a whole
        write("c/b.txt", "Plain.")
        with pytest.warns(UserWarning, match=f"^1 of 2 documents .*{part}"):
            assert [each.text for each in read(tmp_path / "c")] == ["Plain."]


LAUGHS = "".join(
    f'<!ENTITY {this} "{f"&{before};" * 10}">'
    for before, this in zip("abcdefghi", "bcdefghij", strict=True)
)
BOMB = f'<!DOCTYPE d [<!ENTITY a "xxxxxxxxxx">{LAUGHS}]><d>&j;</d>'


def test_all_that_is_left_out_is_counted_and_some_named(write, tmp_path):
    write("a.txt", "Cats purr.")
    for number in range(9):
        write(f"b{number}.pdf", b"%PDF-1.4 and no more")
    with pytest.warns(UserWarning, match="9 of 10 documents cannot be read") as caught:
        assert len(read(tmp_path)) == 1
    [said] = [str(each.message) for each in caught]
    named = ", ".join(f"{tmp_path}/b{number}.pdf" for number in range(1, 6))
    assert said.endswith(f"; also left out: {named}, …")


def test_arguments_of_another_kind_are_told_in_a_sentence(write):
    for source in (None, 5):
        with pytest.raises(DataError, match="expected a path or several; found "):
            read(source)
    with pytest.raises(DataError, match="no encoding is called None; try auto"):
        read(write("a.txt", "Cats."), encoding=None)


def test_bombs_do_not_go_off(write, monkeypatch):
    with pytest.raises(FormatError, match="defines entities"):
        read(write("a.docx", zipped({"word/document.xml": BOMB})))
    monkeypatch.setenv("TOPICVEC_MAX_TEXT", "1")
    large = zipped({"word/document.xml": b" " * 8_000_001})
    assert len(large) < 1 << 14
    with pytest.raises(FormatError, match="one document of more than 8 MB"):
        read(write("b.docx", large))
    with pytest.raises(FormatError, match="one document of more than 8 MB"):
        read(write("c.html", "<p>" + "x" * 8_000_000))
    with pytest.raises(FormatError, match="unpacks to more than 64 MB"):
        read(write("d.xlsx", zipped({"xl/workbook.xml": b" " * 64_000_001})))
    monkeypatch.setenv("TOPICVEC_MAX_TEXT", "9")
    assert len(read(write("e.html", "<p>" + "x" * 8_000_000))[0].text) == 8_000_000


def test_a_text_in_a_wrapping_has_the_limit_of_all_texts(write, monkeypatch):
    monkeypatch.setenv("TOPICVEC_MAX_TEXT", "1")
    long = "a" * 1_000_001
    wrapped = {
        "a.md": long, "a.html": f"<p>{long}", "a.eml": f"Subject: s\n\n{long}",
        "a.mbox": f"{FROM}Subject: s\n\n{long}",
        "a.docx": zipped({"word/document.xml": f"<p><t>{long}</t></p>"}),
    }  # fmt: skip
    for name, content in wrapped.items():
        path = write(name, content)
        with pytest.raises(DataError, match=f"{path}.*: more than 1 million characters"):
            read(path)


def test_a_chapter_that_a_book_names_a_thousand_times_is_read_once(write):
    assert read(write("a.epub", book(["one"] * 1000)))[0].text == "Erste Käfer"


def test_a_small_file_does_not_reserve_what_a_large_one_may(write):
    path = write("a.html", "<p>Cats purr.")
    read(path)
    tracemalloc.start()
    read(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4e6


@pytest.mark.parametrize(
    "when", ["Jan 2006 15:04:05 +184467440737095", "Jan 9023370036854775808 15:04:05 +0100"]
)
def test_a_mail_of_no_time_that_there_is_has_none(write, when):
    [document] = read(write("a.eml", f"Subject: s\nDate: Mon, 02 {when}\n\nbody"))
    assert (document.text, document.time) == ("s\n\nbody", None)


@pytest.mark.parametrize("encoding", ["UTF7", "UTF65535", "x"])
def test_word_in_an_encoding_that_xml_has_not_is_refused(write, encoding):
    content = f'<?xml version="1.0" encoding="{encoding}"?><p><t>a</t></p>'
    with pytest.raises(FormatError, match="damaged inside"):
        read(write("a.docx", zipped({"word/document.xml": content})))


def test_other_languages_of_tags_have_none_left(write):
    [document] = read(write("a.txt", "<?xml version='1.0'?><feed><entry>Rain fell.</entry></feed>"))
    assert document.text == "Rain fell."
    with pytest.raises(DataError, match="the corpus is empty"):
        read(write("a.svg", "<svg xmlns='x'><g><path d='M1 2'/></g></svg>"))


def test_a_long_first_object_is_still_json_lines(write):
    long = json.dumps({"text": "word " * 10_000})
    assert len(read(write("a", f"{long}\n{long}\n"))) == 2


def test_a_part_that_is_longer_than_its_archive_says_is_not_unpacked(write):
    content = bytearray(zipped({"word/document.xml": b" " * 50_000_000}))
    place = content.index(b"PK\x01\x02")
    content[place + 24 : place + 28] = (9).to_bytes(4, "little")
    path = write("a.docx", bytes(content))
    tracemalloc.start()
    with pytest.raises(FormatError, match="damaged or protected"):
        read(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4e6


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_whose_packing_knows_no_limit_is_refused(write, packing):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        archive.writestr("word/document.xml", WORD)
    with pytest.raises(FormatError, match="packed otherwise than such documents"):
        read(write("a.docx", stream.getvalue()))


@pytest.mark.parametrize("name", ["a.docx", "a.epub", "a.xlsx"])
def test_an_archive_that_says_more_of_a_part_than_it_has_reserves_nothing(write, name):
    parts = {"word/document.xml": WORD, "META-INF/container.xml": "<c/>", "xl/workbook.xml": "<w/>"}
    content = bytearray(zipped(parts))
    place = content.index(b"PK\x01\x02")  # of the first part in the list at the end
    content[place + 20 : place + 24] = (1 << 30).to_bytes(4, "little")
    path = write(name, bytes(content))
    tracemalloc.start()
    with pytest.raises(FormatError, match="longer than all of it"):
        read(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8e6

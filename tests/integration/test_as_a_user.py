"""What people have at home, read and used as they would, with each message that they see."""

import csv
import io
import json
import pickle
import re
import subprocess
import sys
import tracemalloc
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pandas
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import topicvec
from topicvec import TopicVec, datasets, load_vectors, measure, pictures, read_documents, represent
from topicvec.cli.main import call
from topicvec.represent import TopicClassifier, TopicFeatures, topics_over_time, topics_per_class

pytestmark = pytest.mark.filterwarnings("always")  # as people have it: commands say them

CORPUS = datasets.sample_corpus()
QUICK = ["-k", "4", "--vectors", "general", "--set", "tol=1", "--no-phrases"]


def run(capsys, *arguments):
    """Run a command that must succeed; give what it prints and what it says beside it."""
    assert call([str(argument) for argument in arguments]) == 0
    shown = capsys.readouterr()
    return shown.out, shown.err


def refused(capsys, *arguments):
    """Run a command that must fail; give the one line that it says why."""
    assert call([str(argument) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    *_, error = shown.err.splitlines()
    return error


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def spreadsheet(home):
    """A CSV of 20 MB as Excel in Germany or France saves it: semicolons and cp1252."""
    rows = [(document.text + " Ein Café für Größe – 5 €.", document.label) for document in CORPUS]
    path = home / "posts.csv"
    with path.open("w", encoding="cp1252", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["number", "body", "section"])
        number = 0
        while file.tell() < 20_000_000:
            for body, section in rows:
                number += 1
                writer.writerow([number, body, section])
    return path, number


@pytest.mark.slow
def test_a_spreadsheet_of_20_mb_is_read_row_by_row_and_fitted(spreadsheet, home, capsys):
    path, n_rows = spreadsheet
    tracemalloc.start()
    try:
        n_read = sum(1 for _ in read_documents(path, text_column="body"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_read == n_rows
    assert peak < 5_000_000
    error = refused(capsys, "fit", path, "-o", home / "posts.topicvec")
    assert error == (
        f"topicvec: {path}: no column is called 'text'; choose one with text_column= "
        "(--text-column) from 'number', 'body', 'section'"
    )
    options = ["--text-column", "body", "--label-column", "section"]
    out, err = run(capsys, "fit", path, *options, *QUICK, "-o", home / "posts.topicvec")
    said, *_ = err.splitlines()
    assert said == f"{path}: CSV, semicolons, first row is the header, cp1252 (a guess)"
    assert f"posts.topicvec: 4 topics of {n_rows:,} documents" in err
    assert out.count("%") >= 4
    words, _ = run(capsys, "topics", home / "posts.topicvec", "--csv")
    assert "Ã" not in words


@pytest.fixture(scope="module")
def bbc(home):
    """A folder as it lies about: most in UTF-8, some from other machines, one a picture."""
    texts = {"space": CORPUS[0].text, "food": CORPUS[30].text, "sport": CORPUS[50].text}
    old = ["cp1252", "mac_roman", "utf-16", "utf-8-sig", "cp850"]
    for section, text in texts.items():
        (home / "bbc" / section).mkdir(parents=True)
        for number in range(20):
            path = home / "bbc" / section / f"{number:03}.txt"
            path.write_text(text, encoding="utf-8")
        for name in old:
            path = home / "bbc" / section / f"{name}.txt"
            path.write_bytes(f"{text} Das Café in Köln, déjà für größere Gäste.".encode(name))
    (home / "bbc" / "sport" / "199.txt").write_bytes(b"The club paid \xa35m for the striker.")
    (home / "bbc" / "sport" / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(200))
    return home / "bbc"


def test_a_folder_of_mixed_encodings_is_read_each_file_in_its_own(bbc, home, capsys):
    model = home / "bbc.topicvec"
    _, err = run(capsys, "fit", bbc, *QUICK, "-o", model)
    assert "76 plain text" in err
    assert (
        f"63 utf-8, 4 cp1252 (a guess, as {bbc}/food/cp1252.txt), 3 cp850 (a guess, as "
        f"{bbc}/food/cp850.txt), 3 mac_roman (a guess, as {bbc}/food/mac_roman.txt), 3 utf-16"
        in err
    )
    assert (
        f"1 of 77 documents cannot be read and are left out; the first: {bbc}/sport/logo.png: this "
        "is no text, its bytes have zeros; take the file out, or export text" in err
    )
    assert "76 documents" in err
    texts = {document.text[-45:] for document in read_without_picture(bbc)}
    assert " Das Café in Köln, déjà für größere Gäste." in {text[-42:] for text in texts}
    error = refused(capsys, "fit", bbc, *QUICK, "-o", model, "--errors", "strict")
    assert error.startswith(f"topicvec: {bbc}/sport/logo.png: this is no text")
    error = refused(capsys, "fit", bbc, "-o", model, "--errors", "ignore")
    assert error == "topicvec: errors must be one of strict, replace, skip; found 'ignore'"


def read_without_picture(bbc):
    return list(read_documents([path for path in bbc.iterdir() if path.name != "sport"]))


def test_a_damaged_file_is_skipped_replaced_or_stops_all(home, capsys):
    path = home / "notes.txt"
    path.write_bytes(
        b"The telescope \xe2\x82 shows the moon.\n" + "Das Café, größer.\n".encode() * 3
    )
    for errors, expected in {
        "replace": "2 bytes that are not in the encoding were replaced",
        "skip": "1 of 4 documents cannot be read and are left out; the first: "
        f"{path}:1: byte 0xe2 behind 'The telescope ' is not utf-8",
    }.items():
        options = ["--format", "lines", "--errors", errors, *QUICK]
        assert expected in run(capsys, "topics", path, *options)[1]
    error = refused(capsys, "topics", path, "--format", "lines", "--errors", "strict")
    assert f"{path}: byte 0xe2 at offset 14 is not utf-8" in error


def test_a_json_array_keeps_its_columns(home, capsys):
    path = home / "posts.json"
    records = [{"n": i, "body": each.text, "section": each.label} for i, each in enumerate(CORPUS)]
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")
    options = ["--text-column", "body", "--id-column", "n"]
    out, err = run(capsys, "topics", path, *options, *QUICK, "--json")
    assert err.splitlines()[0] == f"{path}: a JSON array, utf-8"
    assert [each["id"] for each in json.loads(out)["documents"]] == list(map(str, range(96)))
    error = refused(capsys, "topics", path, "--text-column", "text")
    assert error.startswith(f"topicvec: {path}, element 1: no column 'text' for text_column=")


def test_a_column_of_a_plain_text_is_an_error(home, capsys):
    path = home / "article.txt"
    path.write_text(datasets.sample_article(), encoding="utf-8")
    assert refused(capsys, "topics", path, "--text-column", "body") == (
        f"topicvec: {path} is read as plain text, which has no columns: leave out text_column= "
        "(--text-column), or say which table it is with format= (--format csv, tsv, jsonl or json)"
    )


def test_one_document_a_line_is_hinted_at_and_read(home, capsys):
    path = home / "reviews.txt"
    lines = [" ".join(document.text.split()) for document in CORPUS]
    path.write_text("\n".join(lines), encoding="utf-8")
    _, err = run(capsys, "topics", path, *QUICK)
    hint = "if each of its 96 lines is a document, add --format lines"
    assert err.splitlines()[0] == f"{path}: plain text, utf-8; {hint}"
    out, err = run(capsys, "topics", path, *QUICK, "--format", "lines", "--json")
    assert err.splitlines()[0] == f"{path}: one document a line, utf-8"
    assert len(json.loads(out)["documents"]) == 96


def test_an_excel_sheet_is_a_table(home, capsys):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("Nr.", "Body"), *((n, each.text) for n, each in enumerate(CORPUS))]:
        book.active.append(row)
    path = home / "posts.xlsx"
    book.save(path)
    out, err = run(capsys, "topics", path, "--text-column", "Body", *QUICK, "--json")
    assert err.splitlines()[0] == f"{path}: Excel"
    assert len(json.loads(out)["documents"]) == 96
    assert "from 'Nr.', 'Body'" in refused(capsys, "topics", path)


def wrapped(pdf_of):
    """Write the same sentence as each kind of document that is more than text."""
    text = "The telescope shows the rings of the planet"
    mail = EmailMessage()
    mail["Subject"] = "Rings"
    mail.set_content(f"{text}.\n")
    return {
        "a.pdf": pdf_of(text),
        "a.html": f"<html><style>p {{font: x}}</style><p>{text}<script>font()</script></html>",
        "a.md": f"# Rings\n\n*{text}*\n",
        "a.eml": mail.as_bytes(),
        "a.docx": packed({"word/document.xml": f"<w:p xmlns:w='w'><w:t>{text}</w:t></w:p>"}),
        "a.epub": packed(
            {
                "META-INF/container.xml": "<c><rootfile full-path='a.opf'/></c>",
                "a.opf": "<p><item id='1' href='1.xhtml' media-type='application/xhtml+xml'/>"
                "<itemref idref='1'/></p>",
                "1.xhtml": f"<html><body><p>{text}</p></body></html>",
            }
        ),
    }


def packed(parts):
    """Make what Word and readers of books write: an archive of XML."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def test_documents_in_a_wrapping_give_their_words_never_fonts(home, capsys, pdf_of):
    pytest.importorskip("pypdf")
    folder = home / "wrapped"
    folder.mkdir()
    for name, content in wrapped(pdf_of).items():
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    out, err = run(capsys, "topics", folder, "--vectors", "general", "--json")
    words = {each["word"] for topic in json.loads(out)["topics"] for each in topic["words"]}
    assert {"telescope", "planet"} <= words
    assert words <= {"telescope", "shows", "rings", "planet", "null"}
    kinds = "1 Word, 1 e-mail, 1 EPUB, 1 HTML, 1 Markdown, 1 PDF"
    assert err.splitlines()[0].startswith(f"6 files: {kinds}; 4 utf-8")


def test_old_text_of_china_is_read_and_cut_into_words(home, capsys):
    pytest.importorskip("rjieba")
    path = home / "old.txt"
    path.write_bytes("农民担心果园里的干旱，他们等待下雨。主题模型发现文档中的主题。".encode("gbk"))
    out, err = run(capsys, "topics", path, "-k", "1", "--json")
    said, unknown, *_ = err.splitlines()
    assert said == f"{path}: plain text, gb18030 (a guess)"
    assert unknown.startswith(
        "100.0% of the words are not in the general vectors, which know English"
    )
    words = {each["word"] for each in json.loads(out)["topics"][0]["words"]}
    assert {"农民", "主题"} <= words


def test_what_needs_an_extra_names_it(home, pdf_of):
    path = home / "b.pdf"
    path.write_bytes(pdf_of("Rings"))
    blocked = "import sys; sys.modules['pypdf'] = None; from topicvec.cli.main import run; "
    code = blocked + f"sys.argv = ['topicvec', 'topics', {str(path)!r}]; run()"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert found.stderr == 'topicvec: reading PDF needs pypdf: pip install "topicvec[readers]"\n'


def test_a_model_is_listed_named_joined_searched_and_written_out(home, capsys, monkeypatch):
    corpus = home / "corpus.jsonl"
    rows = [{"id": each.id, "label": each.label, "text": each.text} for each in CORPUS]
    corpus.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    model, index = home / "corpus.topicvec", home / "corpus.index"
    table, _ = run(capsys, "fit", corpus, "-o", model, "-k", "8", "--vectors", "general")
    assert run(capsys, "topics", model)[0] == table
    titles = {topic.title for topic in TopicVec.load(model).topics_[:-1]}
    assert {
        row["label"]
        for row in csv.DictReader(io.StringIO(run(capsys, "topics", model, "--csv")[0]))
    } >= titles
    assert "sea trade" in run(capsys, "relabel", model, "1=sea trade", "-o", model)[0]
    assert "sea trade" in run(capsys, "show", model, "1")[0]
    assert "7 topics" in run(capsys, "merge", model, "1,2", "-o", home / "fewer.topicvec")[1]
    assert "best" in run(capsys, "choose", corpus, *QUICK[2:], "-k", "2,6")[0]
    assert "cooking" in run(capsys, "by-class", model, corpus)[0]
    first, _ = run(capsys, "search", model, "bread", corpus, "--index", index)
    again, _ = run(capsys, "search", model, "bread", "--index", index)
    assert again == first
    assert "bread" in again
    text = "The moon is bright in the night sky."
    assert "astronomy" in run(capsys, "similar", model, "--to", text, "--index", index)[0]
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO("Größe und Café".encode("cp1252")))
    )
    out, err = run(capsys, "transform", model, "-", "-o", "-")
    assert out.startswith("id,label,topic0,topic1")
    assert err.splitlines()[0] == "stdin: plain text, cp1252 (a guess)"


@pytest.fixture(scope="module")
def frame():
    """What a data scientist has in a notebook."""
    rows = [{"text": each.text, "section": each.label, "day": each.time} for each in CORPUS]
    return pandas.DataFrame(rows, index=[f"post {number}" for number in range(len(rows))])


def quick(n_topics=4, **params):
    return TopicVec(n_topics, random_state=0, vectors="general", phrases=False, tol=1, **params)


def test_a_column_of_a_table_becomes_tables(frame):
    model = quick().fit(frame["text"])
    topics, documents = model.topic_table(), model.document_table(frame["text"])
    assert topics["share"].sum() == pytest.approx(1)
    assert list(documents.index) == list(frame.index)
    assert {*documents["label"]} <= {*topics["label"]}
    by_class = topics_per_class(model, frame["text"], frame["section"]).table()
    assert {*by_class["class"]} == {*frame["section"]}
    by_time = topics_over_time(model, frame["text"], times=range(1900, 1996), n_bins=3).table()
    assert by_time["documents"].groupby(by_time["topic"]).sum().eq(len(frame)).all()
    topic, probability = model.find_topics("football")[0]
    assert 0 < probability <= 1
    assert topic.title in model._repr_html_()
    assert "TopicVec" in quick()._repr_html_()
    assert len(pickle.dumps(model)) < 10_000_000


def test_pipelines_searches_and_folds_work_as_with_any_estimator(frame):
    texts, labels = frame["text"], frame["section"]
    topics = quick().set_output(transform="pandas")
    counted = make_pipeline(CountVectorizer(min_df=3, stop_words="english"), topics)
    shares = counted.fit_transform(texts)
    assert list(shares.columns) == counted["topicvec"].get_feature_names_out().tolist()
    assert counted["topicvec"].components_.shape[0] == 5
    search = GridSearchCV(
        make_pipeline(TopicFeatures(quick()), LogisticRegression()),
        {"topicfeatures__model__n_topics": [2, 6]},
        cv=2,
    ).fit(texts, labels)
    assert search.best_params_ == {"topicfeatures__model__n_topics": 6}
    classifier = TopicClassifier(quick(1))
    assert cross_val_score(classifier, texts, labels, cv=2).mean() > 0.8
    numbers = labels.astype("category").cat.codes
    assert clone(classifier).fit(texts, numbers).predict(texts[:3]).dtype == numbers.dtype


def test_a_mapping_of_words_and_vectors_is_enough(frame):
    known = load_vectors()
    given = {
        word: 20 * vector for word, vector in zip(known.words[:9000], known.matrix, strict=False)
    }
    with pytest.warns(UserWarning, match="come without word frequencies"):
        model = TopicVec(8, vectors=given, phrases=False, tol=1, random_state=0).fit(frame["text"])
    assert max(topic.share for topic in model.topics_) < 0.5


def test_every_name_in_the_table_for_those_who_come_from_bertopic_is_there():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "migrate.md"
    rows = re.findall(r"^\| .* \| (.*) \|$", page.read_text(encoding="utf-8"), re.M)[1:]
    assert len(rows) > 25
    model = quick().fit([each.text for each in CORPUS])
    places = [model, represent, pictures, measure, topicvec, topicvec.model, model.topics_[0]]
    known = {name for place in places for name in [*dir(place), *getattr(place, "__all__", ())]}
    known |= {*model.get_params(), *model.topic_table().columns}
    for function in (TopicVec.fit, TopicVec.prune, topicvec.model.read_topics):
        known |= {*function.__annotations__}
    told = {name for row in rows for code in re.findall(r"`(.*?)`", row)
            for name in re.findall(r"[a-z_]\w*", re.sub(r"\".*?\"", "", code), re.I)}  # fmt: skip
    others = {"topicvec", "model", "k", "text", "texts", "words", "table", "y", "name", "stream"}
    assert told - known - others - {"measure", "models", "topic", "pictures"} == set()

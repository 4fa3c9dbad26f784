import json
import re
import shutil
import subprocess

import pytest

from topicvec.explore import write_report
from topicvec.explore.report import bundle, render_report


@pytest.fixture(scope="module")
def html(collection):
    return render_report(collection)


def records(html):
    found = re.search(r'<script type="application/json" id="records">(.*?)</script>', html, re.S)
    return json.loads(found[1])


def test_nothing_is_fetched_and_no_text_becomes_markup(html):
    outside = re.sub(r'"http://www\.w3\.org/2000/svg"|http://www\.w3\.org/2000/svg', "", html)
    assert not re.search(r'(?:src|href)="(?!#)|@import|url\(|https?://', outside)
    assert "<script>alert" not in html
    assert "<b>corpus" not in html
    assert html.count("<script") == 2
    assert "unsafe" not in re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]


def test_all_topics_and_documents_are_in_it(html, collection):
    found = records(html)
    assert len(found["overview"]["topics"]) == len(collection.topics)
    assert set(found["topics"]) == {str(view.index) for view in collection.topics}
    assert len(found["documents"]) == len(collection.documents)
    texts = "".join(text for text, _, _ in found["documents"]["3"]["view"]["spans"])
    assert texts == collection.documents[3].text


def test_what_it_refers_to_is_in_it(collection):
    found = records(render_report(collection, n_documents=20))
    assert len(found["documents"]) == 20
    kept = set(map(int, found["documents"]))
    assert {i for page in found["topics"].values() for i in page["documents"]} <= kept
    assert {i for page in found["documents"].values() for i, _ in page["similar"]} <= kept
    assert "20 of the documents" in found["overview"]["note"]


def test_long_texts_are_cut_and_it_says_so(html, odd):
    page = records(html)["documents"][str(odd["long"])]
    assert page["cut"]
    assert page["view"]["next"] is None
    assert len("".join(text for text, _, _ in page["view"]["spans"])) < 5000


def test_words_are_readable_without_scripts(html, collection):
    start = html.index("<noscript>")
    assert collection.topics[0].words[0][0] in html[start : html.index("</noscript>", start)]


def test_it_is_written_as_utf_8_whatever_the_texts(collection, tmp_path):
    path = write_report(tmp_path / "new" / "report.html", collection, n_documents=5)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_script_is_one_module_in_which_no_name_is_declared_twice(tmp_path):
    source = bundle("report.js")
    assert not re.search(r"^(?:import|export)\b", source, re.M)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", source, re.M)
    assert len(names) == len(set(names))
    if node := shutil.which("node"):
        path = tmp_path / "bundle.mjs"
        path.write_text(source, encoding="utf-8")
        subprocess.run([node, "--check", path], check=True)

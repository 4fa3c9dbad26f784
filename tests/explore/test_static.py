import re
from importlib.resources import files

import pytest

SCRIPTS = sorted(
    file.name
    for file in (files("topicvec.explore") / "static").iterdir()
    if file.name.endswith(".js")
)


def text_of(name):
    return (files("topicvec.explore") / "static" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_never_turn_text_into_markup_or_code(name):
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc"
    assert not re.search(ways, text_of(name))


@pytest.mark.parametrize("name", [*SCRIPTS, "index.html", "api.html", "base.css", "parts.css"])
def test_files_name_no_other_host(name):
    assert not re.search(r"(?:https?:)?//(?!www\.w3\.org/2000/svg)\w+\.\w+", text_of(name))


def test_the_page_names_all_its_scripts_so_that_they_come_at_once():
    named = re.findall(r'(?:src|modulepreload" href)="([\w-]+\.js)"', text_of("index.html"))
    assert sorted(named) == [name for name in SCRIPTS if name not in ("api.js", "report.js")]


@pytest.mark.parametrize("name", ["index.html", "api.html"])
def test_pages_have_no_inline_style_or_script(name):
    page = text_of(name)
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)

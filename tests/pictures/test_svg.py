import sys
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec.errors import DataError, MissingExtra
from topicvec.pictures import svg
from topicvec.pictures.palette import COLOURS, NULL_COLOUR, PAPER, contrast, tint
from topicvec.pictures.svg import Picture, element, number, shorten, text, text_width


def drawn():
    return Picture.of([text("sea & salt", 10, 20, 12, fill="#000000")], 100, 40, "A <title>")


def test_any_text_comes_back_from_the_markup_as_it_was_but_for_control_characters():
    for words in ("a<b>&\"'", "日本 🙂 שלום", "tab\there"):
        assert ET.fromstring(element("g", [words], name=words).render()).text == words
    assert ET.fromstring(element("g", ["a\x00\ud800b"]).render()).text == "a\ufffd\ufffdb"


@given(st.floats(-1e6, 1e6))
def test_numbers_are_written_to_hundredths(value):
    assert float(number(value)) == pytest.approx(value, abs=0.00501)
    assert "e" not in number(value)


@given(st.text(max_size=40), st.floats(5, 200))
def test_shortened_text_fits_its_room(words, room):
    short = shorten(words, 10, room)
    assert short == words or short.endswith("…")
    assert text_width(short, 10) <= room or short == "…"


def test_every_colour_can_be_read_on_white_and_on_its_tint():
    for colour in (*COLOURS, NULL_COLOUR):
        assert contrast(colour, PAPER) >= 4.5
    for colour in COLOURS:
        assert contrast(colour, tint(colour)) >= 4.5


def test_a_picture_shows_itself_in_notebooks():
    assert drawn()._repr_svg_() == drawn().svg
    assert drawn().svg in drawn()._repr_html_()
    assert ET.fromstring(drawn()._repr_html_()) is not None


def test_saving_as_svg_writes_the_text(tmp_path):
    path = drawn().save(tmp_path / "new" / "a.svg")
    assert path.read_text(encoding="utf-8") == drawn().svg


def test_saving_as_png_draws_the_letters(tmp_path):
    if not svg._has_fonts(pytest.importorskip("resvg_py")):
        pytest.skip("this machine has no fonts")
    path = drawn().save(tmp_path / "a.png", scale=3)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20]) == 300
    assert data != Picture.of([], 100, 40, "").png(scale=3)


def test_a_machine_without_fonts_is_told_so(monkeypatch, tmp_path):
    pytest.importorskip("resvg_py")
    monkeypatch.setattr(svg, "_has_fonts", lambda _: False)
    with pytest.raises(DataError, match="needs a font"):
        drawn().save(tmp_path / "a.png")


def test_a_missing_rasteriser_is_named_with_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtra, match=r"topicvec\[pictures\]"):
        drawn().save(tmp_path / "a.png")


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"\.svg or \.png, found a\.gif"):
        Picture("<svg/>", 1, 1).save(tmp_path / "a.gif")

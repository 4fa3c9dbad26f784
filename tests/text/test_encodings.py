"""Each file is read in its own encoding, and nothing that is wrong passes as text."""

import io
import random
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicvec.errors import DataError, FormatError
from topicvec.text import read_documents
from topicvec.text.encodings import tell_encoding

FRENCH = (
    "Le café était fermé à cause de la grève, mais l’élève a déjà reçu sa leçon. Le garçon est "
    "très fort, et le château est près de la forêt."
)
GERMAN = "Die Straße war naß, und über den Dächern flogen Vögel. Größere Mühe macht das Übersetzen."
SPANISH = "¿Dónde está el niño? Mañana lloverá según el periódico, y el señor comprará leña."
SWEDISH = "Därför måste vi åka till sjön på lördag, där björkarna är gröna och vägen går över ön."
POLISH = "Zażółć gęślą jaźń. Wczoraj świeciło słońce, więc poszliśmy nad rzekę łowić ryby."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. Včera večer jsme šli k řece, která plyne."
HUNGARIAN = "Árvíztűrő tükörfúrógép. Tegnap este a folyóhoz mentünk, ősz volt, és hűvös szél fújt."
TURKISH = "Dün akşam nehre gittik ve köprünün altında yüzen birkaç ördek gördük, güneş ışığı."
RUSSIAN = "Вчера вечером мы пошли к реке и увидели несколько уток. Человек молчал, а я говорил."
UKRAINIAN = "Учора ввечері ми пішли до річки й побачили кілька качок. Людина мовчала про її щастя."
GREEK = "Χθες το βράδυ πήγαμε στο ποτάμι και είδαμε μερικές πάπιες που κολυμπούσαν."
HEBREW = "אתמול בערב הלכנו אל הנהר וראינו כמה ברווזים ששחו מתחת לגשר. האיש שתק."
RIGHTS = "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם."  # its bytes are Cyrillic words too
CAKE = "מתכון לעוגת שוקולד עם אגוזים"
ARABIC = "ذهبنا مساء أمس إلى النهر ورأينا بعض البط يسبح تحت الجسر. كان الرجل صامتا."
THAI = "เมื่อวานตอนเย็นเราไปที่แม่น้ำและเห็นเป็ดหลายตัวว่ายน้ำอยู่ใต้สะพาน"
CHINESE = "昨天晚上我们去了河边，看到几只鸭子在桥下游泳。那个人没有说话，女人在讲她的生活和幸福。"
TRADITIONAL = "昨天晚上我們去了河邊，看到幾隻鴨子在橋下游泳。那個人沒有說話，女人在講她的生活。"
JAPANESE = "昨日の夕方、私たちは川へ行って、橋の下で泳いでいるカモを何羽か見ました。"
KOREAN = "어제 저녁에 우리는 강에 가서 다리 아래에서 헤엄치는 오리 몇 마리를 보았습니다."
ENGLISH = (
    "The café’s “old” menu — priced at £5 — wasn’t naïve… It’s a résumé of the company’s growth."
)
CASES = {
    "cp1252 mac_roman": [FRENCH, SPANISH, ENGLISH],
    "iso8859_15 cp850": [FRENCH.replace("’", "'"), GERMAN, SWEDISH],
    "cp1252 latin-1 mac_roman cp437": [GERMAN, SWEDISH],
    "cp1250 iso8859_2 mac_latin2 cp852": [POLISH, CZECH, HUNGARIAN],
    "cp1254 iso8859_9 cp857": [TURKISH],
    "cp1251 koi8_r cp866 iso8859_5": [RUSSIAN],
    "cp1251 koi8_u": [UKRAINIAN],
    "cp1253 iso8859_7": [GREEK],
    "cp1255 iso8859_8": [HEBREW, RIGHTS, CAKE],
    "cp1256 iso8859_6": [ARABIC],
    "cp874": [THAI],
    "gb2312 gbk gb18030": [CHINESE],
    "big5": [TRADITIONAL],
    "shift_jis cp932 euc_jp iso2022_jp": [JAPANESE],
    "euc_kr cp949": [KOREAN],
}
PAIRS = [(name, text) for names, texts in CASES.items() for name in names.split() for text in texts]
ALL = [text for texts in CASES.values() for text in texts]


def texts(source, **options):
    return [document.text for document in read_documents(source, **options)]


@pytest.mark.parametrize(("encoding", "text"), PAIRS)
def test_old_encodings_are_told_by_the_words_that_they_make(write, encoding, text):
    assert texts(write("a.txt", text.encode(encoding))) == [text]


@pytest.mark.parametrize("text", ALL)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"])
def test_unicode_and_its_marks_are_told_whatever_the_language(write, encoding, text):
    data = ("\ufeff" if encoding == "gb18030" else "") + text
    assert [
        each.removeprefix("\ufeff") for each in texts(write("a.txt", data.encode(encoding)))
    ] == [text]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [ENGLISH, FRENCH, POLISH])
def test_wide_characters_without_their_mark_are_told_by_their_zeros(write, encoding, text):
    assert texts(write("a.txt", text.encode(encoding))) == [text]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_what_is_utf8_is_read_as_it(text):
    assert (
        tell_encoding(text.encode()) in ("utf-8", "gb18030", "utf-16", "utf-32") or "\x1b$" in text
    )
    if text and not text.startswith(("\ufeff", "\ufffe")) and "\x1b$" not in text:
        assert text.encode().decode(tell_encoding(text.encode())) == text


def test_one_pound_sign_among_many_files_is_read_and_the_others_as_before(write, tmp_path):
    for number in range(200):
        write(f"bbc/tech/{number:03}.txt", f"Café number {number}.")
    write("bbc/tech/199.txt", b"Profits rose by \xa35bn.")
    found = texts(tmp_path / "bbc")
    assert found[:199] == [f"Café number {number}." for number in range(199)]
    assert found[199] == "Profits rose by £5bn."


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("n_bytes", [10, 65_530, 65_536, 200_000])
def test_the_encoding_is_told_wherever_its_first_sign_stands(write, suffix, n_bytes):
    rows = [f"plain row {number}" for number in range(n_bytes // 12 + 1)]
    content = "\n".join(["text", *rows, "ein Vögelchen über Köln", *rows]).encode("cp1252")
    found = texts(write(f"a.csv{suffix}", content))
    assert found[len(rows)] == "ein Vögelchen über Köln"
    assert len(found) == 2 * len(rows) + 1


def test_standard_input_has_its_own_encoding_too(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GERMAN.encode("cp1252"))))
    assert texts("-") == [GERMAN]


def test_a_damaged_byte_of_utf8_makes_no_other_encoding_of_it(write):
    good = (FRENCH + RUSSIAN).encode()
    path = write("a.txt", good + b"\n\xff bad\n" + good + b"\n")
    with pytest.warns(
        UserWarning, match=r"1 of 3 documents cannot be read and are left out; .*0xff"
    ):
        assert texts(path, format="lines") == [FRENCH + RUSSIAN] * 2
    with pytest.raises(DataError, match=f"byte 0xff at offset {len(good) + 1} is not utf-8"):
        texts(path, format="lines", errors="strict")
    with pytest.warns(UserWarning, match="1 bytes that are not in the encoding were replaced"):
        assert texts(path, format="lines", errors="replace")[1] == "\ufffd bad"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "shift_jis", "utf-16-le", "gb18030"])
def test_wrong_bytes_are_counted_in_any_encoding(write, encoding):
    wrong = {"utf-16-le": b"\x00\xdc", "gb18030": b"\xff", "shift_jis": b"\xff"}.get(
        encoding, b"\xff"
    )
    path = write("a.txt", "one ".encode(encoding) + wrong + " two".encode(encoding))
    n = len(wrong)
    with pytest.warns(UserWarning, match=f"^{n} bytes"):
        [text] = texts(path, encoding=encoding, errors="replace")
    assert text == "one \ufffd two"
    with pytest.raises(DataError, match="is not " + encoding):
        texts(path, encoding=encoding, errors="strict")


BINARY = bytes(range(256)) * 40


@pytest.mark.parametrize("content", [BINARY, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + BINARY, b"\0" * 99])
def test_what_is_no_text_is_left_out_and_counted(write, tmp_path, content):
    write("news/a.txt", "Cats purr.")
    write("news/b.jpg", content)
    with pytest.warns(
        UserWarning, match=r"1 of 2 documents .* the first: .*b\.jpg: this is no text"
    ):
        assert texts(tmp_path / "news") == ["Cats purr."]
    with pytest.raises(FormatError, match="this is no text"):
        texts(tmp_path / "news", errors="strict")
    with pytest.raises(FormatError, match="this is no text"):
        texts(tmp_path / "news" / "b.jpg")


def test_bytes_of_no_language_are_refused_with_what_helps(write):
    with pytest.raises(FormatError, match=r"no encoding makes text of these bytes; .*--encoding"):
        texts(write("a.txt", random.Random(0).randbytes(3000).replace(b"\0", b"")))


def test_an_encoding_that_is_given_is_taken(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert texts(write("a.txt", "Café".encode("cp1252")), encoding="cp1251") == ["Cafй"]

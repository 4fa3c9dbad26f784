"""What takes time in proportion to a text takes it whatever the text is."""

import io
import time
import tracemalloc
from contextlib import suppress

import pytest

from topicvec import read_documents
from topicvec.errors import DataError, TopicVecError
from topicvec.text.decoding import Decoding
from topicvec.text.encodings import NotText, tell_encoding
from topicvec.text.markup import html_text, message_text, plain_html, plain_markdown
from topicvec.text.office import _lines
from topicvec.text.recognise import tell_format, tell_layout

LENGTH = 100_000
MARKS = [
    "<!--", "<!---->", "-->", "<", "<a", "<a@", "<http://", '<a b="', "<a b='", "<a =", "<x ",
    "<a >", "<svg>", "</svg>", "<script>", "<script></script>", "<![CDATA[", "<?", "<b> ", "<p>",
    "&#", "&#9", "&", "[\n", "[](", "[a][", "[a]", "![", "[x]: \n", '[x](y "', "](", "\n", " \n",
    "\r\n", "   ", "\t", "\u00a0", "<b>\u00a0", "- ", "> ", "1. ", "--", "--|", "|--\n", "|:-",
    "| ", " |", "a|", "|", "*a ", "**a*", "***a", "_a ", "_a", "~~a", "`a", "`", "*", "_", "~",
    "\\", "\\|", "```\n", "=",
]  # fmt: skip


def seconds(function, *arguments):
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


@pytest.mark.parametrize("plain", [plain_html, plain_markdown])
@pytest.mark.parametrize("mark", MARKS)
def test_marks_in_a_row_are_read_once(plain, mark):
    text = mark * (LENGTH // len(mark))
    for ending in ("", "x", "\n>"):
        assert seconds(plain, text + ending) < 1


@pytest.mark.parametrize("start", [b"<!---->", b"<!--", b"<?xml ", b" ", b"[ "])
def test_signs_of_a_format_are_looked_for_once(start):
    assert seconds(tell_format, start * (60_000 // len(start)), ".x") < 1


def test_a_table_of_many_columns_and_many_short_rows_is_told_at_once():
    table = "\t".join(["a"] * 16_000) + "\n" + "b\n" * 16_000
    assert seconds(tell_layout, table.encode(), Decoding(), "tsv") < 1


def test_a_message_lists_no_more_columns_than_one_can_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",".join(["b" * 500, *map(str, range(9_999))]) + "\n" + "a," * 9_999 + "a\n")
    with pytest.raises(DataError, match=r"'b{29}…', '0', .* and 9,988 more") as caught:
        list(read_documents(path, header=True))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("header", ["id\ttext", "id\ttext\ttext"])
def test_a_name_that_comes_again_in_its_column_is_no_header(header):
    assert not tell_layout(f"{header}\n1\ttext\n2\ttext\n".encode(), Decoding(), "tsv").header
    assert tell_layout(f"{header}\ntext\t1\n3\ttext\n".encode(), Decoding(), "tsv").header


@pytest.mark.parametrize("start", [b"\xff ", b""])
@pytest.mark.parametrize("piece", [b"a", b"a\xe9", b"\xe9 ", b"a" * 40 + b"\xe9"])
def test_the_encoding_of_words_without_an_end_is_told_at_once(start, piece):
    assert seconds(tell_encoding, start + piece * (65_000 // len(piece))) < 1


def test_signs_that_one_alphabet_has_twice_tell_nothing():
    with pytest.raises(NotText):
        tell_encoding(b'Comets orbit"t\xa8e su')


@pytest.mark.parametrize("name", ["Subject", "Content-Type", "Date", "Content-Disposition"])
@pytest.mark.parametrize("sign", ["a ", "a=b;", "=?utf-8?q?a?= ", "(", '"', ";"])
def test_a_header_without_an_end_is_not_read_to_its_end(name, sign):
    data = f"Subject: s\n{name}: {sign * (500_000 // len(sign))}\n\nbody".encode()

    def read():
        with suppress(TopicVecError):  # a parser that gives up is as good
            message_text(data, Decoding(), "a.eml")

    assert seconds(read) < 2


@pytest.mark.parametrize("name", ["punycode", "Puny_Code", "idna", "unicode_escape", "hex"])
def test_an_encoding_that_no_text_has_is_as_one_that_is_not_known(name):
    words = "Cats-" + "a" * 1_000_000  # in Punycode as many signs, each put in by itself
    page = f"<meta charset='{name}'><p>{words}".encode()
    mail = f"Content-Type: text/plain; charset={name}\n\n{words}".encode()
    found = []
    read = lambda: found.append(html_text(page, Decoding(), "a.html"))  # noqa: E731
    assert seconds(read) < 1
    read = lambda: found.append(message_text(mail, Decoding(), "a.eml")[0])  # noqa: E731
    assert seconds(read) < 1
    assert found == [page.decode(), words]


def test_a_line_of_a_mailbox_that_does_not_end_is_put_together_once():
    class Slow(io.BytesIO):
        """Gives as little at once as some archives do."""

        def read1(self, _):
            return super().read1(1 << 10)

    long = b"a" * (20 << 20)
    found = []
    assert seconds(lambda: found.extend(_lines(Slow(b"b\n\n" + long)))) < 1
    assert found == [b"b\n", b"\n", long + b"\n"]


@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\n", b"a\nb", b"a\n\n" * 50_000 + b"b"])
def test_lines_of_a_mailbox_are_its_lines(text):
    expected = [line + b"\n" for line in text.removesuffix(b"\n").split(b"\n") if text]
    assert list(_lines(io.BufferedReader(io.BytesIO(text)))) == expected


@pytest.mark.parametrize("sign", ["&#" + "9" * 5000 + ";", "&#" + "0" * 5000 + "65;"])
def test_the_number_of_a_sign_may_have_thousands_of_digits(sign):
    assert plain_html(f"<p>Cats {sign} purr.</p>") == "Cats \ufffd purr."


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a <b title='x > y'>b</b> c", "a b c"),
        ("<p>one<br/>two<hr>three", "one\ntwo\nthree"),
        ("<script>if (a < b) '<p>'</SCRIPT >shown", "shown"),
        ("<script>not shown", ""),
        ("<svg/>shown<svg><text>not</text></svg> too", "shown too"),
        ("1 < 2 and 3 > 2 &lt;b&gt; &amp;amp;", "1 < 2 and 3 > 2 <b> &amp;"),
        ("a <!-- b --> c <!-- d", "a c <!-- d"),
        ("a <!-- b <p> d", "a d"),
        ("if a <b and c", "if a <b and c"),
        ("<?xml version='1.0'?><!doctype html><p>x", "x"),
        ("<template>a<p>b</template>c", "c"),
    ],
)
def test_tags_are_told_from_text_as_browsers_do(page, text):
    assert " ".join(plain_html(page).split()) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**a *b* c**", "a b c"),
        ("***a*** `b` ``c`` ~~d~~ __e__ _f_g_ h_i_j", "a b c d e f_g h_i_j"),
        ("2 * 3 * 4 and a*b*c", "2 * 3 * 4 and a*b*c"),
        ("a <!-- b\nc --> d <!-- e", "a  d <!-- e"),
        ("| a | b |\n|:--|--:|\n| c | d |", "a b \n\n c d"),
        ("[a]: http://x.org\n[b]:\n  y\nc", "c"),
        ("<https://x.org/y> <a@b.org> <i>z</i>", "https://x.org/y a@b.org z"),
    ],
)
def test_marks_are_taken_from_markdown(text, plain):
    assert plain_markdown(text) == plain


@pytest.mark.parametrize(
    "text",
    ["<a" + "=x" * LENGTH, '<a b="c"' * LENGTH, "|--" * LENGTH, "- " * LENGTH, "_a" * LENGTH],
    ids=lambda text: text[:6],
)
@pytest.mark.parametrize("plain", [plain_html, plain_markdown])
def test_no_pattern_remembers_each_place_that_it_has_passed(plain, text):
    tracemalloc.start()
    plain(f"{text}>")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 40 * len(text)  # a pattern that remembered took 150 times it

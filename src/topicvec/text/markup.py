"""Plain text of what is written as text with marks in it: HTML, Markdown and e-mail."""

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser
from typing import Any

from topicvec.errors import FormatError, TopicVecError
from topicvec.text.decoding import Decoding, decode

__all__ = ["html_text", "message_text", "plain_html", "plain_markdown", "tidy"]

_DEEPEST = 1 << 12  # elements within elements
_SILENT = {"script", "style", "template", "noscript", "svg", "math", "object", "iframe"}
_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "kbd", "mark",
    "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr",
}  # fmt: skip
_CHARSET = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""", re.I)
_BLANKS = re.compile(r"[ \t\r\f\v\u00a0]*\n\s*")
_MARKDOWN = (
    (re.compile(r"\A---\n.*?\n---\n", re.S), ""),  # what stands before the text
    (re.compile(r"<!--.*?-->", re.S), ""),
    (re.compile(r"^[ ]{0,3}(```|~~~).*$", re.M), ""),
    (re.compile(r"^[ ]{0,3}\[[^\]]+\]:\s+\S+.*$", re.M), ""),  # where links lead
    (re.compile(r"!?\[([^\]\[]*)\](\([^()\s]*(\s+\"[^\"]*\")?\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r"<(https?://[^>\s]+|[^>\s@]+@[^>\s]+)>"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^>\n]*>"), ""),
    (re.compile(r"^[ ]{0,3}(#{1,6}[ \t]+|>\s?|[-*+][ \t]+|\d{1,9}[.)][ \t]+)", re.M), ""),
    (re.compile(r"^[ ]{0,3}([-*_=][ \t]*){3,}$", re.M), ""),
    (re.compile(r"^\s*\|?(\s*:?-{2,}:?\s*\|)+\s*(:?-{2,}:?)?\s*$", re.M), ""),
    (re.compile(r"(\*{1,3}|(?<!\w)_{1,3}|~~|`+)(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"[ \t]*\|[ \t]*"), " "),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])"), r"\1"),
)  # fmt: skip


def html_text(data: bytes, decoding: Decoding, name: str) -> str:
    """Decode a page in the encoding that it says, if that is true."""
    said = _CHARSET.search(data[:4096])
    if decoding.encoding == "auto" and said and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            found = said[1].decode()
            text = data.decode(found)
        except (LookupError, UnicodeError):
            pass
        else:
            decoding.used = found.lower()
            return text.removeprefix("\ufeff")
    return decode(data, decoding, name)


class _Stripper(HTMLParser):
    """Takes the text between the tags, without scripts and styles; blocks end a line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        if tag in _SILENT and len(self.silent) < _DEEPEST:
            self.silent.append(tag)
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.silent:
            del self.silent[self.silent.index(tag) :]
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.pieces.append(re.sub(r"\s+", " ", data))


def plain_html(page: str) -> str:
    r"""Take the text of a page, without its tags, scripts and styles.

    Examples
    --------
    >>> plain_html("<h1>Pets</h1><script>var x = 1</script><p>Cats&nbsp;<i>purr</i>.</p>")
    'Pets\nCats purr.'
    """
    stripper = _Stripper()
    stripper.feed(page)
    stripper.close()
    return tidy("".join(stripper.pieces))


def tidy(text: str) -> str:
    """Let a line end once, and no blanks before or behind it."""
    return _BLANKS.sub("\n", text.replace("\u00a0", " ")).strip()


def plain_markdown(text: str) -> str:
    r"""Take the words of Markdown, without its marks and where its links lead.

    Examples
    --------
    >>> plain_markdown("# Pets\n\n* **Cats** [purr](https://a.org/b_c), see `cat_1`.")
    'Pets\n\nCats purr, see cat_1.'
    """
    text = text.replace("\r\n", "\n")
    for pattern, instead in _MARKDOWN:
        text = pattern.sub(instead, text)
    return text.strip()


def message_text(data: bytes, decoding: Decoding, name: str) -> tuple[str, str | None]:
    """Take subject and body of a message, and its date; attachments are left."""
    try:
        message: EmailMessage = message_from_bytes(data, policy=default)
        body = message.get_body(("plain", "html"))
        text = "" if body is None else _body_text(body, decoding, name)
        date = getattr(message["date"], "datetime", None)
        subject = str(message["subject"] or "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, TopicVecError):
            raise
        raise FormatError(f"damaged, or no e-mail ({error}); export it again") from error
    return f"{subject}\n\n{text}".strip(), date and date.isoformat()


def _body_text(body: Any, decoding: Decoding, name: str) -> str:
    data = body.get_payload(decode=True) or b""
    said = body.get_content_charset()
    try:
        text = data.decode(said or "ascii")
        decoding.used = said or "utf-8"
    except (LookupError, UnicodeError):  # as with all else that does not keep what it says
        text = decode(data, Decoding("auto", decoding.errors), name)
    return plain_html(text) if body.get_content_subtype() == "html" else text.replace("\r\n", "\n")

"""Plain text of what is written as text with marks in it: HTML, Markdown and e-mail."""

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy
from html import unescape
from typing import Any

from topicvec.errors import FormatError, TopicVecError
from topicvec.text.decoding import Decoding, decode, decode_as_said

__all__ = ["html_text", "message_text", "plain_html", "plain_markdown", "tidy"]

_DEEPEST = 1 << 8  # elements within elements whose text is not shown
_LONGEST_HEADER = 1 << 12  # characters; the standard library takes quadratic time for one
_SILENT = {"script", "style", "template", "noscript", "svg", "math", "object", "iframe"}
_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "kbd", "mark",
    "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr",
}  # fmt: skip
_CHARSET = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""", re.I)
# What follows takes time in proportion to a text, whatever it is: no sign is read again from each
# place before it. What is opened and never closed ends with the last tag.
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<[!?][^>]*+(?:>|\Z)|<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)", re.I | re.S
)
_ATTRIBUTE = re.compile(r"""[^>=]*+(?:(?P<last>>|\Z)|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?)""")
_RAW = {name: re.compile(rf"</{name}(?=[\s/>])", re.I) for name in ("script", "style")}
_LONG_REFERENCE = re.compile(r"&#[0-9]{20,}+;?")  # of which the standard library makes no number
_BLANKS = re.compile(r"(?<![ \t\r\f\v\u00a0])[ \t\r\f\v\u00a0]*+\n\s*")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.S)  # what stands before the text
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_EMPHASIS = (
    (re.compile(r"(\*{1,3})(?=\S)([^*\n]+)(?<=\S)\1(?!\w)"), r"\2"),
    (
        re.compile(
            r"(?<!\w)(_{1,3})(?=\S)([^_\n]+(?:(?<=\w)_(?=\w)[^_\n]+){0,20}?)(?<=\S)\1(?!\w)"
        ),
        r"\2",
    ),
    (re.compile(r"(~~)(?=\S)([^~\n]+)(?<=\S)\1(?!\w)"), r"\2"),
)
_MARKDOWN = (
    (re.compile(r"^[ ]{0,3}(```|~~~).*$", re.M), ""),
    (re.compile(r"^[ ]{0,3}\[[^\]\n]++\]:[ \t]*+\n?[ \t]*+\S.*$", re.M), ""),  # where links lead
    (re.compile(r"!?\[([^\]\[]*)\](\([^()\s]*+(\s++\"[^\"]*+\")?\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r"<(https?://[^<>\s]+|[^<>\s@]+@[^<>\s]+)>"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>\n]*+>"), ""),
    (re.compile(r"^[ ]{0,3}(#{1,6}[ \t]+|>\s?|[-*+][ \t]+|\d{1,9}[.)][ \t]+)", re.M), ""),
    (re.compile(r"^[ ]{0,3}(?=(?:[-*_=][ \t]*+){3})[-*_= \t]++$", re.M), ""),
    (re.compile(r"^(?=[^\n]*\|)(?=[^\n]*--)[ \t|:-]++$", re.M), ""),  # below the head of a table
    (re.compile(r"(`{1,9})(?=\S)([^`\n]+)(?<=\S)\1(?!\w)"), r"\2"),
    *_EMPHASIS,
    *_EMPHASIS,  # for what stood around others
    (re.compile(r"(?<![ \t])[ \t]*+\|[ \t]*"), " "),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])"), r"\1"),
)


def html_text(data: bytes, decoding: Decoding, name: str) -> str:
    """Decode a page in the encoding that it says, if that is true."""
    said = _CHARSET.search(data[:4096])
    if decoding.encoding == "auto" and said and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            found = said[1].decode()
            text = decode_as_said(data, found)
        except (LookupError, UnicodeError):
            pass
        else:
            decoding.used = found.lower()
            return text.removeprefix("\ufeff")
    return decode(data, decoding, name)


def plain_html(page: str) -> str:
    r"""Take the text of a page, without its tags, scripts and styles; blocks end a line.

    Examples
    --------
    >>> plain_html("<h1>Pets</h1><script>var x = 1</script><p>Cats&nbsp;<i>purr</i>.</p>")
    'Pets\nCats purr.'
    """
    pieces: list[str] = []
    silent: list[str] = []  # elements around this place whose text is not shown
    place, last = 0, page.rfind(">") + 1
    while found := _TAG.search(page, place, last):
        pieces.append("" if silent else _shown(page[place : found.start()]))
        place, name = found.end(), (found["name"] or "").lower()
        place = _end_of_tag(page, place, last) if name else place
        pieces.append("\n" if name and name not in _INLINE else "")
        if name not in _SILENT or page.endswith("/>", 0, place):
            continue
        if not found["end"]:
            silent.append(name) if len(silent) < _DEEPEST else None
            place = _end_of_raw(page, place, name)
        elif name in silent:
            del silent[silent.index(name) :]
    pieces.append("" if silent else _shown(page[place:]))
    return tidy("".join(pieces))


def _end_of_tag(page: str, place: int, last: int) -> int:
    """Pass over the attributes of a tag, one by one: a pattern for all would remember each."""
    while found := _ATTRIBUTE.match(page, place, last):
        place = found.end()
        if found["last"] is not None:
            break
    return place


def _end_of_raw(page: str, place: int, name: str) -> int:
    """Give the place where a script ends, which may have signs of tags in it."""
    if name not in _RAW:
        return place
    found = _RAW[name].search(page, place)
    return found.start() if found else len(page)


def _shown(data: str) -> str:
    plain = _LONG_REFERENCE.sub("\N{REPLACEMENT CHARACTER}", data)
    return re.sub(r"\s+", " ", unescape(plain))


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
    text = _without_comments(_FRONT.sub("", text.replace("\r\n", "\n")))
    for pattern, instead in _MARKDOWN:
        text = pattern.sub(instead, text)
    return text.strip()


def _without_comments(text: str) -> str:
    closed, mark, rest = text.rpartition("-->")  # each that is opened here is closed
    return _COMMENT.sub("", closed + mark) + rest


class _Policy(EmailPolicy):
    """Reads no more of a header than one may be long."""

    def header_source_parse(self, sourcelines: Any) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name[:_LONGEST_HEADER], value[:_LONGEST_HEADER]


def message_text(data: bytes, decoding: Decoding, name: str) -> tuple[str, str | None]:
    """Take subject and body of a message, and its date; attachments are left."""
    policy: Any = _Policy()
    try:
        message: EmailMessage = message_from_bytes(data, policy=policy)
        body = message.get_body(("plain", "html"))
        text = "" if body is None else _body_text(body, decoding, name)
        date = _date(message)
        subject = str(message["subject"] or "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, TopicVecError):
            raise
        raise FormatError(f"damaged, or no e-mail ({error}); export it again") from error
    return f"{subject}\n\n{text}".strip(), date and date.isoformat()


def _date(message: EmailMessage) -> Any:
    """Give the time of a message, none if it is no time."""
    try:
        return getattr(message["date"], "datetime", None)
    except (ArithmeticError, ValueError):
        return None


def _body_text(body: Any, decoding: Decoding, name: str) -> str:
    data = body.get_payload(decode=True) or b""
    said = body.get_content_charset()
    try:
        text = decode_as_said(data, said or "ascii")
        decoding.used = said or "utf-8"
    except (LookupError, UnicodeError):  # as with all else that does not keep what it says
        text = decode(data, Decoding("auto", decoding.errors), name)
    return plain_html(text) if body.get_content_subtype() == "html" else text.replace("\r\n", "\n")

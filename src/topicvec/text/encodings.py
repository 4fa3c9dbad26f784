"""Which encoding the bytes of a text are in, told by the words that they make."""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from topicvec.errors import FormatError

__all__ = ["ADVICE", "NotText", "tell_encoding"]

_WIDE_WINDOW = 1 << 10  # enough to see where the zeros of UTF-16 and UTF-32 stand
_ZEROS = 0.01  # more are no text, or one of two or four bytes a character
_SURE = 0.98
_LIKELY = 0.6  # of the letters explained; less is no text
_COMMON_SIGNS = 0.12  # part of Chinese, Japanese and Korean text that its commonest signs make up
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
ADVICE = (
    "give the encoding of the file with encoding= (--encoding), for example cp1252 or latin-1, "
    "or read past such bytes with errors='replace' or 'skip' (--errors)"
)


class NotText(FormatError):
    """No encoding makes text of a file; it may be left out."""


class Script(NamedTuple):
    """What text of some languages is made of beyond ASCII, and the encodings it may be in."""

    encodings: str
    languages: str  # the letters of each, a word
    common: str = ""  # the commonest letters or signs, if all are beyond ASCII


# The order is that of trust where several explain a text alike; ISO names stand for the bytes that
# Windows gives another meaning.
_ALPHABETS = (
    Script(
        "cp1252 mac_roman cp850 iso8859_15 cp437",
        "éèàçêâîôûùëïœæüÿ äöüß áéíóúñü áâãàçéêíóôõúü àèéìíîòóùú åäöé æøåéóòô áðéíóúýþæö "
        "éëïöüèêç àèéíïóòúüç",
    ),
    Script(
        "cp1250 iso8859_2 mac_latin2 cp852",
        "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţ čćđšž",
    ),
    Script("cp1254 cp857 mac_turkish", "çğıi̇öşüâîû"),
    Script("cp1257 iso8859_13", "āčēģīķļņšūž ąčęėįšųūž äõöüšž"),
    # before alphabets on the same bytes, which its final letters tell apart
    Script("cp1255 iso8859_8 cp862", "אבגדהוזחטיךכלםמןנסעףפץצקרשת", "יוהלאתרמבש"),
    Script(
        "cp1251 koi8_u mac_cyrillic cp866 iso8859_5 koi8_r",
        "абвгдежзийклмнопрстуфхцчшщъыьэюяё абвгґдеєжзиіїйклмнопрстуфхцчшщьюя "
        "абвгдђежзијклљмнњопрстћуфхцчџш абвгдеёжзійклмнопрстуўфхцчшыьэюя",
        "оеаинтсрвлі",
    ),
    Script(
        "cp1253 iso8859_7 mac_greek cp737", "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", "αοιετσνηυρ"
    ),
    Script("cp1256 iso8859_6 mac_arabic", "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي", "اليمنروتبع"),
    Script(
        "cp874",
        "".join(map(chr, [*range(0xE01, 0xE3B), *range(0xE40, 0xE4F)])),
        "านรอกเงมยลวดท่้",
    ),
)
_KANA = "".join(map(chr, [*range(0x3041, 0x3097), *range(0x30A1, 0x30FD)]))
_SIGNS = (
    Script(
        "gb18030",
        "",
        "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后"
        "能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分",
    ),
    Script(
        "big5 big5hkscs",
        "",
        "的一是不了人我在有他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生自會那後"
        "能對著事其裡所去行過家十用發天如然作方成者多日都三小軍二無同麼經法當起與好看學進種將還分",
    ),
    Script("cp932 euc_jp", "", _KANA),
    Script(
        "cp949 johab",
        "",
        "이다는의에을를가은하지고한로기사도서인리대어나자시들있수해그것보정일아전라게부주상구원제",
    ),
)
_TYPOGRAPHIC = frozenset("‘’‚“”„«»‹›–—…•·°§©®™€£¥¢¿¡ºª½¼¾×²³±µ\u00a0\u00ad、。，：；「」・ー")
_FINAL = frozenset("ךםןףץ")  # letters of Hebrew that only end words
_INSIDE = frozenset("’·\u00ad")  # may stand between two letters
# no more of what is before such a byte than tells: the rest would be read from each of its places
_WORD = re.compile(rb"[^\s\x80-\xff]{0,30}+[\x80-\xff]\S*")
_AMONG_LATIN = re.compile("(?=[A-Za-z][\u0250-\uffff]|[\u0250-\uffff][A-Za-z])")
_SOME_WORDS = 1 << 11  # bytes; the words of a page
_LAST_LATIN = "\u024f"


def tell_encoding(sample: bytes, *, whole: bool = True) -> str:
    """Tell the encoding of some text by its bytes.

    A byte order mark decides; then the zeros of UTF-16 and UTF-32; then UTF-8, if no byte is wrong
    in it; then, of what Windows, the Macintosh, DOS, Unix and East Asia wrote, what gives the words
    of one language: its letters, in its case, with quotes and dashes where they belong.

    Parameters
    ----------
    sample : bytes
        The beginning of a file, or its part from the first byte that is not ASCII.
    whole : bool
        Whether this is all; otherwise the last character may be cut.

    Returns
    -------
    str
        Name of a codec.

    Raises
    ------
    FormatError
        If no encoding makes text of the bytes.

    Examples
    --------
    >>> tell_encoding("Müller aß Brötchen".encode("latin-1")), tell_encoding("Straße".encode())
    ('cp1252', 'utf-8')
    >>> tell_encoding("Всё хорошо".encode("koi8_r")), tell_encoding("我们的中国".encode("gbk"))
    ('koi8_u', 'gb18030')
    """
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    if b"\0" in sample and (_decoded(sample, "utf-8", whole) is None or _has_many_zeros(sample)):
        return _wide(sample)
    if b"\x1b$" in sample and _decoded(sample, "iso2022_jp", whole) is not None:
        return "iso2022_jp"
    if _decoded(sample, "utf-8", whole) is not None or _mostly_utf8(sample):
        return "utf-8"
    return _old(sample, whole)


def _has_many_zeros(sample: bytes) -> bool:
    return sample.count(0) > _ZEROS * len(sample)


def _mostly_utf8(sample: bytes) -> bool:
    r"""Say whether only a few bytes are not UTF-8: old encodings make its sequences by rare chance.

    Examples
    --------
    >>> _mostly_utf8("àéîöü".encode() + b"\xff"), _mostly_utf8("àéîöü".encode("latin-1"))
    (True, False)
    """
    text = sample.decode("utf-8", "replace")
    n_wrong = text.count("\N{REPLACEMENT CHARACTER}")
    return sum(not sign.isascii() for sign in text) > 5 * n_wrong


def _wide(sample: bytes) -> str:
    """Tell UTF-16 and UTF-32 without their mark by where their zeros stand."""
    sample = sample[:_WIDE_WINDOW]
    zeros = [sample[place::4].count(0) / max(len(sample[place::4]), 1) for place in range(4)]
    patterns = {
        "utf-32-le": zeros[2] + zeros[3] > 1.9,
        "utf-32-be": zeros[0] + zeros[1] > 1.9,
        "utf-16-le": zeros[1] + zeros[3] > 0.4 > 8 * (zeros[0] + zeros[2]),
        "utf-16-be": zeros[0] + zeros[2] > 0.4 > 8 * (zeros[1] + zeros[3]),
    }
    for name, fits in patterns.items():
        text = _decoded(sample, name, whole=False) if fits else None
        if text is not None and text.strip("\0\t\r\n "):
            return name
    raise NotText("this is no text, its bytes have zeros; take the file out, or export text")


def _decoded(sample: bytes, encoding: str, whole: bool) -> str | None:
    try:
        return str(codecs.getincrementaldecoder(encoding)().decode(sample, final=whole))
    except UnicodeError:
        return None


def _old(sample: bytes, whole: bool) -> str:
    """Tell an encoding from before UTF-8: the one in which the text has words of a language."""
    shares: dict[str, float] = {"": _COMMON_SIGNS}
    for script in _SIGNS:
        for name in script.encodings.split():
            text = _decoded(sample, name, whole)
            shares[name] = 0.0 if text is None else _sign_share(text, script.common)
    if best := _first_best(shares):
        return best
    words = b" ".join(_WORD.findall(sample))[:_SOME_WORDS]
    shares = {"": _LIKELY}
    for script in _ALPHABETS:
        for name in script.encodings.split():
            text = _decoded(words, name, whole=True)
            shares[name] = 0.0 if text is None else _letter_share(text, script)
        best = _first_best(shares)
        if shares[best] >= _SURE:
            return best
    if not best:
        raise NotText(f"no encoding makes text of these bytes; {ADVICE}")
    return best


def _first_best(shares: Mapping[str, float]) -> str:
    return max(shares, key=lambda name: shares[name])


def _sign_share(text: str, common: str) -> float:
    """Give the part of a text's signs, of those beyond Latin, that are among the commonest."""
    counts = Counter(sign for sign in text if sign > _LAST_LATIN and sign not in _TYPOGRAPHIC)
    if 2 * len(_AMONG_LATIN.findall(text)) > counts.total():
        return 0.0
    return sum(counts[sign] for sign in set(common)) / max(counts.total(), 1)


def _letter_share(text: str, script: Script) -> float:
    """Give the part of the characters beyond ASCII that are as one of the languages has them."""
    padded = f" {text} "
    found: Counter[str] = Counter()
    total = 0
    for (before, sign, after), n in Counter(
        zip(padded, padded[1:], padded[2:], strict=False)
    ).items():
        if not sign.isascii():
            total += n
            if _in_place(before, sign, after):
                found[sign.lower() if _is_of_word(sign) else " "] += n
    if not total:  # old Arabic has ASCII signs twice
        return 0.0
    share = max(
        (found[" "] + sum(found[letter] for letter in letters)) / total
        for letters in map(set, script.languages.split())
    )
    n_letters = found.total() - found[" "]
    if not (script.common and n_letters):
        return share
    # all letters of an alphabet are letters of it in each of its encodings, but not as common
    return share * min(1.0, 0.5 + sum(found[letter] for letter in script.common) / n_letters)


def _is_of_word(sign: str) -> bool:
    return sign.isalpha() or unicodedata.category(sign).startswith("M")


@lru_cache(1 << 16)
def _in_place(before: str, sign: str, after: str) -> bool:
    """Say whether a character stands where people write it."""
    if not _is_of_word(sign):
        inside = before.isalpha() and after.isalpha()
        return sign in _TYPOGRAPHIC and (not inside or sign in _INSIDE)
    if after.isdigit() and not before.isalpha():
        return False
    if sign in _FINAL and after.isalpha():
        return False
    if sign > _LAST_LATIN and any(each.isascii() and each.isalpha() for each in (before, after)):
        return False
    if sign.isupper() and not before.isalpha() and not after.isalpha():
        return before.isspace() and after.isspace()
    return not (sign.isupper() and before.islower())

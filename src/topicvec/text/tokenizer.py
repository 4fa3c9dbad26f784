"""Cut text into words."""

import re
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from topicvec.errors import DataError
from topicvec.text.original import original_words

__all__ = ["Rules", "Tokenizer"]

Rules = Literal["default", "original"]

# Every ASCII character but letters, digits and the apostrophe becomes a blank. As a table of
# bytes over UTF-8 this is one pass in C, and bytes of other scripts are left alone.
_BLANKED = bytes(
    code if code >= 128 or chr(code).isalnum() or chr(code) == "'" else ord(" ")
    for code in range(256)
)
_LINK = re.compile(r"""://[^\s<>"”]*|www\.\w[^\s<>"”]*|@[\w-]+(?:\.[\w-]+)+""")
_BEFORE_LINK = string.ascii_lowercase + string.digits + "+-._%"  # a scheme, or a name before @
_LONG = 64  # longer pieces are rare, and remembering them would fill the memory
_ZERO_WIDTH_SPACE = "\u200b"


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Cut a text into lower-case words; any other callable from str to list of str will do too.

    The default rules know Unicode. A word is a run of letters, marks and digits with at least
    one letter: "covid19" and "x86" are words, "1984" is not. Apostrophes inside stay ("don't",
    also if written with ’), a possessive 's goes, hyphens separate. Web and e-mail addresses are
    removed. Words are in Unicode normal form NFC.

    Parameters
    ----------
    rules : {"default", "original"}
        "original" follows the program that came with the paper, see
        `topicvec.text.original.original_words`.

    Notes
    -----
    Scripts that are written without blanks between words (Chinese, Japanese, Thai) come out as
    one word a phrase: plug in a segmenter for these languages instead.

    Examples
    --------
    >>> tokenize = Tokenizer()
    >>> tokenize("Don’t panic: Ford's well-known GUIDE, 42 pages, is at www.guide.org")
    ["don't", 'panic', 'ford', 'well', 'known', 'guide', 'pages', 'is', 'at']
    """

    rules: Rules = "default"

    def __post_init__(self) -> None:
        if self.rules not in get_args(Rules):
            raise DataError(f"rules must be 'default' or 'original'; found {self.rules!r}")

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of str
            Lower-case words.
        """
        return _RULES[self.rules](text)


def _default_words(text: str) -> list[str]:
    pieces = _blanked(_prepared(text)).split()
    if all(map(str.isalpha, pieces)):
        return pieces
    words: list[str] = []
    for piece in pieces:
        if piece.isalpha():
            words.append(piece)
        else:
            words += (_remembered_words if len(piece) < _LONG else _careful_words)(piece)
    return words


def _prepared(text: str) -> str:
    text = text.lower()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("’", "'").replace("ʼ", "'")
    if "@" in text or "://" in text or "www." in text:
        text = _without_links(text)
    return text


def _without_links(text: str) -> str:
    kept, start = [], 0
    for link in _LINK.finditer(text):
        kept.append(text[start : link.start()].rstrip(_BEFORE_LINK))
        start = link.end()
    return " ".join([*kept, text[start:]])


def _blanked(text: str) -> str:
    # surrogatepass: a lone surrogate, as JSON may hold, is no letter but no reason to fail
    return (
        text.encode("utf-8", "surrogatepass").translate(_BLANKED).decode("utf-8", "surrogatepass")
    )


def _careful_words(piece: str) -> tuple[str, ...]:
    """Find the words in a piece with other signs than letters: digits, marks, apostrophes."""
    parts = re.split(r"\s|''+", _spaced(piece))
    words = (re.sub(r"('s)+$", "", part.strip("'")) for part in parts)
    return tuple(word for word in words if any(map(str.isalpha, word)))


_remembered_words = lru_cache(maxsize=1 << 16)(_careful_words)


def _spaced(piece: str) -> str:
    """Keep letters, digits, apostrophes and marks on letters; blank all else."""
    kept: list[str] = []
    inside = False
    for character in piece:
        kind = unicodedata.category(character)
        if kind == "Cf" and character != _ZERO_WIDTH_SPACE:
            continue  # soft hyphens and joiners are not seen, so they do not separate
        if kind[0] == "M" and not inside:
            continue
        inside = kind[0] in "LNM"
        kept.append(character if inside or character == "'" else " ")
    return unicodedata.normalize("NFC", "".join(kept))


_RULES: dict[Rules, Callable[[str], list[str]]] = {
    "default": _default_words,
    "original": original_words,
}

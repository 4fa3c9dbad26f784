"""How much room text takes, without a font at hand.

The widths are the larger of those of Helvetica (also Arial, Liberation Sans) and DejaVu Sans,
so whichever of these shows a picture, no text is longer than was reckoned with.
"""

import unicodedata
from typing import NamedTuple

__all__ = ["FAMILY", "Extent", "extent", "shorten", "text_width"]

FAMILY = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"

# Hundredths of the font size, from the space to the tilde
_REGULAR = (
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 78, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79,
    67, 79, 73, 67, 62, 74, 69, 99, 69, 67, 69, 40, 34, 40, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
)  # fmt: skip
_BOLD = (
    35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70,
    70, 70, 40, 40, 84, 84, 84, 62, 102, 78, 77, 74, 84, 69, 69, 83, 84, 38, 56, 78, 64, 100, 84,
    86, 74, 86, 78, 73, 69, 82, 78, 111, 78, 73, 73, 46, 37, 46, 84, 56, 50, 68, 72, 60, 72, 68, 44,
    72, 72, 35, 35, 67, 35, 105, 72, 69, 72, 72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72, 84,
)  # fmt: skip
_OTHER = 1.2  # a sign that is not in the table: the widest Cyrillic letter, nearly an emoji
_LOW = frozenset("acemnorsuvwxz")  # between the baseline and the height of an x
_HANGING = frozenset("gjpqyQJ,;()[]{}|_@$/\\")  # below the baseline


class Extent(NamedTuple):
    """Room that a word takes: its width, and how far it reaches above and below its baseline."""

    width: float
    ascent: float
    descent: float


def text_width(words: str, size: float, *, bold: bool = False) -> float:
    """Give the width of a line of text, at worst.

    Parameters
    ----------
    words : str
        The text.
    size : float
        Font size.
    bold : bool
        Whether it is set in bold.

    Examples
    --------
    >>> round(text_width("sea", 100)), round(text_width("séa", 100))
    (177, 177)
    """
    table = _BOLD if bold else _REGULAR
    return size * sum(_width(sign, table) for sign in unicodedata.normalize("NFD", words))


def _width(sign: str, table: tuple[int, ...]) -> float:
    code = ord(sign)
    if 32 <= code < 127:
        return table[code - 32] / 100
    return 0.0 if unicodedata.combining(sign) else _OTHER


def extent(word: str, size: float, *, bold: bool = False) -> Extent:
    """Give the room that a word takes.

    Examples
    --------
    >>> [round(part) for part in extent("boy", 100)]
    [186, 77, 23]
    """
    plain = word.isascii()
    ascent = 0.57 if _LOW.issuperset(word) else 0.77 if plain else 1.0
    descent = 0.02 if plain and _HANGING.isdisjoint(word) else 0.23 if plain else 0.3
    return Extent(text_width(word, size, bold=bold), size * ascent, size * descent)


def shorten(words: str, size: float, room: float, *, bold: bool = False) -> str:
    """Cut a line of text with an ellipsis where it is longer than the room.

    Examples
    --------
    >>> shorten("rain and snow", 10, 200), shorten("rain and snow", 10, 45)
    ('rain and snow', 'rain a…')
    """
    if text_width(words, size, bold=bold) <= room:
        return words
    while words and text_width(f"{words}…", size, bold=bold) > room:
        words = words[:-1]
    return f"{words.rstrip(' ,.')}…"

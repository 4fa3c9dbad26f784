"""A picture as SVG: its parts, the room that text takes, and the finished sheet.

An element is a name, attributes and children; nothing becomes markup before `Element.render`,
which escapes every text. Room is reckoned without a font at hand: the widths are the larger of
those of Helvetica (also Arial, Liberation Sans) and DejaVu Sans, so whichever of these shows a
picture, no text is longer than was reckoned with.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from topicvec.errors import DataError, require
from topicvec.files import atomic_write
from topicvec.pictures.palette import PAPER

__all__ = ["Element", "Picture", "check_path", "element", "number", "shorten", "text", "text_width"]

_SCALE = 2.0  # PNG pixels a unit: sharp on dense screens and in print
# XML has no way to write most control characters, lone surrogates and two others
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})

FAMILY = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"

# Hundredths of the font size, from the space to the tilde
_WIDTHS = (
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 78, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79,
    67, 79, 73, 67, 62, 74, 69, 99, 69, 67, 69, 40, 34, 40, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
)  # fmt: skip
_OTHER = 1.2  # a sign that is not in the table: the widest Cyrillic letter, nearly an emoji
_LOW = frozenset("acemnorsuvwxz")  # between the baseline and the height of an x
_HANGING = frozenset("gjpqyQJ,;()[]{}|_@$/\\")  # below the baseline


@dataclass(frozen=True)
class Element:
    """A part of a picture.

    Parameters
    ----------
    name : str
        The tag.
    attributes : tuple of (str, str)
        Names and values, unescaped.
    children : tuple of Element or str
        What is inside; strings are text, unescaped.

    Examples
    --------
    >>> Element("text", (("x", "1"),), ("a < b",)).render()
    '<text x="1">a &lt; b</text>'
    """

    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple["Element | str", ...] = ()

    def render(self) -> str:
        """Write the markup."""
        head = "".join(f' {name}="{_escape(value)}"' for name, value in self.attributes)
        if not self.children:
            return f"<{self.name}{head}/>"
        inside = "".join(
            child.render() if isinstance(child, Element) else _escape(child)
            for child in self.children
        )
        return f"<{self.name}{head}>{inside}</{self.name}>"


def element(
    name: str, children: Iterable[Element | str] = (), /, **attributes: str | float | None
) -> Element:
    """Make an element; underscores in names of attributes become hyphens.

    Parameters
    ----------
    name : str
        The tag.
    children : iterable of Element or str
        What is inside.
    **attributes
        Numbers are rounded to hundredths; None leaves the attribute out.

    Examples
    --------
    >>> element("rect", width=2.50001, stroke_width=1, id=None).render()
    '<rect width="2.5" stroke-width="1"/>'
    """
    given = tuple(
        (key.rstrip("_").replace("_", "-"), value if isinstance(value, str) else number(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Element(name, given, tuple(children))


def text(words: str, x: float, y: float, size: float, **attributes: str | float | None) -> Element:
    """Make a line of text with its baseline at y.

    Examples
    --------
    >>> text("a & b", 1, 2, 10, fill="#000000").render()
    '<text x="1" y="2" font-size="10" fill="#000000">a &amp; b</text>'
    """
    return element("text", [words], x=x, y=y, font_size=size, **attributes)


def number(value: float) -> str:
    """Write a number with at most two decimals.

    Examples
    --------
    >>> number(1.0), number(0.125), number(-0.001)
    ('1', '0.12', '0')
    """
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def _escape(value: str) -> str:
    return _NOT_XML.sub("\ufffd", value).translate(_ESCAPES)


def text_width(words: str, size: float) -> float:
    """Give the width of a line of text, at worst.

    Parameters
    ----------
    words : str
        The text.
    size : float
        Font size.

    Examples
    --------
    >>> round(text_width("sea", 100)), round(text_width("séa", 100))
    (177, 177)
    """
    return size * sum(map(_width, unicodedata.normalize("NFD", words)))


def _width(sign: str) -> float:
    if 32 <= ord(sign) < 127:
        return _WIDTHS[ord(sign) - 32] / 100
    return 0.0 if unicodedata.combining(sign) else _OTHER


def extent(word: str, size: float) -> tuple[float, float, float]:
    """Give a word's width, and how far it reaches above and below its baseline.

    Examples
    --------
    >>> [round(part) for part in extent("boy", 100)]
    [186, 77, 23]
    """
    plain = word.isascii()
    ascent = 0.57 if _LOW.issuperset(word) else 0.77 if plain else 1.0
    descent = 0.02 if plain and _HANGING.isdisjoint(word) else 0.23 if plain else 0.3
    return text_width(word, size), size * ascent, size * descent


def shorten(words: str, size: float, room: float) -> str:
    """Cut a line of text with an ellipsis where it is longer than the room.

    Examples
    --------
    >>> shorten("rain and snow", 10, 200), shorten("rain and snow", 10, 45)
    ('rain and snow', 'rain a…')
    """
    if text_width(words, size) <= room:
        return words
    while words and text_width(f"{words}…", size) > room:
        words = words[:-1]
    return f"{words.rstrip(' ,.')}…"


@dataclass(frozen=True)
class Picture:
    """A finished picture; notebooks show it by themselves.

    Parameters
    ----------
    svg : str
        The whole picture as an SVG document.
    width, height : float
        Its size in pixels.

    Examples
    --------
    >>> drawn = Picture.of([element("circle", r=5)], 20, 10, "A dot")
    >>> drawn
    Picture(20 x 10)
    >>> "<circle" in drawn.svg
    True
    """

    svg: str
    width: float
    height: float

    @classmethod
    def of(cls, parts: Iterable[Element], width: float, height: float, title: str) -> "Picture":
        """Put parts on a white sheet; the title is for those who listen, not drawn."""
        sheet = element("rect", width=width, height=height, fill=PAPER)
        root = element(
            "svg",
            [element("title", [title]), sheet, *parts],
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
            viewBox=f"0 0 {width:g} {height:g}",
            font_family=FAMILY,
            role="img",
            style="max-width:100%;height:auto",
        )
        return cls(root.render() + "\n", width, height)

    def save(self, path: str | Path, *, scale: float = _SCALE) -> Path:
        """Write the picture to a file and return its path.

        Parameters
        ----------
        path : path
            Ends in ``.svg`` or ``.png``; the latter needs ``pip install "topicvec[pictures]"``.
        scale : float
            Pixels of a PNG for each unit of width.

        Examples
        --------
        >>> Picture("<svg/>", 1, 1).save("cloud.gif")
        Traceback (most recent call last):
        topicvec.errors.DataError: a picture is saved as .svg or .png, found cloud.gif
        """
        path = Path(path)
        check_path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        is_svg = path.suffix.lower() == ".svg"
        content = self.svg.encode("utf-8") if is_svg else self.png(scale=scale)
        with atomic_write(path) as part:
            part.write_bytes(content)
        return path

    def png(self, *, scale: float = _SCALE) -> bytes:
        """Give the picture as the bytes of a PNG file; needs the extra ``pictures``."""
        return bytes(_rasteriser().svg_to_bytes(svg_string=self.svg, zoom=scale))

    def __repr__(self) -> str:
        return f"Picture({self.width:g} x {self.height:g})"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="max-width:{self.width:g}px">{self.svg}</div>'


def check_path(path: Path) -> None:
    """Say before the work, not after it, that a picture cannot be saved so."""
    if path.suffix.lower() == ".png":
        _rasteriser()
    elif path.suffix.lower() != ".svg":
        raise DataError(f"a picture is saved as .svg or .png, found {path.name}")


def _rasteriser() -> Any:
    resvg = require("resvg_py", "pictures", "a PNG")
    if not _has_fonts(resvg):
        raise DataError(
            "a PNG needs a font and found none on this machine: install one "
            "(for example fonts-dejavu-core) or save the picture as .svg"
        )
    return resvg


@cache
def _has_fonts(resvg: Any) -> bool:
    """Whether a letter leaves a mark: without fonts the rasteriser silently leaves text out."""
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
    letter = f'<text y="9" font-size="9" font-family="{FAMILY}">x</text>'
    without, written = (resvg.svg_to_bytes(svg_string=sheet.format(part)) for part in ("", letter))
    return bool(without != written)

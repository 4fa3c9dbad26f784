"""The few parts of SVG that the pictures need, with every text escaped.

An element is a name, attributes and children; nothing becomes markup before `Element.render`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Element", "element", "number", "text"]

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


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
    return "".join(map(_allowed, value)).translate(_ESCAPES)


def _allowed(character: str) -> str:
    # XML has no way to write most control characters, lone surrogates and two others
    code = ord(character)
    bad = (code < 32 and character not in "\t\n\r") or 0xD800 <= code < 0xE000
    return "\ufffd" if bad or code in (0xFFFE, 0xFFFF) else character

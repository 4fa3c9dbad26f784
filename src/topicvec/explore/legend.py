"""What the colours mean: swatches with names, set in lines."""

from collections.abc import Sequence

from topicvec.explore.fonts import shorten, text_width
from topicvec.explore.palette import INK
from topicvec.explore.svg import Element, element, text

__all__ = ["legend"]

_SIZE = 12.0
_ROW = 19.0
_SWATCH = 10.0
_GAP = 16.0  # between entries


def legend(
    entries: Sequence[tuple[str, str]], width: float, *, top: float = 0.0, left: float = 4.0
) -> tuple[list[Element], float]:
    """Draw a legend and give the place below it.

    Parameters
    ----------
    entries : sequence of (str, str)
        Colours with their names.
    width : float
        Room for a line, from the left edge of the picture.
    top, left : float
        Where it begins.

    Returns
    -------
    parts : list of Element
    bottom : float
        Equal to ``top`` if there are no entries.

    Examples
    --------
    >>> parts, bottom = legend([("#332288", "sea"), ("#813700", "tax")], 200)
    >>> len(parts), bottom
    (2, 19.0)
    """
    parts, x, y = [], left, top
    for colour, name in entries:
        name = shorten(name, _SIZE, width - left - _SWATCH - 5)
        length = _SWATCH + 5 + text_width(name, _SIZE)
        if x > left and x + length > width:
            x, y = left, y + _ROW
        parts.append(_entry(colour, name, x, y))
        x += length + _GAP
    return parts, y + _ROW if parts else top


def _entry(colour: str, name: str, x: float, y: float) -> Element:
    middle = y + _ROW / 2
    swatch = element(
        "rect", x=x, y=middle - _SWATCH / 2, width=_SWATCH, height=_SWATCH, rx=2, fill=colour
    )
    words = text(name, x + _SWATCH + 5, middle + 0.36 * _SIZE, _SIZE, fill=INK)
    return element("g", [swatch, words])

"""A picture: SVG text with its size, to look at in a notebook or to save."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from topicvec.errors import DataError, require
from topicvec.explore.fonts import FAMILY
from topicvec.explore.palette import PAPER
from topicvec.explore.svg import Element, element

__all__ = ["Picture", "picture"]

_SCALE = 2.0  # PNG pixels a unit: sharp on dense screens and in print


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
    >>> from topicvec.explore.svg import element
    >>> drawn = picture([element("circle", r=5)], 20, 10, "A dot")
    >>> drawn
    Picture(20 x 10)
    >>> "<circle" in drawn.svg
    True
    """

    svg: str
    width: float
    height: float

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
        if path.suffix.lower() == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        else:
            path.write_bytes(self.png(scale=scale))
        return path

    def png(self, *, scale: float = _SCALE) -> bytes:
        """Give the picture as the bytes of a PNG file; needs the extra ``pictures``."""
        resvg = _rasteriser()
        data: bytes = bytes(resvg.svg_to_bytes(svg_string=self.svg, zoom=scale))
        return data

    def __repr__(self) -> str:
        return f"Picture({self.width:g} x {self.height:g})"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="max-width:{self.width:g}px">{self.svg}</div>'


def picture(parts: Iterable[Element], width: float, height: float, title: str) -> Picture:
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
    return Picture(root.render() + "\n", width, height)


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
    drawn = [resvg.svg_to_bytes(svg_string=sheet.format(part)) for part in ("", letter)]
    return bool(drawn[0] != drawn[1])

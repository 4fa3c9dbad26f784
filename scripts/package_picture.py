"""Draw the packages of the wheel and who imports whom, from the imports that are in the code.

Usage: python scripts/package_picture.py [--check]

Packages stand in the order of import-linter's layers in pyproject.toml. Modules that everybody
imports (errors, checks and so on) stand in one box without arrows. Lines are code lines as
``scripts/house.py`` counts them, rounded to hundreds, so that not every change asks for a new
picture. ``--check`` ends with 1 if the committed picture is not that of the code.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from house import ROOT, count_lines

SOURCE = ROOT / "src" / "topicvec"
PICTURE = ROOT / "docs" / "pictures" / "packages.svg"
BASE = {"__init__", "__main__", "errors", "version", "checks", "estimator", "files"}
GROUND = "errors, checks"
ABOUT = {
    "cli": "the commands",
    "explore": "report and server",
    "pictures": "one file a kind",
    "measure": "how good topics are",
    "represent": "documents as vectors",
    "dask": "collections of Dask",
    "model": "the topics",
    "embed": "the word vectors",
    "datasets": "texts to try",
    "text": "from files to counts",
    "engine": "work for many cores",
    GROUND: "also estimator, files, version; imported everywhere",
}
COLOURS = (
    "#1b6ca8", "#b5482a", "#2e7d4f", "#7a4fa3", "#a87b1b", "#a33a6f", "#2a8a94", "#5b6470",
    "#4a5fc1", "#6d7d1f", "#8a5a44",
)  # fmt: skip
FAMILY = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
LEFT, TOP, WIDTH, GAP, LANE, STEP = 20, 56, 330, 14, 26, 13


class Package(NamedTuple):
    name: str
    n_modules: int
    n_lines: int
    imports: Counter[str]  # how many import statements name each other package


class Box(NamedTuple):
    package: Package
    top: float
    height: float
    ways_in: dict[str, float]  # where the arrow of each importer ends

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


def layer_order() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name for layer in layers for name in re.findall(r"\w+", layer)]


def home(name: str) -> str:
    """Give the box of a module's name after ``topicvec.``."""
    first = name.partition(".")[0]
    return GROUND if first in BASE else first


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of topicvec that a file imports, without ``topicvec.``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for first in {".".join(name.split(".")[1:2]) for name in names if name[:9] == "topicvec."}:
            if (SOURCE / first).is_dir() or (SOURCE / f"{first}.py").is_file():
                yield first


def packages() -> list[Package]:
    """Read the code: what there is, in the order of the layers, the ground last."""
    files: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).with_suffix("")
        files.setdefault(home(".".join(place.parts)), []).append(path)
    order = [*layer_order(), GROUND]
    return [
        Package(
            name,
            len(paths),
            sum(count_lines(path)[0] for path in paths),
            Counter(home(other) for path in paths for other in imported(path)),
        )
        for name, paths in sorted(files.items(), key=lambda item: order.index(item[0]))
    ]


def boxes(found: list[Package]) -> list[Box]:
    top: float = TOP
    placed = []
    for package in found:
        importers = [
            other.name
            for other in found
            if len({package.name, other.name, GROUND}) == 3 and other.imports[package.name]
        ]
        # The lines of importers further up come from further right and end further down.
        importers.reverse()
        height = max(46, STEP * (len(importers) + 2))
        first = top + height / 2 - STEP * (len(importers) - 1) / 2 + STEP / 2
        ways_in = {name: first + STEP * i for i, name in enumerate(importers)}
        placed.append(Box(package, top, height, ways_in))
        top += height + GAP
    return placed


def draw_box(box: Box, colour: str) -> list[str]:
    package = box.package
    hundreds = max(1, round(package.n_lines / 100)) * 100
    size = f"{package.n_modules} module{'s' * (package.n_modules > 1)}, {hundreds:,} lines"
    x, y = LEFT + 14, box.middle
    return [
        f'<rect x="{LEFT}" y="{box.top:g}" width="{WIDTH}" height="{box.height:g}" rx="6" '
        f'fill="#fff" stroke="{colour}" stroke-width="1.5"/>',
        f'<text x="{x}" y="{y - 4:g}" font-weight="bold" fill="{colour}">{package.name}</text>',
        f'<text x="{x}" y="{y + 13:g}" font-size="12" fill="#555">'
        f"{ABOUT.get(package.name, '')}</text>",
        f'<text x="{LEFT + WIDTH - 14}" y="{y - 4:g}" font-size="12" fill="#555" '
        f'text-anchor="end">{size}</text>',
    ]


def draw_lane(box: Box, others: list[Box], x: float, colour: str) -> list[str]:
    """Draw one importer's line: out of its box, down its lane, and into what it imports."""
    right, y = LEFT + WIDTH, box.top + STEP
    ends = [(other, other.ways_in[box.package.name]) for other in others]
    last = max(end for _, end in ends)
    lines = [f'<path d="M{right} {y:g}H{x:g}V{last:g}"/>']
    for other, end in ends:
        n = box.package.imports[other.package.name]
        lines.append(
            f'<path d="M{x:g} {end:g}H{right + 7}" marker-end="url(#to-{box.package.name})">'
            f"<title>{box.package.name} imports {other.package.name} in {n} places</title></path>"
        )
    return [f'<g fill="none" stroke="{colour}" stroke-width="1.4">', *lines, "</g>"]


def draw(found: list[Package]) -> str:
    placed = boxes(found)
    colours = {b.package.name: COLOURS[i % len(COLOURS)] for i, b in enumerate(placed)}
    colours[GROUND] = "#777"
    drawn = {b.package.name: [o for o in placed if b.package.name in o.ways_in] for b in placed}
    importers = [box for box in placed if drawn[box.package.name]]
    width = LEFT + WIDTH + LANE * (len(importers) + 2)
    height = placed[-1].top + placed[-1].height + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" '
        f'width="{width}" height="{height:g}" font-family="{FAMILY}" font-size="15" role="img">',
        "<title>The packages of topicvec and who imports whom</title>",
        f'<rect width="{width}" height="{height:g}" fill="#fff"/>',
        f'<text x="{LEFT}" y="32" font-size="13" fill="#555">'
        "An arrow goes to what is imported; all of them go down.</text>",
        "<defs>",
        *(
            f'<marker id="to-{b.package.name}" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="6" '
            f'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" '
            f'fill="{colours[b.package.name]}"/></marker>'
            for b in importers
        ),
        "</defs>",
    ]
    for i, box in enumerate(importers):  # the topmost has the outermost lane
        x = LEFT + WIDTH + LANE * (len(importers) - i + 1)
        parts += draw_lane(box, drawn[box.package.name], x, colours[box.package.name])
    for box in placed:
        parts += draw_box(box, colours[box.package.name])
    return "\n".join([*parts, "</svg>", ""])


def goes_up(found: list[Package]) -> list[str]:
    """Name imports against the order, which the picture could not draw."""
    names = [package.name for package in found]
    return [
        f"{package.name} imports {other}"
        for i, package in enumerate(found[:-1])
        for other in names[:i]
        if package.imports[other]
    ]


def main() -> int:
    found = packages()
    if wrong := goes_up(found):
        print("against the order of the layers:", *wrong, sep="\n")
        return 1
    if "--check" not in sys.argv:
        PICTURE.write_text(draw(found), encoding="utf-8")
        return 0
    if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == draw(found):
        return 0
    print(f"{PICTURE} is out of date: run python scripts/package_picture.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())

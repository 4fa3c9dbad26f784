"""Print the figures of the house: how much code there is and how far a fit walks through it.

Counted are, for the package under ``src/topicvec``:

- modules and code lines, without blank lines, comments and docstrings;
- code lines of function bodies: the longest, the median and the 90% quantile;
- what ``TopicVec(9, random_state=0).fit([article])`` goes through, in all threads: source files
  and functions of the package that are entered (methods too; not lambdas, comprehensions, class
  bodies, nor what dataclasses generate; compiled kernels are not seen), and the dataclasses of the
  package of which an instance is made (not named tuples, which are several results in one);
- modules of the package that are loaded when ``topicvec topics article.txt`` ends.

Usage: python scripts/house.py [--check] [--json] [--names] [--source src]

``--check`` ends with 1 if a goal is missed; ``--names`` names what a fit and a command go through;
``--source`` measures another checkout's folder.
"""

import argparse
import ast
import inspect
import io
import json
import os
import statistics
import subprocess
import sys
import threading
import tokenize
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)


class Figure(NamedTuple):
    name: str
    before: int  # of version 0.1, before the house was built anew
    goal: int | None = None


FIGURES = {
    "modules": Figure("modules of the wheel", 221, 125),
    "code_lines": Figure("code lines of the wheel", 17_947, 13_500),
    "longest_body": Figure("lines of the longest function body", 47, 47),
    "ninety_body": Figure("lines of a body, 90% are not longer", 14),
    "median_body": Figure("lines of a body, median", 5),
    "fit_files": Figure("files that a fit enters", 39, 24),
    "fit_functions": Figure("functions that a fit enters", 198, 120),
    "fit_records": Figure("kinds of record that a fit makes", 26, 12),
    "command_modules": Figure("modules that `topicvec topics` loads", 92, 60),
}


Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def without_docstring(node: Documented) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def lines_of(*nodes: ast.stmt) -> set[int]:
    return {n for node in nodes for n in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def count_lines(path: Path) -> tuple[int, list[int]]:
    """Count the lines of a file that have code on them, and those of each function's body."""
    source = path.read_text(encoding="utf-8")
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {
        line
        for token in tokens
        if token.type not in LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in nodes:
        if len(without_docstring(node)) < len(node.body):
            code -= lines_of(node.body[0])
    functions = [node for node in nodes if isinstance(node, FUNCTIONS)]
    return len(code), [len(code & lines_of(*without_docstring(node))) for node in functions]


class Walk:
    """The functions of a package that are entered and the records that are made."""

    def __init__(self, package: Any) -> None:
        self.name = package.__name__
        self.folder = str(Path(package.__file__).parent) + os.sep
        self.entered: set[CodeType] = set()
        self.records: set[type] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_NEWLOCALS and not code.co_name.startswith("<")
        if is_function and code.co_filename.startswith(self.folder):
            self.entered.add(code)
        if code.co_name in ("__init__", "__new__", "__post_init__") and code.co_argcount:
            self._made(frame.f_locals[code.co_varnames[0]])

    def _made(self, first: object) -> None:
        kind = first if isinstance(first, type) else type(first)
        if kind.__module__.partition(".")[0] == self.name and is_dataclass(kind):
            self.records.add(kind)

    def follow(self, work: Callable[[], object]) -> None:
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def print_fit() -> None:
    import topicvec

    article = topicvec.datasets.sample_article()
    walk = Walk(topicvec)
    walk.follow(lambda: topicvec.TopicVec(9, random_state=0).fit([article]))
    found = {
        "fit_files": sorted({code.co_filename for code in walk.entered}),
        "fit_functions": sorted(f"{c.co_filename}:{c.co_qualname}" for c in walk.entered),
        "fit_records": sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in walk.records),
    }
    print(json.dumps(found))


def print_command(article: str) -> None:
    import atexit
    import contextlib
    import runpy

    def report() -> None:
        loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "topicvec")
        print(json.dumps({"command_modules": loaded}))

    atexit.register(report)
    sys.argv = ["topicvec", "topics", article]
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_module("topicvec", run_name="__main__", alter_sys=True)


def in_own_process(source: Path, call: str) -> dict[str, list[str]]:
    paths = os.pathsep.join([str(source), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", f"import house; house.{call}"],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def walked(source: Path) -> dict[str, list[str]]:
    """Name all that a fit and a command go through."""
    article = str(next(source.rglob("article.txt")))
    return {
        **in_own_process(source, "print_fit()"),
        **in_own_process(source, f"print_command({article!r})"),
    }


def measure(source: Path) -> dict[str, int]:
    files = sorted((source / "topicvec").rglob("*.py"))
    counts = [count_lines(path) for path in files]
    bodies = sorted(n_lines for _, each in counts for n_lines in each)
    return {
        "modules": len(files),
        "code_lines": sum(n_lines for n_lines, _ in counts),
        "longest_body": bodies[-1],
        "ninety_body": bodies[int(0.9 * len(bodies))],
        "median_body": round(statistics.median(bodies)),
        **{name: len(found) for name, found in walked(source).items()},
    }


def is_missed(name: str, value: int) -> bool:
    goal = FIGURES[name].goal
    return goal is not None and value > goal


def table(found: dict[str, int]) -> str:
    lines = [f"{'':<38}{'before':>9}{'now':>9}{'goal':>9}"]
    for key, figure in FIGURES.items():
        goal = "" if figure.goal is None else f"{figure.goal:,}"
        mark = "  missed" if is_missed(key, found[key]) else ""
        lines.append(
            f"{figure.name:<38}{figure.before:>9,}{found[key]:>9,}{goal:>9}{mark}".rstrip()
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="end with 1 if a goal is missed")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--names", action="store_true", help="name what is walked through")
    parser.add_argument("--source", type=Path, default=ROOT / "src", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.names:
        print(json.dumps(walked(arguments.source.resolve()), indent=1))
        return 0
    found = measure(arguments.source.resolve())
    print(json.dumps(found, indent=1) if arguments.json else table(found))
    return 1 if arguments.check and any(is_missed(*pair) for pair in found.items()) else 0


if __name__ == "__main__":
    sys.exit(main())

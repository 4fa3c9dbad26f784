"""Run the code blocks of the README and the docs, each file in an empty folder of its own.

``python`` blocks of one file share a namespace; in ``sh`` blocks every line is a command that
must succeed. A block after a comment ``<!-- not run: reason -->`` is only counted.

Usage: python scripts/run_snippets.py README.md docs
"""

import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\s*)?^```(?P<language>python|sh)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    language: str
    code: str
    line: int
    skipped: bool


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        yield Block(match["language"], match["code"], line, match["skip"] is not None)


def run(block: Block, page: Path, namespace: dict[str, object]) -> None:
    if block.language == "sh":
        subprocess.run(["bash", "-euo", "pipefail", "-c", block.code], check=True)
        return
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    exec(code, namespace)


def check(page: Path) -> tuple[int, int]:
    """Return how many blocks ran and how many failed; each failure is printed."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    n_run = n_failed = 0
    if re.search(r"@[A-Z]+@", page.read_text(encoding="utf-8")):
        print(f"{page}: a place is left to be filled")
        n_failed += 1
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in blocks(page):
            if block.skipped:
                continue
            n_run += 1
            try:
                run(block, page, namespace)
            except Exception:
                n_failed += 1
                print(f"{page}:{block.line}: this block failed")
                traceback.print_exc()
        os.chdir(page.parent)
    return n_run, n_failed


def main(arguments: list[str]) -> int:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    roots = [Path(argument).resolve() for argument in arguments]
    pages = [
        page
        for root in roots
        for page in ([root] if root.is_file() else sorted(root.rglob("*.md")))
    ]
    counts = [check(page) for page in pages]
    n_run, n_failed = (sum(column) for column in zip(*counts, strict=True))
    print(f"docs: {n_run - n_failed} of {n_run} code blocks in {len(pages)} pages ran")
    return 1 if n_failed or not n_run else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Write the reference: of the commands from their own help, of the Python names from docstrings.

Usage: python scripts/make_reference.py [--check]
"""

import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

from python_reference import pages as python_pages
from topicvec.cli.main import make_app

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
HEAD = """# The command line

Made from the commands' own help by `scripts/make_reference.py`.

Exit codes: 0 done, 1 found nothing, 2 bad input, 130 interrupted. Errors are one line;
`--debug` shows the traceback.
"""


def commands(command: Any, path: str) -> list[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        return [(path, command)]
    found = sorted(pair for pair in command.commands.items() if not pair[1].hidden)
    return [pair for name, child in found for pair in commands(child, f"{path} {name}")]


def row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = f"`{(parameter.metavar or parameter.name).upper()}`"
    default = (
        "" if parameter.default in (None, False, ()) or parameter.required else parameter.default
    )
    return f"| {names} | {parameter.help or ''} | {f'`{default}`' if default != '' else ''} |"


def section(path: str, command: Any) -> str:
    rows = [row(p) for p in command.params if p.name not in ("help", "version")]
    text = "\n".join(line.strip() for line in (command.help or "").splitlines())
    example = text.split("Example: ")
    shown = (
        f"{example[0].strip()}\n\n```text\n{example[1].strip()}\n```" if len(example) > 1 else text
    )
    table = "\n".join(["| option | meaning | default |", "|---|---|---|", *rows])
    return f"## {path}\n\n{shown}\n\n{table}\n"


def page() -> str:
    tree = get_command(make_app())
    return "\n".join([HEAD, *(section(*pair) for pair in commands(tree, "topicvec"))])


def written() -> dict[Path, str]:
    made = {FOLDER / "command-line.md": page()}
    return made | {FOLDER / "python" / name: text for name, text in python_pages().items()}


def main() -> int:
    pages = written()
    there = {path for path in (FOLDER / "python").glob("*.md") if path not in pages}
    if "--check" in sys.argv:
        old = [p for p, text in pages.items() if not p.is_file() or p.read_text("utf-8") != text]
        for path in [*old, *there]:
            print(f"{path} is out of date: run python scripts/make_reference.py")
        return 1 if old or there else 0
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in there:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run the tests with the lowest versions that pyproject.toml allows.

Each ``name>=version`` of the dependencies and of the extra ``test`` becomes ``name==version``;
what these packages need themselves is the newest that fits. The environment is ``.venv-lowest``,
of the lowest Python, for which the old versions have wheels. All of ``tests`` runs but the
browser's; the examples in docstrings do not, as numbers print otherwise with NumPy 1.

Usage: python scripts/lowest.py [arguments of pytest]
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv-lowest"
EXTRA = "test"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\w.]+)(?P<marker>\s*;.*)?")
OWN_EXTRAS = re.compile(r"topicvec\[(?P<extras>[\w,]+)\]")


def requirements(project: dict[str, Any], listed: list[str]) -> Iterator[str]:
    """Yield requirements, with those of our own extras in the place of their names."""
    for each in listed:
        if own := OWN_EXTRAS.fullmatch(each):
            for extra in own["extras"].split(","):
                yield from requirements(project, project["optional-dependencies"][extra])
        else:
            yield each


def pinned(requirement: str) -> str:
    match = REQUIREMENT.fullmatch(requirement)
    if match is None:
        sys.exit(f"pyproject.toml: expected name>=version, found {requirement}")
    return f"{match['name']}=={match['version']}{match['marker'] or ''}"


def constraints(project: dict[str, Any]) -> list[str]:
    listed = [*project["dependencies"], f"topicvec[{EXTRA}]"]
    return [pinned(each) for each in requirements(project, listed)]


def lowest_python(project: dict[str, Any]) -> str:
    """Find the Python of ``requires-python``."""
    version = project["requires-python"].removeprefix(">=")
    if ".".join(map(str, sys.version_info[:2])) == version:
        return getattr(sys, "_base_executable", sys.executable)
    found = shutil.which(f"python{version}")
    return found or sys.exit(f"the lowest versions need python{version}, which is not on the PATH")


def main(arguments: list[str]) -> int:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = constraints(settings["project"])
    python = str(VENV / "bin" / "python")
    pins_file = VENV / "constraints.txt"
    if not Path(python).exists():
        subprocess.run([lowest_python(settings["project"]), "-m", "venv", str(VENV)], check=True)
    pins_file.write_text("\n".join([*pins, ""]), encoding="utf-8")
    install = ["install", "--quiet", "-c", str(pins_file), "-e", f"{ROOT}[{EXTRA}]"]
    subprocess.run([python, "-m", "pip", *install], check=True)
    print("lowest:", ", ".join(pins), flush=True)
    # Compiled code of another version of numba would be thrown away each time.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(VENV / "numba")}
    tests = [python, "-m", "pytest", "-p", "no:cacheprovider", *(arguments or ["tests"])]
    return subprocess.run(tests, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run the tests with the lowest versions that pyproject.toml allows, or with the newest.

Each ``name>=version`` of the dependencies and of the extra ``test`` becomes ``name==version``;
what these packages need themselves is the newest that fits. The environment is ``.venv-lowest``,
of the lowest Python, for which the old versions have wheels. All of ``tests`` runs but the
browser's; the examples in docstrings do not, as numbers print otherwise with NumPy 1.

With ``--newest`` it is the newest Python on this machine, up to 3.14, with the newest packages
that have wheels for it, in ``.venv-newest``; the quick tests of text and of the model's core run.

Usage: python scripts/lowest.py [--newest] [arguments of pytest]
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
LOWEST, NEWEST = ROOT / ".venv-lowest", ROOT / ".venv-newest"
PYTHONS = ("3.14", "3.13", "3.12", "3.11")  # the newest first
NEWEST_TESTS = ["-m", "not slow", "tests/text", "tests/model/core", "tests/trust/test_portable.py"]
# Left out: memory that ends and sockets that are forbidden, of which old packages make their own.
LOWEST_TESTS = [
    "tests",
    *(f"--ignore=tests/trust/test_{name}.py" for name in ("faults", "no_network")),
]
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


def newest_python() -> str:
    """Find the newest Python that starts: a name on the PATH may be there for none."""
    for version in PYTHONS:
        name = f"python{version}"
        kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
        for found in filter(None, [shutil.which(name), *map(str, kept)]):
            if subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
                return found
    return sys.executable


def prepare(venv: Path, base: str, pins: list[str]) -> None:
    """Make the environment, with exactly these versions where there are any."""
    python, pins_file = str(venv / "bin" / "python"), venv / "constraints.txt"
    if not Path(python).exists():
        subprocess.run([base, "-m", "venv", str(venv)], check=True)
    pins_file.write_text("\n".join([*pins, ""]), encoding="utf-8")
    how = ["-c", str(pins_file)] if pins else ["--upgrade", "--upgrade-strategy", "eager"]
    install = ["install", "--quiet", *how, "-e", f"{ROOT}[{EXTRA}]"]
    subprocess.run([python, "-m", "pip", *install], check=True)


def main(arguments: list[str]) -> int:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    newest = "--newest" in arguments
    pins = [] if newest else constraints(settings["project"])
    venv, tests = (NEWEST, NEWEST_TESTS) if newest else (LOWEST, LOWEST_TESTS)
    prepare(venv, newest_python() if newest else lowest_python(settings["project"]), pins)
    python = str(venv / "bin" / "python")
    version = [python, "-c", "import sys; print(sys.version.split()[0])"]
    found = subprocess.run(version, check=True, capture_output=True, text=True).stdout.strip()
    print(f"{venv.name}: Python {found}", *pins, sep=", ", flush=True)
    # Compiled code of another version of numba would be thrown away each time.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(venv / "numba")}
    given = [each for each in arguments if each != "--newest"]
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *(given or tests)]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Change the code in small ways and see whether the tests notice.

    python scripts/mutants.py --n 200 --seed 0 --record benchmarks/results/mutants.json

Mutants are drawn evenly from all places in model/ and embed/ where a comparison, a sum, a number,
a condition or a statement can be changed. First the tests run once, and what each of them calls
is written down; then each mutant meets the tests that call its function, quickest first, and the
examples in its docstrings. A mutant is caught if one fails, or takes far longer than it did. With
``--near`` it meets the test files that name its function or its file instead, which takes no run of
all tests before; what these miss others may catch. A record goes on where it was broken off.
Mutants that change nothing anyone could see are told apart by hand, in ``EQUIVALENT``.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("embed", "model")  # in this order their helpers do not hide each other
CALLS = "mutants-calls.json"  # in the copy; kept by --calls for the next time
MOST_TESTS, MOST_SECONDS = 400, 120.0  # for one mutant
MOST_FILES = 8  # with --near

# file, function and change of those that no test could catch, and why
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("topicvec/embed/counting.py", "", "50_000 → 50001"): "when work is kept, not what it gives",
    ("topicvec/embed/association.py", "", "512 → 513"): "rows at a time, for speed",
    (
        "topicvec/embed/cooccurrence.py",
        "_renumbered",
        "moved.sort_indices() → pass",
    ): "scipy has sorted them when it summed up duplicates",
    ("topicvec/embed/encode.py", "_digest", "8 → 9"): "the length of a key",
    ("topicvec/model/words.py", "learn_more_words", "True → False"): "lists of one record",
    ("topicvec/embed/eigen.py", "_Clearing.__init__", "2.0 → 3.0"): "only how fast it converges",
    ("topicvec/embed/eigen.py", "", "40 → 41"): "its only caller gives the number",
    ("topicvec/embed/kernels.py", "multiply_rows", "64 → 65"): "columns at a time, for speed",
    ("topicvec/embed/psdvec.py", "PSDVec", "32 → 33"): "memory before files are used, same counts",
    ("topicvec/embed/encode.py", "encode_chunks", "2 → 3"): "when processes start, for speed",
    ("topicvec/embed/counting.py", "_ranges", "62 → 63"): "63 bits have room too",
    (
        "topicvec/embed/vectors.py",
        "_checked_unigram",
        "abs(total - 1) < 1e-9 → (abs(total - 1) <= 1e-09)",
    ): "no sum is as far from 1 as this, to the bit, but by chance",
    ("topicvec/model/fit.py", "_side_by_side", "True → False"): "lists of one length",
    ("topicvec/model/combine.py", "_groups", "True → False"): "lists of one length",
    (
        "topicvec/model/estep.py",
        "_likelihood",
        "0.0 → 1.0",
    ): "not looked at without own words",
    ("topicvec/embed/kernels.py", "compiled", "True → False"): "how it is compiled, for speed",
    ("topicvec/embed/newwords.py", "new_word_vectors", "1 → 2"): "words at a time, for speed",
    (
        "topicvec/model/start.py",
        "first_topics",
        "getattr(engine, \"shares_memory\", False) → (not getattr(engine, 'shares_memory', False))",
    ): "where the work is done, not what it gives",
    (
        "topicvec/embed/eigen.py",
        "_begin",
        "start[:, :n_given] * np.float32(rows.n**0.5) → "
        "(start[:, :n_given] / np.float32(rows.n ** 0.5))",
    ): "their lengths, before columns are made orthonormal",
    ("topicvec/embed/counting.py", "", "26 → 27"): "tokens at a time, the same counts",
    ("topicvec/embed/eigen.py", "top_eigenpairs", "12 → 13"): "only how fast it converges",
    ("topicvec/embed/eigen.py", "top_eigenpairs", "1 → 2"): "only how fast it converges",
    ("topicvec/embed/eigen.py", "", "60 → 61"): "only how fast it converges",
    (
        "topicvec/model/mstep.py",
        "m_step",
        "stats.drawn > _LEAST_MASS → (stats.drawn >= _LEAST_MASS)",
    ): "no mass is just this, but by chance",
    ("topicvec/model/tables.py", "html_table", "1.0 → 2.0"): "of no topics, which have no rows",
}

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of one place."""

    file: str
    function: str  # qualified name, "" for the module
    line: int
    start: int  # offsets in the source
    end: int
    new: str
    change: str

    def apply(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]


class Finder(ast.NodeVisitor):
    """Lists the mutants of a file; messages, types and docstrings are left alone."""

    def __init__(self, path: Path, name: str) -> None:
        self.source, self.name, self.inside = path.read_text(encoding="utf-8"), name, [""]
        self.lines = [0]
        for line in self.source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.found: list[Mutant] = []
        self.visit(ast.parse(self.source))

    def _offset(self, line: int, column: int) -> int:  # ast counts bytes of UTF-8
        text = self.source[self.lines[line - 1] : self.lines[line]]
        return self.lines[line - 1] + len(text.encode()[:column].decode())

    def _add(self, node: Any, new: ast.AST | str) -> None:
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno, node.end_col_offset)
        text = new if isinstance(new, str) else f"({ast.unparse(new)})"
        old = " ".join(self.source[start:end].split())
        change = f"{old} → {' '.join(text.split())}"
        place = self.inside[-1]
        self.found.append(Mutant(self.name, place, node.lineno, start, end, text, change))

    def _enter(self, node: Any) -> None:
        self.inside.append(f"{self.inside[-1]}.{node.name}".lstrip("."))
        for child in node.body:
            self.visit(child)
        self.inside.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self._enter(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages are not changed; that an error is raised at all, is."""
        self._add(node, "pass")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave messages alone."""

    def visit_Expr(self, node: ast.Expr) -> None:
        called = isinstance(node.value, ast.Call)
        if called and "logger" not in ast.unparse(node) and "warn" not in ast.unparse(node):
            self._add(node, "pass")
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(node, "pass")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self._add(node.test, ast.UnaryOp(ast.Not(), node.test))
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._add(node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        other = COMPARED[type(node.ops[0])]()
        self._add(node, ast.Compare(node.left, [other, *node.ops[1:]], node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = COMPUTED.get(type(node.op))
        texts = any(isinstance(n, ast.JoinedStr) or _is_text(n) for n in (node.left, node.right))
        if other is not None and not texts:
            self._add(node, ast.BinOp(node.left, other(), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, ast.BoolOp(other, node.values))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add(node, str(not value))
        elif isinstance(value, (int, float)):
            self._add(node, repr(value + 1))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def all_mutants() -> list[Mutant]:
    paths = [p for f in FOLDERS for p in sorted((ROOT / "src" / "topicvec" / f).rglob("*.py"))]
    names = [path.relative_to(ROOT / "src").as_posix() for path in paths]
    return [m for path, name in zip(paths, names, strict=True) for m in Finder(path, name).found]


# What each test calls: this file is a plugin of pytest then.

_calls: dict[str, Any] = {}
_seen: set[tuple[str, str]] = set()


def _watch(frame: Any, event: str, _: Any) -> None:
    file = frame.f_code.co_filename.rpartition("/src/")[2]
    if event == "call" and file.startswith(tuple(f"topicvec/{name}/" for name in FOLDERS)):
        _seen.add((file, frame.f_code.co_qualname.replace(".<locals>", "")))


def pytest_runtest_protocol() -> None:
    import threading

    _seen.clear()
    sys.setprofile(_watch)
    threading.setprofile(_watch)


def pytest_runtest_logreport(report: Any) -> None:
    known = _calls.setdefault(report.nodeid, {"seconds": 0.0, "calls": []})
    known["seconds"] += report.duration
    known["good"] = known.get("good", True) and report.passed
    if report.when == "teardown":
        known["calls"] = sorted(_seen)


def pytest_sessionfinish() -> None:
    sys.setprofile(None)
    Path(CALLS).write_text(json.dumps(_calls), encoding="utf-8")


class Bench:
    """A copy of the project, in which mutants live."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("fuzz"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        paths = [str(folder / "src"), str(folder)]
        self.environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }  # fmt: skip

    def tests(self, *arguments: str, timeout: float | None = None) -> tuple[bool, str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=self.environment, timeout=timeout,
                capture_output=True, text=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False, "took too long"
        assert "ERROR: not found" not in done.stderr + done.stdout, "--calls is of other tests"
        return done.returncode in (0, 5), done.stdout[-400:]  # 5: there was none

    def calls(self, kept: Path | None) -> dict[tuple[str, str], list[tuple[float, str]]]:
        """Run the tests once and give for each function those that call it."""
        if kept is None or not kept.exists():
            shutil.copy(__file__, self.folder / "mutants.py")
            self.tests("-p", "mutants", *(f"tests/{name}" for name in FOLDERS))
            kept = Path(shutil.copy(self.folder / CALLS, kept or self.folder / "calls.json"))
        found = defaultdict(list)
        known = json.loads(kept.read_text(encoding="utf-8"))
        for test, about in known.items():
            for file, function in about["calls"] if about["good"] else ():  # not one that fails
                found[file, function].append((about["seconds"], test))
        return found

    def near(self, mutant: Mutant) -> list[str]:
        """List the test files that name a mutant's function, its class or its file."""
        path = Path(mutant.file)
        names = {path.stem, *mutant.function.split(".")} - {"", "__init__"}
        folders = [self.folder / "tests" / name for name in FOLDERS]
        files = [file for folder in folders for file in sorted(folder.rglob("test_*.py"))]
        own = [file for file in files if file.stem == f"test_{path.stem}"]
        found = [
            file for file in files
            if names & set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
            and file.parts[len(self.folder.parts) + 1] == path.parts[1]
        ]  # fmt: skip
        return [str(file) for file in dict.fromkeys([*own, *found])][:MOST_FILES]

    def meet(
        self, mutant: Mutant, calls: dict[tuple[str, str], list[tuple[float, str]]] | None
    ) -> str:
        """Give what caught a mutant, "" for nothing."""
        path = self.folder / "src" / mutant.file
        source = path.read_text(encoding="utf-8")
        path.write_text(mutant.apply(source), encoding="utf-8")
        try:
            if not self.tests("-x", f"src/{mutant.file}", timeout=120)[0]:
                return "its examples"
            if calls is None:
                files = self.near(mutant)
                good, output = self.tests("-x", *files, timeout=900) if files else (True, "")
                return "" if good else (output.strip().splitlines() or ["a test"])[-1][:200]
            chosen = list(_chosen(mutant, calls))
            seconds = sum(each for each, _ in chosen)
            names = sorted(test for _, test in chosen)
            good, output = (
                self.tests("-x", *names, timeout=120 + 6 * seconds) if names else (True, "")
            )
            return "" if good else (output.strip().splitlines() or ["a test"])[-1][:200]
        finally:
            path.write_text(source, encoding="utf-8")


def _chosen(
    mutant: Mutant, calls: dict[tuple[str, str], list[tuple[float, str]]]
) -> Iterator[tuple[float, str]]:
    """Choose the tests that call a function; compiled ones and modules are not seen in a call."""
    found = calls.get((mutant.file, mutant.function), [])
    if not found:
        found = [
            test for (file, _), tests in calls.items() if file == mutant.file for test in tests
        ]
        if not found or mutant.file.endswith("kernels.py"):
            package = "/".join(mutant.file.split("/")[:2])
            found = [
                t for (file, _), tests in calls.items() if file.startswith(package) for t in tests
            ]
    total = 0.0
    for seconds, test in sorted(set(found))[:MOST_TESTS]:
        total += seconds
        if total > MOST_SECONDS:
            return
        yield seconds, test


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="pass over so many of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--calls", type=Path, help="where what the tests call is kept")
    parser.add_argument("--near", action="store_true", help="only tests that name the function")
    given = parser.parse_args()
    everything = all_mutants()
    drawn = Random(given.seed).sample(everything, given.n)
    results = _earlier(given, len(everything))
    with tempfile.TemporaryDirectory(prefix="topicvec-mutants-") as folder:
        bench = Bench(Path(folder))
        calls = None if given.near else bench.calls(given.calls)
        for number, mutant in enumerate(drawn, 1):
            if number <= given.first or str(number) in results:
                continue
            start = time.monotonic()
            by = bench.meet(mutant, calls)
            reason = EQUIVALENT.get((mutant.file, mutant.function, mutant.change), "")
            results[str(number)] = {
                "file": mutant.file, "function": mutant.function, "line": mutant.line,
                "change": mutant.change, "caught by": by, "equivalent": reason,
            }  # fmt: skip
            sign = "caught" if by else "equivalent" if reason else "SURVIVES"
            where = f"{mutant.file}:{mutant.line} {mutant.function}"
            print(
                f"{number} {sign} {where}: {mutant.change} ({time.monotonic() - start:.0f} s)",
                flush=True,
            )
            if given.record:
                record(given, results, len(everything))
    return 0


def _earlier(given: argparse.Namespace, n_all: int) -> dict[str, dict[str, Any]]:
    """Read what an earlier run has found, if it drew from the same places."""
    if given.record is None or not given.record.exists():
        return {}
    known = json.loads(given.record.read_text(encoding="utf-8"))
    same = (known["places"], known["seed"], known["n"]) == (n_all, given.seed, given.n)
    return dict(known["mutants"]) if same else {}


def record(given: argparse.Namespace, results: dict[str, dict[str, Any]], n_all: int) -> None:
    for each in results.values():  # a reason may have been found since
        each["equivalent"] = EQUIVALENT.get((each["file"], each["function"], each["change"]), "")
    caught = sum(bool(each["caught by"]) for each in results.values())
    equivalent = sum(
        bool(each["equivalent"]) and not each["caught by"] for each in results.values()
    )
    summary = {
        "places": n_all, "seed": given.seed, "n": given.n, "run": len(results), "caught": caught,
        "equivalent": equivalent, "survive": len(results) - caught - equivalent,
        "mutants": results,
    }  # fmt: skip
    given.record.write_text(
        json.dumps(summary, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())

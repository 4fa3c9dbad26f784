"""What is left of files when a command is killed, when a call fails, and when a byte changes.

    python benchmarks/faults.py kills faults flips

``kills``: kill -9 at 500 moments over all commands that write: half of them at any time, half in
the midst of a call that opens, syncs or renames a file. The output must be the old file or the
new one, and the next run must leave nothing but its output. ``faults``: every open, rename, fsync
and lock of each command fails once, writing fails at many sizes of the file (the limit of the
system, so in any library), and memory ends at many sizes. The output must be the old or the new
file, with nothing beside it, and the error one line. ``flips``: every byte of every kind of file
is changed; none may be accepted. Each part writes its key of ``results/trust.json``. For POSIX.
"""

import argparse
import contextlib
import errno
import fcntl
import hashlib
import importlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from topicvec import DocumentIndex, TopicClassifier, TopicVec, load_vectors
from topicvec.cli import classify, explain, fitting, pages, pictures, search, topics, vectors
from topicvec.cli import main as command_line
from topicvec.embed.cooccurrence import Cooccurrence, WindowSettings
from topicvec.embed.counting import count_corpus
from topicvec.errors import TopicVecError
from topicvec.explore import report

RESULTS = Path(__file__).parent / "results" / "trust.json"
LOADED = (classify, explain, fitting, pages, pictures, search, topics, vectors, report)
WORDS = ["cat", "dog", "moon", "star", "tree", "leaf", "car", "bus", "road", "rail", "ship", "sail"]
IMPORTED = (
    "rich.console", "rich.table", "sklearn.svm", "sklearn.linear_model", "sklearn.model_selection",
    "pyarrow.parquet", "jinja2", "topicvec.embed.kernels", "topicvec.model.kernels", "numba",
    "topicvec.represent.kernels", "topicvec.text.tables", "scipy.special", "pydantic_core",
)  # fmt: skip
SECONDS = 60.0  # after which a run hangs


class Case(NamedTuple):
    """A command that writes a file: how the old file and the new one are made."""

    name: str
    output: str
    old: list[str]  # nothing if there is no old file
    new: list[str]


class End(NamedTuple):
    """How a run ended: its code, negative for a signal, what it said, and its seconds."""

    code: int
    said: str
    seconds: float


def cases() -> list[Case]:
    """All commands that write, on the same small corpus."""
    read = ["t.jsonl", "--vectors", "v.safetensors"]
    trained = ["vectors", "train", "t.jsonl", "--words", "12", "--min-count", "1", "--smoothing"]
    added = ["vectors", "add", "v.safetensors", "u.jsonl", "--min-count", "1"]
    converted = ["vectors", "convert", "v.safetensors"]

    def made(name: str, output: str, *arguments: str, old: list[str], new: list[str]) -> Case:
        to = [] if "index" in name or "page" in name else ["-o", output]
        return Case(name, output, [*arguments, *old, *to], [*arguments, *new, *to])

    def seeded(name: str, output: str, *arguments: str) -> Case:
        return made(name, output, *arguments, old=["--seed", "1"], new=["--seed", "2"])

    def of_text(name: str, output: str, *arguments: str) -> Case:
        return made(name, output, *arguments, old=["t.jsonl"], new=["u.jsonl"])

    def of_model(name: str, output: str, *arguments: str) -> Case:
        return made(name, output, *arguments, old=["m.topicvec"], new=["n.topicvec"])

    page = ["topics", *read, "-k", "2", "--page", "o.html"]
    added_to = ["prepare", "t.jsonl", "-o", "corpus"]
    return [
        seeded("fit", "fit.topicvec", "fit", *read, "-k", "2"),
        seeded("fit, prepared", "q.topicvec", "fit", "r", *read[1:], "-k", "2"),
        Case("prepare", "corpus/card.json", [], added_to),
        Case("prepare, more", "corpus/card.json", added_to, [*added_to, "u.jsonl"]),
        seeded("topics, page", "o.html", *page),
        made("relabel", "l.topicvec", "relabel", "m.topicvec", old=["1=a"], new=["1=b"]),
        made("merge", "g.topicvec", "merge", "w.topicvec", old=["1,2"], new=["2,3"]),
        seeded("fit, checkpoint", "f.topicvec", "fit", *read, "-k", "2", "--checkpoint", "c.part"),
        seeded("classify train", "c.topicvec", "classify", "train", *read, "--held-out", "0"),
        of_text("classify predict", "p.csv", "classify", "predict", "k.topicvec"),
        *(
            of_text(f"transform to {ending}", f"s.{ending}", "transform", "m.topicvec")
            for ending in ("csv", "jsonl", "npy", "parquet")
        ),
        of_text("search, index", "i.index", "search", "m.topicvec", "cat", "--index", "i.index"),
        of_text(
            "similar, index", "j.index", "similar", "m.topicvec", "--to", "cat dog", "--index",
            "j.index",
        ),
        of_text("report", "r.html", "report", "m.topicvec"),
        of_model("picture", "p.svg", "picture", "topic-map"),
        seeded("cloud", "c.svg", "cloud", *read, "-k", "2"),
        of_model("combine", "b.topicvec", "combine", "m.topicvec"),
        made("vectors train", "w.safetensors", *trained, old=["0.2"], new=["0.3"]),
        made(
            "vectors train, work", "y.safetensors", *trained,
            old=["0.2", "--work", "work"], new=["0.3", "--work", "work"],
        ),
        made("vectors add", "a.safetensors", *added, old=["--most", "1"], new=[]),
        made("vectors convert", "x.txt.gz", *converted, old=["--most", "5"], new=[]),
    ]  # fmt: skip


def prepare(folder: Path) -> None:
    """Make the corpus, vectors, models and a classifier that commands start from."""
    from topicvec import WordVectors

    rng = np.random.default_rng(0)
    for name, more in (("t.jsonl", []), ("u.jsonl", ["fish", "net"])):
        rows = []
        for number in range(40):
            own = rng.choice(WORDS[6 * (number % 2) :][:6], 30).tolist()
            text = " ".join([*own, *more])
            rows.append({"id": f"{name}{number}", "text": text, "label": "ab"[number % 2]})
        (folder / name).write_text("\n".join(map(json.dumps, rows)) + "\n")
    made = WordVectors(WORDS, rng.normal(size=(12, 6)), np.ones(12))
    made.save(folder / "v.safetensors")
    for name, seed in (("m", "3"), ("n", "4")):
        run(["fit", "t.jsonl", "--vectors", "v.safetensors", "-k", "2", "--seed", seed,
             "-o", f"{name}.topicvec"], folder)  # fmt: skip
    run(["fit", "t.jsonl", "--vectors", "v.safetensors", "-k", "4", "-o", "w.topicvec"], folder)
    run(["prepare", "t.jsonl", "-o", "r"], folder)
    arguments = ["--vectors", "v.safetensors", "--held-out", "0", "-o", "k.topicvec"]
    run(["classify", "train", "t.jsonl", *arguments], folder)


def run(
    arguments: list[str],
    folder: Path,
    first: Callable[[], object] = lambda: None,
    kill_after: float | None = None,
) -> End:
    """Run a command in a copy of this process, with ``first`` done there before it."""
    out, into = os.pipe()
    started = time.perf_counter()
    child = os.fork()
    if not child:
        os.close(out)
        os.dup2(into, 1)
        os.dup2(into, 2)
        _be_command(arguments, folder, first)
    os.close(into)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(out, "rb") as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return End(code, said.decode(errors="replace"), time.perf_counter() - started)


def _be_command(arguments: list[str], folder: Path, first: Callable[[], object]) -> None:
    code = 99
    try:
        os.chdir(folder)
        signal.alarm(int(SECONDS))
        warnings.simplefilter("ignore")
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), write_through=True)
        first()
        code = command_line.call(arguments)
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    os._exit(code)


def sha(path: Path) -> str:
    if not path.is_file():
        return "none"
    # a shard may stand under either of its two names
    content = path.read_bytes().replace(b"b.safetensors", b".safetensors")
    return hashlib.sha256(content).hexdigest()


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class Bench(NamedTuple):
    """A folder in which one command has written its old file, and what the new one is."""

    case: Case
    folder: Path
    old: str
    new: str
    after: list[str]  # names when the new file is written
    before: Path  # a copy of the folder with the old file
    seconds: float

    def reset(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self.before, self.folder)


@contextlib.contextmanager
def benches(only: list[str]) -> Iterator[list[Bench]]:
    """Prepare a folder for each command, or for those of some names."""
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        start = Path(place) / "start"
        start.mkdir()
        prepare(start)
        made = []
        wanted = [case for case in cases() if not only or case.name in only]
        for number, case in enumerate(wanted):
            folder, before = (Path(place) / f"{kind}{number}" for kind in ("run", "old"))
            shutil.copytree(start, before)
            told = run(case.old, before) if case.old else End(0, "", 0.0)
            if told.code:
                raise SystemExit(f"{case.name}: {told.said}")
            if "work" in case.name:
                shutil.rmtree(before / "work")
            (before / "c.part").unlink(missing_ok=True)  # of the other seed
            shutil.copytree(before, folder)
            done = run(case.new, folder)
            old, new = sha(before / case.output), sha(folder / case.output)
            if done.code or old == new:
                raise SystemExit(f"{case.name}: {done}, {old == new}")
            bench = Bench(case, folder, old, new, listing(folder), before, done.seconds)
            bench.reset()
            made.append(bench)
        yield made


def kills(most: int, only: list[str]) -> dict[str, Any]:
    """Kill commands at many moments."""
    rng, losses, litter, seen = random.Random(0), [], [], Counter[str]()
    with benches(only) as all_of_them:
        for number in range(most):
            bench = all_of_them[number % len(all_of_them)]
            bench.reset()
            if number // len(all_of_them) % 2:
                place = rng.randrange(1, 30)
                end = run(bench.case.new, bench.folder, lambda n=place: die_at(n))
            else:
                moment = rng.uniform(0, bench.seconds)
                end = run(bench.case.new, bench.folder, kill_after=moment)
            found = sha(bench.folder / bench.case.output)
            kind = {bench.old: "old", bench.new: "new"}.get(found, "lost")
            seen[f"{'killed' if end.code == -9 else 'done'}, {kind} file"] += 1
            if kind == "lost":
                losses.append(bench.case.name)
            again = run(bench.case.new, bench.folder)
            if again.code or sha(bench.folder / bench.case.output) != bench.new:
                losses.append(f"{bench.case.name}, next run: {again.said}")
            elif listing(bench.folder) != bench.after:
                litter.append(f"{bench.case.name}: {set(listing(bench.folder)) ^ set(bench.after)}")
    return {"kills": most, "ends": dict(seen), "losses": losses, "litter": litter}


def hooked(act: Callable[[str, str], None]) -> None:
    """Have a function called before each open, rename, fsync and lock; it may raise or kill."""

    def hook(kind: str, owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def called(*arguments: Any, **options: Any) -> Any:
            act(kind, str(arguments[0] if arguments else ""))
            return real(*arguments, **options)

        setattr(owner, name, called)

    for kind, owner, name in (
        ("open", io, "open"), ("open", os, "open"), ("rename", os, "replace"),
        ("rename", os, "rename"), ("fsync", os, "fsync"), ("lock", fcntl, "flock"),
    ):  # fmt: skip
        hook(kind, owner, name)


def die_at(place: int) -> None:
    """Die at the n-th call that touches a file of the folder."""
    left, here = [place], str(Path.cwd())

    def act(kind: str, path: str) -> None:
        if kind != "open" or ours(path, here):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    hooked(act)


def ours(path: str, here: str) -> bool:
    return path.startswith(here) or not path.startswith("/")


def fail_at(wanted: str, place: int, heard: int) -> None:
    """Let the n-th call of a kind fail, and tell through a pipe that it came to that."""
    left, here = [place], str(Path.cwd())

    def act(kind: str, path: str) -> None:
        if kind == wanted and (kind != "open" or ours(path, here)):
            left[0] -= 1
            if not left[0]:
                os.write(heard, b"!")
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    hooked(act)


def faults(most: int, only: list[str]) -> dict[str, Any]:
    """Let each call fail once, each write at many sizes, and the memory end at many sizes."""
    counts, wrong = Counter[str](), []
    with benches(only) as all_of_them:
        for bench in all_of_them:
            for kind in ("open", "rename", "fsync", "lock"):
                for place in range(1, most + 1):
                    heard, telling = os.pipe()
                    wrong += tried(bench, kind, lambda k=kind, n=place, t=telling: fail_at(k, n, t))
                    os.close(telling)
                    reached = os.read(heard, 1)
                    os.close(heard)
                    if not reached:
                        break
                    counts[kind] += 1
            size = (bench.folder / bench.case.output).stat().st_size
            for step in range(min(most, 12)):
                wrong += tried(bench, "write", lambda n=size * step // 12: limit_files(n))
                counts["write"] += 1
            for step in range(min(most, 12)):
                wrong += tried(bench, "memory", lambda n=step: limit_memory((n + 1) * 30_000_000))
                counts["memory"] += 1
    return {"faults": dict(counts), "in all": sum(counts.values()), "wrong": wrong}


def limit_files(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def limit_memory(more: int) -> None:
    """Leave so many bytes of room, when all that a command imports is there."""
    for name in IMPORTED:
        importlib.import_module(name)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def tried(bench: Bench, kind: str, first: Callable[[], object]) -> list[str]:
    """Run with a fault; give what is wrong with how it ended."""
    bench.reset()
    names = listing(bench.folder)
    end = run(bench.case.new, bench.folder, first)
    found = sha(bench.folder / bench.case.output)
    left = set(listing(bench.folder)) - {*names, *bench.after}
    faulty = {
        "the file is lost": found not in (bench.old, bench.new),
        "no new file": end.code == 0 and found != bench.new,
        f"left: {left}": {name for name in left if not name.startswith("work")},
        f"ended with {end.code}: {end.said[-300:]}": end.code not in (0, 2),
        f"said: {end.said[-300:]}": end.code == 2 and not _clear(end.said),
    }
    return [f"{bench.case.name}, {kind}: {what}" for what, is_wrong in faulty.items() if is_wrong]


def _clear(said: str) -> bool:
    """Say whether the end of what was said is one line that says what is wrong."""
    complaints = [line for line in said.splitlines() if line.startswith("topicvec: ")]
    return len(complaints) == 1 and "Traceback" not in said and len(complaints[0]) > 30


def flips(most: int, only: list[str]) -> dict[str, Any]:
    """Change every byte of each kind of file; ``most`` limits how many of each."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        folder = Path(place)
        prepare(folder)
        texts = [json.loads(line)["text"] for line in (folder / "t.jsonl").read_text().splitlines()]
        model = TopicVec.load(folder / "m.topicvec")
        DocumentIndex.build(model, texts[:8]).save(folder / "i.index")
        count_corpus(texts, WindowSettings(2)).save(folder / "counts")
        plain = TopicVec(2, model.vectors_, random_state=0, max_iter=3)
        checkpoint = folder / "checkpoint"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain.fit(texts, checkpoint=checkpoint)
            kinds: dict[str, Callable[[Path], object]] = {
                "m.topicvec": TopicVec.load,
                "k.topicvec": TopicClassifier.load,
                "i.index": lambda path: DocumentIndex.load(path, model),
                "v.safetensors": load_vectors,
                "counts": Cooccurrence.load,
                "checkpoint": lambda p: plain.__sklearn_clone__().fit(texts, checkpoint=p),
            }
            for name in only or kinds:
                found[name] = _flipped(folder / name, kinds[name], most)
    return found


def _flipped(path: Path, load: Callable[[Path], object], most: int) -> dict[str, Any]:
    whole, ends = path.read_bytes(), Counter[str]()
    load(path)
    for place in range(0, len(whole), max(1, len(whole) // most)):
        for bits in (0x01, 0x29, 0xFF):
            damaged = bytearray(whole)
            damaged[place] ^= bits
            path.write_bytes(damaged)
            try:
                load(path)
                ends["accepted"] += 1
            except TopicVecError:
                ends["refused"] += 1
            except Exception as error:
                ends[f"foreign {type(error).__name__}"] += 1
    path.write_bytes(whole)
    return {"bytes": len(whole), **ends}


PARTS = {"kills": (kills, 500), "faults": (faults, 200), "flips": (flips, 1_000_000)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--most", type=int, help="kills, faults of a kind, or bytes of a file")
    parser.add_argument("--only", nargs="*", default=[], help="names of commands, or of files")
    parser.add_argument("--save", action=argparse.BooleanOptionalAction, default=True)
    asked = parser.parse_args()
    bad = 0
    for name in asked.parts:
        part, usual = PARTS[name]
        started = time.perf_counter()
        value = part(asked.most or usual, asked.only)
        value["seconds"] = round(time.perf_counter() - started)
        print(json.dumps({name: value}, indent=2), flush=True)
        bad += sum(len(value.get(key, [])) for key in ("losses", "litter", "wrong"))
        bad += any(
            set(each) - {"bytes", "refused"}
            for each in value.values()
            if isinstance(each, dict) and "bytes" in each
        )
        if asked.save:
            old = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            RESULTS.write_text(json.dumps({**old, name: value}, indent=2) + "\n")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())

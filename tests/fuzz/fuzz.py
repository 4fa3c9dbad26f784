"""Try changed inputs on every way into the library, guided by the lines that they reach.

    python tests/fuzz/fuzz.py --seconds 120               # what `make fuzz-short` does
    python tests/fuzz/fuzz.py --seconds 36000 --processes 2 --record findings.jsonl

Each input runs in a child process, so that a crash is seen. An input fails if it

- ends the process (SIGSEGV, abort);
- takes more than a second of processor time, or a minute on the clock;
- raises anything that the command line does not turn into one line: no TopicVecError or OSError;
- makes the process reserve more than twenty times the input and 64 MB.

Every 128th input runs traced; if it reaches new lines of topicvec, it is changed further.
"""

import os

os.environ.update(
    OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1", MALLOC_ARENA_MAX="1",
    ARROW_DEFAULT_MEMORY_POOL="system",
)  # fmt: skip

import argparse
import base64
import ctypes
import gc
import json
import mmap
import pickle
import resource
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
import zlib
from collections import Counter
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from mutations import LARGEST
from targets import FOLDER, TARGETS

from topicvec.errors import TopicVecError

FINDINGS = Path(__file__).with_name("findings.jsonl")
TRACED = 128
CONSTANT, TIMES = 64 << 20, 20  # bytes that an input may reserve, and times its own
LONGEST = 1.0  # seconds of processor time
STUCK = 60.0  # seconds on the clock after which a child is ended
KEPT = 300  # inputs of a target that are changed further
HEAD = 16  # bytes before the input in the shared memory
Finding = tuple[str, str, bytes]  # target, what went wrong, input


def attempt(name: str, data: bytes) -> str:
    """Run one input and say what is wrong with it, "" for nothing."""
    before = time.process_time()
    try:
        TARGETS[name].act(data)
    except Exception as error:  # a MemoryError too: the memory is limited
        if not isinstance(error, (TopicVecError, OSError)):
            return _described(error)
    seconds = time.process_time() - before
    return "takes more than a second" if seconds > LONGEST else ""


def _described(error: Exception) -> str:
    """Give the error and its place, which are the same for the same fault."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "topicvec/" in f.filename and "/fuzz/" not in f.filename]
    last = (ours or frames)[-1]
    at = f"{Path(last.filename).name}:{last.name}"
    what = str(error) if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} in {at} {what[:60]}".strip()


def limit_memory(size: int) -> None:
    """Let the process reserve so many bytes more than it has."""
    pages = Path("/proc/self/status").read_text(encoding="ascii")
    used = int(pages.partition("VmData:")[2].split()[0]) << 10
    resource.setrlimit(resource.RLIMIT_DATA, (used + size, resource.RLIM_INFINITY))


class Corpus:
    """Inputs that reached something new, for each target, and the lines that were reached."""

    def __init__(self) -> None:
        self.inputs = {name: list(target.seeds()) for name, target in TARGETS.items()}
        self.lines: set[tuple[str, Any, int]] = set()

    def add(self, name: str, data: bytes) -> None:
        if len(data) <= 1 << 16:
            known = self.inputs[name]
            n_seeds = 2
            if len(known) >= KEPT:
                known.pop(n_seeds)
            known.append(data)


def trace(name: str, data: bytes, lines: set[tuple[str, Any, int]]) -> int:
    """Run one input and count the lines that no input had reached."""
    before = len(lines)

    def local(frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            lines.add((name, frame.f_code.co_name, frame.f_lineno))
        return local

    def enter(frame: Any, event: str, arg: Any) -> Any:
        return local if "topicvec/" in frame.f_code.co_filename else None

    sys.settrace(enter)
    try:
        TARGETS[name].act(data)
    except Exception:  # it is told by the run without tracing
        return 0
    finally:
        sys.settrace(None)
    return len(lines) - before


def child(seed: str, corpus: Corpus, name: str, shared: mmap.mmap, pipe: int) -> None:
    """Run many inputs of a target; the one that runs is in the shared memory."""
    rng, found, fresh = Random(seed), [], []
    known = corpus.inputs[name]
    limit_memory(CONSTANT)
    for number in range(TARGETS[name].many):
        start = known[0] if rng.random() < 0.3 else rng.choice(known)
        data = TARGETS[name].mutate(start, rng, known)
        _show(shared, number, data)
        if number % TRACED == 0 and trace(name, data, corpus.lines):
            corpus.add(name, data)
            fresh.append(data)
        wrong = attempt(name, data)
        if wrong:
            found.append((wrong, data))
        if number % 500 == 0:
            gc.collect()
    with os.fdopen(pipe, "wb") as out:
        pickle.dump((found, fresh, corpus.lines), out)


def _show(shared: mmap.mmap, number: int, data: bytes) -> None:
    shared[:HEAD] = number.to_bytes(8, "little") + len(data).to_bytes(8, "little")
    shared[HEAD : HEAD + len(data)] = data


def _shown(shared: mmap.mmap) -> tuple[int, bytes]:
    number, size = (int.from_bytes(shared[i : i + 8], "little") for i in (0, 8))
    return number, shared[HEAD : HEAD + size]


class Fuzzer:
    """Starts children one after the other and collects what they find."""

    def __init__(self, seed: int) -> None:
        self.seed, self.corpus = seed, Corpus()
        self.counts: Counter[str] = Counter()
        self.found: dict[tuple[str, str], bytes] = {}
        self.times: Counter[tuple[str, str]] = Counter()
        self.shared = mmap.mmap(-1, HEAD + LARGEST + (1 << 12))
        self.batch = 0

    def run(self, name: str) -> None:
        """Run many inputs of a target."""
        self.batch += 1
        self.shared[:HEAD] = bytes(HEAD)
        reading, writing = os.pipe()
        gc.collect()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _quietly(f"{self.seed} {self.batch}", self.corpus, name, self.shared, writing)
        os.close(writing)
        answer: list[bytes] = []
        with os.fdopen(reading, "rb") as pipe:
            thread = threading.Thread(target=lambda: answer.append(pipe.read()))
            thread.start()
            ending = self._wait(pid)
            thread.join()
        self._take(name, ending, answer[0])

    def _wait(self, pid: int) -> str:
        """Wait for a child; say how it ended, "" if well."""
        last, since = -1, time.monotonic()
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                assert code != 1, "the fuzzer itself failed, see above"
                return "" if code == 0 else _ended(code)
            number = _shown(self.shared)[0]
            if number != last:
                last, since = number, time.monotonic()
            elif time.monotonic() - since > STUCK:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return "hangs"
            time.sleep(0.02)

    def _take(self, name: str, ending: str, answer: bytes) -> None:
        if ending:
            number, data = _shown(self.shared)
            self.counts[name] += number + 1
            again = alone(name, data)
            self._keep(name, again or f"{ending}, but not alone", data)
            return
        found, fresh, self.corpus.lines = pickle.loads(answer)
        self.counts[name] += TARGETS[name].many
        for wrong, data in found:
            self._keep(name, wrong, data)
        for data in fresh:
            self.corpus.add(name, data)

    def _keep(self, name: str, wrong: str, data: bytes) -> None:
        self.times[name, wrong] += 1
        known = self.found.get((name, wrong))
        if known is None:
            print(f"{name}: {wrong} ({len(data)} bytes)", flush=True)
        if known is None or len(data) < len(known):
            self.found[name, wrong] = data


def _quietly(*arguments: Any) -> None:
    """Be the child: nothing but its answer leaves it."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with its parent
        child(*arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def warm_up() -> None:
    """Compile and load what valid inputs need, once for all children."""
    for name, target in TARGETS.items():
        for data in target.seeds():
            if name not in ("api", "parquet"):  # these start threads
                wrong = attempt(name, data)
                assert not wrong or "second" in wrong, f"{name}: the seed itself: {wrong}"


def pack(finding: Finding) -> str:
    name, wrong, data = finding
    text = base64.b85encode(zlib.compress(data, 9)).decode()
    return json.dumps({"target": name, "was": wrong, "input": text})


def unpack(line: str) -> Finding:
    found = json.loads(line)
    return found["target"], found["was"], zlib.decompress(base64.b85decode(found["input"]))


def alone(name: str, data: bytes) -> str:
    """Run one input in a process of its own and say what is wrong with it, "" for nothing."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(int(STUCK))
        limit_memory(CONSTANT + TIMES * len(data))
        os.write(writing, attempt(name, data).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return said if code == 0 else "hangs" if code == -signal.SIGALRM else _ended(code)


def _ended(code: int) -> str:
    return f"the process ended with {code}"


def replay(path: Path) -> int:
    """Run all kept findings; say how many are still wrong."""
    found = [unpack(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = 0
    for name, was, data in found:
        said = alone(name, data)
        wrong += said != ""
        if said:
            print(f"{name}: {said} (was: {was})", flush=True)
    return wrong


def report(fuzzer: Fuzzer, started: float, path: Path | None) -> None:
    total, seconds = fuzzer.counts.total(), time.monotonic() - started
    result = {
        "inputs": total, "seconds": round(seconds), "seed": fuzzer.seed,
        "lines reached": len({line[1:] for line in fuzzer.corpus.lines}),
        "of each": dict(fuzzer.counts),
        "findings": {f"{name}: {wrong}": n for (name, wrong), n in fuzzer.times.items()},
    }  # fmt: skip
    if path is not None:
        lines = [pack((name, wrong, data)) for (name, wrong), data in fuzzer.found.items()]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        path.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--targets", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--record", type=Path, help="where findings go, and counts beside them")
    parser.add_argument("--replay", action="store_true", help="only run the kept findings")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    started = time.monotonic()
    warm_up()
    wrong = replay(FINDINGS)
    if given.replay:
        print(f"{wrong} of the kept findings are wrong again")
        return int(wrong > 0)
    fuzzer, shown = Fuzzer(given.seed), time.monotonic()
    for name in cycle(given.targets):
        if time.monotonic() - started > given.seconds:
            break
        fuzzer.run(name)
        if time.monotonic() - shown > 60:
            shown = time.monotonic()
            report(fuzzer, started, given.record)
    report(fuzzer, started, given.record)
    total = fuzzer.counts.total()
    print(f"{total:,} inputs, {len(fuzzer.found)} findings, seed {given.seed}")
    for name, n in sorted(fuzzer.counts.items()):
        print(f"{n:10,} {name}")
    return int(wrong > 0 or bool(fuzzer.found))


if __name__ == "__main__":
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)

"""Try changed inputs on every way into the library, guided by the lines that they reach.

    python tests/fuzz/fuzz.py --seconds 120               # what `make fuzz-short` does
    python tests/fuzz/fuzz.py --seconds 36000 --processes 2 --record findings.jsonl

Each input runs in a child process, so that a crash is seen. An input fails if it

- ends the process (SIGSEGV, abort);
- takes more than a second of processor time, again when it is tried alone, on a machine as quick
  as the one of the figures; on a slower one, or beside other work, in proportion more;
- raises anything that the command line does not turn into one line: no TopicVecError or OSError;
- makes the process reserve more than twenty times the input and 64 MB, again alone.

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
STUCK = 60.0  # seconds on the clock after which a child is ended, and its input tried alone
YARDSTICK = 0.05  # seconds of processor time that `slowness` took on the machine of the figures
KEPT, SMALL = 300, 1 << 12  # inputs of a target that are changed further; bytes of most of them
HEAD = 16  # bytes before the input in the shared memory
HANGS = "hangs"
LONG, MUCH = "takes more than a second", "takes more memory than it may"
Finding = tuple[str, str, bytes]  # target, what went wrong, input


def attempt(name: str, data: bytes) -> str:
    """Run one input and say what is wrong with it, "" for nothing."""
    before = time.process_time()
    try:
        TARGETS[name].act(data)
    except MemoryError:  # the memory is limited
        return MUCH
    except Exception as error:
        if not isinstance(error, (TopicVecError, OSError)):
            return _described(error)
    seconds = time.process_time() - before
    return LONG if seconds > LONGEST and seconds > LONGEST * slowness() else ""


def slowness() -> float:
    """Say how many times as long as on the machine of the figures the same work takes now."""
    before = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number & 7
    return max(1.0, (time.process_time() - before) / YARDSTICK)


def _described(error: Exception) -> str:
    """Give the error and its place, which are the same for the same fault."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "topicvec/" in f.filename and "/fuzz/" not in f.filename]
    last = (ours or frames)[-1]
    at = f"{Path(last.filename).name}:{last.name}"
    what = str(error) if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} in {at} {what[:60]}".strip()


def reserved() -> int:
    """Say how many bytes the process has reserved."""
    pages = Path("/proc/self/status").read_text(encoding="ascii")
    return int(pages.partition("VmData:")[2].split()[0]) << 10


def limit_memory(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (size, resource.RLIM_INFINITY))


class Corpus:
    """Inputs that reached something new, for each target, and the lines that were reached."""

    def __init__(self) -> None:
        self.inputs = {name: list(target.seeds()) for name, target in TARGETS.items()}
        self.lines: set[tuple[str, Any, int]] = set()
        self.large = 0  # inputs that were kept, of all targets: they are slow

    def add(self, name: str, data: bytes) -> None:
        if len(data) <= SMALL or (len(data) <= 1 << 16 and self.large < KEPT):
            self.large += len(data) > SMALL
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


def child(seed: str, corpus: Corpus, name: str, many: int, shared: mmap.mmap, pipe: int) -> None:
    """Run many inputs of a target; the one that runs is in the shared memory."""
    rng, found, fresh, most = Random(seed), [], [], 0
    known, before = corpus.inputs[name], set(corpus.lines)
    for number in range(many):
        start = known[0] if rng.random() < 0.3 else rng.choice(known)
        data = TARGETS[name].mutate(start, rng, known)
        _show(shared, number, data)
        if number % TRACED == 0 and trace(name, data, corpus.lines):
            corpus.add(name, data)
            fresh.append(data)
        if number % 16 == 0:  # an error may hold what was read until then
            gc.collect()
            most = reserved() + CONSTANT
        limit_memory(most)
        wrong = attempt(name, data)
        limit_memory(resource.RLIM_INFINITY)
        if wrong:
            found.append((wrong, data))
    with os.fdopen(pipe, "wb") as out:
        pickle.dump((found, fresh, corpus.lines - before), out)


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
        self.once: Counter[tuple[str, str]] = Counter()  # what did not come again alone
        self.shared = mmap.mmap(-1, HEAD + LARGEST + (1 << 12))
        self.batch = self.many = 0

    def run(self, name: str) -> None:
        """Run many inputs of a target; fewer at first, so that a short run comes to all."""
        self.batch += 1
        self.many = (
            TARGETS[name].many * min(1 + self.counts[name] * 8 // TARGETS[name].many, 8) // 8
        )
        self.shared[:HEAD] = bytes(HEAD)
        reading, writing = os.pipe()
        gc.collect()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _quietly(
                f"{self.seed} {self.batch}", self.corpus, name, self.many, self.shared, writing
            )
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
                return HANGS
            time.sleep(0.02)

    def _take(self, name: str, ending: str, answer: bytes) -> None:
        if ending:
            number, data = _shown(self.shared)
            self.counts[name] += number + 1
            self._judge(name, ending, data)
            return
        found, fresh, lines = pickle.loads(answer)
        self.corpus.lines |= lines
        self.counts[name] += self.many
        for wrong, data in found:
            self._judge(name, wrong, data)
        for data in fresh:
            self.corpus.add(name, data)

    def _judge(self, name: str, wrong: str, data: bytes) -> None:
        """Try again alone what may be the fault of the machine: time, memory, an outer kill."""
        may_pass = (LONG, MUCH, HANGS, _ended(-signal.SIGKILL))
        again = alone(name, data) if wrong in may_pass else wrong
        if again:
            self._keep(name, again, data)
            return
        self.once[name, wrong] += 1
        if self.once[name, wrong] == 1:
            print(f"{name}: {wrong}, but not alone ({len(data)} bytes)", flush=True)

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
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
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
                assert wrong in ("", LONG), f"{name}: the seed itself: {wrong}"


def pack(finding: Finding) -> str:
    name, wrong, data = finding
    text = base64.b85encode(zlib.compress(data, 9)).decode()
    return json.dumps({"target": name, "was": wrong, "input": text})


def unpack(line: str) -> Finding:
    found = json.loads(line)
    return found["target"], found["was"], zlib.decompress(base64.b85decode(found["input"]))


def alone(name: str, data: bytes) -> str:
    """Run one input in a process of its own and say what is wrong with it, "" for nothing."""
    said = _alone(name, data)
    return _alone(name, data) if said in (LONG, HANGS) else said


def _alone(name: str, data: bytes) -> str:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_PROF, STUCK)  # of processor time
        signal.alarm(int(10 * STUCK))
        limit_memory(reserved() + CONSTANT + TIMES * len(data))
        os.write(writing, attempt(name, data).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code in (-signal.SIGALRM, -signal.SIGPROF):
        return HANGS
    return said if code == 0 else _ended(code)


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
        "did not come again alone": _named(fuzzer.once),
        "findings": _named(fuzzer.times),
    }  # fmt: skip
    if path is not None:
        lines = [pack((name, wrong, data)) for (name, wrong), data in fuzzer.found.items()]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        path.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _named(counts: Counter[tuple[str, str]]) -> dict[str, int]:
    return {f"{name}: {wrong}": n for (name, wrong), n in counts.items()}


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
    gc.collect()
    gc.freeze()  # children need not go through all this again
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

"""What the explorer bears when many clients ask, are idle or are slow, with the sample corpus.

Usage: python benchmarks/trust.py server [--seconds 300]
Results go to results/trust.json, a part for each name. All traffic stays on 127.0.0.1.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "explore"))
from load import press  # noqa: E402

from topicvec import TopicVec, datasets  # noqa: E402

RESULTS = HERE / "results" / "trust.json"


@contextmanager
def explorer(folder: Path) -> Iterator[tuple[int, int]]:
    """Serve the sample corpus in another process; give its port and number."""
    model, corpus = folder / "sample.topicvec", folder / "sample.jsonl"
    documents = datasets.sample_corpus()
    TopicVec(n_topics=8, random_state=0).fit(documents).save(model)
    rows = [json.dumps({"id": d.id, "label": d.label, "text": d.text}) for d in documents]
    corpus.write_text("\n".join(rows), encoding="utf-8")
    command = [sys.executable, "-m", "topicvec", "explore", model, corpus, "--port", "0"]
    with subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(re.findall(r":(\d+)/", process.stdout.readline())[0]), process.pid
        finally:
            process.terminate()


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return round(int(status.partition("VmRSS:")[2].split()[0]) / 1024, 1)


def server(seconds: float) -> dict[str, Any]:
    """Ask on 200 connections; then while 1,000 are idle and 200 slow."""
    with tempfile.TemporaryDirectory() as folder, explorer(Path(folder)) as (port, pid):
        asyncio.run(press(port, 20, n_asking=200, seed=1))  # everything is compiled and kept
        memory = [megabytes(pid)]
        parts = []
        for number in range(5):  # the memory after each fifth
            parts.append(asyncio.run(press(port, seconds / 5, n_asking=200, seed=number + 2)))
            memory.append(megabytes(pid))
        held = asyncio.run(press(port, seconds / 5, n_asking=20, n_quiet=1000, n_slow=200))
        return {
            "200 connections": parts,
            "answers": sum(part["answers"] for part in parts),
            "errors": sum(sum(part["errors"].values()) for part in parts),
            "95th percentile ms, largest of the fifths": max(
                p["95th percentile ms"] for p in parts
            ),
            "megabytes before and after each fifth": memory,
            "1,000 idle and 200 slow": held,
        }


PARTS = {"server": server}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--seconds", type=float, default=300)
    given = parser.parse_args()
    found = PARTS[given.part](given.seconds)
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    load = round(os.getloadavg()[0], 1)
    results[given.part] = {"machine": machine, "load average after": load, **found}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(results[given.part], indent=1))


if __name__ == "__main__":
    main()

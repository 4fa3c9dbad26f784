"""Speed of two checkouts in one run: what a change of the code that keeps results has cost.

    git worktree add ../before COMMIT
    TOPICVEC_DATA=/path/to/data python benchmarks/house.py ../before

Runs the parts ``limit``, ``cold`` and ``classes`` of ``topic_model.py`` of both, in turn, and
writes ``results/house.json`` with the figures of ``scripts/house.py`` beside them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "house.json"
PARTS, ROUNDS = ("limit", "cold", "classes"), 2


def measure(root: Path, part: str) -> dict[str, Any]:
    """Run one part of a checkout's own benchmark, which prints its name and a JSON object."""
    kept = root / "benchmarks" / "results" / "topicvec.json"
    before = kept.read_bytes()
    paths = os.pathsep.join([str(root / "src"), str(root / "benchmarks")])
    command = [sys.executable, str(root / "benchmarks" / "topic_model.py"), part]
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    kept.write_bytes(before)  # the results of that checkout stay as they are
    found = json.loads(done.stdout[done.stdout.index("{") :])
    return {name: value for name, value in found.items() if not isinstance(value, list)}


def main() -> None:
    roots = {"before": Path(sys.argv[1]).resolve(), "now": HERE.parent}
    found: dict[str, Any] = {name: {part: [] for part in PARTS} for name in roots}
    for part in PARTS:
        for _ in range(ROUNDS):
            for name, root in roots.items():
                found[name][part].append(measure(root, part))
                print(name, part, found[name][part][-1], flush=True)
    script = [sys.executable, str(HERE.parent / "scripts" / "house.py"), "--json"]
    done = subprocess.run(script, stdout=subprocess.PIPE, text=True, check=True)
    RESULTS.write_text(json.dumps({**found, "house": json.loads(done.stdout)}, indent=2) + "\n")


if __name__ == "__main__":
    main()

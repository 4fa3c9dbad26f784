"""A sample of what benchmarks/faults.py does at length: kills, failing calls, changed bytes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "faults.py"


def ran(part, *options):
    command = [sys.executable, str(SCRIPT), part, *options, "--no-save"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return json.loads(done.stdout)[part]


@pytest.mark.slow
def test_a_killed_command_loses_no_file_and_leaves_nothing_to_the_next():
    found = ran("kills", "--most", "8", "--only", "vectors convert", "prepare, more")
    assert (found["losses"], found["litter"]) == ([], [])
    assert sum(found["ends"].values()) == 8


@pytest.mark.slow
def test_a_call_that_fails_leaves_the_old_file_and_one_line():
    found = ran("faults", "--most", "3", "--only", "vectors convert")
    assert found["wrong"] == []
    assert {"open", "rename", "fsync", "write", "memory"} <= set(found["faults"])


@pytest.mark.slow
def test_no_changed_byte_of_a_classifier_is_accepted():
    found = ran("flips", "--most", "20", "--only", "k.topicvec")["k.topicvec"]
    assert set(found) == {"bytes", "refused"}

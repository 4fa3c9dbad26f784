"""What the fuzzer found stays mended, and a few seconds of it find nothing more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
FUZZ = Path(__file__).with_name("fuzz.py")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--replay"], ["--seconds", "5"]])
def test_no_input_does_harm(arguments):
    done = subprocess.run([sys.executable, FUZZ, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

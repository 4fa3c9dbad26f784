"""The public names of the text package."""

import subprocess
import sys

import pytest

from topicvec import text


def test_every_public_name_is_there():
    assert all(getattr(text, name) for name in text.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        text.nothing  # noqa: B018


def test_reading_text_does_not_wait_for_scikit_learn():
    code = "import sys, topicvec.text; sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

import subprocess
import sys

import pytest

import topicvec


def test_every_public_name_can_be_used():
    for name in topicvec.__all__:
        assert getattr(topicvec, name) is not None
        assert name in dir(topicvec)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = topicvec.no_such_name


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, topicvec; "
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'rich', 'typer'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

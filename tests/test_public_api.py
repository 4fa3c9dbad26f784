import subprocess
import sys

import pytest

import topicvec


def test_every_public_name_can_be_used():
    for name in topicvec.__all__:
        assert getattr(topicvec, name) is not None
        assert name in dir(topicvec)


@pytest.mark.parametrize("name", sorted(topicvec._PACKAGES))
def test_a_package_can_be_named_without_an_import_of_its_own(name):
    code = f"import topicvec; assert topicvec.{name}.__all__"
    subprocess.run([sys.executable, "-c", code], check=True)


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

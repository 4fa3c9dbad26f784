import re
import tomllib
from pathlib import Path

import pytest

from topicvec import errors

ROOT = Path(__file__).parents[1]


def test_every_error_is_a_topicvec_error():
    for name in ("DataError", "VocabularyMismatch", "FormatError", "EngineError", "MissingExtra"):
        assert issubclass(getattr(errors, name), errors.TopicVecError)


def test_a_missing_extra_names_the_exact_pip_command():
    with pytest.raises(ImportError, match=r'pip install "topicvec\[readers\]"'):
        errors.require("module_that_is_not_there", "readers", "reading Parquet")


def test_every_extra_that_an_error_names_can_be_installed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'\brequire\([\w".]+, "(\w+)"', code))
    assert (
        {"readers", "explore", "gensim"}
        <= named
        <= set(settings["project"]["optional-dependencies"])
    )


def test_an_error_inside_an_optional_module_is_not_taken_for_its_absence(tmp_path, monkeypatch):
    (tmp_path / "broken_optional.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        errors.require("broken_optional", "readers", "reading")

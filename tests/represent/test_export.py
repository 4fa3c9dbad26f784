import csv
import json
import sys

import numpy as np
import pytest

from topicvec.errors import DataError, MissingExtra
from topicvec.represent.export import open_table

BATCHES = [
    {"id": ["a", 'b "x", y'], "label": [None, "é\n"], "topic0": np.array([1 / 3, 0.5])},
    {"id": ["c"], "label": ["u"], "topic0": np.array([1e-12])},
]


def written(path):
    with open_table(path) as write:
        for batch in BATCHES:
            write(batch)
    return path


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_delimited_text_has_one_header_and_all_rows(tmp_path, suffix, delimiter):
    with written(tmp_path / f"a{suffix}").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    assert [row["id"] for row in rows] == ["a", 'b "x", y', "c"]
    assert [row["label"] for row in rows] == ["", "é\n", "u"]
    assert float(rows[0]["topic0"]) == pytest.approx(1 / 3, abs=1e-8)
    assert float(rows[2]["topic0"]) == 1e-12


def test_json_lines_have_an_object_a_row(tmp_path):
    lines = written(tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows[1] == {"id": 'b "x", y', "label": "é\n", "topic0": 0.5}
    assert rows[0]["label"] is None


def test_parquet_keeps_names_types_and_all_digits(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(written(tmp_path / "a.parquet")).to_pydict()
    assert list(table) == ["id", "label", "topic0"]
    assert table["topic0"] == [1 / 3, 0.5, 1e-12]
    assert table["label"] == [None, "é\n", "u"]


def test_npy_keeps_the_numbers_exactly(tmp_path):
    matrix = np.load(written(tmp_path / "a.npy"))
    assert matrix.tolist() == [[1 / 3], [0.5], [1e-12]]


def test_an_unknown_ending_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(DataError, match=r"\.csv"), open_table(tmp_path / "a.xls"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".npy"])
def test_an_error_on_the_way_leaves_no_file(tmp_path, suffix):
    def fail(batch):
        with open_table(tmp_path / f"a{suffix}") as write:
            write(batch)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail(BATCHES[0])
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_its_package_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match="readers"), open_table(tmp_path / "a.parquet"):
        pass

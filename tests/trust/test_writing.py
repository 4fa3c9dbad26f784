"""Files are written whole or not at all, whoever else writes and whatever fails."""

import errno
import io
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from topicvec.errors import DataError
from topicvec.files import atomic_write, open_write
from topicvec.pictures.svg import Picture
from topicvec.represent.export import open_table
from topicvec.stored import save_array

SOURCES = Path(__file__).parents[2] / "src" / "topicvec"
posix = pytest.mark.skipif(os.name != "posix", reason="devices, modes and links of POSIX")


def write(path, content):
    with atomic_write(path) as part:
        part.write_bytes(content)


def test_threads_that_write_one_file_never_show_a_part_of_it(tmp_path):
    path = tmp_path / "file"
    write(path, b"0" * 50_000)

    def look(n):
        seen = set()
        for _ in range(60):
            if n % 2:
                write(path, bytes([48 + n]) * 50_000)
            content = path.read_bytes()
            seen.add((len(content), len(set(content))))
        return seen

    with ThreadPoolExecutor(4) as threads:
        assert set().union(*threads.map(look, range(4))) == {(50_000, 1)}
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_run_left_is_swept_by_the_next_write(tmp_path):
    path = tmp_path / "model.topicvec"
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom topicvec.files import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as part:\n"
        "    part.write_bytes(b'half')\n    os.kill(os.getpid(), 9)\n"
    )
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode != 0
        assert not path.exists()
        assert len(list(tmp_path.iterdir())) == 1  # and not two: the second has swept
    write(path, b"whole")
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_others_are_writing_are_not_swept(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as first:
        first.write_bytes(b"first")
        write(path, b"second")
        assert first.exists()
    assert path.read_bytes() == b"first"


def test_files_of_like_names_are_not_swept(tmp_path):
    others = [tmp_path / name for name in (".file.notes.part", ".file2.00ff.part", "file.part")]
    for other in others:
        other.write_text("mine")
    write(tmp_path / "file", b"x")
    assert all(other.exists() for other in others)


@posix
def test_the_mode_of_a_file_is_kept_and_a_new_one_obeys_the_umask(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"")
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        write(old, b"x")
        write(new, b"x")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (old, new)] == [0o640, 0o640]
    old.chmod(0o600)
    write(old, b"x")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


@posix
def test_a_link_stays_one_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link", tmp_path / "there" / "file"
    link.symlink_to(target)
    for content in (b"1", b"2"):
        write(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert list(target.parent.iterdir()) == [target]
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(DataError, match="in a circle"):
        write(tmp_path / "a", b"x")


@posix
def test_devices_and_pipes_are_written_into(tmp_path):
    write(Path(os.devnull), b"x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as thread:
        content = thread.submit(pipe.read_bytes)
        with open_write(pipe) as file:
            file.write(b"through")
        assert content.result(10) == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_is_told_with_the_file():
    with pytest.raises(DataError, match="cannot write /dev/full: No space left on device"):
        write(Path("/dev/full"), b"x")


def test_a_name_as_long_as_names_may_be_can_be_written(tmp_path):
    for name in ("x" * 255, "é" * 127):
        write(tmp_path / name, b"x")
    assert len(list(tmp_path.iterdir())) == 2


@contextmanager
def full_disk():
    """A disk that takes no more than a thousand bytes of a file, whoever writes them.

    No fixture: what tells of the tests may be written into a file before a fixture ends.
    """
    resource, signal = pytest.importorskip("resource"), pytest.importorskip("signal")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("n_rows", [100, 20_000])
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "npy", "parquet"])
def test_a_table_on_a_full_disk_is_an_error_and_no_part_of_one(tmp_path, ending, n_rows):
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet")
    with (
        pytest.raises(DataError, match=r"cannot write .*File too large"),
        full_disk(),
        open_table(tmp_path / f"a.{ending}") as write_rows,
    ):
        write_rows({"a": np.arange(n_rows) / 7, "b": np.arange(n_rows) / 3})
    assert list(tmp_path.iterdir()) == []


def test_arrays_are_written_as_numpy_writes_them(tmp_path):
    for array in (np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3).T, np.zeros((0, 4))):
        mine, theirs = io.BytesIO(), io.BytesIO()
        save_array(mine, array)
        np.save(theirs, np.ascontiguousarray(array))
        assert mine.getvalue() == theirs.getvalue()


def test_the_counts_of_a_run_on_a_full_disk_are_an_error(tmp_path):
    with (
        pytest.raises(DataError, match="File too large"),
        full_disk(),
        atomic_write(tmp_path / "state") as part,
        part.open("wb") as file,
    ):
        save_array(file, np.arange(500))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_written_over(tmp_path):
    with pytest.raises(DataError, match="it is a folder"):
        write(tmp_path, b"x")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_picture_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch, number):
    path = tmp_path / "a.svg"
    Picture("<svg/>", 1, 1).save(path)

    def fail(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("topicvec.files.os.fsync", fail)
    with pytest.raises(DataError, match=rf"a\.svg: {os.strerror(number)}"):
        Picture("<svg>new</svg>", 1, 1).save(path)
    assert path.read_text() == "<svg/>"
    assert list(tmp_path.iterdir()) == [path]


def test_no_other_code_opens_a_file_for_writing_by_its_name():
    """All of it goes to the unfinished file that `atomic_write` names, called part."""
    writers = (".write_text(", ".write_bytes(", '.open("w', "np.save(", "open_new(", ".tofile(")
    found = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        for line in path.read_text().splitlines()
        if any(writer in line for writer in writers) and ">>>" not in line and "..." not in line
    ]
    allowed = {"part", "np.save(file", 'path.open("w'}  # export's openers are given a part
    assert [line for line in found if not any(name in line for name in allowed)] == []
    assert sorted(line for line in found if 'path.open("w' in line and "export" not in line) == [
        'files.py: with part.open("rb") as source, path.open("wb") as target:',
        'model/stored.py: with path.open("wb") as file:',  # new files in a fit's own folder
    ]

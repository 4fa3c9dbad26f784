"""Files in every compression, to test the readers with."""

import bz2
import gzip
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zstandard
from hypothesis import HealthCheck, settings

from topicvec.text import read_documents

# Time limits fail for no reason on a busy machine.
settings.register_profile("topicvec", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("topicvec")

COMPRESS = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def write_file(path, content):
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(COMPRESS.get(path.suffix, bytes)(data))
    return path


@pytest.fixture(params=["", *COMPRESS])
def suffix(request):
    return request.param


@pytest.fixture
def write(tmp_path):
    """Write a file below the test's folder, compressed as the name says."""
    return lambda name, content: write_file(tmp_path / name, content)


@pytest.fixture(scope="session")
def read_back():
    """Write a file, compressed as the name says, and return its documents."""

    def write_and_read(name, content, **options):
        with TemporaryDirectory() as folder:
            return list(read_documents(write_file(Path(folder, name), content), **options))

    return write_and_read

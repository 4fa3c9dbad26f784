"""Files as other programs write them, and crafted ones."""

import hashlib

import pytest
from safetensors import safe_open

from topicvec.stored import write_tensors


def _signed(content):
    """Give bytes of a safetensors file with the checksum that they should have."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


@pytest.fixture
def signed():
    return _signed


@pytest.fixture
def craft():
    """Give what writes a file again with some tensors and metadata changed, its checksum right."""

    def change(path, metadata=(), **edits):
        with safe_open(path, framework="numpy") as file:
            header = dict(file.metadata())
            tensors = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
        tensors.pop("checksum", None)
        for name, edit in edits.items():
            key = name.replace("__", ".")
            tensors[key] = edit(tensors[key]) if callable(edit) else edit
        kept = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        write_tensors(path, kept, header | dict(metadata))
        return path

    return change


def write_pdf(text: str) -> bytes:
    """Write a PDF of one page by hand, so that the tests need no program that makes them."""
    shown = text.replace("(", r"\(").replace(")", r"\)").encode("cp1252")
    lines = b" T* ".join(b"(" + line + b") Tj" for line in shown.split(b"\n"))
    stream = b"BT /F1 12 Tf 14 TL 72 700 Td " + lines + b" ET"
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R "
        b"/Resources << /Font << /F1 4 0 R >> >> >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + (
        b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF" % (table, len(out))
    )


@pytest.fixture(scope="session")
def pdf_of():
    return write_pdf

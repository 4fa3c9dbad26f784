"""Find the archives of corpora in the folder that ``TOPICVEC_DATA`` names, and read them there."""

import hashlib
import lzma
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from topicvec.errors import DataError, FormatError

__all__ = ["VARIABLE", "Archive", "members"]

VARIABLE = "TOPICVEC_DATA"


@dataclass(frozen=True)
class Archive:
    """A file that may stand in the data folder.

    Parameters
    ----------
    name : str
        Of the file.
    sha256 : str
        Checksum of its bytes, in hexadecimal.

    Examples
    --------
    >>> Archive("no-such-corpus.tar.xz", "00").find() is None
    True
    """

    name: str
    sha256: str

    def find(self) -> Path | None:
        """Return the verified archive in the data folder, or None if there is none.

        Raises
        ------
        DataError
            ``TOPICVEC_DATA`` is set, but names no folder.
        FormatError
            The file has another checksum.
        """
        folder = os.environ.get(VARIABLE)
        if not folder:
            return None
        if not Path(folder).is_dir():
            raise DataError(f"{VARIABLE} must name a folder; found {folder!r}: set it or unset it")
        path = Path(folder) / self.name
        return self._verified(path) if path.is_file() else None

    def _verified(self, path: Path) -> Path:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise FormatError(
                f"{path} is damaged or another file: expected the SHA-256 {self.sha256}, "
                f"found {found}; fetch it again"
            )
        return path


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Stream the files of a tar archive in the order they stand in it.

    Parameters
    ----------
    path : Path
        The archive, compressed or not.

    Yields
    ------
    tuple of str and bytes
        The path inside the archive, and the content.
    """
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name, file.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise FormatError(f"{path} is damaged ({error}): fetch it again") from error

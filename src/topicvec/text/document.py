"""The record that every reader yields, and the file it comes from."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = ["Document", "SourceFile"]


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its name and, where known, its class and time.

    Attributes
    ----------
    id : str
        Name of the document: its path, ``path:row`` in a table, or the value of an id column.
    text : str
        The text as read, nothing removed.
    label : str, optional
        The class: a label column, or the first sub-folder.
    time : str, optional
        The value of a time column, as written there.

    Examples
    --------
    >>> Document("note.txt", "Cats purr.")
    Document(id='note.txt', text='Cats purr.', label=None, time=None)
    """

    id: str
    text: str
    label: str | None = None
    time: str | None = None


class SourceFile(NamedTuple):
    """A file to read, its name in ids and messages, and the class its folder gives it.

    Examples
    --------
    >>> SourceFile(Path("news/space/60123"), "60123", "space").label
    'space'
    """

    path: Path
    name: str
    label: str | None = None

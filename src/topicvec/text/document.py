"""The record that every reader yields, and the file it comes from."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from topicvec.files import display_name

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


@dataclass(frozen=True)
class SourceFile:
    """A file to read and the class its folder gives it.

    Examples
    --------
    >>> SourceFile(Path("news/space/60123"), "space").name
    'news/space/60123'
    """

    path: Path
    label: str | None = None

    @cached_property
    def name(self) -> str:
        """The file in ids and messages."""
        return display_name(self.path)

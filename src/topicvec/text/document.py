"""The record that every reader yields, and the file it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from topicvec.errors import DataError

__all__ = ["CutDocument", "Document", "SourceFile", "values_of"]


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


@dataclass(frozen=True, slots=True)
class CutDocument(Document):
    """A document of a prepared corpus, which has kept its words and not its text.

    Attributes
    ----------
    text : list of str
        Its words.

    Examples
    --------
    >>> CutDocument("note.txt", ["cats", "purr"]).text
    ['cats', 'purr']
    """

    text: list[str]  # type: ignore[assignment]  # every reader of texts takes lists of words


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


def values_of(
    texts: Sequence[str | Document], name: Literal["label", "time"], given: Sequence[str] | None
) -> list[str]:
    """Take the label or time that is given for each document, or that the documents have.

    Examples
    --------
    >>> values_of([Document("a", "Rain", "sky")], "label", None)
    ['sky']
    >>> values_of(["Rain"], "time", None)
    Traceback (most recent call last):
    topicvec.errors.DataError: expected a time for each document, found 0 for 1 documents: ...
    """
    own = [getattr(text, name, None) for text in texts]
    values = own if given is None else list(given)
    missing = sum(value is None for value in values)
    if not texts or missing or len(values) != len(texts):
        raise DataError(
            f"expected a {name} for each document, found {len(values) - missing} for {len(texts)} "
            f"documents: give {name}s, or documents that have them, read with {name}_column= "
            f"(--{name}-column)"
        )
    return [str(value) for value in values]

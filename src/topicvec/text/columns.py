"""Which column of a table is the text, the id, the class and the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from topicvec.errors import DataError
from topicvec.text.document import Document

__all__ = ["Columns", "Selection"]

Column = str | int | None


@dataclass(frozen=True, slots=True)
class Columns:
    """What the user said about the columns; ``None`` means by their usual names.

    Attributes
    ----------
    text, id, label, time : str, int or None
        A name, or a position counted from 0. ``None`` finds columns called exactly "text",
        "id", "label" and "time"; an only column is the text.

    Examples
    --------
    >>> Columns(text="body").select(["id", "body"], "news.csv")
    Selection(text=1, id=0, label=None, time=None)
    >>> Columns().select(["title", "body"], "news.csv")
    Traceback (most recent call last):
    topicvec.errors.DataError: news.csv: no column is called 'text'; choose ... 'title', 'body'
    """

    text: Column = None
    id: Column = None
    label: Column = None
    time: Column = None

    def select(self, names: Sequence[str], where: str) -> "Selection":
        """Find the columns in a header.

        Parameters
        ----------
        names : sequence of str
            The header of the table; positions as text if it has none.
        where : str
            The file, for messages.

        Returns
        -------
        Selection
            Their positions.
        """
        text = self._text(names, where)
        rest = (_position(getattr(self, role), role, names, where) for role in _OPTIONAL)
        return Selection(text, *rest)

    def _text(self, names: Sequence[str], where: str) -> int:
        found = _position(self.text, "text", names, where)
        if found is None and len(names) == 1:
            return 0
        if found is None:
            raise DataError(
                f"{where}: no column is called 'text'; choose one with text_column= "
                f"(--text-column) from {_listing(names)}"
            )
        return found


_OPTIONAL = ("id", "label", "time")


@dataclass(frozen=True, slots=True)
class Selection:
    """Positions of the columns in a row.

    Examples
    --------
    >>> row = ["7", "Cats purr.", "pets"]
    >>> Selection(text=1, id=0, label=2).document(row, "pets.csv", 1, None)
    Document(id='7', text='Cats purr.', label='pets', time=None)
    """

    text: int
    id: int | None = None
    label: int | None = None
    time: int | None = None

    def document(self, row: Sequence[Any], name: str, number: int, label: str | None) -> Document:
        """Make the document of one row.

        Parameters
        ----------
        row : sequence
            The values; nothing (None) in the text column is an empty text.
        name, number : str, int
            File and row number, the default id.
        label : str, optional
            The class of the file, for tables without a label column.

        Returns
        -------
        Document
            With text as it is and everything else as text.
        """
        text = row[self.text]
        if not (text is None or isinstance(text, str)):
            raise DataError(
                f"{name}, row {number}: expected text in the text column; "
                f"found {type(text).__name__}; choose another with text_column= (--text-column)"
            )
        return Document(
            _value(row, self.id) or f"{name}:{number}",
            text or "",
            label if self.label is None else _value(row, self.label),
            _value(row, self.time),
        )

    def positions(self) -> list[int]:
        """List the positions in use, in order."""
        chosen = {self.text, self.id, self.label, self.time}
        return sorted(position for position in chosen if position is not None)


def _position(column: Column, role: str, names: Sequence[str], where: str) -> int | None:
    if column is None:
        return names.index(role) if role in names else None
    if isinstance(column, int) and 0 <= column < len(names):
        return column
    if column in names:
        return names.index(str(column))
    raise DataError(
        f"{where}: no column {column!r} for {role}_column= (--{role}-column); "
        f"found {_listing(names)}"
    )


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _value(row: Sequence[Any], position: int | None) -> str | None:
    value = None if position is None else row[position]
    if value is None or isinstance(value, str):
        return value
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)

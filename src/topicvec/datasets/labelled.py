"""The record that the loaders of labelled corpora return."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from topicvec.errors import DataError
from topicvec.text.document import Document

__all__ = ["LabelledTexts", "Subset", "parts"]

Subset = Literal["train", "test", "all"]


@dataclass(frozen=True)
class LabelledTexts:
    """Documents that each have a class.

    Attributes
    ----------
    documents : tuple of Document
        Each with its ``label``.
    names : tuple of str
        The classes.

    Examples
    --------
    >>> corpus = LabelledTexts((Document("1", "Cats purr.", "pets"),), ("pets", "cars"))
    >>> corpus.texts, corpus.labels.tolist(), len(corpus)
    (['Cats purr.'], ['pets'], 1)
    """

    documents: tuple[Document, ...]
    names: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        """The texts, in the order of the documents."""
        return [document.text for document in self.documents]

    @property
    def labels(self) -> NDArray[np.str_]:
        """The class of each document, (D,)."""
        return np.array([document.label for document in self.documents], dtype=np.str_)

    def __len__(self) -> int:
        return len(self.documents)


def parts(subset: str) -> tuple[str, ...]:
    """Name the parts that make up a subset.

    Examples
    --------
    >>> parts("test"), parts("all")
    (('test',), ('train', 'test'))
    """
    if subset not in get_args(Subset):
        raise DataError(f'subset must be "train", "test" or "all"; found {subset!r}')
    return ("train", "test") if subset == "all" else (subset,)

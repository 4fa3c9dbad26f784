"""Silence about texts without a known word: a page shows that by itself."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from topicvec.errors import OutOfVocabularyWarning

__all__ = ["quietly"]

_lock = threading.Lock()  # the filters of warnings belong to the process, not to a thread


@contextmanager
def quietly() -> Iterator[None]:
    """Keep warnings about unknown words from being shown or raised.

    Examples
    --------
    >>> with quietly():
    ...     warnings.warn("no word is known", OutOfVocabularyWarning)
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfVocabularyWarning)
        yield

"""BLAS on one thread for a while, so that products have the same bits for any worker count."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]

_lock = Lock()
_inside: list[Any] = []  # the libraries that are held
_before: list[int] = []  # their threads before
_n_inside = 0


@cache
def _libraries_with(scipy_too: bool) -> tuple[Any, ...]:  # noqa: ARG001
    # Looking for the loaded libraries takes milliseconds, so it is done once, and once more when
    # scipy.linalg has brought its own OpenBLAS beside numpy's.
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def _libraries() -> tuple[Any, ...]:
    return _libraries_with("scipy.linalg.blas" in sys.modules)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread; those who come in while others are inside change nothing.

    threadpoolctl's own context would give the threads back when the first leaves, while others
    still count on having one.
    """
    global _n_inside
    with _lock:
        if _n_inside == 0:
            _inside[:] = _libraries()
            _before[:] = [library.get_num_threads() for library in _inside]
            _set([1] * len(_before))
        _n_inside += 1
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _set(_before)


def _set(numbers: list[int]) -> None:
    for library, number in zip(_inside, numbers, strict=True):
        library.set_num_threads(number)

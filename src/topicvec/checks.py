"""Parameters as users give them, refused before any work is done."""

from math import inf, isfinite

import numpy as np

from topicvec.errors import DataError

__all__ = ["check_choice", "check_number", "check_whole"]


def check_number(name: str, value: object, least: float = 0.0, most: float = inf) -> None:
    """Refuse a parameter that is no finite number between two limits.

    Examples
    --------
    >>> check_number("min_share", 2, 0, 1)
    Traceback (most recent call last):
    topicvec.errors.DataError: min_share must be a number between 0 and 1; found 2
    """
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    if (
        isinstance(value, bool)
        or not is_number
        or not (
            isfinite(value) and least <= value <= most  # type: ignore[arg-type, operator]
        )
    ):
        limits = f"of at least {least:g}" if most == inf else f"between {least:g} and {most:g}"
        raise DataError(f"{name} must be a number {limits}; found {value!r}")


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse a parameter that is no whole number, or too small."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise DataError(f"{name} must be a whole number of at least {least}; found {value!r}")


def check_choice(name: str, value: object, *choices: str) -> None:
    """Refuse a parameter that is none of a few words."""
    if value not in choices:
        expected = " or ".join(map(repr, choices))
        raise DataError(f"{name} must be {expected}; found {value!r}")

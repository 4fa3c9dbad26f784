"""Decimal numbers to float32: a readable way, and a compiled twin for large files."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["is_number", "parse_decimals", "parse_decimals_fast"]

# Powers of ten that float64 holds exactly.
_POWERS = 10.0 ** np.arange(23)


def is_number(field: bytes) -> bool:
    """Say whether a field reads as a number; nan and infinity count.

    Parameters
    ----------
    field : bytes

    Returns
    -------
    bool

    Examples
    --------
    >>> is_number(b"-1e-5"), is_number(b"1,5")
    (True, False)
    """
    try:
        _number(field)
    except ValueError:
        return False
    return True


def parse_decimals(data: bytes, n_numbers: int) -> NDArray[np.float32] | None:
    """Read numbers between spaces.

    Parameters
    ----------
    data : bytes
    n_numbers : int
        How many there must be.

    Returns
    -------
    ndarray of shape (n_numbers,), float32, or None
        None if there are more or fewer, or one does not read as a number.

    Examples
    --------
    >>> parse_decimals(b"1 -0.5", 2)
    array([ 1. , -0.5], dtype=float32)
    >>> parse_decimals(b"1 x", 2) is None
    True
    """
    try:
        numbers = [_number(field) for field in data.split(b" ") if field]
    except ValueError:
        return None
    with np.errstate(over="ignore"):  # beyond float32: infinity, which the caller refuses
        return np.array(numbers).astype(np.float32) if len(numbers) == n_numbers else None


def parse_decimals_fast(data: bytes, n_numbers: int) -> NDArray[np.float32] | None:
    """Read numbers between spaces: the compiled twin of :func:`parse_decimals`.

    Parameters
    ----------
    data : bytes
    n_numbers : int

    Returns
    -------
    ndarray of shape (n_numbers,), float32, or None

    Notes
    -----
    Up to 18 digits below 2⁵³ times or over a power of ten up to 22 is one exactly rounded
    float64 operation, so the result has the bits of the readable twin. Other fields are left
    to that one.

    Examples
    --------
    >>> parse_decimals_fast(b"1 -0.5", 2)
    array([ 1. , -0.5], dtype=float32)
    """
    numbers = np.empty(n_numbers, dtype=np.float32)
    left = np.empty((n_numbers, 3), dtype=np.int64)
    n_found, n_left = _compiled()(np.frombuffer(data, np.uint8), _POWERS, numbers, left)
    if n_found != n_numbers:
        return None
    for place, start, end in left[:n_left].tolist():
        number = parse_decimals(data[start:end], 1)
        if number is None:
            return None
        numbers[place] = number[0]
    return numbers


def _number(field: bytes) -> float:
    if b"_" in field:  # Python's own notation, not one of files
        raise ValueError(field)
    return float(field)


@functools.cache
def _compiled() -> Callable[..., Any]:
    import numba  # only large files wait for it

    compiled: Callable[..., Any] = numba.njit(cache=True)(_scan)
    return compiled


def _scan(
    data: NDArray[np.uint8],
    powers: NDArray[np.float64],
    numbers: NDArray[np.float32],
    left: NDArray[np.int64],
) -> tuple[int, int]:
    """Fill `numbers`, and list in `left` (place, start, end) of fields that need more care.

    Returns how many fields there were (one more than room if too many), and how many are left.
    """
    n_found, n_left, at = 0, 0, 0
    while at < len(data):
        if data[at] == 32:  # a space
            at += 1
            continue
        if n_found == len(numbers):
            return n_found + 1, n_left
        start = at
        negative = data[at] == 45
        if negative or data[at] == 43:
            at += 1
        mantissa, n_digits, exponent, after_point = 0, 0, 0, 0
        while at < len(data):
            digit = int(data[at]) - 48
            if 0 <= digit <= 9:
                # Beyond 18 digits the value is not used: it may wrap around.
                mantissa = mantissa * 10 + digit
                n_digits += 1
                exponent -= after_point
            elif data[at] == 46 and not after_point:
                after_point = 1
            else:
                break
            at += 1
        exact = 0 < n_digits <= 18 and mantissa <= 1 << 53
        if at < len(data) and (data[at] == 101 or data[at] == 69):  # e, E
            at += 1
            downwards = at < len(data) and data[at] == 45
            if at < len(data) and (data[at] == 45 or data[at] == 43):
                at += 1
            power, n_powers = 0, 0
            while at < len(data) and 48 <= data[at] <= 57:
                power = power * 10 + int(data[at]) - 48
                n_powers += 1
                at += 1
            exact = exact and 0 < n_powers <= 4
            exponent += -power if downwards else power
        exact = exact and (at == len(data) or data[at] == 32) and -22 <= exponent <= 22
        if exact:
            value = mantissa * powers[exponent] if exponent >= 0 else mantissa / powers[-exponent]
            numbers[n_found] = -value if negative else value
        else:
            while at < len(data) and data[at] != 32:
                at += 1
            left[n_left, 0], left[n_left, 1], left[n_left, 2] = n_found, start, at
            n_left += 1
        n_found += 1
    return n_found, n_left

"""Checks at the edge: each raises one sentence with the name, the rule and the value."""

import hashlib
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_SIZE = 2**32 - 1
"""K, M and runs are 32-bit words of the random generator's counter."""

MAX_STEPS = 2**56 - 1
"""T is a 56-bit word of it."""

MAX_SEED = 2**64 - 1


def integer(name: str, value: Any, minimum: int, maximum: int) -> int:
    """Return `value` as an int, or raise unless it is an integer in the range."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not minimum <= number <= maximum:
        raise ValueError(
            f"{name} must be an integer from {minimum} to {maximum}, got {_shown(value)}"
        )
    return number


def real(name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is a finite number."""
    number = _scalar(value)
    if number is None or not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {_shown(value)}")
    return number


def positive(name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is finite and above zero."""
    number = _scalar(value)
    if number is None or not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {_shown(value)}")
    return number


def nonnegative(name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is finite and at least zero."""
    number = _scalar(value)
    if number is None or not (np.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be a finite number of at least 0, got {_shown(value)}")
    return number


def array(name: str, value: Any) -> Floats:
    """Return a float64 copy of `value` in C order, or raise unless it is real and finite."""
    try:
        given = np.asarray(value)
        real = given.dtype.kind in "iuf" or given.size == 0
        # A copy, so that nobody can change it behind our back.
        numbers = np.array(given, dtype=np.float64, order="C", copy=True) if real else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or np.ma.isMaskedArray(value):
        raise TypeError(f"{name} must be an array of real numbers, got {_shown(value)}")
    if not np.isfinite(numbers).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        place = f" at {list(where)}" if where else ""
        raise ValueError(f"{name} must be finite, got {numbers[where]}{place}")
    return numbers


def frozen(numbers: Floats) -> Floats:
    """Return the array itself, made read-only."""
    numbers.flags.writeable = False
    return numbers


def fingerprint(*parts: Any) -> str:
    """Return a hash of numbers and their shapes: equal for equal parts."""
    digest = hashlib.sha256()
    for part in parts:
        numbers = np.ascontiguousarray(part)
        digest.update(repr(np.shape(part)).encode())
        digest.update(numbers.data)
    return digest.hexdigest()[:16]


def _scalar(value: Any) -> float | None:
    try:
        return None if isinstance(value, (bool, np.bool_, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."

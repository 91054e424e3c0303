"""Checks of arrays."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.checks.numbers import shown

Floats = NDArray[np.float64]

Arrays = dict[str, NDArray[Any]]
"""Arrays by name, as files hold them."""


def array(name: str, value: Any, booleans: bool = False) -> Floats:
    """Return a float64 copy of `value` in C order, or raise unless it is real and finite.

    Booleans are refused as a slip, unless they are allowed as 0 and 1.
    """
    try:
        given = np.asarray(value)
        real = given.dtype.kind in ("biuf" if booleans else "iuf") or given.size == 0
        # A copy, so that the caller cannot change it later.
        numbers = np.array(given, dtype=np.float64, order="C", copy=True) if real else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or np.ma.isMaskedArray(value):
        raise TypeError(f"{name} must be an array of real numbers, got {shown(value)}")
    if not np.isfinite(numbers).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        place = f" at {list(where)}" if where else ""
        raise ValueError(f"{name} must be finite, got {numbers[where]}{place}")
    return numbers


def frozen(numbers: Floats) -> Floats:
    """Return the array itself, made read-only."""
    numbers.flags.writeable = False
    return numbers


def fingerprint(*arrays: Any) -> str:
    """Return a hash of arrays and their shapes."""
    digest = hashlib.sha256()
    for each in arrays:
        numbers = np.ascontiguousarray(each)
        digest.update(repr(np.shape(each)).encode())
        digest.update(numbers.data)
    return digest.hexdigest()[:16]

"""Checks of single numbers, and their text. Without NumPy, so that help prints fast."""

import math
import operator
from collections.abc import Iterable
from typing import Any

MAX_SIZE = 2**32 - 1
"""K, M and runs are 32-bit words of the random generator's counter."""

MAX_STEPS = 2**56 - 1
"""T is a 56-bit word of it."""

MAX_SEED = 2**64 - 1


def integer(name: str, value: Any, minimum: int, maximum: int) -> int:
    """Return `value` as an int, or raise unless it is an integer in the range, such as 3 or 1e3."""
    number: int | None
    try:
        number = operator.index(value)
    except TypeError:
        is_integer = getattr(value, "is_integer", None)  # of a float, NumPy's too
        number = int(value) if is_integer is not None and is_integer() else None
    if number is None or isinstance(value, bool) or not minimum <= number <= maximum:
        raise ValueError(
            f"{name} must be an integer from {minimum} to {maximum}, got {shown(value)}"
        )
    return number


def real(name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is a finite number."""
    number = _scalar(value)
    if number is None or not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {shown(value)}")
    return number


def positive(name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is finite and above zero."""
    number = _scalar(value)
    if number is None or not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {shown(value)}")
    return number


def nonnegative(name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is finite and at least zero."""
    number = _scalar(value)
    if number is None or not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be a finite number of at least 0, got {shown(value)}")
    return number


def between(name: str, value: Any, minimum: float, maximum: float) -> float:
    """Return `value` as a float, or raise unless it is a number in the range."""
    number = _scalar(value)
    if number is None or not minimum <= number <= maximum:
        raise ValueError(
            f"{name} must be a number from {minimum:g} to {maximum:g}, got {shown(value)}"
        )
    return number


def flag(name: str, value: Any) -> bool:
    """Return `value` as a bool, or raise unless it is True or False."""
    if not _is_flag(value) or getattr(value, "ndim", 0) > 0:
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def _is_flag(value: Any) -> bool:
    # NumPy's booleans are not instances of bool.
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    return isinstance(value, bool) or kind == "b"


def _scalar(value: Any) -> float | None:
    if isinstance(value, str) or _is_flag(value):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def counted(n: int, what: str) -> str:
    """Return a count with its noun, such as "1 run" or "2,000 runs"."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def alternatives(items: Iterable[str]) -> str:
    """Return the items of a sentence.

    Examples
    --------
    >>> alternatives(["es", "es++", "lin-es"]), alternatives(["es"])
    ('es, es++ or lin-es', 'es')
    """
    *others, last = items
    return " or ".join([*filter(None, [", ".join(others)]), last])


def printable(text: str) -> str:
    """Return a text with all control characters escaped, except line ends and tabs.

    >>> print(printable("\\x1b[31mred"))
    \\x1b[31mred
    """
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def shown(value: Any) -> str:
    """Return the text of a value for a message: one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
